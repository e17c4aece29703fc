"""Categorical: one of several classes, by probabilities or by scores.

In: probs or logits [*, classes]. Out: samples are class numbers.

Source: torch.distributions.Categorical.
"""

from typing import Any

from minitorch2.distributions.distribution import Distribution, exactly_one
from minitorch2.dtypes import finfo, int64
from minitorch2.ops.table import lookup

_multinomial = lookup("multinomial").public


class Categorical(Distribution):
    """Class i with probability probs[..., i]; `logits` are unnormalized logarithms."""

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        exactly_one("Categorical", probs, logits)
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
            eps = finfo(probs.dtype).eps
            self.logits = self.probs.clamp(eps, 1 - eps).log()
        else:
            self.logits = logits - logits.logsumexp(-1, keepdim=True)
            self.probs = self.logits.softmax(-1)
        super().__init__(self.logits.shape[:-1])

    def sample(self, sample_shape: Any = ()) -> Any:
        """Class numbers of shape sample_shape + batch_shape."""
        count = 1
        for size in sample_shape:
            count *= size
        classes = self.probs.shape[-1]
        drawn = _multinomial(self.probs.detach().reshape(-1, classes), count, True)
        return drawn.t().reshape(self._extended(sample_shape))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the classes' probabilities."""
        index = value.to(int64).unsqueeze(-1)
        shape = list(lookup("add").public(index, self.logits[..., :1].detach() * 0).shape[:-1])
        logits = self.logits.expand([*shape, self.logits.shape[-1]])
        return logits.gather(-1, index.expand([*shape, 1])).squeeze(-1)

    def entropy(self) -> Any:
        """-sum(p * log(p)), where 0 * log(0) is 0."""
        least = finfo(self.logits.dtype).min
        return -(self.logits.clamp(min=least) * self.probs).sum(-1)

    @property
    def mode(self) -> Any:
        """The most probable class."""
        return self.probs.argmax(-1)
