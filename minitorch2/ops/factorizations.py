"""Rows of linear algebra for matrices of any kind: eigenvalues, LU, pseudoinverses.

In: square matrices [..., n, n] (for LU also [..., m, n]). Out: what torch.linalg gives: eigenvalues
and eigenvectors are complex even where the matrix is real.

Source: torch.linalg; Boeddeker et al. 2017, "On the computation of complex-valued gradients" (4.77,
eigenvectors); Golub and Pereyra 1973 (pseudoinverses); de Hoog et al. 2011, "The derivatives of LU
factors"; Golub and Van Loan 2013, 3.4.
"""

import math

import numpy

from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.errors import OperationError
from minitorch2.ops.linear_algebra import check_matrices, gaps_between, lapack, without_diagonal
from minitorch2.ops.table import LIBRARY, Meta, defop, lookup


def _op(name, *args):
    return call(lookup(name), args)


def _diagonal(values):
    return _op("diag_embed", values, 0, -2, -1)


# ---- eigenvalues -----------------------------------------------------------------------------


def _eig(a):
    wanted = numpy.result_type(a.dtype, numpy.complex64)
    values, vectors = numpy.linalg.eig(a)
    return values.astype(wanted), vectors.astype(wanted)


def _infer_eig(self):
    check_matrices(self, "eig")
    wanted = self.dtype.to_complex()
    return Meta(tuple(self.shape[:-1]), wanted), Meta(tuple(self.shape), wanted)


def _eig_vjp(s, to_values, to_vectors):
    """Eigenvectors have length 1: what changes a length is taken out of their gradient."""
    values, vectors = s.results
    turned = vectors.mH @ to_vectors
    lengths = turned.diagonal(0, -2, -1).real.unsqueeze(-2)
    inner = (turned - (vectors.mH @ vectors) * lengths) / gaps_between(values).conj()
    inner = without_diagonal(inner) + _diagonal(to_values)
    found = _op("linalg_solve", vectors.mH, inner @ vectors.mH)
    return found if s.self.dtype.is_complex else found.real


defop(
    "linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)",
    LIBRARY,
    eager=lapack(_eig, "eig"),
    infer=_infer_eig,
    vjp=_eig_vjp,
    saves="results",
    conjugates=False,
    precision="full",
    effects="may_fail",
    method=False,
    function=False,
    columns=(1,),
    host="LAPACK's",
    torch="torch.linalg.eig",
    doc="Complex eigenvalues and eigenvectors of any square matrix.",
)

# ---- triangular factors ----------------------------------------------------------------------


def _lu(a):
    """Row by row with the largest pivot first: L below the diagonal, U above, and the rows' order.

    All matrices of a batch go through each step together.
    """
    *batch, m, n = a.shape
    lu = a.reshape(math.prod(batch), m, n).copy()
    order = numpy.tile(numpy.arange(m), (len(lu), 1))
    pivots = numpy.zeros((len(lu), min(m, n)), numpy.int32)
    each = numpy.arange(len(lu))
    for k in range(min(m, n)):
        column = lu[:, k:, k]  # LAPACK measures complex numbers so
        size = numpy.abs(column.real) + (numpy.abs(column.imag) if a.dtype.kind == "c" else 0)
        best = k + size.argmax(-1)
        pivots[:, k] = best + 1
        for table in (lu, order):
            chosen, first = table[each, best].copy(), table[each, k].copy()
            table[each, best], table[each, k] = first, chosen
        pivot = lu[:, k, k, None]
        factor = lu[:, k + 1 :, k] / numpy.where(pivot == 0, 1, pivot)
        lu[:, k + 1 :, k] = factor
        lu[:, k + 1 :, k + 1 :] -= factor[:, :, None] * lu[:, k, None, k + 1 :]
    k = min(m, n)
    return lu.reshape(a.shape), pivots.reshape(*batch, k), order.reshape(*batch, m)


def _infer_lu(self):
    check_matrices(self, "lu_factor", square=False)
    *batch, m, n = self.shape
    pivots = Meta((*batch, min(m, n)), dtypes.int32)
    return Meta(tuple(self.shape), self.dtype), pivots, Meta((*batch, m), dtypes.int64)


