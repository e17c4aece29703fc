"""Derivatives against differences, in float64.

In: a functional graph, the inputs of one call, and which of them require gradients. Out: how far
the slope of a sum of the outputs, by the backward, is from a central difference along a direction,
over what a difference leaves uncertain; above 1 a derivative is wrong.

The slope is taken near the inputs, not at them: a zero that a relu or a sign meets is a kink, and
no derivative agrees with a difference across one. What no gradient passes through is held fixed. A
row that reads one triangle of a symmetric matrix has derivatives of symmetric changes only, and
gets those.

Source: J. Nocedal, S. Wright, "Numerical Optimization", chapter 8, on differences.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any

import numpy

from minitorch2.autograd.engine import run_backward
from minitorch2.cli.rounding import arrays, copies, wide_input, widened
from minitorch2.errors import Mt2Error
from minitorch2.jit.ir.graph import Graph, Input, Node, Output, Value
from minitorch2.jit.ir.interpreter import interpret
from minitorch2.jit.passes.rebuild import Rebuilder, rebuild, tensor_type
from minitorch2.ops.table import CONTROL, lookup
from minitorch2.tensors import wrap

DIRECTIONS = 3
AWAY = 1e-3  # of an input's size: how far from it slopes are taken
STEP = 1e-6
UNCERTAIN = 1e-3  # of what is compared


def slope_ratio(graph: Graph, values: Sequence[Any], flags: Sequence[bool]) -> float:
    """The least error of a few directions over what is uncertain; nan where none can be judged."""
    try:
        wide = rebuild(widened(graph), _symmetrized)
        held, own = _held(wide, [wide_input(each) for each in values])
        errors = [_error(held, own, flags, seed) for seed in range(DIRECTIONS)]
    except Mt2Error:  # no wider form of some dtype argument
        return float("nan")
    judged = [error for error in errors if numpy.isfinite(error)]
    return min(judged, default=float("nan"))  # a kink that one direction crosses is no bug


def _held(graph: Graph, values: list[Any]) -> tuple[Graph, list[Any]]:
    """The graph and its inputs where what no gradient passes through is an input: a difference
    would see through it."""
    stops = {n.results for n in graph.nodes if _stops(n)}
    results = tuple(r for n in graph.nodes if n.results in stops for r in n.results)
    if not results:
        return graph, values
    shown = replace(graph, outputs=tuple(map(Output, results)), writes=())
    constants = interpret(shown, copies(values))
    nodes = tuple(node for node in graph.nodes if node.results not in stops)
    inputs = (*graph.inputs, *(Input(result) for result in results))
    return replace(graph, inputs=inputs, nodes=nodes), [*values, *constants]


def _stops(node: Node) -> bool:
    """Whether no gradient passes through a node: detached, recorded by nobody, or of a row without
    derivatives."""
    row = lookup(node.op)
    return node.op == "detach" or not node.grad or (row.vjp is None and row.kind != CONTROL)


def _symmetrized(rebuilder: Rebuilder, node: Node) -> tuple[Value, ...] | None:
    """A row that reads one triangle, of the mean of both."""
    if not lookup(node.op).symmetric:
        return None
    matrix, *rest = node.args
    other = rebuilder.add("transpose", (matrix, -2, -1), node, "slopes")
    if tensor_type(matrix).dtype.is_complex:
        other = rebuilder.add("conjugate", (other,), node, "slopes")
    both = rebuilder.add("add", (matrix, other), node, "slopes")
    half = rebuilder.add("mul", (both, 0.5), node, "slopes")
    return rebuilder.keep(replace(node, args=(half, *rest)))


def _error(graph: Graph, values: list[Any], flags: Sequence[bool], seed: int) -> float:
    """Of one direction, over what is uncertain."""
    draw = numpy.random.RandomState(seed)
    wanted = [*flags, *repeat(False, len(values))]
    steps = [
        _direction(draw, each.array) if flag else None
        for each, flag in zip(values, wanted, strict=False)
    ]
    near = [
        wide_input(each) if step is None else wrap(_near(draw, each.array))
        for each, step in zip(values, steps, strict=True)
    ]

    def total(size: float) -> float:
        moved = [
            each if step is None else wrap(numpy.asarray(each.array + size * step))
            for each, step in zip(near, steps, strict=True)
        ]
        found = arrays(interpret(graph, moved))
        return sum(_along(_weights(a), a) for a in found if is_float(a))

    slope = _slope(graph, near, steps)
    difference = (total(STEP) - total(-STEP)) / (2 * STEP)
    scale = abs(difference) + abs(slope) + abs(total(0.0)) + 1e-3
    return abs(difference - slope) / (UNCERTAIN * scale)


def _slope(graph: Graph, near: list[Any], steps: list[Any]) -> float:
    """By the backward."""
    leaves = [
        wrap(numpy.array(each.array)).requires_grad_() if step is not None else each
        for each, step in zip(near, steps, strict=True)
    ]
    outputs = [each for each in interpret(graph, leaves) if getattr(each, "requires_grad", False)]
    if outputs:
        run_backward(outputs, [wrap(_weights(each.array)) for each in outputs], False, False)
    return sum(
        _along(leaf.grad.array, step)
        for leaf, step in zip(leaves, steps, strict=True)
        if step is not None and leaf.grad is not None
    )


def _near(draw: numpy.random.RandomState, array: Any) -> Any:
    """A point near an input, with no zeros left."""
    sizes = numpy.abs(array[numpy.isfinite(array)])
    scale = float(sizes.mean()) if sizes.size and sizes.any() else 1.0
    return numpy.asarray(array + AWAY * scale * _direction(draw, array))


def _weights(array: Any) -> Any:
    weights = numpy.linspace(0.5, 1.5, array.size).reshape(array.shape)
    return weights * (1 - 0.7j) if array.dtype.kind == "c" else weights


def _direction(draw: numpy.random.RandomState, array: Any) -> Any:
    step = numpy.asarray(draw.randn(*array.shape))
    return step + 1j * draw.randn(*array.shape) if array.dtype.kind == "c" else step


def _along(gradient: Any, step: Any) -> float:
    """How fast a loss grows along a step; the gradient of z = x + iy is dL/dx + i dL/dy."""
    return float((numpy.conj(gradient) * step).real.sum())


def is_float(array: Any) -> bool:
    """Whether something is an array of floats or complex numbers."""
    return isinstance(array, numpy.ndarray) and array.dtype.kind in "fc"
