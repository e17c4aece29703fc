"""Norms and products of very large, very small and infinite numbers, and of zeros among them.

In: lines of numbers. Out: values and gradients, as torch's, in eager and in compiled code.
"""

import itertools
from typing import Any

import numpy
import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402

INF, NAN = float("inf"), float("nan")
LINES = [
    [1e30, 1e30, 0.0],
    [INF, 2.0, 0.0],
    [INF, 0.0, 0.0],
    [0.0, 0.0, 1e30, 1e30],
    [1e30, 0.0, 1e30, 1e30],
    [1e30, 1e30, 1e30],
    [NAN, 0.0, 1.0],
    [0.0, INF, INF],
    [1e-30, 1e-30, 0.0],
    [1e-30, 1e-30, 1e30],
    [INF, 2.0, 3.0],
    [-0.0, 2.0, 3.0],
    [0.0, -INF],
    [0.0],
    [2.0, 3.0, -4.0],
]
PRODUCTS = {
    "all": lambda x: x.prod(),
    "last": lambda x: x.prod(-1),
    "rows": lambda x: x.reshape(1, -1).expand(2, x.numel()).clone().prod(1),
    "columns": lambda x: x.reshape(-1, 1).expand(x.numel(), 2).clone().prod(0),
    "beside ones": lambda x: (x.reshape(-1, 1) * x.new_ones(2) ** 2).prod(1),
    "running": lambda x: x.cumprod(0),
}
SINGLE = [[1e30], [-1e30], [1e-30], [0.0], [INF], [-3.0]]
ORDERS = (2, 1, 3, 0.5, INF, -INF)
NORMS: dict[str, Any] = {
    **{
        f"order {p}": lambda x, lib, p=p: lib.linalg.vector_norm(x.reshape(1, 1), p, dim=1)
        for p in ORDERS
    },
    "all dimensions": lambda x, lib: lib.linalg.vector_norm(x.reshape(1, 1, 1)),
    "kept": lambda x, lib: x.reshape(1, 1).norm(dim=0, keepdim=True),
    "beside another": lambda x, lib: lib.cat((x.reshape(1, 1), x.new_ones(2, 1))).norm(dim=1),
    "normalized": lambda x, lib: lib.nn.functional.normalize(x.reshape(1, 1), dim=1),
    "of a number": lambda x, lib: x[0].norm(),
}


def _outcome(library: Any, function: Any, numbers: list, compiled: bool = False) -> list:
    x = library.tensor(numbers, requires_grad=True)
    found = (library.compile(function) if compiled else function)(x)
    found.sum().backward()
    return [numpy.array(found.tolist()), numpy.array(x.grad.tolist())]


def _check(ours: Any, theirs: Any, numbers: list, signs: bool = False) -> None:
    """`signs`: where torch's gradient is nan, ours is the sign."""
    expected = _outcome(torch, theirs, numbers)
    if signs:
        expected[1] = numpy.where(numpy.isnan(expected[1]), numpy.sign(numbers), expected[1])
    for compiled in (False, True):
        for one, other in zip(expected, _outcome(minitorch2, ours, numbers, compiled), strict=True):
            numpy.testing.assert_allclose(other, one, rtol=1e-6)
            zeros = one == 0
            assert (numpy.signbit(one) == numpy.signbit(other))[zeros].all()


@pytest.mark.parametrize("name, numbers", [*itertools.product(PRODUCTS, LINES)])
def test_products(name: str, numbers: list) -> None:
    """Over all of a tensor torch looks at the zeros first; along a dimension it does not."""
    _check(PRODUCTS[name], PRODUCTS[name], numbers)


@pytest.mark.parametrize("name, numbers", [*itertools.product(NORMS, SINGLE)])
def test_the_norm_of_one_element_is_its_magnitude(name: str, numbers: list) -> None:
    """Without powers that overflow or vanish, which torch's gradient divides by."""
    norm = NORMS[name]
    _check(lambda x: norm(x, minitorch2), lambda x: norm(x, torch), numbers, name != "normalized")


def _curvature(library: Any, numbers: list, dim: int | None) -> list:
    x = library.tensor(numbers, dtype=library.float64, requires_grad=True)
    found = x.prod() if dim is None else x.prod(dim)
    (slope,) = library.autograd.grad(found.sum(), x, create_graph=True)
    weights = library.linspace(1, 2, x.numel(), dtype=library.float64).reshape(x.shape)
    (second,) = library.autograd.grad((slope * weights).sum(), x)
    return second.tolist()


@pytest.mark.parametrize("numbers", [[2.0, 3.0, -4.0], [2.0, 0.0, 3.0], [0.5, 0.25, 0.0, -1.0]])
@pytest.mark.parametrize("dim", [None, 0])
def test_slopes_of_slopes(numbers: list, dim: int | None) -> None:
    """Beside a zero too."""
    assert _curvature(minitorch2, numbers, dim) == pytest.approx(_curvature(torch, numbers, dim))


def test_slopes_of_slopes_at_two_zeros() -> None:
    """torch gives up at the second zero of a whole tensor; the slope of the slope is there."""
    found = _curvature(minitorch2, [0.0, 0.0, 3.0], None)
    assert found == pytest.approx([1.5 * 3, 1.0 * 3, 0.0])
