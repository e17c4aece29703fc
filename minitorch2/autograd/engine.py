"""The engine: walks the graph from the outputs to the leaves, newest node first.

In: output tensors with gradients. Out: `.grad` of the leaves, or the gradients of given inputs.
It is plain Python over the dispatcher, so tracing it gives the graph of the backward; around each
vjp it enters the Origin of the forward operation, so every gradient knows its user line.

Source: PyTorch's engine, without its threads; dependencies are counted as in Kahn's algorithm.
"""

import heapq
from collections.abc import Sequence
from typing import Any

from minitorch2.autograd.anomaly import active
from minitorch2.autograd.graph import (
    Edge,
    Node,
    edge_of,
    fit_gradient,
    spec_of,
    zeros_like_spec,
)
from minitorch2.batching.backward import any_batched, run_hidden
from minitorch2.dispatch import call, state
from minitorch2.errors import AutogradError
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor


def _accumulated(old: Any, new: Any) -> Any:
    return new if old is None else call(lookup("add"), (old, new, 1))


def _dependencies(roots: list[Node]) -> tuple[dict[Node, int], dict[int, int]]:
    """How many gradients each reachable node waits for, and each leaf that has hooks, by its id."""
    counts: dict[Node, int] = dict.fromkeys(roots, 0)
    leaves: dict[int, int] = {}
    stack = list(counts)
    while stack:
        for edge in stack.pop().edges:
            if edge is None:
                continue
            target = edge.target
            if isinstance(target, Tensor):
                if target._hooks:
                    leaves[id(target)] = leaves.get(id(target), 0) + 1
            elif target in counts:
                counts[target] += 1
            else:
                counts[target] = 1
                stack.append(target)
    return counts, leaves


class _Run:
    """One walk: gradients waiting at nodes and leaves, and those to hand out at the end."""

    def __init__(self, wanted: "list[Edge] | None"):
        self.waiting: dict[Node, list[Any]] = {}
        self.leaves: dict[int, tuple[Tensor, Any]] = {}
        self.wanted = wanted
        self.captured: dict[tuple[int, int], Any] = {}
        self.taken: set[int] = set()  # storages that gradients may not be kept in
        self.wanted_keys = {(id(e.target), e.index) for e in wanted or ()}
        self.nodes: dict[Node, int] = {}  # all that can be reached
        self.anomaly = active() if state.modes else None

    def reaches(self, tensor: Tensor) -> bool:
        """Whether the gradient of a tensor is computed in this walk."""
        edge = edge_of(tensor)
        if edge is None or isinstance(edge.target, Node):
            return edge is not None and edge.target in self.nodes
        return any(e is not None and e.target is tensor for n in self.nodes for e in n.edges)

    def deliver(self, edge: Edge, grad: Any) -> None:
        """Add a gradient to what waits at the end of an edge."""
        target, index = edge
        if isinstance(target, Tensor):
            found = self.leaves.get(id(target))
            self.leaves[id(target)] = (target, _accumulated(found and found[1], grad))
            return
        slots = self.waiting.get(target)
        if slots is None:
            slots = self.waiting[target] = [None] * len(target.outputs)
        old = slots[index]
        slots[index] = grad if old is None else _accumulated(old, grad)


