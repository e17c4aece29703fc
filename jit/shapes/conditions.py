"""A comparison of two sizes, in one canonical form.

In: two sizes and a relation. Out: a `SizeCondition`, or a plain bool when no name is left. Sizes
are integers, so four relations become one: `a < b` is `a + 1 <= b`, `a > b` is `b + 1 <= a`. What
stands on both sides is cancelled, common factors are divided away, negative terms change sides.

    >>> from minitorch2.jit.shapes.size_expression import symbol
    >>> s0, s1 = symbol("s0"), symbol("s1")
    >>> print(compare("<", s0 * 2 + 1, s1 + 1), compare(">=", s0, 5), compare("!=", s0 * 4, s1 * 8))
    s0*2+1<=s1 s0>=5 s0!=s1*2
    >>> compare("==", s0 + s1, s1 + s0)
    True

Source: the normal form of linear constraints in A. Schrijver, "Theory of Linear and Integer
Programming".
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from minitorch2.jit.shapes.size_expression import (
    Size,
    SizeExpression,
    evaluate_size,
    floor_divide,
    modulo,
    size_symbols,
    substitute_size,
)


@dataclass(frozen=True, slots=True)
class SizeCondition:
    """`left relation right`, with relation one of `==`, `!=`, `<=`. Build it with `compare`."""

    relation: str
    left: Size
    right: Size

    @property
    def difference(self) -> Size:
        """`left - right`, so that the condition reads `difference relation 0`."""
        return self.left - self.right

    def negated(self) -> "SizeCondition":
        """The condition that holds exactly when this one does not."""
        if self.relation == "<=":
            condition = compare("<=", self.right + 1, self.left)
        else:
            condition = compare("!=" if self.relation == "==" else "==", self.left, self.right)
        assert isinstance(condition, SizeCondition)
        return condition

    def evaluate(self, bindings: Mapping[str, int]) -> bool:
        """Whether it holds under `bindings`."""
        left, right = evaluate_size(self.left, bindings), evaluate_size(self.right, bindings)
        return _holds(self.relation, left - right)

    def substitute(self, bindings: Mapping[str, Size]) -> "SizeCondition | bool":
        """The condition with some names replaced."""
        left, right = substitute_size(self.left, bindings), substitute_size(self.right, bindings)
        return compare(self.relation, left, right)

    def symbols(self) -> tuple[str, ...]:
        """Names of the symbols in it."""
        return tuple(dict.fromkeys(size_symbols(self.left) + size_symbols(self.right)))

    def __str__(self) -> str:
        if isinstance(self.left, int):
            mirrored = ">=" if self.relation == "<=" else self.relation
            return f"{self.right}{mirrored}{self.left}"
        return f"{self.left}{self.relation}{self.right}"


def compare(relation: str, left: Size, right: Size) -> SizeCondition | bool:
    """The canonical condition for any of the six relations, or its truth when it is constant."""
    match relation:
        case "<":
            return compare("<=", left + 1, right)
        case ">":
            return compare("<=", right + 1, left)
        case ">=":
            return compare("<=", right, left)
        case "<=" | "==" | "!=":
            difference = left - right
        case _:
            raise ValueError(f"no such relation of sizes: {relation!r}")
    if isinstance(difference, int):
        return _holds(relation, difference)
    divisor = math.gcd(*(coefficient for coefficient, factors in difference.terms if factors))
    if relation != "<=" and modulo(difference, divisor) != 0:
        return relation == "!="  # 2*s0 is never 3
    # g*m + k <= 0 exactly when m + ceil(k/g) <= 0
    difference = _expression(-floor_divide(-difference, divisor))
    if relation != "<=" and difference.terms[0][0] < 0:
        difference = _expression(-difference)
    positive = [term for term in difference.terms if term[1] and term[0] > 0]
    negative = [term for term in difference.terms if term[1] and term[0] < 0]
    constant = sum(coefficient for coefficient, factors in difference.terms if not factors)
    left, right = _total(positive), -_total(negative)
    # The constant joins the side that has nothing else, or the one where it is positive.
    if negative and (constant > 0 or not positive):
        return SizeCondition(relation, left + constant, right)
    return SizeCondition(relation, left, right - constant)


def _holds(relation: str, difference: int) -> bool:
    match relation:
        case "==":
            return difference == 0
        case "!=":
            return difference != 0
        case _:
            return difference <= 0


def _total(terms: list) -> Size:
    return SizeExpression(tuple(terms)) if terms else 0


def _expression(size: Size) -> SizeExpression:
    assert isinstance(size, SizeExpression)
    return size
