"""The bounds of vecmath.accuracy hold over dense samples, and special values are right."""

import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from minitorch2.kernels.vecmath.accuracy import BOUNDS
from tests.kernels.vecmath import all_floats
from tests.kernels.vecmath.all_floats import LAST, largest_error
from tests.kernels.vecmath.kernels import compiled

pytestmark = pytest.mark.numba
INF, NAN = float("inf"), float("nan")
Reference = Callable[..., np.ndarray]


def by_element(function: Callable[[float], float]) -> Reference:
    return np.vectorize(function, otypes=[np.longdouble])


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


REFERENCES: dict[str, Reference] = {
    "sigmoid": sigmoid,
    "erf": by_element(lambda x: math.erf(float(x))),
    "erfc": by_element(lambda x: math.erfc(float(x))),
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "pow": np.power,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
}
BINARY = ("atan2", "pow")
UNARY = [name for name in BOUNDS if name not in BINARY]
SLOW_REFERENCE = ("erf", "erfc")
LONG_DOUBLE = np.finfo(np.longdouble).nmant > 60


def reference(name: str) -> Reference:
    return REFERENCES.get(name) or getattr(np, name)


def sampled_floats(dtype: Any, count: int) -> np.ndarray:
    """Floats spread evenly over all bit patterns, negative ones too, and specials."""
    integer, infinity = (np.int32, 0x7F800000) if dtype is np.float32 else (np.int64, 0x7FF << 52)
    positive = np.arange(0, infinity, infinity // count, dtype=np.int64).astype(integer)
    positive = positive.view(dtype)
    tiny = np.finfo(dtype).smallest_subnormal
    special = [0.0, INF, NAN, 1.0, tiny, np.finfo(dtype).max]
    positive = np.append(positive, np.array(special, dtype))
    return np.append(positive, np.negative(positive))


def samples(dtype: Any, domain: float, count: int) -> np.ndarray:
    """Bit patterns and dense intervals within the domain."""
    dense = [np.linspace(-r, r, count).astype(dtype) for r in (1.0, 4.0, 30.0, 120.0, 760.0)]
    found = np.concatenate([sampled_floats(dtype, count), *dense])
    return found[~(np.abs(found) > domain) | np.isinf(found)]


def error_in_ulps(got: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """The distance from the exact result; infinite where infinities or NaN do not agree."""
    nearest = exact.astype(got.dtype)
    agree = (got == nearest) | (np.isnan(got) & np.isnan(nearest))
    spacing = np.spacing(np.abs(nearest)).astype(exact.dtype)
    distance = (np.abs(got.astype(exact.dtype) - exact) / spacing).astype(np.float64)
    bad = ~np.isfinite(distance)
    distance[bad] = np.where(agree[bad], 0.0, INF)
    return distance


def worst(name: str, *arguments: np.ndarray) -> tuple[float, list[float]]:
    """The largest error of a compiled helper, and where."""
    wide = np.float64 if arguments[0].dtype == np.float32 else np.longdouble
    with np.errstate(all="ignore"):
        exact = reference(name)(*(argument.astype(wide) for argument in arguments))
        errors = error_in_ulps(compiled(name, *arguments), exact.astype(wide))
    place = int(np.argmax(errors))
    return float(errors[place]), [float(argument[place]) for argument in arguments]


@pytest.mark.parametrize("name", UNARY)
def test_f32_stays_within_its_bound(name):
    count = 20_000 if name in SLOW_REFERENCE else 500_000
    error, place = worst(name, samples(np.float32, BOUNDS[name].domain, count))
    assert error <= BOUNDS[name].f32, f"{error} ulps at {place}"


@pytest.mark.slow
@pytest.mark.skipif("MT2_EXHAUSTIVE" not in os.environ, reason="a minute a function")
@pytest.mark.parametrize("name", UNARY)
def test_every_f32_stays_within_its_bound(name):
    assert largest_error(name) <= BOUNDS[name].f32


def test_the_sum_over_all_floats_sees_an_error(monkeypatch):
    monkeypatch.setitem(LAST, "wrong", 1 << 20)
    source = all_floats.SOURCE.replace("got = {name}(x)", "got = {name}(x) * f32(1.000001)")
    monkeypatch.setattr(all_floats, "SOURCE", source.replace("{name}", "exp"))
    assert 7 < largest_error("wrong") < 10


@pytest.mark.skipif(not LONG_DOUBLE, reason="needs a long double of 64 bits")
@pytest.mark.parametrize("name", [name for name in UNARY if name not in SLOW_REFERENCE])
def test_f64_stays_within_its_bound(name):
    error, place = worst(name, samples(np.float64, BOUNDS[name].domain, 40_000))
    assert error <= BOUNDS[name].f64, f"{error} ulps at {place}"


def test_the_table_of_the_documentation():
    text = (Path(__file__).parents[3] / "docs" / "speed.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) \| ([\d.]+) \|$", text, re.M)
    assert rows == [(name, str(each.f32), str(each.f64)) for name, each in BOUNDS.items()]


@pytest.mark.parametrize("name", SLOW_REFERENCE)
def test_f64_error_functions_agree_with_libm(name):
    """math.erf and math.erfc are themselves within about one ulp."""
    x = samples(np.float64, INF, 10_000)
    error, place = worst(name, x)
    assert error <= BOUNDS[name].f64 + 1.0, f"{error} ulps at {place}"


@pytest.mark.parametrize("name", ["exp", "log", "tanh", "erf", "erfc", "expm1", "sin"])
def test_f64_against_many_digits(name):
    x = np.linspace(0.001, 26.0, 2_001)
    got = compiled(name, x)
    with mpmath.workdps(60):
        exact = [getattr(mpmath, name)(mpmath.mpf(float(v))) for v in x]
        errors = [
            float(abs(mpmath.mpf(float(g)) - e) / mpmath.mpf(float(np.spacing(abs(float(e))))))
            for g, e in zip(got, exact, strict=True)
        ]
    assert max(errors) <= BOUNDS[name].f64


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_two_arguments_stay_within_their_bound(name, dtype):
    if dtype is np.float64 and not LONG_DOUBLE:
        pytest.skip("needs a long double of 64 bits")
    random = np.random.default_rng(0)
    special = sampled_floats(dtype, 40)
    first, second = (grid.ravel() for grid in np.meshgrid(special, special))
    spread = np.exp(random.uniform(-40, 40, 100_000))
    near_one = np.exp(random.uniform(-1, 1, 100_000))
    first = np.concatenate([first, spread, near_one]).astype(dtype)
    scale = random.uniform(-14, 14, 100_000)
    second = np.concatenate([second, scale, 40 * scale]).astype(dtype)
    error, place = worst(name, first, second)
    assert error <= getattr(BOUNDS[name], "f32" if dtype is np.float32 else "f64"), place


SPECIAL = [
    ("exp", -INF, 0.0), ("exp", INF, INF), ("exp", 1e4, INF), ("exp", -1e4, 0.0),
    ("exp", 0.0, 1.0), ("expm1", -0.0, -0.0), ("expm1", -INF, -1.0), ("log", 0.0, -INF),
    ("log", -0.0, -INF), ("log", -1.0, NAN), ("log", INF, INF), ("log", 1.0, 0.0),
    ("log1p", -1.0, -INF), ("log1p", -0.0, -0.0), ("log1p", -2.0, NAN), ("log2", 8.0, 3.0),
    ("tanh", INF, 1.0), ("tanh", -INF, -1.0), ("tanh", -0.0, -0.0), ("erf", INF, 1.0),
    ("erf", -0.0, -0.0), ("erfc", -INF, 2.0), ("erfc", INF, 0.0), ("sigmoid", -INF, 0.0),
    ("sigmoid", INF, 1.0), ("sin", INF, NAN), ("sin", -0.0, -0.0), ("cos", -INF, NAN),
    ("sqrt", -1.0, NAN), ("sqrt", -0.0, -0.0), ("rsqrt", 0.0, INF), ("atan", INF, math.pi / 2),
    ("asin", 1.5, NAN), ("acos", 1.0, 0.0), ("sinh", -0.0, -0.0), ("cosh", -INF, INF),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_values(dtype):
    for name, argument, expected in SPECIAL:
        got = compiled(name, np.array([argument, NAN], dtype))
        assert np.isnan(got[1]), name
        wanted = dtype(expected)
        same = got[0] == wanted and np.signbit(got[0]) == np.signbit(wanted)
        assert same or (np.isnan(wanted) and np.isnan(got[0])), (name, argument, got[0])
