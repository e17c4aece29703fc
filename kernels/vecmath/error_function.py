"""The error function: a polynomial near 0, one minus an exponential beyond.

In and out: f32 or f64; erf(inf) is 1, the sign of zero is kept, NaN stays NaN.

>>> erf(0.5), erf(float("-inf"))
(np.float64(0.5204998778130465), np.float64(-1.0))

Source: W. J. Cody, "Rational Chebyshev approximations for the error function" (1969), for the
split; coefficients by tests/bench/fit_vecmath.py.
"""

from typing import Any

from minitorch2.kernels.vecmath import primitives as p
from minitorch2.kernels.vecmath.exponential import exp, exp_bounded, less_below
from minitorch2.kernels.vecmath.helpers import helper

# erf(x) = x + x P(x^2) for |x| < 0.92 (f32, for erfc) and |x| < 1 (f64)
NEAR32 = (0.12837916612625122, -0.37612634897232056, 0.11283703148365021, -0.026859795674681664,
          0.005201953928917646, -0.000815256149508059, 8.409658039454371e-05)  # fmt: skip
NEAR64 = (0.1283791670955126, -0.3761263890318375, 0.11283791670954885, -0.026866170645077844,
          0.005223977624828121, -0.0008548326981408332, 0.00012055331132348493,
          -1.4925595758044932e-05, 1.6461008257936874e-06, -1.6350393960755127e-07,
          1.4660313943851683e-08, -1.1374900204804967e-09, 5.960593955421917e-11)  # fmt: skip
# erf(t) = 1 - e^-(t + t P(t)) for 0 <= t < 4
DECAY32 = (0.12837916612625122, 0.6366193890571594, 0.10277782380580902, -0.019153021275997162,
           -0.00016050718841142952, 0.0016671682242304087, -0.0006329267052933574,
           0.0001176692676381208, -9.259660146199167e-06)  # fmt: skip
# erf(t) = 1 - e^(-t^2) Q((t - 3) / (t + 3)) for 1 < t < 6
FAR64 = (0.17900115118138998, -0.3262335600431636, 0.24560380170780396, -0.1501159365452829,
         0.07166583744908063, -0.024392489882293963, 0.004269233244331493, 0.000708307545993941,
         -0.0005949949409061937, 5.022732614572948e-05, 7.163356632017894e-05,
         -6.434956974703112e-06, -6.5777423568411084e-06)  # fmt: skip


@helper()
def erf(x: Any) -> Any:
    """The error function, 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x."""
    size = p.fabs(x)
    if p.type_of(x) == "f32":
        t = p.select(size > 4.0, 4.0, size)
        return p.copysign(less_below(-p.fma(t, p.polynomial(t, DECAY32), t)), x)
    square = x * x
    near = p.fma(size, p.polynomial(square, NEAR64), size)
    t = p.select(size > 6.0, 6.0, size)
    q = p.polynomial((t - 3.0) / (t + 3.0), FAR64)
    far = 1.0 - exp_bounded(-(t * t)) * q
    return p.copysign(p.select(size < 1.0, near, far), x)


# erfc(t) = e^(-t^2) Q(u) / (1 + 2 t), u = (t - c) / (t + c), for t > 0.46, each Q with its c
COMPLEMENT32 = (
    3.0,
    (1.2530080080032349, -0.13562102615833282, -0.047562360763549805, 0.12964215874671936,
     -0.11927288770675659, 0.06834232062101364, -0.023767700418829918, 0.002375759882852435,
     0.001842132885940373, -0.0005104024312458932),
)  # fmt: skip
COMPLEMENT64 = (
    4.0,
    (1.2329951186255526, -0.1396211168405625, 0.015379652102618893, 0.06809705425469172,
     -0.10103906603624561, 0.0937328349983945, -0.06633036581379757, 0.037167515536487915,
     -0.01619773403603413, 0.0050319699904707894, -0.0007577734635120919,
     -0.00019925679139896462, 0.00015062255451708424, -2.4398727720272564e-05,
     -1.1224878009916826e-05, 5.708112251023617e-06, 2.99772190408547e-07,
     -8.218868607206388e-07, 6.685156306978715e-08, 1.0520404382056023e-07,
     -1.2165188195022878e-08, -1.0332709794471033e-08),
)  # fmt: skip


@helper()
def erfc(x: Any) -> Any:
    """1 - erf(x), accurate where it is small."""
    single = p.type_of(x) == "f32"
    square = x * x
    near = 1.0 - p.fma(x, p.polynomial(square, NEAR32 if single else NEAR64), x)
    size = p.fabs(x)
    zero_from = 10.3 if single else 27.5  # from here on erfc rounds to 0
    t = p.select(size > zero_from, zero_from, size)
    center, coefficients = COMPLEMENT32 if single else COMPLEMENT64
    q = p.polynomial((t - center) / (t + center), coefficients) / (1.0 + 2.0 * t)
    rounded = t * t
    lost = p.fma(t, t, -rounded)
    far = exp(-rounded) * p.fma(-lost, q, q)
    return p.select(size < 0.47, near, p.select(x < 0.0, 2.0 - far, far))
