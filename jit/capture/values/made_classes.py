"""Classes that the captured program makes, and the descriptors that stand in them.

In: the callable that makes a class and its arguments, as values. Out: a real class with the same
name, bases and attributes, a *stand-in*: every question about the class is asked of it during
capture, and where it holds something that only a value describes (a function made inside, a tensor)
there is a real object in its place for which the machine knows the value. The host function calls
the same callable again, in each call, when something that leaves refers to the class: no guard and
no object of the program ever holds the stand-in.

Source: Python's reference, "Customizing class creation"; `types.new_class`.
"""

from __future__ import annotations

import enum
import functools
import gc
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.graph_break import GraphBreak
from minitorch2.jit.capture.values.base import (
    Arguments,
    Keywords,
    NotKnown,
    Value,
    births,
    native_attribute,
)
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.functions import FunctionValue
from minitorch2.jit.capture.values.mappings import DictValue
from minitorch2.jit.capture.values.namespaces import CellValue, is_trusted_module
from minitorch2.jit.capture.values.objects import ObjectValue
from minitorch2.jit.capture.values.sequences import ListValue, TupleValue
from minitorch2.tensors import Tensor

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine
    from minitorch2.jit.capture.state import CaptureState


@dataclass(eq=False, slots=True)
class MadeClass:
    """How a class is made again, and what it holds by name."""

    cls: type
    make: Callable
    args: Arguments
    kwargs: Keywords
    members: dict[str, Value] = field(default_factory=dict)
    names: DictValue | None = None  # the argument that holds what the body of the class bound
    cell: CellValue | None = None  # the `__class__` of its methods
    after: list[tuple[Callable, Arguments]] = field(default_factory=list)  # calls on the class
    birth: int = field(default_factory=lambda: next(births))

    def set_attribute(self, machine: Machine, name: str, value: Value) -> None:
        """`cls.name = value`; a metaclass of the program's has been asked."""
        machine.state.effects.touch(self.birth)
        kind = type(self.cls)
        put: Callable = setattr if is_trusted_module(kind.__module__) else type.__setattr__
        machine.guarded(lambda: put(self.cls, name, stand_in(machine, value)))
        self.members[name] = value
        self.after.append((put, [Constant(name), value]))


class Placeholder:
    """Stands in a class for what only a value describes."""

    __slots__ = ()


def stand_in(machine: Machine, value: Value) -> Any:
    """The real object that stands for a value in a class. One that is made for it is remembered:
    where the machine meets it, it finds the value."""
    value = machine.real(value)
    found = machine.state.stand_ins.get(id(value))
    if found is None:
        found = _fresh(machine, value)
        if found is None:
            return value.known()
        machine.state.stand_ins[id(value)] = found
        machine.state.remember(found, value)
        machine.state.kept.append(value)
    return found


def _fresh(machine: Machine, value: Value) -> Any:
    """An object made to stand for a value, or None: the value is known as a Python object."""
    if isinstance(value, DescriptorValue):
        return value.object
    if isinstance(value, FunctionValue) and value.object is None:
        return _refusing(machine, value)
    if isinstance(value, ObjectValue) and value.object is None and value.native is None:
        return _bare(machine, value)
    if isinstance(value, ListValue) and value.source is None:
        return [stand_in(machine, item) for item in value.values]
    if isinstance(value, DictValue) and value.source is None and value.cls is dict:
        return {
            stand_in(machine, machine.key_value(key)): stand_in(machine, item)
            for key, item in value.entries.items()
        }
    try:
        value.known()
    except NotKnown:
        if type(value) is TupleValue and value.values:
            return value.cls([stand_in(machine, item) for item in value.values])
        return Placeholder()
    return None


