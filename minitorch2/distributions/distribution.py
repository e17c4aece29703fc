"""What all distributions have: a batch of parameters, samples, log-probabilities.

In: parameters that broadcast. Out: samples of shape sample_shape + batch_shape.

Source: torch.distributions.
"""

from typing import Any

from minitorch2.autograd.modes import no_grad
from minitorch2.creation import tensor
from minitorch2.functions import broadcast_tensors
from minitorch2.tensors import Size, Tensor


class Distribution:
    """The base: `batch_shape` is the shape of the parameters."""

    def __init__(self, batch_shape: Any = ()):
        self._batch_shape = Size(batch_shape)

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one outcome: a number."""
        return Size(())

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the parameters."""
        raise NotImplementedError(f"{type(self).__name__} has no rsample")

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw, without gradients."""
        with no_grad():
            return self.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability (or density) of values."""
        raise NotImplementedError(f"{type(self).__name__} has no log_prob")

    def entropy(self) -> Any:
        """The mean of -log_prob."""
        raise NotImplementedError(f"{type(self).__name__} has no entropy")

    def _extended(self, sample_shape: Any) -> tuple[int, ...]:
        return (*sample_shape, *self._batch_shape)


def as_tensors(*values: Any) -> tuple:
    """Numbers and tensors as tensors of one shape."""
    return broadcast_tensors(*[v if isinstance(v, Tensor) else tensor(float(v)) for v in values])


def exactly_one(name: str, first: Any, second: Any) -> None:
    """ValueError unless one of two parameters is given."""
    if (first is None) == (second is None):
        raise ValueError(f"{name}: Either `probs` or `logits` must be specified, but not both.")
