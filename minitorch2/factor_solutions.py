"""Solutions from factors: after a Cholesky or LU factorization, of triangles, of low rank.

In: the factors that linalg gave, and right-hand sides [..., n, k]. Out: solutions, inverses, or the
factors apart.

    >>> import minitorch2 as torch
    >>> torch.cholesky_solve(torch.tensor([[4.0]]), torch.tensor([[2.0]]))
    tensor([[1.]])

Source: torch's "BLAS and LAPACK Operations"; Halko et al. 2011 (low rank).
"""

from typing import Any

from minitorch2 import linalg, return_types
from minitorch2.creation import randn, zeros
from minitorch2.dtypes import int32
from minitorch2.ops.outputs import with_out
from minitorch2.ops.table import lookup
from minitorch2.ranges import arange, eye

geqrf, orgqr, ormqr = linalg.geqrf, linalg.householder_product, linalg.ormqr

_rebase = lookup("rebase").public


def cholesky_solve(input: Any, L: Any, upper: bool = False) -> Any:
    """X with A @ X = input for A = L @ L.mH (U.mH @ U when `upper`)."""
    lower = L.mH if upper else L
    half = linalg.solve_triangular(lower, input, upper=False)
    found = linalg.solve_triangular(lower.mH, half, upper=True)
    if not L.requires_grad:
        return found
    # torch's gradient is that of the product, also where only a triangle is read.
    whole = _rebase(lower, lower.tril().detach())
    return _rebase(linalg.solve(whole @ whole.mH, input), found.detach())


def cholesky_inverse(L: Any, upper: bool = False) -> Any:
    """The inverse of L @ L.mH (of U.mH @ U when `upper`)."""
    return cholesky_solve(eye(L.shape[-1], dtype=L.dtype).expand(tuple(L.shape)), L, upper)


def triangular_solve(
    b: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """X with A @ X = b (A.mT @ X = b when `transpose`) for a triangle of A."""
    matrix = A.mT if transpose else A
    found = linalg.solve_triangular(
        matrix, b, upper=upper != transpose, unitriangular=unitriangular
    )
    return return_types.of("triangular_solve")(found, A.mT.contiguous().mT.clone())


def lu(A: Any, pivot: bool = True, get_infos: bool = False) -> Any:
    """L and U in one matrix, and the exchanges of rows; with `get_infos` zeros besides."""
    factors, pivots = linalg.lu_factor(A, pivot=pivot)
    info = zeros(tuple(A.shape[:-2]), dtype=int32)
    return (factors, pivots, info) if get_infos else (factors, pivots)


def lu_solve(b: Any, LU_data: Any, LU_pivots: Any) -> Any:
    """X with A @ X = b from the factors that `lu` gave."""
    return linalg.lu_solve(LU_data, LU_pivots, b)


def lu_unpack(
    LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True
) -> Any:
    """P, L and U from the factors that `lu` gave; None for what is not asked for (as torch: [])."""
    m, n = LU_data.shape[-2:]
    k = min(m, n)
    empty = zeros(0, dtype=LU_data.dtype)
    lower, upper, permutation = empty, empty, empty
    if unpack_data:
        lower = LU_data[..., :k].tril(-1) + eye(m, k, dtype=LU_data.dtype)
        upper = LU_data[..., :k, :].triu()
    if unpack_pivots:
        rows = linalg.order_of_rows(LU_pivots, m)
        permutation = (arange(m).unsqueeze(-1) == rows.unsqueeze(-2)).to(LU_data.dtype)
    return return_types.of("lu_unpack")(permutation, lower, upper)


def svd_lowrank(A: Any, q: int = 6, niter: int = 2, M: Any = None) -> tuple[Any, Any, Any]:
    """U, S and V of about the q largest singular values of A (of A - M), by random projection."""
    A = A if M is None else A - M
    wide = A.shape[-2] < A.shape[-1]
    tall = A.mH if wide else A
    basis = linalg.qr(tall @ randn(*tall.shape[:-2], tall.shape[-1], q, dtype=A.dtype)).Q
    for _ in range(niter):
        basis = linalg.qr(tall @ linalg.qr(tall.mH @ basis).Q).Q
    u, s, vh = linalg.svd(basis.mH @ tall, full_matrices=False)
    left, right = basis @ u, vh.mH
    return (right, s, left) if wide else (left, s, right)


def pca_lowrank(
    A: Any, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Any, Any, Any]:
    """svd_lowrank of the rows, each column's mean subtracted: V holds the principal directions."""
    q = min(6, *A.shape[-2:]) if q is None else q
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)


for _name in (
    *("cholesky_inverse", "cholesky_solve", "geqrf", "lu", "lu_solve", "lu_unpack", "orgqr"),
    *("ormqr", "triangular_solve"),
):
    globals()[_name] = with_out(globals()[_name], f"linalg.{_name}")
