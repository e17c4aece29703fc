"""torch.linalg: norms, factorizations, solutions.

In: matrices [..., m, n] or vectors. Out: tensors, or tuples with names. Everything is made of the
rows of ops/linear_algebra.py and ops/matrices.py.

    >>> from minitorch2 import tensor
    >>> solve(tensor([[2.0, 0.0], [0.0, 4.0]]), tensor([2.0, 2.0]))
    tensor([1.0000, 0.5000])

Source: torch.linalg.
"""

import math
from typing import Any, NamedTuple

from minitorch2.creation import zeros
from minitorch2.dtypes import complex128, finfo, float64
from minitorch2.errors import LinearAlgebraError, OperationError, ShapeError
from minitorch2.ops.infer import describe_value
from minitorch2.ops.table import lookup
from minitorch2.ranges import arange, eye

LinAlgError = LinearAlgebraError

_det, _slogdet, _inv = (lookup(f"linalg_{name}").public for name in ("det", "slogdet", "inv"))
_solve, _cholesky = lookup("linalg_solve").public, lookup("linalg_cholesky").public
_qr, _eigh, _svd = (lookup(f"linalg_{name}").public for name in ("qr", "eigh", "svd"))
_eig, _lu = lookup("linalg_eig").public, lookup("linalg_lu_parts").public
_norm, _where = lookup("norm").public, lookup("where").public
cross, vecdot = lookup("linalg_cross").public, lookup("linalg_vecdot").public
matrix_power, _matmul = lookup("matrix_power").public, lookup("matmul").public


class SLogDet(NamedTuple):
    """What slogdet returns."""

    sign: Any
    logabsdet: Any


class QR(NamedTuple):
    """What qr returns."""

    Q: Any
    R: Any


class Eigh(NamedTuple):
    """What eigh returns."""

    eigenvalues: Any
    eigenvectors: Any


class PLU(NamedTuple):
    """What lu returns."""

    P: Any
    L: Any
    U: Any


class LUFactor(NamedTuple):
    """What lu_factor returns."""

    LU: Any
    pivots: Any


class SVD(NamedTuple):
    """What svd returns."""

    U: Any
    S: Any
    Vh: Any


class LstSq(NamedTuple):
    """What lstsq returns."""

    solution: Any
    residuals: Any
    rank: Any
    singular_values: Any


def det(A: Any) -> Any:
    """The determinant."""
    return _det(A)


def slogdet(A: Any) -> SLogDet:
    """The sign of the determinant and the logarithm of its absolute value."""
    return SLogDet(*_slogdet(A))


def inv(A: Any) -> Any:
    """The inverse; LinAlgError for a singular matrix."""
    return _inv(A)


def solve(A: Any, B: Any, *, left: bool = True) -> Any:
    """X with A @ X = B (X @ A = B when not `left`)."""
    return _solve(A, B) if left else _solve(A.mT, B.mT).mT


