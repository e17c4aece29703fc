"""`dict.keys()`, `values()` and `items()`: live views of a dict.

In: the dict. Out: what it holds at the moment of asking; views of keys and items are sets, too.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.graph_break import GraphBreak
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value, native_attribute
from minitorch2.jit.capture.values.iterators import Steps, gone_on
from minitorch2.jit.capture.values.sequences import TupleValue
from minitorch2.jit.capture.values.sets import OPERATORS, SetValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine
    from minitorch2.jit.capture.values.instance_dicts import InstanceDict
    from minitorch2.jit.capture.values.mappings import DictValue

KINDS: dict[str, tuple[type, type, type]] = {
    name: (type(getattr({}, name)()), type(iter(getattr({}, name)())),
           type(reversed(getattr({}, name)())))
    for name in ("keys", "values", "items")
}  # fmt: skip


VIEWS = (KINDS["keys"][0], KINDS["items"][0], set, frozenset)


def _within(machine: Machine, items: Value, others: Value) -> bool:
    """Whether all items are among the others."""
    return all(others.contains(machine, machine.real(item)) for item in machine.items(items))


END: Any = object()


class DictWalk(Steps):
    """The steps through a view. Python's own iterator over the entries says which comes next, and
    what is wrong when the dict changed meanwhile."""

    __slots__ = ("machine", "view", "backwards", "before", "real", "taken", "ended")

    def __init__(self, machine: Machine, view: DictView, backwards: bool = False):
        self.machine, self.view, self.backwards = machine, view, backwards
        entries = view.owner.table(machine)
        self.before = list(entries)
        self.real: Iterator = reversed(entries) if backwards else iter(entries)
        self.taken, self.ended = 0, False

    def is_intact(self) -> bool:
        """Whether an iterator that is made now comes to the same place."""
        try:
            rest = list(copy.copy(self.real))
        except RuntimeError:
            return False
        keys = list(self.view.owner.table(self.machine))
        if self.backwards:
            keys.reverse()
        return rest == keys[self.taken :] and sorted(map(id, keys)) == sorted(map(id, self.before))

    def __next__(self) -> Value:
        machine, owner = self.machine, self.view.owner
        if self.ended:
            raise StopIteration
        if list(owner.table(machine)) != self.before:
            owner.changed(machine, len(self.before))
        key = machine.guarded(next, self.real, END)
        if key is END:
            self.ended = True
            raise StopIteration
        self.taken += 1
        return self.view.item(machine, key)

    def emit(self, emitter: Emitter, value: Value) -> str:
        if not self.ended and not self.is_intact():
            text = f"an iterator over changed {self.view.describe()}"
            raise GraphBreak("unknown-object", text)
        made = "reversed" if self.backwards else "iter"
        return gone_on(emitter, value, f"{made}({emitter.value(self.view)})", self)


class DictView(Value):
    """One of the three; `kind` is its name. The owner may be the dict of an instance."""

    __slots__ = ("owner", "kind")

    def __init__(self, owner: DictValue | InstanceDict, kind: str):
        super().__init__(None)
        self.owner, self.kind = owner, kind

    def python_type(self) -> type:
        return KINDS[self.kind][0]

    def describe(self) -> str:
        return f"{self.owner.describe()}.{self.kind}()"

    def held(self, machine: Machine) -> list[Value]:
        """What is in it now."""
        if self.kind == "keys":
            return self.owner.keys(machine)
        values = self.owner.held(machine)
        if self.kind == "values":
            return values
        keys = self.owner.keys(machine)
        return [TupleValue([key, value]) for key, value in zip(keys, values, strict=True)]

    def lower(self, machine: Machine) -> Any:
        return getattr(self.owner.lower(machine), self.kind)()

    def length(self, machine: Machine) -> int:
        return self.owner.length(machine)

    def truth(self, machine: Machine) -> bool:
        return self.length(machine) > 0

    def contains(self, machine: Machine, item: Value) -> bool:
        if self.kind == "keys":
            return self.owner.contains(machine, item)
        if self.kind == "items":
            return self._has_pair(machine, item)
        return super().contains(machine, item)

    def _has_pair(self, machine: Machine, item: Value) -> bool:
        if not isinstance(item, TupleValue) or len(item.values) != 2:
            return False
        found = self.owner.find(machine, machine.real(item.values[0]))
        return found is not None and machine.equal(found, item.values[1])

    def iterator(self, machine: Machine) -> Value:
        return machine.iterate_over(DictWalk(machine, self), KINDS[self.kind][1])

    def reversed(self, machine: Machine) -> Value:
        """`reversed(view)`."""
        return machine.iterate_over(DictWalk(machine, self, True), KINDS[self.kind][2])

    def item(self, machine: Machine, key: Any) -> Value:
        """What the view shows for a key that is there."""
        name, value = self.owner.entry(machine, key)
        if self.kind == "items":
            return TupleValue([name, value])
        return name if self.kind == "keys" else value

    def as_set(self, machine: Machine) -> SetValue | None:
        """The view as a set; None for values."""
        if self.kind == "values":
            return None
        return SetValue((machine.key(item), item) for item in self.held(machine))

    def operate(self, machine: Machine, symbol: str, other: Value, reflected: bool) -> Value | None:
        found = self.as_set(machine)
        if found is None or symbol not in OPERATORS:
            return None
        plain = machine.call(machine.from_python(set), [other], {})
        return found.operate(machine, symbol, plain, reflected)

    def compare_with(
        self, machine: Machine, symbol: str, other: Value, reflected: bool
    ) -> Value | None:
        """As sets compare; views of values do not."""
        if self.kind == "values" or not issubclass(other.python_type(), VIEWS):
            return None
        mine, theirs = self, other
        sizes = mine.length(machine), theirs.length(machine)
        if symbol in ("==", "!="):
            same = sizes[0] == sizes[1] and _within(machine, mine, theirs)
            return machine.from_python(same == (symbol == "=="))
        if reflected:
            mine, theirs, sizes = theirs, mine, sizes[::-1]  # type: ignore[assignment]
        if symbol in (">", ">="):
            mine, theirs, sizes = theirs, mine, sizes[::-1]  # type: ignore[assignment]
        fits = sizes[0] < sizes[1] if symbol in ("<", ">") else sizes[0] <= sizes[1]
        return machine.from_python(fits and _within(machine, mine, theirs))

    def get_attribute(self, machine: Machine, name: str) -> Value:
        return native_attribute(machine, self, name)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        if name == "isdisjoint":
            found = self.as_set(machine)
            assert found is not None
            return found.call_method(machine, name, args, kwargs)
        return machine.special_method(self, name, args, kwargs)

    def emit(self, emitter: Emitter) -> str:
        return emitter.called(self.owner, self.kind)
