"""The autograd graph: nodes made by operations, edges to the nodes of their inputs.

In: an op row, its arguments and its results. Out: a Node that holds what the row's vjp needs. A
saved tensor remembers the version of its storage and refuses to be used after a write.

Source: PyTorch's "Autograd mechanics" notes; HIPS autograd for vjps written in tensor operations.
"""

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

from minitorch2.artifacts import Origin
from minitorch2.dispatch import call, state
from minitorch2.errors import GraphFreed, SavedTensorModified
from minitorch2.ops.table import POINTWISE, lookup
from minitorch2.tensors import Tensor

_sequence = itertools.count()


class Edge(NamedTuple):
    """Where a gradient goes: output `index` of a node, or a leaf tensor (index 0)."""

    target: Any
    index: int  # type: ignore[assignment]


def edge_of(tensor: Any) -> Edge | None:
    """The edge to what made a tensor; None when it needs no gradient."""
    if not isinstance(tensor, Tensor):
        return None
    node = tensor.grad_fn
    if node is not None:
        return Edge(node, tensor._output)
    return Edge(tensor, 0) if tensor._requires_grad else None


class Spec(NamedTuple):
    """What a vjp may know of a tensor that was not saved."""

    shape: tuple[int, ...]
    dtype: Any
    device: Any

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)


def spec_of(tensor: Tensor) -> Spec:
    """The Spec of a tensor."""
    return Spec(tensor.layout.shape, tensor.dtype, tensor.storage.device)


class SavedTensor:
    """A tensor kept for the backward, with the version its storage had."""

    __slots__ = ("tensor", "version", "output", "packed", "unpack_hook")

    def __init__(self, tensor: Tensor, output: int | None):
        self.version = tensor.storage.version
        self.output = output  # which output of the owning node it is, None for an input
        hooks = state.saved_hooks
        self.unpack_hook: Callable | None = None
        self.packed = None
        if hooks:
            pack, self.unpack_hook = hooks[-1]
            self.packed = pack(tensor)
            self.tensor = None
        elif output is None:
            self.tensor = tensor
        else:  # a plain alias, so that the node does not keep itself alive through its result
            self.tensor = Tensor(tensor.storage, tensor.layout, tensor.dtype, tensor._array)

    def unpack(self, node: "Node", name: str) -> Tensor:
        """The tensor; SavedTensorModified when it was written since."""
        if self.unpack_hook is not None:
            return self.unpack_hook(self.packed)
        tensor = self.tensor
        assert tensor is not None
        if tensor.storage.version != self.version:
            raise SavedTensorModified(
                f"the backward of {node.name}()",
                "one of the variables needed for gradient computation has been modified by an "
                f"inplace operation: '{name}' is at version {tensor.storage.version}, "
                f"expected version {self.version}",
                "clone the tensor before the in-place operation, or use the out-of-place one"
                + (f" (the forward ran at {node.origin})" if node.origin else ""),
            )
        if self.output is not None:
            alias = Tensor(tensor.storage, tensor.layout, tensor.dtype, tensor._array)
            alias.set_history(node, self.output)
            return alias
        return tensor


class saved_tensors_hooks:
    """Within the block, saved tensors pass through `pack` now and `unpack` in the backward."""

    def __init__(self, pack_hook: Callable, unpack_hook: Callable):
        self.hooks = (pack_hook, unpack_hook)

    def __enter__(self) -> None:
        state.saved_hooks = (*state.saved_hooks, self.hooks)

    def __exit__(self, *exc: object) -> None:
        state.saved_hooks = state.saved_hooks[:-1]


class Node:
    """One step of the backward: gradients of its outputs in, gradients of its inputs out."""

    __slots__ = (
        "label",
        "edges",
        "outputs",
        "sequence",
        "origin",
        "pre_hooks",
        "post_hooks",
        "tensor_hooks",
        "retained",
        "metadata",
        "__weakref__",
    )
    fills_missing = True  # whether outputs without a gradient get zeros before `apply`

    def __init__(
        self,
        label: str,
        edges: tuple[Edge | None, ...],
        outputs: tuple[Spec, ...],
        origin: Origin | None = None,
    ):
        self.label, self.edges, self.outputs, self.origin = label, edges, outputs, origin
        self.sequence = next(_sequence)
        self.pre_hooks: dict[int, Callable] = {}
        self.post_hooks: dict[int, Callable] = {}
        self.tensor_hooks: dict[int, dict[int, Callable]] = {}  # output -> its tensor's hooks
        self.retained: dict[int, Any] = {}  # output -> weak reference to a retain_grad tensor
        self.metadata: dict = {}

    @property
    def name(self) -> str:
        """The node's name as torch prints it."""
        return self.label

    @property
    def next_functions(self) -> tuple:
        """Pairs (node, output index) of the inputs; leaves appear as AccumulateGrad."""
        return tuple(
            (None, 0)
            if edge is None
            else (AccumulateGrad(edge.target), 0)
            if isinstance(edge.target, Tensor)
            else (edge.target, edge.index)
            for edge in self.edges
        )

    def register_hook(self, hook: Callable) -> "RemovableHandle":
        """Call `hook(grad_inputs, grad_outputs)` after this node has run."""
        return RemovableHandle(self.post_hooks, hook)

    def register_prehook(self, hook: Callable) -> "RemovableHandle":
        """Call `hook(grad_outputs)` before this node runs."""
        return RemovableHandle(self.pre_hooks, hook)

    def apply(self, grads: tuple) -> tuple:
        """Gradients of the inputs, one for each edge, from those of the outputs."""
        raise NotImplementedError(type(self).__name__)

    def release(self) -> None:
        """Free what was saved; a later apply raises GraphFreed."""

    def __repr__(self) -> str:
        return f"<{self.name} object>"


