"""raise, except, finally, with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from minitorch2.jit.capture.handlers.control_flow import is_none
from minitorch2.jit.capture.handlers.registry import handles
from minitorch2.jit.capture.instructions import Instruction
from minitorch2.jit.capture.rules.groups import matched, to_raise
from minitorch2.jit.capture.state import Frame
from minitorch2.jit.capture.values.base import UserRaise, Value
from minitorch2.jit.capture.values.classes import ClassValue
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.exceptions import (
    ExceptionValue,
    PreviousException,
    traceback_of,
)

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


@handles("RAISE_VARARGS")
def raise_varargs(machine: Machine, frame: Frame, ins: Instruction) -> None:
    """`raise`, `raise error`, `raise error from cause`; the machine links the context."""
    cause = frame.stack.pop() if ins.argument == 2 else None
    if ins.argument == 0:
        if machine.state.exception is None:
            machine.raise_(RuntimeError, "No active exception to reraise")
        raise UserRaise(machine.state.exception)
    error = machine.as_exception(frame.stack.pop())
    if isinstance(error, ExceptionValue):
        if cause is not None:
            error.attributes["__cause__"] = machine.real(cause)
            error.attributes["__suppress_context__"] = Constant(True)
    raise UserRaise(error)


@handles("RERAISE")
def reraise(machine: Machine, frame: Frame, ins: Instruction) -> None:
    raise UserRaise(machine.real(frame.stack.pop()))


@handles("PUSH_EXC_INFO")
def push_exc_info(machine: Machine, frame: Frame, ins: Instruction) -> None:
    error = frame.stack.pop()
    frame.stack.append(PreviousException(machine.state.exception))
    frame.stack.append(error)
    machine.state.exception = error


@handles("POP_EXCEPT")
def pop_except(machine: Machine, frame: Frame, ins: Instruction) -> None:
    previous = frame.stack.pop()
    previous.pending = False
    machine.state.exception = previous.value


@handles("CHECK_EXC_MATCH")
def check_exc_match(machine: Machine, frame: Frame, ins: Instruction) -> None:
    wanted = machine.real(frame.stack.pop()).known()
    error = machine.real(frame.stack[-1])
    kinds = wanted if isinstance(wanted, tuple) else (wanted,)
    if not all(isinstance(kind, type) and issubclass(kind, BaseException) for kind in kinds):
        machine.type_error("catching classes that do not inherit from BaseException is not allowed")
    frame.stack.append(Constant(issubclass(error.python_type(), kinds)))


@handles("CHECK_EG_MATCH")
def check_eg_match(machine: Machine, frame: Frame, ins: Instruction) -> None:
    """`except* wanted`: the rest stays, and what the clause gets comes above it."""
    wanted = machine.real(frame.stack.pop())
    kinds = wanted.known() if isinstance(wanted.known(), tuple) else (wanted.known(),)
    if not all(isinstance(kind, type) and issubclass(kind, BaseException) for kind in kinds):
        machine.type_error("catching classes that do not inherit from BaseException is not allowed")
    if any(issubclass(kind, BaseExceptionGroup) for kind in kinds):
        machine.type_error(
            "catching ExceptionGroup with except* is not allowed. Use except instead."
        )
    found = machine.call(machine.trusted(matched, "matched"), [frame.stack.pop(), wanted], {})
    match, rest = (machine.real(part) for part in machine.items(found))
    frame.stack += [rest, match]
    if not is_none(machine, match):
        machine.state.exception = match


@handles("PREP_RERAISE_STAR")
def prep_reraise_star(machine: Machine, frame: Frame, ins: Instruction) -> None:
    errors = frame.stack.pop()
    frame.stack.append(raised_behind(machine, frame.stack.pop(), errors))


def raised_behind(machine: Machine, caught: Value, errors: Value) -> Value:
    """What is raised behind the clauses of `except*`; None for nothing. A new group has the
    traceback of the one that was caught, which Python must have raised."""
    caught = machine.real(caught)
    found = machine.real(machine.call(machine.trusted(to_raise, "to_raise"), [caught, errors], {}))
    if id(caught) in machine.raised_at:
        machine.raised_at.setdefault(id(found), (machine.raised_at[id(caught)][0], found))
    return found


@handles("BEFORE_WITH")
def before_with(machine: Machine, frame: Frame, ins: Instruction) -> None:
    """`with manager`: its bound `__exit__` stays below what `__enter__` gives."""
    manager = machine.real(frame.stack.pop())
    name = manager.python_type().__name__
    for method in ("__enter__", "__exit__"):
        if not machine.has(manager, method):
            text = f"'{name}' object does not support the context manager protocol"
            machine.type_error(text)
    frame.stack.append(machine.get_attribute(manager, "__exit__"))
    frame.stack.append(machine.method(manager, "__enter__", []))


@handles("WITH_EXCEPT_START")
def with_except_start(machine: Machine, frame: Frame, ins: Instruction) -> None:
    error = machine.real(frame.stack[-1])
    leave = frame.stack[-4]
    kind = ClassValue(error.python_type())
    args = [kind, error, traceback_of(machine, error)]
    frame.stack.append(machine.call(leave, args, {}))
