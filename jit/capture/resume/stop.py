"""A graph break: the operation that Python does, and the places from which the call goes on.

In: the `Place` of the frame before the operation, and the objects that stand there. Out: `perform`
does the operation and answers a `Turn` with the objects of the next place: behind the instruction,
at the target of a jump, or at the user's own `except` when the operation raised. An exception that
nobody in this function catches is raised from here; its traceback names the user's line, because
the operation runs in code spliced from the user's.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from minitorch2.jit.capture.graph_break import OPERATION, GraphBreak
from minitorch2.jit.capture.handlers.control_flow import after_loop
from minitorch2.jit.capture.instructions import Handler, decode
from minitorch2.jit.capture.resume.frames import of_program
from minitorch2.jit.capture.resume.liveness import live_slots
from minitorch2.jit.capture.resume.operations import (
    END,
    NEXT,
    PLAIN,
    TRUTH,
    Operation,
    operation_at,
)
from minitorch2.jit.capture.resume.place import ACTIVE, NULL, VALUE, Place
from minitorch2.jit.capture.resume.splice import (
    Prologue,
    encode,
    frame_inputs,
    operation_code,
)
from minitorch2.jit.capture.values.objects import HOOK_TABLES
from minitorch2.nn.module import Module

Compiled = Callable[[CodeType, Any], Any]


@dataclass(eq=False, slots=True)
class Turn:
    """One way on: the next place, and which of the objects of this one go along."""

    place: Place
    taken: tuple[int, ...]
    cache: Any = None  # what is compiled for the place, once it was looked up

    def values(self, values: tuple, results: tuple = ()) -> tuple:
        """The objects of the next place."""
        return tuple([values[index] for index in self.taken]) + results


@dataclass(eq=False, slots=True)
class Stop:
    """The end of one graph. `callee` is the code of the function in which it broke, when the
    operation is the call of it: that function is compiled by itself."""

    place: Place
    reason: GraphBreak
    callee: CodeType | None = None
    operation: Operation | None = None
    code: CodeType | None = None
    enter: Callable[..., Any] | None = None
    callee_index: int | None = None
    single: Turn | None = None  # the way on, when it is the only one and there is one result
    turns: dict[Any, Turn | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.reason.row.runs == OPERATION:
            self.operation = operation_at(self.place.code, self.place.index)
        if self.operation is not None:
            self._build(self.operation)

    def _build(self, operation: Operation) -> None:
        """The code of the operation alone."""
        place = self.place
        named = dict(operation.constants)
        constant_at = {name: place.width + index for index, name in enumerate(named)}
        sources: list[int] = []
        active = [d for d, kind in enumerate(place.stack) if kind == ACTIVE]
        pushes: list[bool] = []
        for operand in operation.operands:
            index = constant_at.get(operand) if isinstance(operand, str) else self._index(operand)
            pushes.append(index is not None)
            if index is not None:
                sources.append(index)
        if active:
            sources.insert(0, place.value_index(active[-1]))  # type: ignore[arg-type]
        inputs, own, unbound = frame_inputs(place, tuple(sources))
        prologue = Prologue(place, own, unbound)
        if active:
            prologue.activate()
        for is_object in pushes:
            prologue.push(VALUE if is_object else NULL)
        count = 1 if operation.kind in (TRUTH, NEXT) else operation.pushed.count(VALUE)
        ending = b"" if count == 1 else encode("BUILD_TUPLE", count)
        ending += (encode("SWAP", 2) + encode("POP_TOP")) * operation.dropped
        room = len(operation.operands) + count + 4
        self.code = operation_code(
            prologue, own, place.index, operation.body, ending, room, bool(active)
        )
        self.enter = inputs.entrance(self.code, place, tuple(named.values()))
        if self.callee is not None and operation.callee is not None:
            first = self._index(operation.operands[0])  # type: ignore[arg-type]
            second = self._index(operation.operands[1])  # type: ignore[arg-type]
            self.callee_index = second if first is None else first

    def _index(self, operand: int) -> int | None:
        return self.place.value_index(len(self.place.stack) + operand)

    def words(self) -> str:
        """What happens at the break, for the user."""
        if self.operation is None:
            return "the rest of the function runs as Python."
        if self.callee_index is not None and self.callee is not None:
            name = self.callee.co_qualname.replace("<locals>.", "")
            return f"{name}() is compiled by itself, and capture goes on behind the call."
        return "Python does this one operation, and capture goes on behind it."

    # ---- doing it

    def perform(self, values: tuple, compiled: Compiled) -> tuple[Turn, tuple]:
        """Do the operation; where the call goes on, with what. `compiled` wraps a function that
        is called here and compiled by itself."""
        operation, enter, given = self.operation, self.enter, values
        assert operation is not None and enter is not None
        if self.callee_index is not None and self.callee is not None:
            at = self.callee_index
            given = (*values[:at], compiled(self.callee, values[at]), *values[at + 1 :])
        failure: BaseException | None = None
        try:
            result = enter(*given)
        except BaseException as error:
            if self._handler() is None:
                raise
            failure = error
        if failure is not None:
            try:
                return self._caught(values, failure)
            finally:
                failure = None  # its traceback holds this frame: a circle
        if self.single is not None:
            return self.single, (*[values[index] for index in self.single.taken], result)
        return self._went_on(operation, values, result)

    def _went_on(self, operation: Operation, values: tuple, result: Any) -> tuple[Turn, tuple]:
        if operation.kind == PLAIN:
            turn = self._turn(None)
            if operation.pushed.count(VALUE) == 1:
                self.single = turn
                return turn, turn.values(values, (result,))
            return turn, turn.values(values, result)
        if operation.kind == NEXT:
            turn = self._turn(result is END)
            return turn, turn.values(values, () if result is END else (result,))
        turn = self._turn(not result)  # the operation was `not x`
        return turn, turn.values(values)

    def _caught(self, values: tuple, error: BaseException) -> tuple[Turn, tuple]:
        """The way to the user's handler; the traceback starts at the user's frame, as it would."""
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code is not self.code:
            trace = trace.tb_next
        error.__traceback__ = of_program(trace or error.__traceback__)
        turn = self._turn("caught")
        return turn, turn.values(values, (error,))

    # ---- the ways on

    def _handler(self) -> Handler | None:
        return decode(self.place.code).handler_at(self.place.index)

    def _turn(self, outcome: Any) -> Turn:
        found = self.turns.get(outcome)
        if found is None:
            found = self.turns[outcome] = self._made(outcome)
        return found

    def _made(self, outcome: Any) -> Turn:
        operation, stack = self.operation, self.place.stack
        assert operation is not None
        program = decode(self.place.code)
        index = self.place.index + operation.jump
        instruction = program.instructions[index]
        index += 1
        left = stack[: len(stack) - operation.popped]
        if outcome == "caught":
            caught = way_to_handler(self.place, self.place.index)
            assert caught is not None
            return caught
        if operation.kind == NEXT and outcome is True:
            assert instruction.target is not None
            return self._to(after_loop(program, instruction.target), stack[:-1], ())
        if operation.kind == TRUTH:
            wanted = "IF_TRUE" in instruction.name
            if outcome is wanted:
                assert instruction.target is not None
                return self._to(instruction.target, left, ())
            return self._to(index, stack[: len(stack) - max(operation.popped, 1)], ())
        return self._to(index, left, operation.pushed)

    def _to(self, index: int, kept: tuple, pushed: tuple[str, ...]) -> Turn:
        return _way(self.place, index, kept, pushed)


def _way(place: Place, index: int, kept: tuple, pushed: tuple[str, ...]) -> Turn:
    """From a place to another instruction, with the lower part of its stack and new items."""
    live = live_slots(place.code, index)
    slots = tuple(slot for slot in place.slots if slot in live)
    taken = [place.slots.index(slot) for slot in slots]
    depths = range(sum(1 for kind in kept if kind in (VALUE, ACTIVE)))
    taken += [len(place.slots) + depth for depth in depths]
    cells = tuple(slot for slot in place.cells if slot in slots)
    made = Place(place.code, index, slots, cells, (*kept, *pushed), place.globals,
                 place.globals_id)  # fmt: skip
    return Turn(made, tuple(taken))


def way_to_handler(place: Place, index: int) -> Turn | None:
    """Where an exception leads that instruction `index` raises: to an except, a finally, the end of
    a with block; None when it leaves the function."""
    program = decode(place.code)
    handler = program.handler_at(index)
    if handler is None:
        return None
    offset = (program.instructions[index].offset,) if handler.lasti else ()
    return _way(place, handler.target, (*place.stack[: handler.depth], *offset), (VALUE,))


def entered(code: CodeType, callee: Any) -> tuple[types.FunctionType, tuple] | None:
    """The function with this code that a call of an object runs, and what comes before its
    arguments: of a module without hooks that is `forward`."""
    found = function_of(callee)
    if isinstance(callee, Module) and not any(getattr(callee, name) for name in HOOK_TABLES):
        found = function_of(callee.forward)
    return found if found is not None and found[0].__code__ is code else None


def function_of(callee: Any) -> tuple[types.FunctionType, tuple] | None:
    """The Python function that a call runs, and what comes before the arguments."""
    if isinstance(callee, types.FunctionType):
        return callee, ()
    if isinstance(callee, types.MethodType):
        found = function_of(callee.__func__)
        return None if found is None else (found[0], (*found[1], callee.__self__))
    if isinstance(callee, type):
        return None
    call = inspect.getattr_static(type(callee), "__call__", None)
    if isinstance(call, types.FunctionType):
        return call, (callee,)
    return None
