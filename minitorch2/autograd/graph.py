"""The autograd graph: nodes made by operations, edges to the nodes of their inputs.

In: an op row, its arguments and its results. Out: a Node that holds what the row's vjp needs. A
saved tensor remembers the version of its storage and refuses to be used after a write.

Source: PyTorch's "Autograd mechanics" notes; HIPS autograd for vjps written in tensor operations.
"""

import itertools
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from minitorch2.artifacts import Origin
from minitorch2.dispatch import call, state
from minitorch2.errors import GraphFreed, OperationError, SavedTensorModified
from minitorch2.ops.table import POINTWISE, lookup
from minitorch2.tensors import Tensor

# Note [Complex gradients]
# The gradient of a real loss L in z = x + iy is dL/dx + i dL/dy, torch's convention: the direction
# of steepest ascent. A holomorphic f multiplies it by the conjugate of f'. A row's vjp, written for
# real numbers, multiplies by f'; so a complex gradient g becomes conj(vjp(conj(g))), and one
# formula serves both. Rows that are not holomorphic (abs, real, svd ...) say `conjugates=False` and
# treat gradients as they are. A vjp that is linear with real coefficients (of add, sum, views)
# gives the same either way; those that see no number but the gradient say so and save the work.

sequence = itertools.count()  # numbers nodes in the order of their making


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
    layout: Any = None

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)


_new_tuple = tuple.__new__


def spec_of(tensor: Tensor) -> Spec:
    """The Spec of a tensor."""
    layout = tensor.layout
    fields = layout.shape, tensor.dtype, tensor.storage.device, layout
    return _new_tuple(Spec, fields)  # Spec(*fields), three times as fast


