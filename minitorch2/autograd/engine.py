"""The engine: walks the graph from the outputs to the leaves, newest node first.

In: output tensors with gradients. Out: `.grad` of the leaves, or the gradients of given inputs.
It is plain Python over the dispatcher, so tracing it gives the graph of the backward; around each
vjp it enters the Origin of the forward operation, so every gradient knows its user line.

Every node that can be reached runs, as in torch: where no gradient arrived, hooks and the backwards
that users wrote see None (or the zeros they ask for), rows have nothing to do.

Source: PyTorch's engine, without its threads; dependencies are counted as in Kahn's algorithm.
"""

import heapq
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from minitorch2.autograd.anomaly import active
from minitorch2.autograd.graph import Edge, Node, edge_of
from minitorch2.autograd.hooks import accumulated, after_leaf, apply_with_hooks, before_leaf, hooked
from minitorch2.autograd.leaves import accumulate_into
from minitorch2.batching.backward import any_batched, run_hidden
from minitorch2.dispatch import state
from minitorch2.errors import AutogradError
from minitorch2.tensors import Tensor


def _dependencies(roots: list[Node], since: int) -> tuple[dict[Node, int], dict[int, int]]:
    """How many gradients each reachable node waits for, and each leaf that has hooks, by its id.

    Nodes that were made before the number `since` are taken for the ends of the graph.
    """
    counts: dict[Node, int] = dict.fromkeys(roots, 0)
    leaves: dict[int, int] = {}
    stack = list(counts)
    while stack:
        for edge in stack.pop().edges:
            if edge is None:
                continue
            target = edge.target
            if isinstance(target, Tensor):
                if target._hooks is not None:
                    leaves[id(target)] = leaves.get(id(target), 0) + 1
            elif target in counts:
                counts[target] += 1
            elif target.sequence >= since:
                counts[target] = 1
                stack.append(target)
    return counts, leaves


class _Run:
    """One walk: gradients waiting at nodes and leaves, and those to hand out at the end."""

    numbers = itertools.count()

    def __init__(self, wanted: "list[Edge] | None", accumulate: bool = True):
        self.waiting: dict[Node, list[Any]] = {}
        self.roots: list[Edge] = []
        self.leaves: dict[int, tuple[Tensor, Any]] = {}
        self.wanted = wanted
        self.captured: dict[tuple[int, int], Any] = {}
        self.taken: set[int] = set()  # storages that gradients may not be kept in
        self.wanted_keys = {(id(e.target), e.index) for e in wanted or ()}
        self.nodes: dict[Node, int] = {}  # all that can be reached
        self.anomaly = active() if state.modes else None
        self.number = next(_Run.numbers)
        self.node: Node | None = None  # the one that runs now
        self.needed: set[Node] | None = None  # those that run at all; None: every one
        self.accumulate = accumulate  # into the leaves, or for grad()
        self.callbacks: list[Callable[[], Any]] = []

    def reaches(self, tensor: Tensor) -> bool:
        """Whether the gradient of a tensor is computed in this walk."""
        edge = edge_of(tensor)
        if edge is None or isinstance(edge.target, Node):
            return edge is not None and edge.target in self.nodes
        return any(e is not None and e.target is tensor for n in self.nodes for e in n.edges)

    def arrives(self, edge: Edge) -> bool:
        """Whether an output gets a gradient in this walk, which goes through its node."""
        node = edge.target
        if not node.stands_for_many:
            return True
        ends = node.derived(edge.index)
        ways = (each for n in self.nodes for each in n.edges if each is not None)
        return any(each.target is node and each.index in ends
                   for each in itertools.chain(self.roots, ways))  # fmt: skip

    def deliver(self, edge: Edge, grad: Any) -> None:
        """Add a gradient to what waits at the end of an edge."""
        target, index = edge
        if isinstance(target, Tensor):
            found = self.leaves.get(id(target))
            self.leaves[id(target)] = (target, accumulated(found and found[1], grad))
            return
        slots = self.waiting.get(target)
        if slots is None:
            slots = self.waiting[target] = [None] * len(target.outputs)
        slots[index] = accumulated(slots[index], grad)


