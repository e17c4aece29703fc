"""Distributions of extremes and of shares: Gumbel, Weibull, Pareto, Kumaraswamy.

In: parameters that broadcast. Out: samples made by transforms of uniform or exponential numbers.

    >>> from minitorch2 import tensor
    >>> Pareto(tensor(1.0), tensor(2.0)).mean
    tensor(2.)

Source: torch.distributions.
"""

import math
from typing import Any

from minitorch2.distributions import constraints
from minitorch2.distributions.continuous import EULER, Exponential, Uniform
from minitorch2.distributions.distribution import Distribution
from minitorch2.distributions.tools import broadcast_all, shape_of, uniform, where
from minitorch2.distributions.transformed import TransformedDistribution
from minitorch2.distributions.transforms import AffineTransform, ExpTransform, PowerTransform
from minitorch2.dtypes import finfo


class Gumbel(TransformedDistribution):
    """The largest of many: loc - scale * log(-log(u))."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = finfo(self.loc.dtype)
        if isinstance(loc, (int, float)) and isinstance(scale, (int, float)):
            base = Uniform(limits.tiny, 1 - limits.eps, validate_args=validate_args)
        else:
            low = self.loc.detach() * 0 + limits.tiny
            base = Uniform(low, low * 0 + (1 - limits.eps), validate_args=validate_args)
        steps = [
            ExpTransform().inv,
            AffineTransform(loc=0, scale=-(self.scale * 0 + 1)),
            ExpTransform().inv,
            AffineTransform(loc=loc, scale=-self.scale),
        ]
        super().__init__(base, steps, validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same with expanded parameters."""
        loc, scale = self.loc.expand(batch_shape), self.scale.expand(batch_shape)
        return Gumbel(loc, scale, validate_args=False)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self) -> Any:
        """loc + scale * Euler's constant."""
        return self.loc + self.scale * EULER

    @property
    def mode(self) -> Any:
        """loc."""
        return self.loc

    @property
    def stddev(self) -> Any:
        """scale * pi / sqrt(6)."""
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Any:
        """stddev squared."""
        return self.stddev.pow(2)

    def entropy(self) -> Any:
        """log(scale) + 1 + Euler's constant."""
        return self.scale.log() + (1 + EULER)


class Weibull(TransformedDistribution):
    """scale * e ** (1 / concentration), e exponential."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None):
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(self.scale * 0 + 1, validate_args=validate_args)
        steps = [
            PowerTransform(exponent=self.concentration_reciprocal),
            AffineTransform(loc=0, scale=self.scale),
        ]
        super().__init__(base, steps, validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same with expanded parameters."""
        scale, shape = self.scale.expand(batch_shape), self.concentration.expand(batch_shape)
        return Weibull(scale, shape, validate_args=False)

    @property
    def mean(self) -> Any:
        """scale * gamma(1 + 1 / concentration)."""
        return self.scale * (1 + self.concentration_reciprocal).lgamma().exp()

    @property
    def mode(self) -> Any:
        """scale * ((c - 1) / c) ** (1 / c)."""
        c = self.concentration
        return self.scale * ((c - 1) / c) ** c.reciprocal()

    @property
    def variance(self) -> Any:
        """scale ** 2 * (gamma(1 + 2 / c) - gamma(1 + 1 / c) ** 2)."""
        second = (1 + 2 * self.concentration_reciprocal).lgamma().exp()
        first = (2 * (1 + self.concentration_reciprocal).lgamma()).exp()
        return self.scale.pow(2) * (second - first)

    def entropy(self) -> Any:
        """Euler * (1 - 1 / c) + log(scale / c) + 1."""
        inverse = self.concentration_reciprocal
        return EULER * (1 - inverse) + (self.scale * inverse).log() + 1


