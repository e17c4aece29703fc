"""A long reduction in two steps, so that all threads can take part and memory is read in order.

In: a Nest. Out: the Nest itself, or two: the first folds each of B blocks, the second folds the B
results. B depends on the extent alone: the same sum comes out for any number of threads.

    sum over i in 1000000    =    part[k] = sum over j in 15625 of x[15625*k + j]    k in 64
                                  sum over k in 64 of part[k]

Split are reductions to a single number, and those down the columns of a large matrix, where a
thread reads whole rows in place of a part of each.

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
LARGE = 1 << 22  # elements of a matrix whose columns are folded: below, caches hold most of them
FEW = 1 << 13  # columns: with more a thread's part of a row is long
BLOCKS = (64, 48, 80, 96, 40, 32, 128, 24, 20, 16, 12, 10, 8)
FOLDS = ("sum", "prod", "max", "min", "any", "all")


def split_reduction(nest: Nest) -> tuple[Nest, ...]:
    """The nest, or the two that do its work in parallel."""
    sizes = [extent.as_int() for extent in nest.extents()]
    if nest.reducer not in FOLDS or None in sizes or not _pays(nest):
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
    rows = nest.rows()
    kept = tuple(symbol(row) for row, _ in rows)
    shape = (blocks, *(size.as_int() for _, size in rows))
    part = Value(f"part{nest.result.id}", TensorType(element, shape))  # type: ignore[arg-type]
    node = Node(nest.node.op, nest.node.args, (part,), nest.node.grad, nest.node.origin)
    steps = tuple(_moved_step(step, place, ranges) for step in nest.steps)
    first = replace(
        nest, node=node, result=part, axes=axes, value=value, output=(symbol("k"), *kept),
        steps=steps, reduced=nest.reduced - {name} | {"j"},
    )  # fmt: skip
    second = replace(
        nest, axes=(("k", constant(blocks)), *rows),
        value=Read(part, (symbol("k"), *kept), element),
        output=tuple(moved(index) for index in nest.output), steps=(), reduced=frozenset({"k"}),
    )  # fmt: skip
    return first, second


def _pays(nest: Nest) -> bool:
    """Whether a nest of known sizes folds so much that two steps are quicker than one."""
    total = product(nest.extents()).as_int()
    columns = product(extent for _, extent in nest.rows()).as_int()
    assert total is not None and columns is not None
    if not nest.rows():
        return total >= SMALLEST
    down = nest.axes[0][0] in nest.reduced and nest.axes[-1][0] not in nest.reduced
    return down and total >= LARGE and columns <= FEW


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
