"""Objects whose end the program can see: weak references, and classes with `__del__`.

In: a value. Out: a weak reference answers with it when it is called, and compares and hashes as it
does. What capture makes lives until the call is over: of an object made inside that would be seen,
so that Python makes the call. Writes happen after the graph: a reference is asked only while
nothing was written, because a write may be what frees the object.

Source: Python's reference, `object.__del__`; the documentation of weakref.
"""

from __future__ import annotations

import types
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.source import (
    AttributeSource,
    Call,
    ConstantSource,
    ReferentSource,
    Render,
    Source,
    Step,
)
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value, native_attribute
from minitorch2.jit.capture.values.constants import Constant

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine

REF = ConstantSource(weakref.ref, "ref")


@dataclass(frozen=True, slots=True, eq=False)
class WeakSource(Step):
    """The weak reference to an object: one without a callback is the same each time."""

    def fetch(self, call: Call) -> Any:
        return weakref.ref(self.origin.fetch(call))

    def expression(self, of: Render) -> str:
        return f"{of(REF)}({of(self.origin)})"

    def __str__(self) -> str:
        return f"ref({self.origin})"


class WeakValue(Value):
    """A weak reference: `object` is one that exists, `target` what one made inside refers to."""

    __slots__ = ("object", "target")

    def __init__(self, source: Source, object: Any = None, target: Value | None = None):
        super().__init__(source)
        self.object, self.target = object, target

    def python_type(self) -> type:
        return weakref.ref if self.object is None else type(self.object)

    def describe(self) -> str:
        return f"the weak reference {self.source}"

    def get_attribute(self, machine: Machine, name: str) -> Value:
        if name == "__callback__" and self.target is not None:
            return Constant(None)
        if name in ("key", "__callback__") and hasattr(self.object, name):
            assert self.source is not None
            return machine.wrap(getattr(self.object, name), AttributeSource(self.source, name))
        return native_attribute(machine, self, name)

    def referent(self, machine: Machine) -> Value:
        """What it refers to; None when it is no more."""
        if any(effect.may_free() for effect in machine.state.effects.items):
            machine.stop("weak-reference", f"{self.describe()} is asked")
        if self.target is not None:
            return machine.real(self.target)
        assert self.source is not None
        return machine.real(machine.wrap(self.object(), ReferentSource(self.source)))

    def call(self, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        return self.referent(machine)

    def _is_shared(self, machine: Machine) -> bool:
        """Whether it is the one that `weakref.ref(target)` gives."""
        callback = machine.real(self.get_attribute(machine, "__callback__"))
        none = isinstance(callback, Constant) and callback.value is None
        return none and self.python_type() is weakref.ref

    def same_as(self, machine: Machine, other: Value) -> bool:
        if self is other or not isinstance(other, WeakValue):
            return self is other
        if self.target is other.target is None:
            return super().same_as(machine, other)
        if not self._is_shared(machine) or not other._is_shared(machine):
            return False
        mine, theirs = self.referent(machine), other.referent(machine)
        return mine is theirs or mine.same_as(machine, theirs)

    def compare_with(
        self, machine: Machine, symbol: str, other: Value, reflected: bool
    ) -> Value | None:
        """Two are equal when the objects are; when one of these is no more, when they are one."""
        if symbol not in ("==", "!=") or not isinstance(other, WeakValue):
            return None
        mine, theirs = self.referent(machine), other.referent(machine)
        if any(isinstance(each, Constant) and each.value is None for each in (mine, theirs)):
            return Constant(self.same_as(machine, other) == (symbol == "=="))
        return machine.compare(symbol, mine, theirs)

    def emit(self, emitter: Emitter) -> str:
        assert self.source is not None
        return emitter.fetch(self.source)


def outside_reference(machine: Machine, object: weakref.ref, source: Source) -> Value:
    """The value of a weak reference that exists."""
    value = WeakValue(source, object)
    machine.state.remember(object, value)
    return value


def weak_reference(machine: Machine, target: Value) -> Value:
    """A weak reference to a value whose class allows it."""
    cls = target.python_type()
    if not cls.__weakrefoffset__:
        machine.type_error(f"cannot create weak reference to '{cls.__name__}' object")
    source = target.source
    if source is None and issubclass(cls, type):  # a class holds itself
        source = ConstantSource(target.known(), target.known().__name__, False)
    if source is None:
        machine.stop("lifetime", f"a weak reference to {target.describe()}")
    return WeakValue(WeakSource(source), None, target)


def check_lifetime(machine: Machine, cls: type) -> None:
    """A break before an instance is made of a class whose `__del__` runs Python code."""
    found = machine.class_lookup(cls, "__del__")
    if found is not None and not isinstance(found[1], types.WrapperDescriptorType):
        machine.stop("lifetime", f"a new {cls.__name__}, which has a __del__")
