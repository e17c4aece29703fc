"""The few operations that every vecmath helper is written in, on numbers or on LLVM values.

A helper such as `exp` is one straight-line Python function over these operations. Called with
NumPy scalars it computes (that is its plain twin, which a debugger can step through); called with
`Symbolic` values it writes LLVM instructions instead (see lanes.py). One text, two executions, so
both give the same bits.

In: NumPy scalars or arrays, or Symbolic values, all of one type. Out: the same kind.

>>> import numpy as np
>>> fma(np.float32(3), np.float32(4), np.float32(5)), bits(np.float32(1))
(np.float32(17.0), np.int32(1065353216))

Source: IEEE 754-2019; Boldo and Melquiond, "Emulation of FMA and correctly rounded sums" (2008).
"""

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np

DTYPES: dict[str, np.dtype] = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "i64": np.dtype(np.int64),
    "i32": np.dtype(np.int32),
    "i16": np.dtype(np.int16),
    "i8": np.dtype(np.int8),
    "u64": np.dtype(np.uint64),
    "u32": np.dtype(np.uint32),
    "u16": np.dtype(np.uint16),
    "u8": np.dtype(np.uint8),
    "bool": np.dtype(np.bool_),
}
SHORT_NAMES = {dtype: short for short, dtype in DTYPES.items()}
SIGNED_BITS = {"f32": "i32", "f64": "i64"}
FLOAT_OF_BITS = {"i32": "f32", "i64": "f64"}


class Symbolic(ABC):
    """A value that is not known yet: operations on it are recorded, not computed.

    Python's operators work on it as on a NumPy scalar, with weak Python literals.
    """

    __slots__ = ("type",)
    type: str

    @abstractmethod
    def constant(self, value: float) -> "Symbolic":
        """A number of this value's type."""

    @abstractmethod
    def select(self, a: Any, b: Any) -> "Symbolic":
        """`a` where this (a bool) holds, else `b`."""

    @abstractmethod
    def cast(self, to: str) -> "Symbolic":
        """This value as another type, with C's rules (floats truncate)."""

    @abstractmethod
    def bitcast(self, to: str) -> "Symbolic":
        """The same bits as a type of the same width."""

    @abstractmethod
    def call(self, name: str, *others: Any) -> "Symbolic":
        """An exactly rounded operation: sqrt, fma, floor, ceil, trunc, rint, fabs, copysign."""

    @abstractmethod
    def converts(self) -> bool:
        """Whether the machine converts 16-bit floats by one instruction."""

    @abstractmethod
    def from_half(self) -> "Symbolic":
        """The f32 equal to these (u16) bits of a float16."""

    @abstractmethod
    def to_half(self) -> "Symbolic":
        """The bits (u16) of the float16 nearest to this f32, ties to even."""

    @abstractmethod
    def scales(self) -> bool:
        """Whether the machine multiplies by a power of two in one instruction."""

    @abstractmethod
    def scaled(self, n: Any) -> "Symbolic":
        """This times 2^n, rounded once; n an integer of the same width."""

    @abstractmethod
    def left_out(self) -> bool:
        """Whether code for the rare case that this (a bool) holds may be left out here."""


def type_of(x: Any) -> str:
    """The short name of a value's type: 'f32', 'i64', 'bool' ..."""
    if isinstance(x, Symbolic):
        return x.type
    if isinstance(x, bool):
        return "bool"
    if isinstance(x, int):
        return "i64"
    if isinstance(x, float):
        return "f64"
    return SHORT_NAMES[x.dtype]


def cast(x: Any, to: str) -> Any:
    """`x` as type `to`. A float that does not fit gives the smallest integer, as x86 does."""
    if isinstance(x, Symbolic):
        return x.cast(to)
    with np.errstate(all="ignore"):
        if not isinstance(x, np.generic | np.ndarray):
            x = np.asarray(x)[()]
        if x.dtype.kind == "f" and to not in ("f32", "f64", "bool"):
            return _truncate(x, to)
        return x.astype(DTYPES[to])


def _truncate(x: Any, to: str) -> Any:
    wide = np.dtype(np.int64 if DTYPES[to].itemsize == 8 else np.int32)
    if to == "u64":
        high = x >= 2.0**63
        fits = (x < 2.0**64) & (x > -(2.0**63))
        low = np.where(fits, np.where(high, x - 2.0**63, x), 0).astype(np.int64).astype(np.uint64)
        return np.where(fits, low + high.astype(np.uint64) * 2**63, np.uint64(2**63))[()]
    if to == "u32":
        return _truncate(x, "i64").astype(np.uint32)
    limit = 2.0 ** (8 * wide.itemsize - 1)
    fits = (x < limit) & (x >= -limit)
    whole = np.where(fits, np.where(fits, x, 0).astype(wide), int(-limit))
    return whole.astype(DTYPES[to])[()]


