"""Transforms of vectors and matrices, and transforms made of others.

In: tensors whose last dimensions are one value. Out: as in transforms.py.

    >>> from minitorch2 import zeros
    >>> StickBreakingTransform()(zeros(2))
    tensor([0.3333, 0.3333, 0.3333])

Source: torch.distributions.transforms; the stick-breaking and correlation transforms of the Stan
reference manual.
"""

import functools
import math
import operator
from typing import Any

from minitorch2.distributions import constraints
from minitorch2.distributions.tools import (
    eye,
    matmul,
    ones_like,
    padded_last,
    softplus,
    sum_rightmost,
)
from minitorch2.distributions.transforms import Transform, _Plain
from minitorch2.dtypes import finfo


class ComposeTransform(Transform):
    """One transform after the other, the first one first."""

    def __init__(self, parts: Any, cache_size: int = 0):
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(tuple(self.parts))

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """The first part's, with the dimensions that later parts need."""
        if not self.parts:
            return constraints.real
        domain = self.parts[0].domain
        event_dim = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            event_dim += part.domain.event_dim - part.codomain.event_dim
            event_dim = max(event_dim, part.domain.event_dim)
        if event_dim > domain.event_dim:
            return constraints.independent(domain, event_dim - domain.event_dim)
        return domain

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        """The last part's, with the dimensions that earlier parts need."""
        if not self.parts:
            return constraints.real
        codomain = self.parts[-1].codomain
        event_dim = self.parts[0].domain.event_dim
        for part in self.parts:
            event_dim += part.codomain.event_dim - part.domain.event_dim
            event_dim = max(event_dim, part.codomain.event_dim)
        if event_dim > codomain.event_dim:
            return constraints.independent(codomain, event_dim - codomain.event_dim)
        return codomain

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """Whether all parts are."""
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Any:
        """The product of the parts' signs."""
        return functools.reduce(operator.mul, (part.sign for part in self.parts), 1)

    @property
    def inv(self) -> Any:
        """The inverses in the opposite order."""
        return ComposeTransform([part.inv for part in reversed(self.parts)])

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another cache size."""
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size)

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y: Any) -> Any:
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The sum of the parts' logarithms."""
        if not self.parts:
            return x * 0
        points = [x]
        for part in self.parts[:-1]:
            points.append(part(points[-1]))
        points.append(y)
        terms, event_dim = [], self.domain.event_dim
        for part, before, after in zip(self.parts, points[:-1], points[1:], strict=True):
            term = part.log_abs_det_jacobian(before, after)
            terms.append(sum_rightmost(term, event_dim - part.domain.event_dim))
            event_dim += part.codomain.event_dim - part.domain.event_dim
        return functools.reduce(operator.add, terms)

    def forward_shape(self, shape: Any) -> Any:
        """Through all parts."""
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """Back through all parts."""
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        inside = ",\n    ".join(repr(part) for part in self.parts)
        return f"{type(self).__name__}(\n    {inside}\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose last batch dimensions count as one value."""

    def __init__(self, base_transform: Any, reinterpreted_batch_ndims: int, cache_size: int = 0):
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another cache size."""
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size)

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """The base's, with more dimensions."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        """The base's, with more dimensions."""
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """As the base."""
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        """As the base."""
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The base's, summed over the added dimensions."""
        found = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_rightmost(found, self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Any:
        """As the base."""
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        """As the base."""
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        name, ndims = type(self).__name__, self.reinterpreted_batch_ndims
        return f"{name}({self.base_transform!r}, {ndims})"


class ReshapeTransform(Transform):
    """The last dimensions in another shape."""

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0):
        self.in_shape, self.out_shape = tuple(in_shape), tuple(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size)

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """Arrays of in_shape's rank."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        """Arrays of out_shape's rank."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another cache size."""
        if self._cache_size == cache_size:
            return self
        return ReshapeTransform(self.in_shape, self.out_shape, cache_size)

    def _call(self, x: Any) -> Any:
        return x.reshape((*x.shape[: x.dim() - len(self.in_shape)], *self.out_shape))

    def _inverse(self, y: Any) -> Any:
        return y.reshape((*y.shape[: y.dim() - len(self.out_shape)], *self.in_shape))

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """0 for each value."""
        return sum_rightmost(x * 0, len(self.in_shape))

    def forward_shape(self, shape: Any) -> Any:
        """out_shape in place of in_shape."""
        return self._exchanged(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        """in_shape in place of out_shape."""
        return self._exchanged(shape, self.out_shape, self.in_shape)

    @staticmethod
    def _exchanged(shape: Any, old: tuple, new: tuple) -> tuple:
        kept = len(shape) - len(old)
        if kept < 0 or tuple(shape[kept:]) != old:
            raise ValueError(
                f"Shape mismatch: expected {tuple(shape)[max(kept, 0) :]} but got {old}"
            )
        return (*shape[:kept], *new)


class SoftmaxTransform(_Plain):
    """From numbers to probabilities; not invertible, the inverse is the logarithm."""

    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x: Any) -> Any:
        probs = (x - x.max(-1, True)[0]).exp()
        return probs / probs.sum(-1, True)

    def _inverse(self, y: Any) -> Any:
        return y.log()


