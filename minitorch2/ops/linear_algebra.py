"""Rows of linear algebra: determinants, inverses, solutions, factorizations, on numpy's LAPACK.

In: matrices [..., m, n]. Out: what torch.linalg gives. The gradients are tensor ops, so that
second derivatives follow.

Source: torch.linalg; Giles 2008, "An extended collection of matrix derivative results"; Seeger et
al. 2017, "Auto-differentiating linear algebra" (QR, SVD, eigenvalues).
"""

import numpy

from minitorch2.dispatch import call
from minitorch2.errors import DtypeError, LinearAlgebraError, OperationError, ShapeError
from minitorch2.layouts import broadcast_shapes
from minitorch2.ops.arithmetic import real_part
from minitorch2.ops.infer import describe_value
from minitorch2.ops.table import LIBRARY, Meta, defop, lookup


def _op(name, *args):
    return call(lookup(name), args)


def lapack(function, name):
    """numpy's function with our errors; 32-bit stays 32-bit."""

    def eager(*args):
        try:
            found = function(*args)
        except numpy.linalg.LinAlgError as problem:
            raise LinearAlgebraError(f"linalg.{name}()", _failure(name, args[0])) from problem
        if isinstance(found, tuple):
            return tuple(numpy.asarray(each) for each in found)
        return numpy.asarray(found)

    return eager


def failing_minor(matrix):
    """The order of the first leading minor that is not positive; 0 if none is."""
    for k in range(1, len(matrix) + 1):
        try:
            numpy.linalg.cholesky(matrix[:k, :k])
        except numpy.linalg.LinAlgError:
            return k
    return 0


def failing_pivot(matrix):
    """The place (from 1) of the first zero on the diagonal after elimination; 0 without one."""
    rest = matrix.copy()
    for k in range(len(rest)):
        best = k + numpy.abs(rest[k:, k]).argmax()
        rest[[k, best]] = rest[[best, k]]
        if rest[k, k] == 0:
            return k + 1
        rest[k + 1 :] -= rest[k + 1 :, k, None] / rest[k, k] * rest[k]
    return 0


# Of each function: how a matrix fails, and torch's words for it.
FAILURES = {
    "inv": (failing_pivot, "The diagonal element {} is zero, the inversion could not be completed "
            "because the input matrix is singular."),
    "solve": (failing_pivot, "The solver failed because the input matrix is singular."),
    "cholesky": (failing_minor, "The factorization could not be completed because the input is not "
                 "positive-definite (the leading minor of order {} is not positive-definite)."),
}  # fmt: skip


def _failure(name, a):
    """Which matrix LAPACK could not take, and why."""
    test, words = FAILURES.get(name, (None, ""))
    if test is None:
        finite = bool(numpy.isfinite(a).all())
        reason = "is ill-conditioned" if finite else "contained non-finite values"
        return f"linalg.{name}: The algorithm failed to converge because the input matrix {reason}."
    flat = a.reshape(-1, *a.shape[-2:])
    numbers = [test(matrix) for matrix in flat]
    at = next((at for at, number in enumerate(numbers) if number), 0)
    batch = f"(Batch element {at}): " if a.ndim > 2 else ""
    return f"linalg.{name}: {batch}" + words.format(numbers[at] or a.shape[-1])


def check_matrices(self, name, square=True):
    """ShapeError or DtypeError unless the tensor is matrices (square ones) LAPACK takes."""
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
    if not self.dtype.differentiable or self.dtype.itemsize == 2:
        raise DtypeError(
            asked,
            f"linalg.{name}: Expected a floating point or complex tensor of 32 or 64 bits a part "
            f"as input. Got {self.dtype}",
            "convert: x.float()",
        )


def _library(signature, function, infer, vjp, saves, doc, **fields):
    name = signature.partition("(")[0].removeprefix("linalg_")
    defop(
        signature,
        LIBRARY,
        eager=lapack(function, name),
        infer=infer,
        vjp=vjp,
        saves=saves,
        doc=doc,
        precision="full",
        effects="may_fail",
        method=False,
        function=False,
        host="LAPACK's",
        torch=f"torch.linalg.{name}",
        **fields,
    )


def _square(name):
    def infer(self):
        check_matrices(self, name)
        return Meta(tuple(self.shape), self.dtype)

    return infer


def _infer_det(self):
    check_matrices(self, "det")
    return Meta(tuple(self.shape[:-2]), self.dtype)


def _det_vjp(s, g):
    scale = (g * s.result).unsqueeze(-1).unsqueeze(-1)
    return scale * _op("linalg_inv", s.self).mT


