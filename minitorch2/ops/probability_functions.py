"""Special functions of statistics: the normal distribution's, incomplete gammas, Bessel's I, zeta.

In: tensors. Out: tensors of the same shape. Library rows compute in double precision and stay whole
in compiled code; the composites are made of them and of pointwise rows.

Source: torch.special; Abramowitz & Stegun 1964: 7.1.14 (erfcx as a continued fraction), 6.5.29 and
6.5.31 (incomplete gammas), 9.6.16 and 9.7.1 (Bessel's I), 23.2 (zeta by Euler and Maclaurin).
"""

import math

import numpy

from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.errors import OperationError
from minitorch2.layouts import broadcast_shapes
from minitorch2.ops.composites import composite
from minitorch2.ops.infer import describe_value
from minitorch2.ops.special_functions import floating, in_double, library
from minitorch2.ops.table import LIBRARY, Meta, defop, lookup
from minitorch2.tensors import Tensor

ROOT_PI = math.sqrt(math.pi)


def _op(name, *args):
    return call(lookup(name), args)


def _float(x):
    return x.to(floating(x.dtype))


# ---- the normal distribution -----------------------------------------------------------------


_each_erfc = numpy.frompyfunc(math.erfc, 1, 1)


def _erfc(x):
    return numpy.asarray(_each_erfc(x), numpy.float64)


def _tail(x):
    """erfcx of numbers of at least 4, a continued fraction evaluated from its 80th term."""
    found = x
    for k in range(80, 0, -1):
        found = x + (k / 2) / found
    return 1 / (ROOT_PI * found)


def _erfcx(x):
    size = numpy.abs(x)
    near = numpy.where(size < 4, x, 0.0)
    close = numpy.exp(near * near) * _erfc(near)
    far = _tail(numpy.where(size >= 4, size, 4.0))
    beyond = 2 * numpy.exp(numpy.where(x < 0, x * x, 0.0)) - far
    found = numpy.where(size < 4, close, numpy.where(x < 0, beyond, far))
    return numpy.where(numpy.isnan(x), x, found)


library(
    "erfcx(Tensor self) -> Tensor",
    _erfcx,
    lambda s, g: g * (s.self * s.result * 2 - 2 / ROOT_PI),
    "exp(self ** 2) * erfc(self), without overflow.",
    saves="self result",
    method=False,
    function=False,
    torch="torch.special.erfcx",
)


def _log_tail(x):
    """The logarithm of the normal distribution's cumulative function, of numbers below 0."""
    return numpy.log(_erfcx(-x / math.sqrt(2)) / 2) - x * x / 2


def _ndtri(p):
    """Halley's method on the logarithm, from the tail's leading term or the centre's line."""
    lower = numpy.minimum(p, 1 - p)
    inside = (lower > 0) & (p > 0) & (p < 1)
    safe = numpy.where(inside, lower, 0.25)
    wanted = numpy.log(safe)
    spread = -2 * wanted
    x = numpy.where(
        safe < 0.02, -numpy.sqrt(spread - numpy.log(spread * math.pi)), -2.5 * (0.5 - safe)
    )
    for _ in range(8):
        value = _log_tail(x)
        slope = numpy.exp(-x * x / 2 - value) / math.sqrt(2 * math.pi)
        step = (value - wanted) / slope
        x = x - step / (1 - step * (-x - slope) / 2)
    found = numpy.where(p < 0.5, x, -x)
    edge = numpy.where(p == 0, -numpy.inf, numpy.where(p == 1, numpy.inf, numpy.nan))
    return numpy.where(inside, numpy.where(p == 0.5, 0.0, found), edge)


library(
    "ndtri(Tensor self) -> Tensor",
    _ndtri,
    lambda s, g: g * ((s.result * s.result / 2).exp() * math.sqrt(2 * math.pi)),
    "The number below which the share self of a normal distribution lies.",
    saves="result",
    method=False,
    function=False,
    torch="torch.special.ndtri",
)


def _log_ndtr(x):
    x = _float(x)
    low = x < -1
    left = _op("where", low, x, -1.0)
    right = _op("where", low, -1.0, x)
    far = (_op("erfcx", left * -math.sqrt(0.5)) / 2).log() - left * left / 2
    return _op("where", low, far, (_op("erfc", right * math.sqrt(0.5)) / -2).log1p())


def _special(signature, decomp, doc):
    name = signature.partition("(")[0]
    composite(
        signature, decomp, doc, method=False, function=False, torch=f"torch.special.{name}",
        accepts="bifu",
    )  # fmt: skip


_special(
    "ndtr(Tensor self) -> Tensor",
    lambda x: _op("erfc", _float(x) * -math.sqrt(0.5)) / 2,
    "The share of a normal distribution below self.",
)
_special("log_ndtr(Tensor self) -> Tensor", _log_ndtr, "The logarithm of ndtr, also far below.")


