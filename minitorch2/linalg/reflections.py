"""QR by Householder's reflections, kept as vectors; symmetric matrices as L D L^T.

In: matrices [..., m, n]. Out: geqrf's packed factors and weights, the orthogonal matrix they stand
for, its products; or the packed factors of a symmetric matrix and its interchanges, as LAPACK's
?sytrf has them, and solutions from them.

    >>> from minitorch2 import tensor
    >>> geqrf(tensor([[3.0], [4.0]])).a
    tensor([[-5.0000],
            [ 0.5000]])

Source: torch.linalg; Golub and Van Loan 2013, 5.1; Bunch and Kaufman 1977 (pivots of one and two).
"""

import math
from typing import Any

import numpy

from minitorch2 import return_types
from minitorch2.errors import OperationError, ShapeError
from minitorch2.layouts import column_major
from minitorch2.ops.infer import describe_value
from minitorch2.ops.table import lookup
from minitorch2.ranges import eye
from minitorch2.tensors import wrap

_solve = lookup("linalg_solve").public
ALPHA = (1 + math.sqrt(17)) / 8  # Bunch and Kaufman's bound on the growth of elements

Reflections = return_types.of("geqrf")
LDL = return_types.of("linalg_ldl_factor")
LDLEx = return_types.of("linalg_ldl_factor_ex")


def _by_columns(array: numpy.ndarray) -> Any:
    strides = tuple(each * array.itemsize for each in column_major(array.shape).strides)
    block = numpy.empty(array.size, array.dtype)
    result = numpy.ndarray(array.shape, array.dtype, block, 0, strides)
    result[...] = array
    return wrap(result)


def geqrf(input: Any) -> Any:
    """R on and above the diagonal, the reflections' vectors below, and their weights."""
    raw, tau = numpy.linalg.qr(input.detach().array, "raw")
    return Reflections(_by_columns(numpy.swapaxes(raw, -1, -2)), wrap(tau.astype(raw.dtype)))


def householder_product(A: Any, tau: Any) -> Any:
    """The first n columns of the product of the reflections I - tau v v^H, v below A's diagonal."""
    asked = f"linalg.householder_product({describe_value(A)}, {describe_value(tau)})"
    if A.ndim < 2:
        raise ShapeError(
            asked, "torch.linalg.householder_product: input must have at least 2 dimensions."
        )
    m, n = A.shape[-2:]
    k = tau.shape[-1]
    if m < n:
        raise ShapeError(
            asked,
            "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to "
            "input.shape[-1]",
        )
    if k > n:
        raise ShapeError(
            asked,
            "torch.linalg.householder_product: input.shape[-1] must be greater than or equal to "
            "tau.shape[-1]",
        )
    found = eye(m, n, dtype=A.dtype).expand((*A.shape[:-2], m, n))
    for i in range(k - 1, -1, -1):
        found = _reflected(A, tau[..., i], i, found)
    return _columns(found)


def _columns(matrices: Any) -> Any:
    """The same, stored column by column."""
    return matrices.mT.contiguous().mT


def _vector(A: Any, i: int) -> Any:
    """The i-th reflection's vector [..., m, 1]: zeros, a one, what A has below its diagonal."""
    m = A.shape[-2]
    one = eye(m, dtype=A.dtype)[:, i : i + 1]
    return A[..., i : i + 1].tril(-i - 1) + one


def _reflected(A: Any, weight: Any, i: int, matrix: Any) -> Any:
    v = _vector(A, i)
    return matrix - weight[..., None, None] * (v @ (v.mH @ matrix))


def ormqr(input: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False) -> Any:
    """Q @ other (other @ Q when not `left`; Q.mH when `transpose`), Q as geqrf packs it."""
    asked = f"ormqr({describe_value(input)}, {describe_value(tau)}, {describe_value(other)})"
    if input.ndim < 2:
        raise ShapeError(asked, "torch.ormqr: input must have at least 2 dimensions.")
    side = -2 if left else -1
    if tau.shape[-1] > min(other.shape[side], input.shape[-1]):
        raise ShapeError(
            asked,
            f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{side}], "
            "input.shape[-1])",
        )
    found = other if left else other.mH
    order = range(tau.shape[-1])
    back = transpose == left
    for i in order if back else reversed(order):
        found = _reflected(input, tau[..., i].conj() if back else tau[..., i], i, found)
    return _columns(found if left else found.mH)


# ---- symmetric matrices ----------------------------------------------------------------------


