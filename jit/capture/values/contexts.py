"""`no_grad`, `enable_grad`, `inference_mode`, `set_grad_enabled`, `autocast` in captured code.

In: the mode asked for. Out: a context manager that switches the mode of the capture itself, so that
the operations recorded meanwhile carry it (or the casts that autocast adds). The mode is set back
when capture ends; a mode that the captured function leaves changed is one of its effects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitorch2 import dispatch
from minitorch2.jit.capture.values.base import Arguments, Keywords, NativeMethod, Value

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine

MODES = {"no_grad": False, "enable_grad": True, "inference_mode": False, "set_grad_enabled": None}


class GradModeValue(Value):
    """A grad-mode context manager made inside."""

    __slots__ = ("cls", "mode", "previous")

    def __init__(self, cls: type, mode: bool):
        super().__init__(None)
        self.cls, self.mode = cls, mode
        self.previous: list[bool] = []
        if cls.__name__ == "set_grad_enabled":  # acts when it is made, too
            self.previous.append(dispatch.state.grad_enabled)
            dispatch.state.grad_enabled = mode

    def python_type(self) -> type:
        return self.cls

    def describe(self) -> str:
        return f"{self.cls.__name__}()"

    def get_attribute(self, machine: Machine, name: str) -> Value:
        if name in ("__enter__", "__exit__", "__call__"):
            return NativeMethod(self, name)
        return super().get_attribute(machine, name)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        if name == "__enter__":
            if self.cls.__name__ != "set_grad_enabled":
                self.previous.append(dispatch.state.grad_enabled)
            dispatch.state.grad_enabled = self.mode
            return self
        if name == "__exit__":
            dispatch.state.grad_enabled = self.previous.pop()
            return machine.from_python(False)
        machine.stop("unknown-call", f"{self.cls.__name__}() as a decorator inside the function")


class AutocastValue(Value):
    """An autocast region made inside."""

    __slots__ = ("region",)

    def __init__(self, region: Any):
        super().__init__(None)
        self.region = region

    def python_type(self) -> type:
        return type(self.region)

    def describe(self) -> str:
        return "autocast()"

    def get_attribute(self, machine: Machine, name: str) -> Value:
        if name in ("__enter__", "__exit__", "__call__"):
            return NativeMethod(self, name)
        return super().get_attribute(machine, name)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        if name == "__enter__":
            self.region.__enter__()
            return self
        if name == "__exit__":
            self.region.__exit__()
            return machine.from_python(False)
        machine.stop("unknown-call", "autocast() as a decorator inside the function")
