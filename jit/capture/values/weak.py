"""Weak references that are made inside: what they refer to lives while capture runs.

In: a value. Out: something that answers with the value when it is called.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

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


def weak_reference(machine: Machine, target: Value) -> Value:
    """A weak reference to a value whose class allows it."""
    cls = target.python_type()
    if not cls.__weakrefoffset__:
        machine.type_error(f"cannot create weak reference to '{cls.__name__}' object")
    return WeakValue(target)
