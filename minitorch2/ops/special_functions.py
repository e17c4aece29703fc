"""Special functions: library rows (lgamma, digamma, erfinv ...) and composites (xlogy, sinc ...).

In: tensors. Out: tensors of the same shape. Library rows compute in double precision, element by
element, and stay whole in compiled code; the composites are made of pointwise rows and fuse.

Source: torch.special; Abramowitz & Stegun 1964, 6.3 and 6.4 (digamma, polygamma); Giles 2010 (the
start of erfinv).
"""

import math
from fractions import Fraction

import numpy

from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.ops.arithmetic import real_part
from minitorch2.ops.composites import composite, rounded_together
from minitorch2.ops.infer import rounded_number
from minitorch2.ops.table import LIBRARY, Meta, defop, lookup
from minitorch2.tensors import Tensor


def _op(name, *args):
    return call(lookup(name), args)


def floating(dtype):
    """The dtype of a special function's result."""
    return dtype if dtype.differentiable else dtypes.get_default_dtype()


def in_double(function):
    """A function of double-precision arrays, for arrays of any dtype."""

    def eager(a, *rest):
        result = a.dtype if a.dtype.kind not in "iub" else dtypes.get_default_dtype().numpy
        return numpy.asarray(function(a.astype(numpy.float64), *rest)).astype(result)

    return eager


def library(signature, double, vjp, doc, **fields):
    """Add a row of one operand that is computed in double precision and stays whole."""
    defop(
        signature,
        LIBRARY,
        eager=in_double(double),
        infer=lambda self, *rest: Meta(tuple(self.shape), floating(self.dtype)),
        keeps=True,
        accepts="bifu",
        vjp=vjp,
        doc=doc,
        host="a special function, computed element by element",
        **fields,
    )


def _each(function):
    """A function of Python floats on every element."""
    found = numpy.frompyfunc(function, 1, 1)
    return lambda a: numpy.asarray(found(a), numpy.float64)


def _lgamma(x):
    if math.isinf(x):
        return math.inf
    if x <= 0 and x == math.floor(x):
        return math.inf
    return math.lgamma(x)


def _hurwitz(s, q):
    """The sum of (q + k) ** -s over k >= 0 (s > 1 and whole), at negative q by reflection: it is
    the sum over all k without those below 0. As torch's it is infinite at 0, -1, -2 ..."""
    low = q <= 0
    found = _hurwitz_above(s, numpy.where(low, 1 - q, q))
    if not low.any():
        return found
    mirrored = _over_all(s, numpy.where(low, q, 0.5)) - (-1) ** s * found
    mirrored = numpy.where(q == numpy.floor(q), math.inf, mirrored)
    return numpy.where(low, mirrored, found)


def _over_all(s, q):
    """The sum of (q + k) ** -s over all whole k: a polynomial of the cotangent, whose derivative
    is one of itself."""
    nothing = Fraction(0)
    terms = [nothing, Fraction(1)]
    for order in range(1, s):
        slopes = [k * term / order for k, term in enumerate(terms)][1:]
        padded = [*slopes, nothing, nothing]
        terms = [one + two for one, two in zip(padded, [nothing, nothing, *slopes], strict=True)]
    factors = list(map(float, terms))
    return math.pi**s * numpy.polynomial.polynomial.polyval(_cotangent(q), factors)


def _cotangent(q):
    """cot(pi q), exactly 0 halfway between whole numbers, and right in every digit beside it."""
    part = q - numpy.rint(q)
    steep = numpy.abs(part) < 0.25
    far = numpy.copysign(numpy.tan(math.pi * (0.5 - numpy.abs(part))), part)
    return numpy.where(steep, 1 / numpy.tan(math.pi * numpy.where(steep, part, 0.25)), far)


def _hurwitz_above(s, q):
    """The same for q >= 0, by Euler and Maclaurin."""
    total = numpy.zeros_like(q)
    for _ in range(12):
        total += q**-s
        q = q + 1
    total += q ** (1 - s) / (s - 1) + 0.5 * q**-s
    factor, power = float(s), q ** (-s - 1)
    for k, bernoulli in enumerate(_BERNOULLI, 1):
        total += bernoulli / math.factorial(2 * k) * factor * power
        factor *= (s + 2 * k - 1) * (s + 2 * k)
        power = power / (q * q)
    return total


_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)


def _digamma(x):
    """Reflected to positive arguments, raised above 12, then the asymptotic series."""
    low = x <= 0
    pole = low & (x == numpy.floor(x))
    y = numpy.where(low, 1 - x, x)
    shift = numpy.zeros_like(y)
    for _ in range(12):
        small = y < 12
        shift = numpy.where(small, shift - 1 / numpy.where(small, y, 1), shift)
        y = numpy.where(small, y + 1, y)
    found, power = numpy.log(y) - 0.5 / y + shift, 1 / (y * y)
    for k, bernoulli in enumerate(_BERNOULLI, 1):
        found -= bernoulli / (2 * k) * power**k
    mirrored = found - math.pi * _cotangent(numpy.where(low, x, 0.25))
    found = numpy.where(low, mirrored, found)
    return numpy.where(pole, numpy.where(x == 0, -numpy.copysign(math.inf, x), math.nan), found)


