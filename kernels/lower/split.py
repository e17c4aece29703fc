"""A reduction to a single number in two steps, so that all threads can take part.

In: a Nest. Out: the Nest itself, or two: the first folds each of B blocks, the second folds the B
results. B depends on the extent alone: the same sum comes out for any number of threads.

    sum over i in 1000000    =    part[k] = sum over j in 15625 of x[15625*k + j]    k in 64
                                  sum over k in 64 of part[k]

Source: two-pass reductions are folklore; the fixed split is what makes them reproducible.
"""

from dataclasses import replace

from minitorch2.dtypes import bool as bool_dtype
from minitorch2.jit.ir.graph import Node, Value
from minitorch2.jit.ir.types import TensorType
from minitorch2.kernels.index import Index, constant, product, substitute, symbol
from minitorch2.kernels.loop_ir import Check, IndexValue, Let, Require, Window
from minitorch2.kernels.lower.expressions import widened
from minitorch2.kernels.lower.nests import (
    Nest,
    NestExpression,
    Read,
    Step,
    map_expression,
)

SMALLEST = 32768  # fewer elements than this are folded by one thread
BLOCKS = (64, 48, 80, 96, 40, 32, 128, 24, 20, 16, 12, 10, 8)
FOLDS = ("sum", "prod", "max", "min", "any", "all")


def split_reduction(nest: Nest) -> tuple[Nest, ...]:
    """The nest, or the two that do its work in parallel."""
    if nest.reducer not in FOLDS or nest.rows():
        return (nest,)
    sizes = [extent.as_int() for extent in nest.extents()]
    if None in sizes or product(nest.extents()).as_int() < SMALLEST:  # type: ignore[operator]
        return (nest,)
    name, extent = nest.axes[0]
    count = sizes[0]
    blocks = next((b for b in BLOCKS if count % b == 0 and count > b), None)  # type: ignore
    if blocks is None:
        return (nest,)
    size = extent.as_int() // blocks  # type: ignore[operator]
    place = {name: symbol("k") * size + symbol("j")}
    axes = (("k", constant(blocks)), ("j", constant(size)), *nest.axes[1:])
    ranges = dict(axes)

    def moved(index: Index) -> Index:
        return substitute(index, place, ranges)

    value = map_expression(nest.value, lambda leaf: _moved_leaf(leaf, place, ranges))
    element = bool_dtype if nest.reducer in ("any", "all") else widened(value.dtype)
    part = Value(f"part{nest.result.id}", TensorType(element, (blocks,)))
    node = Node(nest.node.op, nest.node.args, (part,), nest.node.grad, nest.node.origin)
    steps = tuple(_moved_step(step, place, ranges) for step in nest.steps)
    first = replace(
        nest, node=node, result=part, axes=axes, value=value, output=(symbol("k"),),
        steps=steps, reduced=frozenset(axis for axis, _ in axes[1:]),
    )  # fmt: skip
    second = replace(
        nest, axes=(("k", constant(blocks)),), value=Read(part, (symbol("k"),), element),
        output=tuple(moved(index) for index in nest.output), steps=(), reduced=frozenset({"k"}),
    )  # fmt: skip
    return first, second


def _moved_leaf(leaf: NestExpression, place: dict, ranges: dict) -> NestExpression:
    match leaf:
        case Read(value, index, element):
            return Read(value, tuple(substitute(i, place, ranges) for i in index), element)
        case IndexValue(index, element):
            return IndexValue(substitute(index, place, ranges), element)
    return leaf


def _moved_step(step: Step, place: dict, ranges: dict) -> Step:
    def moved(expression: NestExpression) -> NestExpression:
        return map_expression(expression, lambda leaf: _moved_leaf(leaf, place, ranges))

    match step:
        case Window():
            return replace(step, index=substitute(step.index, place, ranges))
        case Let() | Check():
            return replace(step, value=moved(step.value))  # type: ignore[arg-type]
        case Require():
            return replace(step, condition=moved(step.condition))  # type: ignore[arg-type]
