"""Scalars and arrays of numpy beside tensors: operators, functions, sizes, as in torch."""

import operator
from typing import Any

import numpy
import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.judge import compare_tensors  # noqa: E402

SCALARS = (
    numpy.float64(2.5),
    numpy.float32(1.5),
    numpy.float16(0.5),
    numpy.int64(3),
    numpy.int32(2),
)
ARRAYS = (numpy.array(2.0), numpy.array([1.0, 2.0, 3.0], dtype=numpy.float32), numpy.arange(1, 4))
OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "eq", "ne", "lt", "ge")
FUNCTIONS: dict[str, Any] = {
    "add": lambda t, x, n: t.add(x, n),
    "sub": lambda t, x, n: t.sub(x, n, alpha=2),
    "mul": lambda t, x, n: t.mul(x, n),
    "div": lambda t, x, n: t.div(x, n),
    "pow of a number": lambda t, x, n: t.pow(n, x),
    "clamp": lambda t, x, n: x.clamp(min=n),
    "where": lambda t, x, n: t.where(x > 0, x, n),
    "masked_fill": lambda t, x, n: x.masked_fill(x > 0, n),
    "isub": lambda t, x, n: x.clone().sub_(n),
    "leaky_relu": lambda t, x, n: t.nn.functional.leaky_relu(x, n),
}


@pytest.mark.parametrize("scalar", SCALARS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_scalars(scalar: Any, dtype: str) -> None:
    """A scalar of numpy's is the number it holds, on either side of an operator."""
    x = numpy.array([1.75, -1.5, 3.0]).astype(dtype)
    mine, theirs = minitorch2.from_numpy(x.copy()), torch.from_numpy(x.copy())
    for name in OPERATORS:
        compute = getattr(operator, name)
        assert not compare_tensors(compute(mine, scalar), compute(theirs, scalar), name)
        assert not compare_tensors(compute(scalar, mine), compute(scalar, theirs), "r" + name)
    for name, function in FUNCTIONS.items():
        if dtype == "int64" and name in ("isub", "leaky_relu", "pow of a number", "sub"):
            continue
        found, wanted = function(minitorch2, mine, scalar), function(torch, theirs, scalar)
        assert not compare_tensors(found, wanted, name)


@pytest.mark.filterwarnings("ignore:__array_wrap__ must accept")  # torch's own does not
@pytest.mark.parametrize("array", ARRAYS, ids=lambda each: f"{each.dtype}{each.shape}")
def test_arrays(array: Any) -> None:
    """With an array on the right, numpy computes, and the result is a tensor again."""
    x = numpy.array([1.75, -0.5, 3.0], dtype=numpy.float32)
    mine, theirs = minitorch2.from_numpy(x.copy()), torch.from_numpy(x.copy())
    for name in OPERATORS[:8]:  # of the comparisons torch has only == with an array
        compute = getattr(operator, name)
        assert not compare_tensors(compute(mine, array), compute(theirs, array), name)


def test_gradients_flow() -> None:
    """The tensor stays the one that is differentiated: numpy's operators step back for it."""
    both = []
    for t in (minitorch2, torch):
        w = t.tensor([1.0, -2.0], requires_grad=True)
        (numpy.float64(3.0) * w - numpy.float32(2.0) / w).sum().backward()
        both.append(w.grad)
    assert not compare_tensors(both[0], both[1], "grad")


def test_sizes() -> None:
    """Sizes given as numpy's integers are plain integers in shapes."""
    two, three = numpy.int64(2), numpy.int32(3)
    for t in (minitorch2, torch):
        x = t.zeros(6)
        shapes = [
            x.view(two, -1).shape,
            x.reshape((three, two)).shape,
            x.repeat(three).shape,
            t.zeros(two, three).shape,
            x.view(two, three).expand(two, three).shape,
        ]
        assert all(type(size) is int for shape in shapes for size in shape)
        assert [tuple(shape) for shape in shapes] == [(2, 3), (3, 2), (18,), (2, 3), (2, 3)]
