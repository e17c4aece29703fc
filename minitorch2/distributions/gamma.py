"""The gamma family: Gamma, Chi2, InverseGamma, Beta, Dirichlet, StudentT, FisherSnedecor.

In: parameters that broadcast. Out: samples made of gamma draws, whose gradients are implicit.

    >>> from minitorch2 import tensor
    >>> Beta(tensor(2.0), tensor(2.0)).mean
    tensor(0.5000)

Source: torch.distributions.
"""

import math
from typing import Any

from minitorch2.distributions import constraints
from minitorch2.distributions.distribution import Distribution, ExponentialFamily
from minitorch2.distributions.tools import (
    broadcast_all,
    normal,
    row,
    shape_of,
    stack,
    where,
    xlogy,
)
from minitorch2.distributions.transformed import TransformedDistribution
from minitorch2.distributions.transforms import PowerTransform
from minitorch2.draws import standard_gamma
from minitorch2.dtypes import finfo

_incomplete_gamma = row("igamma")


class Gamma(ExponentialFamily):
    """Density rate ** c * x ** (c - 1) * exp(-rate * x) / gamma(c)."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None):
        self.concentration, self.rate = broadcast_all(concentration, rate)
        shape = shape_of(concentration, rate, like=self.concentration)
        super().__init__(shape, (), validate_args)

    @property
    def mean(self) -> Any:
        """concentration / rate."""
        return self.concentration / self.rate

    @property
    def mode(self) -> Any:
        """(concentration - 1) / rate, not below 0."""
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Any:
        """concentration / rate ** 2."""
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """A gamma draw of rate 1, divided by the rate."""
        shape = self._extended_shape(sample_shape)
        drawn = standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        return drawn.clamp(min=finfo(drawn.dtype).tiny)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        self._validate_sample(value)
        c, rate = self.concentration, self.rate
        return xlogy(c, rate) + xlogy(c - 1, value) - rate * value - c.lgamma()

    def entropy(self) -> Any:
        """c - log(rate) + lgamma(c) + (1 - c) * digamma(c)."""
        c = self.concentration
        return c - self.rate.log() + c.lgamma() + (1.0 - c) * c.digamma()

    def cdf(self, value: Any) -> Any:
        """The regularized incomplete gamma function."""
        self._validate_sample(value)
        return _incomplete_gamma(self.concentration, self.rate * value)

    @property
    def _natural_params(self) -> tuple:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return (x + 1).lgamma() + (x + 1) * (-y.reciprocal()).log()


class Chi2(Gamma):
    """The sum of `df` squared normal numbers."""

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None):
        super().__init__(0.5 * df, 0.5, validate_args)

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self.concentration * 2

    def _given(self) -> list[str]:
        return ["concentration", "rate"]

    def _own_dims(self, name: str) -> int:
        return 0


class InverseGamma(TransformedDistribution):
    """1 / a gamma number."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None):
        base = Gamma(concentration, rate, validate_args)
        super().__init__(base, PowerTransform(-base.rate.detach() * 0 - 1), validate_args)

    @property
    def concentration(self) -> Any:
        """The gamma number's."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Any:
        """The gamma number's."""
        return self.base_dist.rate

    @property
    def mean(self) -> Any:
        """rate / (concentration - 1); inf up to concentration 1."""
        c = self.concentration
        return where(c > 1, self.rate / (c - 1), math.inf)

    @property
    def mode(self) -> Any:
        """rate / (concentration + 1)."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        """rate ** 2 / ((c - 1) ** 2 * (c - 2)); inf up to concentration 2."""
        c = self.concentration
        return where(c > 2, self.rate.square() / ((c - 1).square() * (c - 2)), math.inf)

    def entropy(self) -> Any:
        """c + log(rate) + lgamma(c) - (1 + c) * digamma(c)."""
        c = self.concentration
        return c + self.rate.log() + c.lgamma() - (1 + c) * c.digamma()


class Dirichlet(ExponentialFamily):
    """Probabilities of n classes, density proportional to prod(x ** (c - 1))."""

    arg_constraints = {
        "concentration": constraints.independent(constraints.positive, 1),
    }
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Any, validate_args: bool | None = None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Gamma draws, divided by their sum."""
        drawn = standard_gamma(self.concentration.expand(self._extended_shape(sample_shape)))
        drawn = drawn.clamp(min=finfo(drawn.dtype).tiny)
        return drawn / drawn.sum(-1, True)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        self._validate_sample(value)
        c = self.concentration
        return xlogy(c - 1.0, value).sum(-1) + c.sum(-1).lgamma() - c.lgamma().sum(-1)

    @property
    def mean(self) -> Any:
        """concentration / its sum."""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Any:
        """(c - 1) / sum(c - 1); the corner of the largest where all are below 1."""
        above = (self.concentration - 1).clamp(min=0.0)
        found = above / above.sum(-1, True)
        none = (self.concentration < 1).all(-1, True)
        best = self.concentration.argmax(-1, True)
        corner = found.new_zeros(found.shape).scatter(-1, best, 1.0)
        return where(none, corner, found)

    @property
    def variance(self) -> Any:
        """c (total - c) / (total ** 2 (total + 1))."""
        c = self.concentration
        total = c.sum(-1, True)
        return c * (total - c) / (total.pow(2) * (total + 1))

    def entropy(self) -> Any:
        """By the digamma function."""
        c = self.concentration
        k, total = c.size(-1), c.sum(-1)
        return (
            c.lgamma().sum(-1)
            - total.lgamma()
            - (k - total) * total.digamma()
            - ((c - 1.0) * c.digamma()).sum(-1)
        )

    @property
    def _natural_params(self) -> tuple:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Any:
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()


