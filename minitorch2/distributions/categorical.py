"""One of several classes, and counts of them: Categorical, OneHotCategorical, Multinomial.

In: probs or logits [*, classes]. Out: samples are class numbers, one-hot vectors or counts.

    >>> from minitorch2 import tensor
    >>> Categorical(tensor([1.0, 3.0])).log_prob(tensor(0))
    tensor(-1.3863)

Source: torch.distributions.
"""

from typing import Any

from minitorch2.autograd.modes import no_grad
from minitorch2.distributions import constraints
from minitorch2.distributions.distribution import Distribution, exactly_one
from minitorch2.distributions.tools import (
    arange,
    broadcast_tensors,
    clamp_probs,
    eye,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
    where,
)
from minitorch2.dtypes import finfo, int64
from minitorch2.public import public
from minitorch2.tensors import Size


class Categorical(Distribution):
    """Class i with probability probs[..., i]; `logits` are unnormalized logarithms."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        given = exactly_one("Categorical", probs=probs, logits=logits)
        value = probs if given == "probs" else logits
        if value.dim() < 1:
            raise ValueError(f"`{given}` parameter must be at least one-dimensional.")
        if given == "probs":
            self.__dict__["probs"] = probs / probs.sum(-1, keepdim=True)
        else:
            self.__dict__["logits"] = logits - logits.logsumexp(-1, keepdim=True)
        self._param = self.__dict__[given]
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.shape[:-1], (), validate_args)

    @lazy_property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits)

    def _given(self) -> list[str]:
        return ["probs" if self.__dict__.get("probs") is self._param else "logits"]

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same with expanded parameters."""
        made = super().expand(batch_shape)
        made._param = made.__dict__[self._given()[0]]
        return made

    @property
    def support(self) -> Any:
        """0 to classes - 1."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter given."""
        return self._param.size()

    @property
    def mean(self) -> Any:
        """nan: class numbers have no mean."""
        return self.probs[..., 0].detach() * float("nan")

    @property
    def mode(self) -> Any:
        """The most probable class."""
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Any:
        """nan: class numbers have no variance."""
        return self.probs[..., 0].detach() * float("nan")

    def sample(self, sample_shape: Any = ()) -> Any:
        """Class numbers of shape sample_shape + batch_shape."""
        with no_grad():
            shape = Size(sample_shape)
            classes = self.probs.detach().reshape(-1, self._num_events)
            drawn = public("multinomial")(classes, shape.numel(), True)
            return drawn.t().reshape(self._extended_shape(shape))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the classes' probabilities."""
        self._validate_sample(value)
        index = value.to(int64).unsqueeze(-1)
        shape = broadcast_tensors(index, self.logits[..., :1].detach())[0].shape[:-1]
        logits = self.logits.expand((*shape, self._num_events))
        return logits.gather(-1, index.expand((*shape, 1))).squeeze(-1)

    def entropy(self) -> Any:
        """-sum(p * log(p)), where 0 * log(0) is 0."""
        least = finfo(self.logits.dtype).min
        return -(self.logits.clamp(min=least) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        """All classes."""
        values = arange(self._num_events).reshape((-1, *[1] * len(self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values


class OfClasses(Distribution):
    """Over vectors with a place for each class: the probabilities are a Categorical's."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _categorical: Categorical

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same with expanded parameters."""
        made = super().expand(batch_shape)
        made._categorical = self._categorical.expand(batch_shape)
        return made

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """Their logarithms."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter given."""
        return self._categorical.param_shape


class OneHotCategorical(OfClasses):
    """A class as a vector with a 1 at its place."""

    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        self._categorical = Categorical(probs, logits)
        events = self._categorical.param_shape[-1:]
        super().__init__(self._categorical.batch_shape, events, validate_args)

    @property
    def _param(self) -> Any:
        return self._categorical._param

    @property
    def mean(self) -> Any:
        """The probabilities."""
        return self.probs

    @property
    def mode(self) -> Any:
        """The most probable class's vector."""
        return self._one_hot(self.probs.argmax(-1))

    @property
    def variance(self) -> Any:
        """p (1 - p)."""
        return self.probs * (1 - self.probs)

    def _one_hot(self, classes: Any) -> Any:
        return eye(self._event_shape[0], dtype=self._param.dtype)[classes]

    def sample(self, sample_shape: Any = ()) -> Any:
        """One-hot vectors."""
        with no_grad():
            return self._one_hot(self._categorical.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the class's probability."""
        self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Any:
        """The classes'."""
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        """The vectors of all classes."""
        count = self._event_shape[0]
        values = eye(count, dtype=self._param.dtype)
        values = values.reshape((count, *[1] * len(self._batch_shape), count))
        return values.expand((count, *self._batch_shape, count)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """Samples are one-hot; gradients pass to the probabilities as if they were the sample."""

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Any:
        """A sample, whose gradient reaches `probs` unchanged."""
        probs = self._categorical.probs
        return self.sample(sample_shape) + (probs - probs.detach())


class Multinomial(OfClasses):
    """How often each class comes in `total_count` draws."""

    def __init__(
        self,
        total_count: int = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported: give one int")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        events = self._categorical.param_shape[-1:]
        super().__init__(self._categorical.batch_shape, events, validate_args)

    @property
    def support(self) -> Any:
        """Counts that sum to total_count."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Any:
        """n p."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        """n p (1 - p)."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Counts."""
        with no_grad():
            drawn = self._categorical.sample((self.total_count, *sample_shape))
            count, dtype = self._event_shape[0], self.probs.dtype
            return eye(count, dtype=dtype)[drawn].sum(0)

    def log_prob(self, value: Any) -> Any:
        """log(n! / prod(k!)) + sum(k * log(p))."""
        self._validate_sample(value)
        logits, value = broadcast_tensors(self.logits, value)
        ways = (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
        impossible = (value == 0) & (logits == float("-inf"))
        return ways + (where(impossible, 0.0, logits) * value).sum(-1)

    def entropy(self) -> Any:
        """By the binomial distribution of each class."""
        n, probs = float(self.total_count), clamp_probs(self.probs)
        k = arange(self.total_count + 1, dtype=probs.dtype)
        k = k.reshape((-1, *[1] * probs.dim()))
        ways = (probs.new_tensor(n) + 1).lgamma() - (k + 1).lgamma() - (n - k + 1).lgamma()
        chance = (ways + k * probs.log() + (n - k) * (-probs).log1p()).exp()
        spread = (chance * (k + 1).lgamma()).sum(0).sum(-1)
        return n * self._categorical.entropy() - (probs.new_tensor(n) + 1).lgamma() + spread