def _entr(x):
    x = _float(x)
    zero = x == 0
    inside = _op("where", zero, 1.0, x)
    # at zero a root, whose slope is endless there too
    found = _op("where", zero, (_op("where", zero, x, 1.0) + 0.0).sqrt(), -inside * inside.log())
    return _op("where", x < 0, -math.inf, found)


_special("entr(Tensor self) -> Tensor", _entr, "-self * log(self); 0 at 0, -inf below.")


def _xlog1py(self, other):
    wide = floating(dtypes.result_type(self, other))
    self, other = (x.to(wide) if isinstance(x, Tensor) else x for x in (self, other))
    nothing = self == 0
    if not isinstance(other, Tensor):
        power = math.log1p(other) if other > -1 else (-math.inf if other == -1 else math.nan)
        return _op("where", nothing, math.nan if other != other else 0.0, self * power)
    if not isinstance(nothing, Tensor):
        return other.log1p() * self if not nothing else _op("where", other.isnan(), other, 0.0)
    safe = _op("where", _op("logical_and", nothing, other <= -1), 0.0, other)
    return self * safe.log1p()


_special(
    "xlog1py(Operand self, Operand other) -> Tensor",
    _xlog1py,
    "self * log1p(other); 0 where self is 0.",
)


def _mvlgamma(self, p):
    if p < 1:
        raise OperationError(f"mvlgamma(p={p})", "p has to be greater than or equal to 1")
    self = _float(self).contiguous()
    total = p * (p - 1) / 4 * math.log(math.pi)
    for j in range(p):
        total = _op("lgamma", self - j / 2) + total
    return total


composite(
    "mvlgamma(Tensor self, int p) -> Tensor",
    _mvlgamma,
    "The logarithm of the gamma function of p dimensions.",
    accepts="ifu",
)

# ---- Bessel's I ------------------------------------------------------------------------------


def _scaled_bessel(order):
    """exp(-|x|) I(x): the mean of exp(|x| (cos t - 1)) cos(order t); far out the expansion."""

    def function(x):
        """exp(-|x|) I(x) at an array of floats, by the sum below 40 and the expansion above."""
        size = numpy.abs(x)
        near = numpy.minimum(size, 40.0)
        angles = 2 * math.pi * numpy.arange(160) / 160
        total = numpy.zeros_like(size)
        for angle in angles:
            total += numpy.exp(near * (math.cos(angle) - 1)) * math.cos(order * angle)
        far = numpy.maximum(size, 40.0)
        term = series = numpy.ones_like(far)
        for k in range(1, 25):
            term = term * -(4 * order * order - (2 * k - 1) ** 2) / (k * 8 * far)
            series = series + term
        found = numpy.where(size < 40, total / 160, series / numpy.sqrt(2 * math.pi * far))
        tiny = numpy.minimum(size, 1.0)
        term = power = (tiny / 2) ** order
        for k in range(1, 14):  # the power series, exact where the mean cancels
            term = term * (tiny * tiny / 4) / (k * (k + order))
            power = power + term
        found = numpy.where(size < 1, power * numpy.exp(-tiny), found)
        return numpy.where(numpy.isnan(x), x, found * numpy.sign(x) if order else found)

    return function


def _bessel(order):
    scaled = _scaled_bessel(order)
    return lambda x: scaled(x) * numpy.exp(numpy.abs(x))


def _over(value, x, at_zero):
    """value / x, and its limit at 0."""
    zero = x == 0
    return _op("where", zero, at_zero, value / _op("where", zero, 1.0, x))


_BESSEL_SLOPES = {
    "i0": lambda s: _op("i1", s.self),
    "i0e": lambda s: _op("i1e", s.self) - s.self.sign() * s.result,
    "i1": lambda s: _op("i0", s.self) - _over(s.result, s.self, 0.5),
    "i1e": lambda s: _op("i0e", s.self) - s.self.sign() * s.result - _over(s.result, s.self, 0.5),
}
for _name, _function in (
    ("i0", _bessel(0)),
    ("i0e", _scaled_bessel(0)),
    ("i1", _bessel(1)),
    ("i1e", _scaled_bessel(1)),
):
    library(
        f"{_name}(Tensor self) -> Tensor",
        _function,
        lambda s, g, slope=_BESSEL_SLOPES[_name]: g * slope(s),
        "Bessel's I of order " + _name[1] + (", times exp(-|self|)." if "e" in _name else "."),
        saves="self result",
        method=_name == "i0",
        function=_name == "i0",
        torch="torch.i0" if _name == "i0" else f"torch.special.{_name}",
    )

# ---- of two operands -------------------------------------------------------------------------


def floating_pair(a, b):
    """The numpy dtype of a special function of two arrays (or an array and a number). One without
    dimensions counts only where no other is floating."""
    given = [each for each in (a, b) if isinstance(each, numpy.ndarray)]
    floats = [each for each in given if each.dtype.kind not in "iub"]
    wide = [each.dtype for each in floats if each.ndim] or [each.dtype for each in floats]
    return numpy.result_type(*wide) if wide else dtypes.get_default_dtype().numpy


