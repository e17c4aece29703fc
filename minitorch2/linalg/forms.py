"""torch.linalg: norms, factorizations, solutions.

In: matrices [..., m, n] or vectors. Out: tensors, or tuples with names. Everything is made of the
rows of ops/linear_algebra.py and ops/matrices.py.

    >>> from minitorch2 import tensor
    >>> solve(tensor([[2.0, 0.0], [0.0, 4.0]]), tensor([2.0, 2.0]))
    tensor([1.0000, 0.5000])

Source: torch.linalg.
"""

import math
from typing import Any

from minitorch2 import return_types
from minitorch2.dtypes import complex128, float64
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

SLogDet = return_types.of("linalg_slogdet")
QR = return_types.of("linalg_qr")
Eigh = return_types.of("linalg_eigh")
PLU = return_types.of("linalg_lu")
LUFactor = return_types.of("linalg_lu_factor")
SVD = return_types.of("linalg_svd")
Eig = return_types.of("linalg_eig")


def det(A: Any) -> Any:
    """The determinant."""
    return _det(A)


def slogdet(A: Any) -> Any:
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
    if B.ndim < 2:
        raise ShapeError(
            f"linalg.solve_triangular({describe_value(A)}, {describe_value(B)})",
            "linalg.solve_triangular: The input tensor B must have at least 2 dimensions.",
            "unsqueeze it",
        )
    triangle = A.triu() if upper else A.tril()
    if unitriangular:
        one = eye(A.shape[-1], dtype=A.dtype)
        triangle = _where(one == 1, one, triangle)
    return solve(triangle, B, left=left)


def cholesky(A: Any, *, upper: bool = False) -> Any:
    """The lower L with L @ L.mH = A, or its transpose; A must be positive definite."""
    lower = _cholesky(A)
    return lower.mH.contiguous().mT.contiguous().mT if upper else lower


def qr(A: Any, mode: str = "reduced") -> Any:
    """Orthonormal Q and upper triangular R with Q @ R = A."""
    return QR(*_qr(A, mode))


def eigh(A: Any, UPLO: str = "L") -> Any:
    """Eigenvalues (ascending) and eigenvectors of a symmetric matrix."""
    return Eigh(*_eigh(A, UPLO))


def eigvalsh(A: Any, UPLO: str = "L") -> Any:
    """The eigenvalues of a symmetric matrix, ascending."""
    return _eigh(A, UPLO)[0]


def eig(A: Any) -> Any:
    """Complex eigenvalues and eigenvectors of any square matrix."""
    return Eig(*_eig(A))


def eigvals(A: Any) -> Any:
    """The complex eigenvalues of any square matrix."""
    return _eig(A)[0]


def lu_factor(A: Any, *, pivot: bool = True) -> Any:
    """L (below the diagonal) and U in one matrix, and the exchanges of rows, counted from 1."""
    require_pivots(pivot)
    found = LUFactor(*_lu(A)[:2])
    diagonal = found.LU.detach().diagonal(dim1=-2, dim2=-1)
    if diagonal.has_elements and bool((diagonal == 0).any()):
        at = int((diagonal == 0).reshape(-1, diagonal.shape[-1]).any(0).long().argmax()) + 1
        raise OperationError(
            f"linalg.lu_factor({describe_value(A)})",
            f"torch.linalg.lu_factor: U[{at},{at}] is zero and using it on lu_solve would result "
            "in a division by zero",
            "use lu_factor_ex, or lu",
        )
    return found


def lu(A: Any, *, pivot: bool = True) -> Any:
    """A permutation P, L with ones on its diagonal and an upper U with P @ L @ U = A."""
    require_pivots(pivot)
    factors, _, order = _lu(A)
    m, k = A.shape[-2], min(A.shape[-2:])
    lower = factors[..., :k].tril(-1) + eye(m, k, dtype=A.dtype)
    permutation = (arange(m).unsqueeze(-1) == order.unsqueeze(-2)).to(A.dtype)
    return PLU(permutation, lower, factors[..., :k, :].triu())


