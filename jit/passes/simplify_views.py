"""Removes views that change nothing and joins views of views.

In: a functional graph. Out: the same graph with fewer views. Values of a functional graph have no
strides, so a view is a map from indices to indices: some are the identity, two in a row are one,
and a copy (`clone`, `contiguous_copy`) is the value itself.
"""

from collections.abc import Sequence
from typing import Any

from minitorch2.jit.ir.graph import Argument, Graph, Node, Value, values_in
from minitorch2.jit.ir.verify import is_functional
from minitorch2.jit.passes.options import PassOptions
from minitorch2.jit.passes.rebuild import Rebuilder, rebuild, tensor_type
from minitorch2.layouts import normalize_dim
from minitorch2.ops.views import slice_bounds

MADE_BY = "pass simplify_views"
COPIES = ("clone", "contiguous_copy")
SAME_MEMORY = ("detach", "alias")
RESHAPES = ("view", "squeeze", "unsqueeze")  # same elements in the same order
SAME_SHAPE_IS_SAME = (*RESHAPES, "expand", "slice")


def simplify_views(graph: Graph, options: PassOptions) -> Graph:
    """Cancel and compose views.

    Before:

    >>> before = '''
    ... graph f(%x: f32[4,3]) {
    ...   %0: f32[3,4] = permute(%x, (1, 0))
    ...   %1: f32[4,3] = transpose(%0, 0, 1)
    ...   %2: f32[12] = view(%1, (12,))
    ...   %3: f32[2,6] = view(%2, (2, 6))
    ...   return %3
    ... }'''

    After (what nobody uses any more is left to eliminate_dead_code):

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> print(simplify_views(parse_graph(before), PassOptions()))
    graph f(%x: f32[4,3]) {
      %0: f32[3,4] = permute(%x, (1, 0))
      %1: f32[12] = view(%x, (12,))
      %2: f32[2,6] = view(%x, (2, 6))
      return %2
    }

    A copy that is returned as computed, without strides, is kept: it is what makes the result a
    tensor of its own.

    Complexity: linear in the nodes. Source: TensorFlow's and XLA's algebraic simplifier.
    """
    if not is_functional(graph):
        return graph
    returned = {
        value
        for output in graph.outputs
        if output.strides is None and output.alias is None
        for value in values_in(output.argument)
    }

    def step(rebuilder: Rebuilder, node: Node) -> Sequence[Value] | None:
        """What stands for a view: its source, or one view for two; None where it stays."""
        if len(node.results) != 1 or not node.args or not isinstance(node.args[0], Value):
            return None
        if node.op in COPIES and node.results[0] in returned:
            return None
        if node.op == "contiguous_copy" and options.numerics == "eager":
            return None  # sums of it go through memory as it lies
        source = node.args[0]
        if _changes_nothing(node, source):
            return (source,)
        inner = rebuilder.definition(source)
        composed = None if inner is None else _composed(node, inner)
        if composed is None or inner is None:
            return None
        op, args = composed
        new = rebuilder.node(op, args, (node, inner), MADE_BY)
        base = inner.args[0]
        if isinstance(base, Value) and _changes_nothing(new, base):
            return (base,)
        return rebuilder.keep(new)

    return rebuild(graph, step, lambda inner: simplify_views(inner, options))


def _changes_nothing(node: Node, source: Value) -> bool:
    """Whether the result has the elements of `source` in the same places."""
    if node.op in COPIES or node.op in SAME_MEMORY:
        return True
    if node.results[0].type != source.type:
        return False
    if node.op in SAME_SHAPE_IS_SAME:
        return True
    order = permutation(node)
    return order is not None and order == tuple(range(len(order)))


def _composed(node: Node, inner: Node) -> tuple[str, tuple[Argument, ...]] | None:
    """The one call that does what `inner` and then `node` do, or None."""
    base = inner.args[0] if inner.args else None
    if not isinstance(base, Value):
        return None
    shape = tensor_type(node.results[0]).shape
    if node.op in RESHAPES and inner.op in RESHAPES:
        return "view", (base, shape)
    if node.op == inner.op == "expand":
        return "expand", (base, shape)
    first, second = permutation(inner), permutation(node)
    if first is not None and second is not None:
        return "permute", (base, tuple(first[dim] for dim in second))
    if node.op == inner.op == "slice":
        return _slice_of_slice(node, inner, base)
    return None


def permutation(node: Node) -> tuple[int, ...] | None:
    """Which dimension of the operand each dimension of a permute or transpose is."""
    ndim = tensor_type(node.results[0]).ndim if node.results else 0
    args: Any = node.args
    if node.op == "permute":
        return tuple(normalize_dim(dim, ndim) for dim in args[1])
    if node.op == "transpose" and ndim:
        order = list(range(ndim))
        first, second = normalize_dim(args[1], ndim), normalize_dim(args[2], ndim)
        order[first], order[second] = second, first
        return tuple(order)
    return None


def _slice_of_slice(node: Node, inner: Node, base: Value) -> tuple[str, tuple] | None:
    """Two slices of one dimension as one, where the sizes and bounds are plain ints."""
    type = tensor_type(base)
    bounds: Any = (*inner.args[1:], *node.args[1:])
    dim, start, end, step, other, second_start, second_end, second_step = bounds
    at = normalize_dim(dim, type.ndim)
    numbers = [size for size in (type.shape[at], *bounds) if size is not None]
    if normalize_dim(other, type.ndim) != at or not all(isinstance(n, int) for n in numbers):
        return None
    first, count = slice_bounds(type.shape[at], start, end, step)
    offset, length = slice_bounds(count, second_start, second_end, second_step)
    begin, stride = first + offset * step, step * second_step
    last = begin + (length - 1) * stride + 1 if length else begin
    return "slice", (base, at, begin, last, stride)