def _pairwise(function):
    """A function of two Python floats on broadcast arrays."""
    found = numpy.frompyfunc(function, 2, 1)
    double = in_double(lambda a, b: numpy.asarray(found(a, b), numpy.float64))

    def eager(a, b):
        return double(numpy.asarray(a, floating_pair(a, b)), numpy.asarray(b, numpy.float64))

    return eager


def infer_pair(self, other):
    """The result's type of a function of two numbers: broadcast, in a float dtype."""
    if not (self.dtype.differentiable or other.dtype.differentiable):
        wide = dtypes.get_default_dtype()
    else:
        wide = dtypes.result_type(self, other)
    asked = f"({describe_value(self)}, {describe_value(other)})"
    return Meta(broadcast_shapes(tuple(self.shape), tuple(other.shape), asked=asked), wide)


def _lower_share(a, x):
    """(P, Q): the shares of a gamma distribution below x and above it."""
    if a < 0 or x < 0 or a != a or x != x or (a == 0 and x == 0):
        return math.nan, math.nan
    if x == 0 or a == math.inf:
        return (0.0, 1.0) if x != math.inf else (math.nan, math.nan)
    if a == 0 or x == math.inf:
        return 1.0, 0.0
    scale = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        step = a
        while term > total * 1e-17:
            step += 1
            term *= x / step
            total += term
        return total * scale, 1 - total * scale
    lower, c = x + 1 - a, math.inf
    d = 1 / lower
    found = d
    for k in range(1, 10000):
        lower += 2
        factor = -k * (k - a)
        d = 1 / (factor * d + lower or 1e-300)
        c = lower + (factor / c if c != math.inf else 0.0) or 1e-300
        found *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return 1 - found * scale, found * scale


def _share_vjp(sign):
    def vjp(s, g):
        if s.needs[0]:
            raise OperationError(
                "the backward of igamma or igammac",
                "the derivative for 'igamma: input' is not implemented",
                "detach() the first argument",
            )
        density = ((s.self - 1) * s.other.log() - s.other - _op("lgamma", s.self)).exp()
        to_other = g * density * sign
        return None, _op("sum_to_size", to_other, tuple(s.other.shape)).to(s.other.dtype)

    return vjp


for _name, _at, _word in (("igamma", 0, "below"), ("igammac", 1, "above")):
    defop(
        f"{_name}(Tensor self, Tensor other) -> Tensor",
        LIBRARY,
        eager=_pairwise(lambda a, x, at=_at: _lower_share(a, x)[at]),
        infer=infer_pair,
        saves="self other",
        vjp=_share_vjp(1 - 2 * _at),
        keeps=True,
        accepts="if",
        host="a special function, computed element by element",
        doc=f"The share of the gamma distribution of shape self {_word} other.",
    )

# B(2j) / (2j)!, Bernoulli's numbers
_BERNOULLI = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000,
              1 / 74724249600)  # fmt: skip


def _zeta(x, q):
    if x != x or q != q or x < 1:
        return math.nan
    if x == 1:
        return math.inf
    if q <= 0:
        if q == math.floor(q):
            return math.inf
        if x != math.floor(x):
            return math.nan
    total = sum((q + k) ** -x for k in range(12))
    end = q + 12
    total += end ** (1 - x) / (x - 1) + end**-x / 2
    factor = x * end ** (-x - 1)
    for j, bernoulli in enumerate(_BERNOULLI):
        total += bernoulli * factor
        factor *= (x + 2 * j + 1) * (x + 2 * j + 2) / (end * end)
    return total


def _zeta_vjp(s, g):
    if s.needs[0]:
        raise OperationError(
            "the backward of zeta", "the derivative for 'zeta: input' is not implemented",
            "detach() the first argument",
        )  # fmt: skip
    to_other = g * -s.self * _op("zeta", s.self + 1, s.other)
    return None, _op("sum_to_size", to_other, tuple(s.other.shape)).to(s.other.dtype)


defop(
    "zeta(Tensor self, Tensor other) -> Tensor",
    LIBRARY,
    eager=_pairwise(_zeta),
    infer=infer_pair,
    saves="self other",
    vjp=_zeta_vjp,
    keeps=True,
    accepts="bifu",
    host="a special function, computed element by element",
    method=False,
    function=False,
    torch="torch.special.zeta",
    doc="The sum of (other + k) ** -self over all k from 0.",
)


def _frexp(a):
    mantissa, exponent = numpy.frexp(a.astype(numpy.float64))
    return mantissa.astype(a.dtype), exponent.astype(numpy.int32)


defop(
    "frexp(Tensor self) -> (Tensor mantissa, Tensor exponent)",
    LIBRARY,
    eager=_frexp,
    infer=lambda self: (
        Meta(tuple(self.shape), self.dtype),
        Meta(tuple(self.shape), dtypes.int32),
    ),
    saves="result1",
    keeps=True,
    vjp=lambda s, g, _: g / (s.result1.to(g.dtype)).exp2(),
    accepts="f",
    host="the parts of a floating point number are numpy's",
    doc="self as mantissa * 2 ** exponent.",
    exact="always",
)