def _pivoted(a: numpy.ndarray, hermitian: bool) -> tuple[numpy.ndarray, numpy.ndarray]:
    """One matrix, its lower triangle read: packed L and D, and 1-based interchanges."""
    n = len(a)
    turn = numpy.conj if hermitian else (lambda x: x)
    full = numpy.tril(a) + turn(numpy.tril(a, -1)).T
    pivots, k = numpy.zeros(n, numpy.int32), 0
    lower = numpy.tril(a).copy()
    while k < n:
        column = numpy.abs(full[k + 1 :, k])
        at = k + 1 + int(column.argmax()) if column.size else k
        largest = column.max(initial=0.0)
        step, swap = 1, k
        if abs(full[k, k]) < ALPHA * largest:
            others = numpy.abs(full[at, k:])
            others[at - k] = 0
            row = others.max(initial=0.0)
            if abs(full[k, k]) * row >= ALPHA * largest**2:
                pass
            elif abs(full[at, at]) >= ALPHA * row:
                swap = at
            else:
                step, swap = 2, at
        last = k + step - 1
        if swap != last:
            full[[last, swap]] = full[[swap, last]]
            full[:, [last, swap]] = full[:, [swap, last]]
            lower[[last, swap], :k] = lower[[swap, last], :k]
        pivots[k : k + step] = swap + 1 if step == 1 else -(swap + 1)
        block, rest = full[k : last + 1, k : last + 1].copy(), full[last + 1 :, k : last + 1].copy()
        lower[k : last + 1, k : last + 1] = numpy.tril(block)
        if rest.size and (step == 2 or block[0, 0] != 0):
            factor = numpy.linalg.solve(block.T, rest.T).T
            full[last + 1 :, last + 1 :] -= factor @ full[k : last + 1, last + 1 :]
            lower[last + 1 :, k : last + 1] = factor
        k += step
    return lower, pivots


def ldl_factor_ex(A: Any, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """L (unit, below) and D (blocks of one and two), interchanges, and which block is zero."""
    array = A.detach().array
    flat = array.reshape(math.prod(array.shape[:-2]), *array.shape[-2:])
    parts = [_pivoted(matrix, hermitian) for matrix in flat]
    packed = numpy.array([part[0] for part in parts], array.dtype).reshape(array.shape)
    pivots = numpy.array([part[1] for part in parts], numpy.int32).reshape(array.shape[:-1])
    info = numpy.array(
        [next((k + 1 for k in range(len(p)) if p[k] > 0 and d[k, k] == 0), 0) for d, p in parts],
        numpy.int32,
    ).reshape(array.shape[:-2])
    if check_errors and info.any():
        raise OperationError(
            "linalg.ldl_factor_ex()",
            f"linalg.ldl_factor_ex: D[{info.max()},{info.max()}] is zero, and solving fails",
        )
    return LDLEx(_by_columns(packed), wrap(pivots), wrap(info))


def ldl_factor(A: Any, *, hermitian: bool = False) -> Any:
    """The factors of a symmetric (or Hermitian) matrix, of which the lower triangle is read."""
    return LDL(*ldl_factor_ex(A, hermitian=hermitian)[:2])


def _assembled(packed: numpy.ndarray, pivots: numpy.ndarray, hermitian: bool) -> numpy.ndarray:
    """The matrix whose factors these are."""
    n = len(packed)
    turn = numpy.conj if hermitian else (lambda x: x)
    lower, middle, k = numpy.eye(n, dtype=packed.dtype), numpy.zeros_like(packed), 0
    order = numpy.arange(n)
    while k < n:
        step = 2 if pivots[k] < 0 else 1
        last = k + step - 1
        block = numpy.tril(packed[k : last + 1, k : last + 1])
        middle[k : last + 1, k : last + 1] = block + turn(numpy.tril(block, -1)).T
        lower[last + 1 :, k : last + 1] = packed[last + 1 :, k : last + 1]
        swap = abs(int(pivots[last])) - 1
        order[[last, swap]] = order[[swap, last]]
        k += step
    whole = lower @ middle @ turn(lower).T
    found = numpy.empty_like(whole)
    found[numpy.ix_(order, order)] = whole
    return found


def ldl_solve(LD: Any, pivots: Any, B: Any, *, hermitian: bool = False) -> Any:
    """X with A @ X = B from the factors that ldl_factor gave."""
    packed, swaps = LD.detach().array, pivots.detach().array
    flat = packed.reshape(math.prod(packed.shape[:-2]), *packed.shape[-2:])
    rows = swaps.reshape(len(flat), swaps.shape[-1])
    whole = [_assembled(each, row, hermitian) for each, row in zip(flat, rows, strict=True)]
    return _solve(wrap(numpy.array(whole, packed.dtype).reshape(packed.shape)), B)
