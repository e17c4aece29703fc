"""`itertools.count` from outside: it tells a number that nobody knows before the call.

In: the counter. Out: numbers that are keys of dicts and attributes, as those of hooks and of
registries are: each is another one than all others of its counter. The host function takes them,
in the order of the program. What computes with one is Python's to do.
"""

from __future__ import annotations

import ast
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.source import Call, ConstantSource, Render, Source, Step
from minitorch2.jit.capture.values.base import Value
from minitorch2.jit.capture.values.iterators import AnyIterator
from minitorch2.jit.capture.values.keys import CountedKey
from minitorch2.jit.capture.values.objects import OpaqueValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine


def number_ahead(counter: Any, place: int) -> Any:
    """The number that stands `place` steps before a counter, which stays where it is; None when
    it does not count whole numbers.

    >>> number_ahead(itertools.count(5, 2), 1)
    7
    """
    first, step, *_ = (*_parts(counter), 1)
    whole = type(first) is int and type(step) is int and step != 0
    return first + place * step if whole else None


def _parts(counter: Any) -> tuple[Any, ...]:
    text = repr(counter).partition("(")[2]
    try:
        return ast.literal_eval(f"({text[:-1]},)")
    except (ValueError, SyntaxError):  # it counts something else
        return (None,)


AHEAD = ConstantSource(number_ahead, "number_ahead")


@dataclass(frozen=True, slots=True, eq=False)
class NumberAhead(Step):
    """The number that stands `place` steps before a counter."""

    place: int

    def fetch(self, call: Call) -> Any:
        return number_ahead(self.origin.fetch(call), self.place)

    def expression(self, of: Render) -> str:
        return f"{of(AHEAD)}({of(self.origin)}, {self.place})"

    def __str__(self) -> str:
        return f"number {self.place} of {self.origin}"


@dataclass(frozen=True, slots=True, eq=False)
class NumberTaken(Step):
    """The number that a counter gives: fetching it takes it."""

    place: int

    def fetch(self, call: Call) -> Any:
        return next(self.origin.fetch(call))

    def expression(self, of: Render) -> str:
        return f"next({of(self.origin)})"

    def __str__(self) -> str:
        return f"next({self.origin})"


class CounterValue(AnyIterator):
    """A counter from outside; `taken` numbers were taken here."""

    __slots__ = ("object", "taken")

    def __init__(self, object: Any, source: Source):
        super().__init__(source)
        self.object, self.taken = object, 0

    def python_type(self) -> type:
        return itertools.count

    def describe(self) -> str:
        return f"counter {self.source}"

    def advance(self, machine: Machine) -> Value | None:
        """The next number."""
        number = CountedNumber(self, self.taken)
        self.taken += 1
        machine.state.effects.take(number)
        return number

    def emit(self, emitter: Emitter) -> str:
        assert self.source is not None
        return emitter.fetch(self.source)


class CountedNumber(Value):
    """A number of a counter: good for being a key and for being kept, no more."""

    __slots__ = ("counter", "place", "key")

    def __init__(self, counter: CounterValue, place: int):
        super().__init__(None)
        self.counter, self.place = counter, place
        assert counter.source is not None
        number = number_ahead(counter.object, place)
        self.key = CountedKey(self, NumberAhead(counter.source, place), number)

    def python_type(self) -> type:
        return int

    def describe(self) -> str:
        return f"number {self.place} of {self.counter.describe()}"

    def truth(self, machine: Machine) -> bool:
        self._refuse(machine)
        return True

    def _refuse(self, machine: Machine, *rest: Any) -> None:
        machine.stop("iterator-argument", "a number of a counter from outside is computed with")

    operate = operate_inplace = compare_with = _refuse  # type: ignore[assignment]

    def emit(self, emitter: Emitter) -> str:
        assert self.counter.source is not None
        return emitter.fetch(NumberTaken(self.counter.source, self.place))


def counter(machine: Machine, object: Any, source: Source) -> Value:
    """The value of a counter that exists."""
    whole = number_ahead(object, 0) is not None
    value: Value = CounterValue(object, source) if whole else OpaqueValue(object, source)
    machine.state.remember(object, value)
    return value
