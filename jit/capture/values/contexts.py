"""`no_grad`, `enable_grad`, `inference_mode`, `set_grad_enabled`, `autocast` in captured code.

In: the mode asked for. Out: a context manager that switches the mode of the capture itself, so that
the operations recorded meanwhile carry it (or the casts that autocast adds). The mode is set back
when capture ends; a mode that the captured function leaves changed is one of its effects.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from minitorch2 import dispatch
from minitorch2.amp.autocast import autocast
from minitorch2.autograd.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from minitorch2.jit.capture.source import AttributeSource, Source
from minitorch2.jit.capture.values.base import Arguments, Keywords, NativeMethod, Value
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.storages import births, count_births

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine

MODES = {"no_grad": False, "enable_grad": True, "inference_mode": False, "set_grad_enabled": None}


class GradModeValue(Value):
    """A grad-mode context manager: made inside, or one that exists (with a source).

    `previous` holds the modes to go back to, innermost last, as the context manager itself does.
    """

    __slots__ = ("cls", "mode", "previous", "infers")

    def __init__(self, cls: type, mode: bool, infers: bool = False, source: Source | None = None):
        super().__init__(source)
        self.cls, self.mode, self.infers = cls, mode, infers
        self.previous: list[tuple[bool, ...]] = []
        if cls is set_grad_enabled and source is None:  # acts when it is made, too
            self.previous.append(_now(cls))
            dispatch.state.grad_enabled = mode

    def python_type(self) -> type:
        return self.cls

    def describe(self) -> str:
        return f"{self.cls.__name__}()"

    def get_attribute(self, machine: Machine, name: str) -> Value:
        if name in ("__enter__", "__exit__", "__call__"):
            return NativeMethod(self, name)
        if name == "mode" and self.cls in (inference_mode, set_grad_enabled):
            return machine.from_python(self.infers or (self.mode and self.cls is set_grad_enabled))
        return super().get_attribute(machine, name)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        """Enter and leave: the mode of the capture itself changes, as the next operations see."""
        kept = self.cls is set_grad_enabled  # it remembers one mode, from when it was made
        if name == "__enter__":
            if not kept:
                self.previous.append(_now(self.cls))
                machine.state.effects.record(self, f"{{0}}.before.append({_now(self.cls)!r})")
            if self.cls is inference_mode:
                _switch(not self.infers, self.infers, self.infers)
            else:
                dispatch.state.grad_enabled = self.mode
            return self if kept else machine.from_python(None)
        if name == "__exit__":
            if kept:
                dispatch.state.grad_enabled = self.previous[-1][0]
                return machine.from_python(None)
            _switch(*self.previous.pop())
            machine.state.effects.record(self, "{0}.before.pop()")
            return machine.from_python(None)
        return self.call(machine, args, kwargs)

    def call(self, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        """As a decorator: by the class's own `__call__`, which capture reads through."""
        if self.cls is set_grad_enabled:  # what it set when it was made is set back
            dispatch.state.grad_enabled = self.previous[-1][0]
            kind = enable_grad if self.mode else no_grad
            return GradModeValue(kind, self.mode).call(machine, args, kwargs)
        return decorated(machine, self, args)

    def emit(self, emitter: Emitter) -> str:
        if self.source is not None:
            return emitter.fetch(self.source)
        make = emitter.object(object.__new__, "object_new")
        name = emitter.assign(self, f"{make}({emitter.object(self.cls, self.cls.__name__)})")
        kept = self.cls is set_grad_enabled
        before = self.previous[-1][0] if kept else self.previous
        emitter.lines.append(f"{name}.before = {before!r}")
        if kept or self.cls is inference_mode:
            mode = self.mode if kept else self.infers
            emitter.lines.append(f"{name}.mode = {mode!r}")
        return name


def decorated(machine: Machine, region: Value, args: Arguments) -> Value:
    """`region(function)`: the function that runs inside the region."""
    cls = region.python_type()
    method = machine.trusted(cls.__call__, f"{cls.__name__}.__call__")
    return machine.call(method, [region, *args], {})


def _now(cls: type) -> tuple[bool, ...]:
    """What a context manager of this class keeps when it is entered."""
    modes = dispatch.state.grad_enabled, dispatch.state.inference
    return (*modes, births.inference) if cls is inference_mode else modes


def _switch(grad: bool, inference: bool, made: bool | None = None) -> None:
    """Set the modes; `made`: whether tensors made from now on are inference tensors."""
    dispatch.state.grad_enabled, dispatch.state.inference = grad, inference
    if made is not None:
        count_births(made)


def grad_mode_value(machine: Machine, object: Any, source: Source) -> Value:
    """A grad-mode context manager that exists: what it would set back is guarded."""
    cls, before = type(object), object.before
    kept = cls is set_grad_enabled
    held = before if kept else list(before)
    machine.state.guard_value(AttributeSource(source, "before"), held)
    mode, infers = cls is enable_grad, False
    if cls in (set_grad_enabled, inference_mode):
        machine.state.guard_value(AttributeSource(source, "mode"), object.mode)
        infers = cls is inference_mode and bool(object.mode)
        mode = dispatch.state.grad_enabled and not infers
        if cls is set_grad_enabled:
            mode = bool(object.mode)
    made = GradModeValue(cls, mode, infers, source)
    made.previous = [(before, dispatch.state.inference)] if kept else list(before)
    machine.state.remember(object, made)
    return made


class AutocastValue(Value):
    """An autocast region. `region` belongs to the capture: it is a copy of one that exists."""

    __slots__ = ("region",)

    def __init__(self, region: autocast, source: Source | None = None):
        super().__init__(source)
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
        """Enter and leave the region of the capture."""
        if name == "__enter__":
            self.region.__enter__()
            before = Constant(self.region.before[-1])
            machine.state.effects.record(self, "{0}.before.append({1})", before)
            return self
        if name == "__exit__":
            self.region.__exit__()
            machine.state.effects.record(self, "{0}.before.pop()")
            return machine.from_python(None)
        return self.call(machine, args, kwargs)

    def call(self, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        return decorated(machine, self, args)

    def emit(self, emitter: Emitter) -> str:
        if self.source is not None:
            return emitter.fetch(self.source)
        copy = emitter.object(copied_region, "copied_region")
        return emitter.assign(self, f"{copy}({emitter.object(self.region, 'REGION')})")


def copied_region(region: autocast) -> autocast:
    """A region in the same state that goes its own way from here."""
    made = copy.copy(region)
    made.before = list(region.before)
    return made


def autocast_value(machine: Machine, object: autocast, source: Source) -> Value:
    """A region that exists: what it does and what it would set back is guarded."""
    region = copied_region(object)
    for name in ("before", "device", "fast_dtype", "_enabled"):
        held = getattr(region, name)
        held = list(held) if name == "before" else held
        machine.state.guard_value(AttributeSource(source, name), held)
    made = AutocastValue(region, source)
    machine.state.remember(object, made)
    return made


MODE_VALUES: dict[type, Any] = {
    no_grad: grad_mode_value,
    enable_grad: grad_mode_value,
    inference_mode: grad_mode_value,
    set_grad_enabled: grad_mode_value,
    autocast: autocast_value,
}
