"""What users do with saved tensors and nodes: torch.autograd.graph's functions.

In: tensors and nodes of the graph. Out: hooks that move saved tensors, hooks on several gradients,
edges to differentiate with respect to.

    with torch.autograd.graph.save_on_cpu():
        loss = model(x)                       # what is saved lies in the main memory

Source: torch.autograd.graph's documentation.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from minitorch2 import forks
from minitorch2.autograd.graph import (
    AccumulateGrad,
    Edge,
    Node,
    RemovableHandle,
    SavedTensor,
    accumulator_of,
    edge_of,
    saved_tensors_hooks,
    spec_of,
)
from minitorch2.dispatch import call, state
from minitorch2.errors import ArgumentValueError, AutogradError, OperationError
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor


def _running(asked: str) -> Any:
    """The backward in progress."""
    run = state.backward
    if run is None:
        raise OperationError(asked, f"{asked} should only be called during the backward pass")
    return run


def queue_callback(callback: Callable[[], Any]) -> None:
    """Call a function when the backward in progress is over."""
    _running("queue_callback").callbacks.append(callback)


def will_engine_execute_node(node: Any) -> bool:
    """Whether the backward in progress runs, or has run, a node."""
    if not isinstance(node, Node):
        raise OperationError(
            "_will_engine_execute_node",
            f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}",
        )
    run = _running("_will_engine_execute_node")
    if isinstance(node, AccumulateGrad):
        if run.wanted is None:
            return run.reaches(node.variable)
        if not run.accumulate and (id(node.variable), 0) in run.wanted_keys:
            raise OperationError(
                "_will_engine_execute_node",
                "A leaf node was passed to _will_engine_execute_node but we are currently running "
                "autograd.grad(). This is currently not supported.",
            )
        return (id(node.variable), 0) in run.wanted_keys and run.reaches(node.variable)
    return node in run.nodes and (run.needed is None or node in run.needed)


def _gets_gradient(edge: Any) -> bool:
    """Whether the backward in progress hands a gradient to an output or leaf."""
    runs = will_engine_execute_node(edge.node)
    return runs and _running("a hook of several tensors").arrives(Edge(edge.node, edge.output_nr))


def current_node() -> Any:
    """The node that the backward in progress runs now, or None."""
    return None if state.backward is None else state.backward.node


def current_graph_task_id() -> int:
    """The number of the backward in progress; -1 outside of one."""
    return -1 if state.backward is None else state.backward.number


class UndefinedGrad:
    """A function that passes its tensor on, and no gradient back."""

    def __call__(self, tensor: Tensor) -> Tensor:
        """The tensor, through whose history no gradient arrives."""
        found = Tensor(tensor.storage, tensor.layout, tensor.dtype, tensor._array)
        if tensor.requires_grad and state.grad_enabled:
            found.set_history(_NoGradient(edge_of(tensor), spec_of(tensor)))
        return found


class _NoGradient(Node):
    def __init__(self, edge: Any, spec: Any):
        super().__init__("UndefinedGradBackward", (edge,), (spec,), state.origin)

    def apply(self, grads: tuple) -> tuple:
        return (None,)


def saved_tensor_of(tensor: Tensor, is_output: bool = False) -> SavedTensor:
    """A tensor as autograd keeps it, hooks included."""
    return SavedTensor(tensor, 0 if is_output else None)


def saved_tensors_hooks_is_enabled() -> bool:
    """Whether saved-tensor hooks may be entered."""
    return saved_tensors_hooks.refused is None


def set_versions(tensors: Sequence[Tensor], versions: Sequence[int]) -> None:
    """Set how often tensors count as written."""
    for tensor, version in zip(tensors, versions, strict=True):
        if version < 0:
            raise OperationError(
                "_unsafe_set_version_counter", f"Cannot set a version_counter to {version}"
            )
        tensor.storage.version = version


class preserve_versions:
    """Within the block, writes into tensors are not counted."""

    def __init__(self, tensors: Any):
        self.tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
        self.before = [tensor.storage.version for tensor in self.tensors]

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        for tensor, version in zip(self.tensors, self.before, strict=True):
            tensor.storage.version = version


class save_on_cpu(saved_tensors_hooks):
    """Within the block, saved tensors are copied to the CPU and back when they are needed.

    With the CPU as the only device they are copied all the same, so that later writes into the
    originals do not matter.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda"):
        def pack(tensor: Tensor) -> tuple:
            return tensor.device, call(lookup("clone"), (call(lookup("detach"), (tensor,)),))

        def unpack(packed: tuple) -> Tensor:
            return packed[1].to(packed[0])

        super().__init__(pack, unpack)


