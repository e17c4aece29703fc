"""Compares two graphs: as text, up to names, and by what they compute.

In: two graphs, and inputs for the second question. Out: None when they agree, else a few words on
the first difference. Names of inputs, numbers of values and the graphs' names do not count.

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> a = parse_graph("graph f(%x: f32[4]) { %0: f32[4] = exp(%x) return %0 }")
    >>> b = parse_graph("graph g(%y: f32[4]) { %7: f32[4] = exp(%y) return %7 }")
    >>> c = parse_graph("graph g(%y: f32[4]) { %7: f32[4] = neg(%y) return %7 }")
    >>> print(structural_difference(a, b))
    None
    >>> print(structural_difference(a, c))
    line 2: `%0: f32[4] = exp(%in0)` is not `%0: f32[4] = neg(%in0)`

Source: the numeric comparison treats nan as equal to nan, as numpy.testing does.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import numpy

from minitorch2.dispatch import call
from minitorch2.jit.ir.graph import Argument, Graph, Value, renamed_args, renumbered, with_nodes
from minitorch2.jit.ir.interpreter import interpret
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor


def structural_difference(first: Graph, second: Graph) -> str | None:
    """The first line that differs once both are named alike, or None."""
    lines = zip_longest(
        str(anonymous(first)).splitlines(), str(anonymous(second)).splitlines(), fillvalue=""
    )
    for number, (left, right) in enumerate(lines, 1):
        if left != right:
            return f"line {number}: `{left.strip()}` is not `{right.strip()}`"
    return None


def anonymous(graph: Graph) -> Graph:
    """The graph with its inputs, values and itself named by position only."""
    names: dict[Value, Argument] = {}
    inputs = []
    for index, input in enumerate(graph.inputs):
        value = Value(f"in{index}", input.value.type)
        names[input.value] = value
        inputs.append(replace(input, value=value))
    nodes = tuple(replace(node, args=renamed_args(node.args, names)) for node in graph.nodes)
    renamed = with_nodes(graph, nodes, names)
    return renumbered(replace(renamed, name="graph", inputs=tuple(inputs)))


def numeric_difference(
    first: Graph, second: Graph, inputs: Sequence[Any], rtol: float = 0.0, atol: float = 0.0
) -> str | None:
    """The first output or written input whose values differ on `inputs`, or None.

    Without tolerances every bit counts, the sign of zero too; any nan equals any other.
    """
    mine, other = _copies(inputs), _copies(inputs)
    found, expected = interpret(first, mine), interpret(second, other)
    if len(found) != len(expected):
        return f"{len(found)} outputs and {len(expected)}"
    for what, these, those in (("output", found, expected), ("input", mine, other)):
        for index, (left, right) in enumerate(zip(these, those, strict=True)):
            wrong = value_difference(left, right, rtol, atol)
            if wrong is not None:
                return f"{what} {index}: {wrong}"
    return None


def value_difference(left: Any, right: Any, rtol: float, atol: float) -> str | None:
    """How two results differ: type, dtype, shape or the worst element; None when they do not."""
    if not isinstance(left, Tensor) or not isinstance(right, Tensor):
        same = type(left) is type(right) and repr(left) == repr(right)
        return None if same else f"{left!r} is not {right!r}"
    if left.dtype is not right.dtype or left.shape != right.shape:
        return f"{left.dtype}{list(left.shape)} is not {right.dtype}{list(right.shape)}"
    a, b = numpy.asarray(left.array), numpy.asarray(right.array)
    wrong = ~_close(a, b, rtol, atol)
    if not wrong.any():
        return None
    index = tuple(int(i) for i in numpy.argwhere(wrong)[0])
    return f"{int(wrong.sum())} elements differ, first at {index}: {a[index]!r}, {b[index]!r}"


def _close(a: numpy.ndarray, b: numpy.ndarray, rtol: float, atol: float) -> numpy.ndarray:
    if a.dtype.kind in "iub":
        return numpy.equal(a, b)
    both_nan = numpy.isnan(a) & numpy.isnan(b)
    if rtol == atol == 0.0:
        return both_nan | (numpy.equal(a, b) & (numpy.signbit(a) == numpy.signbit(b)))
    wide_a, wide_b = a.astype(numpy.float64), b.astype(numpy.float64)
    with numpy.errstate(invalid="ignore"):
        near = numpy.abs(wide_a - wide_b) <= atol + rtol * numpy.abs(wide_b)
    return both_nan | numpy.equal(a, b) | near


def _copies(inputs: Sequence[Any]) -> list[Any]:
    clone = lookup("clone")
    return [call(clone, clone.bind(each)) if isinstance(each, Tensor) else each for each in inputs]
