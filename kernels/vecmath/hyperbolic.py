"""tanh, sinh and cosh: a polynomial near 0, exponentials beyond, joined by a selection.

In and out: f32 or f64; the sign of zero is kept, NaN stays NaN.

>>> tanh(0.5), tanh(-0.0), cosh(0.0)
(np.float64(0.46211715726000974), np.float64(-0.0), np.float64(1.0))

Source: W. J. Cody and W. Waite (1980), chapters 9 and 10; coefficients by
tests/bench/fit_vecmath.py.
"""

from typing import Any

from minitorch2.kernels.vecmath import primitives as p
from minitorch2.kernels.vecmath.exponential import exp_half, expm1_bounded
from minitorch2.kernels.vecmath.helpers import helper

SPLIT = 0.35
# tanh(x) = x + x^3 P(x^2) for |x| < 0.35, where the quotient below loses more than two ulps
NEAR32 = (-0.33333322405815125, 0.1333235204219818, -0.053723085671663284, 0.01942267082631588)
NEAR64 = (-0.3333333333333252, 0.13333333333117664, -0.053968253772257085, 0.021869479909636762,
          -0.008863024983271075, 0.0035891207842570355, -0.001430703153189184,
          0.0004746530978529587)  # fmt: skip


@helper()
def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    single = p.type_of(x) == "f32"
    size = p.fabs(x)
    square = x * x
    near = p.fma(size * square, p.polynomial(square, NEAR32 if single else NEAR64), size)
    one = 10.0 if single else 20.0  # from here on tanh rounds to 1
    bounded = p.select(size > one, one, size)
    less = expm1_bounded(bounded + bounded)
    return p.copysign(p.select(size < SPLIT, near, less / (less + 2.0)), x)


@helper()
def sinh(x: Any) -> Any:
    """The hyperbolic sine."""
    size = p.fabs(x)
    less = expm1_bounded(p.select(size > 1.0, 1.0, size))
    near = 0.5 * (less + less / (less + 1.0))
    half = exp_half(size)
    return p.copysign(p.select(size < 1.0, near, half - 0.25 / half), x)


@helper()
def cosh(x: Any) -> Any:
    """The hyperbolic cosine."""
    half = exp_half(p.fabs(x))
    return half + 0.25 / half
