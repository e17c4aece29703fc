"""Iterators over known things, and generators of functions that are inlined.

In: a Python iterator of values (zip, map, enumerate and the rest are written as such), or the
frame of a generator function. Out: `advance(machine)`, the next value or None at the end.
"""

from __future__ import annotations

import types
from abc import abstractmethod
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.instructions import PY312
from minitorch2.jit.capture.values.base import (
    Arguments,
    Keywords,
    UserRaise,
    Value,
    native_attribute,
)
from minitorch2.jit.capture.values.constants import Constant

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine
    from minitorch2.jit.capture.state import Frame
    from minitorch2.jit.capture.values.sequences import SequenceValue


LIST_ITERATOR: type = type(iter([""]))


class Steps(Iterator[Value]):
    """How an iterator goes on, and how it is made anew where it stands."""

    __slots__ = ()

    @abstractmethod
    def emit(self, emitter: Emitter, value: Value) -> str:
        """The real iterator, where it stands now."""


class Walk(Steps):
    """The steps of an iterator over a list or tuple, which may grow meanwhile."""

    __slots__ = ("sequence", "index", "ended")

    def __init__(self, sequence: SequenceValue):
        self.sequence, self.index, self.ended = sequence, 0, False

    def __next__(self) -> Value:
        self.ended = self.ended or self.index >= len(self.sequence.values)
        if self.ended:
            raise StopIteration
        self.index += 1
        return self.sequence.values[self.index - 1]

    def emit(self, emitter: Emitter, value: Value) -> str:
        items = "iter(())" if self.ended else emitter.called(self.sequence, "__iter__")
        name = emitter.assign(value, items)
        if self.index and not self.ended:
            emitter.lines.append(f"{name}.__setstate__({self.index})")
        return name


class Backwards(Iterator[Value]):
    """The steps of `reversed` over a list or tuple, from where its end was to its beginning."""

    __slots__ = ("sequence", "index")

    def __init__(self, sequence: SequenceValue):
        self.sequence, self.index = sequence, len(sequence.values) - 1

    def __next__(self) -> Value:
        if not 0 <= self.index < len(self.sequence.values):
            self.index = -1
            raise StopIteration
        self.index -= 1
        return self.sequence.values[self.index + 1]


def gone_on(emitter: Emitter, value: Value, text: str, steps: Any) -> str:
    """A new iterator that stands where `steps` do: `taken` items on, or at the end."""
    name = emitter.assign(value, text)
    if steps.taken or steps.ended:
        skip = emitter.object(skipped, "skipped")
        emitter.lines.append(f"{skip}({name}, {None if steps.ended else steps.taken})")
    return name


class Passed(Steps):
    """The steps through something that gives the same items when it is gone through again."""

    __slots__ = ("items", "base", "taken", "ended")

    def __init__(self, items: Iterator[Value], base: Value):
        self.items, self.base = items, base
        self.taken, self.ended = 0, False

    def __next__(self) -> Value:
        try:
            found = next(self.items)
        except StopIteration:
            self.ended = True
            raise
        self.taken += 1
        return found

    def emit(self, emitter: Emitter, value: Value) -> str:
        return gone_on(emitter, value, f"iter({emitter.value(self.base)})", self)


class Numbered(Steps):
    """The steps of `enumerate`."""

    __slots__ = ("machine", "inner", "count")

    def __init__(self, machine: Machine, inner: Value, start: int):
        self.machine, self.inner, self.count = machine, inner, start

    def __next__(self) -> Value:
        item = self.machine.advance_iterator(self.inner)
        if item is None:
            raise StopIteration
        self.count += 1
        return self.machine.tuple_of([self.machine.from_python(self.count - 1), item])

    def emit(self, emitter: Emitter, value: Value) -> str:
        return emitter.assign(value, f"enumerate({emitter.value(self.inner)}, {self.count})")


