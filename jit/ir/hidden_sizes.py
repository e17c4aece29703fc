"""The sizes that a graph needs and none of its inputs shows.

In: a graph whose symbols come from somewhere else too: a branch inside another graph, the backward
half of a joint graph. Out: their names. Whoever runs the graph by itself hands their values over.

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> hidden_sizes(parse_graph("graph f(%x: f32[s0*2]) { %0: f32[s0*2] = neg(%x) return %0 }"))
    ('s0',)

Source: closure conversion, for sizes.
"""

from collections.abc import Collection
from typing import Any

from minitorch2.jit.ir.graph import Graph, Input
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.shapes.size_expression import SizeExpression


def hidden_sizes(graph: Graph, optional: Collection[Input] = ()) -> tuple[str, ...]:
    """The symbols that a graph mentions, itself or inside, and no input of it shows.

    `optional`: inputs that a call may come without, which therefore show nothing.
    """
    sure = [declared for declared in graph.inputs if declared not in optional]
    shown = {name for declared in sure for name in shown_sizes(declared)}
    found: dict[str, None] = {}
    for declared in graph.inputs:
        found.update(dict.fromkeys(declared.value.type.symbols()))
    for node in graph.nodes:
        for result in node.results:
            found.update(dict.fromkeys(result.type.symbols()))
        found.update(dict.fromkeys(symbols_of(node.args)))
    return tuple(name for name in found if name not in shown)


def shown_sizes(declared: Input) -> tuple[str, ...]:
    """The symbols that an input shows by itself."""
    type = declared.value.type
    sizes = type.shape if isinstance(type, TensorType) else (type.size,)
    return tuple(map(str, sizes))


def symbols_of(argument: Any) -> tuple[str, ...]:
    """The symbols that an argument of a node needs."""
    match argument:
        case tuple():
            return tuple(name for item in argument for name in symbols_of(item))
        case SizeExpression():
            return argument.symbols()
        case Graph():
            return hidden_sizes(argument)
    return ()