def _polygamma(x, n):
    if n == 0:
        return _digamma(x)
    if n == 1:  # reflected: torch takes trigamma of negative numbers as well
        low = x < 0.5
        sine = numpy.sin(math.pi * numpy.where(low, x, 0.5))
        found = _hurwitz(2, numpy.where(low, 1 - x, x))
        return numpy.where(low, -found + math.pi**2 / (sine * sine), found)
    return (-1) ** (n + 1) * math.factorial(n) * _hurwitz(n + 1, x)


def _erfinv(y):
    """A logarithmic start, then Newton's steps on erf (on erfc near the ends)."""
    inside = numpy.abs(y) < 1
    a = numpy.where(inside, y, 0)
    w = numpy.log1p(-a * a)
    t = 2 / (math.pi * 0.147) + w / 2
    x = numpy.copysign(numpy.sqrt(numpy.sqrt(t * t - w / 0.147) - t), a)
    erf, erfc = _each(math.erf), _each(math.erfc)
    for _ in range(4):
        far = ((1 - numpy.abs(a)) - erfc(numpy.abs(x))) * numpy.sign(a)
        gap = numpy.where(numpy.abs(a) < 0.5, erf(x) - a, far)
        x = x - gap * (math.sqrt(math.pi) / 2) * numpy.exp(x * x)
    edge = numpy.where(numpy.abs(y) == 1, numpy.copysign(math.inf, y), math.nan)
    return numpy.where(inside, x, edge)


library(
    "erfc(Tensor self) -> Tensor",
    _each(math.erfc),
    lambda s, g: g * ((s.self * -s.self).exp() * (-2 / math.sqrt(math.pi))),
    "1 - erf(self), exact where erf is almost 1.",
    saves="self",
)
library(
    "erfinv(Tensor self) -> Tensor",
    _erfinv,
    lambda s, g: g * ((s.result * s.result).exp() * (math.sqrt(math.pi) / 2)),
    "The number whose erf is self.",
    saves="result",
)
library(
    "lgamma(Tensor self) -> Tensor",
    _each(_lgamma),
    lambda s, g: g * _op("digamma", s.self),
    "The logarithm of the absolute value of the gamma function.",
    saves="self",
)
library(
    "digamma(Tensor self) -> Tensor",
    _digamma,
    lambda s, g: g * _op("polygamma", s.self, 1),
    "The derivative of lgamma.",
    saves="self",
)
library(
    "polygamma(Tensor self, int n) -> Tensor",
    _polygamma,
    lambda s, g: g * _op("polygamma", s.self, s.n + 1),
    "The n-th derivative of digamma.",
    saves="self",
    function=False,
)


def _rounded_xlogy(self, other):
    """xlogy of 16-bit floats: numbers are rounded to them, and so is each step, as torch's are."""
    element = dtypes.result_type(self, other)
    if element.is_floating_point and element.itemsize == 2:
        self, other = (
            rounded_number(each, element) if type(each) in (int, float) else each
            for each in (self, other)
        )
    return _xlogy(self, other)


def _xlogy(self, other):
    """0 where self is 0, whatever the logarithm (but nan where other is nan)."""
    if isinstance(other, Tensor):
        wide = dtypes.result_type(self, other)
        wide = floating(wide) if wide.letter == "u" else wide  # which has no order to ask for
        other = other.to(wide) if wide.is_floating_point else other
        self = self.to(wide) if isinstance(self, Tensor) else self
    nothing = self == 0
    if isinstance(other, Tensor):
        safe = other
        if isinstance(nothing, Tensor):  # only where the product would not be 0: the slope is log
            tame = _op("logical_and", other > 0, other < math.inf)
            safe = _op("where", nothing.logical_and(tame.logical_not()), 1.0, other)
        result = self * safe.log()
        if not isinstance(nothing, Tensor):
            result = _op("where", other.isnan(), other, result * 0) if nothing else result
            return result
        return _op("where", _op("logical_and", nothing, other.isnan()), math.nan, result)
    power = math.log(other) if other > 0 else (-math.inf if other == 0 else math.nan)
    return _op("where", nothing, 0.0, self * power)


def _sinc(x):
    x = x.to(floating(x.dtype))
    angle = _op("where", x == 0, 1.0, x) * math.pi
    # near zero by its series, whose derivatives are right too: those of the quotient cancel
    square = (x * math.pi) * (x * math.pi)
    near = 1 - square / 6 * (1 - square / 20 * (1 - square / 42))
    limit = 1e-2 if x.dtype.to_real() == dtypes.float64 else 1e-1
    return _op("where", x.abs() < limit, near, angle.sin() / angle)


