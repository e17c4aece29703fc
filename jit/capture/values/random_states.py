"""Generators of random numbers: `torch.Generator`, made inside or met.

In: a generator. Out: one whose state, a seed and a counter, is followed during capture: what is
drawn from it stands in the graph as numbers of that seed and counter (Philox needs no more), and
the host function leaves the state behind. A seed makes such a one of the default generator, which
otherwise draws when the graph runs: an operation that is given it by name ends the graph then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitorch2 import random
from minitorch2.jit.capture.graph_break import GraphBreak
from minitorch2.jit.capture.source import AttributeSource, ConstantSource, Source
from minitorch2.jit.capture.state import CaptureState
from minitorch2.jit.capture.values.base import (
    Arguments,
    Keywords,
    Value,
    native_attribute,
)
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.random import Generator

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine

STATE = "{0}.seed_value, {0}.counter = {1}, {2}"


class RandomState(Value):
    """A generator; `stand` is a real one in the state that it has by now."""

    __slots__ = ("object", "stand", "is_read")

    def __init__(self, stand: Generator, object: Any = None, source: Source | None = None):
        super().__init__(source)
        self.object, self.stand, self.is_read = object, stand, object is None

    def python_type(self) -> type:
        return Generator

    def describe(self) -> str:
        return str(self.source) if self.source is not None else "a generator made inside"

    def _is_default(self) -> bool:
        return self.object is random.default_generator

    def _read(self, machine: Machine) -> None:
        """What state it has when the call begins."""
        if self.is_read:
            return
        self.is_read = True
        for name in ("seed_value", "counter"):
            place = AttributeSource(self.source, name)  # type: ignore[arg-type]
            found = machine.real(machine.lazy(getattr(self.object, name), place))
            setattr(self.stand, name, found.value)  # type: ignore[attr-defined]

    def lower(self, machine: Machine) -> Any:
        if self._is_default() and machine.state.seeded is not self:
            machine.stop("random-generator", "the default generator is handed to an operation")
        self._read(machine)
        return self.stand

    def get_attribute(self, machine: Machine, name: str) -> Value:
        if name == "device":
            return machine.from_python(self.stand.device)
        return native_attribute(machine, self, name)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        """Seeds; what hands the state out or takes it from somewhere is Python's to do."""
        if name == "manual_seed":
            given = [machine.real(value).known() for value in (*args, *kwargs.values())]
            machine.guarded(self.stand.manual_seed, *given)
            self.is_read = True
            if self._is_default():
                machine.state.seeded = self
            self.moved(machine.state)
            return self
        if name == "initial_seed":
            self._read(machine)
            return Constant(self.stand.seed_value)
        return machine.stop("random-generator", f"Generator.{name}()")

    def moved(self, state: CaptureState) -> None:
        """The state is another one."""
        seed, counter = Constant(self.stand.seed_value), Constant(self.stand.counter)
        state.effects.record(self, STATE, seed, counter)

    def take(self, state: CaptureState, count: Any) -> tuple[Any, Any]:
        """Counters for `count` numbers of a graph."""
        if type(count) is not int:
            raise GraphBreak("random-generator", "numbers of a generator whose count varies")
        taken = self.stand.take(count)
        self.moved(state)
        return taken

    def emit(self, emitter: Emitter) -> str:
        if self.source is not None:
            return emitter.fetch(self.source)
        made = f"{emitter.object(Generator, 'Generator')}({emitter.constant(self.stand.device)})"
        state = {"seed_value": Constant(self.stand.seed_value),
                 "counter": Constant(self.stand.counter)}  # fmt: skip
        return emitter.with_attributes(self, made, dict(state))


def random_state(machine: Machine, object: Generator, source: Source) -> Value:
    """The value of a generator that exists; whether it is the default one is guarded."""
    default = random.default_generator
    if object is default:
        machine.state.guard_identity(source, default)
    else:
        machine.state.guard_not_this(source, default)
    value = RandomState(Generator(object.device), object, source)
    machine.state.remember(object, value)
    machine.state.remember(value.stand, value)
    return value


def new_generator(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    """`torch.Generator(device)`."""
    plain = [machine.real(value).known() for value in args]
    named = {name: machine.real(value).known() for name, value in kwargs.items()}
    value = RandomState(machine.guarded(lambda: Generator(*plain, **named)))
    machine.state.remember(value.stand, value)
    return value


def manual_seed(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """`torch.manual_seed(seed)`: from here on the default generator's state is followed."""
    default = random.default_generator
    value = machine.state.by_id.get(id(default))
    if value is None:
        place = ConstantSource(default, "default_generator", False)
        value = random_state(machine, default, place)
    return value.call_method(machine, "manual_seed", args, kwargs)
