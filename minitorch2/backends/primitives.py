"""CPU primitives: the transcendental functions eager uses, by name.

In: a name such as 'exp' or 'erf'. Out: a function of a numpy array. They are the kernels' own
scalar functions (kernels/eager_primitives.py, imported at the first use), so that eager and
compiled code agree bit for bit (complex numbers are numpy's in both). MT2_PRIMITIVES=numpy keeps
numpy's instead.

Source: erf after W. J. Cody, "Rational Chebyshev approximations for the error function" (1969).
"""

import importlib
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy

from minitorch2.config import config

COMPILED = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "sigmoid", "erf",
)  # fmt: skip
_loaders: dict[str, Callable[[], Callable]] = {}
_loaded: dict[str, Callable] = {}


def _compiled(name: str) -> Callable[[], Callable]:
    """The loader of a function of the kernels' room, found by name when it is first called."""

    def loader() -> Callable:
        return importlib.import_module("minitorch2.kernels.eager_primitives").primitive(name)

    return loader


def register(name: str, loader: Callable[[], Callable]) -> None:
    """Offer an implementation; `loader()` is called at the first use of the primitive."""
    _loaders[name] = loader
    _loaded.pop(name, None)


for _name in COMPILED:
    register(_name, _compiled(_name))


@cache
def drawer(name: str) -> Callable | None:
    """The kernels' draw_words or draw_floats: (seed, first block, count) -> array; None without."""
    if config.primitives == "numpy":
        return None
    return getattr(importlib.import_module("minitorch2.kernels.eager_primitives"), f"draw_{name}")


@cache
def pooler() -> Any:
    """The kernels' eager_pooling: a module with `takes` and `max_pool`; None without."""
    if config.primitives == "numpy":
        return None
    return importlib.import_module("minitorch2.kernels.eager_pooling")


@cache
def scanner() -> Any:
    """The kernels' eager_scans: a module with `takes` and `cumsum`; None without."""
    if config.primitives == "numpy":
        return None
    return importlib.import_module("minitorch2.kernels.eager_scans")


def function(name: str) -> Callable:
    """The primitive as a function of arrays, found at its first call."""

    def primitive(array: numpy.ndarray) -> numpy.ndarray:
        if array.dtype.kind == "c":
            return _numpy_version(name)(array)
        found = _loaded.get(name)
        if found is None:
            use_loader = name in _loaders and config.primitives != "numpy"
            found = _loaded[name] = _loaders[name]() if use_loader else _numpy_version(name)
        return found(array)

    primitive.__name__ = name
    return primitive


def _numpy_version(name: str) -> Callable:
    own = {"sigmoid": _sigmoid, "erf": _erf, "exp2": _exp2}
    renamed = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
    return own.get(name) or getattr(numpy, renamed.get(name, name))


def _exp2(x: numpy.ndarray) -> numpy.ndarray:
    return numpy.exp2(x) if x.dtype.kind != "c" else numpy.exp(x * x.real.dtype.type(math.log(2)))


def _sigmoid(x: numpy.ndarray) -> numpy.ndarray:
    wide = x.astype(numpy.float32) if x.dtype.itemsize < 4 else x
    return (1 / (1 + numpy.exp(-wide))).astype(x.dtype)


_SMALL = (
    (
        1.85777706184603153e-1,
        3.16112374387056560e0,
        1.13864154151050156e2,
        3.77485237685302021e2,
        3.20937758913846947e3,
    ),
    (
        1.0,
        2.36012909523441209e1,
        2.44024637934444173e2,
        1.28261652607737228e3,
        2.84423683343917062e3,
    ),
)
_MIDDLE = (
    (
        2.15311535474403846e-8,
        5.64188496988670089e-1,
        8.88314979438837594e0,
        6.61191906371416295e1,
        2.98635138197400131e2,
        8.81952221241769090e2,
        1.71204761263407058e3,
        2.05107837782607147e3,
        1.23033935479799725e3,
    ),
    (
        1.0,
        1.57449261107098347e1,
        1.17693950891312499e2,
        5.37181101862009858e2,
        1.62138957456669019e3,
        3.29079923573345963e3,
        4.36261909014324716e3,
        3.43936767414372164e3,
        1.23033935480374942e3,
    ),
)
_LARGE = (
    (
        1.63153871373020978e-2,
        3.05326634961232344e-1,
        3.60344899949804439e-1,
        1.25781726111229246e-1,
        1.60837851487422766e-2,
        6.58749161529837803e-4,
    ),
    (
        1.0,
        2.56852019228982242e0,
        1.87295284992346725e0,
        5.27905102951428412e-1,
        6.05183413124413191e-2,
        2.33520497626869185e-3,
    ),
)


def _ratio(coefficients: tuple, x: numpy.ndarray) -> numpy.ndarray:
    return numpy.polyval(coefficients[0], x) / numpy.polyval(coefficients[1], x)


def _erf(array: numpy.ndarray) -> numpy.ndarray:
    """erf in double precision on three intervals: |x| <= 0.46875, <= 4, beyond."""
    x = array.astype(numpy.float64)
    size = numpy.abs(x)
    result = numpy.empty_like(x)
    small, large = size <= 0.46875, size > 4
    middle = ~small & ~large
    result[small] = x[small] * _ratio(_SMALL, size[small] ** 2)
    between = size[middle]
    result[middle] = 1 - numpy.exp(-between * between) * _ratio(_MIDDLE, between)
    far = numpy.minimum(size[large], 27.0)
    inverse = 1 / (far * far)
    tail = (0.5641895835477563 - inverse * _ratio(_LARGE, inverse)) / far
    result[large] = 1 - numpy.exp(-far * far) * tail
    result = numpy.where(small, result, numpy.copysign(result, x))
    return numpy.where(numpy.isnan(x), x, result).astype(array.dtype)
