"""What a fake tensor's shape holds while a function is traced: an int that is not known yet.

In: a SymbolicSize stands where Python code expects an int. Out: arithmetic gives another
SymbolicSize (or a plain int when the names cancel); a comparison, `bool()` or `int()` must give
Python a real answer, so it asks the ShapeEnvironment, which answers with the sizes of the example
inputs and writes the condition down as a guard.

    >>> from minitorch2.jit.shapes.environment import ShapeEnvironment
    >>> environment = ShapeEnvironment()
    >>> n = environment.new_size(64)
    >>> n * 4 + 1, n * 2 // n, n > 10
    (s0*4+1, 2, True)
    >>> [str(guard.condition) for guard in environment.guards]
    ['s0>=11']

It has no hash: a set or a dict would compare it without asking, and the answer would go unguarded.

Source: torch.SymInt.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch2.jit.shapes.conditions import compare
from minitorch2.jit.shapes.size_expression import (
    Size,
    SizeExpression,
    floor_divide,
    maximum,
    minimum,
    modulo,
)

if TYPE_CHECKING:
    from minitorch2.jit.shapes.environment import ShapeEnvironment


class SymbolicSize:
    """An int-like object: a size expression and the environment that answers questions on it."""

    __slots__ = ("expression", "environment")
    __hash__ = None  # type: ignore[assignment]
    scalar_kind = "int"  # what kind of Python number it stands for

    def __init__(self, expression: SizeExpression, environment: ShapeEnvironment):
        self.expression, self.environment = expression, environment

    def __add__(self, other: Any) -> Any:
        return _arithmetic(self, other, operator.add, operator.add)

    def __radd__(self, other: Any) -> Any:
        return _arithmetic(self, other, operator.add, _swapped(operator.add))

    def __sub__(self, other: Any) -> Any:
        return _arithmetic(self, other, operator.sub, operator.sub)

    def __rsub__(self, other: Any) -> Any:
        return _arithmetic(self, other, _swapped(operator.sub), _swapped(operator.sub))

    def __mul__(self, other: Any) -> Any:
        return _arithmetic(self, other, operator.mul, operator.mul)

    def __rmul__(self, other: Any) -> Any:
        return _arithmetic(self, other, operator.mul, _swapped(operator.mul))

    def __floordiv__(self, other: Any) -> Any:
        _check_divisor(other, operator.floordiv)
        return _arithmetic(self, other, floor_divide, operator.floordiv)

    def __rfloordiv__(self, other: Any) -> Any:
        _check_divisor(self, operator.floordiv)
        return _arithmetic(self, other, _swapped(floor_divide), _swapped(operator.floordiv))

    def __mod__(self, other: Any) -> Any:
        _check_divisor(other, operator.mod)
        return _arithmetic(self, other, modulo, operator.mod)

    def __rmod__(self, other: Any) -> Any:
        _check_divisor(self, operator.mod)
        return _arithmetic(self, other, _swapped(modulo), _swapped(operator.mod))

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __truediv__(self, other: Any) -> Any:
        return int(self) / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / int(self)

    def __pow__(self, exponent: Any) -> Any:
        if not isinstance(exponent, int) or exponent < 0:
            return int(self) ** exponent
        result: Any = 1
        for _ in range(exponent):
            result = result * self
        return result

    def __rpow__(self, base: Any) -> Any:
        return base ** int(self)

    def __neg__(self) -> Any:
        return 0 - self

    def __pos__(self) -> SymbolicSize:
        return self

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def __eq__(self, other: object) -> bool:
        return _comparison(self, other, "==", operator.eq)

    def __ne__(self, other: object) -> bool:
        return _comparison(self, other, "!=", operator.ne)

    def __lt__(self, other: Any) -> bool:
        return _comparison(self, other, "<", operator.lt)

    def __le__(self, other: Any) -> bool:
        return _comparison(self, other, "<=", operator.le)

    def __gt__(self, other: Any) -> bool:
        return _comparison(self, other, ">", operator.gt)

    def __ge__(self, other: Any) -> bool:
        return _comparison(self, other, ">=", operator.ge)

    def __bool__(self) -> bool:
        return self != 0

    def __int__(self) -> int:
        return self.environment.specialize(self.expression)

    __index__ = __trunc__ = __int__

    def __float__(self) -> float:
        return float(int(self))

    def __round__(self, digits: int | None = None) -> Any:
        return self if digits is None or operator.index(digits) >= 0 else round(int(self), digits)

    def __floor__(self) -> SymbolicSize:
        return self

    __ceil__ = __floor__

    # Bits are asked of the number itself, which is guarded from then on.

    def __and__(self, other: Any) -> Any:
        return int(self) & other

    def __or__(self, other: Any) -> Any:
        return int(self) | other

    def __xor__(self, other: Any) -> Any:
        return int(self) ^ other

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __lshift__(self, other: Any) -> Any:
        return int(self) << other

    def __rlshift__(self, other: Any) -> Any:
        return other << int(self)

    def __rshift__(self, other: Any) -> Any:
        return int(self) >> other

    def __rrshift__(self, other: Any) -> Any:
        return other >> int(self)

    def __invert__(self) -> int:
        return ~int(self)

    def __complex__(self) -> complex:
        return complex(int(self))

    def __getattr__(self, name: str) -> Any:
        """The other attributes and methods of an int: `real`, `bit_length`."""
        if name.startswith("__") or name in self.__slots__ or not hasattr(int, name):
            raise AttributeError(f"'int' object has no attribute '{name}'")
        return getattr(int(self), name)

    def __repr__(self) -> str:
        return str(self.expression)

    def __copy__(self) -> SymbolicSize:
        return self

    def __deepcopy__(self, memo: object) -> SymbolicSize:
        return self


def as_size(value: Size | SymbolicSize) -> Size:
    """The plain data behind an int-like value: an int, or an expression in its newest form."""
    if isinstance(value, SymbolicSize):
        return value.environment.canonical(value.expression)
    return value if isinstance(value, SizeExpression) else int(value)


def largest(*values: Any) -> Any:
    """The maximum of int-like values without asking which one it is (so without a guard)."""
    return _combine(maximum, values)


def smallest(*values: Any) -> Any:
    """The minimum of int-like values without asking which one it is (so without a guard).

    >>> from minitorch2.jit.shapes.environment import ShapeEnvironment
    >>> environment = ShapeEnvironment()
    >>> smallest(environment.new_size(64), 5), environment.guards
    (min(s0,5), [])
    """
    return _combine(minimum, values)


def _combine(function: Callable[..., Size], values: tuple) -> Any:
    for value in values:
        if isinstance(value, SymbolicSize):
            return value.environment.wrap(function(*(as_size(each) for each in values)))
    return function(*values)


def _arithmetic(
    self: SymbolicSize,
    other: Any,
    on_sizes: Callable[[Size, Size], Size],
    on_numbers: Callable[[Any, Any], Any],
) -> Any:
    if isinstance(other, int | SymbolicSize):
        return self.environment.wrap(on_sizes(as_size(self), as_size(other)))
    if isinstance(other, float | complex):
        return on_numbers(int(self), other)
    return NotImplemented


def _check_divisor(divisor: Any, divide: Callable[[int, int], int]) -> None:
    """Whether it is 0 decides about an error, even when nobody uses the quotient."""
    if isinstance(divisor, SymbolicSize) and divisor == 0:
        divide(1, 0)


def _comparison(
    self: SymbolicSize, other: Any, relation: str, on_numbers: Callable[[Any, Any], bool]
) -> bool:
    if isinstance(other, int | SymbolicSize):
        condition = compare(relation, as_size(self), as_size(other))
        return self.environment.decide(condition)
    if isinstance(other, float | complex):
        return on_numbers(int(self), other)
    return NotImplemented


def _swapped(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda left, right: function(right, left)
