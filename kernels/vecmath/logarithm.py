"""The logarithms: x = 2^e m with m near 1, then a series for log(1 + f), f = m - 1.

In and out: f32 or f64. log(0) is -inf, a negative number gives NaN, subnormals are scaled first.

>>> log(2.0), log2(8.0), log1p(1e-20), log(-1.0)
(np.float64(0.6931471805599453), np.float64(3.0), np.float64(1e-20), np.float64(nan))

Source: FreeBSD msun e_log.c and s_log1p.c (the scheme); coefficients by
tests/bench/fit_vecmath.py.
"""

from dataclasses import dataclass
from typing import Any

from minitorch2.kernels.vecmath import primitives as p
from minitorch2.kernels.vecmath.helpers import helper

INFINITY, NAN = float("inf"), float("nan")


@dataclass(frozen=True, slots=True)
class Constants:
    """What the logarithms need to know about a type: its format, and ln2 and 1/ln2 in two parts."""

    integer: str
    mantissa: int
    root_half: int
    smallest: float
    ln2_high: float
    ln2_low: float
    log2_e: tuple[float, float]
    log10_e: tuple[float, float]
    log10_2: tuple[float, float]


F32 = Constants("i32", 23, 0x3F3504F3, 2.0**-126, 0.693359375, -2.12194440054690583e-4,
                (1.4423828125, 0.00031222839606925845), (0.4342041015625, 9.038033749675378e-05),
                (0.301025390625, 4.605039066518657e-06))  # fmt: skip
F64 = Constants("i64", 52, 0x3FE6A09E667F3BCD, 2.0**-1022,
                6.93147180369123816490e-01, 1.90821492927058770002e-10,
                (1.4426950365304947, 4.3584687174185184e-09),
                (0.434294480830431, 1.0728208431540585e-09),
                (0.30102999566361177, 3.694239077158931e-13))  # fmt: skip
# log(1 + f) = f - f^2 / 2 + f^3 P(f) for sqrt(1/2) <= 1 + f < sqrt(2)
CUBIC32 = (0.3333331048488617, -0.24999986588954926, 0.20002229511737823, -0.16669219732284546,
           0.14218589663505554, -0.12384849786758423, 0.11873941868543625, -0.11787275224924088,
           0.06910257041454315)  # fmt: skip
# log((1 + s) / (1 - s)) = 2 s + s^3 R(s^2) for s = f / (2 + f)
ODD64 = (0.6666666666666735, 0.39999999999410385, 0.2857142874339393, 0.22222198464283294,
         0.1818357028278523, 0.15313890612168782, 0.14797624228884737)  # fmt: skip


def constants(x: Any) -> Constants:
    """The constants for a value's type."""
    return F32 if p.type_of(x) == "f32" else F64


def split(x: Any, k: Constants) -> tuple[Any, Any]:
    """m and e (both floats) with x = 2^e m and m in [sqrt(1/2), sqrt(2)), for normal x."""
    raw = p.bits(x) - k.root_half
    mantissa = (raw & ((1 << k.mantissa) - 1)) + k.root_half
    return p.from_bits(mantissa), p.cast(raw >> k.mantissa, p.type_of(x))


def split_any(x: Any, k: Constants) -> tuple[Any, Any]:
    """As `split`, for subnormals too."""
    tiny = x < k.smallest
    m, e = split(p.select(tiny, x * 2.0**k.mantissa, x), k)
    return m, p.select(tiny, e - float(k.mantissa), e)


def tail(f: Any) -> Any:
    """log(1 + f) - f, relative to f as accurate as the type allows."""
    half_square = 0.5 * f * f
    if p.type_of(f) == "f32":
        return p.fma(f * (f * f), p.polynomial(f, CUBIC32), -half_square)
    s = f / (2.0 + f)
    z = s * s
    return s * p.fma(z, p.polynomial(z, ODD64), half_square) - half_square


def finish(x: Any, result: Any) -> Any:
    """The result for positive finite x; otherwise what the logarithm of x is."""
    result = p.select(x < INFINITY, result, x)
    return p.select(x > 0.0, result, p.select(x == 0.0, p.constant(x, -INFINITY), NAN))


@helper()
def log(x: Any) -> Any:
    """The natural logarithm."""
    k = constants(x)
    m, e = split_any(x, k)
    f = m - 1.0
    rest = p.fma(e, k.ln2_low, tail(f))
    return finish(x, p.fma(e, k.ln2_high, f + rest))


def _other_base(x: Any, factor: tuple[float, float], two: tuple[float, float]) -> Any:
    """log(x) * factor, where two = log(2) * factor; both in two parts, the first one short."""
    k = constants(x)
    m, e = split_any(x, k)
    f = m - 1.0
    rest = tail(f)
    low = p.fma(f, factor[1], p.fma(rest, factor[0] + factor[1], e * two[1]))
    high = e * two[0]
    main = p.fma(f, factor[0], high)
    return finish(x, main + (p.fma(f, factor[0], high - main) + low))


@helper()
def log2(x: Any) -> Any:
    """The logarithm to base 2; exact for powers of two."""
    return _other_base(x, constants(x).log2_e, (1.0, 0.0))


@helper()
def log10(x: Any) -> Any:
    """The logarithm to base 10."""
    return _other_base(x, constants(x).log10_e, constants(x).log10_2)


@helper()
def log1p(x: Any) -> Any:
    """log(1 + x), accurate near 0."""
    k = constants(x)
    u = 1.0 + x
    lost = p.select(x >= 1.0, 1.0 - (u - x), x - (u - 1.0))
    m, e = split(u, k)
    near = e == 0.0
    f = p.select(near, x, m - 1.0)
    correction = p.select(near, 0.0, lost / u)
    rest = p.fma(e, k.ln2_low, correction) + tail(f)
    result = p.fma(e, k.ln2_high, f + rest)
    result = p.select(x < INFINITY, result, x)
    outside = p.select(x == -1.0, p.constant(x, -INFINITY), NAN)
    result = p.select(x > -1.0, result, outside)
    return p.select(p.fabs(x) < 2.0 ** -(k.mantissa + 2), x, result)
