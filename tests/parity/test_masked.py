"""torch.masked beside torch's: every function, masks of several shapes, dtypes, all left out."""

from typing import Any

import pytest
import torch

import minitorch2
from minitorch2 import masked

SEVERAL = ("sum", "prod", "amax", "amin", "mean", "norm", "var", "std", "logsumexp")
ALONG = ("cumsum", "cumprod", "softmax", "log_softmax", "softmin")
PLACES = ("argmax", "argmin", "median")
MASKS = ("none", "whole", "column", "row", "nothing")
INTEGERS = {"sum", "prod", "amax", "amin", "cumsum", "cumprod", "argmax", "var", "std"}


def values(library: Any, dtype: str) -> Any:
    """12 numbers as [3, 4]; those of floating dtypes require gradients."""
    x = (library.arange(12) * 7 % 12 - 5).reshape(3, 4).to(getattr(library, dtype))
    return x.requires_grad_() if x.dtype.is_floating_point else x


def mask_of(library: Any, kind: str) -> Any:
    """A mask that broadcasts to [3, 4]."""
    if kind == "none":
        return None
    whole = (library.arange(12) % 3 != 0).reshape(3, 4)
    parts = {"whole": whole, "column": whole[:, :1], "row": whole[0], "nothing": whole & False}
    return parts[kind]


def assert_equal(function: str, dtype: str, kind: str, *args: Any, **how: Any) -> None:
    """Values, dtype and gradient."""
    found = []
    for library in (minitorch2, torch):
        x = values(library, dtype)
        result = getattr(library.masked, function)(x, *args, **how, mask=mask_of(library, kind))
        grad = None
        if result.requires_grad:
            result.sum().backward()
            grad = x.grad
        found.append((result, grad))
    (ours, our_grad), (theirs, their_grad) = found
    told = function, dtype, kind, args, how
    assert str(ours.dtype) == str(theirs.dtype), told
    assert close(ours, theirs), told
    if their_grad is not None:
        assert our_grad is not None and close(our_grad, their_grad), told


def close(ours: Any, theirs: Any) -> bool:
    """Equal but for rounding; a nan equals a nan."""
    given, wanted = torch.tensor(ours.tolist()), torch.tensor(theirs.tolist())
    return torch.allclose(given, wanted, rtol=1e-6, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("function", SEVERAL)
def test_reductions(function: str) -> None:
    """Over all dimensions, one, several, kept or not."""
    for kind in MASKS:
        for dtype in ("float32", "float64", *(["int32"] if function in INTEGERS else [])):
            given = (2.0,) if function == "norm" else ()
            assert_equal(function, dtype, kind, *given)
            assert_equal(function, dtype, kind, *given, 1, keepdim=True)
            assert_equal(function, dtype, kind, *given, (0, -1))


@pytest.mark.parametrize("function", [*ALONG, *PLACES])
def test_along_one_dimension(function: str) -> None:
    """Running sums, softmax and the places of extrema."""
    for kind in MASKS:
        for dim in (0, -1):
            assert_equal(function, "float64", kind, dim)
        if function in INTEGERS:
            assert_equal(function, "int32", kind, 1)


@pytest.mark.parametrize("order", [0, 1, 2, 3, float("inf"), float("-inf")])
def test_orders_of_norms(order: float) -> None:
    """Also those whose smallest element decides."""
    for kind in ("none", "whole", "column"):
        assert_equal("norm", "float64", kind, order, 1)
        if order > 0:
            assert_equal("normalize", "float64", kind, order, 1)


def test_corrections() -> None:
    """unbiased and correction; both at once are refused."""
    for how in ({"unbiased": False}, {"correction": 2}, {"correction": 0}):
        assert_equal("var", "float64", "whole", 1, **how)
        assert_equal("std", "float64", "whole", 1, **how)
    with pytest.raises(RuntimeError, match="Only one of unbiased and correction"):
        masked.var(minitorch2.ones(3), 0, True, correction=1)


def test_logaddexp() -> None:
    """Two tensors, each with a mask."""
    for first in MASKS:
        ours = masked.logaddexp(
            values(minitorch2, "float64"), values(minitorch2, "float64") * 2,
            input_mask=mask_of(minitorch2, first), other_mask=mask_of(minitorch2, "whole"),
        )  # fmt: skip
        theirs = torch.masked.logaddexp(
            values(torch, "float64"), values(torch, "float64") * 2,
            input_mask=mask_of(torch, first), other_mask=mask_of(torch, "whole"),
        )  # fmt: skip
        assert torch.allclose(torch.tensor(ours.tolist()), torch.tensor(theirs.tolist()))


def test_every_function_is_tested() -> None:
    """A function that is published stands in one of the lists."""
    assert set(masked.__all__) == {*SEVERAL, *ALONG, *PLACES, "normalize", "logaddexp"}