def run_backward(
    outputs: list[Tensor],
    gradients: list[Tensor],
    retain_graph: bool,
    create_graph: bool,
    inputs: "Sequence[Tensor | Edge] | None" = None,
    accumulate: bool = True,
) -> list[Any]:
    """Propagate `gradients` of `outputs`; accumulate into leaves or return those of `inputs`."""
    if state.modes and any_batched((*outputs, *(inputs or ()))):
        settings = (outputs, gradients, retain_graph, create_graph, inputs, accumulate)
        return run_hidden(run_backward, *settings)
    edges = None
    if inputs is not None:
        edges = [each if isinstance(each, Edge) else edge_of(each) for each in inputs]
    run = _Run([edge for edge in edges if edge is not None] if edges is not None else None)
    roots = []
    for output, gradient in zip(outputs, gradients, strict=True):
        edge = edge_of(output)
        if edge is None:
            raise AutogradError(
                "backward of a tensor",
                "element 0 of tensors does not require grad and does not have a grad_fn",
                "set requires_grad on the inputs it was computed from",
            )
        if isinstance(edge.target, Node):
            roots.append(edge.target)
        run.taken.add(id(gradient.storage))
        run.deliver(edge, gradient)
    before = state.grad_enabled, state.autocast, state.backward
    state.backward = run
    state.grad_enabled, state.autocast = create_graph, None  # dtypes are the forward's
    try:
        _walk(run, roots, retain_graph, accumulate)
        return _finish(run, edges, accumulate)
    finally:
        state.grad_enabled, state.autocast, state.backward = before


def _walk(run: _Run, roots: list[Node], retain_graph: bool, accumulate: bool) -> None:
    counts, leaves = _dependencies(roots)
    run.nodes = counts
    needed = None if run.wanted is None else _leading_to(run, roots)
    ready = [(-node.sequence, id(node), node) for node in counts if counts[node] == 0]
    heapq.heapify(ready)
    while ready:
        _, _, node = heapq.heappop(ready)
        grads = run.waiting.pop(node, None)
        if grads is not None:
            _run_node(run, node, grads, needed is None or node in needed, retain_graph)
        for edge in node.edges:
            if edge is None:
                continue
            target = edge.target
            if isinstance(target, Node):
                counts[target] -= 1
                if counts[target] == 0:
                    heapq.heappush(ready, (-target.sequence, id(target), target))
            elif id(target) in leaves:  # hooks of a leaf run as soon as its gradient is whole
                leaves[id(target)] -= 1
                if leaves[id(target)] == 0 and id(target) in run.leaves:
                    _finish_leaf(run, *run.leaves.pop(id(target)), accumulate)


def _run_node(run: _Run, node: Node, grads: list[Any], needed: bool, retain_graph: bool) -> None:
    """Run one node under the Origin of its forward operation, and pass its gradients on."""
    origin = state.origin
    if node.origin is not None:
        state.origin = node.origin.derived(f"vjp of {node.label}")
    try:
        if node.hooks is not None or run.wanted is not None:
            grads = _hooked(run, node, grads)
        if not needed:
            return
        anomaly = run.anomaly
        found = _apply(node, grads) if anomaly is None else anomaly.run(_apply, node, grads)
        if not retain_graph:
            node.release()
        for edge, gradient in zip(node.edges, found, strict=False):
            if edge is not None and gradient is not None:
                run.deliver(edge, gradient)
    finally:
        if state.origin is not origin:
            state.origin = origin


def _leading_to(run: _Run, roots: list[Node]) -> set[Node]:
    """Nodes from which a wanted input can be reached; the others need not run."""
    order: list[Node] = []
    seen: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(root, False) for root in roots]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            targets = [edge.target for edge in node.edges if edge is not None]
            stack.extend((target, False) for target in targets if isinstance(target, Node))
    needed: set[Node] = set()
    for node in order:
        for edge in node.edges:
            if edge is not None and (
                edge.target in needed if isinstance(edge.target, Node) else False
            ):
                needed.add(node)
            elif edge is not None and (id(edge.target), edge.index) in run.wanted_keys:
                needed.add(node)
    return needed


def _hooked(run: _Run, node: Node, grads: list[Any]) -> list[Any]:
    """Run the hooks of a node's outputs; keep the gradients that were asked for."""
    hooks = node.hooks
    for index, grad in enumerate(grads):
        if grad is None:
            continue
        if hooks is not None:
            for hook in list(hooks.tensor.get(index, {}).values()):
                run.taken.add(id(grad.storage))  # the hook may keep it
                changed = hook(grad)
                grad = grad if changed is None else changed
            grads[index] = grad
            retained = hooks.retained.get(index)
            tensor = retained() if retained is not None else None
            if tensor is not None:
                tensor._grad = _accumulated(tensor._grad, grad)
        if (id(node), index) in run.wanted_keys:
            run.captured[id(node), index] = grad
    return grads


