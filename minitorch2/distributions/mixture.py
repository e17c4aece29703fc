"""Mixtures of distributions of one family.

In: a Categorical of weights and a distribution whose last batch dimension are the components. Out:
the mixture.

Source: torch.distributions.MixtureSameFamily.
"""

import copy
from typing import Any

from minitorch2.autograd.modes import no_grad
from minitorch2.distributions import constraints
from minitorch2.distributions.categorical import Categorical
from minitorch2.distributions.distribution import Distribution
from minitorch2.tensors import Size


class MixtureSameFamily(Distribution):
    """Component i with the mixture distribution's probability of i."""

    arg_constraints: Any = {}

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ):
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an instance of "
                "torch.distributions.Categorical"
            )
        weights, components = mixture_distribution.batch_shape, component_distribution.batch_shape
        for ours, theirs in zip(reversed(weights), reversed(components[:-1]), strict=False):
            if ours != 1 and theirs != 1 and ours != theirs:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({tuple(weights)}) is not compatible "
                    "with `component_distribution.batch_shape[:-1]` "
                    f"({tuple(components[:-1])})"
                )
        count = mixture_distribution.logits.shape[-1]
        if components[-1] != count:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({components[-1]})"
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        self._num_component = count
        events = component_distribution.event_shape
        self._event_ndims = len(events)
        super().__init__(components[:-1], events, validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Weights and components expanded."""
        made = copy.copy(self)
        made._component_distribution = self._component_distribution.expand(
            (*batch_shape, self._num_component)
        )
        made._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        made._batch_shape = Size(batch_shape)
        return made

    @property
    def mixture_distribution(self) -> Any:
        """The weights."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The components."""
        return self._component_distribution

    @property
    def support(self) -> Any:
        """The components'."""
        found = self._component_distribution.support
        if isinstance(found, constraints.independent):
            return constraints.independent(found.base_constraint, len(self.event_shape))
        return found

    def _weights(self) -> Any:
        probs = self._mixture_distribution.probs
        return probs.reshape((*probs.shape, *[1] * self._event_ndims))

    @property
    def mean(self) -> Any:
        """The weighted mean."""
        return (self._weights() * self._component_distribution.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self) -> Any:
        """The mean of the variances and the variance of the means."""
        weights, dim = self._weights(), -1 - self._event_ndims
        within = (weights * self._component_distribution.variance).sum(dim)
        gap = self._component_distribution.mean - self.mean.unsqueeze(dim)
        return within + (weights * gap.pow(2)).sum(dim)

    def _padded(self, x: Any) -> Any:
        return x.unsqueeze(-1 - self._event_ndims)

    def cdf(self, x: Any) -> Any:
        """The weighted probability."""
        below = self._component_distribution.cdf(self._padded(x))
        return (below * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Any) -> Any:
        """log(sum(weight * density))."""
        self._validate_sample(x)
        inside = self._component_distribution.log_prob(self._padded(x))
        weights = self._mixture_distribution.logits.log_softmax(-1)
        return (inside + weights).logsumexp(-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        """A component's sample, by weight."""
        with no_grad():
            dim = len(sample_shape) + len(self.batch_shape)
            chosen = self._mixture_distribution.sample(sample_shape)
            drawn = self._component_distribution.sample(sample_shape)
            ones = [1] * (self._event_ndims + 1)
            index = chosen.reshape((*chosen.shape, *ones))
            index = index.expand((*chosen.shape, 1, *self.event_shape))
            return drawn.gather(dim, index).squeeze(dim)

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
        )
