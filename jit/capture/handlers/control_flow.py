"""Jumps, loops, return and yield."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.handlers.registry import RETURNED, YIELDED, handles
from minitorch2.jit.capture.instructions import PY312, PY313, Instruction, Program
from minitorch2.jit.capture.protocols import identical
from minitorch2.jit.capture.state import Frame
from minitorch2.jit.capture.values.base import NULL, UserRaise, Value
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.iterators import GeneratorValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


def jump(frame: Frame, ins: Instruction) -> None:
    """Go to the instruction's target."""
    assert ins.target is not None
    frame.index = ins.target


@handles("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
def jump_always(machine: Machine, frame: Frame, ins: Instruction) -> None:
    jump(frame, ins)


@handles("POP_JUMP_IF_TRUE", "POP_JUMP_FORWARD_IF_TRUE", "POP_JUMP_BACKWARD_IF_TRUE")
def pop_jump_if_true(machine: Machine, frame: Frame, ins: Instruction) -> None:
    if machine.truth(frame.stack.pop()):
        jump(frame, ins)


@handles("POP_JUMP_IF_FALSE", "POP_JUMP_FORWARD_IF_FALSE", "POP_JUMP_BACKWARD_IF_FALSE")
def pop_jump_if_false(machine: Machine, frame: Frame, ins: Instruction) -> None:
    if not machine.truth(frame.stack.pop()):
        jump(frame, ins)


def is_none(machine: Machine, value: Value) -> bool:
    """`value is None`."""
    return identical(machine, value, Constant(None))


@handles("POP_JUMP_IF_NONE", "POP_JUMP_FORWARD_IF_NONE", "POP_JUMP_BACKWARD_IF_NONE")
def pop_jump_if_none(machine: Machine, frame: Frame, ins: Instruction) -> None:
    if is_none(machine, frame.stack.pop()):
        jump(frame, ins)


@handles("POP_JUMP_IF_NOT_NONE", "POP_JUMP_FORWARD_IF_NOT_NONE", "POP_JUMP_BACKWARD_IF_NOT_NONE")
def pop_jump_if_not_none(machine: Machine, frame: Frame, ins: Instruction) -> None:
    if not is_none(machine, frame.stack.pop()):
        jump(frame, ins)


@handles("JUMP_IF_TRUE_OR_POP")
def jump_if_true_or_pop(machine: Machine, frame: Frame, ins: Instruction) -> None:
    if machine.truth(frame.stack[-1]):
        jump(frame, ins)
    else:
        frame.stack.pop()


@handles("JUMP_IF_FALSE_OR_POP")
def jump_if_false_or_pop(machine: Machine, frame: Frame, ins: Instruction) -> None:
    if not machine.truth(frame.stack[-1]):
        jump(frame, ins)
    else:
        frame.stack.pop()


# ---- loops


@handles("GET_ITER")
def get_iter(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(machine.iterator(frame.stack.pop()))


@handles("FOR_ITER")
def for_iter(machine: Machine, frame: Frame, ins: Instruction) -> None:
    found = machine.advance_iterator(frame.stack[-1])
    if found is not None:
        frame.stack.append(found)
        return
    frame.stack.pop()
    assert ins.target is not None
    frame.index = after_loop(frame.program, ins.target)


def after_loop(program: Program, target: int) -> int:
    """Where a loop goes on at its end: behind the instructions that only tidy up after it."""
    if PY312 and program.instructions[target].name == "END_FOR":
        return target + (2 if PY313 else 1)
    return target


@handles("END_FOR")
def end_for(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.pop()
    if not PY313:
        frame.stack.pop()


# ---- leaving the frame


@handles("RETURN_VALUE")
def return_value(machine: Machine, frame: Frame, ins: Instruction) -> Any:
    frame.result = frame.stack.pop()
    return RETURNED


@handles("RETURN_CONST")
def return_const(machine: Machine, frame: Frame, ins: Instruction) -> Any:
    frame.result = machine.from_python(ins.value)
    return RETURNED


@handles("RETURN_GENERATOR")
def return_generator(machine: Machine, frame: Frame, ins: Instruction) -> None:
    """The generator object was made by the call; its frame goes on with the POP_TOP."""
    frame.stack.append(NULL)


@handles("YIELD_VALUE")
def yield_value(machine: Machine, frame: Frame, ins: Instruction) -> Any:
    return YIELDED


@handles("GET_YIELD_FROM_ITER")
def get_yield_from_iter(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(machine.iterator(frame.stack.pop()))


@handles("SEND")
def send(machine: Machine, frame: Frame, ins: Instruction) -> None:
    """One step of `yield from`: what the inner iterator yields, or its result and a jump."""
    value = frame.stack.pop()
    receiver = machine.real(frame.stack[-1])
    result: Value = Constant(None)
    if isinstance(receiver, GeneratorValue):
        found = receiver.send(machine, value)
        result = receiver.frame.result or result
    else:
        found = machine.advance_iterator(receiver)
    if found is not None:
        frame.stack.append(found)
        return
    if not PY312:
        frame.stack.pop()  # 3.11 has no END_SEND
    frame.stack.append(result)
    jump(frame, ins)


@handles("END_SEND")
def end_send(machine: Machine, frame: Frame, ins: Instruction) -> None:
    del frame.stack[-2]


@handles("CLEANUP_THROW")
def cleanup_throw(machine: Machine, frame: Frame, ins: Instruction) -> None:
    error = machine.real(frame.stack[-1])
    if not issubclass(error.python_type(), StopIteration):
        raise UserRaise(error)
    del frame.stack[-3:]
    frame.stack += [Constant(None), machine.get_attribute(error, "value")]