def run_backward(
    outputs: "Sequence[Tensor | Edge]",
    gradients: list[Tensor],
    retain_graph: bool,
    create_graph: bool,
    inputs: "Sequence[Tensor | Edge] | None" = None,
    accumulate: bool = True,
    since: int = -1,
) -> list[Any]:
    """Propagate `gradients` of `outputs`; accumulate into leaves or return those of `inputs`.

    `since`: the number of the oldest node that can lead to an input, where that is known.
    """
    if state.modes and any_batched((*outputs, *(inputs or ()))):
        settings = (list(outputs), gradients, retain_graph, create_graph, inputs, accumulate)
        return run_hidden(run_backward, *settings)
    edges = None
    if inputs is not None:
        edges = [each if isinstance(each, Edge) else edge_of(each) for each in inputs]
    known = None if edges is None else [edge for edge in edges if edge is not None]
    run = _Run(known, accumulate)
    roots = []
    for output, gradient in zip(outputs, gradients, strict=True):
        edge = output if isinstance(output, Edge) else edge_of(output)
        if edge is None:
            raise AutogradError(
                "backward of a tensor",
                "element 0 of tensors does not require grad and does not have a grad_fn",
                "set requires_grad on the inputs it was computed from",
            )
        if isinstance(edge.target, Node):
            roots.append(edge.target)
            run.roots.append(edge)
        run.taken.add(id(gradient.storage))
        run.deliver(edge, gradient)
    own, casts = state.__dict__, state.autocast
    before = own["grad_enabled"], own["backward"]
    own["grad_enabled"], own["backward"] = create_graph, run
    if casts is not None:
        state.autocast = None  # dtypes are the forward's
    try:
        _walk(run, roots, retain_graph, accumulate, since)
        found = _finish(run, edges, accumulate)
        while run.callbacks:
            run.callbacks.pop(0)()
        return found
    finally:
        own["grad_enabled"], own["backward"] = before
        if casts is not None:
            state.autocast = casts


def _walk(run: _Run, roots: list[Node], retain_graph: bool, accumulate: bool, since: int) -> None:
    counts, leaves = _dependencies(roots, since)
    run.nodes = counts
    run.needed = None if run.wanted is None else _leading_to(run, roots, accumulate, since)
    ready = [(-node.sequence, id(node), node) for node in counts if counts[node] == 0]
    heapq.heapify(ready)
    while ready:
        _, _, node = heapq.heappop(ready)
        grads = run.waiting.pop(node, None)
        if grads is not None:
            _run_node(run, node, grads, retain_graph)
        for edge in node.edges:
            if edge is None:
                continue
            target = edge.target
            if isinstance(target, Node):
                if target not in counts:
                    continue
                counts[target] -= 1
                if counts[target] == 0:
                    heapq.heappush(ready, (-target.sequence, id(target), target))
            elif id(target) in leaves:  # hooks of a leaf run as soon as its gradient is whole
                leaves[id(target)] -= 1
                if leaves[id(target)] == 0 and id(target) in run.leaves:
                    _finish_leaf(run, *run.leaves.pop(id(target)), accumulate)


def _run_node(run: _Run, node: Node, grads: list[Any], retain_graph: bool) -> None:
    """Run one node under the Origin of its forward operation, and pass its gradients on."""
    origin = state.origin
    if node.origin is not None:
        state.origin = node.origin.derived(f"vjp of {node.label}")
    run.node = node
    try:
        if node.hooks is not None or run.wanted is not None:
            grads = hooked(run, node, grads)
        if run.needed is not None and node not in run.needed:
            return
        anomaly = run.anomaly
        found = (
            apply_with_hooks(node, grads)
            if anomaly is None
            else anomaly.run(apply_with_hooks, node, grads)
        )
        if not retain_graph:
            node.release()
        for edge, gradient in zip(node.edges, found, strict=False):
            if edge is not None:
                run.deliver(edge, gradient)
    finally:
        run.node = None
        if state.origin is not origin:
            state.origin = origin


def _leading_to(run: _Run, roots: list[Node], themselves: bool, since: int) -> set[Node]:
    """Nodes from which a wanted input can be reached; the others need not run.

    With `themselves`, the nodes that made the wanted inputs run, too, as in torch's backward().
    """
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
            stack.extend(
                (target, False)
                for target in targets
                if isinstance(target, Node) and target.sequence >= since
            )
    made = [edge for edge in run.wanted or () if isinstance(edge.target, Node)]
    needed = {e.target for e in made if themselves or e.index in e.target.inner} & seen
    for node in order:
        for edge in node.edges:
            if edge is not None and (
                edge.target in needed if isinstance(edge.target, Node) else False
            ):
                needed.add(node)
            elif edge is not None and (id(edge.target), edge.index) in run.wanted_keys:
                needed.add(node)
    return needed


def _finish_leaf(run: _Run, leaf: Tensor, gradient: Any, accumulate: bool) -> None:
    """Run a leaf's hooks on its gradient, and accumulate or hand it out."""
    if run.wanted is not None and (id(leaf), 0) not in run.wanted_keys:
        return
    gradient = before_leaf(run, leaf, gradient, accumulate)
    if accumulate and gradient is not None:
        accumulate_into(leaf, gradient, run.taken)
        after_leaf(leaf, gradient)
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
