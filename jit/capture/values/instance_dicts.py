"""`instance.__dict__`: the attributes of an instance as a dict.

In: the instance as a value. Out: a dict that reads and writes the attributes, with live views.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.values.base import Arguments, Keywords, NativeMethod, Value
from minitorch2.jit.capture.values.views import KINDS, DictView

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine
    from minitorch2.jit.capture.values.objects import ObjectValue


def slots_of(cls: type) -> list[str]:
    """The attributes that have a place of their own, beside the dict."""
    kind = types.MemberDescriptorType
    found = [n for c in cls.__mro__ for n, held in c.__dict__.items() if isinstance(held, kind)]
    return [name for name in found if name != "__dict__"]  # of a SimpleNamespace, its attributes


class InstanceDict(Value):
    """`instance.__dict__`, seen through the overlay."""

    __slots__ = ("owner",)

    def __init__(self, owner: ObjectValue):
        super().__init__(None)
        self.owner = owner

    def python_type(self) -> type:
        return dict

    def describe(self) -> str:
        return f"{self.owner.describe()}.__dict__"

    def get_attribute(self, machine: Machine, name: str) -> Value:
        return NativeMethod(self, name)

    def get_item(self, machine: Machine, key: Value) -> Value:
        found = self.owner.own(machine, key.known())
        return found if found is not None else machine.raise_(KeyError, key.known())

    def set_item(self, machine: Machine, key: Value, value: Value) -> None:
        self.owner.store(machine, key.known(), value)

    def delete_item(self, machine: Machine, key: Value) -> None:
        if self.owner.own(machine, key.known()) is None:
            machine.raise_(KeyError, key.known())
        self.owner.store(machine, key.known(), None)

    def contains(self, machine: Machine, item: Value) -> bool:
        return self.owner.own(machine, item.known()) is not None

    def same_as(self, machine: Machine, other: Value) -> bool:
        return isinstance(other, InstanceDict) and self.owner.same_as(machine, other.owner)

    def compare_with(
        self, machine: Machine, symbol: str, other: Value, reflected: bool
    ) -> Value | None:
        return machine.method(self, "copy", []).compare_with(machine, symbol, other, reflected)

    def operate(self, machine: Machine, symbol: str, other: Value, reflected: bool) -> Value | None:
        return machine.method(self, "copy", []).operate(machine, symbol, other, reflected)

    def operate_inplace(self, machine: Machine, symbol: str, other: Value) -> Value | None:
        if symbol != "|":
            return None
        self.call_method(machine, "update", [other], {})
        return self

    def lower(self, machine: Machine) -> Any:
        return machine.method(self, "copy", []).lower(machine)

    def emit(self, emitter: Emitter) -> str:
        return f"{emitter.value(self.owner)}.__dict__"

    def names(self, machine: Machine) -> list[str]:
        """The keys there are now."""
        owner = self.owner
        names: dict[str, None] = {}
        if owner.source is not None:
            held, place = owner.table()
            original = tuple(held)
            machine.state.guard_keys(place, original)
            names = dict.fromkeys(original)
        for name, value in owner.attributes.items():
            if value is None:
                names.pop(name, None)
            else:
                names.setdefault(name)
        elsewhere = slots_of(owner.cls)
        return [*(name for name in names if name not in owner.added and name not in elsewhere),
                *(name for name in owner.added if name not in elsewhere)]  # fmt: skip

    def length(self, machine: Machine) -> int:
        return len(self.names(machine))

    def truth(self, machine: Machine) -> bool:
        return bool(self.names(machine))

    def table(self, machine: Machine) -> dict[str, None]:
        """The keys there are now."""
        return dict.fromkeys(self.names(machine))

    def entry(self, machine: Machine, key: str) -> tuple[Value, Value]:
        """A key as a value, and what stands under it."""
        found = self.owner.own(machine, key)
        assert found is not None
        return machine.from_python(key), found

    def changed(self, machine: Machine, size: int) -> None:
        """Other keys than at the beginning of an iteration."""
        if self.length(machine) != size:
            machine.raise_(RuntimeError, "dictionary changed size during iteration")
        machine.stop("unknown-operation", "an iteration over a dict whose keys changed meanwhile")

    def iterator(self, machine: Machine) -> Value:
        return DictView(self, "keys").iterator(machine)

    def keys(self, machine: Machine) -> list[Value]:
        """The keys as values."""
        return [machine.from_python(name) for name in self.names(machine)]

    def held(self, machine: Machine) -> list[Value]:
        """What stands under the keys."""
        return list(self._table(machine).values())

    def find(self, machine: Machine, key: Value) -> Value | None:
        """What stands under a key, or None."""
        return self.owner.own(machine, key.known())

    def _table(self, machine: Machine) -> dict[Any, Value]:
        table = {name: self.owner.own(machine, name) for name in self.names(machine)}
        return {name: value for name, value in table.items() if value is not None}

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        """The methods of a dict, on the attributes of the owner."""
        if name in ("get", "pop"):
            found = self.owner.own(machine, args[0].known())
            if found is not None:
                if name == "pop":
                    self.owner.store(machine, args[0].known(), None)
                return found
            if name == "pop" and len(args) < 2:
                machine.raise_(KeyError, args[0].known())
            return args[1] if len(args) > 1 else machine.from_python(None)
        if name == "setdefault":
            found = self.owner.own(machine, args[0].known())
            if found is None:
                self.owner.store(machine, args[0].known(), args[1])
            return found or args[1]
        if name == "update":
            for key, value in machine.pairs(args, kwargs):
                self.owner.store(machine, key.known(), value)
            return machine.from_python(None)
        if name == "copy":
            return machine.dict_of(self._table(machine))
        if name in KINDS:
            return DictView(self, name)
        return super().call_method(machine, name, args, kwargs)
