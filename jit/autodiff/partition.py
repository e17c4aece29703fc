"""Partitioning: a joint graph cut into a forward graph and a backward graph.

In: an optimized joint graph. Out: two graphs and the list of values that the first hands to the
second. Everything that the outputs need is computed in the forward; what depends on a tangent, or
is needed by gradients alone, is computed in the backward. Every forward value that the backward
reads is saved: nothing is computed twice.

Source: PyTorch's default partitioner (AOTAutograd).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from minitorch2.artifacts import Origin
from minitorch2.jit.autodiff.joint import Joint
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
from minitorch2.jit.ir.types import ScalarType, TensorType
from minitorch2.jit.passes.effects import may_drop
from minitorch2.jit.shapes.size_expression import SizeExpression, symbol
from minitorch2.layouts import contiguous_strides


@dataclass(frozen=True, slots=True)
class Partition:
    """The two halves.

    The forward returns the functional graph's outputs, then the values in `saved` that are not
    inputs. The backward takes `saved` (values of the joint graph: inputs or results), then the
    tangents, then the sizes that no tensor among them shows, and returns one gradient for each
    input that wants one.
    """

    forward: Graph
    backward: Graph
    saved: tuple[Value, ...]
    saved_inputs: tuple[int, ...]
    sizes: tuple[str, ...] = ()

    def __str__(self) -> str:
        names = ", ".join(f"{value}: {value.type}" for value in self.saved) or "nothing"
        return f"{self.forward}\n\nsaved for the backward: {names}\n\n{self.backward}"


def partition(joint: Joint, output_count: int, written: Iterable[int] = ()) -> Partition:
    """Cut a joint graph whose first `output_count` outputs are the forward's.

    `written` are inputs that are written after the forward has run.
    """
    graph = joint.graph
    first_tangent = len(graph.inputs) - len(joint.tangent_outputs)
    outputs, gradients = graph.outputs[:output_count], graph.outputs[output_count:]
    results = [value for _, value in graph.writes]
    checks = _checks(graph, graph.inputs[first_tangent:])
    forward_nodes = _needed(graph, [*_output_values(outputs), *results, *checks])
    inside = {value for node in forward_nodes for value in node.results}
    needed = _needed(graph, _output_values(gradients))
    backward_nodes = tuple(node for node in needed if not inside.intersection(node.results))
    saved = _read(backward_nodes, gradients, graph.inputs[:first_tangent], inside)
    changed = set(written) | {index for index, _ in graph.writes}
    copies = _copies(graph, saved, changed)
    origin = Origin(made_by="partition")
    forward_nodes += tuple(
        Node("clone", (value,), (copied,), True, origin) for value, copied in copies.items()
    )
    saved = tuple(copies.get(value, value) for value in saved)
    backward_nodes = tuple(
        replace(node, args=renamed_args(node.args, dict(copies))) for node in backward_nodes
    )
    names = {declared.value for declared in graph.inputs}
    kept = tuple(value for value in saved if value not in names)
    forward = Graph(
        f"{graph.name}_forward",
        graph.inputs[:first_tangent],
        forward_nodes,
        (*outputs, *(Output(value, _row_major(value)) for value in kept)),
        graph.writes,
        graph.assumptions,
    )
    ordered = (*(value for value in saved if value in names), *kept)
    strides = {declared.value: declared.strides for declared in graph.inputs}
    given = tuple(Input(value, strides.get(value) or _row_major(value)) for value in ordered)
    inputs = given + graph.inputs[first_tangent:]
    sizes = _hidden_sizes(backward_nodes, inputs, gradients)
    extra = tuple(Input(Value(f"size_{n}", ScalarType("int", symbol(n)))) for n in sizes)
    known = {name for item in inputs + extra for name in _shown(item)}
    assumptions = tuple(each for each in graph.assumptions if known.issuperset(each.symbols()))
    backward = Graph(f"{graph.name}_backward", inputs + extra, backward_nodes, gradients, (),
                     assumptions)  # fmt: skip
    positions = {declared.value: index for index, declared in enumerate(graph.inputs)}
    return Partition(
        renumbered(forward),
        renumbered(_with_saved_names(backward, kept)),
        ordered,
        tuple(positions[value] for value in ordered if value in names),
        sizes,
    )


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


def _copies(graph: Graph, saved: tuple[Value, ...], written: set[int]) -> dict[Value, Value]:
    """For each input that the backward reads but that is written by then: the copy it reads."""
    values = [graph.inputs[index].value for index in sorted(written)]
    return {value: Value(f"copy_of_{value.id}", value.type) for value in values if value in saved}


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


def _read(
    nodes: tuple[Node, ...], outputs: Iterable[Output], inputs: tuple[Input, ...], inside: set
) -> tuple[Value, ...]:
    """The forward's values and inputs that the backward reads, in order of first use."""
    available = inside | {declared.value for declared in inputs}
    used = [value for node in nodes for value in values_in(node.args)] + _output_values(outputs)
    return tuple(dict.fromkeys(value for value in used if value in available))


def _row_major(value: Value) -> tuple | None:
    if not isinstance(value.type, TensorType):
        return None
    shape: Any = value.type.shape  # sizes may be symbolic
    return contiguous_strides(shape)


def _hidden_sizes(
    nodes: tuple[Node, ...], inputs: tuple[Input, ...], outputs: tuple[Output, ...]
) -> tuple[str, ...]:
    """Symbols that the backward mentions but that no dimension of its inputs is."""
    shown = {name for declared in inputs for name in _shown(declared)}
    mentioned: dict[str, None] = {}
    types = [value.type for node in nodes for value in node.results]
    for type in [*types, *(declared.value.type for declared in inputs)]:
        mentioned.update(dict.fromkeys(type.symbols()))
    for node in nodes:
        for argument in node.args:
            mentioned.update(dict.fromkeys(_symbols_in(argument)))
    return tuple(name for name in mentioned if name not in shown)


def _shown(declared: Input) -> tuple[str, ...]:
    """The symbols that an input shows by itself."""
    type = declared.value.type
    sizes = type.shape if isinstance(type, TensorType) else (type.size,)
    return tuple(map(str, sizes))


def _symbols_in(argument: Argument) -> tuple[str, ...]:
    if isinstance(argument, SizeExpression):
        return argument.symbols()
    if isinstance(argument, tuple):
        return tuple(name for item in argument for name in _symbols_in(item))
    return ()


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
