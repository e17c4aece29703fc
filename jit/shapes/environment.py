"""Knows the symbolic sizes of one trace: example values, ranges, and the guards that were needed.

In: the sizes of the example inputs. Out: a SymbolicSize for each, an answer to every question
about them, and the list of conditions under which the same answers come out again.

A question is answered without a guard when the ranges or an earlier guard decide it. Otherwise the
example values answer it and the answer becomes a guard. An equality that can be solved for one
name also replaces it everywhere from then on, so `s1` is printed as `s0` once they were found
equal.

    >>> environment = ShapeEnvironment()
    >>> a, b = environment.new_size(8), environment.new_size(8)
    >>> a == b, a - b, b >= 2
    (True, 0, True)
    >>> [str(guard.condition) for guard in environment.guards], environment.canonical(b.expression)
    (['s0==s1'], SizeExpression('s0'))

Source: the ShapeEnv of torch.fx.experimental.symbolic_shapes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from minitorch2.artifacts import Origin
from minitorch2.dispatch import current_origin
from minitorch2.jit.shapes.conditions import SizeCondition, compare
from minitorch2.jit.shapes.example_sizes import find_generic_example, generic_example
from minitorch2.jit.shapes.ranges import Range, bounds, decide
from minitorch2.jit.shapes.size_expression import (
    Size,
    SizeExpression,
    Symbol,
    evaluate_size,
    substitute_size,
    symbol,
)
from minitorch2.jit.shapes.symbolic_size import SymbolicSize


@dataclass(frozen=True, slots=True)
class SizeGuard:
    """A condition that held for the example inputs and was used, and where it was used."""

    condition: SizeCondition
    origin: Origin | None


class ShapeEnvironment:
    """The symbols of one trace. `hints` are the example values, `guards` what was relied on."""

    __slots__ = ("hints", "ranges", "guards", "replacements", "constants", "_known", "_generic")

    def __init__(self) -> None:
        self._generic = False
        self.hints: dict[str, int] = {}
        self.ranges: dict[str, Range] = {}
        self.guards: list[SizeGuard] = []
        self.replacements: dict[str, Size] = {}
        self.constants: dict[Size, int] = {}  # expressions that equal a number: s0//3 is 1
        self._known: set[SizeCondition] = set()

    @staticmethod
    def generic(
        assumptions: Iterable[SizeCondition] = (), sizes: Iterable[Size] = ()
    ) -> "ShapeEnvironment":
        """An environment for symbols made elsewhere: any they are, under the assumptions.

        Its example values are made up (large, without common factors), and its guards mean nothing.
        They make each of `sizes` 2 or more, where the assumptions allow it.
        """
        environment = ShapeEnvironment()
        environment._generic = True
        conditions = tuple(assumptions)
        environment.hints.update(find_generic_example(conditions, sizes))
        for name in dict.fromkeys(name for each in conditions for name in each.symbols()):
            environment._adopt(name)
        for condition in conditions:
            environment._assume(condition)
        return environment

    def new_size(self, hint: int, low: int = 2, high: int | None = None) -> Any:
        """A fresh symbol for a size that is `hint` in the example.

        A hint outside [low, high] is a size to specialize on (0 and 1 broadcast and vanish, so
        they are other programs): it comes back as the plain int.
        """
        allowed = Range(low) if high is None else Range(low, high)
        if hint not in allowed:
            return hint
        name = f"s{len(self.hints)}"
        self.hints[name] = hint
        self.ranges[name] = allowed
        return SymbolicSize(symbol(name), self)

    def wrap(self, size: Size) -> Any:
        """An int as itself, an expression as a SymbolicSize of this environment."""
        if isinstance(size, int):
            return size
        if self._generic:
            for name in size.symbols():
                self._adopt(name)
        return SymbolicSize(size, self)

    def canonical(self, size: Size) -> Size:
        """`size` under the equalities found so far."""
        found = substitute_size(size, self.replacements)
        return self.constants.get(found, found)

    def hint(self, size: Size) -> int:
        """The value of `size` in the example."""
        return evaluate_size(size, self.hints)

    def bounds(self, size: Size) -> Range:
        """A range that holds every value of `size`."""
        return bounds(self.canonical(size), self.ranges)

    def decide(self, condition: SizeCondition | bool) -> bool:
        """The truth of a condition; what only the example decides becomes a guard."""
        known = self.known(condition)
        if known is not None:
            return known
        assert isinstance(condition, SizeCondition)
        canonical = condition.substitute(self.replacements)
        assert isinstance(canonical, SizeCondition)
        answer = canonical.evaluate(self.hints)
        self._assume(canonical if answer else canonical.negated())
        return answer

    def known(self, condition: SizeCondition | bool) -> bool | None:
        """The truth of a condition where ranges and guards decide it; None where they do not."""
        if not isinstance(condition, bool):
            condition = condition.substitute(self.replacements)
        if isinstance(condition, bool):
            return condition
        static = decide(condition, self.ranges)
        if static is not None:
            return static
        if condition in self._known:
            return True
        return False if condition.negated() in self._known else None

    def specialize(self, expression: SizeExpression) -> int:
        """The value of an expression as a real int, guarded to stay that value."""
        canonical = self.canonical(expression)
        value = self.hint(canonical)
        self.decide(compare("==", canonical, value))
        return value

    def _adopt(self, name: str) -> None:
        self.hints.setdefault(name, generic_example(name))
        self.ranges.setdefault(name, Range(0))

    def _assume(self, condition: SizeCondition) -> None:
        self.guards.append(SizeGuard(condition, current_origin()))
        self._known.add(condition)
        if condition.relation == "==":
            self._solve(condition)
            return
        for name in condition.symbols():
            self.ranges[name] = _refined(condition, name, self.ranges[name])

    def _solve(self, condition: SizeCondition) -> None:
        """Replaces one name, the newest that stands alone in a term, by what it equals."""
        if isinstance(condition.right, int):
            self.constants[condition.left] = condition.right
        elif isinstance(condition.left, int):
            self.constants[condition.right] = condition.left
        difference = condition.difference
        for name in reversed(condition.symbols()):
            solution = _solution(difference, name)
            if solution is None:
                continue
            self.replacements[name] = solution
            for other, size in self.replacements.items():
                self.replacements[other] = substitute_size(size, {name: solution})
            self._share_range(name, solution)
            return

    def _share_range(self, name: str, solution: Size) -> None:
        """What was known of the replaced name now holds for the name that stands for it."""
        match solution:
            case SizeExpression(terms=((1, (Symbol(other),)),)):
                self.ranges[other] = self.ranges[other].intersect(self.ranges[name])


def _solution(difference: Size, name: str) -> Size | None:
    """What `name` equals when `difference` is 0, or None when it cannot be solved for it."""
    if isinstance(difference, int):
        return None
    for coefficient, factors in difference.terms:
        if factors == (Symbol(name),) and abs(coefficient) == 1:
            solution = symbol(name) - difference * coefficient
            mentioned = isinstance(solution, SizeExpression) and name in solution.symbols()
            return None if mentioned else solution
    return None


def _refined(condition: SizeCondition, name: str, known: Range) -> Range:
    """The range of `name` once a condition on it alone is known to hold."""
    if condition.relation == "<=" and isinstance(condition.right, int):
        if condition.left == symbol(name):
            return known.intersect(Range(known.low, condition.right))
    if condition.relation == "<=" and isinstance(condition.left, int):
        if condition.right == symbol(name):
            return known.intersect(Range(condition.left, known.high))
    if condition.relation == "!=" and condition.left == symbol(name):
        low = known.low + 1 if condition.right == known.low else known.low
        high = known.high - 1 if condition.right == known.high else known.high
        return Range(low, high)
    return known
