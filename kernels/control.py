"""Branches and loops of a compiled graph: Python that calls compiled graphs.

In: a node of kind "control" and how a graph is compiled. Out: a function of the node's values and
sizes, as a host function calls its eager steps. Each graph among the arguments is compiled once;
the row's own definition then runs over the compiled graphs. A size that a graph uses but none of
its inputs shows becomes an input of it.

    step = control_step(node, compile_graph)
    step([p, x, w], {"s0": 4})

Source: the counterpart of host.eager_step.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy

from minitorch2.dispatch import origin_scope, state
from minitorch2.jit.ir.graph import Graph, Input, Node, Value, map_values, node_graphs, values_in
from minitorch2.jit.ir.hidden_sizes import hidden_sizes
from minitorch2.jit.ir.types import ScalarType
from minitorch2.jit.shapes.size_expression import SizeExpression, symbol
from minitorch2.kernels.host import owned
from minitorch2.ops.table import lookup
from minitorch2.tensors import wrap

Compile = Callable[[Graph], Callable[[list[Any]], list[Any]]]


def control_step(node: Node, compile: Compile) -> Callable[..., list[Any]]:
    """A function of the node's values (arrays and numbers) and sizes that carries it out."""
    row, values = lookup(node.op), list(dict.fromkeys(values_in(node.args)))
    assert row.decomp is not None
    definition = row.decomp
    compiled = {id(graph): _compiled(graph, compile) for graph in node_graphs(node)}

    def run(given: Sequence[Any], sizes: Mapping[str, int]) -> list[Any]:
        """The results of the row's definition, its graphs compiled for these sizes."""
        actual: dict[Any, Any] = {
            value: wrap(item) if isinstance(item, numpy.ndarray) else item
            for value, item in zip(values, given, strict=True)
        }

        def argument(part: Any) -> Any:
            match part:
                case Graph():
                    return compiled[id(part)](sizes)
                case SizeExpression():
                    return part.evaluate(sizes)
                case tuple():
                    return tuple(map(argument, part))
            return map_values(part, actual.__getitem__)

        before, state.grad_enabled = state.grad_enabled, False
        try:
            with origin_scope(node.origin):
                found = definition(*map(argument, node.args))
        finally:
            state.grad_enabled = before
        return [owned(result, given) for result in found]

    return run


def _compiled(graph: Graph, compile: Compile) -> Callable[[Mapping[str, int]], Callable]:
    """The compiled graph as a function of its inputs, once the sizes are known."""
    hidden = hidden_sizes(graph)
    extra = tuple(Input(Value(f"size_{n}", ScalarType("int", symbol(n)))) for n in hidden)
    run = compile(replace(graph, inputs=(*graph.inputs, *extra)))

    def with_sizes(sizes: Mapping[str, int]) -> Callable[..., tuple]:
        more = [sizes[name] for name in hidden]
        return lambda *inputs: tuple(run([*inputs, *more]))

    return with_sizes