class disable_saved_tensors_hooks:
    """Within the block, entering saved-tensor hooks is an error with this message."""

    def __init__(self, error_message: str):
        self.message = error_message

    def __enter__(self) -> None:
        if state.saved_hooks:
            raise OperationError("disable_saved_tensors_hooks", self.message)
        self.before = saved_tensors_hooks.refused
        saved_tensors_hooks.refused = self.message

    def __exit__(self, *exc: object) -> None:
        saved_tensors_hooks.refused = self.before


class GradientEdge(NamedTuple):
    """A place in the graph: output `output_nr` of a node. grad() takes it as an input."""

    node: Any
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge where the gradient of a tensor arrives."""
    if not tensor.requires_grad:
        raise AutogradError(
            "get_gradient_edge", "It is not possible to get the gradient edge for a Tensor that "
            "does not require gradients.",
        )  # fmt: skip
    node = tensor.grad_fn
    if node is None:
        return GradientEdge(accumulator_of(tensor), 0)
    return GradientEdge(node, tensor._output)


def edge_at(place: GradientEdge) -> Edge:
    """The engine's edge of a GradientEdge."""
    if isinstance(place.node, AccumulateGrad):
        return Edge(place.node.variable, 0)
    return Edge(place.node, place.output_nr)


def increment_version(tensor: Any) -> None:
    """Say that a tensor (or several) was written where autograd could not see it."""
    for each in [tensor] if isinstance(tensor, Tensor) else tensor:
        each.storage.version += 1


class _MultiHandle:
    """Removes the hooks of several tensors."""

    def __init__(self, handles: list[RemovableHandle]):
        self.handles = handles

    def remove(self) -> None:
        """Take all of them out."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> "_MultiHandle":
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable, *, mode: str = "all"
) -> _MultiHandle:
    """Call a function when the gradients of several tensors are there.

    mode 'all': `fn(gradients)` once in each backward, when the last of those that get a gradient in
    it has it, None for the others. 'any': `fn(gradient)` with the first.
    """
    if mode not in ("all", "any"):
        raise ArgumentValueError(
            f"register_multi_grad_hook(mode={mode!r})",
            f"Expects mode to be one of ('all', 'any') but got {mode}",
        )
    each: Any = _All(tensors, fn) if mode == "all" else _First(fn)
    return _MultiHandle([t.register_hook(each.at(index)) for index, t in enumerate(tensors)])


class _First:
    """Calls the function with the first gradient of each backward."""

    def __init__(self, fn: Callable):
        self.fn = fn
        self.seen: dict[int, bool] = {}  # backwards in progress, by their number
        self.lock = forks.lock()

    def at(self, index: int) -> Callable:
        """The hook of one tensor."""

        def hook(gradient: Tensor) -> None:
            """Call the user's function for the first gradient of this backward."""
            with self.lock:
                first = self.seen.setdefault(state.backward.number, True)
                self.seen[state.backward.number] = False
            if first:
                self.fn(gradient)

        return hook


class _All:
    """Collects the gradients of one backward, and calls the function with the last."""

    def __init__(self, tensors: Sequence[Tensor], fn: Callable):
        self.fn = fn
        self.edges = [get_gradient_edge(tensor) for tensor in tensors]
        self.found: dict[int, list[Any]] = {}  # by the number of the backward
        self.missing: dict[int, int] = {}
        self.lock = forks.lock()

    def at(self, index: int) -> Callable:
        """The hook of one tensor."""

        def hook(gradient: Tensor) -> None:
            """Keep a gradient; the last one of this backward calls the user's function."""
            number = state.backward.number
            with self.lock:
                if number not in self.found:
                    self.found[number] = [None] * len(self.edges)
                    self.missing[number] = sum(map(_gets_gradient, self.edges))
                self.found[number][index] = gradient
                self.missing[number] -= 1
                last = self.missing[number] == 0
                gradients = self.found.pop(number) if last else []
                if last:
                    del self.missing[number]
            if last:
                self.fn(gradients)

        return hook