def _lu_vjp(s, g, *_):
    """Of the leading square: P L^-H (tril(L^H gL - gV V^H, -1) + triu(gU U^H - W^H gW)) U^-H.

    V is what U has to the right of the square, W what L has below it; one of them is empty.
    """
    lu, _, order = s.results
    m, n = s.self.shape[-2:]
    k = min(m, n)
    square, to_square = (each.narrow(-2, 0, k).narrow(-1, 0, k) for each in (lu, g))
    one = _op("full", tuple(square.shape[:-1]), 1, lu.dtype, lu.device)
    lower, upper = square.tril(-1) + _diagonal(one), square.triu()
    below = lower.mH @ to_square.tril(-1)
    above = to_square.triu() @ upper.mH
    if n > k:
        right, to_right = (each.narrow(-1, k, n - k) for each in (lu, g))
        below = below - to_right @ right.mH
    if m > k:
        under, to_under = (each.narrow(-2, k, m - k) for each in (lu, g))
        above = above - under.mH @ to_under
    left = _op("linalg_solve", lower.mH, below.tril(-1) + above.triu())
    found = _op("linalg_solve", upper, left.mH).mH
    if n > k:
        found = _op("cat", (found, _op("linalg_solve", lower.mH, to_right)), -1)
    if m > k:
        found = _op("cat", (found, _op("linalg_solve", upper, to_under.mH).mH), -2)
    back = _op("argsort", order, -1, False, False).unsqueeze(-1)
    return _op("gather", found, -2, _op("expand", back, tuple(found.shape)))


defop(
    "linalg_lu_parts(Tensor self) -> (Tensor LU, Tensor pivots, Tensor order)",
    LIBRARY,
    eager=_lu,
    infer=_infer_lu,
    vjp=_lu_vjp,
    saves="results",
    conjugates=False,
    precision="full",
    method=False,
    function=False,
    columns=(0,),
    host="elimination goes column by column",
    torch="torch.linalg.lu_factor",
    doc="The triangular factors in one matrix, the exchanges of rows (from 1), the rows' order.",
)

# ---- pseudoinverses --------------------------------------------------------------------------


def _pinv(a, bound, hermitian):
    if hermitian:
        values, left = numpy.linalg.eigh(a)
        right = numpy.swapaxes(left, -1, -2).conj()
    else:
        left, values, right = numpy.linalg.svd(a, False)
    keep = numpy.abs(values) > bound
    inverse = numpy.where(keep, 1 / numpy.where(keep, values, 1), 0).astype(a.dtype)
    back, up = (numpy.swapaxes(each, -1, -2).conj() for each in (right, left))
    return (back * inverse[..., None, :]) @ up


def _infer_pinv(self, bound, hermitian):
    check_matrices(self, "pinv", square=hermitian)
    return Meta((*self.shape[:-2], self.shape[-1], self.shape[-2]), self.dtype)


def _pinv_vjp(s, g):
    """Of constant rank: -P^H g P^H + (1 - A P) g^H P P^H + P^H P g^H (1 - P A)."""
    if s.needs[1]:
        raise OperationError(
            "the backward of linalg_pinv_above", "it has no derivative by the bound", "detach() it"
        )
    a, p = s.self, s.result
    left = g.mH @ p @ p.mH
    right = p.mH @ p @ g.mH
    found = -(p.mH @ g @ p.mH) + (left - a @ (p @ left)) + (right - right @ p @ a)
    return found, None


defop(
    "linalg_pinv_above(Tensor self, Tensor bound, bool hermitian=False) -> Tensor",
    LIBRARY,
    eager=lapack(_pinv, "pinv"),
    infer=_infer_pinv,
    vjp=_pinv_vjp,
    saves="self result",
    conjugates=False,
    precision="full",
    effects="may_fail",
    method=False,
    function=False,
    host="LAPACK's",
    torch="torch.linalg.pinv",
    doc="The pseudoinverse; singular values of at most `bound` [..., 1] count as zero.",
)
