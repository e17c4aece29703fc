"""Transforms: invertible functions whose change of volume is known.

In: a tensor x. Out: y = t(x), x = t.inv(y), and log |dy/dx|. A transform of `domain.event_dim`
dimensions sums the logarithm over them.

    >>> from minitorch2 import tensor
    >>> t = AffineTransform(loc=1.0, scale=2.0)
    >>> x = tensor([0.0, 3.0])
    >>> t(x), t.inv(tensor([7.0])), t.log_abs_det_jacobian(x, t(x))
    (tensor([1., 7.]), tensor([3.]), tensor([0.6931, 0.6931]))

Source: torch.distributions.transforms.
"""

import math
import weakref
from typing import Any

from minitorch2.distributions import constraints
from minitorch2.distributions.constraints import Constraint
from minitorch2.distributions.tools import full_like, softplus, tensor
from minitorch2.dtypes import finfo
from minitorch2.layouts import broadcast_shapes
from minitorch2.tensors import Tensor


class Transform:
    """The base: `domain` and `codomain` say between which sets it maps.

    `sign` is 1 or -1 for transforms of numbers that increase or decrease. With `cache_size=1` the
    last pair (x, y) is kept, so that inv(t(x)) is exactly x.
    """

    bijective = False
    domain: Constraint
    codomain: Constraint

    def __init__(self, cache_size: int = 0):
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._inv: Any = None
        self._cached: tuple[Any, Any] = (None, None)

    @property
    def event_dim(self) -> int:
        """The dimensions of one value, where both sides have the same."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Any:
        """The inverse transform."""
        found = self._inv() if self._inv is not None else None
        if found is None:
            found = _InverseTransform(self)
            self._inv = weakref.ref(found)
        return found

    @property
    def sign(self) -> Any:
        """1 if it increases, -1 if it decreases."""
        raise NotImplementedError(f"{type(self).__name__} has no sign")

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another cache size."""
        if self._cache_size == cache_size:
            return self
        raise NotImplementedError(f"{type(self)}.with_cache is not implemented")

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return id(self)

    def __call__(self, x: Any) -> Any:
        if self._cache_size == 0:
            return self._call(x)
        if x is self._cached[0]:
            return self._cached[1]
        y = self._call(x)
        self._cached = x, y
        return y

    def _inv_call(self, y: Any) -> Any:
        if self._cache_size == 0:
            return self._inverse(y)
        if y is self._cached[1]:
            return self._cached[0]
        x = self._inverse(y)
        self._cached = x, y
        return x

    def _call(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no inverse")

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |dy/dx| at x, where y = t(x)."""
        raise NotImplementedError(f"{type(self).__name__} has no log_abs_det_jacobian")

    def forward_shape(self, shape: Any) -> Any:
        """The shape of t(x) for an x of a shape."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of x for a t(x) of a shape."""
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _InverseTransform(Transform):
    """The inverse of a transform, as a transform."""

    def __init__(self, transform: Transform):
        super().__init__(cache_size=transform._cache_size)
        self._forward = transform

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """The codomain of the other."""
        return self._forward.codomain

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        """The domain of the other."""
        return self._forward.domain

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """As the other."""
        return self._forward.bijective

    @property
    def sign(self) -> Any:
        """As the other."""
        return self._forward.sign

    @property
    def inv(self) -> Any:
        """The other."""
        return self._forward

    def with_cache(self, cache_size: int = 1) -> Any:
        """The inverse of the other with that cache."""
        return self._forward.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._forward == other._forward

    def __hash__(self) -> int:
        return hash(("inverse", self._forward))

    def __call__(self, x: Any) -> Any:
        return self._forward._inv_call(x)

    def _inv_call(self, y: Any) -> Any:
        return self._forward(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Minus the other's."""
        return -self._forward.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        """The other's inverse shape."""
        return self._forward.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        """The other's forward shape."""
        return self._forward.forward_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._forward!r})"


class _Plain(Transform):
    """Without parameters: two of one class are equal."""

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another cache size."""
        return self if self._cache_size == cache_size else type(self)(cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))


class ExpTransform(_Plain):
    """y = exp(x)."""

    domain, codomain, bijective = constraints.real, constraints.positive, True
    sign = 1

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """x."""
        return x


class PowerTransform(Transform):
    """y = x ** exponent, for positive x."""

    domain, codomain, bijective = constraints.positive, constraints.positive, True

    def __init__(self, exponent: Any, cache_size: int = 0):
        super().__init__(cache_size)
        self.exponent = exponent if isinstance(exponent, Tensor) else tensor(float(exponent))

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another cache size."""
        return self if self._cache_size == cache_size else PowerTransform(self.exponent, cache_size)

    @property
    def sign(self) -> Any:
        """The exponent's sign."""
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and _same(self.exponent, other.exponent)

    def __hash__(self) -> int:
        return hash(PowerTransform)

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |exponent * y / x|."""
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        """Broadcast with the exponent's shape."""
        return broadcast_shapes(shape, getattr(self.exponent, "shape", ()))

    inverse_shape = forward_shape


class SigmoidTransform(_Plain):
    """y = 1 / (1 + exp(-x)); inverse: the logit."""

    domain, codomain, bijective = constraints.real, constraints.unit_interval, True
    sign = 1

    def _call(self, x: Any) -> Any:
        limits = finfo(x.dtype)
        return x.sigmoid().clamp(min=limits.tiny, max=1.0 - limits.eps)

    def _inverse(self, y: Any) -> Any:
        limits = finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """-softplus(-x) - softplus(x)."""
        return -softplus(-x) - softplus(x)


class SoftplusTransform(_Plain):
    """y = log(1 + exp(x))."""

    domain, codomain, bijective = constraints.real, constraints.positive, True
    sign = 1

    def _call(self, x: Any) -> Any:
        return softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """-softplus(-x)."""
        return -softplus(-x)


class TanhTransform(_Plain):
    """y = tanh(x)."""

    domain, codomain, bijective = constraints.real, constraints.interval(-1.0, 1.0), True
    sign = 1

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log(1 - tanh(x) ** 2), written so that it does not cancel."""
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(_Plain):
    """y = |x|: not invertible, its inverse gives the positive x."""

    domain, codomain = constraints.real, constraints.positive

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class AffineTransform(Transform):
    """y = loc + scale * x, on numbers or on events of `event_dim` dimensions."""

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0):
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> int:
        """As given."""
        return self._event_dim

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """Numbers, or events of numbers."""
        if self.event_dim == 0:
            return constraints.real
        return constraints.independent(constraints.real, self.event_dim)

    codomain = domain

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another cache size."""
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self.event_dim, cache_size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        pairs = ((self.loc, other.loc), (self.scale, other.scale))
        return all(_same(a, b) for a, b in pairs)

    def __hash__(self) -> int:
        return hash(AffineTransform)

    @property
    def sign(self) -> Any:
        """The scale's sign."""
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |scale|, once for each element of x."""
        shape, scale = x.shape, self.scale
        if isinstance(scale, Tensor):
            result = scale.abs().log()
        else:
            result = full_like(x, math.log(abs(scale)))
        if self.event_dim:
            size = (*result.shape[: result.dim() - self.event_dim], -1)
            result = result.reshape(size).sum(-1)
            shape = shape[: len(shape) - self.event_dim]
        return result.expand(shape)

    def forward_shape(self, shape: Any) -> Any:
        """Broadcast with the parameters' shapes."""
        return broadcast_shapes(
            shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ())
        )

    inverse_shape = forward_shape


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return bool((a == b).all())
    return a == b