class SavedTensor:
    """A tensor kept for the backward, with the version its storage had and its layout then."""

    __slots__ = ("tensor", "version", "layout", "output", "packed", "unpack_hook")

    def __init__(self, tensor: Tensor, output: int | None):
        self.version, self.layout = tensor.storage.version, tensor.layout
        self.output = output  # which output of the owning node it is, None for an input
        self.unpack_hook: Callable | None = None
        self.packed: Any = None
        if output is not None:  # a plain alias: the node must not keep itself alive by its result
            tensor = Tensor(tensor.storage, tensor.layout, tensor.dtype, tensor._array)
        self.tensor: Tensor | None = tensor
        hooks = state.saved_hooks
        if hooks:
            pack, self.unpack_hook = hooks[-1]
            edge = edge_of(tensor)
            self.packed = pack(tensor), spec_of(tensor), edge
            self.tensor = None

    def _connected(self, found: Any, node: "Node") -> Any:
        """What a hook gave back, with the history that the saved tensor had."""
        edge = self.packed[2] if self.output is None else Edge(node, self.output)
        if edge is None or not state.grad_enabled or edge_of(found) == edge:
            return found
        alias = Tensor(found.storage, found.layout, found.dtype, found._array)
        if isinstance(edge.target, Tensor):  # a leaf: gradients pass on to it
            edge = Edge(Passing(edge, spec_of(found)), 0)
        alias.set_history(edge.target, edge.index)
        return alias

    @property
    def spec(self) -> Spec:
        """The Spec of the tensor as it was saved."""
        tensor = self.tensor
        if tensor is None:
            return self.packed[1]
        return Spec(self.layout.shape, tensor.dtype, tensor.storage.device, self.layout)

    def unpack(self, node: "Node", name: str) -> Tensor:
        """The tensor; SavedTensorModified when it was written since."""
        if self.unpack_hook is not None:
            return self._connected(self.unpack_hook(self.packed[0]), node)
        tensor = self.tensor
        assert tensor is not None
        if tensor.storage.version != self.version:
            raise SavedTensorModified(
                f"the backward of {node.name()}()",
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
        if tensor.layout is not self.layout:  # t.unsqueeze_() and its like came in between
            layout = self.layout
            shown = layout.shape, layout.strides, layout.offset
            return call(lookup("as_strided"), (tensor, *shown))
        return tensor


class saved_tensors_hooks:
    """Within the block, saved tensors pass through `pack` now and `unpack` in the backward."""

    refused: str | None = None  # the message of disable_saved_tensors_hooks

    def __init__(self, pack_hook: Callable, unpack_hook: Callable):
        self.hooks = (pack_hook, unpack_hook)

    def __enter__(self) -> None:
        if saved_tensors_hooks.refused is not None:
            raise OperationError("saved_tensors_hooks", saved_tensors_hooks.refused)
        state.saved_hooks = (*state.saved_hooks, self.hooks)

    def __exit__(self, *exc: object) -> None:
        state.saved_hooks = state.saved_hooks[:-1]


class Hooks:
    """The hooks of one node, made when the first is added."""

    __slots__ = ("pre", "post", "tensor", "retained")

    def __init__(self) -> None:
        self.pre: dict[int, Callable] = {}
        self.post: dict[int, Callable] = {}
        self.tensor: dict[int, dict[int, Callable]] = {}  # output -> its tensor's hooks
        self.retained: dict[int, Any] = {}  # output -> weak reference to a retain_grad tensor


class Node:
    """One step of the backward: gradients of its outputs in, gradients of its inputs out."""

    __slots__ = ("label", "edges", "outputs", "sequence", "origin", "hooks", "facts", "__weakref__")
    fills_missing = True  # whether outputs without a gradient get zeros before `apply`

    def __init__(
        self,
        label: str,
        edges: tuple[Edge | None, ...],
        outputs: tuple[Spec, ...],
        origin: Origin | None = None,
    ):
        self.label, self.edges, self.outputs, self.origin = label, edges, outputs, origin
        self.sequence = next(sequence)
        self.hooks: Hooks | None = None
        self.facts: dict | None = None

    def with_hooks(self) -> Hooks:
        """The node's hooks, to add one."""
        if self.hooks is None:
            self.hooks = Hooks()
        return self.hooks

    @property
    def metadata(self) -> dict:
        """What users keep with the node."""
        if self.facts is None:
            self.facts = {}
        return self.facts

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
        return RemovableHandle(self.with_hooks().post, hook)

    def register_prehook(self, hook: Callable) -> "RemovableHandle":
        """Call `hook(grad_outputs)` before this node runs."""
        return RemovableHandle(self.with_hooks().pre, hook)

    def apply(self, grads: tuple) -> tuple:
        """Gradients of the inputs, one for each edge, from those of the outputs."""
        raise NotImplementedError(type(self).__name__)

    def release(self) -> None:
        """Free what was saved; a later apply raises GraphFreed."""

    def __repr__(self) -> str:
        return f"<{self.name()} object>"


class Passing(Node):
    """Passes gradients on unchanged."""

    __slots__ = ()

    def __init__(self, edge: Edge, spec: Spec):
        super().__init__("AliasBackward0", (edge,), (spec,), state.origin)

    def apply(self, grads: tuple) -> tuple:
        """The gradient itself."""
        return grads


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

    def register_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after the leaf's gradient was added to."""
        hooks = self.variable._hooks = self.variable._hooks or {}
        after = hooks.setdefault("after", {})
        return RemovableHandle(after, lambda leaf: hook((), (leaf.grad,)))

    def register_prehook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(grad_outputs)` before the leaf's gradient is added to."""

        def before(gradient: Tensor) -> Any:
            changed = hook((gradient,))
            return changed[0] if isinstance(changed, tuple) else changed

        hooks = self.variable._hooks = self.variable._hooks or {}
        return RemovableHandle(hooks.setdefault("grad", {}), before)

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
        self.node, self.needs = node, node.needs

    @property
    def inputs(self) -> "tuple[Spec | None, ...]":
        """The Spec of each tensor, None for numbers."""
        return self.node.inputs

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the row's `saves` does not list {name!r}")


class _Argument:
    """One argument as an attribute of a row's Saved: unpacked when first asked for, then kept."""

    def __init__(self, name: str, index: int):
        self.name, self.index = name, index

    def __get__(self, saved: Saved, owner: type) -> Any:
        value = _unpacked(saved.node, saved.node.arguments[self.index], self.name)
        saved.__dict__[self.name] = value  # which is found before this the next time
        return value


def _unpacked(node: "OpNode", value: Any, name: str) -> Any:
    if type(value) is SavedTensor:
        return value.unpack(node, name)
    if type(value) is tuple and any(type(item) is SavedTensor for item in value):
        return tuple(_unpacked(node, item, name) for item in value)
    return value


class OpNode(Node):
    """The node of an op row: unpacks what was saved and calls the row's vjp.

    Each row has a class of its own, made by `node_class` when the row is first recorded. Its fields
    are set by autograd/record.py. `arguments` has one entry for each parameter of the row, and one
    for the result when that is saved: SavedTensors, Specs of tensors, and other values as they are.
    """

    __slots__ = ("arguments", "freed")
    arguments: tuple[Any, ...]
    freed: bool
    op: Any
    saved_as: type[Saved]
    keeps: tuple[tuple[int, bool], ...]  # the tensor parameters, and whether each is saved
    keeps_result = ""  # or 'result' or 'results', whichever is saved

    @property
    def needs(self) -> tuple[bool, ...]:
        """Whether each tensor parameter of the row wants a gradient."""
        edges = self.edges
        if len(edges) == len(self.keeps):
            return tuple([edge is not None for edge in edges])
        found, at = [], 0
        for position, _ in self.keeps:  # a list of tensors has an edge for each
            value = self.arguments[position]
            count = len(value) if type(value) is tuple else 1
            found.append(any(edge is not None for edge in edges[at : at + count]))
            at += count
        return tuple(found)

    @property
    def inputs(self) -> tuple[Spec | None, ...]:
        """The Spec of each tensor, as many as there are edges."""
        found: list[Spec | None] = []
        for position, _ in self.keeps:
            value = self.arguments[position]
            items = value if type(value) is tuple else (value,)
            found += [_spec_in(item) for item in items]
        return tuple(found)

    def saved(self) -> Saved:
        """The arguments as the vjp wants them."""
        if self.freed:
            raise GraphFreed(
                f"the backward of {self.name()}()",
                "Trying to backward through the graph a second time: the saved intermediate "
                "values have already been freed",
            )
        return self.saved_as(self)

    def apply(self, grads: tuple) -> tuple:
        """Run the vjp; one gradient or None for each edge."""
        op = self.op
        turned = op.conjugates and any(g is not None and g.dtype.is_complex for g in grads)
        if turned:
            grads = tuple(map(conjugate, grads))
        found = op.vjp(self.saved(), *grads)
        if type(found) is not tuple:
            found = (found,)
        if turned:
            found = tuple([conjugate(grad) for grad in found])
        if op.kind == POINTWISE:
            return tuple(map(self._fitted, found, self.edges, self.keeps))
        if list not in map(type, found):
            return found
        flat: list[Any] = []
        for value in found:
            flat.extend(value) if type(value) is list else flat.append(value)
        return tuple(flat)

    def _fitted(self, grad: Any, edge: Edge | None, keep: tuple[int, bool]) -> Any:
        """Undo the broadcasting and the promotion of an operand."""
        if grad is None or edge is None:
            return grad
        value = self.arguments[keep[0]]
        if type(value) is SavedTensor and value.tensor is not None:
            layout = grad.layout
            same = layout is value.layout or layout.shape == value.layout.shape
            if same and grad.dtype is value.tensor.dtype:
                return grad
        spec = _spec_in(value)
        return grad if spec is None else fit_gradient(grad, spec)

    def release(self) -> None:
        """Drop the saved tensors."""
        self.arguments, self.freed = (), True


def _spec_in(value: Any) -> Spec | None:
    """The Spec of an entry of `OpNode.arguments`; None for what is not of a tensor."""
    if type(value) is SavedTensor:
        return value.spec
    return value if type(value) is Spec else None


@cache
def node_class(op: Any) -> type[OpNode]:
    """The class of a row's nodes, named as torch names them: MulBackward0."""
    name = "".join(part.capitalize() for part in op.name.split("_")) + "Backward0"
    result = next((each for each in ("result", "results", "result1") if each in op.saves), "")
    names = (*op.signature.names, result) if result else op.signature.names
    arguments = {each: _Argument(each, index) for index, each in enumerate(names)}
    parameters = op.signature.parameters
    fields = {
        "__slots__": (),
        "__doc__": f"The backward of {op.name}.",
        "label": name,
        "op": op,
        "saved_as": type(f"Saved{name}", (Saved,), arguments),
        "keeps": tuple((at, parameters[at].name in op.saves) for at in op.tensor_positions),
        "keeps_result": result,
    }
    return type(name, (OpNode,), fields)


def conjugate(grad: Any) -> Any:
    """The conjugate of a complex gradient (or of several); see Note [Complex gradients]."""
    if type(grad) is list:
        return [conjugate(each) for each in grad]
    complex_ = isinstance(grad, Tensor) and grad.dtype.is_complex
    return call(lookup("conjugate"), (grad,)) if complex_ else grad


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
        if grad.dtype.is_complex and not spec.dtype.is_complex:
            grad = grad.real
        grad = call(lookup("convert"), (grad, spec.dtype))
    return grad
