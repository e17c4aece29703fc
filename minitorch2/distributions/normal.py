"""Normal and its relatives: LogNormal, HalfNormal.

In: loc and scale. Out: samples loc + scale * noise.

    >>> from minitorch2 import tensor
    >>> Normal(0.0, 1.0).log_prob(tensor(0.0))
    tensor(-0.9189)

Source: torch.distributions.
"""

import math
from typing import Any

from minitorch2.autograd.modes import no_grad
from minitorch2.distributions import constraints
from minitorch2.distributions.distribution import ExponentialFamily, LocationScale
from minitorch2.distributions.tools import normal, where
from minitorch2.distributions.transformed import TransformedDistribution
from minitorch2.distributions.transforms import AbsTransform, ExpTransform
from minitorch2.public import public


class Normal(LocationScale, ExponentialFamily):
    """Density exp(-((x - loc) / scale) ** 2 / 2) / (scale * sqrt(2 * pi))."""

    @property
    def mean(self) -> Any:
        """loc."""
        return self.loc

    @property
    def stddev(self) -> Any:
        """scale."""
        return self.scale

    @property
    def variance(self) -> Any:
        """scale squared."""
        return self.stddev.pow(2)

    def sample(self, sample_shape: Any = ()) -> Any:
        """A draw without a gradient."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return public("normal")(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """loc + scale * noise: gradients reach both."""
        return self.loc + normal(self._extended_shape(sample_shape), self.loc) * self.scale

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        self._validate_sample(value)
        gap = value - self.loc
        return (
            -(gap * gap) / (2 * self.scale * self.scale)
            - self.scale.log()
            - math.log(math.sqrt(2 * math.pi))
        )

    def cdf(self, value: Any) -> Any:
        """The probability of a smaller value."""
        self._validate_sample(value)
        return 0.5 * (1 + ((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)).erf())

    def icdf(self, value: Any) -> Any:
        """The value with a given probability below it."""
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self) -> Any:
        """1/2 + log(scale * sqrt(2 * pi))."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()

    @property
    def _natural_params(self) -> tuple:
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return -0.25 * x.pow(2) / y + 0.5 * (-math.pi / y).log()


class LogNormal(TransformedDistribution):
    """exp of a normal number."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        super().__init__(Normal(loc, scale, validate_args), ExpTransform(), validate_args)

    @property
    def loc(self) -> Any:
        """The mean of the logarithm."""
        return self.base_dist.loc

    @property
    def scale(self) -> Any:
        """The standard deviation of the logarithm."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        """exp(loc + scale ** 2 / 2)."""
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Any:
        """exp(loc - scale ** 2)."""
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Any:
        """(exp(scale ** 2) - 1) * exp(2 * loc + scale ** 2)."""
        squared = self.scale.pow(2)
        return squared.expm1() * (2 * self.loc + squared).exp()

    def entropy(self) -> Any:
        """That of the normal, and loc."""
        return self.base_dist.entropy() + self.loc


class HalfNormal(TransformedDistribution):
    """The absolute value of a normal number around 0."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None):
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args)

    @property
    def scale(self) -> Any:
        """The standard deviation of the normal number."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        """scale * sqrt(2 / pi)."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Any:
        """0."""
        return self.scale * 0

    @property
    def variance(self) -> Any:
        """scale ** 2 * (1 - 2 / pi)."""
        return self.scale.pow(2) * (1 - 2 / math.pi)

    def log_prob(self, value: Any) -> Any:
        """Twice the normal density, 0 below 0."""
        self._validate_sample(value)
        found = self.base_dist.log_prob(value) + math.log(2)
        return where(value >= 0, found, -math.inf)

    def cdf(self, value: Any) -> Any:
        """2 * normal cdf - 1."""
        self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Any) -> Any:
        """The value with a given probability below it."""
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Any:
        """That of the normal, less log(2)."""
        return self.base_dist.entropy() - math.log(2)
