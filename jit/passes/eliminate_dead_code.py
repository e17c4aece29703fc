"""Removes nodes whose results nobody uses.

In: a graph. Out: the same graph without them. Outputs and writes are uses; a node that writes,
draws random numbers or may raise stays.
"""

from dataclasses import replace

from minitorch2.jit.ir.graph import Graph, Node, Value, map_graphs, renumbered, values_in
from minitorch2.jit.passes.effects import may_drop
from minitorch2.jit.passes.options import PassOptions


def eliminate_dead_code(graph: Graph, options: PassOptions) -> Graph:
    """Keep what the outputs, the writes and the effects need.

    Before:

    >>> before = '''
    ... graph f(%x: f32[4], %i: i64[4]) {
    ...   %0: f32[4] = exp(%x)
    ...   %1: f32[4] = neg(%0)
    ...   %2: i64[4] = floor_divide(%i, 2)
    ...   return %0
    ... }'''

    After (an integer division may raise, so it stays):

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> print(eliminate_dead_code(parse_graph(before), PassOptions()))
    graph f(%x: f32[4], %i: i64[4]) {
      %0: f32[4] = exp(%x)
      %1: i64[4] = floor_divide(%i, 2)
      return %0
    }

    Complexity: linear, one walk from the end. Source: any compiler text, "mark and sweep".
    """
    live: set[Value] = {value for output in graph.outputs for value in values_in(output.argument)}
    live.update(value for _, value in graph.writes)
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        if may_drop(node) and live.isdisjoint(node.results):
            continue
        live.update(values_in(node.args))
        args = map_graphs(node.args, lambda inner: eliminate_dead_code(inner, options))
        kept.append(replace(node, args=args))
    return renumbered(replace(graph, nodes=tuple(reversed(kept))))
