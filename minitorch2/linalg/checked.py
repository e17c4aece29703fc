"""Factorizations that say which matrices failed instead of raising: torch.linalg's `_ex` forms.

In: matrices. Out: what the form without `_ex` gives, and `info`: 0 for each matrix that has a
result, else the number (from 1) of the pivot that is zero, or of the leading minor that is not
positive. A matrix that failed has nan for its result. `check_errors` raises LinAlgError for it.

    >>> from minitorch2 import tensor
    >>> inv_ex(tensor([[1.0, 2.0], [2.0, 4.0]])).info
    tensor(2, dtype=torch.int32)

Source: torch.linalg's documentation.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy

from minitorch2 import return_types
from minitorch2.dtypes import int32
from minitorch2.errors import LinearAlgebraError
from minitorch2.linalg.forms import cholesky, inv, require_pivots, solve
from minitorch2.ops.linear_algebra import FAILURES, failing_minor
from minitorch2.ops.table import lookup
from minitorch2.ranges import eye
from minitorch2.tensors import Tensor, wrap

_where, _lu = lookup("where").public, lookup("linalg_lu_parts").public

Inverse = return_types.of("linalg_inv_ex")
Cholesky = return_types.of("linalg_cholesky_ex")
LUFactorEx = return_types.of("linalg_lu_factor_ex")
Solved = return_types.of("linalg_solve_ex")


def _of_pivots(A: Tensor) -> Any:
    """The number of the first zero on the diagonal of U, for each matrix; 0 without one."""
    return _first(_lu(A.detach())[0].diagonal(dim1=-2, dim2=-1) == 0)


def _first(flags: Any) -> Any:
    """The place (from 1) of the first True in the last dimension; 0 without one."""
    if flags.shape[-1] == 0:
        return flags.sum(-1).to(int32)
    found = flags.to(int32)
    return _where(found.amax(-1) > 0, found.argmax(-1) + 1, 0).to(int32)


def _of_minors(A: Tensor) -> Any:
    """The order of the first leading minor that is not positive, for each matrix."""
    wide = A.detach().array
    matrices = wide.reshape(math.prod(wide.shape[:-2]), *wide.shape[-2:])
    found = [failing_minor(matrix) for matrix in matrices]
    return wrap(numpy.array(found, numpy.int32).reshape(wide.shape[:-2]))


def _tried(
    name: str, A: Any, info: Any, wrong: str, check_errors: bool, compute: Callable[[Any], Any]
) -> Any:
    """compute(A), where the matrices that fail are replaced for it and give nan."""
    failed = info != 0
    if not bool(failed.any()):
        return compute(A)
    if check_errors:
        numbers = info.reshape(-1).tolist()
        first = next(at for at, number in enumerate(numbers) if number)
        batch = f"(Batch element {first}): " if A.ndim > 2 else ""
        raise LinearAlgebraError(
            f"linalg.{name}()",
            f"linalg.{name}: {batch}" + wrong.format(numbers[first]),
            "leave check_errors out, and look at info",
        )
    usable = _where(failed[..., None, None], eye(A.shape[-1], dtype=A.dtype), A)
    result = compute(usable)
    return _where(
        failed.reshape((*failed.shape, *[1] * (result.ndim - failed.ndim))), math.nan, result
    )


_SINGULAR, _UNSOLVED, _NOT_POSITIVE = (FAILURES[name][1] for name in ("inv", "solve", "cholesky"))


def inv_ex(A: Any, *, check_errors: bool = False) -> Any:
    """The inverse, and which pivot was zero."""
    info = _of_pivots(A)
    return Inverse(_tried("inv_ex", A, info, _SINGULAR, check_errors, inv), info)


def cholesky_ex(A: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    """The Cholesky factor, and which leading minor was not positive."""
    info = _of_minors(A)

    def compute(usable: Any) -> Any:
        return cholesky(usable, upper=upper)

    return Cholesky(_tried("cholesky_ex", A, info, _NOT_POSITIVE, check_errors, compute), info)


def solve_ex(A: Any, B: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    """X with A @ X = B (X @ A = B when not `left`), and which pivot was zero."""
    info = _of_pivots(A)

    def compute(usable: Any) -> Any:
        return solve(usable, B, left=left)

    return Solved(_tried("solve_ex", A, info, _UNSOLVED, check_errors, compute), info)


def lu_factor_ex(A: Any, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """lu_factor, and which element of U's diagonal is zero; the factors hold in any case."""
    require_pivots(pivot)
    factors, pivots = _lu(A)[:2]
    info = _first(factors.detach().diagonal(dim1=-2, dim2=-1) == 0)
    if check_errors and bool((info != 0).any()):
        numbers = info.reshape(-1).tolist()
        first = next(at for at, number in enumerate(numbers) if number)
        batch = f"(Batch element {first}): " if A.ndim > 2 else ""
        raise LinearAlgebraError(
            "linalg.lu_factor_ex()",
            f"{batch}U[{numbers[first]},{numbers[first]}] is zero and using it on lu_solve would "
            "result in a division by zero",
            "leave check_errors out, and look at info",
        )
    return LUFactorEx(factors, pivots, info)
