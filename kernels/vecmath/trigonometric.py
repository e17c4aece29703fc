"""sin, cos and tan: subtract multiples of pi / 2, then one of two polynomials.

In and out: f32 or f64. Arguments of f32 are reduced in f32 up to 2^18 and in f64 beyond, those of
f64 in f64 up to 2^45; from there on large_angles.py does it. A compiled loop leaves out all but the
first until it meets such a number.

>>> sin(0.5), cos(0.0)
(np.float64(0.479425538604203), np.float64(1.0))

Source: W. J. Cody and W. Waite (1980), chapter 8; coefficients by tests/bench/fit_vecmath.py.
"""

from typing import Any

from minitorch2.kernels.vecmath import primitives as p
from minitorch2.kernels.vecmath.exponential import F32, F64, whole
from minitorch2.kernels.vecmath.helpers import helper
from minitorch2.kernels.vecmath.large_angles import reduce_large

TWO_OVER_PI = 0.6366197723675814
# pi / 2 as a sum of three floats
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
HALF_PI32 = (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15)
# sin(r) = r + r^3 S(r^2), cos(r) = 1 - r^2 / 2 + r^4 C(r^2) for |r| <= pi / 4
SIN32 = (-0.16666653752326965, 0.008332130499184132, -0.00019510765559971333)
COS32 = (0.04166664555668831, -0.001388730714097619, 2.4431379642919637e-05)
SIN64 = (-0.16666666666666627, 0.00833333333332127, -0.00019841269828859917,
         2.755731335303278e-06, -2.5050703636644527e-08, 1.5893563384744744e-10)  # fmt: skip
COS64 = (0.04166666666666659, -0.001388888888887256, 2.4801587288470617e-05,
         -2.755731405104266e-07, 2.0875681200712438e-09, -1.1357416645915145e-11)  # fmt: skip
LARGE32, LARGE = 2.0**18, 2.0**45


def _reduce32(x: Any) -> tuple[Any, Any]:
    """r and n with x = n pi/2 + r, for f32; below LARGE32 the first difference is exact."""
    number, n = whole(x, TWO_OVER_PI, F32)
    r = x
    for part in HALF_PI32:
        r = p.fma(number, -part, r)
    large = p.fabs(x) >= LARGE32
    if p.left_out(large):
        return r, n
    wide, _, far = _reduce(p.cast(x, "f64"))
    return p.select(large, p.cast(wide, "f32"), r), p.select(large, p.cast(far, "i32"), n)


def _reduce(x: Any) -> tuple[Any, Any, Any]:
    """r, its rounding error and n with x = n pi/2 + r, in f64."""
    small, large = _reduce_small(x), p.fabs(x) >= LARGE
    if p.left_out(large):
        return small
    r, error, n = (p.select(large, a, b) for a, b in zip(reduce_large(x), small, strict=True))
    return r, error, n


def _reduce_small(x: Any) -> tuple[Any, Any, Any]:
    """The same below LARGE."""
    number, n = whole(x, TWO_OVER_PI, F64)
    first = p.fma(number, -HALF_PI[0], x)
    r = p.fma(number, -HALF_PI[1], first)
    product = number * HALF_PI[1]
    error = p.fma(number, HALF_PI[1], -product)
    kept = first - product
    lost = ((first - kept) - product) - error - number * HALF_PI[2]
    r = kept + lost
    return r, (kept - r) + lost, n


def _both(x: Any) -> tuple[Any, Any, Any]:
    """sin(r), cos(r) and n with x = n pi/2 + r."""
    if p.type_of(x) == "f32":
        r, n = _reduce32(x)
        z = r * r
        sine = p.fma(r * z, p.polynomial(z, SIN32), r)
        return sine, p.fma(z * z, p.polynomial(z, COS32), p.fma(z, -0.5, 1.0)), n
    r, low, n = _reduce(x)
    z = r * r
    main = 1.0 - 0.5 * z
    sine = p.fma(r * z, p.polynomial(z, SIN64), low * main) + r
    rest = p.fma(z * z, p.polynomial(z, COS64), -(r * low))
    return sine, main + (((1.0 - main) - 0.5 * z) + rest), n


def _quadrant(sine: Any, cosine: Any, n: Any) -> Any:
    """sin(r + n pi/2)."""
    result = p.select((n & 1) == 0, sine, cosine)
    sign = 30 if p.type_of(sine) == "f32" else 62  # bits from 2 to the sign
    return p.from_bits(p.bits(result) ^ ((n & 2) << sign))


@helper()
def sin(x: Any) -> Any:
    """The sine."""
    return p.select(x == 0.0, x, _quadrant(*_both(x)))


@helper()
def cos(x: Any) -> Any:
    """The cosine."""
    sine, cosine, n = _both(x)
    return _quadrant(sine, cosine, n + 1)


@helper()
def tan(x: Any) -> Any:
    """The tangent."""
    sine, cosine, n = _both(x)
    even = (n & 1) == 0
    ratio = p.select(even, sine, -cosine) / p.select(even, cosine, sine)
    return p.select(x == 0.0, x, ratio)