class Combined(Steps):
    """The steps of `zip`, `map` and `filter`: what they are made of is all they know."""

    __slots__ = ("machine", "steps", "cls", "parts", "strict")

    def __init__(
        self, machine: Machine, steps: Iterator[Value], cls: type, parts: list[Value],
        strict: bool = False,
    ):  # fmt: skip
        self.machine, self.steps = machine, steps
        self.cls, self.parts, self.strict = cls, parts, strict

    def __next__(self) -> Value:
        found = self.machine.guarded(next, self.steps, None)  # zip may find the lengths wrong
        if found is None:
            raise StopIteration
        return found

    def emit(self, emitter: Emitter, value: Value) -> str:
        inside = ", ".join(emitter.value(part) for part in self.parts)
        strict = ", strict=True" if self.strict else ""
        return emitter.assign(value, f"{self.cls.__name__}({inside}{strict})")


def skipped(iterator: Any, count: int | None) -> None:
    """Take items from an iterator, all of them for None."""
    deque(iterator if count is None else islice(iterator, count), 0)


class AnyIterator(Value):
    """What is its own iterator; kinds add how it advances."""

    __slots__ = ()

    def iterator(self, machine: Machine) -> Value:
        return self

    def get_attribute(self, machine: Machine, name: str) -> Value:
        return native_attribute(machine, self, name)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        if name == "__next__":
            return machine.next(self)
        if name == "__iter__":
            return self
        return super().call_method(machine, name, args, kwargs)


class IteratorValue(AnyIterator):
    """An iterator whose steps are computed by capture; `cls` is the class it stands for."""

    __slots__ = ("steps", "cls")

    def __init__(self, steps: Iterator[Value], cls: type = LIST_ITERATOR):
        super().__init__(None)
        self.steps = steps
        self.cls = cls

    def python_type(self) -> type:
        return self.cls

    def describe(self) -> str:
        return self.cls.__name__

    def advance(self, machine: Machine) -> Value | None:
        """The next value, or None when there are no more."""
        return next(self.steps, None)

    def emit(self, emitter: Emitter) -> str:
        if isinstance(self.steps, Steps):
            return self.steps.emit(emitter, self)
        if self.cls is not LIST_ITERATOR:
            return super().emit(emitter)
        inside = ", ".join(emitter.value(value) for value in self.steps)
        return emitter.assign(self, f"iter([{inside}])")


def stopped_inside(machine: Machine, error: Value) -> Value:
    """What a StopIteration becomes that is raised inside a generator."""
    text = machine.from_python("generator raised StopIteration")
    found: Any = machine.exception(RuntimeError, [text])
    links = found.attributes
    links["__cause__"] = links["__context__"] = error
    return found


