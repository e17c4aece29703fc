"""Iterators that exist already: capture looks ahead of them and moves none.

In: an iterator of Python's own over lists, tuples, dicts, strings, ranges, or an `enumerate` or
`zip` of such. Out: its next items, each with a source that says "the third from here", and one
effect for each that is taken: `next(iterator)`, replayed with the others. So a loop that breaks in
its body is one graph a round, not two: the next item is an input of that graph.

    >>> numbers = iter([5, 6, 7])
    >>> next(numbers), ahead(numbers, 1), next(numbers)
    (5, 7, 6)

An iterator that runs the user's code (a generator) can only be asked by Python.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.source import Call, ConstantSource, Render, Source, Step
from minitorch2.jit.capture.values.base import Value
from minitorch2.jit.capture.values.iterators import AnyIterator
from minitorch2.jit.capture.values.objects import ObjectValue, OpaqueValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine

END: Any = object()  # what stands behind the last item
UNKNOWN: Any = object()  # what is answered where nobody can look
_empty: dict = {}
OF_DICTS: tuple[type, ...] = (
    type(iter(_empty)), type(iter(_empty.values())), type(iter(_empty.items())),
)  # fmt: skip
PLAIN: tuple[type, ...] = (
    type(iter([])), type(iter(())), type(iter(range(0))), type(iter("")), type(iter("é")),
    type(iter(b"")), type(reversed([])), *OF_DICTS,
)  # fmt: skip


def forked(iterator: Any, memo: dict[int, Any]) -> Any:
    """Another iterator that stands at the same place; TypeError for one that cannot be copied."""
    found = memo.get(id(iterator))
    if found is not None:
        return found
    kind = type(iterator)
    if kind in PLAIN:
        found = copy.copy(iterator)
    elif kind is enumerate:
        inner, count = iterator.__reduce__()[1]
        found = enumerate(forked(inner, memo), count)
    elif kind is zip:
        _, inner, *strict = iterator.__reduce__()
        found = zip(*(forked(each, memo) for each in inner), strict=bool(strict and strict[0]))
    else:
        raise TypeError(f"a {kind.__name__} cannot be copied")
    memo[id(iterator)] = found
    return found


def ahead(iterator: Any, place: int) -> Any:
    """Item number `place` from where an iterator stands, which stays there; END behind the last."""
    try:
        return next(islice(forked(iterator, {}), place, None), END)
    except Exception:  # a dict that changed its size, items of different number
        return UNKNOWN


AHEAD = ConstantSource(ahead, "ahead")


@dataclass(frozen=True, slots=True, eq=False)
class AheadSource(Step):
    """Item number `place` from where an iterator stands."""

    place: int

    def fetch(self, call: Call) -> Any:
        return ahead(self.origin.fetch(call), self.place)

    def expression(self, of: Render) -> str:
        return f"{of(AHEAD)}({of(self.origin)}, {self.place})"

    def __str__(self) -> str:
        return f"item {self.place} of {self.origin}"


class OutsideIterator(AnyIterator):
    """Such an iterator; `taken` counts the items that the captured program took."""

    __slots__ = ("object", "taken", "parts")

    def __init__(self, object: Any, parts: list[Any], source: Source):
        super().__init__(source)
        self.object, self.taken, self.parts = object, 0, parts

    def python_type(self) -> type:
        return type(self.object)

    def describe(self) -> str:
        return f"{type(self.object).__name__} from outside"

    def advance(self, machine: Machine) -> Value | None:
        """The next item, read ahead; None at the end."""
        if self._is_written(machine):
            machine.stop("iterator-argument", "what the iterator goes through was changed here")
        assert self.source is not None
        source = AheadSource(self.source, self.taken)
        found = ahead(self.object, self.taken)
        if found is UNKNOWN:
            machine.stop("iterator-argument", f"a {type(self.object).__name__} from outside")
        machine.state.guard_end(source, found is END, (END, UNKNOWN))
        machine.state.effects.record(self, "next({0}, None)")
        if found is END:
            return None
        self.taken += 1
        return machine.lazy(found, source)

    def _is_written(self, machine: Machine) -> bool:
        """Whether the captured program has changed what the iterator goes through."""
        targets = machine.state.effects.targets()
        if any(part is None for part in self.parts):  # a dict, nobody knows which
            return any(
                isinstance(target, ObjectValue) or issubclass(target.python_type(), dict)
                for target in targets
            )
        held = [machine.state.by_id.get(id(part)) for part in self.parts]
        return any(target is value for target in targets for value in held)

    def emit(self, emitter: Emitter) -> str:
        assert self.source is not None
        return emitter.fetch(self.source)


def _parts(iterator: Any, seen: dict[int, Any]) -> list[Any]:
    """What an iterator goes through, the iterators inside it noted in `seen`; None for a dict."""
    seen[id(iterator)] = iterator
    if type(iterator) in OF_DICTS:
        return [None]
    _, given, *_ = iterator.__reduce__()
    if type(iterator) in PLAIN:
        return list(given[:1])
    inner = given[:1] if type(iterator) is enumerate else given
    return [part for each in inner for part in _parts(each, seen)]


def outside_iterator(machine: Machine, object: Any, source: Source) -> Value:
    """The value of an iterator that exists; one that others hold a part of is only passed on."""
    inner: dict[int, Any] = {}
    value: Value = OpaqueValue(object, source)
    if ahead(object, 0) is not UNKNOWN:
        parts = _parts(object, inner)
        if not any(key in machine.state.by_id for key in inner):
            value = OutsideIterator(object, parts, source)
    for each in inner.values():
        machine.state.remember(each, OpaqueValue(each))
    machine.state.remember(object, value)
    return value
