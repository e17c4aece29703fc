"""Operators, comparisons, truth and text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from minitorch2.jit.capture import protocols
from minitorch2.jit.capture.handlers.registry import handles
from minitorch2.jit.capture.instructions import Instruction
from minitorch2.jit.capture.state import Frame
from minitorch2.jit.capture.values.constants import Constant

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


@handles("BINARY_OP")
def binary_op(machine: Machine, frame: Frame, ins: Instruction) -> None:
    right = frame.stack.pop()
    left = frame.stack.pop()
    symbol = ins.text
    if symbol.endswith("="):
        frame.stack.append(protocols.inplace(machine, symbol[:-1], left, right))
    else:
        frame.stack.append(protocols.binary(machine, symbol, left, right))


@handles("UNARY_NEGATIVE")
def unary_negative(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(protocols.unary(machine, "-", frame.stack.pop()))


@handles("UNARY_POSITIVE")
def unary_positive(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(protocols.unary(machine, "+", frame.stack.pop()))


@handles("UNARY_INVERT")
def unary_invert(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(protocols.unary(machine, "~", frame.stack.pop()))


@handles("UNARY_NOT")
def unary_not(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(Constant(not machine.truth(frame.stack.pop())))


@handles("TO_BOOL")
def to_bool(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(Constant(machine.truth(frame.stack.pop())))


@handles("COMPARE_OP")
def compare_op(machine: Machine, frame: Frame, ins: Instruction) -> None:
    right = frame.stack.pop()
    left = frame.stack.pop()
    symbol = str(ins.value).removeprefix("bool(").removesuffix(")")
    frame.stack.append(protocols.compare(machine, symbol, left, right))


@handles("IS_OP")
def is_op(machine: Machine, frame: Frame, ins: Instruction) -> None:
    right = frame.stack.pop()
    left = frame.stack.pop()
    same = protocols.identical(machine, left, right)
    frame.stack.append(Constant(same != bool(ins.argument)))


@handles("CONTAINS_OP")
def contains_op(machine: Machine, frame: Frame, ins: Instruction) -> None:
    container = machine.real(frame.stack.pop())
    item = machine.real(frame.stack.pop())
    found = container.contains(machine, item)
    frame.stack.append(Constant(found != bool(ins.argument)))


CONVERSIONS: dict[int, Callable[..., str]] = {1: str, 2: repr, 3: ascii}


@handles("FORMAT_VALUE")
def format_value(machine: Machine, frame: Frame, ins: Instruction) -> None:
    spec = machine.real(frame.stack.pop()).known() if ins.argument & 4 else ""
    value = frame.stack.pop()
    convert = CONVERSIONS.get(ins.argument & 3)
    if convert is not None:
        value = protocols.text_of(machine, value, convert)
    frame.stack.append(protocols.text_of(machine, value, format, spec))


@handles("CONVERT_VALUE")
def convert_value(machine: Machine, frame: Frame, ins: Instruction) -> None:
    value = frame.stack.pop()
    frame.stack.append(protocols.text_of(machine, value, CONVERSIONS[ins.argument]))


@handles("FORMAT_SIMPLE")
def format_simple(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(protocols.text_of(machine, frame.stack.pop(), format))


@handles("FORMAT_WITH_SPEC")
def format_with_spec(machine: Machine, frame: Frame, ins: Instruction) -> None:
    spec = machine.real(frame.stack.pop()).known()
    frame.stack.append(protocols.text_of(machine, frame.stack.pop(), format, spec))


@handles("BUILD_STRING")
def build_string(machine: Machine, frame: Frame, ins: Instruction) -> None:
    parts = [machine.real(part).known() for part in frame.stack[len(frame.stack) - ins.argument :]]
    del frame.stack[len(frame.stack) - ins.argument :]
    frame.stack.append(Constant("".join(parts)))
