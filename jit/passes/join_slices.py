"""Removes cutting apart and joining again.

In: a functional graph. Out: the same graph in which the concatenation of all parts of a tensor is
the tensor, neighbouring parts are one part, and a part of a concatenation is read from what was
concatenated.
"""

from collections.abc import Sequence
from typing import Any

from minitorch2.jit.ir.graph import Graph, Node, Value
from minitorch2.jit.passes.notes import note
from minitorch2.jit.passes.options import PassOptions
from minitorch2.jit.passes.rebuild import Rebuilder, rebuild, tensor_type
from minitorch2.layouts import normalize_dim
from minitorch2.ops.views import slice_bounds

MADE_BY = "pass join_slices"


def join_slices(graph: Graph, options: PassOptions) -> Graph:
    """Join neighbouring slices in a `cat`; take a slice of a `cat` from its operand.

    Before:

    >>> before = '''
    ... graph f(%x: f32[6], %y: f32[2]) {
    ...   %0: f32[4] = slice(%x, 0, 0, 4, 1)
    ...   %1: f32[2] = slice(%x, 0, 4, 6, 1)
    ...   %2: f32[6] = cat((%0, %1), 0)
    ...   %3: f32[8] = cat((%2, %y), 0)
    ...   %4: f32[2] = slice(%3, 0, 6, 8, 1)
    ...   return %2, %4
    ... }'''

    After (what nobody uses any more is left to eliminate_dead_code):

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> print(join_slices(parse_graph(before), PassOptions()))
    graph f(%x: f32[6], %y: f32[2]) {
      %0: f32[4] = slice(%x, start=0, end=4)
      %1: f32[2] = slice(%x, start=4, end=6)
      %2: f32[8] = cat((%x, %y))
      return %x, %y
    }

    Sizes that are symbols are left alone.

    Complexity: linear in the nodes and their operands. Source: Inductor's split-cat pass.
    """

    def step(rebuilder: Rebuilder, node: Node) -> Sequence[Value] | None:
        if node.op == "cat":
            return _joined(rebuilder, node)
        if node.op == "slice":
            return _part_of_cat(rebuilder, node)
        return None

    return rebuild(graph, step, lambda inner: join_slices(inner, options))


def _joined(rebuilder: Rebuilder, node: Node) -> Sequence[Value] | None:
    """A cat with neighbouring slices of one tensor joined."""
    parts: Any = node.args[0]
    dim: Any = node.args[1]
    at = normalize_dim(dim, tensor_type(node.results[0]).ndim)
    if any(tensor_type(part).dtype is not tensor_type(node.results[0]).dtype for part in parts):
        return None
    joined: list[tuple[Value, tuple[Value, int, int] | None]] = []
    for part in parts:
        seen = _seen(rebuilder, part, at)
        last = joined[-1][1] if joined else None
        if seen is not None and last is not None and (last[0], last[2]) == (seen[0], seen[1]):
            joined[-1] = (part, (seen[0], last[1], seen[2]))
        else:
            joined.append((part, seen))
    if len(joined) == len(parts):
        return None
    note(f"{len(parts)} parts of {len(joined)} tensors", node)
    values = []
    for part, seen in joined:
        if seen is None or _is_whole(part, seen, at):
            values.append(part)
        elif (seen[1], seen[2]) == (0, tensor_type(seen[0]).shape[at]):
            values.append(seen[0])
        else:
            args = (seen[0], at, seen[1], seen[2], 1)
            values.append(rebuilder.add("slice", args, node, MADE_BY))
    if len(values) == 1:
        return (values[0],)
    return (rebuilder.add("cat", (tuple(values), at), node, MADE_BY),)


def _is_whole(part: Value, seen: tuple[Value, int, int], at: int) -> bool:
    """Whether a part is exactly what is seen: it was not joined."""
    return tensor_type(part).shape[at] == seen[2] - seen[1]


def _seen(rebuilder: Rebuilder, part: Value, at: int) -> tuple[Value, int, int] | None:
    """(base, first, last) of a part that is such a slice."""
    node = rebuilder.definition(part)
    if node is None or node.op != "slice":
        return None
    base, dim, _, _, _ = _slice(node)
    if normalize_dim(dim, tensor_type(base).ndim) != at:
        return None
    bounds = _bounds(node, at)
    return None if bounds is None else (base, *bounds)


def _part_of_cat(rebuilder: Rebuilder, node: Node) -> Sequence[Value] | None:
    """A slice of a cat that lies in one of its operands."""
    base, dim, _, _, _ = _slice(node)
    cat = rebuilder.definition(base)
    if cat is None or cat.op != "cat":
        return None
    at = normalize_dim(dim, tensor_type(base).ndim)
    along: Any = cat.args[1]
    parts: Any = cat.args[0]
    seen = _bounds(node, at)
    if normalize_dim(along, tensor_type(base).ndim) != at or seen is None:
        return None
    begin = 0
    for part in parts:
        size: Any = tensor_type(part).shape[at]
        if not isinstance(size, int):
            return None
        if begin <= seen[0] and seen[1] <= begin + size and seen[0] < seen[1]:
            if tensor_type(part).dtype is not tensor_type(base).dtype:
                return None
            note("a part of a cat is a part of its operand", node)
            if (seen[0], seen[1]) == (begin, begin + size):
                return (part,)
            args = (part, at, seen[0] - begin, seen[1] - begin, 1)
            return (rebuilder.add("slice", args, (node, cat), MADE_BY),)
        begin += size
    return None


def _bounds(node: Node, at: int) -> tuple[int, int] | None:
    """(first, last) of a slice with step 1 along dimension `at`, where both are numbers."""
    base, _, start, end, step = _slice(node)
    size = tensor_type(base).shape[at]
    numbers = [each for each in (size, start, end) if each is not None]
    if step != 1 or not all(isinstance(each, int) for each in numbers):
        return None
    first, count = slice_bounds(size, start, end, 1)
    return first, first + count


def _slice(node: Node) -> Any:
    """The five arguments of a slice."""
    return node.args
