"""Bounds of sizes: what can be said about an expression when its names have ranges.

In: a size or a condition, and a Range for each name (a name without one is a size, so it is at
least 0). Out: a Range that holds every value, or True / False / None (not known) for a condition.

    >>> from minitorch2.jit.shapes.parser import parse_condition, parse_size
    >>> print(bounds(parse_size("s0*4+1"), {"s0": Range(2, 10)}))
    9..41
    >>> decide(parse_condition("s0==0"), {"s0": Range(2)})
    False

Source: R. Moore, "Interval Analysis".
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from minitorch2.jit.shapes.conditions import SizeCondition
from minitorch2.jit.shapes.size_expression import Apply, Atom, Size, Symbol


@dataclass(frozen=True, slots=True)
class Range:
    """All integers from low to high, both included; an open end is infinite."""

    low: int | float = 0
    high: int | float = math.inf

    def __str__(self) -> str:
        return f"{'' if self.low == -math.inf else self.low}..{_end_text(self.high)}"

    def __contains__(self, value: int) -> bool:
        return self.low <= value <= self.high

    def intersect(self, other: "Range") -> "Range":
        """The integers in both."""
        return Range(max(self.low, other.low), min(self.high, other.high))

    def add(self, other: "Range") -> "Range":
        """Where the sum of two values lies."""
        return Range(self.low + other.low, self.high + other.high)

    def multiply(self, other: "Range") -> "Range":
        """Where the product of two values lies."""
        corners = [_product(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        return Range(min(corners), max(corners))


EVERYTHING = Range(-math.inf, math.inf)
SIZES = Range(0, math.inf)


def bounds(size: Size, ranges: Mapping[str, Range]) -> Range:
    """A range that holds every value of `size` (it may be wider than needed)."""
    if isinstance(size, int):
        return Range(size, size)
    total = Range(0, 0)
    for coefficient, factors in size.terms:
        product = Range(coefficient, coefficient)
        for atom in factors:
            product = product.multiply(_atom_bounds(atom, ranges))
        total = total.add(product)
    return total


def decide(condition: SizeCondition, ranges: Mapping[str, Range]) -> bool | None:
    """Whether the condition holds for all values in the ranges (True), none (False), or some."""
    found = bounds(condition.difference, ranges)
    if condition.relation == "<=":
        return True if found.high <= 0 else False if found.low > 0 else None
    if 0 not in found:
        return condition.relation == "!="
    if found.low == found.high == 0:
        return condition.relation == "=="
    return None


def _atom_bounds(atom: Atom, ranges: Mapping[str, Range]) -> Range:
    if isinstance(atom, Symbol):
        return ranges.get(atom.name, SIZES)
    arguments = [bounds(argument, ranges) for argument in atom.arguments]
    match atom:
        case Apply("max"):
            return Range(max(a.low for a in arguments), max(a.high for a in arguments))
        case Apply("min"):
            return Range(min(a.low for a in arguments), min(a.high for a in arguments))
        case Apply("%"):
            return _remainder(*arguments)
        case _:
            return _quotient(*arguments)


def _remainder(value: Range, divisor: Range) -> Range:
    if divisor.low <= 0:
        return EVERYTHING
    if value.low >= 0 and value.high < divisor.low:
        return value
    return Range(0, min(divisor.high - 1, value.high) if value.low >= 0 else divisor.high - 1)


def _quotient(value: Range, divisor: Range) -> Range:
    if divisor.low <= 0:
        return EVERYTHING
    corners = [_floor(a, b) for a in (value.low, value.high) for b in (divisor.low, divisor.high)]
    return Range(min(corners), max(corners))


def _product(a: int | float, b: int | float) -> int | float:
    return 0 if a == 0 or b == 0 else a * b  # 0 * inf: the other end is as large as you like


def _floor(a: int | float, b: int | float) -> int | float:
    if b == math.inf:
        return 0 if a >= 0 else -1
    return a if abs(a) == math.inf else a // b


def _end_text(end: int | float) -> str:
    return "" if end == math.inf else str(end)
