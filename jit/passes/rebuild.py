"""The walk that most passes share: a graph is rebuilt node by node, some nodes replaced.

In: a graph and a `step` that looks at one node (its arguments already those of the new graph) and
answers with replacements for its results, or None to keep it. Out: the new graph, renumbered.
Graphs among the arguments are rebuilt by `inner`, normally the pass itself.

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> def double_to_add(rebuilder, node):
    ...     if node.op == "mul" and node.args[1] == 2:
    ...         return (rebuilder.add("add", (node.args[0], node.args[0]), node, "example"),)
    >>> graph = parse_graph("graph f(%x: f32[4]) { %0: f32[4] = mul(%x, 2) return %0 }")
    >>> print(rebuild(graph, double_to_add))
    graph f(%x: f32[4]) {
      %0: f32[4] = add(%x, %x)
      return %0
    }

New nodes carry the union of the Origins of the nodes they replace, so provenance is never lost.
"""

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from minitorch2.artifacts import Origin
from minitorch2.devices import CPU
from minitorch2.jit.ir.examples import environment_of
from minitorch2.jit.ir.graph import (
    Argument,
    Graph,
    Node,
    Value,
    abstract,
    complete_arguments,
    map_graphs,
    node_graphs,
    renamed_args,
    renumbered,
    with_nodes,
)
from minitorch2.jit.ir.inference import infer_types
from minitorch2.jit.ir.types import TensorType, Type
from minitorch2.ops.table import lookup


def tensor_type(value: Argument) -> TensorType:
    """The type of an operand that is a tensor."""
    assert isinstance(value, Value) and isinstance(value.type, TensorType)
    return value.type


class Rebuilder:
    """The new graph while it grows: its nodes, and which node defines a value."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.nodes: list[Node] = []
        self.environment = environment_of(graph)
        self._definitions: dict[Value, Node] = {}
        self._fresh = 0

    def keep(self, node: Node) -> tuple[Value, ...]:
        """Append a node as it is."""
        self.nodes.append(node)
        self._definitions.update((result, node) for result in node.results)
        return node.results

    def add(self, op: str, args: tuple, replaced: Node | Sequence[Node], made_by: str) -> Value:
        """Append a call that stands in for `replaced` nodes, and return its only result."""
        (value,) = self.keep(self.node(op, args, replaced, made_by))
        return value

    def node(self, op: str, args: tuple, replaced: Node | Sequence[Node], made_by: str) -> Node:
        """A call that stands in for `replaced` nodes, not appended yet."""
        parents = [replaced] if isinstance(replaced, Node) else list(replaced)
        origin = Origin.union([p.origin for p in parents if p.origin is not None], made_by)
        complete = complete_arguments(lookup(op), args)
        results = tuple(map(self._value, self.types(op, complete)))
        return Node(op, complete, results, parents[0].grad, origin)

    def full(self, type: Type, number: Any, replaced: Node | Sequence[Node], made_by: str) -> Node:
        """A tensor filled with a number in the place of a value of some type, not appended yet."""
        assert isinstance(type, TensorType)
        device = None if type.device == CPU else str(type.device)
        return self.node("full", (type.shape, number, type.dtype, device), replaced, made_by)

    def types(self, op: str, complete: tuple) -> tuple[Type, ...]:
        """The result types of a call with these (complete) arguments."""
        return infer_types(lookup(op), tuple(map(abstract, complete)), self.environment)

    def definition(self, argument: Any) -> Node | None:
        """The node that computes a value; None for inputs and for what is no value."""
        return self._definitions.get(argument) if isinstance(argument, Value) else None

    def _value(self, type: Type) -> Value:
        self._fresh += 1
        return Value(f"new.{self._fresh}", type)


Step = Callable[[Rebuilder, Node], Sequence[Value] | None]


def rebuild(graph: Graph, step: Step, inner: Callable[[Graph], Graph] | None = None) -> Graph:
    """The graph with each node kept or replaced as `step` says."""
    rebuilder = Rebuilder(graph)
    names: dict[Value, Argument] = {}
    for node in graph.nodes:
        args = renamed_args(node.args, names)
        if inner is not None and node_graphs(node):
            args = map_graphs(args, inner)
        current = node if args is node.args or args == node.args else replace(node, args=args)
        found = step(rebuilder, current)
        if found is None:
            rebuilder.keep(current)
            continue
        pairs = zip(node.results, found, strict=True)
        names.update((old, new) for old, new in pairs if old is not new)
    same = len(rebuilder.nodes) == len(graph.nodes) and not names
    if same and all(map(operator.is_, rebuilder.nodes, graph.nodes)):
        return renumbered(graph)
    return renumbered(with_nodes(graph, tuple(rebuilder.nodes), names))
