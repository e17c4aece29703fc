"""Locks that are made inside: nobody else can hold them.

In: nothing. Out: a context manager that counts.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from minitorch2.jit.capture.values.base import Arguments, Keywords, Value, native_attribute

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine


class LockValue(Value):
    """A reentrant lock."""

    __slots__ = ("held",)

    def __init__(self) -> None:
        super().__init__(None)
        self.held = 0

    def python_type(self) -> type:
        return type(threading.RLock())

    def describe(self) -> str:
        return "a lock made inside"

    def get_attribute(self, machine: Machine, name: str) -> Value:
        return native_attribute(machine, self, name)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        if name in ("acquire", "__enter__"):
            self.held += 1
            return machine.from_python(True)
        if name in ("release", "__exit__") and self.held:
            self.held -= 1
            return machine.from_python(None)
        return super().call_method(machine, name, args, kwargs)

    def emit(self, emitter: Emitter) -> str:
        if self.held:
            return super().emit(emitter)
        return emitter.assign(self, f"{emitter.object(threading.RLock, 'RLock')}()")
