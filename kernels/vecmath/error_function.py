"""The error function: a polynomial near 0, one minus an exponential beyond.

In and out: f32 or f64; erf(inf) is 1, the sign of zero is kept, NaN stays NaN.

>>> erf(0.5), erf(float("-inf"))
(np.float64(0.5204998778130465), np.float64(-1.0))

Source: W. J. Cody, "Rational Chebyshev approximations for the error function" (1969), for the
split; coefficients by tests/bench/fit_vecmath.py.
"""

from typing import Any

from minitorch2.kernels.vecmath import primitives as p
from minitorch2.kernels.vecmath.exponential import exp_bounded
from minitorch2.kernels.vecmath.helpers import helper

# erf(x) = x + x P(x^2) for |x| < 0.92 (f32) and |x| < 1 (f64)
NEAR32 = (0.12837916612625122, -0.37612634897232056, 0.11283703148365021, -0.026859795674681664,
          0.005201953928917646, -0.000815256149508059, 8.409658039454371e-05)  # fmt: skip
NEAR64 = (0.1283791670955126, -0.3761263890318375, 0.11283791670954885, -0.026866170645077844,
          0.005223977624828121, -0.0008548326981408332, 0.00012055331132348493,
          -1.4925595758044932e-05, 1.6461008257936874e-06, -1.6350393960755127e-07,
          1.4660313943851683e-08, -1.1374900204804967e-09, 5.960593955421917e-11)  # fmt: skip
# erf(t) = 1 - e^-P(t) for 0.9 < t < 4
FAR32 = (-0.00016943394439294934, 1.129489541053772, 0.6333984136581421, 0.10822320729494095,
         -0.025082537904381752, 0.004157022573053837, -0.0004315603000577539,
         2.0843797756242566e-05)  # fmt: skip
# erf(t) = 1 - e^(-t^2) Q((t - 3) / (t + 3)) for 1 < t < 6
FAR64 = (0.17900115118138998, -0.3262335600431636, 0.24560380170780396, -0.1501159365452829,
         0.07166583744908063, -0.024392489882293963, 0.004269233244331493, 0.000708307545993941,
         -0.0005949949409061937, 5.022732614572948e-05, 7.163356632017894e-05,
         -6.434956974703112e-06, -6.5777423568411084e-06)  # fmt: skip


@helper()
def erf(x: Any) -> Any:
    """The error function, 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x."""
    size = p.fabs(x)
    square = x * x
    if p.type_of(x) == "f32":
        near = p.fma(size, p.polynomial(square, NEAR32), size)
        far = 1.0 - exp_bounded(-p.polynomial(p.select(size > 4.0, 4.0, size), FAR32))
        return p.copysign(p.select(size < 0.92, near, far), x)
    near = p.fma(size, p.polynomial(square, NEAR64), size)
    t = p.select(size > 6.0, 6.0, size)
    q = p.polynomial((t - 3.0) / (t + 3.0), FAR64)
    far = 1.0 - exp_bounded(-(t * t)) * q
    return p.copysign(p.select(size < 1.0, near, far), x)
