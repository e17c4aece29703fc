"""Bernoulli: 1 with a probability, else 0.

In: probs, or logits (their sigmoid is the probability). Out: samples 0.0 and 1.0.

Source: torch.distributions.Bernoulli.
"""

from typing import Any

from minitorch2.creation import rand
from minitorch2.distributions.distribution import Distribution, as_tensors, exactly_one
from minitorch2.dtypes import finfo
from minitorch2.ops.table import lookup

_cross_entropy = lookup("binary_cross_entropy_with_logits").public


class Bernoulli(Distribution):
    """1 with probability `probs`, or with probability sigmoid(logits)."""

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        exactly_one("Bernoulli", probs, logits)
        if probs is not None:
            (self.probs,) = as_tensors(probs)
            eps = finfo(self.probs.dtype).eps
            limited = self.probs.clamp(eps, 1 - eps)
            self.logits = limited.log() - (-limited).log1p()
        else:
            (self.logits,) = as_tensors(logits)
            self.probs = self.logits.sigmoid()
        super().__init__(self.logits.shape)

    @property
    def mean(self) -> Any:
        """The probability of 1."""
        return self.probs

    def sample(self, sample_shape: Any = ()) -> Any:
        """Zeros and ones."""
        shape = self._extended(sample_shape)
        return (rand(*shape, dtype=self.probs.dtype) < self.probs.detach()).to(self.probs.dtype)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability of 0s and 1s."""
        logits, value = as_tensors(self.logits, value)
        return -_cross_entropy(logits, value, reduction="none")

    def entropy(self) -> Any:
        """The mean of -log_prob."""
        return _cross_entropy(self.logits, self.probs, reduction="none")
