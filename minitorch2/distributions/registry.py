"""Transforms that reach a constraint: from all numbers to the values that are allowed.

In: a constraint. Out: a transform onto it; `biject_to`'s is invertible, `transform_to`'s is good
for optimization.

    >>> from minitorch2.distributions import constraints
    >>> biject_to(constraints.positive)
    ExpTransform()

Source: torch.distributions.constraint_registry.
"""

from collections.abc import Callable
from numbers import Number
from typing import Any

from minitorch2.distributions import constraints as allowed
from minitorch2.distributions import vector_transforms as vectors
from minitorch2.distributions.constraints import Constraint
from minitorch2.distributions.joined_transforms import CatTransform, StackTransform
from minitorch2.distributions.transforms import (
    AffineTransform,
    ExpTransform,
    SigmoidTransform,
)


class ConstraintRegistry:
    """Rules from constraint classes to functions that make a transform."""

    def __init__(self) -> None:
        self._rules: dict[type, Callable] = {}

    def register(self, constraint: Any, factory: Callable | None = None) -> Callable:
        """Add a rule for a constraint or a class of them; a decorator without `factory`."""
        if factory is None:
            return lambda function: self.register(constraint, function)
        kind = type(constraint) if isinstance(constraint, Constraint) else constraint
        if not (isinstance(kind, type) and issubclass(kind, Constraint)):
            raise TypeError(
                "Expected constraint to be either a Constraint subclass or instance, but got "
                f"{constraint}"
            )
        self._rules[kind] = factory
        return factory

    def __call__(self, constraint: Constraint) -> Any:
        """The transform for a constraint; NotImplementedError without a rule."""
        factory = self._rules.get(type(constraint))
        if factory is None:
            raise NotImplementedError(
                f"Cannot transform {type(constraint).__name__} constraints: register a rule"
            )
        return factory(constraint)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


def _both(constraint: Any, factory: Callable) -> None:
    biject_to.register(constraint, factory)
    transform_to.register(constraint, factory)


def _from_bound(constraint: Any) -> Any:
    return vectors.ComposeTransform([ExpTransform(), AffineTransform(constraint.lower_bound, 1)])


def _to_bound(constraint: Any) -> Any:
    return vectors.ComposeTransform([ExpTransform(), AffineTransform(constraint.upper_bound, -1)])


def _between(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, Number) and isinstance(high, Number) and (low, high) == (0, 1):
        return SigmoidTransform()
    return vectors.ComposeTransform([SigmoidTransform(), AffineTransform(low, high - low)])


def _positive(constraint: Any) -> Any:
    return ExpTransform() if constraint.lower_bound == 0 else _from_bound(constraint)


def _independent(registry: ConstraintRegistry) -> Callable:
    def factory(constraint: Any) -> Any:
        inside = registry(constraint.base_constraint)
        return vectors.IndependentTransform(inside, constraint.reinterpreted_batch_ndims)

    return factory


def _joined(registry: ConstraintRegistry, kind: Any) -> Callable:
    def factory(constraint: Any) -> Any:
        parts = [registry(each) for each in constraint.cseq]
        lengths = {"lengths": constraint.lengths} if kind is CatTransform else {}
        return kind(parts, constraint.dim, **lengths)

    return factory


_both(allowed.real, lambda constraint: vectors.identity_transform)
_both(allowed.positive, _positive)
_both(allowed.nonnegative, _positive)
_both(allowed.less_than, _to_bound)
_both(allowed.interval, _between)
_both(allowed.half_open_interval, _between)
biject_to.register(allowed.simplex, lambda constraint: vectors.StickBreakingTransform())
transform_to.register(allowed.simplex, lambda constraint: vectors.SoftmaxTransform())
_both(allowed.corr_cholesky, lambda constraint: vectors.CorrCholeskyTransform())
transform_to.register(allowed.lower_cholesky, lambda constraint: vectors.LowerCholeskyTransform())
transform_to.register(
    allowed.positive_definite, lambda constraint: vectors.PositiveDefiniteTransform()
)
for _registry in (biject_to, transform_to):
    _registry.register(allowed.independent, _independent(_registry))
    _registry.register(allowed.cat_constraint, _joined(_registry, CatTransform))
    _registry.register(allowed.stack_constraint, _joined(_registry, StackTransform))
