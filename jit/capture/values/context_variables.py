"""Context variables: what they hold in the context of the call.

In: a `contextvars.ContextVar` that exists. Out: `get` reads it through a guard, `set` and `reset`
are replayed after the graph in their order. A token that was made inside is one of the host
function's own `set`; what became of any other one only Python knows.

Source: the documentation of contextvars.
"""

from __future__ import annotations

import contextvars
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.source import Call, Render, Source, Step
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value, native_attribute
from minitorch2.jit.capture.values.constants import Constant

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine

UNSET = object()


@dataclass(frozen=True, slots=True, eq=False)
class ContextSource(Step):
    """What a context variable holds, or its default."""

    def fetch(self, call: Call) -> Any:
        return self.origin.fetch(call).get()

    def expression(self, of: Render) -> str:
        return f"{of(self.origin)}.get()"

    def __str__(self) -> str:
        return f"{self.origin}.get()"


class ContextVariable(Value):
    """A context variable; `held` is what was set here, `is_set` whether something is now."""

    __slots__ = ("object", "held", "is_set")

    def __init__(self, object: contextvars.ContextVar, source: Source):
        super().__init__(source)
        self.object = object
        self.held: Value | None = None
        self.is_set: bool | None = None  # None: as it was before the call

    def python_type(self) -> type:
        return contextvars.ContextVar

    def describe(self) -> str:
        return f"context variable {self.object.name}"

    def get_attribute(self, machine: Machine, name: str) -> Value:
        if name == "name":
            machine.state.guard_identity(self.source, self.object)
            return machine.from_python(self.object.name)
        return native_attribute(machine, self, name)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        if not kwargs and name == "get" and len(args) <= 1:
            return self._get(machine, *args)
        if not kwargs and name == "set" and len(args) == 1:
            return self._set(machine, args[0])
        if not kwargs and name == "reset" and len(args) == 1:
            return self._reset(machine, machine.real(args[0]))
        return super().call_method(machine, name, args, kwargs)

    def _get(self, machine: Machine, default: Value | None = None) -> Value:
        if self._there(machine):
            return self._value(machine)
        if default is not None:
            return default
        assert self.source is not None
        machine.state.guard_identity(self.source, self.object)  # which may have a default
        try:
            own = contextvars.Context().run(self.object.get)
        except LookupError:
            raise machine.raising(LookupError, [self]) from None
        return machine.lazy(own, ContextSource(self.source))

    def _there(self, machine: Machine) -> bool:
        """Whether something is set, so that no default counts; guarded."""
        if self.is_set is not None:
            return self.is_set
        there = self.object.get(UNSET) is not UNSET
        machine.state.guard_in_context(self.source, there, UNSET)
        return there

    def _value(self, machine: Machine) -> Value:
        """What is set."""
        if self.held is None:
            assert self.source is not None
            self.held = machine.lazy(self.object.get(), ContextSource(self.source))
        return self.held

    def _set(self, machine: Machine, value: Value) -> Value:
        there = self._there(machine)
        token = TokenValue(self, self._value(machine) if there else None)
        self.held, self.is_set = value, True
        machine.state.effects.record(self, "{1} = {0}.set({2})", token, value)
        return token

    def _reset(self, machine: Machine, token: Value) -> Value:
        if not isinstance(token, TokenValue) or token.variable is not self or token.used:
            machine.stop("unknown-call", "ContextVar.reset() of a token that capture does not know")
        token.used = True
        self.held, self.is_set = token.before, token.before is not None
        machine.state.effects.record(self, "{0}.reset({1})", token)
        return Constant(None)

    def emit(self, emitter: Emitter) -> str:
        assert self.source is not None
        return emitter.fetch(self.source)


class TokenValue(Value):
    """What `set` gave: the way back to what was `before` (None: nothing)."""

    __slots__ = ("variable", "before", "used")

    def __init__(self, variable: ContextVariable, before: Value | None):
        super().__init__(None)
        self.variable, self.before, self.used = variable, before, False

    def python_type(self) -> type:
        return contextvars.Token

    def get_attribute(self, machine: Machine, name: str) -> Value:
        if name == "var":
            return self.variable
        if name == "old_value":
            missing = machine.trusted(contextvars.Token.MISSING, "MISSING")
            return self.before if self.before is not None else missing
        return native_attribute(machine, self, name)

    def emit(self, emitter: Emitter) -> str:
        return emitter.assign(self, "None")  # until the statement that sets the variable


def context_variable(machine: Machine, object: contextvars.ContextVar, source: Source) -> Value:
    """The value of a context variable that exists."""
    value = ContextVariable(object, source)
    machine.state.remember(object, value)
    return value