class RemovableHandle:
    """Removes the hook it was returned for; also a context manager."""

    _ids = itertools.count()

    def __init__(self, hooks: dict[int, Callable], hook: Callable):
        self.hooks, self.id = hooks, next(RemovableHandle._ids)
        hooks[self.id] = hook

    def remove(self) -> None:
        """Take the hook out; a second call does nothing."""
        self.hooks.pop(self.id, None)

    def __enter__(self) -> "RemovableHandle":
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class AccumulateGrad(Node):
    """Stands for a leaf in `next_functions`: adds what arrives to `variable.grad`."""

    __slots__ = ("variable",)

    def __init__(self, variable: Tensor):
        super().__init__("AccumulateGrad", (), (spec_of(variable),))
        self.variable = variable

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AccumulateGrad) and other.variable is self.variable

    def __hash__(self) -> int:
        return id(self.variable)


class Saved:
    """What a vjp receives as `s`: the op's arguments by name.

    Tensors that the row lists in `saves` are there whole; the others as Specs (shape, dtype).
    `result` (or `results`) is there when saved. `needs[i]` tells whether the i-th tensor
    parameter wants a gradient; `inputs[i]` is the Spec of the i-th tensor. A saved tensor is
    unpacked, and refused if it was written, only when the vjp asks for it.
    """

    def __init__(self, node: "OpNode"):
        self.node, self.needs, self.inputs = node, node.needs, node.inputs

    def __getattr__(self, name: str) -> Any:
        arguments = self.__dict__["node"].arguments
        if name not in arguments:
            raise AttributeError(f"the row's `saves` does not list {name!r}")
        value = self._unpacked(arguments[name], name)
        self.__dict__[name] = value
        return value

    def _unpacked(self, value: Any, name: str) -> Any:
        if isinstance(value, SavedTensor):
            return value.unpack(self.node, name)
        if type(value) is tuple and any(isinstance(item, SavedTensor) for item in value):
            return tuple(self._unpacked(item, name) for item in value)
        return value


class OpNode(Node):
    """The node of an op row: unpacks what was saved and calls the row's vjp."""

    __slots__ = ("op", "arguments", "freed", "needs", "inputs")

    def __init__(
        self,
        op: Any,
        arguments: dict[str, Any],
        edges: tuple,
        needs: tuple,
        inputs: tuple[Spec | None, ...],
        outputs: tuple[Spec, ...],
        origin: Origin | None,
    ):
        label = "".join(part.capitalize() for part in op.name.split("_")) + "Backward0"
        super().__init__(label, edges, outputs, origin)
        self.op, self.arguments, self.needs, self.freed = op, arguments, needs, False
        self.inputs = inputs  # one for each edge

    def saved(self) -> Saved:
        """The arguments as the vjp wants them."""
        if self.freed:
            raise GraphFreed(
                f"the backward of {self.name}()",
                "Trying to backward through the graph a second time: the saved intermediate "
                "values have already been freed",
            )
        return Saved(self)

    def apply(self, grads: tuple) -> tuple:
        """Run the vjp; one gradient or None for each edge."""
        found = self.op.vjp(self.saved(), *grads)
        if type(found) is not tuple:
            found = (found,)
        flat: list[Any] = []
        for value in found:
            flat.extend(value) if type(value) is list else flat.append(value)
        if self.op.kind == POINTWISE:  # undo the operands' broadcasting and promotion
            for index, (edge, spec) in enumerate(zip(self.edges, self.inputs, strict=True)):
                if edge is not None and spec is not None:
                    flat[index] = fit_gradient(flat[index], spec)
        return tuple(flat)

    def release(self) -> None:
        """Drop the saved tensors."""
        self.arguments, self.freed = {}, True


def zeros_like_spec(spec: Spec) -> Tensor:
    """Zeros of a Spec's shape and dtype, made through the dispatcher (so that tracing sees it)."""
    return call(lookup("full"), (tuple(spec.shape), 0, spec.dtype, spec.device))


def fit_gradient(grad: Any, spec: Spec) -> Any:
    """A gradient summed over broadcast dimensions and converted to an operand's dtype."""
    if grad is None:
        return None
    shape = spec.shape
    if grad.layout.shape != shape:
        grad = call(lookup("sum_to_size"), (grad, tuple(shape)))
    if grad.dtype is not spec.dtype:
        grad = call(lookup("convert"), (grad, spec.dtype))
    return grad