def _apply(node: Node, grads: list[Any]) -> tuple:
    """Run one node, with its own hooks around."""
    if len(grads) > 1 and node.fills_missing:
        grads = [
            zeros_like_spec(spec) if grad is None and spec.dtype.differentiable else grad
            for grad, spec in zip(grads, node.outputs, strict=True)
        ]
    if node.hooks is None:
        return node.apply(tuple(grads))
    for hook in list(node.hooks.pre.values()):
        changed = hook(tuple(grads))
        if changed is not None:
            grads = list(changed) if isinstance(changed, tuple) else [changed]
    found = node.apply(tuple(grads))
    for hook in list(node.hooks.post.values()):
        changed = hook(found, tuple(grads))
        if changed is not None:
            found = changed if isinstance(changed, tuple) else (changed,)
    return found


def _finish_leaf(run: _Run, leaf: Tensor, gradient: Tensor, accumulate: bool) -> None:
    """Run a leaf's hooks on its gradient, and accumulate or hand it out."""
    if run.wanted is not None and (id(leaf), 0) not in run.wanted_keys:
        return
    for hook in list((leaf._hooks or {}).get("grad", {}).values()):
        run.taken.add(id(gradient.storage))
        changed = hook(gradient)
        gradient = gradient if changed is None else changed
    if accumulate:
        _accumulate_into(leaf, gradient, run.taken)
    run.captured[id(leaf), 0] = gradient


def _finish(run: _Run, edges: "list[Edge | None] | None", accumulate: bool) -> list[Any]:
    """Give the leaves their gradients, or collect those of the asked inputs."""
    for leaf, gradient in list(run.leaves.values()):
        _finish_leaf(run, leaf, gradient, accumulate)
    if edges is None:
        return []
    return [
        None if edge is None else run.captured.get((id(edge.target), edge.index)) for edge in edges
    ]


def _laid_out_as(leaf: Tensor, gradient: Tensor, copy: bool) -> Tensor:
    """The gradient with the leaf's strides: itself if it has them and needs no copy."""
    strides, shape = leaf.layout.strides, leaf.layout.shape
    if gradient.layout.strides == strides and not copy and gradient.layout.is_dense():
        return gradient
    if leaf.layout.is_contiguous() or not leaf.layout.is_dense():
        if copy or not gradient.layout.is_contiguous():
            return call(lookup("contiguous_copy"), (gradient,))
        return gradient
    order = sorted(range(len(shape)), key=lambda dim: strides[dim], reverse=True)
    moved = call(lookup("contiguous_copy"), (call(lookup("permute"), (gradient, tuple(order))),))
    back = tuple(order.index(dim) for dim in range(len(order)))
    return call(lookup("permute"), (moved, back))


def _accumulate_into(leaf: Tensor, gradient: Tensor, taken: set[int]) -> None:
    """Add to `leaf.grad`, in place when nothing is recorded (so that aliases of it see it).

    A first gradient is kept as it is, unless its memory is somebody else's (in `taken`): later
    gradients are added into it. It has its leaf's strides, where those leave no gaps.
    """
    gradient = fit_gradient(gradient, spec_of(leaf))
    old = leaf._grad
    if old is None:
        owned = gradient if state.grad_enabled else call(lookup("detach"), (gradient,))
        shared = id(owned.storage) in taken or owned.storage is leaf.storage
        owned = _laid_out_as(leaf, owned, shared)
        taken.add(id(owned.storage))
        leaf._grad = owned
    elif state.grad_enabled:
        leaf._grad = _accumulated(old, gradient)
    else:
        call(lookup("copy_"), (old, _accumulated(old, gradient), False))
    for hook in list((leaf._hooks or {}).get("after", {}).values()):
        hook(leaf)
