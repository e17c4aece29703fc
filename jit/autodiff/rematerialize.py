"""Rematerialization: a graph that holds forward and backward keeps less memory alive.

In: an optimized functional graph, for instance a whole training step, and a memory budget. Out: the
same graph in which values that would be kept from before the fullest point to long after it are
computed again there, as saving.py chooses. Which values those are follows from the order of the
nodes alone: the graph is cut where most bytes are alive, and again where most are alive then.

Before: graph f(%x: f32[4], %w: f32[4]) {
          %0: f32[4] = mul(%x, %w)
          %1: f32[4] = exp(%0)
          ...                          much later, while %9 is being used:
          %10: f32[4] = mul(%1, %9)
After:    %10: f32[4] = after(%x, %9)
          %11: f32[4] = mul(%10, %w)
          %12: f32[4] = exp(%11)
          %13: f32[4] = mul(%12, %9)

`after` keeps whoever orders the nodes from computing them early again.

Source: T. Chen et al., "Training Deep Nets with Sublinear Memory Cost"; JAX's checkpoint, whose
optimization_barrier is `after`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from minitorch2.artifacts import Origin
from minitorch2.jit.autodiff.costs import Costs
from minitorch2.jit.autodiff.saving import Problem, Reason, choose, reasons
from minitorch2.jit.ir.graph import (
    Argument,
    Graph,
    Node,
    Value,
    renamed_args,
    renumbered,
    values_in,
    with_nodes,
)
from minitorch2.jit.ir.types import TensorType
from minitorch2.ops.table import VIEW, lookup

ROUNDS = 4  # cuts at most
NEAR = 40  # a fraction of the nodes, 1/40: what is read again so soon stays
WORTH = 0.02  # of the peak; less is not worth a round


@dataclass(frozen=True, slots=True)
class Rematerialized:
    """The graph, why each value is kept or computed again, and the bytes alive at the peak by the
    order of the nodes, before and after."""

    graph: Graph
    reasons: tuple[Reason, ...]
    peak_before: int
    peak_after: int

    def __str__(self) -> str:
        lines = [f"{'kept' if r.saved else 'computed again'}: {r}" for r in self.reasons if r.bytes]
        peak = f"alive at the peak: {self.peak_before} bytes before, {self.peak_after} after"
        return "\n".join([peak, *lines])


def rematerialize(graph: Graph, budget: float) -> Rematerialized:
    """The graph under a memory budget; as it is at 1.0, and where nothing can be gained."""
    costs = Costs(graph)
    first = peak = max(alive(graph, costs), default=0)
    found: list[Reason] = []
    for number in range(ROUNDS if budget < 1.0 and peak else 0):
        level = alive(graph, costs)
        cut = level.index(max(level))
        changed, why = _cut(graph, costs, cut, budget, f"again{number}")
        costs = Costs(changed)
        lower = max(alive(changed, costs), default=0)
        if lower > peak * (1 - WORTH):
            break
        graph, peak = changed, lower
        found += why
    return Rematerialized(renumbered(graph), tuple(found), first, peak)


def alive(graph: Graph, costs: Costs) -> list[int]:
    """The bytes alive while each node runs: results of nodes, views counted as what they show."""
    roots: dict[Value, Value] = {}
    last: dict[Value, int] = {}
    for place, node in enumerate(graph.nodes):
        for value in values_in(node.args):
            last[roots.get(value, value)] = place
        if lookup(node.op).kind == VIEW:
            source = node.args[0]
            assert isinstance(source, Value)
            roots[node.results[0]] = roots.get(source, source)
    for value in _results(graph):
        last[roots.get(value, value)] = len(graph.nodes)
    changes = [0] * (len(graph.nodes) + 2)
    for place, node in enumerate(graph.nodes):
        for result in node.results:
            if result not in roots:
                changes[place] += costs.bytes_of(result)
                changes[last.get(result, place) + 1] -= costs.bytes_of(result)
    total, found = 0, []
    for change in changes[: len(graph.nodes)]:
        total += change
        found.append(total)
    return found


def _results(graph: Graph) -> list[Value]:
    values = [value for output in graph.outputs for value in values_in(output.argument)]
    return values + [value for _, value in graph.writes]


def _cut(
    graph: Graph, costs: Costs, cut: int, budget: float, stem: str
) -> tuple[Graph, tuple[Reason, ...]]:
    """The graph with what saving.py chooses computed again behind node `cut`."""
    start = min(cut + len(graph.nodes) // NEAR, len(graph.nodes))
    before, behind = graph.nodes[:cut], graph.nodes[start:]
    made = {result for node in before for result in node.results}
    given = {declared.value: 0 for declared in graph.inputs}
    read = {value for node in behind for value in values_in(node.args)}
    demanded = frozenset(value for value in read if value in made or value in given)
    always = frozenset(made.intersection(_results(graph)))
    problem = Problem(costs, before, demanded, given, always)
    choice = choose(problem, budget)
    writer = _Writer(choice.again, made, stem)
    nodes = [*graph.nodes[:start]]
    for node in behind:
        nodes += writer.write(node)
    changed = with_nodes(graph, tuple(nodes), {})
    return changed, reasons(problem, choice)


class _Writer:
    """Writes the nodes behind a cut, with those that run again as late as they can."""

    def __init__(self, again: Iterable[Node], made: set[Value], stem: str):
        self.makers = {result: node for node in again for result in node.results}
        self.made, self.stem = made, stem
        self.names: dict[Value, Argument] = {}
        self.waiting: dict[tuple[Value, Value], Value] = {}
        self.previous: Value | None = None

    def write(self, node: Node) -> list[Node]:
        """The node behind the cut, after what it needs again."""
        wanted = [value for value in values_in(node.args) if value in self.makers]
        found: list[Node] = []
        if wanted:
            late = [v for v in values_in(node.args) if v not in self.made and _is_tensor(v)]
            anchor = next((v for v in late if not v.id.startswith(self.stem)), self.previous)
            for value in wanted:
                self._again(value, anchor, found)
        if lookup(node.op).kind != VIEW and node.results and _is_tensor(node.results[0]):
            self.previous = node.results[0]
        return [*found, replace(node, args=renamed_args(node.args, self.names))]

    def _again(self, value: Value, anchor: Value | None, found: list[Node]) -> None:
        pending = [self.makers[value]]
        while pending:
            node = pending[-1]
            missing = [
                self.makers[v]
                for v in values_in(node.args)
                if v in self.makers and v not in self.names
            ]
            if missing and node.results[0] not in self.names:
                pending += missing
                continue
            pending.pop()
            if node.results[0] not in self.names:
                self._copy(node, anchor, found)

    def _copy(self, node: Node, anchor: Value | None, found: list[Node]) -> None:
        """Append a node's second run, whose kept operands wait for the anchor."""
        origin = (node.origin or Origin()).derived("rematerialize")
        names = dict(self.names)
        for value in values_in(node.args):
            if value not in self.makers and anchor is not None and _is_tensor(value):
                if (value, anchor) not in self.waiting:
                    waits = self.waiting[value, anchor] = self._fresh(
                        value, f"w{len(self.waiting)}"
                    )
                    found.append(Node("after", (value, anchor), (waits,), True, origin))
                names[value] = self.waiting[value, anchor]
        results = tuple(self._fresh(result, result.id) for result in node.results)
        self.names.update(zip(node.results, results, strict=True))
        args = renamed_args(node.args, names)
        found.append(replace(node, args=args, results=results, origin=origin))

    def _fresh(self, value: Value, name: str) -> Value:
        return Value(f"{self.stem}.{name}", value.type)


def _is_tensor(value: Value) -> bool:
    return isinstance(value.type, TensorType)
