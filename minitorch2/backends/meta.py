"""The meta backend: operations on tensors without memory compute shapes, dtypes and layouts only.

In: an op row and arguments among which is a fake tensor. Out: fake tensors with exactly the layout
eager gives, which is how capture knows strides, aliases and contiguity without running anything.

Source: PyTorch's meta device and FakeTensor.
"""

from typing import Any

from minitorch2 import dispatch
from minitorch2.devices import META
from minitorch2.layouts import Layout
from minitorch2.ops.infer import (
    infer,
    own_layout,
    pointwise_layout,
    pointwise_tensors,
    shown_dtype,
)
from minitorch2.ops.table import Meta, Op
from minitorch2.tensors import Tensor, fake_tensor


def run(op: Op, args: tuple) -> Any:
    """Compute the fake results of a primitive."""
    if op.view is not None:
        source = args[0]
        element = shown_dtype(op, source.dtype, args[1:])
        return Tensor(source.storage, op.view(source.layout, *args[1:]), element)
    if op.kind == "inplace":
        infer(op, args)
        args[0].storage.version += 1
        return args[0]
    found = infer(op, args)
    where = device_of(op, args)
    if isinstance(found, Meta):
        return fake_tensor(found.shape, found.dtype, result_layout(op, args, found), where)
    return tuple(
        fake_tensor(meta.shape, meta.dtype, result_layout(op, args, meta, at), where)
        for at, meta in enumerate(found)
    )


def device_of(op: Op, args: tuple) -> Any:
    """The device of an op's tensors."""
    for position in op.tensor_positions:
        argument = args[position]
        if type(argument) in (list, tuple):
            argument = argument[0]
        if isinstance(argument, Tensor):
            return argument.device
    return META


def result_layout(op: Op, args: tuple, meta: Meta, at: int = 0) -> Layout | None:
    """The layout of the fresh result `at`; None is contiguous."""
    layout = own_layout(op, args, meta.shape, at)
    if layout is not None or op.kind != "pointwise":
        return layout
    return pointwise_layout(meta.shape, [t.layout for t in pointwise_tensors(op, args)])


dispatch.backends["meta"] = run
