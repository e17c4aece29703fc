"""Locals, globals, cells, attributes, constants, and the stack itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from minitorch2.jit.capture.handlers.registry import handles
from minitorch2.jit.capture.instructions import PY312, Instruction, beside_null
from minitorch2.jit.capture.state import Frame
from minitorch2.jit.capture.values.base import NULL, Value
from minitorch2.jit.capture.values.classes import ClassValue, SuperValue
from minitorch2.jit.capture.values.namespaces import CellValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


@handles("NOP", "RESUME", "PRECALL", "COPY_FREE_VARS")
def nothing(machine: Machine, frame: Frame, ins: Instruction) -> None:
    """Free variables are put into their slots when the frame is made."""


@handles("POP_TOP")
def pop_top(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.pop()


@handles("PUSH_NULL")
def push_null(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(NULL)


@handles("COPY")
def copy(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(frame.stack[-ins.argument])


@handles("SWAP")
def swap(machine: Machine, frame: Frame, ins: Instruction) -> None:
    stack = frame.stack
    stack[-ins.argument], stack[-1] = stack[-1], stack[-ins.argument]


@handles("LOAD_CONST")
def load_const(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(machine.from_python(ins.value))


@handles("LOAD_ASSERTION_ERROR")
def load_assertion_error(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(ClassValue(AssertionError))


# ---- locals


def local(machine: Machine, frame: Frame, slot: int) -> Any:
    """What a slot holds; UnboundLocalError in the program when it holds nothing."""
    found = frame.slots[slot]
    if found is None:
        unbound(machine, frame, slot)
    return found


def unbound(machine: Machine, frame: Frame, slot: int) -> NoReturn:
    """The error of a local variable that has no value."""
    name = frame.name_of(slot)
    text = f"cannot access local variable '{name}' where it is not associated with a value"
    machine.raise_(UnboundLocalError, text)


def from_cell(machine: Machine, frame: Frame, slot: int) -> Value:
    """What a cell holds: of this function, or of one around it."""
    cell = frame.slots[slot]
    own = slot < len(frame.slots) - len(frame.code.co_freevars)
    if own and cell.contents is None and cell.source is None:
        unbound(machine, frame, slot)
    return cell.load(machine)


@handles("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_CLOSURE")
def load_fast(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(local(machine, frame, ins.argument))


@handles("LOAD_FAST_AND_CLEAR")
def load_fast_and_clear(machine: Machine, frame: Frame, ins: Instruction) -> None:
    found = frame.slots[ins.argument]
    frame.stack.append(NULL if found is None else found)
    frame.slots[ins.argument] = None


@handles("LOAD_FAST_LOAD_FAST")
def load_fast_load_fast(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(local(machine, frame, ins.argument >> 4))
    frame.stack.append(local(machine, frame, ins.argument & 15))


def store(frame: Frame, slot: int) -> None:
    """Pop into a slot."""
    value = frame.stack.pop()
    frame.slots[slot] = None if value is NULL else value


@handles("STORE_FAST")
def store_fast(machine: Machine, frame: Frame, ins: Instruction) -> None:
    store(frame, ins.argument)


@handles("STORE_FAST_LOAD_FAST")
def store_fast_load_fast(machine: Machine, frame: Frame, ins: Instruction) -> None:
    store(frame, ins.argument >> 4)
    frame.stack.append(local(machine, frame, ins.argument & 15))


@handles("STORE_FAST_STORE_FAST")
def store_fast_store_fast(machine: Machine, frame: Frame, ins: Instruction) -> None:
    store(frame, ins.argument >> 4)
    store(frame, ins.argument & 15)


@handles("DELETE_FAST")
def delete_fast(machine: Machine, frame: Frame, ins: Instruction) -> None:
    local(machine, frame, ins.argument)
    frame.slots[ins.argument] = None


# ---- globals


@handles("LOAD_GLOBAL")
def load_global(machine: Machine, frame: Frame, ins: Instruction) -> None:
    found = frame.globals.find(machine, ins.value)
    push_callable(frame, found, bool(ins.argument & 1))


def push_callable(frame: Frame, value: Value, with_null: bool) -> None:
    """Push something that will be called, with the NULL that stands for "no self"."""
    frame.stack += beside_null(value, NULL) if with_null else (value,)


@handles("STORE_GLOBAL")
def store_global(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.globals.store(machine, ins.value, frame.stack.pop())


@handles("DELETE_GLOBAL")
def delete_global(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.globals.delete(machine, ins.value)


# ---- cells


@handles("MAKE_CELL")
def make_cell(machine: Machine, frame: Frame, ins: Instruction) -> None:
    slot = ins.argument
    frame.slots[slot] = CellValue(frame.name_of(slot), frame.slots[slot])


@handles("LOAD_DEREF")
def load_deref(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(from_cell(machine, frame, ins.argument))


@handles("STORE_DEREF")
def store_deref(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.slots[ins.argument].store(machine, frame.stack.pop())


@handles("DELETE_DEREF")
def delete_deref(machine: Machine, frame: Frame, ins: Instruction) -> None:
    from_cell(machine, frame, ins.argument)
    frame.slots[ins.argument].store(machine, None)


# ---- attributes


@handles("LOAD_ATTR")
def load_attr(machine: Machine, frame: Frame, ins: Instruction) -> None:
    method = PY312 and bool(ins.argument & 1)  # 3.11 has LOAD_METHOD instead
    push_callable(frame, machine.get_attribute(frame.stack.pop(), ins.value), method)


@handles("LOAD_METHOD")
def load_method(machine: Machine, frame: Frame, ins: Instruction) -> None:
    push_callable(frame, machine.get_attribute(frame.stack.pop(), ins.value), True)


@handles("LOAD_SUPER_ATTR")
def load_super_attr(machine: Machine, frame: Frame, ins: Instruction) -> None:
    """`super().name`, one instruction from 3.12 on."""
    owner = machine.real(frame.stack.pop())
    cls = machine.real(frame.stack.pop())
    function = machine.real(frame.stack.pop())
    if function.known() is super:
        made: Value = SuperValue(cls.known(), owner)
    else:
        made = machine.call(function, [cls, owner], {})
    push_callable(frame, machine.get_attribute(made, ins.value), bool(ins.argument & 1))


@handles("STORE_ATTR")
def store_attr(machine: Machine, frame: Frame, ins: Instruction) -> None:
    owner = machine.real(frame.stack.pop())
    owner.set_attribute(machine, ins.value, frame.stack.pop())


@handles("DELETE_ATTR")
def delete_attr(machine: Machine, frame: Frame, ins: Instruction) -> None:
    machine.real(frame.stack.pop()).delete_attribute(machine, ins.value)
