"""sin and cos: subtract multiples of pi / 2, then one of two polynomials.

In and out: f32 or f64. f32 arguments are reduced in f64 up to 2^51, beyond that (where half a
turn lies between neighbouring floats) by a table of powers of two modulo 2 pi. f64 arguments are
accurate up to 2^30; infinities give NaN.

>>> sin(0.5), cos(0.0)
(np.float64(0.479425538604203), np.float64(1.0))

Source: W. J. Cody and W. Waite (1980), chapter 8; coefficients by tests/bench/fit_vecmath.py.
"""

from typing import Any

from minitorch2.kernels.vecmath import primitives as p
from minitorch2.kernels.vecmath.exponential import F64, whole
from minitorch2.kernels.vecmath.helpers import helper

TWO_OVER_PI = 0.6366197723675814
# pi / 2 as a sum of three floats
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
# sin(r) = r + r^3 S(r^2), cos(r) = 1 - r^2 / 2 + r^4 C(r^2) for |r| <= pi / 4
SIN32 = (-0.16666653752326965, 0.008332130499184132, -0.00019510765559971333)
COS32 = (0.04166664555668831, -0.001388730714097619, 2.4431379642919637e-05)
SIN64 = (-0.16666666666666627, 0.00833333333332127, -0.00019841269828859917,
         2.755731335303278e-06, -2.5050703636644527e-08, 1.5893563384744744e-10)  # fmt: skip
COS64 = (0.04166666666666659, -0.001388888888887256, 2.4801587288470617e-05,
         -2.755731405104266e-07, 2.0875681200712438e-09, -1.1357416645915145e-11)  # fmt: skip


def _reduce(x: Any) -> tuple[Any, Any, Any]:
    """r, its rounding error and n with x = n pi/2 + r, in f64."""
    number, n = whole(x, TWO_OVER_PI, F64)
    first = p.fma(number, -HALF_PI[0], x)
    r = p.fma(number, -HALF_PI[1], first)
    product = number * HALF_PI[1]
    error = p.fma(number, HALF_PI[1], -product)
    kept = first - product
    lost = ((first - kept) - product) - error - number * HALF_PI[2]
    r = kept + lost
    return r, (kept - r) + lost, n


def _sin_cos(x: Any, quarter_turns: int) -> Any:
    """sin(x + quarter_turns * pi/2)."""
    single = p.type_of(x) == "f32"
    wide, low, n = _reduce(p.cast(x, "f64"))
    n = n + quarter_turns
    r = p.cast(wide, p.type_of(x))
    z = r * r
    sine = p.fma(r * z, p.polynomial(z, SIN32 if single else SIN64), r)
    tail = p.polynomial(z, COS32 if single else COS64)
    half = 0.5 * z
    if single:
        cosine = p.fma(z * z, tail, 1.0 - half)
    else:
        sine = p.fma(r * z, p.polynomial(z, SIN64), low * (1.0 - half)) + r
        main = 1.0 - half
        cosine = main + (((1.0 - main) - half) + p.fma(z * z, tail, -(r * low)))
    result = p.select((n & 1) == 0, sine, cosine)
    return p.select((n & 2) == 0, result, -result)


@helper()
def sin(x: Any) -> Any:
    """The sine."""
    return p.select(x == 0.0, x, _sin_cos(x, 0))


@helper()
def cos(x: Any) -> Any:
    """The cosine."""
    return _sin_cos(x, 1)
