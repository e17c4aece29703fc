"""max_pool's kernels give the bits of the numpy way, for every edge that a window can have."""

import itertools

import numpy
import pytest

from minitorch2.backends import primitives
from minitorch2.config import config
from minitorch2.kernels import eager_pooling
from minitorch2.ops import pooling

pytestmark = pytest.mark.numba
LINES = [
    (k, s, p, d, ceil, size)
    for k, s, p, d, ceil, size in itertools.product(
        (1, 2, 3, 5), (1, 2, 3, 5), (0, 1, 2), (1, 2, 6), (False, True), (13, 40)
    )
    if 2 * p <= k and size + 2 * p - d * (k - 1) > 0
]
PLANES = [
    ((2, 3, 37, 41), (2, 2), (2, 2), (0, 0), (1, 1)),
    ((3, 20, 9), (2, 2), (2, 2), (1, 1), (1, 1)),
    ((2, 3, 37, 41), (3, 3), (2, 2), (1, 1), (1, 1)),
    ((2, 1, 30, 33), (3, 2), (1, 3), (1, 0), (2, 1)),
    ((1, 2, 5, 64), (4, 4), (1, 1), (2, 2), (1, 1)),
    ((2, 2, 9, 10, 11), (2, 2, 2), (2, 1, 2), (1, 0, 1), (1, 1, 2)),
]


def given(shape, element):
    random = numpy.random.RandomState(0)
    array = random.randint(-3, 4, shape).astype(element)
    array[random.rand(*shape) < 0.03] = numpy.nan
    array[random.rand(*shape) < 0.3] = -numpy.inf
    return array


def check(array, kernel, stride, padding, dilation, ceil_mode, monkeypatch):
    asked = (array, kernel, stride, padding, dilation, ceil_mode)
    assert eager_pooling.takes(array, kernel)
    found = pooling._max_pool(*asked)
    with monkeypatch.context() as patched:
        patched.setattr(primitives, "pooler", lambda: None)
        wanted = pooling._max_pool(*asked)
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        assert numpy.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f")


@pytest.mark.parametrize("kernel", [1, 2, 3, 5])
def test_lines(kernel, monkeypatch):
    for k, s, p, d, ceil, size in LINES:
        if k == kernel:
            array = given((2, 3, size), "f4")
            check(array, (k,), (s,), (p,), (d,), ceil, monkeypatch)


@pytest.mark.parametrize("element", ["f4", "f8"])
@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize(("shape", "kernel", "stride", "padding", "dilation"), PLANES, ids=str)
def test_planes_and_volumes(
    shape, kernel, stride, padding, dilation, ceil_mode, element, monkeypatch
):
    check(given(shape, element), kernel, stride, padding, dilation, ceil_mode, monkeypatch)


def test_other_layouts_and_nothing_at_all(monkeypatch):
    array = given((4, 5, 20, 30), "f4")
    for each in (array.transpose(0, 1, 3, 2), array[:, ::2, ::-1], array[:0]):
        check(each, (2, 2), (2, 2), (0, 0), (1, 1), False, monkeypatch)


def test_what_has_no_kernel():
    assert not eager_pooling.takes(numpy.zeros((2, 9, 9), "i8"), (2, 2))
    assert not eager_pooling.takes(numpy.zeros((2, 99, 99), "f4"), (20, 20))


@pytest.mark.parametrize("threads", [1, 3])
def test_threads(threads, monkeypatch):
    monkeypatch.setattr(config, "threads", threads)
    array = given((8, 8, 40, 40), "f4")
    check(array, (3, 3), (2, 2), (1, 1), (1, 1), False, monkeypatch)
