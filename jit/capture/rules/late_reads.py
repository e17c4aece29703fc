"""What the backward of an autograd.Function may read while forward is captured.

In: each instruction of the user's backward, which is captured where forward stands but runs later.
Out: nothing, or a graph break: what the program may change in the meantime, and what tells one
backward from another, is to be read by Python when its time has come. What `ctx` holds is as
forward left it; functions, classes and modules are believed to stay where they are.

    n = ctx.n               # as forward left it
    return g * SCALE        # a break: a number of the module, which may be another one by then
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitorch2.autograd.modes import is_grad_enabled
from minitorch2.jit.capture.instructions import Instruction
from minitorch2.jit.capture.source import Source
from minitorch2.jit.capture.state import Frame
from minitorch2.jit.capture.trace import Trace
from minitorch2.jit.capture.values.base import NULL, NativeMethod, Value
from minitorch2.jit.capture.values.classes import ClassValue
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.functions import FunctionValue, MethodValue, NativeValue
from minitorch2.jit.capture.values.namespaces import CellValue, ModuleValue
from minitorch2.jit.capture.values.sequences import SliceValue, TupleValue
from minitorch2.jit.capture.values.tensors import TensorValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine

NAMED = (FunctionValue, NativeValue, NativeMethod, MethodValue, ClassValue, ModuleValue, CellValue)
FIXED = (*NAMED, Constant, TupleValue, SliceValue, TensorValue)  # no part of them changes


class LateReads(Trace):
    """In the place of the trace while a backward is captured; what it tells goes on to that one."""

    __slots__ = ("machine", "told", "context", "owner")

    def __init__(self, machine: Machine, context: Value):
        super().__init__(True, machine.state)
        self.machine, self.told, self.context = machine, machine.trace, context
        self.owner: Any = None  # of the attribute that is read

    def before(self, frame: Frame, instruction: Instruction) -> None:
        """Refuse to change what the next backward reads."""
        if self.told.on:
            self.told.before(frame, instruction)
        self.owner = self.machine.real(frame.stack[-1]) if _reads_attribute(instruction) else None
        if instruction.name in ("STORE_ATTR", "DELETE_ATTR"):
            if self.machine.real(frame.stack[-1]) is self.context:
                self._refuse(f"ctx.{instruction.value}, which it changes")

    def after(self, frame: Frame, instruction: Instruction) -> None:
        """Look at what was put on the stack."""
        if self.told.on:
            self.told.after(frame, instruction)
        for value in frame.stack[-2:]:
            if value is NULL or not isinstance(value, Value):
                continue
            value = self.machine.real(value)
            if isinstance(value, FunctionValue) and value.object is is_grad_enabled:
                self._refuse("whether gradients are recorded")
            if _comes_from_outside(value.source) and not isinstance(value, FIXED):
                self._refuse(value.describe())
        if self._is_rebound(frame, instruction):
            value = self.machine.real(frame.stack[-1 if frame.stack[-1] is not NULL else -2])
            if _comes_from_outside(value.source) and not isinstance(value, NAMED):
                self._refuse(str(value.source))

    def _is_rebound(self, frame: Frame, instruction: Instruction) -> bool:
        """Whether what was read stands where the program may put something else."""
        if instruction.name == "LOAD_DEREF":
            cell = frame.slots[instruction.argument]
            return cell.source is not None
        return instruction.name == "LOAD_GLOBAL" or isinstance(self.owner, ClassValue | ModuleValue)

    def _refuse(self, what: str) -> None:
        self.machine.stop("gradient-machinery", f"a backward that reads {what}")


def _reads_attribute(instruction: Instruction) -> bool:
    return instruction.name in ("LOAD_ATTR", "LOAD_METHOD")


def _comes_from_outside(source: Source | None) -> bool:
    return source is not None and not source.trusted