def _infer_slogdet(self):
    check_matrices(self, "slogdet")
    shape = tuple(self.shape[:-2])
    return Meta(shape, self.dtype), Meta(shape, self.dtype.to_real())


def _slogdet_vjp(s, to_sign, to_logarithm):
    """log det = log |det| + i arg det: the sign turns by i times the imaginary part."""
    to_log = to_logarithm
    if to_sign.dtype.is_complex:
        to_log = _op("complex", to_logarithm, (to_sign * s.results[0].conj()).imag)
    return to_log.unsqueeze(-1).unsqueeze(-1) * _op("linalg_inv", s.self).mH


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
    _slogdet_vjp,
    "self results",
    "The sign of the determinant and the logarithm of its absolute value.",
    conjugates=False,
)
_library(
    "linalg_inv(Tensor self) -> Tensor",
    numpy.linalg.inv,
    _square("inv"),
    lambda s, g: -(s.result.mT @ g @ s.result.mT),
    "result",
    "The inverse matrix.",
    columns=(0,),
)


def is_vector(self, other):
    """torch's rule: B is a vector when it has the batch's shape with one size more."""
    return other.ndim == 1 or (
        self.ndim - 1 == other.ndim and tuple(other.shape) == tuple(self.shape[:-1])
    )


def _solve(a, b):
    if is_vector(a, b):
        return numpy.linalg.solve(a, b[..., None])[..., 0]
    return numpy.linalg.solve(a, b)


def _infer_solve(self, other):
    check_matrices(self, "solve")
    asked = f"linalg.solve({describe_value(self)}, {describe_value(other)})"
    if self.dtype is not other.dtype:
        raise DtypeError(
            asked,
            f"linalg.solve: Expected A and B to have the same dtype, but got {self.dtype} and "
            f"{other.dtype} instead",
            "convert one of them",
        )
    if is_vector(self, other):
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
    vector = is_vector(s.self, s.other)
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
    columns=(0,),
)


def _half_diagonal(matrix):
    """The lower triangle with half the diagonal."""
    return matrix.tril() - _op("diag_embed", matrix.diagonal(0, -2, -1), 0, -2, -1) / 2


def _cholesky_vjp(s, g):
    lower = s.result
    inner = _half_diagonal(lower.mH @ g.tril())
    found = _op("linalg_solve", lower.mH, inner)
    found = _op("linalg_solve", lower.mH, found.mH).mH
    return (found + found.mH) / 2


_library(
    "linalg_cholesky(Tensor self) -> Tensor",
    numpy.linalg.cholesky,
    _square("cholesky"),
    _cholesky_vjp,
    "result",
    "The lower triangular L with L @ L.mH = self.",
    conjugates=False,
    symmetric=True,
    columns=(0,),
)


def _infer_qr(self, mode):
    check_matrices(self, "qr", square=False)
    *batch, m, n = self.shape
    if mode not in ("reduced", "complete", "r"):
        raise OperationError(
            f"linalg.qr({describe_value(self)}, {mode!r})",
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', "
            "or 'complete'",
            "name one of them",
        )
    k = m if mode == "complete" else min(m, n)
    return Meta((0,) if mode == "r" else (*batch, m, k), self.dtype), Meta(
        (*batch, k, n), self.dtype
    )


def _qr(a, mode):
    if mode == "r":
        return numpy.zeros(0, a.dtype), numpy.linalg.qr(a, "r")
    if mode == "complete" and not a.shape[-1]:  # nothing to be orthogonal to
        m = a.shape[-2]
        return numpy.broadcast_to(numpy.eye(m, dtype=a.dtype), (*a.shape[:-1], m)), a.copy()
    return tuple(numpy.linalg.qr(a, mode))


def _qr_vjp(s, to_q, to_r):
    q, r = s.results
    m, n = s.self.shape[-2:]
    if s.mode == "r" or (s.mode == "complete" and m > n):
        wrong = (
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'"
            if s.mode == "r"
            else "The QR decomposition is not differentiable when mode='complete' and nrows > ncols"
        )
        raise OperationError(
            f"the backward of linalg.qr of {m} by {n} matrices, mode={s.mode!r}",
            wrong,
            "use mode='reduced'",
        )
    if m >= n:
        return _tall_qr_vjp(q, r, to_q, to_r)
    first, rest = r.narrow(-1, 0, m), to_r.narrow(-1, m, n - m)
    to_rest = q @ rest  # A = Q [U, V]: the right part is Q V, the left one factors by itself
    to_q = to_q + s.self.narrow(-1, m, n - m) @ rest.mH
    to_first = _tall_qr_vjp(q, first, to_q, to_r.narrow(-1, 0, m))
    return _op("cat", (to_first, to_rest), -1)


