"""The protocol of all values of the symbolic machine, and the value that is read on first use.

In: a Python object and its source, or an operation on other values. Out: a `Value` that answers
the questions bytecode asks (attribute, item, call, truth, iteration) without touching the object
for writing. What a kind of value does not know ends the capture with a graph break.

    value.truth(machine) -> bool           # guards what it read
    value.lower(machine) -> object         # Python object with fake tensors inside
    value.emit(emitter) -> str             # text that rebuilds it in the host function
"""

from __future__ import annotations

import itertools
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.graph_break import GraphBreak
from minitorch2.jit.capture.source import Source

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine

Arguments = list["Value"]
Keywords = dict[str, "Value"]


births = itertools.count()


class NotKnown(Exception):
    """A value that has no plain Python form during capture."""


class UserRaise(Exception):
    """A Python exception raised by the captured program itself; `value` is the exception."""

    def __init__(self, value: Value):
        super().__init__(value)
        self.value = value


class Null:
    """The NULL of CPython's stack: no object at all."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NULL"

    def describe(self) -> str:
        return "NULL"


NULL: Any = Null()


class Value:
    """Something the captured program computes with. `source` says where it can be fetched."""

    __slots__ = ("source", "outer", "birth")

    def __init__(self, source: Source | None = None):
        self.source = source
        self.birth = next(births)  # older values have smaller numbers
        self.outer: Any = None  # the instance of which this is the native part

    # ---- what it is

    def python_type(self) -> type:
        """The class that `type(value)` answers."""
        raise NotImplementedError(type(self).__name__)

    def known(self) -> Any:
        """The Python object, when it is the same in each call that passes the guards."""
        raise NotKnown(self)

    def lower(self, machine: Machine) -> Any:
        """The Python object that functions of minitorch2 are called with during capture."""
        return self.known()

    def describe(self) -> str:
        """A few words for the trace."""
        return str(self.source) if self.source is not None else type(self).__name__

    def same_as(self, machine: Machine, other: Value) -> bool:
        """`self is other`."""
        if self is not other:
            machine.state.guard_distinct(self, other)
        return self is other

    # ---- what bytecode does with it

    def get_attribute(self, machine: Machine, name: str) -> Value:
        machine.stop("unknown-attribute", f"reading .{name} of {self.describe()}")

    def set_attribute(self, machine: Machine, name: str, value: Value) -> None:
        machine.stop("unknown-attribute", f"setting .{name} of {self.describe()}")

    def delete_attribute(self, machine: Machine, name: str) -> None:
        machine.stop("unknown-attribute", f"deleting .{name} of {self.describe()}")

    def get_item(self, machine: Machine, key: Value) -> Value:
        return machine.type_error(f"'{self.python_type().__name__}' object is not subscriptable")

    def set_item(self, machine: Machine, key: Value, value: Value) -> None:
        name = self.python_type().__name__
        machine.type_error(f"'{name}' object does not support item assignment")

    def delete_item(self, machine: Machine, key: Value) -> None:
        name = self.python_type().__name__
        machine.type_error(f"'{name}' object doesn't support item deletion")

    def call(self, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        return machine.type_error(f"'{self.python_type().__name__}' object is not callable")

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        """A method that native code implements (the others are found by `get_attribute`)."""
        return machine.special_method(self, name, args, kwargs)

    def truth(self, machine: Machine) -> bool:
        return True

    def length(self, machine: Machine) -> int:
        machine.type_error(f"object of type '{self.python_type().__name__}' has no len()")

    def operate(self, machine: Machine, symbol: str, other: Value, reflected: bool) -> Value | None:
        """`self symbol other` (`other symbol self` when reflected), or None: not by this kind."""
        return None

    def operate_inplace(self, machine: Machine, symbol: str, other: Value) -> Value | None:
        """`self symbol= other` where that changes self, else None."""
        return None

    def compare_with(
        self, machine: Machine, symbol: str, other: Value, reflected: bool
    ) -> Value | None:
        """`self symbol other` for a comparison, or None: not by this kind."""
        return None

    def contains(self, machine: Machine, item: Value) -> bool:
        cls = self.python_type()
        if not any(hasattr(cls, name) for name in ("__iter__", "__getitem__", "__next__")):
            machine.type_error(f"argument of type '{cls.__name__}' is not iterable")
        for other in machine.items(self):
            if machine.equal(other, item):
                return True
        return False

    def iterator(self, machine: Machine) -> Value:
        return machine.type_error(f"'{self.python_type().__name__}' object is not iterable")

    # ---- how it is built again after the graph ran

    def emit(self, emitter: Emitter) -> str:
        raise GraphBreak("unknown-object", f"{self.describe()} leaves the captured function")


class Lazy(Value):
    """An object that nobody has looked at yet: no guard until it is used."""

    __slots__ = ("object", "real", "machine", "is_there")

    def __init__(self, object: Any, source: Source, machine: Machine):
        super().__init__(source)
        self.object = object
        self.real: Value | None = None
        self.machine = machine
        self.is_there = False  # whether a guard sees to it that there is something

    def known(self) -> Any:
        return self.machine.real(self).known()

    def python_type(self) -> type:
        return self.machine.real(self).python_type()

    def lower(self, machine: Machine) -> Any:
        return machine.real(self).lower(machine)

    def describe(self) -> str:
        return str(self.source)

    def emit(self, emitter: Emitter) -> str:
        if self.real is not None:
            return emitter.value(self.real)
        known = self.machine.state.by_id.get(id(self.object))
        if known is not None and known.source is None:  # it stands for something made inside
            return emitter.value(known)
        assert self.source is not None
        if not self.is_there:
            self.machine.state.guard_there(self.source)  # nobody has looked at it, but it leaves
        return emitter.fetch(self.source)


class NativeMethod(Value):
    """A method, implemented in native code, bound to a value: `[1].append`."""

    __slots__ = ("owner", "name")

    def __init__(self, owner: Value, name: str):
        super().__init__(None)
        self.owner, self.name = owner, name

    def python_type(self) -> type:
        found = getattr(self.owner.python_type(), self.name, None)
        return MethodType if isinstance(found, FunctionType) else type([].append)

    def lower(self, machine: Machine) -> Any:
        return getattr(self.owner.lower(machine), self.name)

    def describe(self) -> str:
        return f"{self.owner.describe()}.{self.name}"

    def get_attribute(self, machine: Machine, name: str) -> Value:
        if name == "__self__":
            return self.owner
        if name in ("__name__", "__qualname__"):
            return machine.from_python(self.name)
        return super().get_attribute(machine, name)

    def call(self, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        if args and self.name != "append":  # the first argument is a key or an index: look at it
            args = [machine.real(args[0]), *args[1:]]
        return self.owner.call_method(machine, self.name, args, kwargs)

    def emit(self, emitter: Emitter) -> str:
        return f"{emitter.value(self.owner)}.{self.name}"


def native_attribute(machine: Machine, value: Value, name: str) -> Value:
    """An attribute of a value whose class is native: a bound method, or an AttributeError."""
    cls = value.python_type()
    if name == "__class__":
        return machine.from_python(cls)
    if not hasattr(cls, name):
        machine.no_attribute(value, name)
    return NativeMethod(value, name)
