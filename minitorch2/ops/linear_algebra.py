"""Rows of linear algebra: determinants, inverses, solutions, factorizations, on numpy's LAPACK.

In: matrices [..., m, n]. Out: what torch.linalg gives. The gradients are tensor ops, so that
second derivatives follow.

Source: torch.linalg; Giles 2008, "An extended collection of matrix derivative results"; Seeger et
al. 2017, "Auto-differentiating linear algebra" (QR, SVD, eigenvalues).
"""

import numpy

from minitorch2.dispatch import call
from minitorch2.errors import DtypeError, LinearAlgebraError, ShapeError
from minitorch2.layouts import broadcast_shapes
from minitorch2.ops.infer import describe_value
from minitorch2.ops.table import LIBRARY, Meta, defop, lookup


def _op(name, *args):
    return call(lookup(name), args)


def _lapack(function, name):
    """numpy's function with our errors; 32-bit stays 32-bit."""

    def eager(*args):
        try:
            found = function(*args)
        except numpy.linalg.LinAlgError as problem:
            raise LinearAlgebraError(
                f"linalg.{name}", f"the input is singular or not fit for it: {problem}"
            ) from problem
        if isinstance(found, tuple):
            return tuple(numpy.asarray(each) for each in found)
        return numpy.asarray(found)

    return eager


def _check(self, name, square=True):
    shape = tuple(self.shape)
    asked = f"linalg.{name}({describe_value(self)})"
    if len(shape) < 2:
        raise ShapeError(
            asked,
            f"linalg.{name}: The input tensor A must have at least 2 dimensions.",
            "unsqueeze it",
        )
    if square and shape[-1] != shape[-2]:
        raise ShapeError(
            asked,
            f"linalg.{name}: A must be batches of square matrices, but they are {shape[-2]} by "
            f"{shape[-1]} matrices",
            "use lstsq or pinv for other matrices",
        )
    if not self.dtype.is_floating_point or self.dtype.itemsize == 2:
        raise DtypeError(
            asked,
            f"linalg.{name}: Expected a floating point tensor of 32 or 64 bits as input. Got "
            f"{self.dtype}",
            "convert: x.float()",
        )


def _library(signature, function, infer, vjp, saves, doc, torch_name=""):
    name = signature.partition("(")[0].removeprefix("linalg_")
    defop(
        signature,
        LIBRARY,
        eager=_lapack(function, name),
        infer=infer,
        vjp=vjp,
        saves=saves,
        doc=doc,
        precision="full",
        effects="may_fail",
        method=False,
        function=False,
        host="LAPACK's",
        torch=torch_name or f"torch.linalg.{name}",
    )


def _square(name):
    def infer(self):
        _check(self, name)
        return Meta(tuple(self.shape), self.dtype)

    return infer


def _infer_det(self):
    _check(self, "det")
    return Meta(tuple(self.shape[:-2]), self.dtype)


def _det_vjp(s, g):
    scale = (g * s.result).unsqueeze(-1).unsqueeze(-1)
    return scale * _op("linalg_inv", s.self).mT


def _infer_slogdet(self):
    _check(self, "slogdet")
    meta = Meta(tuple(self.shape[:-2]), self.dtype)
    return meta, meta


_library(
    "linalg_det(Tensor self) -> Tensor",
    numpy.linalg.det,
    _infer_det,
    _det_vjp,
    "self result",
    "The determinant.",
)
_library(
    "linalg_slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)",
    numpy.linalg.slogdet,
    _infer_slogdet,
    lambda s, sign, g: g.unsqueeze(-1).unsqueeze(-1) * _op("linalg_inv", s.self).mT,
    "self",
    "The sign of the determinant and the logarithm of its absolute value.",
)
_library(
    "linalg_inv(Tensor self) -> Tensor",
    numpy.linalg.inv,
    _square("inv"),
    lambda s, g: -(s.result.mT @ g @ s.result.mT),
    "result",
    "The inverse matrix.",
)


def _is_vector(self, other):
    """torch's rule: B is a vector when it has the batch's shape with one size more."""
    return other.ndim == 1 or (
        self.ndim - 1 == other.ndim and tuple(other.shape) == tuple(self.shape[:-1])
    )


def _solve(a, b):
    if _is_vector(a, b):
        return numpy.linalg.solve(a, b[..., None])[..., 0]
    return numpy.linalg.solve(a, b)


def _infer_solve(self, other):
    _check(self, "solve")
    asked = f"linalg.solve({describe_value(self)}, {describe_value(other)})"
    if self.dtype is not other.dtype:
        raise DtypeError(
            asked,
            f"linalg.solve: Expected A and B to have the same dtype, but got {self.dtype} and "
            f"{other.dtype} instead",
            "convert one of them",
        )
    if _is_vector(self, other):
        return Meta(
            (*broadcast_shapes(self.shape[:-2], other.shape[:-1]), other.shape[-1]), self.dtype
        )
    if other.ndim < 2 or other.shape[-2] != self.shape[-1]:
        raise ShapeError(
            asked, "Incompatible shapes of A and B for the equation AX = B", "give B [..., n, k]"
        )
    batch = broadcast_shapes(tuple(self.shape[:-2]), tuple(other.shape[:-2]))
    return Meta((*batch, *other.shape[-2:]), self.dtype)


