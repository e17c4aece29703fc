"""Computes each expression once.

In: a functional graph. Out: the same graph in which a call that repeats an earlier one, with the
same arguments, is replaced by the earlier result.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace

from minitorch2.artifacts import Origin
from minitorch2.jit.ir.graph import Graph, Node, Value, literal_key
from minitorch2.jit.ir.verify import is_functional
from minitorch2.jit.passes.effects import may_merge
from minitorch2.jit.passes.options import PassOptions
from minitorch2.jit.passes.rebuild import Rebuilder, rebuild


def eliminate_common_subexpressions(graph: Graph, options: PassOptions) -> Graph:
    """Reuse the first of several equal calls; the node kept carries the Origins of all of them.

    Before:

    >>> before = '''
    ... graph f(%x: f32[4]) {
    ...   %0: f32[4] = exp(%x)
    ...   %1: f32[4] = exp(%x)
    ...   %2: f32[4] = add(%0, %1)
    ...   return %2
    ... }'''

    After:

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> print(eliminate_common_subexpressions(parse_graph(before), PassOptions()))
    graph f(%x: f32[4]) {
      %0: f32[4] = exp(%x)
      %1: f32[4] = add(%0, %0)
      return %1
    }

    A graph that writes in place is returned as it is: there, equal calls may see different data.

    Complexity: linear in the nodes. Source: J. Cocke, "Global common subexpression elimination".
    """
    if not is_functional(graph):
        return graph
    seen: dict[Hashable, tuple[Value, ...]] = {}
    origins: dict[tuple[Value, ...], list[Origin]] = {}

    def step(rebuilder: Rebuilder, node: Node) -> Sequence[Value] | None:
        if not may_merge(node):
            return None
        key = (node.op, literal_key(node.args), node.grad, tuple(r.type for r in node.results))
        earlier = seen.setdefault(key, node.results)
        origins.setdefault(earlier, []).extend([node.origin] if node.origin else [])
        return None if earlier is node.results else earlier

    merged = rebuild(graph, step, lambda inner: eliminate_common_subexpressions(inner, options))
    return _with_origins(merged, list(origins.values()))


def _with_origins(graph: Graph, gathered: list[list[Origin]]) -> Graph:
    """Gives each mergeable node, in order, the union of the Origins gathered for it."""
    remaining = iter(gathered)
    nodes = []
    for node in graph.nodes:
        if may_merge(node):
            found = next(remaining)
            if len(found) > 1:
                made_by = "pass eliminate_common_subexpressions"
                node = replace(node, origin=Origin.union(found, made_by))
        nodes.append(node)
    return replace(graph, nodes=tuple(nodes))
