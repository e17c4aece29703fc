"""Normal: by mean and standard deviation.

In: loc and scale. Out: samples loc + scale * noise.

Source: torch.distributions.Normal.
"""

import math
from typing import Any

from minitorch2.creation import randn
from minitorch2.distributions.distribution import Distribution, as_tensors


class Normal(Distribution):
    """Density exp(-((x - loc) / scale) ** 2 / 2) / (scale * sqrt(2 * pi))."""

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        self.loc, self.scale = as_tensors(loc, scale)
        super().__init__(self.loc.shape)

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
        return self.scale * self.scale

    def rsample(self, sample_shape: Any = ()) -> Any:
        """loc + scale * noise: gradients reach both."""
        shape = self._extended(sample_shape)
        return self.loc + self.scale * randn(*shape, dtype=self.loc.dtype)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        gap = (value - self.loc) / self.scale
        return -(gap * gap) / 2 - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def entropy(self) -> Any:
        """1/2 + log(scale * sqrt(2 * pi))."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()

    def cdf(self, value: Any) -> Any:
        """The probability of a smaller value."""
        return (((value - self.loc) / (self.scale * math.sqrt(2))).erf() + 1) * 0.5