class GeneratorValue(Value):
    """A generator of an inlined function: its frame, run up to each yield."""

    __slots__ = ("frame", "finished", "running")

    def __init__(self, frame: Frame):
        super().__init__(None)
        self.frame = frame
        self.finished = False
        self.running = False

    def python_type(self) -> type:
        return types.GeneratorType

    def is_waiting_in_try(self) -> bool:
        """Whether it was left at a yield for which a handler or `finally` stands ready."""
        frame = self.frame
        if self.finished or not frame.started:
            return False
        place = frame.index - 1
        while True:
            handler = frame.program.handler_at(place)
            if handler is None:
                return False
            first = frame.program.instructions[handler.target].name
            if first != "CLEANUP_THROW":  # which belongs to a `yield from`
                return first != "CALL_INTRINSIC_1"  # which all generators have, from 3.12 on
            place = handler.target

    def describe(self) -> str:
        return f"generator {self.frame.code.co_name}"

    def iterator(self, machine: Machine) -> Value:
        return self

    def advance(self, machine: Machine) -> Value | None:
        """Run to the next yield; None when the function returns."""
        return self.send(machine, machine.from_python(None))

    def send(self, machine: Machine, value: Value, error: UserRaise | None = None) -> Value | None:
        """Resume with a value or with an exception."""
        if self.finished:
            if error is not None:
                raise error
            return None
        if self.running:
            machine.raise_(ValueError, "generator already executing")
        self.running = True
        try:
            yielded = machine.resume(self.frame, value, error)
        except UserRaise as raised:
            self.finished = True
            if not PY312 and issubclass(raised.value.python_type(), StopIteration):
                raise UserRaise(stopped_inside(machine, raised.value)) from None
            raise
        finally:
            self.running = False
        if yielded is None:
            self.finished = True
        return yielded

    def get_attribute(self, machine: Machine, name: str) -> Value:
        if name == "gi_frame":
            machine.stop("unknown-attribute", f"reading .{name} of {self.describe()}")
        if name == "gi_code":
            return machine.from_python(self.frame.code)
        if name == "gi_yieldfrom":
            return self.inner(machine) or machine.from_python(None)
        if name == "gi_suspended":
            waits = self.frame.started and not self.finished and not self.running
            return machine.from_python(waits)
        if name == "gi_running":
            return machine.from_python(self.running)
        if name in ("__name__", "__qualname__"):
            return machine.from_python(getattr(self.frame.code, f"co{name.rstrip('_')[1:]}"))
        return native_attribute(machine, self, name)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        """`send`, `throw`, `close` and the iterator protocol: the frame goes on."""
        if name == "__iter__":
            return self
        if name == "__next__":
            return machine.next(self)
        if name == "close":
            return self._close(machine)
        if name == "throw":
            found = self.throw(machine, self._thrown(machine, args))
        elif name == "send":
            found = self.send(machine, args[0])
        else:
            return super().call_method(machine, name, args, kwargs)
        if found is None:
            machine.stop_iteration(self.frame.result)
        return found

    def _thrown(self, machine: Machine, args: Arguments) -> Value:
        if len(args) > 1 and PY312:
            machine.stop("unknown-call", "generator.throw() with more than an exception")
        if len(args) < 2 or machine.real(args[1]).python_type() is type(None):
            return machine.as_exception(args[0])
        if issubclass(machine.real(args[1]).python_type(), BaseException):
            return machine.as_exception(args[1])
        return machine.call(args[0], [args[1]], {})

    def inner(self, machine: Machine) -> Value | None:
        """What a `yield from` hands on to at this moment."""
        frame = self.frame
        if self.finished or not frame.started or not frame.stack:
            return None
        at = frame.index - 1  # the yield, behind the SEND of its loop
        if frame.program.instructions[at - 1].name != "SEND":
            return None
        return machine.real(frame.stack[-1])

    def throw(self, machine: Machine, error: Value) -> Value | None:
        """Raise an exception where the generator waits, or in the one that it hands on to."""
        inner = self.inner(machine)
        if inner is None:
            return self.send(machine, machine.from_python(None), UserRaise(error))
        leaves = issubclass(error.python_type(), GeneratorExit)
        try:
            if leaves and machine.has(inner, "close"):
                machine.method(inner, "close", [])
            elif not leaves and isinstance(inner, GeneratorValue):
                yielded = inner.throw(machine, error)
                if yielded is not None:
                    return yielded
                error = machine.exception(StopIteration, [inner.frame.result or Constant(None)])
            elif not leaves and machine.has(inner, "throw"):
                return machine.method(inner, "throw", [error])
        except UserRaise as raised:
            error = raised.value
        if not PY312 and issubclass(error.python_type(), StopIteration):
            return self._behind_yield_from(machine, machine.get_attribute(error, "value"))
        return self.send(machine, machine.from_python(None), UserRaise(error))

    def _behind_yield_from(self, machine: Machine, result: Value) -> Value | None:
        """Go on where the inner iterator has ended (from 3.12 on, an own handler does this)."""
        frame = self.frame
        target = frame.program.instructions[frame.index - 2].target
        assert target is not None
        frame.stack.pop()
        frame.index = target
        return self.send(machine, result)

    def _close(self, machine: Machine) -> Value:
        none = machine.from_python(None)
        if self.finished or not self.frame.started:
            self.finished = True
            return none
        try:
            yielded = self.throw(machine, machine.exception(GeneratorExit, []))
        except UserRaise as raised:
            if raised.value.python_type() not in (GeneratorExit, StopIteration):
                raise
            return none
        if yielded is not None:
            machine.raise_(RuntimeError, "generator ignored GeneratorExit")
        return none

    def emit(self, emitter: Emitter) -> str:
        return emitter.generator(self)
