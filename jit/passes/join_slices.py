"""Removes cutting apart and joining again.

In: a functional graph. Out: the same graph in which the concatenation of all parts of a tensor is
the tensor, neighbouring parts are one part, a concatenation of concatenations is one, and a part of
a concatenation is read from what was concatenated. A `stack` is a concatenation of parts of one
element each, an `unbind` selects them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from minitorch2.jit.ir.graph import Graph, Node, Value, used_values
from minitorch2.jit.passes.notes import left, note
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

    Sizes that are symbols are left alone. A concatenation that somebody else reads too stays whole.
    Under numerics="eager" all do: they are row-major, whatever their parts are.

    Complexity: linear in the nodes and their operands. Source: Inductor's split-cat pass.
    """

    if options.numerics == "eager":
        return graph
    uses = Counter(used_values(graph))

    def step(rebuilder: Rebuilder, node: Node) -> Sequence[Value] | None:
        if node.op not in ("cat", "slice", "select"):
            return None
        change = _joined if node.op == "cat" else _part_of_cat
        found = change(rebuilder, node, uses)
        if found is not None:
            uses[found] += uses[node.results[0]]
        return None if found is None else (found,)

    return rebuild(graph, step, lambda inner: join_slices(inner, options))


Seen = tuple[Value, int, int]  # a tensor and the bounds of a part of it


def _joined(rebuilder: Rebuilder, node: Node, uses: Counter) -> Value | None:
    """A cat with neighbouring slices of one tensor joined."""
    dim: Any = node.args[1]
    at = normalize_dim(dim, tensor_type(node.results[0]).ndim)
    given: Any = node.args[0]
    if not _alike(given, node.results[0]):
        return None
    parts = list(_flat(rebuilder, node, at, uses))
    parts = [part for part in parts if tensor_type(part).shape[at] != 0] or parts[:1]
    joined: list[tuple[Value, Seen | None]] = []
    for part in parts:
        seen = _seen(rebuilder, part, at)
        last = joined[-1][1] if joined else None
        if seen is not None and last is not None and (last[0], last[2]) == (seen[0], seen[1]):
            joined[-1] = (part, (seen[0], last[1], seen[2]))
        else:
            joined.append((part, seen))
    if len(joined) == len(given):
        return None
    note(f"{len(given)} parts of {len(joined)} tensors", node)
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
        return values[0]
    return rebuilder.add("cat", (tuple(values), at), node, MADE_BY)


def _alike(parts: Iterable[Value], whole: Value) -> bool:
    """Whether parts have the dtype and the number of dimensions of what they are joined to; cat
    takes a part of one dimension without elements beside those of any."""
    like = tensor_type(whole)
    kinds = ((part.dtype, part.ndim) for part in map(tensor_type, parts))
    return all(kind == (like.dtype, like.ndim) for kind in kinds)


def _flat(rebuilder: Rebuilder, node: Node, at: int, uses: Counter) -> Iterator[Value]:
    """What a cat joins; for a cat among it that nobody else reads, what that one joins."""
    parts: Any = node.args[0]
    for part in parts:
        made = rebuilder.definition(part)
        along: Any = made.args[1] if made is not None and made.op == "cat" else None
        if made is None or along is None or normalize_dim(along, tensor_type(part).ndim) != at:
            yield part
        elif uses[part] > 1:
            left("the inner cat is read elsewhere too", node)
            yield part
        else:
            yield from _flat(rebuilder, made, at, uses)


def _is_whole(part: Value, seen: tuple[Value, int, int], at: int) -> bool:
    """Whether a part is exactly what is seen: it was not joined."""
    return tensor_type(part).shape[at] == seen[2] - seen[1]


