"""Objects whose end the program can see: weak references, and classes with `__del__`.

In: a value. Out: a weak reference answers with it when it is called. What capture makes lives until
the call is over: of an object made inside that would be seen, so that Python makes the call. Writes
happen after the graph: a reference from outside is asked only while nothing was written, because a
write may be what frees the object.

Source: Python's reference, `object.__del__`; the documentation of weakref.
"""

from __future__ import annotations

import types
import weakref
from typing import TYPE_CHECKING

from minitorch2.jit.capture.source import AttributeSource, ReferentSource, Source
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value, native_attribute

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine


class WeakValue(Value):
    """`weakref.ref(target)`."""

    __slots__ = ("target",)

    def __init__(self, target: Value):
        super().__init__(None)
        self.target = target

    def python_type(self) -> type:
        return weakref.ref

    def describe(self) -> str:
        return f"a weak reference to {self.target.describe()}"

    def get_attribute(self, machine: Machine, name: str) -> Value:
        return native_attribute(machine, self, name)

    def call(self, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        return self.target

    def emit(self, emitter: Emitter) -> str:
        return emitter.assign(
            self, f"{emitter.object(weakref.ref, 'ref')}({emitter.value(self.target)})"
        )


class OutsideReference(Value):
    """A weak reference that exists."""

    __slots__ = ("object",)

    def __init__(self, object: weakref.ref, source: Source):
        super().__init__(source)
        self.object = object

    def python_type(self) -> type:
        return type(self.object)

    def describe(self) -> str:
        return f"the weak reference {self.source}"

    def get_attribute(self, machine: Machine, name: str) -> Value:
        if name == "key" and isinstance(self.object, weakref.KeyedRef):
            assert self.source is not None
            return machine.wrap(self.object.key, AttributeSource(self.source, name))
        return native_attribute(machine, self, name)

    def call(self, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        if any(effect.may_free() for effect in machine.state.effects.items):
            machine.stop("weak-reference", f"{self.describe()} is asked")
        assert self.source is not None
        return machine.wrap(self.object(), ReferentSource(self.source))

    def emit(self, emitter: Emitter) -> str:
        assert self.source is not None
        return emitter.fetch(self.source)


def outside_reference(machine: Machine, object: weakref.ref, source: Source) -> Value:
    """The value of a weak reference that exists."""
    value = OutsideReference(object, source)
    machine.state.remember(object, value)
    return value


def weak_reference(machine: Machine, target: Value) -> Value:
    """A weak reference to a value whose class allows it."""
    cls = target.python_type()
    if not cls.__weakrefoffset__:
        machine.type_error(f"cannot create weak reference to '{cls.__name__}' object")
    if target.source is None and not issubclass(cls, type):  # a class holds itself
        machine.stop("lifetime", f"a weak reference to {target.describe()}")
    return WeakValue(target)


def check_lifetime(machine: Machine, cls: type) -> None:
    """A break before an instance is made of a class whose `__del__` runs Python code."""
    found = machine.class_lookup(cls, "__del__")
    if found is not None and not isinstance(found[1], types.WrapperDescriptorType):
        machine.stop("lifetime", f"a new {cls.__name__}, which has a __del__")