def _nan_to_num(self, nan, posinf, neginf):
    if self.dtype.is_complex:  # the parts, each on its own
        parts = _nan_to_num(_op("view_as_real", self), nan, posinf, neginf)
        return _op("view_as_complex", parts.contiguous())
    if not self.dtype.is_floating_point:
        return self.clone()
    largest = dtypes.finfo(self.dtype).max
    high, low = largest if posinf is None else posinf, -largest if neginf is None else neginf
    result = _op("where", self.isnan(), 0.0 if nan is None else float(nan), self)
    result = _op("where", self == math.inf, float(high), result)
    return _op("where", self == -math.inf, float(low), result)


def _logaddexp(self, other, base):
    if self.dtype.is_complex or other.dtype.is_complex:
        larger = real_part(self) >= real_part(other)
        low, high = _op("where", larger, other, self), _op("where", larger, self, other)
    else:
        low, high = _op("minimum", self, other), _op("maximum", self, other)
    gap = _op("where", high == low, 0.0, low - high)
    if base == 2:
        return high + _op("log1p", gap.exp2()) / math.log(2)
    return high + gap.exp().log1p()


def _inverse_hyperbolic(name):
    def asinh(x):
        x = x.to(floating(x.dtype))
        if x.dtype.is_complex:
            return (x + (x * x + 1).sqrt()).log()
        sign = _op("where", x.signbit(), -1.0, 1.0).to(x.dtype)
        size = x * sign  # unlike abs, with a slope at zero
        large = size > 1e10
        small = _op("where", large, 1.0, size)
        square = small * small
        usual = (small + square / (1 + (square + 1).sqrt())).log1p()
        far = _op("where", large, size, 1.0).log() + math.log(2)
        return _op("where", large, far, usual) * sign

    def acosh(x):
        x = x.to(floating(x.dtype))
        if x.dtype.is_complex:
            return (x + (x - 1).sqrt() * (x + 1).sqrt()).log()
        large = x > 1e10
        small = _op("where", large, 2.0, x)
        usual = (small + (small - 1).sqrt() * (small + 1).sqrt()).log()
        return _op("where", large, _op("where", large, x, 1.0).log() + math.log(2), usual)

    def atanh(x):
        x = x.to(floating(x.dtype))
        return (x.log1p() - (-x).log1p()) * 0.5

    return {"asinh": asinh, "acosh": acosh, "atanh": atanh}[name]


composite(
    "xlogy(Operand self, Operand other) -> Tensor",
    _rounded_xlogy,
    "self * log(other), 0 where self is 0.",
    accepts="bifu",
)
composite(
    "sinc(Tensor self) -> Tensor", rounded_together(_sinc), "sin(pi * self) / (pi * self), 1 at 0."
)
composite(
    "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    _nan_to_num,
    "nan, inf and -inf replaced by numbers: 0 and the largest of the dtype, unless given.",
    exact="always",
)
composite(
    "logaddexp(Tensor self, Tensor other) -> Tensor",
    rounded_together(lambda a, b: _logaddexp(a, b, math.e)),
    "log(exp(self) + exp(other)), without overflow.",
    accepts="bifc",
)
composite(
    "logaddexp2(Tensor self, Tensor other) -> Tensor",
    rounded_together(lambda a, b: _logaddexp(a, b, 2)),
    "log2(2 ** self + 2 ** other), without overflow.",
    accepts="bifc",
)
for _name, _doc in (("asinh", "sine"), ("acosh", "cosine"), ("atanh", "tangent")):
    composite(
        f"{_name}(Tensor self) -> Tensor",
        rounded_together(_inverse_hyperbolic(_name)),
        f"The inverse hyperbolic {_doc}.",
    )


def _logit(self, eps):
    self = self.to(floating(self.dtype))
    if eps is not None:
        self = self.clamp(eps, 1 - eps)
    else:  # no number, and no slope, where nothing has this sigmoid
        outside = _op("logical_or", self < 0, self > 1)
        self = self * _op("where", outside, math.nan, 1.0).to(self.dtype)
    return self.log() - (-self).log1p()


composite(
    "logit(Tensor self, float? eps=None) -> Tensor",
    rounded_together(_logit),
    "The number whose sigmoid is self (limited to [eps, 1 - eps]).",
    accepts="bifu",
)
composite(
    "deg2rad(Tensor self) -> Tensor",
    lambda x: x.to(floating(x.dtype)) * (math.pi / 180),
    "Degrees as radians.",
    accepts="bifu",
)
composite(
    "rad2deg(Tensor self) -> Tensor",
    lambda x: x.to(floating(x.dtype)) * (180 / math.pi),
    "Radians as degrees.",
    accepts="bifu",
)