class Beta(ExponentialFamily):
    """A number of [0, 1] with density x ** (a - 1) * (1 - x) ** (b - 1) / B(a, b)."""

    arg_constraints = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None):
        one, zero = broadcast_all(concentration1, concentration0)
        self._dirichlet = Dirichlet(stack([one, zero], -1), validate_args=False)
        super().__init__(shape_of(concentration1, concentration0, like=one), (), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same with expanded parameters."""
        one, zero = self.concentration1.expand(batch_shape), self.concentration0.expand(batch_shape)
        return Beta(one, zero, validate_args=False)

    @property
    def concentration1(self) -> Any:
        """a."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Any:
        """b."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Any:
        """a / (a + b)."""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Any:
        """(a - 1) / (a + b - 2)."""
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Any:
        """a b / ((a + b) ** 2 (a + b + 1))."""
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """The first of two shares."""
        return self._dirichlet.rsample(sample_shape)[..., 0]

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        self._validate_sample(value)
        return self._dirichlet.log_prob(stack([value, 1.0 - value], -1))

    def entropy(self) -> Any:
        """The Dirichlet distribution's."""
        return self._dirichlet.entropy()

    @property
    def _natural_params(self) -> tuple:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return x.lgamma() + y.lgamma() - (x + y).lgamma()


class StudentT(Distribution):
    """loc + scale * a normal number / sqrt(chi2 / df)."""

    arg_constraints = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None
    ):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df, validate_args=False)
        super().__init__(self.df.shape, (), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same with expanded parameters."""
        made = super().expand(batch_shape)
        made._chi2 = Chi2(made.df, validate_args=False)
        return made

    @property
    def mean(self) -> Any:
        """loc; nan up to df = 1."""
        return where(self.df <= 1, math.nan, self.loc)

    @property
    def mode(self) -> Any:
        """loc."""
        return self.loc

    @property
    def variance(self) -> Any:
        """scale ** 2 * df / (df - 2); inf up to df = 2, nan up to df = 1."""
        found = self.scale.pow(2) * self.df / (self.df - 2)
        return where(self.df <= 1, math.nan, where(self.df > 2, found, math.inf))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """A normal number divided by the square root of a chi2 number."""
        x = normal(self._extended_shape(sample_shape), self.df)
        z = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (x * (z / self.df).rsqrt())

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        self._validate_sample(value)
        y, df = (value - self.loc) / self.scale, self.df
        normalizer = (
            self.scale.log()
            + 0.5 * df.log()
            + 0.5 * math.log(math.pi)
            + (0.5 * df).lgamma()
            - (0.5 * (df + 1.0)).lgamma()
        )
        return -0.5 * (df + 1.0) * (y**2.0 / df).log1p() - normalizer

    def entropy(self) -> Any:
        """By the digamma and beta functions."""
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        beta = half.lgamma() + math.lgamma(0.5) - more.lgamma()
        spread = more * (more.digamma() - half.digamma())
        return self.scale.log() + spread + 0.5 * self.df.log() + beta


class FisherSnedecor(Distribution):
    """The quotient of two chi2 numbers, each divided by its degrees of freedom."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None):
        self.df1, self.df2 = broadcast_all(df1, df2)
        super().__init__(shape_of(df1, df2, like=self.df1), (), validate_args)

    @property
    def mean(self) -> Any:
        """df2 / (df2 - 2); nan up to df2 = 2."""
        return where(self.df2 > 2, self.df2 / (self.df2 - 2), math.nan)

    @property
    def mode(self) -> Any:
        """(df1 - 2) / df1 * df2 / (df2 + 2); nan up to df1 = 2."""
        found = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return where(self.df1 <= 2, math.nan, found)

    @property
    def variance(self) -> Any:
        """2 df2 ** 2 (df1 + df2 - 2) / (df1 (df2 - 2) ** 2 (df2 - 4)); nan up to df2 = 4."""
        a, b = self.df1, self.df2
        found = 2 * b.pow(2) * (a + b - 2) / (a * (b - 2).pow(2) * (b - 4))
        return where(b > 4, found, math.nan)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """The quotient of two gamma draws."""
        first = Gamma(self.df1 * 0.5, self.df1, False).rsample(sample_shape)
        second = Gamma(self.df2 * 0.5, self.df2, False).rsample(sample_shape)
        tiny = finfo(second.dtype).tiny
        return (first / second.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        self._validate_sample(value)
        a, b = self.df1 * 0.5, self.df2 * 0.5
        ratio = self.df1 / self.df2
        beta = a.lgamma() + b.lgamma() - (a + b).lgamma()
        return a * ratio.log() + (a - 1) * value.log() - (a + b) * (ratio * value).log1p() - beta
