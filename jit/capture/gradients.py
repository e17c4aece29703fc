"""`loss.backward()` inside captured code: one `gradients` node, and `.grad` as an attribute.

In: the loss as a value. Out: a node `gradients((%loss,), (%one,), (%w, ...))` for the leaves that
the loss was computed from, and what `backward` leaves behind: each leaf's `.grad` set, or added to
in place where there was one. Whoever runs the graph runs the engine there.

Leaves must be inputs of the graph: where the history leads out of the captured function, through an
input that is not a leaf or a tensor with hooks, the call runs as Python.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from minitorch2 import dispatch
from minitorch2.autograd.graph import Node
from minitorch2.dispatch import call
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.tensors import TensorValue
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine

NAMES = ("gradient", "retain_graph", "create_graph", "inputs")


def capture_backward(
    machine: Machine, loss: TensorValue, args: Arguments, kwargs: Keywords
) -> Value:
    """Record `loss.backward(...)`."""
    given = dict(zip(NAMES, args, strict=False)) | kwargs
    known = {name: machine.real(given[name]) for name in NAMES if name in given}
    create = "create_graph" in known and machine.truth(known["create_graph"])
    retain = "retain_graph" in known and machine.truth(known["retain_graph"])
    if create or "inputs" in known:
        machine.stop("backward", "backward with create_graph or inputs")
    leaves = leaves_of(machine, loss.fake)
    start = _start(machine, loss.fake, known.get("gradient"))
    fakes = tuple(leaf.fake for leaf in leaves)
    row = lookup("gradients")
    found = machine.run_lowered(
        lambda: call(row, ((loss.fake,), (start,), fakes, retain, False)), [], {}
    )
    taken = {id(start.storage), *(id(fake.storage) for fake in fakes)}
    for leaf, gradient in zip(leaves, found, strict=True):
        _accumulate(machine, leaf, gradient, taken)
    return Constant(None)


def leaves_of(machine: Machine, output: Tensor) -> list[TensorValue]:
    """The leaves that a tensor was computed from, in the order of the graph's inputs."""
    seen: set[int] = set()
    found: set[int] = set()
    stack: list[Any] = [output.grad_fn]
    if output.grad_fn is None:
        machine.stop("backward", "backward of a tensor without a history")
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if not isinstance(node, Node):
            found.add(id(node))
            continue
        stack += [edge.target for edge in node.edges if edge is not None]
    values: list[TensorValue] = []
    for place in found:
        value = machine.state.tensor_values.get(place)
        if value is None or value.object is None or not value.fake.is_leaf:
            machine.stop("backward", "the history leads out of the captured function")
        if value.object._hooks:
            machine.stop("backward", "a tensor with hooks among the leaves")
        values.append(value)
    order = [id(item.fake) for item in machine.state.inputs]
    return sorted(values, key=lambda value: order.index(id(value.fake)))


def _start(machine: Machine, loss: Tensor, gradient: Value | None) -> Tensor:
    """The gradient to start from: 1 for a scalar."""
    if isinstance(gradient, TensorValue):
        return gradient.fake
    if loss.layout.shape != ():
        machine.stop("backward", "backward of a tensor that is no scalar")
    args = ((), 1, loss.dtype, str(loss.device))
    return machine.run_lowered(lambda: call(lookup("full"), args), [], {})


def _accumulate(machine: Machine, leaf: TensorValue, gradient: Tensor, taken: set[int]) -> None:
    """What the engine does with the gradient of a leaf."""
    before = dispatch.state.grad_enabled
    dispatch.state.grad_enabled = False
    try:
        old = machine.real(machine.get_attribute(leaf, "grad"))
        if isinstance(old, TensorValue):
            total = machine.run_lowered(operator.add, [old.fake, gradient], {})
            machine.run_lowered(lambda: call(lookup("copy_"), (old.fake, total, False)), [], {})
            return
        if id(gradient.storage) in taken:
            shared = gradient
            gradient = machine.run_lowered(lambda: call(lookup("clone"), (shared,)), [], {})
        taken.add(id(gradient.storage))
        machine.real(leaf).set_attribute(machine, "grad", machine.from_python(gradient))
    finally:
        dispatch.state.grad_enabled = before
