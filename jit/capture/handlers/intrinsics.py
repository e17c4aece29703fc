"""The functions behind CALL_INTRINSIC_1 and CALL_INTRINSIC_2 (Python 3.12 and 3.13).

In: one or two values from the stack. Out: one value. 3.11 has an instruction for each of those
that a function can meet.

Source: Python/intrinsics.c of CPython.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture import protocols
from minitorch2.jit.capture.handlers.exceptions import raised_behind
from minitorch2.jit.capture.handlers.registry import handles
from minitorch2.jit.capture.instructions import PY312, Instruction
from minitorch2.jit.capture.state import Frame
from minitorch2.jit.capture.values.base import Value
from minitorch2.jit.capture.values.iterators import stopped_inside
from minitorch2.jit.capture.values.sequences import TupleValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine

INTRINSICS: dict[str, Callable[..., Value]] = {}
VARIANCE: dict[str, Any] = {"infer_variance": True} if PY312 else {}


def intrinsic(name: str) -> Callable[[Callable], Callable]:
    """Register the function behind an intrinsic."""

    def register(function: Callable) -> Callable:
        INTRINSICS[f"INTRINSIC_{name}"] = function
        return function

    return register


def _call(machine: Machine, ins: Instruction, *operands: Value) -> Value:
    function = INTRINSICS.get(ins.text)
    if function is None:
        name = ins.text.removeprefix("INTRINSIC_").lower().replace("_", " ")
        machine.stop("unhandled-opcode", name)
    return function(machine, *operands)


@handles("CALL_INTRINSIC_1")
def call_intrinsic_1(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(_call(machine, ins, frame.stack.pop()))


@handles("CALL_INTRINSIC_2")
def call_intrinsic_2(machine: Machine, frame: Frame, ins: Instruction) -> None:
    second = frame.stack.pop()
    frame.stack.append(_call(machine, ins, frame.stack.pop(), second))


@intrinsic("UNARY_POSITIVE")
def unary_positive(machine: Machine, value: Value) -> Value:
    return protocols.unary(machine, "+", value)


@intrinsic("LIST_TO_TUPLE")
def list_to_tuple(machine: Machine, value: Value) -> Value:
    return TupleValue(machine.items(value))


@intrinsic("STOPITERATION_ERROR")
def stop_iteration_error(machine: Machine, value: Value) -> Value:
    error = machine.real(value)
    if issubclass(error.python_type(), StopIteration):
        return stopped_inside(machine, error)
    return error


# ---- functions with type parameters


def _parameter(kind: Any, **options: Any) -> Callable[..., Value]:
    def make(machine: Machine, name: Value) -> Value:
        return machine.from_python(kind(machine.real(name).known(), **options))

    return make


intrinsic("TYPEVAR")(_parameter(typing.TypeVar, **VARIANCE))
intrinsic("PARAMSPEC")(_parameter(typing.ParamSpec, **VARIANCE))
intrinsic("TYPEVARTUPLE")(_parameter(typing.TypeVarTuple))


@intrinsic("SUBSCRIPT_GENERIC")
def subscript_generic(machine: Machine, parameters: Value) -> Value:
    """The base of a class with type parameters."""
    form: Any = typing.Generic
    return machine.run_python(lambda given: form[given], [parameters], {})


@intrinsic("SET_FUNCTION_TYPE_PARAMS")
def set_function_type_params(machine: Machine, function: Value, parameters: Value) -> Value:
    function.attributes["__type_params__"] = parameters  # type: ignore[attr-defined]
    return function


@intrinsic("PREP_RERAISE_STAR")
def prep_reraise_star(machine: Machine, caught: Value, errors: Value) -> Value:
    return raised_behind(machine, caught, errors)
