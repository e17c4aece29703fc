"""Yes or no, and counts of it: Bernoulli, Geometric, Binomial, NegativeBinomial, Poisson.

In: probs, or logits (their sigmoid is the probability). Out: samples are whole numbers.

    >>> from minitorch2 import tensor
    >>> Bernoulli(tensor(0.25)).log_prob(tensor(1.0))
    tensor(-1.3863)

Source: torch.distributions.
"""

import math
from typing import Any

from minitorch2.autograd.modes import no_grad
from minitorch2.distributions import constraints
from minitorch2.distributions.distribution import Distribution, ExponentialFamily, exactly_one
from minitorch2.distributions.tools import (
    arange,
    broadcast_all,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
    row,
    shape_of,
    softplus,
    uniform,
    where,
    xlogy,
)
from minitorch2.draws import standard_gamma
from minitorch2.dtypes import finfo
from minitorch2.public import public

_cross_entropy = row("binary_cross_entropy_with_logits")


class _Binary(Distribution):
    """By `probs` or `logits`: the one not given is computed when asked for."""

    def _take(self, name: str, probs: Any, logits: Any) -> Any:
        given = exactly_one(name, probs=probs, logits=logits)
        value = probs if given == "probs" else logits
        (self.__dict__[given],) = broadcast_all(value)
        self._param = self.__dict__[given]
        return shape_of(value, like=self._param)

    @lazy_property
    def logits(self) -> Any:
        """log(p / (1 - p))."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Any:
        """The probability of yes."""
        return logits_to_probs(self.logits, is_binary=True)

    def _given(self) -> list[str]:
        by_probs = self.__dict__.get("probs") is self._param
        return ["probs" if by_probs else "logits", *self._others]

    _others: tuple[str, ...] = ()

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same with expanded parameters."""
        made = super().expand(batch_shape)
        made._param = made.__dict__[self._given()[0]]
        return made

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter given."""
        return self._param.size()


class Bernoulli(_Binary, ExponentialFamily):
    """1 with probability `probs`, or with probability sigmoid(logits)."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        shape = self._take("Bernoulli", probs, logits)
        super().__init__(shape, (), validate_args)

    @property
    def mean(self) -> Any:
        """The probability of 1."""
        return self.probs

    @property
    def mode(self) -> Any:
        """The more probable of 0 and 1; nan where they are alike."""
        found = (self.probs >= 0.5).to(self.probs.dtype)
        return where(self.probs == 0.5, math.nan, found)

    @property
    def variance(self) -> Any:
        """p (1 - p)."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Zeros and ones."""
        with no_grad():
            shape = self._extended_shape(sample_shape)
            return public("bernoulli")(self.probs.detach().expand(shape))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability of 0s and 1s."""
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -_cross_entropy(logits, value, reduction="none")

    def entropy(self) -> Any:
        """The mean of -log_prob."""
        return _cross_entropy(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        """0 and 1."""
        values = arange(2, dtype=self._param.dtype).reshape((-1, *[1] * len(self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values

    @property
    def _natural_params(self) -> tuple:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:
        return x.exp().log1p()


class Geometric(_Binary):
    """The number of failures before the first success."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        shape = self._take("Geometric", probs, logits)
        super().__init__(shape, (), validate_args)
        if self._validate_args and probs is not None and not bool((self.probs > 0).all()):
            raise ValueError(
                f"Expected parameter probs (Tensor of shape {tuple(self.probs.shape)}) of "
                f"distribution {self!r} to be positive but found invalid values:\n{self.probs}"
            )

    @property
    def mean(self) -> Any:
        """1 / p - 1."""
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Any:
        """0."""
        return self.probs * 0

    @property
    def variance(self) -> Any:
        """(1 / p - 1) / p."""
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = ()) -> Any:
        """floor(log(u) / log(1 - p))."""
        with no_grad():
            shape = self._extended_shape(sample_shape)
            u = self.probs.new_empty(shape).uniform_(finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Any:
        """value * log(1 - p) + log(p)."""
        self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = where((probs == 1) & (value == 0), 0.0, probs)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Any:
        """That of a Bernoulli, divided by p."""
        return _cross_entropy(self.logits, self.probs, reduction="none") / self.probs


class Binomial(_Binary):
    """The number of successes in `total_count` trials."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True
    _others = ("total_count",)

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ):
        given = exactly_one("Binomial", probs=probs, logits=logits)
        value = probs if given == "probs" else logits
        self.total_count, self.__dict__[given] = broadcast_all(total_count, value)
        self.total_count = self.total_count.to(self.__dict__[given].dtype)
        self._param = self.__dict__[given]
        super().__init__(self._param.shape, (), validate_args)

    @property
    def support(self) -> Any:
        """0 to total_count."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        """n p."""
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        """floor((n + 1) p), not above n."""
        found = ((self.total_count + 1) * self.probs).floor()
        return where(found > self.total_count, self.total_count, found)

    @property
    def variance(self) -> Any:
        """n p (1 - p)."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Counts of successes."""
        with no_grad():
            shape = self._extended_shape(sample_shape)
            return public("binomial")(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Any:
        """log(n over k) + k log(p) + (n - k) log(1 - p)."""
        self._validate_sample(value)
        n = self.total_count
        ways = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        return ways + value * self.logits - n * softplus(self.logits)

    def entropy(self) -> Any:
        """By summing over all outcomes; one total_count for all."""
        count = int(self.total_count.max())
        if int(self.total_count.min()) != count:
            raise NotImplementedError(
                "Inhomogeneous total count not supported by `entropy`: give one total_count"
            )
        found = self.log_prob(self.enumerate_support(False))
        return -(found.exp() * found).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        """0 to total_count, which must be one number."""
        count = int(self.total_count.max())
        if int(self.total_count.min()) != count:
            raise NotImplementedError(
                "Inhomogeneous total count not supported by `enumerate_support`: give one "
                "total_count"
            )
        values = arange(1 + count, dtype=self._param.dtype)
        values = values.reshape((-1, *[1] * len(self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values


class NegativeBinomial(_Binary):
    """The number of successes before `total_count` failures."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer
    _others = ("total_count",)

    def __init__(
        self,
        total_count: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ):
        given = exactly_one("NegativeBinomial", probs=probs, logits=logits)
        value = probs if given == "probs" else logits
        self.total_count, self.__dict__[given] = broadcast_all(total_count, value)
        self.total_count = self.total_count.to(self.__dict__[given].dtype)
        self._param = self.__dict__[given]
        super().__init__(self._param.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        """n exp(logits)."""
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Any:
        """floor((n - 1) exp(logits)), not below 0."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        """mean / sigmoid(-logits)."""
        return self.mean / (-self.logits).sigmoid()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Poisson draws whose rates are gamma draws."""
        with no_grad():
            shape = self._extended_shape(sample_shape)
            rate = standard_gamma(self.total_count.expand(shape)) * self.logits.exp()
            return public("poisson")(rate)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability."""
        self._validate_sample(value)
        n = self.total_count
        tails = n * -softplus(self.logits) + value * -softplus(-self.logits)
        ways = -(n + value).lgamma() + (1.0 + value).lgamma() + n.lgamma()
        return tails - where(n + value == 0.0, 0.0, ways)


class Poisson(ExponentialFamily):
    """Events at a rate: rate ** k * exp(-rate) / k!."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(shape_of(rate, like=self.rate), (), validate_args)

    @property
    def mean(self) -> Any:
        """rate."""
        return self.rate

    @property
    def mode(self) -> Any:
        """floor(rate)."""
        return self.rate.floor()

    @property
    def variance(self) -> Any:
        """rate."""
        return self.rate

    def sample(self, sample_shape: Any = ()) -> Any:
        """Numbers of events."""
        with no_grad():
            return public("poisson")(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        """k log(rate) - rate - log(k!)."""
        self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return xlogy(value, rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple:
        return (self.rate.log(),)

    def _log_normalizer(self, x: Any) -> Any:
        return x.exp()


class ContinuousBernoulli(_Binary, ExponentialFamily):
    """A number of [0, 1] with density C(p) * p ** x * (1 - p) ** (1 - x)."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ):
        shape = self._take("ContinuousBernoulli", probs, logits)
        if probs is not None:
            eps = finfo(self.probs.dtype).eps
            if validate_args is not False and not bool(((probs >= 0) & (probs <= 1)).all()):
                raise ValueError("The parameter probs has invalid values")
            self.__dict__["probs"] = self.probs.clamp(min=eps, max=1 - eps)
            self._param = self.__dict__["probs"]
        self._lims = lims
        super().__init__(shape, (), validate_args)

    def _outside(self) -> Any:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut(self) -> Any:
        return where(self._outside(), self.probs, self._lims[0])

    def _log_constant(self) -> Any:
        p = self._cut()
        below, above = where(p <= 0.5, p, 0.0), where(p >= 0.5, p, 1.0)
        size = (((-p).log1p() - p.log()).abs()).log()
        width = where(p <= 0.5, (-2.0 * below).log1p(), (2.0 * above - 1.0).log())
        x = (self.probs - 0.5).pow(2)
        taylor = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return where(self._outside(), size - width, taylor)

    @property
    def mean(self) -> Any:
        """p / (2 p - 1) + 1 / (log(1 - p) - log(p)); 1/2 in the middle."""
        p = self._cut()
        found = p / (2.0 * p - 1.0) + 1.0 / ((-p).log1p() - p.log())
        x = self.probs - 0.5
        taylor = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x
        return where(self._outside(), found, taylor)

    @property
    def stddev(self) -> Any:
        """The square root of the variance."""
        return self.variance.sqrt()

    @property
    def variance(self) -> Any:
        """The variance; 1/12 in the middle."""
        p = self._cut()
        found = p * (p - 1.0) / (1.0 - 2.0 * p).pow(2) + 1.0 / ((-p).log1p() - p.log()).pow(2)
        x = (self.probs - 0.5).pow(2)
        taylor = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        return where(self._outside(), found, taylor)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """The inverse of the cdf at a uniform number."""
        return self.icdf(uniform(self._extended_shape(sample_shape), self.probs))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -_cross_entropy(logits, value, reduction="none") + self._log_constant()

    def cdf(self, value: Any) -> Any:
        """The probability of a smaller value."""
        self._validate_sample(value)
        p = self._cut()
        found = (p.pow(value) * (1.0 - p).pow(1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        inside = where(self._outside(), found, value)
        return where(value <= 0.0, 0.0, where(value >= 1.0, 1.0, inside))

    def icdf(self, value: Any) -> Any:
        """The value with a given probability below it."""
        p = self._cut()
        found = ((-p + value * (2.0 * p - 1.0)).log1p() - (-p).log1p()) / (p.log() - (-p).log1p())
        return where(self._outside(), found, value)

    def entropy(self) -> Any:
        """By the mean."""
        one, zero = self.probs.log(), (-self.probs).log1p()
        return self.mean * (zero - one) - self._log_constant() - zero

    @property
    def _natural_params(self) -> tuple:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:
        outside = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = where(outside, x, self._lims[0] - 0.5)
        found = (cut.exp() - 1).abs().log() - cut.abs().log()
        taylor = 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0
        return where(outside, found, taylor)
