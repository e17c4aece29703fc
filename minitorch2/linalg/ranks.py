"""Linear algebra up to a tolerance: ranks, pseudoinverses, least squares, condition numbers.

In: matrices [..., m, n], and tolerances: numbers, or a tensor with one for each. Out: tensors.
Singular values of at most max(atol, rtol * the largest) count as zero; rtol is max(m, n) times the
dtype's epsilon where neither is given.

    >>> from minitorch2 import tensor
    >>> matrix_rank(tensor([[1.0, 2.0], [2.0, 4.0]]))
    tensor(1)

Source: torch.linalg; Golub and Van Loan 2013, 5.5 (least squares of low rank).
"""

import math
from typing import Any

from minitorch2 import return_types
from minitorch2.creation import zeros
from minitorch2.dtypes import finfo
from minitorch2.errors import DtypeError, OperationError, ShapeError
from minitorch2.linalg.checked import inv_ex
from minitorch2.linalg.forms import matrix_norm, svdvals
from minitorch2.ops.infer import describe_value
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor

_eigh, _pinv_above = lookup("linalg_eigh").public, lookup("linalg_pinv_above").public
_qr, _solve = lookup("linalg_qr").public, lookup("linalg_solve").public
_where = lookup("where").public
DRIVERS = ("gels", "gelsy", "gelsd", "gelss")

LstSq = return_types.of("linalg_lstsq")


def _bound(values: Any, shape: tuple, rtol: Any, atol: Any) -> Any:
    """The singular values up to which a matrix counts as singular, [..., 1]."""
    if rtol is None:
        given = (atol > 0) if isinstance(atol, Tensor) else bool(atol)
        usual = finfo(values.dtype).eps * max(shape[-2:])
        rtol = _where(given, 0.0, usual) if isinstance(given, Tensor) else 0.0 if given else usual
    rtol, atol = (
        each.to(values.dtype).unsqueeze(-1) if isinstance(each, Tensor) else each or 0.0
        for each in (rtol, atol)
    )
    largest = (
        values.amax(-1, True) if values.shape[-1] else values.new_zeros((*values.shape[:-1], 1))
    )
    scaled = largest * rtol
    return scaled.maximum(atol) if isinstance(atol, Tensor) else scaled.clamp(min=atol)


def matrix_rank(
    A: Any,
    tol: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Any:
    """How many singular values are not (almost) zero; `tol` is an absolute tolerance."""
    if A.ndim < 2:
        raise ShapeError(
            f"linalg.matrix_rank({describe_value(A)})",
            "linalg.matrix_rank: The input tensor A must have at least 2 dimensions.",
            "unsqueeze it",
        )
    if tol is not None:
        atol, rtol = tol, 0.0
    values = _eigh(A, "L")[0].abs() if hermitian else svdvals(A)
    return (values > _bound(values, tuple(A.shape), rtol, atol)).sum(-1)


def pinv(
    A: Any,
    rcond: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Any:
    """The pseudoinverse: small singular values count as zero; `rcond` is a relative tolerance."""
    rtol = rcond if rcond is not None else rtol
    for name, given in (("rtol", rtol), ("atol", atol)):
        if isinstance(given, Tensor) and given.requires_grad:
            raise OperationError(
                f"linalg.pinv({describe_value(A)}, {name}={describe_value(given)})",
                f"The function 'linalg_pinv' is not differentiable with respect to argument "
                f"'{name}'. This input cannot have requires_grad True.",
                "detach() the bound",
            )
    if 0 in A.shape[-2:]:
        return A.new_zeros((*A.shape[:-2], A.shape[-1], A.shape[-2])) + 0 * A.mT
    fixed = A.detach()
    sizes = _eigh(fixed, "L")[0].abs() if hermitian else svdvals(fixed)
    return _pinv_above(A, _bound(sizes, tuple(A.shape), rtol, atol), hermitian)


def _check_system(A: Any, B: Any, driver: str) -> None:
    asked = f"linalg.lstsq({describe_value(A)}, {describe_value(B)}, driver={driver!r})"
    if A.ndim < 2:
        raise ShapeError(asked, "torch.linalg.lstsq: input must have at least 2 dimensions.")
    if A.dtype is not B.dtype:
        raise DtypeError(
            asked,
            "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's "
            f"dtype {A.dtype} and other's dtype {B.dtype}",
        )
    if driver not in DRIVERS:
        raise OperationError(
            asked,
            "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)",
        )


def lstsq(A: Any, B: Any, rcond: Any = None, *, driver: str | None = None) -> Any:
    """X with the least |A @ X - B|, of the least norm.

    `gels` takes matrices of full rank; `gelsy` (the default), `gelsd` and `gelss` any, with the
    singular values of at most rcond times the largest counted as zero. The last two return them.
    """
    driver = driver or "gelsy"
    _check_system(A, B, driver)
    vector = B.ndim == 1 or (B.ndim == A.ndim - 1 and tuple(B.shape) == tuple(A.shape[:-1]))
    right = B.unsqueeze(-1) if vector else B
    m, n = A.shape[-2:]
    if right.shape[-2] != m:
        raise ShapeError(
            f"linalg.lstsq({describe_value(A)}, {describe_value(B)})",
            "torch.linalg.lstsq: input.size(-2) should match other.size(-2)",
        )
    real = A.dtype.to_real()
    rank, values = zeros(0).long(), zeros(0, dtype=real)
    if driver == "gels":
        solution = _full_rank(A, right)
    else:
        solution = pinv(A, rtol=rcond) @ right
        found = svdvals(A.detach())
        rank = (found > _bound(found, tuple(A.shape), rcond, None)).sum(-1)
        values = found if driver in ("gelsd", "gelss") else values
    residuals = zeros(0, dtype=real)
    if m > n and driver != "gelsy" and (not rank.numel() or bool((rank == n).all())):
        residuals = ((A @ solution - right).abs() ** 2).sum(-2)
    return LstSq(solution.squeeze(-1) if vector else solution, residuals, rank, values)


def _full_rank(A: Any, right: Any) -> Any:
    if A.shape[-2] >= A.shape[-1]:
        q, r = _qr(A, "reduced")
        return _solve(r, q.mH @ right)
    return A.mH @ _solve(A @ A.mH, right)


def cond(A: Any, p: Any = None) -> Any:
    """How many times a relative error can grow in solving with A: |A| |A ** -1|; inf for none."""
    asked = f"linalg.cond({describe_value(A)}, {p!r})"
    if A.ndim < 2:
        raise ShapeError(asked, "linalg.cond: The input tensor A must have at least 2 dimensions.")
    if 0 in A.shape[-2:]:
        return A.new_zeros(tuple(A.shape[:-2]), dtype=A.dtype.to_real())
    if p in (None, 2, -2):
        values = svdvals(A)
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    if p not in ("fro", "nuc", 1, -1, math.inf, -math.inf):
        raise OperationError(
            asked, f"linalg.cond got an invalid norm type: {p}", "use 'fro', 'nuc', 1, 2, inf or -1"
        )
    if A.shape[-1] != A.shape[-2]:
        raise ShapeError(
            asked,
            f"linalg.cond(ord={p}): A must be batches of square matrices, but they are "
            f"{A.shape[-2]} by {A.shape[-1]} matrices",
        )
    inverse, failed = inv_ex(A)
    found = matrix_norm(A, p) * matrix_norm(_where((failed != 0)[..., None, None], 1.0, inverse), p)
    return _where(failed != 0, math.inf, found)
