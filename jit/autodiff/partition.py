"""Partitioning: a joint graph cut into a forward graph and a backward graph.

In: an optimized joint graph and a memory budget. Out: two graphs, the list of values that the first
hands to the second, and the reason for each. Everything that the outputs need is computed in the
forward; what depends on a tangent is computed in the backward. Of the rest, saving.py chooses what
is saved and what the backward computes again, shortly before it is needed.

An input that the derivatives read anyway, or a whole layer does, is there in the backward; any
other one, and one that the program writes, would have to be copied, so that the program may change
it in between as in eager.

Source: PyTorch's min-cut partitioner (AOTAutograd).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from minitorch2.artifacts import Origin
from minitorch2.jit.autodiff.costs import Costs
from minitorch2.jit.autodiff.joint import Joint
from minitorch2.jit.autodiff.saving import Problem, Reason, choose, late, reasons
from minitorch2.jit.ir.eager_orders import Order, strides_in
from minitorch2.jit.ir.graph import (
    Argument,
    Graph,
    Input,
    Node,
    Output,
    Value,
    renamed_args,
    renumbered,
    values_in,
    with_nodes,
)
from minitorch2.jit.ir.hidden_sizes import hidden_sizes, shown_sizes
from minitorch2.jit.ir.types import ScalarType, TensorType
from minitorch2.jit.passes.effects import may_drop
from minitorch2.jit.shapes.size_expression import symbol
from minitorch2.layouts import contiguous_strides


@dataclass(frozen=True, slots=True)
class Partition:
    """The two halves.

    The forward returns the functional graph's outputs, then the values in `saved` that are not
    inputs. The backward takes `saved` (values of the forward graph: inputs or results), then the
    tangents, then the sizes that no tensor among them shows, and returns one gradient for each
    input that wants one. `reasons` names saved values as the forward does, values that are computed
    again as the backward does.
    """

    forward: Graph
    backward: Graph
    saved: tuple[Value, ...]
    saved_inputs: tuple[int, ...]
    sizes: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()

    def __str__(self) -> str:
        names = ", ".join(f"{value}: {value.type}" for value in self.saved) or "nothing"
        return f"{self.forward}\n\nsaved for the backward: {names}\n\n{self.backward}"

    def bytes_saved(self) -> int:
        """What the saved values weigh, inputs that are there anyway not counted."""
        return sum(reason.bytes for reason in self.reasons if reason.saved)


def partition(
    joint: Joint,
    output_count: int,
    written: Iterable[int] = (),
    budget: float = 1.0,
    held: Iterable[int] = (),
    chains: bool = False,
    orders: Mapping[Value, Order] | None = None,
) -> Partition:
    """Cut a joint graph whose first `output_count` outputs are the forward's.

    `written` are inputs that are written after the forward has run. `budget` is the fraction of
    the bytes that would be saved without one (at 1.0) that may be saved. `held` are inputs that are
    there in the backward like those that the derivatives read. `chains`: see saving.py. `orders`:
    how values lie in memory, where that is asked for; the rest is saved row-major.
    """
    graph, orders = joint.graph, orders or {}
    first_tangent = len(graph.inputs) - len(joint.tangent_outputs)
    changed = set(written) | {index for index, _ in graph.writes}
    problem, behind = _problem(graph, first_tangent, output_count, changed, set(held), chains)
    choice = choose(problem, budget)
    inputs = {declared.value: index for index, declared in enumerate(graph.inputs)}
    copies = _copies(problem, choice.saved, inputs)
    orders = {**orders, **{c: orders[v] for v, c in copies.items() if v in orders}}
    outputs = graph.outputs[:output_count]
    ahead = _forward_values(graph, first_tangent, output_count)
    forward_nodes = _needed(graph, [*ahead, *choice.saved])
    origin = Origin(made_by="partition")
    forward_nodes += tuple(
        Node("clone", (value,), (copied,), True, origin) for value, copied in copies.items()
    )
    saved = tuple(copies.get(value, value) for value in choice.saved)
    kept = tuple(value for value in saved if value not in inputs)
    forward = Graph(
        f"{graph.name}_forward",
        graph.inputs[:first_tangent],
        forward_nodes,
        (*outputs, *(Output(value, _strides(value, orders)) for value in kept)),
        graph.writes,
        graph.assumptions,
    )
    ordered = (*(value for value in saved if value in inputs), *kept)
    backward_nodes: list[Node] = []
    for runs, node in late(choice.again, behind, _output_values(graph.outputs[output_count:])):
        backward_nodes += runs if node is None else [*runs, node]
    renamed = tuple(replace(n, args=renamed_args(n.args, dict(copies))) for n in backward_nodes)
    parts = ordered, renamed, dict(copies), orders
    backward, sizes = _backward(graph, first_tangent, output_count, *parts)
    backward = _with_saved_names(backward, kept)
    first, second = renumbered(forward), renumbered(backward)
    names = _numbers(forward, first)
    again = _numbers(backward, second)
    return Partition(
        first,
        second,
        tuple(names.get(value, value) for value in ordered),
        tuple(inputs[value] for value in ordered if value in inputs),
        sizes,
        tuple(
            replace(each, value=(names if each.saved else again).get(each.value, each.value))
            for each in reasons(problem, choice)
        ),
    )


def _copies(problem: Problem, saved: Iterable[Value], inputs: Mapping[Value, int]) -> dict:
    """The copies of inputs that are saved but are not there later as they are now."""
    free = {value for value, bytes in problem.given.items() if not bytes}
    return {
        value: Value(f"copy_of_{value.id}", value.type)
        for value in saved
        if value in inputs and value not in free
    }


def _numbers(before: Graph, after: Graph) -> dict[Value, Value]:
    """What each result of a graph is called once it is renumbered."""
    return {
        old: new
        for one, other in zip(before.nodes, after.nodes, strict=True)
        for old, new in zip(one.results, other.results, strict=True)
    }


def _problem(
    graph: Graph,
    first_tangent: int,
    output_count: int,
    changed: set[int],
    held: set[int],
    chains: bool,
) -> tuple[Problem, tuple[Node, ...]]:
    """What saving.py has to choose from, and the nodes behind the cut."""
    tangents = {declared.value for declared in graph.inputs[first_tangent:]}
    gradients = _output_values(graph.outputs[output_count:])
    needed, after = _needed(graph, gradients), set(tangents)
    before, behind = [], []
    for node in needed:
        if after.intersection(values_in(node.args)):
            after.update(node.results)
            behind.append(node)
        else:
            before.append(node)
    demanded = frozenset(
        value
        for value in [*(v for node in behind for v in values_in(node.args)), *gradients]
        if value not in after
    )
    ahead = _needed(graph, _forward_values(graph, first_tangent, output_count))
    forward = set(map(id, ahead))
    late = tuple(node for node in needed if id(node) not in forward)
    read = {value for node in late for value in values_in(node.args)}
    costs, given = Costs(graph), {}
    for index, declared in enumerate(graph.inputs[:first_tangent]):
        there = declared.value in read.union(gradients) or index in held
        free = (there and index not in changed) or isinstance(declared.value.type, ScalarType)
        given[declared.value] = 0 if free else max(costs.bytes_of(declared.value), 1)  # a copy
    first = frozenset(node.results[0] for node in late)
    problem = Problem(costs, tuple(before), demanded, given, first_runs=first, chains=chains)
    return problem, tuple(behind)


def _backward(
    graph: Graph, first_tangent: int, output_count: int, saved: tuple[Value, ...],
    nodes: tuple[Node, ...], copies: dict[Value, Argument], orders: Mapping[Value, Order],
) -> tuple[Graph, tuple[str, ...]]:  # fmt: skip
    """The backward graph over saved values, and the sizes that it needs as inputs."""
    strides = {declared.value: declared.strides for declared in graph.inputs}
    given = tuple(Input(value, strides.get(value) or _strides(value, orders)) for value in saved)
    tangents = graph.inputs[first_tangent:]
    inputs = given + tangents
    gradients = tuple(
        replace(each, argument=renamed_args((each.argument,), copies)[0])
        for each in graph.outputs[output_count:]
    )
    # An output without a gradient has no tangent in that call.
    sizes = hidden_sizes(Graph(graph.name, inputs, nodes, gradients), optional=tangents)
    extra = tuple(Input(Value(f"size_{n}", ScalarType("int", symbol(n)))) for n in sizes)
    known = {name for item in inputs + extra for name in shown_sizes(item)}
    assumptions = tuple(each for each in graph.assumptions if known.issuperset(each.symbols()))
    return Graph(f"{graph.name}_backward", inputs + extra, nodes, gradients, (),
                 assumptions), sizes  # fmt: skip


def _forward_values(graph: Graph, first_tangent: int, output_count: int) -> list[Value]:
    """What the forward must compute whatever is saved: outputs, writes, what may fail."""
    outputs = _output_values(graph.outputs[:output_count])
    written = [value for _, value in graph.writes]
    return [*outputs, *written, *_checks(graph, graph.inputs[first_tangent:])]


def _checks(graph: Graph, tangents: tuple[Input, ...]) -> list[Value]:
    """Results of the forward's nodes that may fail: they run even if nobody uses them."""
    after = {declared.value for declared in tangents}
    found: list[Value] = []
    for node in graph.nodes:
        if after.intersection(values_in(node.args)):
            after.update(node.results)
        elif not may_drop(node):
            found += node.results
    return found


def _output_values(outputs: Iterable[Output]) -> list[Value]:
    return [value for output in outputs for value in values_in(output.argument)]


def _needed(graph: Graph, targets: Iterable[Value]) -> tuple[Node, ...]:
    """The nodes that `targets` are computed from, in order."""
    wanted = set(targets)
    kept = []
    for node in reversed(graph.nodes):
        if wanted.intersection(node.results):
            kept.append(node)
            wanted.update(values_in(node.args))
    return tuple(reversed(kept))


def _strides(value: Value, orders: Mapping[Value, Order]) -> tuple | None:
    if not isinstance(value.type, TensorType):
        return None
    shape: Any = value.type.shape  # sizes may be symbolic
    return strides_in(orders[value], shape) if value in orders else contiguous_strides(shape)


def _with_saved_names(graph: Graph, kept: tuple[Value, ...]) -> Graph:
    """The values that the forward computed come in as `%saved0`, `%saved1`, ..."""
    names: dict[Value, Argument] = {
        value: Value(f"saved{index}", value.type) for index, value in enumerate(kept)
    }
    nodes = tuple(replace(node, args=renamed_args(node.args, names)) for node in graph.nodes)
    inputs = []
    for declared in graph.inputs:
        named = names.get(declared.value, declared.value)
        assert isinstance(named, Value)
        inputs.append(replace(declared, value=named))
    return replace(with_nodes(graph, nodes, names), inputs=tuple(inputs))
