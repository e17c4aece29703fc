"""The frame of the machine at a break: which place it is, and the values that stand there.

In: the machine, with its root frame before the instruction that Python is to do. Out: the `Place`
and its values, in the order in which the host function returns them.

An exception that was made during capture has no traceback yet. If one is alive at the break, the
break must come earlier, where it was raised: `RaisedHere` says at which step.
"""

from __future__ import annotations

from types import CodeType
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.resume.liveness import cell_slots, live_slots
from minitorch2.jit.capture.resume.place import ACTIVE, NULL, VALUE, Place, name_of
from minitorch2.jit.capture.resume.stop import entered
from minitorch2.jit.capture.state import Frame
from minitorch2.jit.capture.values.base import NULL as NO_OBJECT
from minitorch2.jit.capture.values.base import Lazy, Value
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.exceptions import (
    ExceptionValue,
    LastInstruction,
    PreviousException,
)
from minitorch2.jit.capture.values.functions import FunctionValue, MethodValue
from minitorch2.jit.capture.values.namespaces import CellValue
from minitorch2.jit.capture.values.objects import ObjectValue
from minitorch2.jit.capture.wrapping import cell_value

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


class Suspended(BaseException):
    """The machine has reached the step at which it is to stop; `frame` is the root frame.

    No exception of the captured program, so that no handler and no guard of capture sees it.
    """

    def __init__(self, frame: Frame):
        super().__init__()
        self.frame = frame


class RaisedHere(Exception):
    """Stop at this step instead: Python must raise the exception that is made there."""

    def __init__(self, step: int):
        super().__init__(step)
        self.step = step


def place_of(machine: Machine, frame: Frame) -> tuple[Place, list[Value]]:
    """The place of a frame before its current instruction, and the values there."""
    code = frame.code
    index = frame.index - 1
    live, cells = live_slots(code, index), cell_slots(code)
    slots = [s for s, held in enumerate(frame.slots) if held is not None and s in live]
    values: list[Value] = [frame.slots[slot] for slot in slots]
    held_cells = [s for s in slots if s in cells and isinstance(frame.slots[s], CellValue)]
    kinds: list[str | int] = []
    actives = _active_exceptions(machine, frame)
    for item in frame.stack:
        if item is NO_OBJECT:
            kinds.append(NULL)
        elif isinstance(item, LastInstruction):
            kinds.append(item.offset)
        elif isinstance(item, PreviousException):
            kinds.append(ACTIVE if item.pending else VALUE)
            values.append(actives.pop(0) if item.pending else Constant(None))
        else:
            kinds.append(VALUE)
            values.append(item)
    for value in values:
        if isinstance(value, ExceptionValue) and value.source is None:
            step, _ = machine.raised_at.get(id(value), (frame.step, None))
            if step != frame.step:
                raise RaisedHere(step)
    table = frame.globals.table
    place = Place(code, index, tuple(slots), tuple(held_cells), tuple(kinds), table, id(table))
    return place, values


def _active_exceptions(machine: Machine, frame: Frame) -> list[Any]:
    """For each level of exception handling, the exception that is active there."""
    levels = [item for item in frame.stack if isinstance(item, PreviousException)]
    before = [item.value for item in levels if item.pending]
    return [*before[1:], machine.state.exception]


def leads_to(value: Value, code: CodeType) -> bool:
    """Whether a call of the value runs a function with this code."""
    if isinstance(value, Lazy):
        if value.real is None:
            return entered(code, value.object) is not None
        return leads_to(value.real, code)
    if isinstance(value, FunctionValue):
        return value.code is code
    if isinstance(value, MethodValue):
        return leads_to(value.function, code)
    if isinstance(value, ObjectValue):
        found = [getattr(value.cls, name, None) for name in ("__call__", "forward")]
        return any(getattr(function, "__code__", None) is code for function in found)
    return False


def restored(machine: Machine, place: Place, values: list[Value], objects: tuple) -> Frame:
    """The frame of a place, with these values in it."""
    frame = Frame(place.code, machine.globals_value(place.globals), None)
    waiting = list(values)
    for slot, object in zip(place.slots, objects, strict=False):
        value = waiting.pop(0)
        if slot in place.cells:
            assert value.source is not None
            value = cell_value(machine, object, value.source, name_of(place.code, slot))
        frame.slots[slot] = value
    active: Value | None = None
    for kind in place.stack:
        if kind == NULL:
            frame.stack.append(NO_OBJECT)
        elif kind == ACTIVE:
            frame.stack.append(PreviousException(active))
            active = waiting.pop(0)
        elif kind == VALUE:
            frame.stack.append(waiting.pop(0))
        else:
            frame.stack.append(LastInstruction(kind))  # type: ignore[arg-type]
    machine.state.exception = machine.real(active) if active is not None else None
    frame.index = place.index
    return frame


def generator_place(frame: Frame) -> tuple[Place | None, list[Value]]:
    """(the place at which a generator's frame waits, what stands there); None where it waits in
    the middle of handling an exception."""
    code, slots, stack = frame.code, list(frame.slots), list(frame.stack)
    if frame.started:
        index = frame.index - 1  # its yield, which gives away one more item
        stack.append(Constant(None))
    else:
        index = next(i for i, ins in enumerate(frame.program.instructions) if ins.name == "RESUME")
        for instruction in frame.program.instructions[:index]:
            if instruction.name == "MAKE_CELL":
                slot = instruction.argument
                slots[slot] = CellValue(name_of(code, slot), slots[slot])
    live, cells = live_slots(code, index), cell_slots(code)
    held = [s for s, value in enumerate(slots) if value is not None and s in live]
    kinds: list[str | int] = []
    values = [slots[slot] for slot in held]
    for item in stack:
        if isinstance(item, PreviousException):
            return None, []
        kinds.append(NULL if item is NO_OBJECT else
                     item.offset if isinstance(item, LastInstruction) else VALUE)  # fmt: skip
        if kinds[-1] == VALUE:
            values.append(item)
    inside = tuple(s for s in held if s in cells and isinstance(slots[s], CellValue))
    table = frame.globals.table
    return Place(code, index, tuple(held), inside, tuple(kinds), table, id(table)), values


def finished_generator() -> Any:
    """A generator that has nothing more to give."""
    made: Any = (item for item in tuple[Any, ...]())
    next(made, None)
    return made
