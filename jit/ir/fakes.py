"""Runs ops on tensors without memory, to see what their definitions give.

In: an op row and operands, TensorTypes among them. Out: what calling it would return, as fake
tensors. A composite row says only how it is made of others; this is how its type is known.

    >>> from minitorch2.dtypes import float32
    >>> from minitorch2.ops.table import lookup
    >>> run_fake(lookup("relu"), (TensorType(float32, (2, 3)),)).shape
    torch.Size([2, 3])

Source: PyTorch's FakeTensorMode.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from minitorch2 import dispatch
from minitorch2.devices import CPU, as_device, device
from minitorch2.jit.ir.types import TensorType
from minitorch2.ops.infer import infer
from minitorch2.ops.table import CREATION, RANDOM, Meta, Op
from minitorch2.tensors import Tensor, fake_tensor


class FakeMode(dispatch.Mode):
    """Keeps creation and random ops, which have no fake among their arguments, fake too."""

    def take_counters(self, count: Any, generator: Any) -> tuple[int, int]:
        """Random ops draw nothing here."""
        return 0, 0

    def handle(self, op: Op, args: tuple) -> Any:
        """Run below, or infer when there is nothing below to run on."""
        if op.decomp is not None and not dispatch.stays_whole(op, args):
            with self:
                return op.decomp(*args)
        if op.kind in (CREATION, RANDOM):
            found, where = infer(op, args), device_of(op, args)
            if isinstance(found, Meta):
                return fake_tensor(found.shape, found.dtype, None, where)
            return tuple(fake_tensor(meta.shape, meta.dtype, None, where) for meta in found)
        return dispatch.below_modes(op, args)


def run_fake(op: Op, operands: tuple) -> Any:
    """Call `op` on fakes of the operands, outside all modes and without gradients."""
    with outside_modes(), FakeMode():
        return dispatch.call(op, tuple(map(_fake, operands)))


@contextlib.contextmanager
def outside_modes() -> Iterator[None]:
    """Inside the block nobody sees operations: no mode, no tracer, no recorder, no autocast."""
    state = dispatch.state
    before = state.modes, state.tracer, state.autocast, state.duals, state.grad_enabled
    state.modes, state.tracer, state.autocast, state.duals = (), None, None, ()
    state.grad_enabled = False
    try:
        yield
    finally:
        state.modes, state.tracer, state.autocast, state.duals, state.grad_enabled = before


def device_of(op: Op, args: tuple) -> device:
    """Where a call's results live: the device it asks for, else that of its first tensor."""
    for parameter, argument in zip(op.signature.parameters, args, strict=True):
        if parameter.type == "device" and argument is not None:
            return as_device(argument)
    for argument in args:
        for item in argument if isinstance(argument, tuple) else (argument,):
            if isinstance(item, Tensor | TensorType):
                return item.device
    return CPU


def _fake(operand: Any) -> Any:
    if isinstance(operand, TensorType):
        shape: Any = operand.shape
        return fake_tensor(shape, operand.dtype, None, operand.device)
    if isinstance(operand, tuple):
        return tuple(map(_fake, operand))
    return operand
