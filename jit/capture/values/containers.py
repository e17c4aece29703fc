"""Instances of user classes that extend a native one: `class Registry(dict)`, `Counter`.

In: the class, and the native part as a value of its own kind. Out: an instance whose attributes and
methods are looked up along the class, and whose native methods work on the native part.
"""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.source import Source
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.objects import ObjectValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine

FIELD = type(collections.namedtuple("Pair", "first").first)  # type: ignore[attr-defined]
CHANGING = (collections.OrderedDict, collections.defaultdict, dict, list, set, collections.deque)
FIXED = (str, bytes, float, int, complex, tuple, frozenset)


def native_base(cls: type) -> type | None:
    """The native class that a class extends, if capture has a model of it."""
    return next((base for base in (*CHANGING, *FIXED) if issubclass(cls, base)), None)


class ContainerObject(ObjectValue):
    """An instance with a native part."""

    __slots__ = ()

    def __init__(self, cls: type, native: Value, object: Any = None, source: Source | None = None):
        super().__init__(cls, object, source)
        self.native: Value = native
        native.outer = self

    def known(self) -> Any:
        return self.native.known()

    def lower(self, machine: Machine) -> Any:
        return self.native.lower(machine)

    def find(self, machine: Machine, name: str) -> Value | None:
        """A field of a named tuple is an item; all else is found as everywhere."""
        found = machine.class_lookup(self.cls, name)
        if found is not None and isinstance(found[1], FIELD):
            place = self.cls._fields.index(name)  # type: ignore[attr-defined]
            return self.native.get_item(machine, Constant(place))
        return super().find(machine, name)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        found = self.native.call_method(machine, name, args, kwargs)
        return self if found is self.native else found

    def set_attribute(self, machine: Machine, name: str, value: Value) -> None:
        if name == "default_factory" and issubclass(self.cls, collections.defaultdict):
            self.native.set_attribute(machine, name, value)
        else:
            super().set_attribute(machine, name, value)

    def truth(self, machine: Machine) -> bool:
        if machine.class_lookup(self.cls, "__bool__") is None and (
            machine.class_lookup(self.cls, "__len__") is None
        ):
            return self.native.truth(machine)
        return super().truth(machine)

    def emit(self, emitter: Emitter) -> str:
        if self.source is not None:
            return emitter.fetch(self.source)
        return emitter.new_container(self)