class Pareto(TransformedDistribution):
    """scale * exp(e), e exponential of rate alpha: density falls as x ** -(alpha + 1)."""

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None):
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        steps = [ExpTransform(), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, steps, validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same with expanded parameters."""
        scale, alpha = self.scale.expand(batch_shape), self.alpha.expand(batch_shape)
        return Pareto(scale, alpha, validate_args=False)

    @property
    def support(self) -> Any:
        """From scale on."""
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Any:
        """alpha * scale / (alpha - 1); inf up to alpha = 1."""
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Any:
        """scale."""
        return self.scale

    @property
    def variance(self) -> Any:
        """scale ** 2 * alpha / ((alpha - 1) ** 2 * (alpha - 2)); inf up to alpha = 2."""
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def entropy(self) -> Any:
        """log(scale / alpha) + 1 + 1 / alpha."""
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Kumaraswamy(TransformedDistribution):
    """(1 - u ** (1 / b)) ** (1 / a): like Beta, with a closed inverse."""

    arg_constraints = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None):
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(self.concentration0.detach() * 0, self.concentration0.detach() * 0 + 1)
        steps = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base, steps, validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same with expanded parameters."""
        one, zero = self.concentration1.expand(batch_shape), self.concentration0.expand(batch_shape)
        return Kumaraswamy(one, zero, validate_args=False)

    def _moment(self, n: int) -> Any:
        a, b = self.concentration1, self.concentration0
        first = 1 + n / a
        return (b.log() + first.lgamma() + b.lgamma() - (first + b).lgamma()).exp()

    @property
    def mean(self) -> Any:
        """The first moment."""
        return self._moment(1)

    @property
    def mode(self) -> Any:
        """Where the density is largest; nan where it has no inner maximum."""
        a, b = self.concentration1, self.concentration0
        found = ((a - 1) / (a * b - 1)) ** a.reciprocal()
        return where((b < 1) | (a < 1) | ((a == 1) & (b == 1)), math.nan, found)

    @property
    def variance(self) -> Any:
        """The second moment less the mean squared."""
        return self._moment(2) - self.mean.pow(2)

    def entropy(self) -> Any:
        """By the digamma function."""
        one, zero = 1 - self.concentration1.reciprocal(), 1 - self.concentration0.reciprocal()
        harmonic = (self.concentration0 + 1).digamma() + EULER
        return zero + one * harmonic - self.concentration1.log() - self.concentration0.log()


class GeneralizedPareto(Distribution):
    """The excess over a threshold: loc + scale * (u ** -concentration - 1) / concentration."""

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None):
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        shape = shape_of(loc, scale, concentration, like=self.loc)
        super().__init__(shape, (), validate_args)

    @property
    def support(self) -> Any:
        """From loc on, up to loc - scale / concentration where that is negative."""
        if bool((self.concentration < 0).all()):
            return constraints.interval(self.loc, self.loc - self.scale / self.concentration)
        return constraints.greater_than_eq(self.loc)

    def _is_exponential(self) -> Any:
        return self.concentration.abs() <= 1e-8

    def _safe(self) -> Any:
        return where(self._is_exponential(), 1.0, self.concentration)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """The inverse of the cdf at a uniform number."""
        return self.icdf(uniform(self._extended_shape(sample_shape), self.loc))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        self._validate_sample(value)
        z, c = (value - self.loc) / self.scale, self._safe()
        usual = -(1 + 1 / c) * (c * z).log1p()
        found = where(self._is_exponential(), -z, usual) - self.scale.log()
        return where(z < 0, -math.inf, found)

    def cdf(self, value: Any) -> Any:
        """The probability of a smaller value."""
        z, c = (value - self.loc) / self.scale, self._safe()
        above = where(self._is_exponential(), (-z).exp(), (1 + c * z).clamp(min=0) ** (-1 / c))
        return where(z < 0, 0.0, 1 - above)

    def icdf(self, value: Any) -> Any:
        """The value with a given probability below it."""
        left, c = -(-value).log1p(), self._safe()
        scaled = where(self._is_exponential(), left, (c * left).expm1() / c)
        return self.loc + self.scale * scaled

    @property
    def mean(self) -> Any:
        """loc + scale / (1 - concentration); inf from concentration 1 on."""
        c = self.concentration
        return where(c < 1, self.loc + self.scale / (1 - where(c < 1, c, 0.0)), math.inf)

    @property
    def variance(self) -> Any:
        """scale ** 2 / ((1 - c) ** 2 * (1 - 2 c)); inf from c = 1 / 2 on."""
        c = self.concentration
        safe = where(c < 0.5, c, 0.0)
        return where(c < 0.5, self.scale.pow(2) / ((1 - safe).pow(2) * (1 - 2 * safe)), math.inf)

    def entropy(self) -> Any:
        """log(scale) + concentration + 1."""
        return self.scale.log() + self.concentration + 1

    @property
    def mode(self) -> Any:
        """loc."""
        return self.loc
