"""The autograd graph: nodes made by operations, edges to the nodes of their inputs.

In: what an operation was given and what it made. Out: nodes, edges between them, tensors kept for
the backward (each remembers the version of its storage and refuses to be used after a write), the
hooks of users. Nodes of op rows stand in op_nodes.py.

Source: PyTorch's "Autograd mechanics" notes; HIPS autograd for vjps written in tensor operations.
"""

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from minitorch2.artifacts import Origin
from minitorch2.dispatch import call, state
from minitorch2.errors import GraphFreed, OperationError, SavedTensorModified
from minitorch2.ops.table import lookup
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

    @property
    def is_nested_tensor(self) -> bool:
        """False: there are no nested tensors."""
        return False


_new_tuple = tuple.__new__


def spec_of(tensor: Tensor) -> Spec:
    """The Spec of a tensor."""
    layout = tensor.layout
    fields = layout.shape, tensor.dtype, tensor.storage.device, layout
    return _new_tuple(Spec, fields)  # Spec(*fields), three times as fast


class SavedTensor:
    """A tensor kept for the backward, with the version its storage had and its layout then."""

    __slots__ = ("tensor", "version", "layout", "output", "grown", "packed", "hooks")

    def __init__(self, tensor: "Tensor | None" = None, output: int | None = None):
        if tensor is None:
            raise OperationError(
                "SavedTensor()",
                "Trying to create a SavedTensor object from Python is forbidden",
                "ctx.save_for_backward saves tensors",
            )
        storage = tensor.storage
        self.version, self.layout = storage.version, tensor.layout
        if self.version != self.version:  # Note [Inference tensors]
            refuse_inference_tensor()
        self.output = output  # which output of the owning node it is, None for an input
        self.grown = tensor._node is not None
        self.packed: Any = None  # what a hook made of it, its Spec, its edge
        self.hooks: tuple[Callable, Callable] | None = None
        if output is not None:  # a plain alias: the node must not keep itself alive by its result
            tensor = Tensor(storage, tensor.layout, tensor.dtype, tensor._array)
        self.tensor: Tensor | None = tensor
        if state.saved_hooks:
            self._pack(state.saved_hooks[-1])

    @classmethod
    def nothing(cls) -> "SavedTensor":
        """Stands for None among what a Function saves."""
        saved = cls.__new__(cls)
        saved.tensor = saved.packed = saved.hooks = saved.output = None
        return saved

    def _pack(self, hooks: tuple[Callable, Callable]) -> None:
        tensor = self.tensor
        assert tensor is not None
        before, state.grad_enabled = state.grad_enabled, False
        seen = call(lookup("detach"), (tensor,)) if tensor._node is not None else tensor
        version = seen.storage.version
        try:
            packed = hooks[0](seen)
        finally:
            state.grad_enabled = before
        if seen.storage.version != version:
            raise OperationError(
                "saved_tensors_hooks",
                "A saved tensor pack hook is modifying its input in place. Tensors provided as "
                "input to pack hook can not be modified by in-place operations",
                "clone the tensor in the hook first",
            )
        self.packed = packed, spec_of(tensor), edge_of(tensor)
        self.hooks, self.tensor = hooks, None

    def register_hooks(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        """Let the tensor pass through `pack_hook` now and through `unpack_hook` when asked for."""
        asked = "register_hooks on a saved tensor"
        if not (callable(pack_hook) and callable(unpack_hook)):
            raise TypeError(f"{asked}: incompatible function arguments: two functions are expected")
        if self.hooks is not None:
            raise OperationError(asked, "the hooks of the saved tensor have already been set")
        if self.tensor is None:
            freed_ = self.output == FREED
            raise OperationError(
                f"Calling {asked}" + (" after it has been freed" if freed_ else ""),
                "it is too late" if freed_ else "with value None is forbidden",
                "register them before the backward" if freed_ else "save a tensor",
            )
        self._pack((pack_hook, unpack_hook))

    @property
    def data(self) -> Any:
        """What is kept: the tensor, or what the pack hook made of it."""
        return self.tensor if self.packed is None else self.packed[0]

    @property
    def unpack_hook(self) -> Callable | None:
        """The hook that gives the tensor back; None without hooks."""
        return self.hooks and self.hooks[1]

    def release(self) -> None:
        """Let the tensor go."""
        self.tensor = self.packed = self.hooks = None
        self.output = FREED

    def _connected(self, found: Any, node: "Node | None") -> Any:
        """What a hook gave back, with the history that the saved tensor had."""
        if not isinstance(found, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(found).__name__}"
            )
        edge: Edge | None = self.packed[2]
        if self.output is not None:
            edge = None if node is None else Edge(node, self.output)
        if edge is None or edge_of(found) == edge:
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

    def unpack(self, node: "Node | None" = None, name: str = "saved tensor") -> Any:
        """The tensor; SavedTensorModified when it was written since."""
        if self.hooks is not None:
            return self._connected(self.hooks[1](self.packed[0]), node)
        tensor = self.tensor
        if tensor is None:
            if self.output == FREED:
                raise freed("a saved tensor")
            return None
        if tensor.storage.version != self.version:
            raise SavedTensorModified(
                f"the backward of {_name_of(node)}",
                "one of the variables needed for gradient computation has been modified by an "
                f"inplace operation: '{name}' is at version {tensor.storage.version}, "
                f"expected version {self.version}",
                "clone the tensor before the in-place operation, or use the out-of-place one"
                + (f" (the forward ran at {node.origin})" if node and node.origin else ""),
            )
        if self.output is not None:
            alias = Tensor(tensor.storage, tensor.layout, tensor.dtype, tensor._array)
            if node is not None:
                alias.set_history(node, self.output)
            for level in state.duals:
                level.share(tensor, alias)
            return alias
        if self.grown and tensor._node is None and tensor._view is None:
            raise SavedTensorModified(
                f"the backward of {_name_of(node)}",
                f"Trying to use a saved tensor that has been detached in-place, i.e. with "
                f".detach_(): '{name}'",
                "use out-of-place detach() instead",
            )
        if tensor.layout is not self.layout:  # t.unsqueeze_() and its like came in between
            layout = self.layout
            shown = layout.shape, layout.strides, layout.offset
            return call(lookup("as_strided"), (tensor, *shown))
        return tensor


