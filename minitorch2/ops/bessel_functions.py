"""Bessel's functions J, Y and K of orders 0 and 1, the spherical j of order 0, and Airy's Ai.

In: tensors of real numbers. Out: tensors of the same shape; nan below 0 for Y and K. All rows
compute in double precision and stay whole in compiled code. They have no gradient, as in torch.

    >>> from minitorch2 import special, tensor
    >>> special.bessel_j0(tensor([0.0, 1.0]))
    tensor([1.0000, 0.7652])

Source: torch.special; Abramowitz & Stegun 1964: 9.1.27 (recurrence), 9.1.88 (Neumann's series for
Y), 9.2.5 (Hankel's expansion), 9.6.11, 9.6.13 and 9.6.24 (K), 10.4.14 and 10.4.60 (Ai).
"""

import functools
import math
from collections.abc import Callable

import numpy

from minitorch2.ops.special_functions import library

EULER = 0.57721566490153286
FAR = 25.0  # from here on Hankel's expansion is exact in double precision


def _hankel(x, order):
    """(P, Q, phase): J = sqrt(2 / (pi x)) (P cos phase - Q sin phase), Y the other way round."""
    parts = [numpy.zeros_like(x), numpy.zeros_like(x)]
    term = numpy.ones_like(x)
    for k in range(24):
        parts[k % 2] = parts[k % 2] + (-term if k % 4 > 1 else term)
        term = term * (4 * order * order - (2 * k + 1) ** 2) / ((k + 1) * 8 * x)
    return parts[0], parts[1], x - (order / 2 + 0.25) * math.pi


def _near(x):
    """J0, J1, Y0, Y1 of numbers in (1e-8, FAR]: the recurrence downwards, scaled by its own sum."""
    after, this = numpy.zeros_like(x), numpy.full_like(x, 1e-250)
    total, sums = numpy.zeros_like(x), [numpy.zeros_like(x), numpy.zeros_like(x)]
    for n in range(84, 0, -1):  # this stands for the function of order n
        half = n // 2
        if n % 2 == 0:
            total = total + 2 * this
            sums[0] = sums[0] + (-1) ** half * this / half
        elif half:
            sums[1] = sums[1] + (-1) ** half * (2 * half + 1) * this / (half * (half + 1))
        after, this = this, 2 * n / x * this - after
        large = numpy.abs(this) > 1e150
        if large.any():
            scale = numpy.where(large, 1e-250, 1.0)
            after, this, total = after * scale, this * scale, total * scale
            sums = [each * scale for each in sums]
    total = total + this
    j0, j1 = this / total, after / total
    logarithm = numpy.log(x / 2) + EULER
    y0 = 2 / math.pi * (logarithm * j0 - 2 * sums[0] / total)
    y1 = 2 / math.pi * ((logarithm - 1) * j1 - j0 / x - sums[1] / total)
    return j0, j1, y0, y1


def _cylinder(order, second):
    """J (or Y, the `second` kind) of an order, as a function of arrays."""

    def function(x):
        """The function's values at an array of floats; Y is nan below zero."""
        size = numpy.abs(x)
        close = size <= FAR
        tiny = size < 1e-8
        near = _near(numpy.where(close & ~tiny, size, 1.0))[order + 2 * second]
        far = numpy.where(close | numpy.isinf(x), FAR, size)
        p, q, phase = _hankel(far, order)
        cosine, sine = numpy.cos(phase), numpy.sin(phase)
        wave = p * sine + q * cosine if second else p * cosine - q * sine
        found = numpy.where(close, near, wave * numpy.sqrt(2 / (math.pi * far)))
        low = numpy.where(tiny, size, 1.0)
        start = low / 2 if order else numpy.ones_like(low)
        if second:
            start = -2 / (math.pi * low) if order else (numpy.log(low / 2) + EULER) * 2 / math.pi
        found = numpy.where(tiny, start, found)
        found = numpy.where(numpy.isinf(x), 0.0, found)
        if second:
            return numpy.where(x < 0, numpy.nan, numpy.where(numpy.isnan(x), x, found))
        found = numpy.where(x < 0, -found, found) if order else found
        return numpy.where(numpy.isnan(x), x, found)

    return function


def _decaying(x, order):
    """exp(x) K(x) of numbers of at least 1, of any order: the trapezoidal rule for 9.6.24."""
    step = numpy.minimum(0.2, 0.6 / numpy.sqrt(x))
    found = numpy.full_like(x, 0.5)
    for k in range(1, 48):
        t = k * step
        found = found + numpy.exp(-2 * x * numpy.sinh(t / 2) ** 2) * numpy.cosh(order * t)
    return found * step


def _small(x, order):
    """K(x) of numbers below 1, by the power series."""
    square = x * x / 4
    logarithm = numpy.log(x / 2) + EULER
    term, harmonic = numpy.ones_like(x), 0.0
    found = numpy.zeros_like(x)
    for k in range(12):
        if order:
            between = harmonic + 0.5 / (k + 1)  # the mean of two harmonic numbers
            found = found + term * (x / 2) * (logarithm - between) / (k + 1)
        else:
            found = found + term * (harmonic - logarithm)
        harmonic += 1 / (k + 1)
        term = term * square / ((k + 1) * (k + 1))
    return found + 1 / x if order else found