class StickBreakingTransform(_Plain):
    """From n numbers to n + 1 probabilities: each takes its share of what is left of a stick."""

    domain, codomain, bijective = constraints.real_vector, constraints.simplex, True

    def _offsets(self, x: Any) -> Any:
        return x.shape[-1] + 1 - ones_like(x).cumsum(-1)

    def _call(self, x: Any) -> Any:
        share = _clamped(x - self._offsets(x).log())
        left = (1 - share).cumprod(-1)
        return padded_last(share, 0, 1, 1.0) * padded_last(left, 1, 0, 1.0)

    def _inverse(self, y: Any) -> Any:
        before = y[..., :-1]
        left = (1 - before.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return before.log() - left.log() + self._offsets(before).log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The sum of the logarithms of share and stick left."""
        x = x - self._offsets(x).log()
        return (-x - softplus(-x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        """One more at the end."""
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Any) -> Any:
        """One less at the end."""
        return (*shape[:-1], shape[-1] - 1)


def _clamped(x: Any) -> Any:
    limits = finfo(x.dtype)
    return x.sigmoid().clamp(min=limits.tiny, max=1.0 - limits.eps)


class LowerCholeskyTransform(_Plain):
    """From square matrices to lower triangular ones with a positive diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_Plain):
    """From square matrices to positive definite ones: L L^T of LowerCholeskyTransform's L."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        lower = LowerCholeskyTransform()(x)
        return matmul(lower, lower.mT)

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(y.cholesky())


class CorrCholeskyTransform(_Plain):
    """From n (n - 1) / 2 numbers to the Cholesky factor of a correlation matrix of size n."""

    domain, codomain, bijective = constraints.real_vector, constraints.corr_cholesky, True

    def _call(self, x: Any) -> Any:
        x = x.tanh()
        eps = finfo(x.dtype).eps
        partial = _lower(x.clamp(min=-1 + eps, max=1 - eps), -1)
        left = (1 - partial.square()).sqrt().cumprod(-1)
        partial = partial + eye(partial.shape[-1], dtype=partial.dtype)
        return partial * padded_last(left[..., :-1], 1, 0, 1.0)

    def _inverse(self, y: Any) -> Any:
        left = 1 - (y * y).cumsum(-1)
        shifted = padded_last(left[..., :-1], 1, 0, 1.0)
        below, left_below = _vector(y, -1), _vector(shifted, -1)
        ratio = below / left_below.sqrt()
        return (ratio.log1p() - (-ratio).log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any, intermediates: Any = None) -> Any:
        """The logarithm of the rows' lengths left, and of tanh's slope."""
        left = 1 - (y * y).cumsum(-1)
        scale = 0.5 * _vector(left, -2).log().sum(-1)
        return scale - 2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        """(n, n) in place of n (n - 1) / 2."""
        count = shape[-1]
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return (*shape[:-1], size, size)

    def inverse_shape(self, shape: Any) -> Any:
        """n (n - 1) / 2 in place of (n, n)."""
        if len(shape) < 2 or shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return (*shape[:-2], shape[-1] * (shape[-1] - 1) // 2)


def _positions(size: int, diagonal: int) -> list[int]:
    """The places, in a flattened matrix, of the elements on and below a diagonal."""
    return [
        row * size + column
        for row in range(size)
        for column in range(min(row + diagonal + 1, size))
    ]


def _lower(vector: Any, diagonal: int) -> Any:
    """A square matrix with a vector's elements below (or on) its diagonal."""
    size = round((2 * vector.shape[-1] + 0.25) ** 0.5 - 0.5) - diagonal
    matrix = vector.new_zeros((*vector.shape[:-1], size * size))
    index = vector.new_tensor(_positions(size, diagonal)).long()
    placed = matrix.index_add(-1, index, vector)
    return placed.reshape((*vector.shape[:-1], size, size))


def _vector(matrix: Any, diagonal: int) -> Any:
    """The elements on and below a diagonal, row by row."""
    size = matrix.shape[-1]
    index = matrix.new_tensor(_positions(size, diagonal)).long()
    return matrix.reshape((*matrix.shape[:-2], size * size)).index_select(-1, index)