def solve_triangular(
    A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    """X with A @ X = B for the upper or lower triangle of A."""
    triangle = A.triu() if upper else A.tril()
    if unitriangular:
        one = eye(A.shape[-1], dtype=A.dtype)
        triangle = _where(one == 1, one, triangle)
    return solve(triangle, B, left=left)


def cholesky(A: Any, *, upper: bool = False) -> Any:
    """The lower L with L @ L.mH = A, or its transpose; A must be positive definite."""
    lower = _cholesky(A)
    return lower.mH if upper else lower


def qr(A: Any, mode: str = "reduced") -> QR:
    """Orthonormal Q and upper triangular R with Q @ R = A."""
    return QR(*_qr(A, mode))


def eigh(A: Any, UPLO: str = "L") -> Eigh:
    """Eigenvalues (ascending) and eigenvectors of a symmetric matrix."""
    return Eigh(*_eigh(A, UPLO))


def eigvalsh(A: Any, UPLO: str = "L") -> Any:
    """The eigenvalues of a symmetric matrix, ascending."""
    return _eigh(A, UPLO)[0]


def eig(A: Any) -> Eigh:
    """Complex eigenvalues and eigenvectors of any square matrix."""
    return Eigh(*_eig(A))


def eigvals(A: Any) -> Any:
    """The complex eigenvalues of any square matrix."""
    return _eig(A)[0]


def lu_factor(A: Any, *, pivot: bool = True) -> LUFactor:
    """L (below the diagonal) and U in one matrix, and the exchanges of rows, counted from 1."""
    _require_pivots(pivot)
    return LUFactor(*_lu(A)[:2])


def lu(A: Any, *, pivot: bool = True) -> PLU:
    """A permutation P, L with ones on its diagonal and an upper U with P @ L @ U = A."""
    _require_pivots(pivot)
    factors, _, order = _lu(A)
    m, k = A.shape[-2], min(A.shape[-2:])
    lower = factors[..., :k].tril(-1) + eye(m, k, dtype=A.dtype)
    permutation = (arange(m).unsqueeze(-1) == order.unsqueeze(-2)).to(A.dtype)
    return PLU(permutation, lower, factors[..., :k, :].triu())


def _require_pivots(pivot: bool) -> None:
    if not pivot:
        raise OperationError(
            "linalg.lu(pivot=False)",
            "linalg.lu_factor: LU without pivoting is not implemented on the CPU",
            "leave pivot=True",
        )


def order_of_rows(pivots: Any, count: int) -> Any:
    """Which row of the matrix each row of its factors is: the exchanges carried out, from 1."""
    rows = arange(count).expand((*pivots.shape[:-1], count)).clone()
    for k in range(pivots.shape[-1]):
        swap = (pivots[..., k : k + 1] - 1).long()
        first, second = rows[..., k : k + 1].clone(), rows.gather(-1, swap)
        rows = rows.scatter(-1, swap, first)
        rows[..., k : k + 1] = second
    return rows


def lu_solve(LU: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    """X with A @ X = B from the factors that lu_factor gave (A.mH @ X = B when `adjoint`)."""
    size = LU.shape[-1]
    lower, upper = LU.tril(-1) + eye(size, dtype=LU.dtype), LU.triu()
    rows = order_of_rows(pivots, size)
    matrix = (rows.unsqueeze(-1) == arange(size)).to(LU.dtype).mT @ (lower @ upper)
    return solve(matrix.mH if adjoint else matrix, B, left=left)


def svd(A: Any, full_matrices: bool = True) -> SVD:
    """Orthonormal U, singular values S, orthonormal Vh with U @ diag(S) @ Vh = A."""
    return SVD(*_svd(A, full_matrices))


def svdvals(A: Any) -> Any:
    """The singular values, descending."""
    return _svd(A, False)[1]


def _cut(values: Any, shape: tuple, rtol: float | None, atol: float | None = None) -> Any:
    """The singular values below which a matrix counts as singular."""
    if rtol is None:
        rtol = (
            0.0
            if atol
            else finfo(values.dtype).eps * (shape[-1] if shape[-1] > shape[-2] else shape[-2])
        )
    return (values[..., :1] * rtol).clamp(min=atol or 0.0)


def pinv(A: Any, *, atol: float | None = None, rtol: float | None = None) -> Any:
    """The pseudoinverse: small singular values count as zero."""
    u, values, vh = _svd(A, False)
    keep = values > _cut(values, tuple(A.shape), rtol, atol)
    inverse = _where(keep, 1 / _where(keep, values, 1.0), 0.0)
    return (vh.mH * inverse.unsqueeze(-2)) @ u.mH


def matrix_rank(A: Any, *, atol: float | None = None, rtol: float | None = None) -> Any:
    """How many singular values are not (almost) zero."""
    values = svdvals(A)
    return (values > _cut(values, tuple(A.shape), rtol, atol)).sum(-1)


def lstsq(A: Any, B: Any, rcond: float | None = None, *, driver: str | None = None) -> LstSq:
    """X with the least |A @ X - B|, for A of full rank."""
    vector = B.ndim == 1 or (B.ndim == A.ndim - 1 and tuple(B.shape) == tuple(A.shape[:-1]))
    right = B.unsqueeze(-1) if vector else B
    tall = A.shape[-2] >= A.shape[-1]
    if tall:
        q, r = _qr(A, "reduced")
        solution = _solve(r, q.mH @ right)
    else:
        solution = A.mH @ _solve(A @ A.mH, right)
    gap = A @ solution - right
    many = A.shape[-2] > A.shape[-1]
    real = A.dtype.to_real()
    residuals = (gap.abs() ** 2).sum(-2) if many else zeros(0, dtype=real)
    rank = matrix_rank(A.detach()) if driver not in (None, "gels") else zeros(0).long()
    found = solution.squeeze(-1) if vector else solution
    return LstSq(found, residuals, rank, zeros(0, dtype=real))


def vector_norm(
    x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """The p-norm of the elements over `dim`."""
    return _norm(x, ord, dim, keepdim, dtype=dtype)


def matrix_norm(
    A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """A norm of matrices: 'fro', 'nuc', inf, -inf, 1, -1, 2, -2."""
    A = A if dtype is None else A.to(dtype)
    if ord == "fro":
        return _norm(A, 2, tuple(dim), keepdim)
    moved = A.movedim(tuple(dim), (-2, -1))
    if ord in ("nuc", 2, -2):
        values = svdvals(moved)
        found = values.sum(-1) if ord == "nuc" else values.amax(-1) if ord == 2 else values.amin(-1)
    elif ord in (1, -1, math.inf, -math.inf):
        sums = moved.abs().sum(-2 if abs(ord) == 1 else -1)
        found = sums.amax(-1) if ord > 0 else sums.amin(-1)
    else:
        raise OperationError(
            f"linalg.matrix_norm(ord={ord!r})",
            f"linalg.matrix_norm: Order {ord} not supported.",
            "use 'fro', 'nuc', 1, -1, 2, -2, inf or -inf",
        )
    if not keepdim:
        return found
    for at in sorted(d % A.ndim for d in dim):
        found = found.unsqueeze(at)
    return found


def norm(
    A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """A vector norm, or a matrix norm when two dimensions and an order are given."""
    pair = isinstance(dim, (tuple, list)) and len(dim) == 2
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if pair or (dim is None and A.ndim == 2):
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return vector_norm(A, ord, dim, keepdim, dtype=dtype)


def cond(A: Any, p: Any = None) -> Any:
    """How many times a relative error can grow in solving with A."""
    if p in (None, 2, -2):
        values = svdvals(A)
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    return matrix_norm(A, p) * matrix_norm(_inv(A), p)


def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """The diagonals of the last two dimensions."""
    return A.diagonal(offset, dim1, dim2)


def multi_dot(tensors: Any) -> Any:
    """The product of several matrices, from the left."""
    result = tensors[0]
    for tensor in tensors[1:]:
        result = _matmul(result, tensor)
    return result


def matmul(input: Any, other: Any) -> Any:
    """The matrix product."""
    return _matmul(input, other)


def matrix_exp(A: Any) -> Any:
    """The exponential of a matrix: a Taylor sum of A / 2 ** 10, squared ten times, in double."""
    wide = complex128 if A.dtype.is_complex else float64
    scaled = A.to(wide) / 1024
    term = total = eye(A.shape[-1], dtype=wide).expand(tuple(A.shape))
    for k in range(1, 15):
        term = term @ scaled / k
        total = total + term
    for _ in range(10):
        total = total @ total
    return total.to(A.dtype)


def vander(x: Any, *, N: int | None = None) -> Any:
    """Powers 0, 1, ... of the elements, one row for each."""
    return x.unsqueeze(-1) ** arange(x.shape[-1] if N is None else N)


def tensorsolve(A: Any, B: Any, dims: Any = None) -> Any:
    """X with tensordot(A, X, X.ndim) = B: dimensions of A beyond B's are X's."""
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(A.ndim - len(dims), A.ndim)))
    shape = tuple(A.shape[B.ndim :])
    if math.prod(A.shape[: B.ndim]) != math.prod(shape):
        raise ShapeError(
            f"linalg.tensorsolve({describe_value(A)}, {describe_value(B)})",
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            "prod(self.shape[:other.ndim])",
            "the equations must be as many as the unknowns",
        )
    size = math.prod(shape)
    return solve(A.reshape(size, size), B.reshape(-1)).reshape(shape)


def tensorinv(A: Any, ind: int = 2) -> Any:
    """The inverse of tensordot with A over its first `ind` dimensions."""
    before, after = tuple(A.shape[:ind]), tuple(A.shape[ind:])
    if ind <= 0 or math.prod(before) != math.prod(after):
        raise ShapeError(
            f"linalg.tensorinv({describe_value(A)}, ind={ind})",
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            "prod(self.shape[:ind])",
            "split the dimensions into halves of equal products",
        )
    size = math.prod(before)
    return inv(A.reshape(size, size)).reshape(*after, *before)
