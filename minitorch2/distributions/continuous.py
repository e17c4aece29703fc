"""Distributions of a number that have a closed inverse: Uniform, Exponential, Laplace, Cauchy.

In: parameters that broadcast. Out: samples made of uniform numbers, through which gradients reach
the parameters.

    >>> from minitorch2 import tensor
    >>> Uniform(0.0, 2.0).log_prob(tensor([1.0]))
    tensor([-0.6931])

Source: torch.distributions.
"""

import math
from typing import Any

from minitorch2.distributions import constraints
from minitorch2.distributions.distribution import Distribution, ExponentialFamily, LocationScale
from minitorch2.distributions.tools import broadcast_all, shape_of, where
from minitorch2.distributions.transformed import TransformedDistribution
from minitorch2.distributions.transforms import AbsTransform
from minitorch2.dtypes import finfo
from minitorch2.public import public

EULER = 0.57721566490153286060


class Uniform(Distribution):
    """All numbers of [low, high) alike."""

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None):
        self.low, self.high = broadcast_all(low, high)
        super().__init__(shape_of(low, high, like=self.low), (), validate_args)

    @property
    def arg_constraints(self) -> Any:
        """low below high."""
        return {
            "low": constraints.less_than(self.high),
            "high": constraints.greater_than(self.low),
        }

    @property
    def support(self) -> Any:
        """From low to high."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Any:
        """The middle."""
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Any:
        """nan: there is none."""
        return math.nan * self.high

    @property
    def stddev(self) -> Any:
        """Width / sqrt(12)."""
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Any:
        """Width ** 2 / 12."""
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Any = ()) -> Any:
        """low + width * a number of [0, 1)."""
        shape = self._extended_shape(sample_shape)
        drawn = public("rand")(tuple(shape), dtype=self.low.dtype)
        return self.low + drawn * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        """-log(width) inside, -inf outside."""
        self._validate_sample(value)
        inside = (self.low <= value) & (self.high > value)
        return inside.to(self.low.dtype).log() - (self.high - self.low).log()

    def cdf(self, value: Any) -> Any:
        """The share of the interval below a value."""
        self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Any:
        """low + width * probability."""
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        """log(width)."""
        return (self.high - self.low).log()


class Exponential(ExponentialFamily):
    """Density rate * exp(-rate * x)."""

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(shape_of(rate, like=self.rate), (), validate_args)

    @property
    def mean(self) -> Any:
        """1 / rate."""
        return self.rate.reciprocal()

    @property
    def mode(self) -> Any:
        """0."""
        return self.rate * 0

    @property
    def stddev(self) -> Any:
        """1 / rate."""
        return self.rate.reciprocal()

    @property
    def variance(self) -> Any:
        """1 / rate ** 2."""
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """A draw of rate 1, divided by the rate."""
        shape = self._extended_shape(sample_shape)
        return self.rate.new_empty(shape).exponential_() / self.rate

    def log_prob(self, value: Any) -> Any:
        """log(rate) - rate * x."""
        self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Any:
        """1 - exp(-rate * x)."""
        self._validate_sample(value)
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Any) -> Any:
        """-log(1 - p) / rate."""
        return -(-value).log1p() / self.rate

    def entropy(self) -> Any:
        """1 - log(rate)."""
        return 1.0 - self.rate.log()

    @property
    def _natural_params(self) -> tuple:
        return (-self.rate,)

    def _log_normalizer(self, x: Any) -> Any:
        return -(-x).log()


class Laplace(LocationScale):
    """Density exp(-|x - loc| / scale) / (2 * scale)."""

    @property
    def mean(self) -> Any:
        """loc."""
        return self.loc

    @property
    def variance(self) -> Any:
        """2 * scale ** 2."""
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Any:
        """sqrt(2) * scale."""
        return (2**0.5) * self.scale

    def rsample(self, sample_shape: Any = ()) -> Any:
        """The inverse of the cdf at a uniform number."""
        shape, limits = self._extended_shape(sample_shape), finfo(self.loc.dtype)
        u = self.loc.new_empty(shape).uniform_(limits.eps - 1, 1)
        return self.loc - self.scale * u.sign() * (-u.abs().clamp(min=limits.tiny)).log1p()

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        self._validate_sample(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Any) -> Any:
        """The probability of a smaller value."""
        self._validate_sample(value)
        gap = value - self.loc
        return 0.5 - 0.5 * gap.sign() * (-gap.abs() / self.scale).expm1()

    def icdf(self, value: Any) -> Any:
        """The value with a given probability below it."""
        term = value - 0.5
        return self.loc - self.scale * term.sign() * (-2 * term.abs()).log1p()

    def entropy(self) -> Any:
        """1 + log(2 * scale)."""
        return 1 + (2 * self.scale).log()


class Cauchy(LocationScale):
    """Density 1 / (pi * scale * (1 + ((x - loc) / scale) ** 2)): without mean or variance."""

    @property
    def mean(self) -> Any:
        """nan: there is none."""
        return self.loc * math.nan

    @property
    def variance(self) -> Any:
        """inf."""
        return self.scale * math.inf

    def rsample(self, sample_shape: Any = ()) -> Any:
        """loc + scale * a standard draw."""
        shape = self._extended_shape(sample_shape)
        return self.loc + self.loc.new_empty(shape).cauchy_() * self.scale

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        self._validate_sample(value)
        gap = (value - self.loc) / self.scale
        return -math.log(math.pi) - self.scale.log() - gap.pow(2).log1p()

    def cdf(self, value: Any) -> Any:
        """The probability of a smaller value."""
        self._validate_sample(value)
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        """The value with a given probability below it."""
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Any:
        """log(4 * pi * scale)."""
        return math.log(4 * math.pi) + self.scale.log()


class HalfCauchy(TransformedDistribution):
    """The absolute value of a Cauchy number around 0."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None):
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args)

    @property
    def scale(self) -> Any:
        """The half-width."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        """inf."""
        return self.scale * math.inf

    @property
    def mode(self) -> Any:
        """0."""
        return self.scale * 0

    @property
    def variance(self) -> Any:
        """inf."""
        return self.base_dist.variance

    def log_prob(self, value: Any) -> Any:
        """Twice the Cauchy density, 0 below 0."""
        self._validate_sample(value)
        return where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Any) -> Any:
        """2 * Cauchy cdf - 1."""
        self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Any) -> Any:
        """The value with a given probability below it."""
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Any:
        """That of the Cauchy number, less log(2)."""
        return self.base_dist.entropy() - math.log(2)
