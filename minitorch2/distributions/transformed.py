"""Distributions made of others: transformed outcomes, batches as one outcome, mixtures.

In: a distribution. Out: another one.

    >>> from minitorch2 import ones, zeros
    >>> from minitorch2.distributions import Normal
    >>> Independent(Normal(zeros(2, 3), ones(3)), 1).log_prob(zeros(2, 3)).shape
    torch.Size([2])

Source: torch.distributions.
"""

import copy
from typing import Any

from minitorch2.autograd.modes import no_grad
from minitorch2.distributions import constraints
from minitorch2.distributions.distribution import Distribution
from minitorch2.distributions.tools import sum_rightmost
from minitorch2.distributions.transforms import Transform
from minitorch2.distributions.vector_transforms import ComposeTransform
from minitorch2.tensors import Size


class Independent(Distribution):
    """The last `reinterpreted_batch_ndims` batch dimensions belong to the outcome."""

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ):
        if reinterpreted_batch_ndims > len(base_distribution.batch_shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(base_distribution.batch_shape)}"
            )
        shape = (*base_distribution.batch_shape, *base_distribution.event_shape)
        events = reinterpreted_batch_ndims + len(base_distribution.event_shape)
        self.base_dist: Any = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(shape[: len(shape) - events], shape[len(shape) - events :], validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The base expanded, with the same dimensions in the outcome."""
        own = self.event_shape[: self.reinterpreted_batch_ndims]
        base = self.base_dist.expand((*batch_shape, *own))
        made = copy.copy(self)
        made.base_dist, made._batch_shape = base, Size(batch_shape)
        return made

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """As the base."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        """Only where no dimension was moved."""
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @property
    def support(self) -> Any:
        """The base's, for whole outcomes."""
        found = self.base_dist.support
        if self.reinterpreted_batch_ndims:
            found = constraints.independent(found, self.reinterpreted_batch_ndims)
        return found

    @property
    def mean(self) -> Any:
        """The base's."""
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        """The base's."""
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        """The base's."""
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Any:
        """The base's."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """The base's."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        """The base's, summed over the moved dimensions."""
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        """The base's, summed over the moved dimensions."""
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Any:
        """The base's."""
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError(
                "Enumeration over cartesian product is not implemented: enumerate the base"
            )
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist!r}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """Outcomes of a base distribution, put through transforms, the first one first."""

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None):
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all(isinstance(each, Transform) for each in self.transforms):
            raise ValueError(f"transforms must be a Transform or a list, but was {transforms}")
        base_shape = Size((*base_distribution.batch_shape, *base_distribution.event_shape))
        base_events = len(base_distribution.event_shape)
        whole = ComposeTransform(self.transforms)
        if len(base_shape) < whole.domain.event_dim:
            raise ValueError(
                "base_distribution needs to have shape with size at least "
                f"{whole.domain.event_dim}, but got {base_shape}."
            )
        forward = whole.forward_shape(base_shape)
        expanded = whole.inverse_shape(forward)
        if tuple(base_shape) != tuple(expanded):
            kept = len(expanded) - base_events
            base_distribution = base_distribution.expand(expanded[:kept])
        moved = whole.domain.event_dim - base_events
        moves = moved > 0
        self.base_dist: Any = Independent(base_distribution, moved) if moves else base_distribution
        change = whole.codomain.event_dim - whole.domain.event_dim
        events = max(whole.codomain.event_dim, base_events + change)
        cut = len(forward) - events
        super().__init__(forward[:cut], forward[cut:], validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The base expanded, with the same transforms."""
        made = copy.copy(self)
        shape = (*batch_shape, *self.event_shape)
        for each in reversed(self.transforms):
            shape = each.inverse_shape(shape)
        kept = len(shape) - len(self.base_dist.event_shape)
        made.base_dist = self.base_dist.expand(shape[:kept])
        made._batch_shape = Size(batch_shape)
        return made

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """As the base."""
        return self.base_dist.has_rsample

    @property
    def support(self) -> Any:
        """The last transform's codomain."""
        if not self.transforms:
            return self.base_dist.support
        found, events = self.transforms[-1].codomain, len(self.event_shape)
        if events > found.event_dim:
            found = constraints.independent(found, events - found.event_dim)
        return found

    def sample(self, sample_shape: Any = ()) -> Any:
        """The base's samples, transformed."""
        with no_grad():
            x = self.base_dist.sample(sample_shape)
            for each in self.transforms:
                x = each(x)
            return x

    def rsample(self, sample_shape: Any = ()) -> Any:
        """The base's samples, transformed."""
        x = self.base_dist.rsample(sample_shape)
        for each in self.transforms:
            x = each(x)
        return x

    def log_prob(self, value: Any) -> Any:
        """The base's at the inverse, less the change of volume."""
        self._validate_sample(value)
        events, found, y = len(self.event_shape), 0.0, value
        for each in reversed(self.transforms):
            x = each.inv(y)
            events += each.domain.event_dim - each.codomain.event_dim
            change = each.log_abs_det_jacobian(x, y)
            found = found - sum_rightmost(change, events - each.domain.event_dim)
            y = x
        base = self.base_dist.log_prob(y)
        return found + sum_rightmost(base, events - len(self.base_dist.event_shape))

    def _monotone(self, value: Any) -> Any:
        """Where the transforms decrease, a probability counts from the other side."""
        sign: Any = 1
        for each in self.transforms:
            sign = sign * each.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value: Any) -> Any:
        """The base's at the inverse."""
        for each in reversed(self.transforms):
            value = each.inv(value)
        self.base_dist._validate_sample(value)
        return self._monotone(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        """The base's, transformed."""
        value = self.base_dist.icdf(self._monotone(value))
        for each in self.transforms:
            value = each(value)
        return value