def select(c: Any, a: Any, b: Any) -> Any:
    """`a` where `c` holds, else `b`; both are computed, there is no branch.

    One of the two may be a Python number: it takes the other's type.
    """
    if isinstance(c, Symbolic):
        return c.select(a, b)
    if isinstance(a, int | float) and not isinstance(a, np.generic):
        a = b.dtype.type(a)
    elif isinstance(b, int | float) and not isinstance(b, np.generic):
        b = a.dtype.type(b)
    if isinstance(c, np.ndarray):
        return np.where(c, a, b)
    return a if c else b


def left_out(rare: Any) -> bool:
    """Whether to leave out what is only for the rare case: something else sees to it then."""
    return isinstance(rare, Symbolic) and rare.left_out()


def constant(x: Any, value: float) -> Any:
    """A number of the type of `x`."""
    return x.constant(value) if isinstance(x, Symbolic) else x.dtype.type(value)


def bits(x: Any) -> Any:
    """The bits of a float as a signed integer of the same width."""
    to = SIGNED_BITS[type_of(x)]
    return x.bitcast(to) if isinstance(x, Symbolic) else x.view(DTYPES[to])


def from_bits(x: Any) -> Any:
    """The float with these bits (i32 -> f32, i64 -> f64)."""
    to = FLOAT_OF_BITS[type_of(x)]
    return x.bitcast(to) if isinstance(x, Symbolic) else x.view(DTYPES[to])


def fma(a: Any, b: Any, c: Any) -> Any:
    """`a * b + c` rounded once."""
    if isinstance(a, Symbolic):
        return a.call("fma", b, c)
    if type_of(a) == "f32":
        return _fma32(a, np.float32(b), np.float32(c))
    if isinstance(a, np.ndarray):
        return np.vectorize(_fma64, otypes=[np.float64])(a, b, c)
    return _fma64(a, b, c)


def polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    """The polynomial with these coefficients (lowest power first), by Horner's rule with fma."""
    *rest, second, first = coefficients
    value = fma(x, first, second)
    for coefficient in reversed(rest):
        value = fma(value, x, coefficient)
    return value


def power_of_two(n: Any) -> Any:
    """2^n as the float of the integer's width; n must be a normal exponent."""
    bias, shift = (127, 23) if type_of(n) == "i32" else (1023, 52)
    return from_bits((n + bias) << shift)


def scaled(y: Any, n: Any) -> Any:
    """y * 2^n rounded once, where n may be too large or too small for a power of its own.

    The first of two factors is exact: `y` is near 1.
    """
    if isinstance(y, Symbolic) and y.scales():
        return y.scaled(n)
    half = n >> 1
    return y * power_of_two(half) * power_of_two(n - half)


def _fma32(a: Any, b: Any, c: Any) -> Any:
    """The product is exact in f64; rounding the sum to odd makes the second rounding harmless."""
    product = np.float64(a) * np.float64(b)
    c64 = np.float64(c)
    total = product + c64
    part = total - product
    error = (product - (total - part)) + (c64 - part)
    inexact = np.isfinite(total) & (error != 0) & (bits(total) & 1 == 0)
    step = np.where((error > 0) == (total > 0), 1, -1)
    odd = np.where(inexact, (bits(total) + step).view(np.float64), total)
    return odd.astype(np.float32)[()]


def _fma64(a: Any, b: Any, c: Any) -> Any:
    a, b, c = float(a), float(b), float(c)
    if not (math.isfinite(a) and math.isfinite(b)) or a == 0 or b == 0:
        return np.float64(a * b + c)
    if not math.isfinite(c):
        return np.float64(c)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return np.float64(0.0 if c == 0 or a * b + c == 0 else a * b + c)
    try:
        return np.float64(exact.numerator / exact.denominator)
    except OverflowError:
        return np.float64(math.inf if exact > 0 else -math.inf)


def fmod(a: Any, b: Any) -> Any:
    """The remainder of floats with the sign of `a`, exact."""
    return a.call("fmod", b) if isinstance(a, Symbolic) else np.fmod(a, b)


def divide(a: Any, b: Any) -> Any:
    """The quotient of integers towards zero; `b` must not be 0, nor -1 for the smallest `a`."""
    if isinstance(a, Symbolic):
        return a // b
    quotient = a // b
    return quotient + ((a - quotient * b != 0) & ((a < 0) != (b < 0))).astype(a.dtype)


def _rounded(name: str, numpy_function: Any, doc: str) -> Any:
    def operation(x: Any, *others: Any) -> Any:
        if isinstance(x, Symbolic):
            return x.call(name, *others)
        return numpy_function(x, *others)

    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = doc
    return operation


sqrt = _rounded("sqrt", np.sqrt, "The square root, correctly rounded.")
floor = _rounded("floor", np.floor, "The largest whole number not above x.")
ceil = _rounded("ceil", np.ceil, "The smallest whole number not below x.")
trunc = _rounded("trunc", np.trunc, "x without its fraction.")
rint = _rounded("rint", np.rint, "The nearest whole number, ties to even.")
fabs = _rounded("fabs", np.fabs, "x without its sign.")
copysign = _rounded("copysign", np.copysign, "The size of x with the sign of y.")
