"""Constraints: which values a parameter or an outcome may have.

In: a tensor. Out: for each outcome, whether it is allowed; the last `event_dim` dimensions belong
to one outcome.

    >>> from minitorch2 import tensor
    >>> positive.check(tensor([1.0, -1.0]))
    tensor([ True, False])

Source: torch.distributions.constraints.
"""

from typing import Any

from minitorch2.distributions.tools import cat, ones, stack
from minitorch2.linalg import cholesky_ex


class Constraint:
    """A set of values. `is_discrete`: whole numbers; `event_dim`: dimensions of one outcome."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Any:
        """A bool tensor of shape value.shape without the event's dimensions."""
        raise NotImplementedError(f"{type(self).__name__} has no check")

    def __repr__(self) -> str:
        return type(self).__name__.lstrip("_") + "()"


class _Dependent(Constraint):
    """A constraint that depends on other parameters: an instance knows it, the class does not."""

    def __init__(self, *, is_discrete: bool = False, event_dim: int = 0):
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def __call__(self, *, is_discrete: bool = False, event_dim: int = 0) -> "_Dependent":
        return _Dependent(is_discrete=is_discrete, event_dim=event_dim)

    def check(self, value: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint depends on other parameters."""
    return isinstance(constraint, _Dependent)


class dependent_property(property, _Dependent):
    """A property that gives the constraint of an instance; on the class, a dependent constraint."""

    def __init__(self, fn: Any = None, *, is_discrete: bool = False, event_dim: int = 0):
        super().__init__(fn)
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def __call__(self, fn: Any) -> "dependent_property":  # type: ignore[override]
        return dependent_property(fn, is_discrete=self.is_discrete, event_dim=self.event_dim)


class independent(Constraint):
    """Another constraint whose last dimensions count as one outcome."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int):
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        """Whether all of the last dimensions are allowed; ValueError where there are too few."""
        result = self.base_constraint.check(value)
        if result.dim() < self.reinterpreted_batch_ndims:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        kept = result.shape[: result.dim() - self.reinterpreted_batch_ndims]
        return result.reshape((*kept, -1)).all(-1)

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """What every component of a mixture allows; components are the batch's last dimension."""

    def __init__(self, base_constraint: Constraint):
        self.base_constraint = base_constraint
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim

    def check(self, value: Any) -> Any:
        """Whether every component allows the value."""
        return self.base_constraint.check(value.unsqueeze(-1 - self.event_dim)).all(-1)


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    is_discrete, event_dim = True, 1

    def check(self, value: Any) -> Any:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _Between(Constraint):
    """Whole numbers from lower to upper, both allowed."""

    is_discrete = True

    def __init__(self, lower_bound: Any, upper_bound: Any):
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)

    def __repr__(self) -> str:
        return f"IntegerInterval(lower_bound={self.lower_bound}, upper_bound={self.upper_bound})"


class _WholeFrom(Constraint):
    is_discrete = True

    def __init__(self, lower_bound: Any):
        self.lower_bound = lower_bound

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value >= self.lower_bound)

    def __repr__(self) -> str:
        return f"IntegerGreaterThan(lower_bound={self.lower_bound})"


class _Real(Constraint):
    def check(self, value: Any) -> Any:
        return value == value  # only nan differs from itself


class _GreaterThan(Constraint):
    def __init__(self, lower_bound: Any):
        self.lower_bound = lower_bound

    def check(self, value: Any) -> Any:
        return self.lower_bound < value

    def __repr__(self) -> str:
        return f"GreaterThan(lower_bound={self.lower_bound})"


class _GreaterThanEq(_GreaterThan):
    def check(self, value: Any) -> Any:
        return self.lower_bound <= value

    def __repr__(self) -> str:
        return f"GreaterThanEq(lower_bound={self.lower_bound})"


class _LessThan(Constraint):
    def __init__(self, upper_bound: Any):
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return value < self.upper_bound

    def __repr__(self) -> str:
        return f"LessThan(upper_bound={self.upper_bound})"


class _Interval(Constraint):
    def __init__(self, lower_bound: Any, upper_bound: Any):
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)

    def __repr__(self) -> str:
        name = type(self).__name__.lstrip("_")
        return f"{name}(lower_bound={self.lower_bound}, upper_bound={self.upper_bound})"


