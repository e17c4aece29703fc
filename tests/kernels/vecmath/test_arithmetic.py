"""Division, remainders, comparisons and casts follow NumPy and torch."""

from typing import Any

import numpy as np
import pytest

from tests.kernels.vecmath.kernels import compiled

pytestmark = pytest.mark.numba
SIGNED = [np.int8, np.int16, np.int32, np.int64]


def grid(values: list[float], dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    column = np.array(values, dtype)
    return np.repeat(column, column.size), np.tile(column, column.size)


@pytest.mark.parametrize("dtype", [*SIGNED, np.uint8])
def test_integer_division_rounds_as_python_does(dtype):
    low = np.iinfo(dtype).min
    a, b = grid([1, 2, 3, 7, 100, np.iinfo(dtype).max, *([-1, -3, -7, low] if low else [])], dtype)
    usual = ~((a == low) & (b == (-1 if low else 0)))
    a, b = a[usual], b[usual]
    assert (compiled("floor_divide", a, b) == a // b).all()
    assert (compiled("remainder", a, b) == a % b).all()
    assert (compiled("fmod", a, b) == np.fmod(a, b)).all()
    toward_zero = np.sign(a.astype(object)) * np.sign(b.astype(object))
    toward_zero = toward_zero * (abs(a.astype(object)) // abs(b.astype(object)))
    assert (compiled("truncate_divide", a, b) == toward_zero.astype(dtype)).all()


@pytest.mark.parametrize("dtype", [*SIGNED, np.uint8])
def test_integer_division_never_traps(dtype):
    a, b = grid([0, 1, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
    for name in ("floor_divide", "truncate_divide", "remainder", "fmod"):
        assert (compiled(name, a, b)[b == 0] == 0).all()
    low = np.array([np.iinfo(dtype).min], dtype)
    if low[0]:
        assert compiled("floor_divide", low, -np.ones(1, dtype)) == low  # wraps


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float_division(dtype):
    random = np.random.default_rng(0)
    a, b = (random.normal(size=5_000).astype(dtype) * scale for scale in (100, 1))
    assert (compiled("floor_divide", a, b) == np.floor_divide(a, b)).all()
    assert (compiled("remainder", a, b) == np.remainder(a, b)).all()
    assert (compiled("truncate_divide", a, b) == np.trunc(a / b)).all()
    none = np.zeros(1, dtype)
    assert np.isinf(compiled("floor_divide", a[:1], none))[0]
    assert np.isnan(compiled("remainder", a[:1], none))[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nan_wins_or_gives_way(dtype):
    a, b = grid([1.0, -2.0, float("nan"), float("inf")], dtype)
    for name, numpy_name in (("minimum", "minimum"), ("maximum", "maximum"), ("min", "minimum"),
                             ("max", "maximum"), ("fmin", "fmin"), ("fmax", "fmax")):  # fmt: skip
        assert np.array_equal(compiled(name, a, b), getattr(np, numpy_name)(a, b), equal_nan=True)


@pytest.mark.parametrize("source", [np.float32, np.float64])
def test_casts_to_integers_truncate(source):
    x = np.array([0.9, -0.9, 2.5, -2.5, 127.0, 100000.7, -3e4], source)
    for name, dtype in (("i64", np.int64), ("i32", np.int32)):
        assert (compiled(name, x) == x.astype(dtype)).all()
    beyond = np.array([1e30, -1e30, np.nan, np.inf], source)
    assert (compiled("i64", beyond) == np.iinfo(np.int64).min).all()
    assert (compiled("i32", beyond) == np.iinfo(np.int32).min).all()
    assert compiled("b1", np.array([0.0, -0.0, 0.5, np.nan], source)).tolist() == [0, 0, 1, 1]
    assert compiled("u64", np.array([1.8e19, 3.7, -1.0], source))[1] == 3


@pytest.mark.parametrize("dtype", SIGNED)
def test_integer_powers_wrap(dtype):
    a, b = grid([0, 1, 2, 3, 5, 7], dtype)
    with np.errstate(all="ignore"):
        assert (compiled("pow", a, b) == a**b).all()
    negative = -np.ones(3, dtype)
    assert compiled("pow", np.array([1, -1, 2], dtype), negative).tolist() == [1, -1, 0]


def test_rounding_is_to_even():
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5], np.float32)
    assert compiled("round", x).tolist() == [0.0, 2.0, 2.0, -0.0, -2.0]