def _tall_qr_vjp(q, r, to_q, to_r):
    middle = r @ to_r.mH - to_q.mH @ q
    lower = middle.tril(-1)
    diagonal = real_part(middle.diagonal(0, -2, -1))
    symmetric = lower + lower.mH + _op("diag_embed", diagonal, 0, -2, -1)
    right = to_q + q @ symmetric
    return _op("linalg_solve", r, right.mH).mH


_library(
    "linalg_qr(Tensor self, str mode='reduced') -> (Tensor Q, Tensor R)",
    _qr,
    _infer_qr,
    _qr_vjp,
    "self results",
    "An orthonormal Q and an upper triangular R with Q @ R = self.",
    conjugates=False,
    columns=(0, 1),
)


def gaps_between(values):
    """values_j - values_i, with ones on the diagonal (where what is divided is zero)."""
    gaps = values.unsqueeze(-2) - values.unsqueeze(-1)
    size = values.shape[-1]
    eye = _op("range_", 0, size, 1, None, None)
    return _op("where", eye.unsqueeze(1) == eye, 1.0, gaps)


def _infer_eigh(self, uplo):
    check_matrices(self, "eigh")
    if uplo.upper() not in ("L", "U"):
        raise OperationError(
            f"linalg.eigh(UPLO={uplo!r})",
            f"Expected UPLO argument to be 'L' or 'U', but got {uplo}",
        )
    values = Meta(tuple(self.shape[:-1]), self.dtype.to_real())
    return values, Meta(tuple(self.shape), self.dtype)


def _eigh_vjp(s, to_values, to_vectors):
    values, vectors = s.results
    inner = vectors.mH @ to_vectors / gaps_between(values)
    inner = inner - _op("diag_embed", inner.diagonal(0, -2, -1), 0, -2, -1)
    inner = inner + _op("diag_embed", to_values, 0, -2, -1)
    return vectors @ inner @ vectors.mH


_library(
    "linalg_eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
    lambda a, uplo: tuple(numpy.linalg.eigh(a, uplo)),
    _infer_eigh,
    _eigh_vjp,
    "results",
    "Eigenvalues (ascending) and eigenvectors of a symmetric or Hermitian matrix.",
    conjugates=False,
    symmetric=True,
    columns=(1,),
)


def _infer_svd(self, full_matrices):
    check_matrices(self, "svd", square=False)
    *batch, m, n = self.shape
    k = min(m, n)
    left, right = (m, n) if full_matrices else (k, k)
    return (
        Meta((*batch, m, left), self.dtype),
        Meta((*batch, k), self.dtype.to_real()),
        Meta((*batch, right, n), self.dtype),
    )


def _svd_vjp(s, to_u, to_s, to_vh):
    u, values, vh = s.results
    m, n = s.self.shape[-2:]
    k = min(m, n)
    u, vh = u[..., :k], vh[..., :k, :]
    to_u, to_v = to_u[..., :k], to_vh[..., :k, :].mH
    v = vh.mH
    gaps = gaps_between(values * values)
    left, right = u.mH @ to_u, v.mH @ to_v
    row = values.unsqueeze(-2)
    turn = without_diagonal(left - left.mH)
    inner = turn / gaps * row + values.unsqueeze(-1) * (right - right.mH) / gaps
    diagonal = to_s
    if left.dtype.is_complex:  # u and v may turn together, element by element
        inner = without_diagonal(inner)
        diagonal = to_s + (left - left.mH).diagonal(0, -2, -1) / (2 * values)
    inner = inner + _op("diag_embed", diagonal, 0, -2, -1)
    found = u @ inner @ vh
    if m > k:
        found = found + (to_u - u @ left) / row @ vh
    if n > k:
        found = found + u / row @ (to_v - v @ right).mH
    return found


def without_diagonal(matrix):
    """The matrices with zeros on their diagonals."""
    return matrix - _op("diag_embed", matrix.diagonal(0, -2, -1), 0, -2, -1)


_library(
    "linalg_svd(Tensor self, bool full_matrices=True) -> (Tensor U, Tensor S, Tensor Vh)",
    lambda a, full: tuple(numpy.linalg.svd(a, full)),
    _infer_svd,
    _svd_vjp,
    "results",
    "Orthonormal U and Vh and singular values S with U @ diag(S) @ Vh = self.",
    conjugates=False,
    columns=(0, 2),
)
