"""The built-in launch: every kind of argument, its errors, and no reference lost or kept."""

import sys

import numpy as np
import pytest

from minitorch2.config import config
from minitorch2.kernels.runtime import built_in, pool
from minitorch2.kernels.runtime.compile import compile_kernel
from minitorch2.kernels.runtime.signature import KernelFailure, KernelSignature

pytestmark = [
    pytest.mark.numba,
    pytest.mark.skipif(
        not (pool.supported() and built_in.supported()), reason="no built-in launch here"
    ),
]
SOURCE = """
def affine(lo, hi, x, y, n, a, b, c, fails, status):
    for i in range(lo, hi):
        y[i] = x[i] * a + f32(b) + f32(c)
        if fails:
            status[u64(0)] = i64(17)
            status[u64(1)] = i64(n)
            return
"""
SIGNATURE = KernelSignature(("f32", "f32"), 1, ("f32", "f64", "i64", "bool"))
NUMBERS = (2.0, 0.5, 3, False)


@pytest.fixture
def launch():
    """The built-in launch of the kernel above."""
    return compile_kernel(SOURCE, SIGNATURE).direct()


def arrays(size: int) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(size, dtype=np.float32), np.zeros(size, np.float32)


@pytest.mark.parametrize("cost", [1.0, 100.0, 1e6])
def test_all_kinds_of_arguments(launch, monkeypatch, cost):
    monkeypatch.setattr(config, "threads", 2)
    x, y = arrays(1000)
    launch(1000, (x, y), (7,), NUMBERS, cost)
    assert (y == 2 * x + 3.5).all()
    y[:] = 0
    launch(1000, (x.ctypes.data, y), (7,), (2, 1, -3, 0), cost)
    assert (y == 2 * x - 2).all()


def test_views_begin_at_their_first_element(launch):
    x, y = arrays(1000)
    launch(100, (x[900:], y[500:600]), (7,), NUMBERS, 1.0)
    assert (y[500:600] == 2 * x[900:] + 3.5).all() and not y[:500].any() and not y[600:].any()


@pytest.mark.parametrize("cost", [1.0, 1e6])
def test_a_failure_is_raised(launch, cost):
    x, y = arrays(1000)
    with pytest.raises(KernelFailure) as caught:
        launch(1000, (x, y), (7,), (2.0, 0.5, 3, True), cost)
    assert (caught.value.code, caught.value.index) == (17, 7)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        (10, (1,), (7,), NUMBERS, 1.0),
        (10, (1, 2), (7,), NUMBERS[:3], 1.0),
        (10, (1, None), (7,), NUMBERS, 1.0),
        (10, (1, 2), (7.5,), NUMBERS, 1.0),
        (10, (1, 2), (7,), ("2", 0.5, 3, False), 1.0),
        ("10", (1, 2), (7,), NUMBERS, 1.0),
        (10, (1, 2), (7,), NUMBERS, "1"),
    ],
)
def test_wrong_arguments_are_refused(launch, arguments):
    with pytest.raises(TypeError):
        launch(*arguments)


def test_references_stay_as_they_were(launch):
    x, y = arrays(1000)
    given = (x, y), (7,), NUMBERS
    before = [sys.getrefcount(each) for each in (x, y, *given, NUMBERS[1])]
    none = sys.getrefcount(None)
    for _ in range(3000):
        launch(100, *given, 1.0)
    for _ in range(100):
        with pytest.raises(KernelFailure):
            launch(100, (x, y), (7,), (2.0, 0.5, 3, True), 1e4)
    assert [sys.getrefcount(each) for each in (x, y, *given, NUMBERS[1])] == before
    assert abs(sys.getrefcount(None) - none) < 1000


def test_results_do_not_depend_on_the_threads(launch, monkeypatch):
    x, y = arrays(100_003)
    results = []
    for threads in (1, 2, 3, 5):
        monkeypatch.setattr(config, "threads", threads)
        y = np.zeros_like(y)
        launch(x.size, (x, y), (7,), NUMBERS, 100.0)
        results.append(y)
    assert all((result == results[0]).all() for result in results)
