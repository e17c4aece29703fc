"""pow(a, b): e^(b log a) with enough digits between, and the special cases of IEEE 754.

In and out: f32 or f64, both of one type. f32 goes through f64; f64 keeps log(a) and its product
with b as sums of two floats.

>>> pow(4.0, 0.5), pow(-2.0, 3.0), pow(-8.0, 1.0 / 3.0), pow(0.0, -1.0)
(np.float64(2.0), np.float64(-8.0), np.float64(nan), np.float64(inf))

Source: IEEE 754-2019, 9.2.1; T. J. Dekker, "A floating-point technique for extending the
available precision" (1971).
"""

from typing import Any

from minitorch2.kernels.vecmath import logarithm
from minitorch2.kernels.vecmath import primitives as p
from minitorch2.kernels.vecmath.exponential import F64, clamp, exp, minus_one, reduce
from minitorch2.kernels.vecmath.helpers import FLOATS, NUMBERS, helper

INFINITY = float("inf")
TWO_THIRDS = (0.6666666666666666, 3.700743415417188e-17)
# log((1 + s) / (1 - s)) = 2 s + s^3 (2/3 + z R(z)), z = s^2
ODD = (0.4000000000000228, 0.2857142857008903, 0.22222222521795879, 0.18181784202871237,
       0.15386764946848416, 0.1325663879770564, 0.13198007181130472)  # fmt: skip


def product(a: Any, b: Any) -> tuple[Any, Any]:
    """a * b as a sum of two floats."""
    high = a * b
    return high, p.fma(a, b, -high)


def ordered_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """a + b as a sum of two floats, for |a| >= |b| or a = 0."""
    high = a + b
    return high, b - (high - a)


def log_pair(x: Any) -> tuple[Any, Any]:
    """log(x) as a sum of two f64, for positive finite x."""
    m, e = logarithm.split_any(x, logarithm.F64)
    f = m - 1.0
    divisor, divisor_low = ordered_sum(p.constant(f, 2.0), f)
    s = f / divisor
    s_low = (p.fma(-s, divisor, f) - s * divisor_low) / divisor
    z, z_low = product(s, s)
    z_low = z_low + 2.0 * s * s_low
    third, third_low = product(z, p.constant(f, TWO_THIRDS[0]))
    third_low = third_low + p.fma(z, TWO_THIRDS[1], z_low * TWO_THIRDS[0])
    factor, factor_low = ordered_sum(p.constant(f, 2.0), third)
    factor_low = factor_low + p.fma(z * z, p.polynomial(z, ODD), third_low)
    high, low = product(s, factor)
    low = low + p.fma(s, factor_low, s_low * factor)
    total, rest = ordered_sum(e * logarithm.F64.ln2_high, high)
    return ordered_sum(total, rest + p.fma(e, logarithm.F64.ln2_low, low))


def _power64(size: Any, b: Any) -> Any:
    """size^b for positive finite size."""
    log, log_low = log_pair(size)
    high = b * log
    low = p.fma(b, log, -high) + b * log_low
    bounded = clamp(high, F64.lowest, F64.highest)
    low = p.select(bounded == high, low, 0.0)
    r, n = reduce(bounded, F64)
    return p.scaled(1.0 + minus_one(r + low, F64), n)


def _power32(size: Any, b: Any) -> Any:
    """size^b for positive finite size, in f64 and then rounded."""
    exponent = p.cast(b, "f64") * logarithm.log(p.cast(size, "f64"))
    return p.cast(exp(clamp(exponent, -200.0, 200.0)), "f32")


def _integer_power(a: Any, b: Any) -> Any:
    """a to the power of b in wrapping integers; b < 0 gives 0 but for a = 1 and -1, as torch."""
    one = (a ^ a) + 1
    result, base, left = one, a, b
    for _ in range(p.DTYPES[p.type_of(a)].itemsize * 8):
        result = p.select((left & 1) != 0, result * base, result)
        base, left = base * base, left >> 1
    if p.type_of(a)[0] == "u":
        return result
    unit = p.select(a == 1, one, p.select(a == -1, p.select((b & 1) == 0, one, -one), one - one))
    return p.select(b < 0, unit, result)


@helper(accepts=NUMBERS)
def pow(a: Any, b: Any) -> Any:
    """a to the power of b."""
    if p.type_of(a) not in FLOATS:
        return _integer_power(a, b)
    size = p.fabs(a)
    usual = (size > 0.0) & (size < INFINITY)
    positive = p.select(usual, size, 1.0)
    result = (_power32 if p.type_of(a) == "f32" else _power64)(positive, b)
    grows = (b > 0.0) == (size > 1.0)  # for size 0 or inf
    result = p.select(usual, result, p.select(grows, INFINITY, p.constant(a, 0.0)))
    whole = p.trunc(b) == b
    half = b * 0.5
    odd = whole & (p.trunc(half) != half) & (p.fabs(b) < INFINITY)
    negative = p.bits(a) < 0
    result = p.select(negative & odd, -result, result)
    result = p.select((a < 0.0) & (size < INFINITY) & ~whole, float("nan"), result)
    result = p.select((size == 1.0) & (p.fabs(b) == INFINITY), 1.0, result)
    result = p.select((a != a) | (b != b), a + b, result)
    return p.select((b == 0.0) | (a == 1.0), 1.0, result)