class _HalfOpenInterval(_Interval):
    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    is_discrete, event_dim = True, 1

    def __init__(self, upper_bound: Any):
        self.upper_bound = upper_bound

    def check(self, x: Any) -> Any:
        return (x >= 0).all(-1) & (x.sum(-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        return _whole(value.tril() == value)


class _LowerCholesky(_LowerTriangular):
    def check(self, value: Any) -> Any:
        positive = (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)
        return super().check(value) & positive


class _CorrCholesky(_LowerCholesky):
    def check(self, value: Any) -> Any:
        eps = 10 * value.size(-1) * 1.2e-7
        unit = ((value.detach().pow(2).sum(-1).sqrt() - 1).abs() < eps).all(-1)
        return unit & super().check(value)


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        return ones(*value.shape[:-2]) * float(value.shape[-1] == value.shape[-2]) > 0


class _Symmetric(_Square):
    def check(self, value: Any) -> Any:
        if value.shape[-1] != value.shape[-2]:
            return super().check(value)
        return _whole((value - value.mT).abs() <= 1e-6 + 1e-5 * value.abs())


class _PositiveDefinite(_Symmetric):
    def check(self, value: Any) -> Any:
        symmetric = super().check(value)
        if not bool(symmetric.all()):
            return symmetric
        return cholesky_ex(value).info == 0


def _whole(good: Any) -> Any:
    return good.reshape((*good.shape[:-2], -1)).all(-1)


class cat_constraint(Constraint):
    """Several constraints, each for a part of the values along a dimension."""

    def __init__(self, cseq: Any, dim: int = 0, lengths: Any = None):
        self.cseq, self.dim = list(cseq), dim
        self.lengths = list(lengths) if lengths is not None else [1] * len(self.cseq)
        self.is_discrete = any(each.is_discrete for each in self.cseq)
        self.event_dim = max(each.event_dim for each in self.cseq)

    def check(self, value: Any) -> Any:
        """Whether each part of the dimension is allowed by its constraint."""
        start, checked = 0, []
        for each, length in zip(self.cseq, self.lengths, strict=True):
            checked.append(each.check(value.narrow(self.dim, start, length)))
            start += length
        return cat(checked, self.dim)


class stack_constraint(Constraint):
    """Several constraints, each for one index of a dimension."""

    def __init__(self, cseq: Any, dim: int = 0):
        self.cseq, self.dim = list(cseq), dim
        self.is_discrete = any(each.is_discrete for each in self.cseq)
        self.event_dim = max(each.event_dim for each in self.cseq) + (1 if dim < 0 else 0)

    def check(self, value: Any) -> Any:
        """Whether each index of the dimension is allowed by its constraint."""
        parts = [each.check(value.select(self.dim, at)) for at, each in enumerate(self.cseq)]
        return stack(parts, self.dim)


dependent = _Dependent()
boolean, one_hot = _Boolean(), _OneHot()
nonnegative_integer, positive_integer = _WholeFrom(0), _WholeFrom(1)
integer_interval, interval, half_open_interval = _Between, _Interval, _HalfOpenInterval
real = _Real()
real_vector = independent(real, 1)
positive, nonnegative = _GreaterThan(0.0), _GreaterThanEq(0.0)
greater_than, greater_than_eq, less_than = _GreaterThan, _GreaterThanEq, _LessThan
unit_interval, simplex, multinomial = _Interval(0.0, 1.0), _Simplex(), _Multinomial
lower_triangular, lower_cholesky = _LowerTriangular(), _LowerCholesky()
corr_cholesky, square, symmetric = _CorrCholesky(), _Square(), _Symmetric()
positive_definite, positive_semidefinite = _PositiveDefinite(), _Symmetric()

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent",
    "dependent_property", "greater_than", "greater_than_eq", "half_open_interval", "independent",
    "integer_interval", "interval", "is_dependent", "less_than", "lower_cholesky",
    "lower_triangular", "multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive",
    "positive_definite", "positive_integer", "positive_semidefinite", "real", "real_vector",
    "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip
