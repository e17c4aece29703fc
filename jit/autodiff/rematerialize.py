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

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from minitorch2.artifacts import Origin
from minitorch2.jit.autodiff.costs import Costs
from minitorch2.jit.autodiff.partition import Partition
from minitorch2.jit.autodiff.saving import Problem, Reason, late, offers, reasons
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
from minitorch2.jit.passes.effects import can_fail
from minitorch2.ops.table import CREATION, POINTWISE, RANDOM, REDUCTION, VIEW, lookup

MADE_BY = "rematerialize"
ROUNDS = 8  # cuts at most, without a budget
PATIENT = 32  # and with one
HOPELESS = 1.5  # times the lowest peak so far: to keep even less makes it worse
NEAR = 40  # a fraction of the nodes, 1/40: what is read again so soon stays
FUSED = frozenset((POINTWISE, REDUCTION, CREATION, RANDOM, VIEW))
WORTH = 0.02  # of the peak; less is not worth a round without a budget
LITTLE = 0.001  # and with one: layers have peaks of nearly the same height, each needs its round
TOLERATED = 1.25  # times the peak without a budget, before values are computed again at any cost


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
    """The graph under a memory budget: that fraction of the bytes alive at the fullest point once
    what is cheap has been computed again, or the least that a few cuts reach."""
    cheap = _lower(graph, None)
    if budget >= 1.0:
        return cheap
    limit = int(budget * cheap.peak_after)
    return _lower(graph, limit, PATIENT, LITTLE)


def with_lean_backward(halves: Partition, least: int) -> Partition:
    """A partition under a budget whose backward does not hold at once all that it computes again.

    Its second runs are run a third time where that keeps less alive: those that are cheap, and the
    others too if more than about `least` bytes, the peak without a budget, would be alive.
    """
    lean = _lower(halves.backward, None, PATIENT, LITTLE)
    if lean.peak_after > TOLERATED * least:
        lean = _lower(lean.graph, least, PATIENT, LITTLE)
    return replace(halves, backward=lean.graph, reasons=_renamed(halves, lean.graph))


def _renamed(halves: Partition, lean: Graph) -> tuple[Reason, ...]:
    """The reasons of a partition with the names that values have in another backward."""
    kept = (node for node in lean.nodes if not _is_second_run(node) and node.op != "after")
    old = (node for node in halves.backward.nodes if node.op != "after")
    names = {
        before: after
        for one, other in zip(old, kept, strict=True)
        for before, after in zip(one.results, other.results, strict=True)
    }
    return tuple(
        each if each.saved else replace(each, value=names.get(each.value, each.value))
        for each in halves.reasons
    )


def _lower(
    graph: Graph, limit: int | None, rounds: int = ROUNDS, worth: float = WORTH
) -> Rematerialized:
    """The graph cut until no more than `limit` bytes are alive, or until nothing is gained; without
    a limit, only what is cheap is computed again."""
    first = peak = fullest(graph)
    found: tuple[Reason, ...] = ()
    why: tuple[Reason, ...]
    for number in range(rounds):
        best, lowest, why = graph, peak, ()
        for changed, chosen in _cuts(graph, f"again{number}", limit is None):
            lower = fullest(changed)
            if lower < lowest:
                best, lowest, why = changed, lower, chosen
            if lower > HOPELESS * lowest or limit is not None and lower <= limit:
                break
        if lowest > peak * (1 - worth):
            break
        graph, peak, found = best, lowest, found + why
        if limit is not None and peak <= limit:
            break
    return Rematerialized(renumbered(graph), found, first, peak)


def fullest(graph: Graph) -> int:
    """The bytes alive at the fullest point of a graph."""
    return max(alive(graph, Costs(graph)), default=0)


def alive(graph: Graph, costs: Costs) -> list[int]:
    """The bytes alive while each node runs: results of nodes, views counted as what they show.

    What is read soon after it is made, by what fuses with it, never takes memory of its own; nor
    does what is written into an input at the end.
    """
    roots: dict[Value, Value] = {}
    last: dict[Value, int] = {}
    alone: set[Value] = set()  # read by what does not fuse
    for place, node in enumerate(graph.nodes):
        kind = lookup(node.op).kind
        for value in values_in(node.args):
            root = roots.get(value, value)
            last[root] = place
            if kind not in FUSED:
                alone.add(root)
        if kind == VIEW:
            source = node.args[0]
            assert isinstance(source, Value)
            roots[node.results[0]] = roots.get(source, source)
    for value in _results(graph):
        last[roots.get(value, value)] = len(graph.nodes)
    written = {roots.get(value, value) for _, value in graph.writes}
    near = len(graph.nodes) // NEAR
    changes = [0] * (len(graph.nodes) + 2)
    for place, node in enumerate(graph.nodes):
        fused = lookup(node.op).kind in FUSED
        for result in node.results:
            end = last.get(result, place)
            inside = fused and result not in alone and end - place <= near
            if result not in roots and result not in written and not inside:
                changes[place] += costs.bytes_of(result)
                changes[end + 1] -= costs.bytes_of(result)
    total, found = 0, []
    for change in changes[: len(graph.nodes)]:
        total += change
        found.append(total)
    return found


def _results(graph: Graph) -> list[Value]:
    values = [value for output in graph.outputs for value in values_in(output.argument)]
    return values + [value for _, value in graph.writes]


def _cuts(graph: Graph, stem: str, cheap_only: bool) -> Iterator[tuple[Graph, tuple[Reason, ...]]]:
    """The graph cut where it is fullest, with more and more of what is kept there computed again.

    What may fail runs once, since writes wait for it, and no second run is run a third time.
    """
    costs = Costs(graph)
    level = alive(graph, costs)
    cut = level.index(max(level)) if level else 0
    start = min(cut + len(graph.nodes) // NEAR, len(graph.nodes))
    before, behind = graph.nodes[:cut], graph.nodes[start:]
    made = {result for node in before for result in node.results}
    given = {declared.value: 0 for declared in graph.inputs}
    read = {value for node in behind for value in values_in(node.args)}
    demanded = frozenset(value for value in read if value in made or value in given)
    always = frozenset(made.intersection(_results(graph)))
    once = frozenset(n.results[0] for n in before if can_fail(n) or _is_second_run(n))
    problem = Problem(costs, before, demanded, given, always, only_once=once)
    for choice in islice(offers(problem), 1 if cheap_only else None):
        writer = _Writer(made, stem)
        nodes = [*graph.nodes[:start]]
        for runs, node in late(choice.again, behind):
            nodes += writer.write(runs, node) if node is not None else []
        yield with_nodes(graph, tuple(nodes), {}), reasons(problem, choice)


def _is_second_run(node: Node) -> bool:
    return node.origin is not None and node.origin.made_by == MADE_BY


class _Writer:
    """Writes second runs under names of their own; what they read of the first waits for an anchor,
    a value of the nodes behind the cut, so that they run as late as they stand there."""

    def __init__(self, made: set[Value], stem: str):
        self.made, self.stem = made, stem
        self.names: dict[Value, Argument] = {}
        self.waiting: dict[tuple[Value, Value], Value] = {}
        self.previous: Value | None = None

    def write(self, runs: Iterable[Node], node: Node) -> list[Node]:
        """A node behind the cut, after what runs again for it."""
        late = [v for v in values_in(node.args) if _is_tensor(v) and v not in self.made]
        anchor = next(iter(late), self.previous)
        found = [each for run in runs for each in self._copy(run, anchor)]
        if lookup(node.op).kind != VIEW and node.results and _is_tensor(node.results[0]):
            self.previous = node.results[0]
        return [*found, replace(node, args=renamed_args(node.args, self.names))]

    def _copy(self, node: Node, anchor: Value | None) -> list[Node]:
        """A node's second run, after the waits that it needs."""
        origin = (node.origin or Origin()).derived(MADE_BY)
        found, names = [], dict(self.names)
        for value in values_in(node.args):
            if value in self.names or anchor is None or not _is_tensor(value):
                continue
            if (value, anchor) not in self.waiting:
                waits = self._fresh(value, f"w{len(self.waiting)}")
                self.waiting[value, anchor] = waits
                found.append(Node("after", (value, anchor), (waits,), True, origin))
            names[value] = self.waiting[value, anchor]
        results = tuple(self._fresh(result, result.id) for result in node.results)
        self.names.update(zip(node.results, results, strict=True))
        args = renamed_args(node.args, names)
        return [*found, replace(node, args=args, results=results, origin=origin)]

    def _fresh(self, value: Value, name: str) -> Value:
        return Value(f"{self.stem}.{name}", value.type)


def _is_tensor(value: Value) -> bool:
    return isinstance(value.type, TensorType)