FREED = -1  # the `output` of a saved tensor that was let go


def _name_of(node: "Node | None") -> str:
    return f"{node.name()}()" if node is not None else "an operation"


def freed(what: str) -> GraphFreed:
    """The error of a second use of what the first backward has freed."""
    return GraphFreed(
        what,
        "Trying to backward through the graph a second time (or directly access saved tensors "
        "after they have already been freed)",
        "Specify retain_graph=True in the first backward, or run the forward again",
    )


def refuse_inference_tensor() -> None:
    """OperationError of an inference tensor that a backward would need."""
    raise OperationError(
        "a computation tracked by autograd",
        "Inference tensors cannot be saved for backward",
        "clone() the tensor outside of inference mode, or make it under torch.no_grad()",
    )


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
    runs_on_nothing = False  # whether `apply` is called when none of the outputs has a gradient
    stands_for_many = False  # whether each output would have a node of its own, run step by step
    inner: frozenset[int] = frozenset()  # outputs whose hooks `apply` runs: others come of them

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
            else (accumulator_of(edge.target), 0)
            if isinstance(edge.target, Tensor)
            else (edge.target, edge.index)
            for edge in self.edges
        )

    def order(self) -> Sequence[int]:
        """The outputs in the order in which their hooks run."""
        return range(len(self.outputs))

    def derived(self, index: int) -> frozenset[int]:
        """The outputs that were computed from one, itself included."""
        return frozenset((index,))

    requires_grad = True

    def _sequence_nr(self) -> int:
        return self.sequence

    def _set_sequence_nr(self, number: int) -> None:
        self.sequence = number

    @property
    def _input_metadata(self) -> tuple[Spec, ...]:
        return self.outputs

    def __call__(self, *grads: Any) -> Any:
        """Run this node alone on gradients of its outputs."""
        if len(grads) != len(self.outputs):
            raise TypeError(
                f"{self.name()}: expected {len(self.outputs)} arguments, got {len(grads)} instead"
            )
        pairs = zip(self.apply(grads), self.edges, strict=False)
        found = tuple([grad for grad, edge in pairs if edge is not None])
        return found[0] if len(found) == 1 else found

    def register_hook(self, hook: Callable) -> "RemovableHandle":
        """Call `hook(grad_inputs, grad_outputs)` after this node has run."""
        return RemovableHandle(self.with_hooks().post, hook)

    def register_prehook(self, hook: Callable) -> "RemovableHandle":
        """Call `hook(grad_outputs)` before this node runs."""
        return RemovableHandle(self.with_hooks().pre, hook)

    def apply(self, grads: tuple) -> tuple:
        """Gradients of the inputs, one for each edge, from those of the outputs."""
        raise NotImplementedError(type(self).__name__)

    def kept(self) -> tuple:
        """What is saved of the results."""
        return ()

    def release(self) -> None:
        """Free what was saved; a later apply raises GraphFreed."""

    def __repr__(self) -> str:
        return f"<{self.name().rsplit(':', 1)[-1]} object>"


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


class LeafHooks:
    """The hooks of one leaf, in the order in which they run."""

    __slots__ = ("grad", "before", "after", "behind")

    def __init__(self) -> None:
        self.grad: dict[int, Callable] = {}  # of the tensor: gradient -> gradient or None
        self.before: dict[int, Callable] = {}  # of its AccumulateGrad: (gradient,) -> the same
        self.after: dict[int, Callable] = {}  # of the tensor, once the gradient was added
        self.behind: dict[int, Callable] = {}  # of its AccumulateGrad: (), (gradient,)

    def __bool__(self) -> bool:
        """Whether there is one."""
        return bool(self.grad or self.before or self.after or self.behind)


def leaf_hooks(leaf: Tensor) -> LeafHooks:
    """A leaf's hooks, to add one."""
    if leaf._hooks is None:
        leaf._hooks = LeafHooks()
    return leaf._hooks


class AccumulateGrad(Node):
    """Stands for a leaf in `next_functions`: adds what arrives to `variable.grad`."""

    __slots__ = ("variable",)

    def __init__(self, variable: Tensor):
        super().__init__("torch::autograd::AccumulateGrad", (), (spec_of(variable),))
        self.variable = variable

    def register_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook((), (gradient,))` after the leaf's gradient was added to."""
        return RemovableHandle(leaf_hooks(self.variable).behind, hook)

    def register_prehook(self, hook: Callable) -> RemovableHandle:
        """Call `hook((gradient,))` before the leaf's gradient is added to."""
        return RemovableHandle(leaf_hooks(self.variable).before, hook)


_accumulators: "weakref.WeakValueDictionary[int, AccumulateGrad]" = weakref.WeakValueDictionary()


def accumulator_of(leaf: Tensor) -> AccumulateGrad:
    """The AccumulateGrad of a leaf: the same one as long as somebody holds it."""
    found = _accumulators.get(id(leaf))
    if found is None:
        found = _accumulators[id(leaf)] = AccumulateGrad(leaf)
    return found


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
