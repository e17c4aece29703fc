"""Activations that overwrite their input: values and gradients as torch's, for small and large.

The input's own history goes on through the result; what a backward reads of the input before it
was overwritten has been kept.
"""

from collections.abc import Callable
from typing import Any

import numpy
import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "relu": lambda F, x: F.relu(x, inplace=True),
    "relu6": lambda F, x: F.relu6(x, inplace=True),
    "hardtanh": lambda F, x: F.hardtanh(x, -1.0, 2.0, inplace=True),
    "leaky_relu": lambda F, x: F.leaky_relu(x, 0.2, inplace=True),
    "elu": lambda F, x: F.elu(x, 1.5, inplace=True),
    "selu": lambda F, x: F.selu(x, inplace=True),
    "celu": lambda F, x: F.celu(x, 1.5, inplace=True),
    "silu": lambda F, x: F.silu(x, inplace=True),
    "mish": lambda F, x: F.mish(x, inplace=True),
    "hardswish": lambda F, x: F.hardswish(x, inplace=True),
    "hardsigmoid": lambda F, x: F.hardsigmoid(x, inplace=True),
    "threshold": lambda F, x: F.threshold(x, 0.1, -2.0, inplace=True),
    "rrelu": lambda F, x: F.rrelu(x, 0.2, 0.2, inplace=True),
    "dropout": lambda F, x: F.dropout(x, 0.0, inplace=True),
}
SLOPES = {"hardsigmoid": 1e-7}  # torch's slope is a sixth in single precision
EDGES = numpy.array([-4, -3, -2, -1, 0, 0.1, 1, 1.7, 2, 3, 4, 6, 7])


def compare(name: str, mine: Any, theirs: Any) -> None:
    """Values to the last digits, gradients too but for SLOPES."""
    for a, b, close in zip(mine, theirs, (1e-12, SLOPES.get(name, 1e-12)), strict=True):
        numpy.testing.assert_allclose(a, b, rtol=close, atol=1e-12)


@pytest.mark.parametrize("size", [1, 2000])
@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(name: str, size: int) -> None:
    found = []
    for lib in (minitorch2, torch):
        leaf = lib.tensor(numpy.tile(EDGES, size), requires_grad=True)
        given = leaf * 1.0
        result = CALLS[name](lib.nn.functional, given)
        assert result is given
        (result * result).sum().backward()
        found.append((result.detach().numpy(), leaf.grad.numpy()))
    compare(name, *found)


def test_a_slope_of_a_sixth_is_one_to_the_last_digit() -> None:
    """In double precision, where torch's is not."""
    leaf = minitorch2.tensor([-1.0, 0.0, 2.5], dtype=minitorch2.float64, requires_grad=True)
    minitorch2.nn.functional.hardsigmoid(leaf).sum().backward()
    assert leaf.grad is not None and leaf.grad.tolist() == [1 / 6] * 3


@pytest.mark.parametrize("name", ["hardswish", "hardsigmoid"])
def test_slopes_at_the_corners(name: str) -> None:
    values = [*EDGES, float("inf"), -float("inf")]  # at nan torch's slope depends on the lane
    found = []
    for lib in (minitorch2, torch):
        leaf = lib.tensor(values, dtype=lib.float64, requires_grad=True)
        result = getattr(lib.nn.functional, name)(leaf)
        result.sum().backward()
        found.append((result.detach().numpy(), leaf.grad.numpy()))
    compare(name, *found)