def _modified(order, scaled):
    """K of an order (times exp(x) if `scaled`), as a function of arrays."""

    def function(x):
        inside = x > 0
        close = inside & (x < 1)
        small, large = numpy.where(close, x, 0.5), numpy.where(inside & ~close, x, 1.0)
        ends = numpy.isinf(large)
        far = _decaying(numpy.where(ends, 1.0, large), order)
        near = _small(small, order)
        if scaled:
            near = near * numpy.exp(small)
        else:
            far = far * numpy.exp(-large)
        found = numpy.where(close, near, numpy.where(ends, 0.0, far))
        return numpy.where(inside, found, numpy.where(x == 0, numpy.inf, numpy.nan))

    return function


# ---- Airy's function -------------------------------------------------------------------------

_LOWEST = -12.0  # below it the asymptotic expansion holds, above 2 the one by K
_STEP = 0.5


def _taylor(x, value, slope, h):
    """The solution of y'' = x y a distance h from x, and its slope: 24 terms of Taylor's series."""
    terms = [value, slope, x * value / 2]
    for n in range(1, 24):
        terms.append((x * terms[n] + terms[n - 1]) / ((n + 1) * (n + 2)))
    found, rising = numpy.zeros_like(h), numpy.zeros_like(h)
    for n in range(len(terms) - 1, -1, -1):
        found = found * h + terms[n]
        if n:
            rising = rising * h + n * terms[n]
    return found, rising


@functools.cache
def _nodes():
    """Ai and its slope at -12, -11.5 ... 2, from those at 0."""
    start = 3 ** (-2 / 3) / math.gamma(2 / 3), -(3 ** (-1 / 3)) / math.gamma(1 / 3)
    count = round((2 - _LOWEST) / _STEP) + 1
    places = _LOWEST + _STEP * numpy.arange(count)
    found = numpy.zeros((2, count))
    zero = round(-_LOWEST / _STEP)
    found[:, zero] = start
    for way in (-1, 1):
        value, slope = (numpy.asarray(each) for each in start)
        for k in range(zero + way, count if way > 0 else -1, way):
            value, slope = _taylor(places[k - way], value, slope, numpy.asarray(way * _STEP))
            found[:, k] = value, slope
    return places, found


def _airy(x):
    middle = (x >= _LOWEST) & (x <= 2)
    places, (values, slopes) = _nodes()
    inner = numpy.where(middle, x, 0.0)
    k = numpy.rint((inner - _LOWEST) / _STEP).astype(int)
    near = _taylor(places[k], values[k], slopes[k], inner - places[k])[0]
    high = numpy.where(numpy.isfinite(x) & (x > 2), x, 2.0)
    z = high * numpy.sqrt(high) * (2 / 3)
    above = numpy.sqrt(high / 3) / math.pi * _decaying(z, 1 / 3) * numpy.exp(-z)
    deep = numpy.where(numpy.isfinite(x) & (x < _LOWEST), -x, -_LOWEST)
    z = deep * numpy.sqrt(deep) * (2 / 3)
    p, q, phase = _hankel(z, 1 / 3)  # J of 1/3; that of -1/3 has its phase a third of pi later
    waves = p * numpy.cos(phase + math.pi / 6) - q * numpy.sin(phase + math.pi / 6)
    below = numpy.sqrt(deep) / 3 * numpy.sqrt(2 / (math.pi * z)) * math.sqrt(3) * waves
    found = numpy.where(middle, near, numpy.where(x > 2, above, below))
    return numpy.where(numpy.isinf(x), 0.0, numpy.where(numpy.isnan(x), x, found))


def _spherical(x):
    ends = numpy.isinf(x)
    safe = numpy.where(ends | (x == 0), 1.0, x)
    return numpy.where(ends, 0.0, numpy.where(x == 0, 1.0, numpy.sin(safe) / safe))


ROWS: dict[str, tuple[Callable, str]] = {
    "bessel_j0": (_cylinder(0, False), "Bessel's function of the first kind of order 0."),
    "bessel_j1": (_cylinder(1, False), "Bessel's function of the first kind of order 1."),
    "bessel_y0": (_cylinder(0, True), "Bessel's function of the second kind of order 0."),
    "bessel_y1": (_cylinder(1, True), "Bessel's function of the second kind of order 1."),
    "modified_bessel_k0": (_modified(0, False), "Bessel's K of order 0."),
    "modified_bessel_k1": (_modified(1, False), "Bessel's K of order 1."),
    "scaled_modified_bessel_k0": (_modified(0, True), "Bessel's K of order 0 times exp(self)."),
    "scaled_modified_bessel_k1": (_modified(1, True), "Bessel's K of order 1 times exp(self)."),
    "airy_ai": (_airy, "Airy's function Ai."),
    "spherical_bessel_j0": (_spherical, "sin(self) / self, 1 at 0: the spherical j of order 0."),
}
for _name, (_function, _doc) in ROWS.items():
    library(
        f"{_name}(Tensor self) -> Tensor",
        _function,
        None,
        _doc,
        method=False,
        function=False,
        torch=f"torch.special.{_name}",
    )
