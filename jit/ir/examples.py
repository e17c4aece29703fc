"""The shape environment for work on a graph whose own example sizes are not at hand.

In: a graph. Out: an environment with a value for each of its symbols. Stages after capture decide
by these values, so they must not make a size 0 or 1 by accident, or negative: `12//s0` is 1 for
s0 = 12, and then it would broadcast, and so would s1 where s0*s1==12. Such values are avoided
wherever the conditions allow it.

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> graph = parse_graph('''
    ... graph f(%x: f32[12], %d: int(s0)) {
    ...   where s0*(12//s0)==12
    ...   %0: f32[s0,12//s0] = view(%x, (s0, 12//s0))
    ...   return %0
    ... }''')
    >>> environment_of(graph).hints
    {'s0': 2}

Source: torch's unbacked sizes, which are assumed to be neither 0 nor 1 in the same way.
"""

from collections.abc import Iterator
from typing import Any

from minitorch2.jit.ir.graph import Graph
from minitorch2.jit.shapes.environment import ShapeEnvironment
from minitorch2.jit.shapes.size_expression import Apply, SizeExpression


def environment_of(graph: Graph) -> ShapeEnvironment:
    """An environment for the graph's symbols, under its assumptions."""
    if not any(declared.value.type.symbols() for declared in graph.inputs):
        return ShapeEnvironment.generic(graph.assumptions)
    tied = {name for condition in graph.assumptions for name in condition.symbols()}
    small = dict.fromkeys(
        size for size in _sizes(graph) if _is_derived(size) or tied.intersection(size.symbols())
    )
    return ShapeEnvironment.generic(graph.assumptions, tuple(small))


def _sizes(graph: Graph) -> Iterator[SizeExpression]:
    for declared in graph.inputs:
        yield from _in_argument(getattr(declared.value.type, "shape", ()))
    for node in graph.nodes:
        yield from _in_argument(node.args)
        for result in node.results:
            yield from _in_argument(getattr(result.type, "shape", ()))


def _in_argument(argument: Any) -> Iterator[SizeExpression]:
    if isinstance(argument, SizeExpression):
        yield argument
    elif isinstance(argument, tuple):
        for item in argument:
            yield from _in_argument(item)


def _is_derived(size: SizeExpression) -> bool:
    """Whether a size may be small where all symbols are large."""
    return any(
        coefficient < 0 or any(isinstance(atom, Apply) for atom in factors)
        for coefficient, factors in size.terms
    )
