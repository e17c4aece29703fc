"""tanh, sinh and cosh: a polynomial near 0, exponentials beyond, joined by a selection.

In and out: f32 or f64; the sign of zero is kept, NaN stays NaN.

>>> tanh(0.5), tanh(-0.0), cosh(0.0)
(np.float64(0.46211715726000973), np.float64(-0.0), np.float64(1.0))

Source: W. J. Cody and W. Waite (1980), chapters 9 and 10; coefficients by
tests/bench/fit_vecmath.py.
"""

from typing import Any

from minitorch2.kernels.vecmath import primitives as p
from minitorch2.kernels.vecmath.exponential import exp_bounded, exp_half, expm1
from minitorch2.kernels.vecmath.helpers import helper

SPLIT = 0.625
# tanh(x) = x + x^3 P(x^2) for |x| < 0.625
TANH32 = (-0.3333328366279602, 0.13331465423107147, -0.053741201758384705, 0.020642809569835663,
          -0.005708054639399052)  # fmt: skip
TANH64 = (-0.3333333333333286, 0.13333333333262487, -0.05396825393136702, 0.02186948757665073,
          -0.008863220990032897, 0.003591988930350253, -0.0014549569804485417,
          0.0005863084265489054, -0.00022854433978057963, 7.711818701971528e-05,
          -1.6058162635476315e-05)  # fmt: skip


@helper()
def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    single = p.type_of(x) == "f32"
    size = p.fabs(x)
    square = x * x
    near = p.fma(size * square, p.polynomial(square, TANH32 if single else TANH64), size)
    one = 10.0 if single else 20.0  # from here on tanh rounds to 1
    bounded = p.select(size > one, one, size)
    far = 1.0 - 2.0 / (exp_bounded(bounded + bounded) + 1.0)
    return p.copysign(p.select(size < SPLIT, near, far), x)


@helper()
def sinh(x: Any) -> Any:
    """The hyperbolic sine."""
    size = p.fabs(x)
    less = expm1.__wrapped__(p.select(size > 1.0, 1.0, size))  # type: ignore[attr-defined]
    near = 0.5 * (less + less / (less + 1.0))
    half = exp_half(size)
    return p.copysign(p.select(size < 1.0, near, half - 0.25 / half), x)


@helper()
def cosh(x: Any) -> Any:
    """The hyperbolic cosine."""
    half = exp_half(p.fabs(x))
    return half + 0.25 / half
