"""atan, atan2, asin and acos: fold the argument to where a short polynomial serves.

In and out: f32 or f64; outside [-1, 1] asin and acos give NaN, NaN stays NaN.

>>> atan2(1.0, -1.0), asin(1.0), acos(2.0)
(np.float64(2.356194490192345), np.float64(1.5707963267948966), np.float64(nan))

Source: FreeBSD msun s_atan.c, e_asin.c (the foldings); coefficients by tests/bench/fit_vecmath.py.
"""

from typing import Any

from minitorch2.kernels.vecmath import primitives as p
from minitorch2.kernels.vecmath.helpers import helper

TAN_PI_8 = 0.41421356237309503
# pi in two parts, the first one the nearest float
PI32 = (3.1415927410125732, -8.742277657347586e-08)
PI64 = (3.141592653589793, 1.2246467991473532e-16)
# atan(x) = x + x^3 P(x^2) for |x| <= tan(pi / 8)
ATAN32 = (-0.33333316445350647, 0.19998475909233093, -0.14243586361408234, 0.10593996196985245,
          -0.06078209728002548)  # fmt: skip
ATAN64 = (-0.333333333333332, 0.19999999999953105, -0.14285714280147077, 0.11111110780923875,
          -0.09090897682643846, 0.0769205883671838, -0.06663087865701911, 0.0584776762639694,
          -0.05038738463927221, 0.03804971849301686, -0.01789046307161186)  # fmt: skip
# asin(x) = x + x^3 P(x^2) for |x| <= 1/2
ASIN32 = (0.16666756570339203, 0.07495150715112686, 0.04548944905400276, 0.024082185700535774,
          0.0423368364572525)  # fmt: skip
ASIN64 = (0.16666666666665308, 0.07500000000360968, 0.04464285680822764, 0.03038195997810964,
          0.022371737617169853, 0.017360016520798695, 0.013882123300194912,
          0.012189846063311228, 0.0064379138319503645, 0.019776873386133393,
          -0.01661760304142302, 0.03218403492638719)  # fmt: skip


def _pi(x: Any) -> tuple[float, float]:
    return PI32 if p.type_of(x) == "f32" else PI64


def _angle(y: Any, x: Any) -> Any:
    """atan(y / x) in [0, pi/2] for y >= 0 and x >= 0, by one division."""
    pi, pi_low = _pi(x)
    steep = TAN_PI_8 * y > x
    middle = ~steep & (y > TAN_PI_8 * x)
    top = p.select(steep, -x, p.select(middle, y - x, y))
    bottom = p.select(steep, y, p.select(middle, y + x, x))
    t = top / bottom
    square = t * t
    rest = t * square * p.polynomial(square, ATAN32 if p.type_of(x) == "f32" else ATAN64)
    half, none = p.constant(x, 0.5), p.constant(x, 0.0)
    turns = p.select(steep, half, p.select(middle, 0.25, none))
    base, base_low = turns * pi, turns * pi_low
    return base + (t + (rest + base_low))


@helper()
def atan(x: Any) -> Any:
    """The angle whose tangent is x."""
    return p.copysign(_angle(p.fabs(x), p.constant(x, 1.0)), x)


@helper()
def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y), in [-pi, pi]."""
    infinite = float("inf")
    high, wide = p.fabs(y), p.fabs(x)
    both = (high == infinite) & (wide == infinite)
    high = p.select(both, 1.0, high)
    wide = p.select(both, 1.0, wide)
    large = (high > 2.0**100) | (wide > 2.0**100)
    small = (high < 2.0**-100) & (wide < 2.0**-100)
    fit = p.select(large, 2.0**-4, p.select(small, 2.0**60, p.constant(x, 1.0)))
    flat = high == 0.0
    angle = _angle(high * fit, p.select(flat, 1.0, wide * fit))
    pi, pi_low = _pi(x)
    angle = p.select(p.bits(x) < 0, pi - (angle - pi_low), angle)
    angle = p.copysign(angle, y)
    return p.select((x != x) | (y != y), x + y, angle)


def _arc_sine_tail(z: Any) -> Any:
    """P in asin(x) = x + x P, z = x^2."""
    return z * p.polynomial(z, ASIN32 if p.type_of(z) == "f32" else ASIN64)


@helper()
def asin(x: Any) -> Any:
    """The angle whose sine is x."""
    pi, pi_low = _pi(x)
    size = p.fabs(x)
    outer = size > 0.5
    z = p.select(outer, 0.5 - 0.5 * size, x * x)
    root = p.select(outer, p.sqrt(z), size)
    part = p.fma(root, _arc_sine_tail(z), root)
    far = 0.5 * pi - (2.0 * part - 0.5 * pi_low)
    return p.copysign(p.select(outer, far, part), x)


@helper()
def acos(x: Any) -> Any:
    """The angle whose cosine is x."""
    pi, pi_low = _pi(x)
    size = p.fabs(x)
    outer = size > 0.5
    z = p.select(outer, 0.5 - 0.5 * size, x * x)
    root = p.select(outer, p.sqrt(z), x)
    part = p.fma(root, _arc_sine_tail(z), root)
    middle = 0.5 * pi - (part - 0.5 * pi_low)
    double = 2.0 * part
    return p.select(outer, p.select(x < 0.0, pi - (double - pi_low), double), middle)
