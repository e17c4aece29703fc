"""Relaxed classes: differentiable samples that approach 0 and 1 as the temperature falls.

In: a temperature and probs or logits. Out: numbers of (0, 1), or points of the simplex.

    >>> from minitorch2 import tensor
    >>> RelaxedBernoulli(tensor(0.5), tensor([0.3])).rsample().shape
    torch.Size([1])

Source: Maddison, Mnih, Teh, "The concrete distribution" (2017); torch.distributions.
"""

import math
from typing import Any

from minitorch2.distributions import constraints
from minitorch2.distributions.bernoulli import _Binary
from minitorch2.distributions.categorical import Categorical, OfClasses
from minitorch2.distributions.tools import broadcast_all, clamp_probs, full_like, uniform
from minitorch2.distributions.transformed import TransformedDistribution
from minitorch2.distributions.transforms import ExpTransform, SigmoidTransform


class LogitRelaxedBernoulli(_Binary):
    """The logit of a relaxed Bernoulli number."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ):
        self.temperature = temperature
        shape = self._take("LogitRelaxedBernoulli", probs, logits)
        super().__init__(shape, (), validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """(logit of a uniform number + logits) / temperature."""
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(uniform(shape, probs))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        gap = logits - value * self.temperature
        temperature = self.temperature
        log = temperature.log() if hasattr(temperature, "log") else math.log(temperature)
        return log + gap - 2 * gap.exp().log1p()


class _Relaxed(TransformedDistribution):
    """The parameters are the base's."""

    has_rsample = True

    @property
    def temperature(self) -> Any:
        """The base's."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """The base's."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """The base's."""
        return self.base_dist.probs


class RelaxedBernoulli(_Relaxed):
    """A number of (0, 1), near 0 or 1 at low temperatures."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ):
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args)


class ExpRelaxedCategorical(OfClasses):
    """The logarithm of a relaxed one-hot vector."""

    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ):
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        events = self._categorical.param_shape[-1:]
        super().__init__(self._categorical.batch_shape, events, validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """log_softmax((logits + gumbel noise) / temperature)."""
        u = clamp_probs(uniform(self._extended_shape(sample_shape), self.logits))
        scores = (self.logits - (-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(-1, keepdim=True)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        count = self._categorical._num_events
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        temperature = full_like(self.logits, 1.0)[..., 0] * self.temperature
        scale = full_like(temperature, float(count)).lgamma() - temperature.log() * -(count - 1)
        score = logits - value * self.temperature
        return (score - score.logsumexp(-1, keepdim=True)).sum(-1) + scale


class RelaxedOneHotCategorical(_Relaxed):
    """A point of the simplex, near a corner at low temperatures."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ):
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args)