def _seen(rebuilder: Rebuilder, part: Value, at: int) -> Seen | None:
    """(base, first, last) of a part that is such a slice, or one element with its dimension."""
    node = rebuilder.definition(part)
    if node is None or node.op not in ("slice", "unsqueeze"):
        return None
    chosen: Node | None = node
    if node.op == "unsqueeze":
        dim: Any = node.args[1]
        chosen = rebuilder.definition(node.args[0])
        if normalize_dim(dim, tensor_type(part).ndim) != at:
            return None
    if chosen is None or chosen.op != ("slice" if chosen is node else "select"):
        return None
    base, along = chosen.args[:2]
    assert isinstance(base, Value) and isinstance(along, int)
    if normalize_dim(along, tensor_type(base).ndim) != at:
        return None
    bounds = _bounds(chosen, at)
    same = tensor_type(base).dtype is tensor_type(part).dtype
    return None if bounds is None or not same else (base, *bounds)


def _part_of_cat(rebuilder: Rebuilder, node: Node, uses: Counter) -> Value | None:
    """A slice or an element of a cat, from the operands it lies in."""
    base, dim = node.args[:2]
    cat = rebuilder.definition(base)
    if cat is None or cat.op != "cat":
        return None
    assert isinstance(base, Value) and isinstance(dim, int)
    at = normalize_dim(dim, tensor_type(base).ndim)
    along: Any = cat.args[1]
    if normalize_dim(along, tensor_type(base).ndim) != at:
        return None
    seen = _bounds(node, at)
    if seen is None:
        left("its bounds vary, or it leaves elements out", node)
        return None
    if seen[0] >= seen[1]:
        return None
    found = _overlaps(cat, at, seen)
    if found is None:
        left("several dtypes are joined", node)
        return None
    joined: Any = cat.args[0]
    if len(found) > 1 and (uses[base] > 1 or len(found) == len(joined)):
        left("it lies in several operands, and the cat is made anyway", node)
        return None
    note("a part of a cat is a part of its operand" if len(found) == 1 else
         f"a part of a cat is a cat of {len(found)} operands", node)  # fmt: skip
    if node.op == "select":
        [(part, first, _)] = found
        return _element(rebuilder, (node, cat), part, at, first)
    values = tuple(
        part if (first, last) == (0, tensor_type(part).shape[at])
        else rebuilder.add("slice", (part, at, first, last, 1), (node, cat), MADE_BY)
        for part, first, last in found
    )  # fmt: skip
    return values[0] if len(values) == 1 else rebuilder.add(
        "cat", (values, at), (node, cat), MADE_BY)  # fmt: skip


def _overlaps(cat: Node, at: int, seen: tuple[int, int]) -> list[Seen] | None:
    """The operands of a cat between two bounds, each with the bounds inside of it."""
    found, begin = [], 0
    parts: Any = cat.args[0]
    if not _alike(parts, cat.results[0]):
        return None
    for part in parts:
        size: Any = tensor_type(part).shape[at]  # a number, as that of the whole is one
        first, last = max(seen[0] - begin, 0), min(seen[1] - begin, size)
        if first < last:
            found.append((part, first, last))
        begin += size
    return found


def _element(
    rebuilder: Rebuilder, replaced: tuple[Node, Node], part: Value, at: int, place: int
) -> Value:
    """One element of a part along a dimension: what it was made from, if it is its only one."""
    made = rebuilder.definition(part)
    if made is not None and made.op == "unsqueeze":
        source, dim = made.args
        assert isinstance(source, Value) and isinstance(dim, int)
        if normalize_dim(dim, tensor_type(part).ndim) == at:
            return source
    return rebuilder.add("select", (part, at, place), replaced, MADE_BY)


def _bounds(node: Node, at: int) -> tuple[int, int] | None:
    """(first, last) of a slice with step 1, or of an element, where all are numbers."""
    base: Any = node.args[0]
    size = tensor_type(base).shape[at]
    numbers: Any = [each for each in (size, *node.args[2:]) if each is not None]
    if not all(isinstance(each, int) for each in numbers):
        return None
    if node.op == "select":
        place: Any = node.args[2]
        first = place + size if place < 0 else place
        return first, first + 1
    _, _, start, end, step = _slice(node)
    if step != 1:
        return None
    first, count = slice_bounds(size, start, end, 1)
    return first, first + count


def _slice(node: Node) -> Any:
    """The five arguments of a slice."""
    return node.args