def _refusing(machine: Machine, value: FunctionValue) -> Callable:
    """A function with the name and marks of one that is made inside, which nobody can call."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise GraphBreak("unknown-call", f"{value.code.co_name}(), called by native code")

    refuse.__module__ = value.globals.table.get("__name__", "?")
    for name in ("__name__", "__qualname__", "__doc__"):
        setattr(refuse, name, machine.real(value.get_attribute(machine, name)).known())
    for name, held in value.attributes.items():
        if name == "__annotations__":
            table = machine.real(held)
            refuse.__annotations__ = {
                key: stand_in(machine, item)
                for key, item in table.entries.items()  # type: ignore[attr-defined]
            }
        elif name not in ("__name__", "__qualname__", "__doc__"):
            setattr(refuse, name, stand_in(machine, held))
    return refuse


def _bare(machine: Machine, value: ObjectValue) -> Any:
    """An instance with the attributes of one that is made inside."""
    if issubclass(value.cls, enum.auto):
        return value.cls()
    try:
        made = object.__new__(value.cls)
    except TypeError:
        return Placeholder()
    for name, held in value.attributes.items():
        if held is not None:
            object.__setattr__(made, name, stand_in(machine, held))
    return made


CLOSED = (
    type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.CodeType,
    functools._lru_cache_wrapper, weakref.ref, Tensor,
)  # fmt: skip


def check_parts(state: CaptureState, thing: Any, label: str) -> None:
    """A break when an object is, or holds, something of a class made inside, or of one that is
    another in each call: `list[A]`, `A | B`, a type variable, a field. Functions and other classes
    are made anew by themselves."""
    varying = state.made_classes.keys() | state.class_sources.keys()
    if not varying:
        return
    waiting, seen = [thing, type(thing)], set[int]()
    stand_ins = set(map(id, state.stand_ins.values()))
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if id(part) in stand_ins or (isinstance(part, type) and part in varying):
            raise GraphBreak("unknown-object", f"{label} of a class made inside leaves")
        if not isinstance(part, CLOSED):
            waiting += gc.get_referents(part)


def sets_name(found: Any) -> bool:
    """Whether a class statement calls a `__set_name__` of the program for an attribute."""
    hook = getattr(type(found), "__set_name__", None)
    return isinstance(hook, types.FunctionType) and not is_trusted_module(hook.__module__)


class DescriptorValue(Value):
    """`property`, `staticmethod` or `classmethod` of functions made inside."""

    __slots__ = ("kind", "parts", "object")

    def __init__(self, machine: Machine, kind: type, parts: Arguments, object: Any = None):
        super().__init__(None)
        self.kind, self.parts = kind, [machine.real(part) for part in parts]
        self.object = kind(*(stand_in(machine, part) for part in self.parts))

    def python_type(self) -> type:
        return self.kind

    def describe(self) -> str:
        return f"{self.kind.__name__} of {self.parts[0].describe()}"

    def same_as(self, machine: Machine, other: Value) -> bool:
        return self is other

    def get_attribute(self, machine: Machine, name: str) -> Value:
        """A part by its name, or one of the methods that make a new one."""
        names = PARTS[self.kind]
        if name in names:
            return self.parts[names.index(name)]
        if name in ("__wrapped__", "__name__", "__qualname__", "__doc__", "__module__",
                    "__isabstractmethod__"):  # fmt: skip
            return machine.from_python(getattr(self.object, name))
        return native_attribute(machine, self, name)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        if self.kind is property and name in CHANGED:
            parts: Arguments = list(self.parts)
            parts[CHANGED.index(name)] = args[0]
            return DescriptorValue(machine, property, parts)
        if name == "__get__" and self.kind is staticmethod:
            return self.parts[0]
        return super().call_method(machine, name, args, kwargs)

    def call(self, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        if self.kind is not staticmethod:
            return super().call(machine, args, kwargs)
        return machine.call(self.parts[0], args, kwargs)

    def emit(self, emitter: Emitter) -> str:
        parts = ", ".join(emitter.value(part) for part in self.parts)
        made = f"{emitter.object(self.kind, self.kind.__name__)}({parts})"
        return emitter.assign(self, made)


PARTS = {
    property: ("fget", "fset", "fdel"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
}
CHANGED = ("getter", "setter", "deleter")
