"""Each helper gives the same bits compiled and as plain Python, for every type it accepts."""

import inspect

import numpy as np
import pytest

from minitorch2.kernels.vecmath import scalars
from minitorch2.kernels.vecmath.accuracy import BOUNDS
from minitorch2.kernels.vecmath.primitives import DTYPES
from minitorch2.kernels.vecmath.scalars import HELPERS
from tests.kernels.vecmath.kernels import compiled

pytestmark = pytest.mark.numba
FLOAT_VALUES = (0.0, -0.0, 0.3, -0.7, 1.0, -1.0, 2.5, -3.5, 17.3, -88.8, 1e-30, 5e-42, 1e9, -3e38,
                float("inf"), float("-inf"), float("nan"), 65519.0, 127.0, -128.5)  # fmt: skip
NOT_ZERO = ("udiv", "umod")


def values_of(short: str) -> np.ndarray:
    """A few telling values of a type."""
    dtype = DTYPES[short]
    if short == "bool":
        return np.array([False, True])
    if dtype.kind == "f":
        tiny = [np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max]
        return np.array([*FLOAT_VALUES, *tiny], dtype)
    ends = np.iinfo(dtype)
    small = [0, 1, 2, 3, 7, 100, ends.min, ends.max, ends.max - 1]
    if dtype.kind == "i":
        small += [-1, -2, -7, -100]
    return np.array(small, dtype)


def argument_types(name: str, short: str) -> tuple[str, ...]:
    record = HELPERS[name]
    return tuple(own or short for own in record.fixed) or (short,) * record.arity


CASES = [(name, short) for name, record in HELPERS.items() for short in record.accepts]


@pytest.mark.parametrize("short", sorted({short for _, short in CASES}))
def test_compiled_and_plain_give_the_same_bits(short):
    for name in [name for name, own in CASES if own == short]:
        columns = [values_of(kind) for kind in argument_types(name, short)]
        if name in NOT_ZERO:
            columns[1] = columns[1][columns[1] != 0]
        if name == "shift_right_logical":
            columns[1] = np.arange(DTYPES[short].itemsize * 8, dtype=DTYPES[short])
        grids = [grid.ravel() for grid in np.meshgrid(*columns)]
        got = compiled(name, *grids)
        with np.errstate(all="ignore"):
            plain = np.array([getattr(scalars, name)(*row) for row in zip(*grids, strict=True)])
        assert plain.dtype == got.dtype, name
        same = (plain == got) | ((plain != plain) & (got != got))
        if got.dtype.kind == "f":
            same &= (np.signbit(plain) == np.signbit(got)) | np.isnan(got)
        rows = [tuple(grid[i] for grid in grids) for i in np.flatnonzero(~same)[:3]]
        assert same.all(), (name, rows, plain[~same][:3], got[~same][:3])


def test_every_helper_is_importable_and_documented():
    assert set(HELPERS) <= set(scalars.__all__)
    for name in HELPERS:
        assert inspect.getdoc(getattr(scalars, name)), name


def test_every_inexact_function_has_a_bound():
    exact = {"select", "fma", "floor", "ceil", "trunc", "round", "copysign", "fmod", "isnan",
             "isinf", "isfinite"}  # fmt: skip
    numbers = {name for name, record in HELPERS.items() if record.accepts != ("f32", "f64")}
    assert set(HELPERS) - exact - numbers <= set(BOUNDS)


def test_arguments_of_two_types_are_refused():
    with pytest.raises(TypeError, match="cast the arguments first"):
        scalars.plain_names()["fma"](np.float32(1), np.float64(2), np.float32(3))
