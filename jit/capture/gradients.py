"""`loss.backward()` and `autograd.grad()` inside captured code: one `gradients` node each.

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
from minitorch2.jit.capture.rules.watching import hooked
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.tensors import TensorValue
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine

NAMES = ("gradient", "retain_graph", "create_graph", "inputs")
GRAD_NAMES = (
    "outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs",
    "allow_unused", "is_grads_batched", "materialize_grads",
)  # fmt: skip


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
    if output.grad_fn is None:
        machine.stop("backward", "backward of a tensor without a history")
    _, found = _history(output.grad_fn)
    values = [_leaf(machine, place) for place in found]
    order = [id(item.fake) for item in machine.state.inputs]
    return sorted(values, key=lambda value: order.index(id(value.fake)))


def _history(start: Any, ends: frozenset[int] = frozenset()) -> tuple[set[int], set[int]]:
    """(nodes, leaves) that a node leads to, by id; not what lies behind the nodes of `ends`."""
    seen: set[int] = set()
    leaves: set[int] = set()
    stack: list[Any] = [start]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if not isinstance(node, Node):
            leaves.add(id(node))
        elif id(node) not in ends:
            stack += [edge.target for edge in node.edges if edge is not None]
    return seen, leaves


def _leaf(machine: Machine, place: int) -> TensorValue:
    """The input of the graph that is a leaf of some history."""
    value = machine.state.tensor_values.get(place)
    if value is None or value.object is None or not value.fake.is_leaf:
        machine.stop("backward", "the history leads out of the captured function")
    if value.object._hooks:
        machine.stop("backward", "a tensor with hooks among the leaves")
    machine.state.guard_no_leaf_hooks(value.source)
    return value


def capture_grad(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """Record `torch.autograd.grad(outputs, inputs, ...)`; what is refused, Python refuses."""
    given = dict(zip(GRAD_NAMES, args, strict=False)) | kwargs
    flags = {name: name in given and machine.truth(given[name]) for name in GRAD_NAMES[3:]}
    if flags["is_grads_batched"]:
        machine.stop("gradient-machinery", "grad() of a batch of gradients")
    outputs, inputs = (_tensors(machine, given[name]) for name in ("outputs", "inputs"))
    seeds: list[Value] = [Constant(None)] * len(outputs)
    if "grad_outputs" in given and not isinstance(machine.real(given["grad_outputs"]), Constant):
        seeds = _sequence(machine, given["grad_outputs"])
    reached = _reached(machine, outputs, inputs)
    used = [f for f in inputs if id(f if f.grad_fn is None else f.grad_fn) in reached]
    for fake in used:
        _no_hooks(machine, machine.state.tensor_values.get(id(fake)))
    if len(used) < len(inputs) and not (flags["allow_unused"] or flags["materialize_grads"]):
        machine.stop("gradient-machinery", "grad() with respect to a tensor that was not used")
    starts = tuple(_start(machine, o, machine.real(s)) for o, s in zip(outputs, seeds, strict=True))
    create = flags["create_graph"]
    retain = flags["retain_graph"] or create
    row = lookup("gradients")
    found = iter(
        machine.run_lowered(
            lambda: call(row, (tuple(outputs), starts, tuple(used), retain, create)), [], {}
        )
    )
    results = [next(found) if any(fake is u for u in used) else None for fake in inputs]
    if flags["materialize_grads"]:
        results = [_zeros(machine, fake) if gradient is None else gradient
                   for fake, gradient in zip(inputs, results, strict=True)]  # fmt: skip
    return machine.tuple_of([machine.from_python(gradient) for gradient in results])


def _no_hooks(machine: Machine, value: TensorValue | None) -> None:
    """An input that is a result of something before the call has no hooks, now and later."""
    if value is None or value.object is None or value.object.is_leaf:
        return
    if value.object.grad_fn.hooks:
        machine.stop("gradient-machinery", "grad() with respect to a tensor with a hook")
    machine.state.guard_no_node_hooks(value.source)


def _reached(machine: Machine, outputs: list[Tensor], inputs: list[Tensor]) -> set[int]:
    """The ids of the nodes and leaves that the outputs were computed from."""
    ends = frozenset(id(fake.grad_fn) for fake in inputs if fake.grad_fn is not None)
    wanted = {id(fake if fake.grad_fn is None else fake.grad_fn) for fake in inputs}
    reached: set[int] = set()
    for output in outputs:
        if output.grad_fn is None:
            machine.stop("gradient-machinery", "grad() of a tensor without a history")
        seen, leaves = _history(output.grad_fn)
        reached |= seen
        if wanted <= seen:  # what lies behind them does not matter
            leaves = _history(output.grad_fn, ends)[1]
        for place in leaves - wanted:
            _leaf(machine, place)
        if any(id(machine.state.tensor_values.get(place)) in machine.state.leaf_hooks
               for place in leaves):  # fmt: skip
            machine.stop("gradient-machinery", "grad() with hooks on a leaf")
    return reached


def _zeros(machine: Machine, like: Tensor) -> Tensor:
    args = (tuple(like.layout.shape), 0, like.dtype, str(like.device))
    return machine.run_lowered(lambda: call(lookup("full"), args), [], {})


def _sequence(machine: Machine, value: Value) -> list[Value]:
    value = machine.real(value)
    return [value] if isinstance(value, TensorValue) else machine.items(value)


def _tensors(machine: Machine, value: Value) -> list[Tensor]:
    """One tensor or a sequence of tensors, as fakes."""
    found = [machine.real(item) for item in _sequence(machine, value)]
    if not found or not all(isinstance(item, TensorValue) for item in found):
        machine.stop("gradient-machinery", "grad() of something that is no tensor")
    return [item.lower(machine) for item in found]


def _start(machine: Machine, loss: Tensor, gradient: Value | None) -> Tensor:
    """The gradient to start from: 1 for a scalar."""
    shape = tuple(loss.layout.shape)
    if isinstance(gradient, TensorValue):
        if tuple(gradient.fake.layout.shape) != shape:
            machine.stop("backward", "a gradient of another shape than its tensor")
        return gradient.fake
    if any(size != 1 for size in shape) or loss.dtype.is_complex:
        machine.stop("backward", "backward of a tensor that is no scalar")
    args = (shape, 1, loss.dtype, str(loss.device))
    return machine.run_lowered(lambda: call(lookup("full"), args), [], {})


def _accumulate(machine: Machine, leaf: TensorValue, gradient: Tensor, taken: set[int]) -> None:
    """What the engine does with the gradient of a leaf."""
    before = dispatch.state.grad_enabled
    dispatch.state.grad_enabled = False
    try:
        if id(leaf) in machine.state.leaf_hooks:
            changed = hooked(machine, leaf, machine.from_python(gradient))
            gradient = machine.real(changed).lower(machine)
        old = machine.real(machine.get_attribute(leaf, "grad"))
        if isinstance(old, TensorValue):
            total = machine.run_lowered(operator.add, [old.fake, gradient], {})
            machine.run_lowered(lambda: call(lookup("copy_"), (old.fake, total, False)), [], {})
            return
        if id(gradient.storage) in taken or not gradient.layout.is_dense():
            shared = gradient
            gradient = machine.run_lowered(lambda: call(lookup("clone"), (shared,)), [], {})
        taken.add(id(gradient.storage))
        machine.real(leaf).set_attribute(machine, "grad", machine.from_python(gradient))
    finally:
        dispatch.state.grad_enabled = before
