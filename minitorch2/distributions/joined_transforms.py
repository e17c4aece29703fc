"""Transforms for the parts of a tensor, and the one that a distribution's cdf is.

In: a tensor whose slices along a dimension each have their own transform. Out: as in transforms.py.

    >>> from minitorch2 import tensor
    >>> from minitorch2.distributions import ExpTransform, identity_transform
    >>> StackTransform([ExpTransform(), identity_transform])(tensor([0.0, 3.0]))
    tensor([1., 3.])

Source: torch.distributions.transforms.
"""

import functools
import operator
from typing import Any

from minitorch2.distributions import constraints
from minitorch2.distributions.tools import cat, stack, sum_rightmost
from minitorch2.distributions.transforms import Transform


class CatTransform(Transform):
    """Several transforms, each for a part of the values along a dimension."""

    def __init__(self, tseq: Any, dim: int = 0, lengths: Any = None, cache_size: int = 0):
        super().__init__(cache_size)
        self.transforms = [each.with_cache(cache_size) for each in tseq]
        self.dim = dim
        self.lengths = list(lengths) if lengths is not None else [1] * len(self.transforms)

    @property
    def length(self) -> int:
        """The number of values along the dimension."""
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another cache size."""
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, value: Any) -> list[Any]:
        return list(value.split(self.lengths, self.dim))

    def _call(self, x: Any) -> Any:
        pairs = zip(self.transforms, self._parts(x), strict=True)
        return cat([each(part) for each, part in pairs], self.dim)

    def _inverse(self, y: Any) -> Any:
        pairs = zip(self.transforms, self._parts(y), strict=True)
        return cat([each.inv(part) for each, part in pairs], self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Each part's, along the dimension (or summed, where it belongs to the event)."""
        return _joined_jacobian(self, cat, self._parts(x), self._parts(y))

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """Each part's."""
        parts = [each.domain for each in self.transforms]
        return constraints.cat_constraint(parts, self.dim, self.lengths)

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        """Each part's."""
        parts = [each.codomain for each in self.transforms]
        return constraints.cat_constraint(parts, self.dim, self.lengths)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """Whether all are."""
        return all(each.bijective for each in self.transforms)


def _joined_jacobian(self: Any, join: Any, xs: list[Any], ys: list[Any]) -> Any:
    event_dim = max(each.domain.event_dim for each in self.transforms)
    terms = []
    for each, x, y in zip(self.transforms, xs, ys, strict=True):
        term = each.log_abs_det_jacobian(x, y)
        terms.append(sum_rightmost(term, event_dim - each.domain.event_dim))
    dim = self.dim if self.dim < 0 else self.dim - xs[0].dim()
    dim += event_dim
    return join(terms, dim) if dim < 0 else functools.reduce(operator.add, terms)


class StackTransform(Transform):
    """Several transforms, each for one index of a dimension."""

    def __init__(self, tseq: Any, dim: int = 0, cache_size: int = 0):
        super().__init__(cache_size)
        self.transforms = [each.with_cache(cache_size) for each in tseq]
        self.dim = dim

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another cache size."""
        if self._cache_size == cache_size:
            return self
        return StackTransform(self.transforms, self.dim, cache_size)

    def _parts(self, value: Any) -> list[Any]:
        return [value.select(self.dim, at) for at in range(value.size(self.dim))]

    def _call(self, x: Any) -> Any:
        pairs = zip(self.transforms, self._parts(x), strict=True)
        return stack([each(part) for each, part in pairs], self.dim)

    def _inverse(self, y: Any) -> Any:
        pairs = zip(self.transforms, self._parts(y), strict=True)
        return stack([each.inv(part) for each, part in pairs], self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Each index's, stacked."""
        trios = zip(self.transforms, self._parts(x), self._parts(y), strict=True)
        return stack([each.log_abs_det_jacobian(a, b) for each, a, b in trios], self.dim)

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """Each index's."""
        return constraints.stack_constraint([each.domain for each in self.transforms], self.dim)

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        """Each index's."""
        return constraints.stack_constraint([each.codomain for each in self.transforms], self.dim)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """Whether all are."""
        return all(each.bijective for each in self.transforms)


class CumulativeDistributionTransform(Transform):
    """y = cdf(x): from a distribution's numbers to the unit interval."""

    bijective, codomain, sign = True, constraints.unit_interval, 1

    def __init__(self, distribution: Any, cache_size: int = 0):
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """The distribution's support."""
        return self.distribution.support

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another cache size."""
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size)

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of the density."""
        return self.distribution.log_prob(x)
