"""What all distributions have: a batch of parameters, samples, log-probabilities.

In: parameters that broadcast. Out: samples of shape sample_shape + batch_shape + event_shape: a
batch of independent outcomes, each of event_shape.

A subclass names its parameters in `arg_constraints`; `expand`, the checks of arguments and the text
are derived from that table.

Source: torch.distributions.
"""

import copy
from typing import Any, ClassVar

from minitorch2.autograd import grad
from minitorch2.autograd.modes import enable_grad, no_grad
from minitorch2.dispatch import state
from minitorch2.distributions import constraints
from minitorch2.distributions.constraints import Constraint, is_dependent
from minitorch2.distributions.tools import broadcast_all, lazy_property, shape_of
from minitorch2.tensors import Size, Tensor


class Distribution:
    """The base: `batch_shape` is the shape of the parameters, `event_shape` that of one outcome."""

    has_rsample = False
    has_enumerate_support = False
    arg_constraints: Any = {}
    support: Any = None
    _validate_args: ClassVar[bool] = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether arguments and outcomes are checked unless a distribution says otherwise."""
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args({value!r}): give True or False")
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None
    ):
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args  # type: ignore[misc]
        if self._validate_args and not state.capturing:  # a check looks at values
            self._check_arguments()

    def _check_arguments(self) -> None:
        for name, constraint in self.arg_constraints.items():
            lazy = name not in self.__dict__ and isinstance(
                getattr(type(self), name, None), lazy_property
            )
            if is_dependent(constraint) or lazy:
                continue
            value = getattr(self, name)
            if not bool(constraint.check(value).all()):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to satisfy the constraint "
                    f"{constraint!r}, but found invalid values:\n{value}"
                )

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one outcome."""
        return self._event_shape

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with its parameters expanded to another batch shape."""
        made = copy.copy(self)
        fields = made.__dict__
        for name in [n for n in fields if isinstance(getattr(type(self), n, None), lazy_property)]:
            if name not in self._given():
                del fields[name]
        for name in self._given():
            value = fields.get(name)
            if isinstance(value, Tensor):
                own = value.shape[value.dim() - self._own_dims(name) :]
                fields[name] = value.expand((*batch_shape, *own))
        made._batch_shape = Size(batch_shape)
        return made

    def _given(self) -> list[str]:
        """The names of the tensors that the constructor was given."""
        return [name for name in self.arg_constraints if name in self.__dict__]

    def _own_dims(self, name: str) -> int:
        return self.arg_constraints[name].event_dim

    @property
    def mean(self) -> Any:
        """The mean."""
        raise NotImplementedError(f"{type(self).__name__} has no mean")

    @property
    def mode(self) -> Any:
        """The most probable outcome."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Any:
        """The variance."""
        raise NotImplementedError(f"{type(self).__name__} has no variance")

    @property
    def stddev(self) -> Any:
        """The square root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw, without gradients."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the parameters."""
        raise NotImplementedError(f"{type(self).__name__} has no rsample")

    def sample_n(self, n: int) -> Any:
        """sample((n,))."""
        return self.sample(Size((n,)))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability (or density) of outcomes."""
        raise NotImplementedError(f"{type(self).__name__} has no log_prob")

    def cdf(self, value: Any) -> Any:
        """The probability of an outcome not above a value."""
        raise NotImplementedError(f"{type(self).__name__} has no cdf")

    def icdf(self, value: Any) -> Any:
        """The value below which an outcome lies with a given probability."""
        raise NotImplementedError(f"{type(self).__name__} has no icdf")

    def enumerate_support(self, expand: bool = True) -> Any:
        """All outcomes, along a new first dimension."""
        raise NotImplementedError(f"{type(self).__name__} has no enumerate_support")

    def entropy(self) -> Any:
        """The mean of -log_prob."""
        raise NotImplementedError(f"{type(self).__name__} has no entropy")

    def perplexity(self) -> Any:
        """exp(entropy)."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Any) -> None:
        """ValueError unless outcomes have a fitting shape and are allowed."""
        if not self._validate_args or state.capturing:
            return
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        events = len(self._event_shape)
        if tuple(value.shape[value.dim() - events :]) != tuple(self._event_shape):
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{value.shape} vs {self._event_shape}."
            )
        expected = (*self._batch_shape, *self._event_shape)
        for ours, theirs in zip(reversed(value.shape), reversed(expected), strict=False):
            if 1 not in (ours, theirs) and ours != theirs:
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{value.shape} vs {Size(expected)}."
                )
        support: Constraint | None = self.support
        if support is None or is_dependent(support):
            return
        if not bool(support.check(value).all()):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, but found "
                f"invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        parts = []
        for name in self.arg_constraints:
            if name in self.__dict__:
                value = self.__dict__[name]
                shown = value if value.numel() == 1 else value.size()
                parts.append(f"{name}: {shown}")
        return f"{type(self).__name__}({', '.join(parts)})"


class LocationScale(Distribution):
    """loc + scale * a number of one fixed distribution around 0."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(shape_of(loc, scale, like=self.loc), (), validate_args)

    @property
    def mode(self) -> Any:
        """loc."""
        return self.loc


class ExponentialFamily(Distribution):
    """Densities exp(<t(x), eta> - A(eta) + k(x)): the entropy follows from A."""

    _mean_carrier_measure: Any = 0

    @property
    def _natural_params(self) -> tuple:
        raise NotImplementedError(f"{type(self).__name__} names no natural parameters")

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no log-normalizer")

    def entropy(self) -> Any:
        """A(eta) - <eta, grad A(eta)> - E[k(x)], the gradient by autograd."""
        result = -self._mean_carrier_measure
        with enable_grad():
            natural = [each.detach().requires_grad_() for each in self._natural_params]
            normalizer = self._log_normalizer(*natural)
            slopes = grad(normalizer.sum(), natural, create_graph=True)
        result = result + normalizer
        for eta, slope in zip(natural, slopes, strict=True):
            result = result - (eta * slope).reshape((*self._batch_shape, -1)).sum(-1)
        return result


def exactly_one(name: str, **given: Any) -> str:
    """The name of the one parameter that is given; ValueError for none or several."""
    named = [key for key, value in given.items() if value is not None]
    if len(named) != 1:
        parts = " or ".join(f"`{key}`" for key in given)
        raise ValueError(f"Either {parts} must be specified, but not both (distribution {name}).")
    return named[0]


__all__ = ["Distribution", "ExponentialFamily", "LocationScale", "exactly_one"]
