"""`collections.deque`, item by item.

In: the items as values, and the length it is cut to. Out: the operations of a deque; those on one
from outside are recorded one by one.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import TYPE_CHECKING

from minitorch2.jit.capture.source import Source
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value, native_attribute
from minitorch2.jit.capture.values.sequences import SequenceValue, SliceValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine


class DequeWalk(Iterator[Value]):
    """The steps through a deque, or backwards, until it is changed."""

    __slots__ = ("machine", "owner", "backwards", "places", "seen")

    def __init__(self, machine: Machine, owner: DequeValue, backwards: bool = False):
        self.machine, self.owner, self.seen = machine, owner, owner.changes
        self.backwards, self.places = backwards, list(range(len(owner.values)))
        if not backwards:
            self.places.reverse()

    def __next__(self) -> Value:
        if self.backwards and not self.places:
            raise StopIteration
        if self.owner.changes != self.seen:
            self.places.clear()
            self.machine.raise_(RuntimeError, "deque mutated during iteration")
        if not self.places:
            raise StopIteration
        return self.owner.values[self.places.pop()]


class DequeValue(SequenceValue):
    """A deque; `limit` is its maxlen."""

    __slots__ = ("limit", "changes")

    def __init__(self, values: list[Value], limit: int | None, source: Source | None = None):
        super().__init__(values, collections.deque, source)
        self.limit = limit
        self.changes = 0

    def describe(self) -> str:
        return str(self.source) if self.source is not None else super().describe()

    def part(self, values: list[Value]) -> Value:
        made = DequeValue([], self.limit)
        made.push(values)
        return made

    def push(self, values: list[Value]) -> None:
        """Append, and forget what falls out at the other end."""
        self.values.extend(values)
        if self.limit is not None and len(self.values) > self.limit:
            del self.values[: len(self.values) - self.limit]
        self.changes += 1

    def push_left(self, values: list[Value]) -> None:
        """The same at the left end."""
        for value in values:
            self.values.insert(0, value)
            if self.limit is not None:
                del self.values[self.limit :]
        self.changes += 1

    def get_item(self, machine: Machine, key: Value) -> Value:
        if isinstance(key, SliceValue):
            machine.type_error("sequence index must be integer, not 'slice'")
        return self.values[self._place(machine, key)]

    def _place(self, machine: Machine, key: Value) -> int:
        kind = machine.real(key).python_type()
        if not hasattr(kind, "__index__"):
            machine.type_error(f"sequence index must be integer, not '{kind.__name__}'")
        place = machine.index_of(key)
        if not -len(self.values) <= place < len(self.values):
            machine.raise_(IndexError, "deque index out of range")
        return place

    def set_item(self, machine: Machine, key: Value, value: Value) -> None:
        self.values[self._place(machine, key)] = value
        machine.state.effects.record(self, "{0}[{1}] = {2}", key, value)

    def delete_item(self, machine: Machine, key: Value) -> None:
        del self.values[self._place(machine, key)]
        self.changes += 1
        machine.state.effects.record(self, "del {0}[{1}]", key)

    def operate_inplace(self, machine: Machine, symbol: str, other: Value) -> Value | None:
        if symbol != "+":
            return None
        self.call_method(machine, "extend", [other], {})
        return self

    def iterator(self, machine: Machine) -> Value:
        return machine.iterate_over(DequeWalk(machine, self), type(iter(collections.deque())))

    def get_attribute(self, machine: Machine, name: str) -> Value:
        if name == "maxlen":
            return machine.from_python(self.limit)
        return native_attribute(machine, self, name)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        """The methods of a deque; what they change in one from outside is recorded."""
        if name in ("index", "count"):
            return self.search(machine, name, args)
        if name in ("copy", "__copy__"):
            return self.part(list(self.values))
        found = self._change(machine, name, args, kwargs)
        if found is None:
            return machine.special_method(self, name, args, kwargs)
        machine.state.effects.call(self, name, *self._given(machine, name, args))
        return found

    def _given(self, machine: Machine, name: str, args: Arguments) -> list[Value]:
        """The operands to record: an iterator is read already."""
        return [machine.tuple_of(machine.items(arg)) for arg in args] if "extend" in name else args

    def _change(
        self, machine: Machine, name: str, args: Arguments, kwargs: Keywords
    ) -> Value | None:
        """Carry out a method that changes the deque; None when it does not."""
        result = machine.from_python(None)
        values = self.values
        if name in ("append", "extend"):
            self.push([args[0]] if name == "append" else machine.items(args[0]))
        elif name in ("appendleft", "extendleft"):
            self.push_left([args[0]] if name == "appendleft" else machine.items(args[0]))
        elif name in ("pop", "popleft"):
            if not values:
                machine.raise_(IndexError, "pop from an empty deque")
            result = values.pop(-1 if name == "pop" else 0)
        elif name == "rotate":
            by = machine.index_of(args[0]) if args else 1
            turned = collections.deque(values)
            turned.rotate(by)
            values[:] = turned
        elif name == "reverse":
            values.reverse()
        elif name == "clear":
            values.clear()
        elif name == "insert":
            if self.limit is not None and len(values) >= self.limit:
                machine.raise_(IndexError, "deque already at its maximum size")
            values.insert(machine.index_of(args[0]), args[1])
        elif name == "remove":
            self._remove(machine, args[0])
        elif name == "__init__":
            self._init(machine, args, kwargs)
        else:
            return None
        self.changes += name != "reverse"  # which an iterator does not mind
        return result

    def _remove(self, machine: Machine, item: Value) -> None:
        for place, held in enumerate(self.values):
            if machine.equal(held, item):
                del self.values[place]
                return
        machine.guarded(collections.deque().remove, machine.real(item).known())

    def _init(self, machine: Machine, args: Arguments, kwargs: Keywords) -> None:
        given = kwargs.get("maxlen", args[1] if len(args) > 1 else machine.from_python(None))
        self.limit = machine.real(given).known()
        machine.guarded(collections.deque, (), self.limit)
        self.values[:] = []
        self.push(machine.items(args[0]) if args else [])

    def emit(self, emitter: Emitter) -> str:
        if self.source is not None:
            return emitter.fetch(self.source)
        inside = ", ".join(emitter.value(value) for value in self.values)
        make = emitter.object(collections.deque, "deque")
        return emitter.assign(self, f"{make}([{inside}], {self.limit})")