def require_pivots(pivot: bool) -> None:
    """OperationError for factors without pivoting."""
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


def svd(A: Any, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """Orthonormal U, singular values S, orthonormal Vh with U @ diag(S) @ Vh = A."""
    _refuse_driver("svd", driver)
    return SVD(*_svd(A, full_matrices))


def svdvals(A: Any, *, driver: str | None = None) -> Any:
    """The singular values, descending."""
    _refuse_driver("svdvals", driver)
    return _svd(A, False)[1]


def _refuse_driver(name: str, driver: str | None) -> None:
    if driver is not None:
        raise OperationError(
            f"linalg.{name}(driver={driver!r})",
            f"torch.linalg.{name}: keyword argument `driver=` is only supported on CUDA inputs "
            "with cuSOLVER backend.",
            "leave it out",
        )


def vector_norm(
    x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """The p-norm of the elements over `dim`."""
    return _norm(x, ord, dim, keepdim, dtype=dtype)


def matrix_norm(
    A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """A norm of matrices: 'fro', 'nuc', inf, -inf, 1, -1, 2, -2."""
    asked = f"linalg.matrix_norm({describe_value(A)}, {ord!r}, {dim})"
    if A.ndim < 2:
        raise ShapeError(
            asked, "linalg.matrix_norm: The input tensor A must have at least 2 dimensions."
        )
    if isinstance(dim, int) or len(dim) != 2:
        given = dim if isinstance(dim, int) else ", ".join(map(str, dim))
        raise ShapeError(asked, f"linalg.matrix_norm: dim must be a 2-tuple. Got {given}")
    A = A if dtype is None else A.to(dtype)
    if ord == "fro":
        return _norm(A, 2, tuple(dim), keepdim)
    moved = A.movedim(tuple(dim), (-2, -1))
    if ord in ("nuc", 2, -2):
        values = svdvals(moved)
        if ord == 2 and not values.shape[-1]:
            found = values.sum(-1)
        else:
            found = (
                values.sum(-1) if ord == "nuc" else values.amax(-1) if ord == 2 else values.amin(-1)
            )
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
    asked = f"linalg.norm({describe_value(A)}, {ord!r}, {dim})"
    pair = isinstance(dim, (tuple, list)) and len(dim) == 2
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if isinstance(dim, (tuple, list)) and len(dim) not in (1, 2):
        raise ShapeError(
            asked,
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}",
        )
    if dim is None and A.ndim > 2:
        raise ShapeError(
            asked,
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{A.ndim}D.",
        )
    if pair or (dim is None and A.ndim == 2) or isinstance(ord, str):
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return vector_norm(A, ord, dim, keepdim, dtype=dtype)


def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """The diagonals of the last two dimensions."""
    return A.diagonal(offset, dim1, dim2)


def multi_dot(tensors: Any) -> Any:
    """The product of several matrices, from the left; the first and the last may be vectors."""
    given, wrong = list(tensors), ""
    if len(given) < 2:
        wrong = f"expected at least 2 tensors but got {len(given)}"
    for at, each in enumerate(given):
        ends = at in (0, len(given) - 1)
        if not wrong and not (each.ndim == 2 or (ends and each.ndim == 1)):
            place = "the first tensor" if at == 0 else "the last tensor" if ends else f"tensor {at}"
            wrong = f"{place} must be {'1D or ' * ends}2D but got {each.ndim}D"
        if not wrong and each.dtype is not given[0].dtype:
            wrong = f"all tensors must have be the same dtype but tensor 0 is {given[0].dtype} and "
            wrong += f"tensor {at} {each.dtype}"
    if wrong:
        raise OperationError("linalg.multi_dot()", f"multi_dot(): {wrong}")
    result = given[0]
    for tensor in given[1:]:
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
    if N is not None and N <= 1:
        raise OperationError(f"linalg.vander(N={N})", f"N must be greater than 1. Got {N}")
    x = x if x.ndim else x.unsqueeze(0)
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