def _solve_vjp(s, g):
    vector = _is_vector(s.self, s.other)
    x = s.result.unsqueeze(-1) if vector else s.result
    g = g.unsqueeze(-1) if vector else g
    to_b = _op("linalg_solve", s.self.mT, g)
    to_a = -(to_b @ x.mT)
    to_b = to_b.squeeze(-1) if vector else to_b
    return to_a.sum_to_size(tuple(s.self.shape)), to_b.sum_to_size(tuple(s.other.shape))


_library(
    "linalg_solve(Tensor self, Tensor other) -> Tensor",
    _solve,
    _infer_solve,
    _solve_vjp,
    "self other result",
    "X with self @ X = other.",
)


def _half_diagonal(matrix):
    """The lower triangle with half the diagonal."""
    return matrix.tril() - _op("diag_embed", matrix.diagonal(0, -2, -1), 0, -2, -1) / 2


def _cholesky_vjp(s, g):
    lower = s.result
    inner = _half_diagonal(lower.mT @ g.tril())
    found = _op("linalg_solve", lower.mT, inner)
    found = _op("linalg_solve", lower.mT, found.mT).mT
    return (found + found.mT) / 2


_library(
    "linalg_cholesky(Tensor self) -> Tensor",
    numpy.linalg.cholesky,
    _square("cholesky"),
    _cholesky_vjp,
    "result",
    "The lower triangular L with L @ L.mT = self.",
)


def _infer_qr(self, mode):
    _check(self, "qr", square=False)
    *batch, m, n = self.shape
    k = m if mode == "complete" else min(m, n)
    return Meta((*batch, m, k), self.dtype), Meta((*batch, k, n), self.dtype)


def _qr_vjp(s, to_q, to_r):
    q, r = s.results
    m, n = s.self.shape[-2:]
    if m < n or s.mode != "reduced":
        raise ShapeError(
            f"the backward of linalg.qr of {m} by {n} matrices, mode={s.mode!r}",
            "it is not defined for more columns than rows, or complete factors",
            "use mode='reduced' on tall matrices",
        )
    middle = r @ to_r.mT - to_q.mT @ q
    lower = middle.tril(-1)
    symmetric = lower + lower.mT + _op("diag_embed", middle.diagonal(0, -2, -1), 0, -2, -1)
    right = to_q + q @ symmetric
    return _op("linalg_solve", r, right.mT).mT


_library(
    "linalg_qr(Tensor self, str mode='reduced') -> (Tensor Q, Tensor R)",
    lambda a, mode: tuple(numpy.linalg.qr(a, mode)),
    _infer_qr,
    _qr_vjp,
    "results",
    "An orthonormal Q and an upper triangular R with Q @ R = self.",
)


def _gaps(values):
    """values_j - values_i, with ones on the diagonal (where what is divided is zero)."""
    gaps = values.unsqueeze(-2) - values.unsqueeze(-1)
    size = values.shape[-1]
    eye = _op("range_", 0, size, 1, None, None)
    return _op("where", eye.unsqueeze(1) == eye, 1.0, gaps)


def _infer_eigh(self, uplo):
    _check(self, "eigh")
    return Meta(tuple(self.shape[:-1]), self.dtype), Meta(tuple(self.shape), self.dtype)


def _eigh_vjp(s, to_values, to_vectors):
    values, vectors = s.results
    inner = vectors.mT @ to_vectors / _gaps(values)
    inner = inner - _op("diag_embed", inner.diagonal(0, -2, -1), 0, -2, -1)
    inner = inner + _op("diag_embed", to_values, 0, -2, -1)
    return vectors @ inner @ vectors.mT


_library(
    "linalg_eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
    lambda a, uplo: tuple(numpy.linalg.eigh(a, uplo)),
    _infer_eigh,
    _eigh_vjp,
    "results",
    "Eigenvalues (ascending) and eigenvectors of a symmetric matrix.",
)


def _infer_svd(self, full_matrices):
    _check(self, "svd", square=False)
    *batch, m, n = self.shape
    k = min(m, n)
    left, right = (m, n) if full_matrices else (k, k)
    return (
        Meta((*batch, m, left), self.dtype),
        Meta((*batch, k), self.dtype),
        Meta((*batch, right, n), self.dtype),
    )


def _svd_vjp(s, to_u, to_s, to_vh):
    u, values, vh = s.results
    m, n = s.self.shape[-2:]
    k = min(m, n)
    u, vh = u[..., :k], vh[..., :k, :]
    to_u, to_v = to_u[..., :k], to_vh[..., :k, :].mT
    v = vh.mT
    gaps = _gaps(values * values)
    left = u.mT @ to_u
    right = v.mT @ to_v
    row = values.unsqueeze(-2)
    inner = (left - left.mT) / gaps * row + values.unsqueeze(-1) * (right - right.mT) / gaps
    inner = inner + _op("diag_embed", to_s, 0, -2, -1)
    found = u @ inner @ vh
    if m > k:
        found = found + (to_u - u @ left) / row @ vh
    if n > k:
        found = found + u / row @ (to_v - v @ right).mT
    return found


_library(
    "linalg_svd(Tensor self, bool full_matrices=True) -> (Tensor U, Tensor S, Tensor Vh)",
    lambda a, full: tuple(numpy.linalg.svd(a, full)),
    _infer_svd,
    _svd_vjp,
    "results",
    "Orthonormal U and Vh and singular values S with U @ diag(S) @ Vh = self.",
)
