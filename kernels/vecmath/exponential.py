"""exp and its relatives: x = n ln2 + r, a polynomial in r, then 2^n written into the exponent.

In and out: f32 or f64. Overflow gives inf, underflow passes through the subnormals, NaN stays NaN.

>>> exp(-1.0), expm1(1e-20), sigmoid(0.0)
(np.float64(0.36787944117144233), np.float64(1e-20), np.float64(0.5))

Source: W. J. Cody and W. Waite, "Software Manual for the Elementary Functions" (1980), chapter 6;
the coefficients are near-minimax fits, made by tests/bench/fit_vecmath.py.
"""

from dataclasses import dataclass
from typing import Any

from minitorch2.kernels.vecmath import primitives as p
from minitorch2.kernels.vecmath.helpers import helper


@dataclass(frozen=True, slots=True)
class Constants:
    """What exp needs to know about a type.

    Adding `magic` (1.5 * 2^mantissa bits) rounds to a whole number and leaves it in the low bits.
    `ln2_high` has so few bits that n * ln2_high is exact. `quadratic` is the polynomial q in
    e^r = 1 + r + r^2 q(r) for |r| <= ln2 / 2.
    """

    magic: float
    magic_bits: int
    ln2_high: float
    ln2_low: float
    highest: float
    lowest: float
    quadratic: tuple[float, ...]


LOG2_E = 1.4426950408889634
LN2 = 0.6931471805599453
F32 = Constants(
    magic=12582912.0,
    magic_bits=0x4B400000,
    ln2_high=0.693359375,
    ln2_low=-2.12194440054690583e-4,
    highest=89.0,
    lowest=-104.0,
    quadratic=(0.4999999403953552, 0.16666515171527863, 0.041668448597192764,
               0.008369344286620617, 0.0013813360128551722),
)  # fmt: skip
F64 = Constants(
    magic=6755399441055744.0,
    magic_bits=0x4338000000000000,
    ln2_high=6.93147180369123816490e-01,
    ln2_low=1.90821492927058770002e-10,
    highest=710.0,
    lowest=-746.0,
    quadratic=(0.5000000000000012, 0.16666666666666405, 0.041666666666518574, 0.00833333333349719,
               0.0013888888946927578, 0.00019841269506834828, 2.480148945268913e-05,
               2.755758038837808e-06, 2.7631621849327257e-07, 2.5003813401313444e-08),
)  # fmt: skip
# The quadratic for -0.8 ln2 <= r <= 0.2 ln2
BELOW32 = (0.5000001192092896, 0.16666825115680695, 0.04166156053543091, 0.008253772743046284,
           0.0011672821128740907)  # fmt: skip


def constants(x: Any) -> Constants:
    """The constants for a value's type."""
    return F32 if p.type_of(x) == "f32" else F64


def clamp(x: Any, lowest: float, highest: float) -> Any:
    """x, but inside the bounds; NaN stays."""
    x = p.select(x > highest, highest, x)
    return p.select(x < lowest, lowest, x)


def whole(x: Any, scale: float, k: Constants) -> tuple[Any, Any]:
    """The whole number nearest to x * scale, as a float and as an integer."""
    shifted = p.fma(x, scale, k.magic)
    return shifted - k.magic, p.bits(shifted) - k.magic_bits


def reduce(x: Any, k: Constants) -> tuple[Any, Any]:
    """r and n with x = n ln2 + r and |r| <= ln2 / 2."""
    number, n = whole(x, LOG2_E, k)
    return p.fma(number, -k.ln2_low, p.fma(number, -k.ln2_high, x)), n


def minus_one(r: Any, k: Constants) -> Any:
    """e^r - 1 for a reduced r."""
    return p.fma(r * r, p.polynomial(r, k.quadratic), r)


def exp_bounded(x: Any) -> Any:
    """e^x where the result is known to be a normal number."""
    k = constants(x)
    r, n = reduce(x, k)
    return (1.0 + minus_one(r, k)) * p.power_of_two(n)


def expm1_bounded(x: Any) -> Any:
    """e^x - 1 where 2^n is a normal number."""
    k = constants(x)
    r, n = reduce(x, k)
    power = p.power_of_two(n)
    return p.fma(power, minus_one(r, k), power - 1.0)


def less_below(x: Any) -> Any:
    """1 - e^x for f32 x <= 0 where 2^n is a normal number; small results are accurate too.

    n is 0 down to x = -0.8 ln2, so that nothing cancels where the result is small; beyond, it is
    more than 0.4, and the error of n ln2 too small to matter.
    """
    shifted = p.fma(x, LOG2_E, 0.3) + F32.magic
    number, n = shifted - F32.magic, p.bits(shifted) - F32.magic_bits
    r = p.fma(number, -LN2, x)
    power = p.power_of_two(n)
    return p.fma(-power, p.fma(r * r, p.polynomial(r, BELOW32), r), 1.0 - power)


def exp_half(x: Any) -> Any:
    """e^x / 2 for x >= 0, which overflows only where sinh and cosh do."""
    k = constants(x)
    r, n = reduce(clamp(x, k.lowest, k.highest + 1.0), k)
    return p.scaled(1.0 + minus_one(r, k), n - 1)


@helper()
def exp(x: Any) -> Any:
    """e^x."""
    k = constants(x)
    r, n = reduce(clamp(x, k.lowest, k.highest), k)
    return p.scaled(1.0 + minus_one(r, k), n)


@helper()
def exp2(x: Any) -> Any:
    """2^x."""
    k = constants(x)
    x = clamp(x, k.lowest * LOG2_E, k.highest * LOG2_E)
    number, n = whole(x, 1.0, k)
    return p.scaled(1.0 + minus_one((x - number) * LN2, k), n)


@helper()
def expm1(x: Any) -> Any:
    """e^x - 1, accurate near 0."""
    k = constants(x)
    r, n = reduce(clamp(x, -40.0, k.highest), k)
    half = p.power_of_two(n - 1)
    result = 2.0 * p.fma(half, minus_one(r, k), half - 0.5)
    return p.select(x == 0.0, x, result)


@helper()
def sigmoid(x: Any) -> Any:
    """1 / (1 + e^-x), without overflow and with its small values exact."""
    small = exp(-p.fabs(x))
    total = 1.0 + small
    lost = small - (total - 1.0)  # what the sum was rounded by, exactly
    quotient = p.select(x >= 0.0, 1.0, small) / total
    inverse = p.select(x >= 0.0, quotient, 1.0 - quotient)
    return p.fma(-quotient, lost * inverse, quotient)
