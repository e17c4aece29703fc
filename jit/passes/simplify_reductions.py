"""Reduces once what is reduced twice, and nothing along which nothing changes.

In: a functional graph. Out: the same graph with fewer and smaller reductions. Extrema, any and all
do not care how often they see a value, so their results have the same bits; a sum of floats is
rounded otherwise, and is changed with numerics="fast" only.
"""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

from minitorch2.dtypes import bool as bool_dtype
from minitorch2.jit.ir.graph import Graph, Node, Value, literal_key, used_values
from minitorch2.jit.passes.notes import left, note
from minitorch2.jit.passes.options import PassOptions
from minitorch2.jit.passes.rebuild import Rebuilder, rebuild, tensor_type
from minitorch2.layouts import normalize_dims

MADE_BY = "pass simplify_reductions"
SELECTING = ("amax", "amin", "any_true", "all_true")  # the same however often they see a value
OPS = (*SELECTING, "sum")


def simplify_reductions(graph: Graph, options: PassOptions) -> Graph:
    """Share, join and shrink reductions.

    Before:

    >>> before = '''
    ... graph f(%x: f32[4,3], %y: f32[4,1]) {
    ...   %0: f32[4,1] = amax(%x, (1,), True)
    ...   %1: f32[4] = amax(%x, (1,))
    ...   %2: f32[] = amax(%1, (0,))
    ...   %3: f32[4,9] = expand(%y, (4, 9))
    ...   %4: f32[4] = amin(%3, (1,))
    ...   return %0, %1, %2, %4
    ... }'''

    After (what nobody uses any more is left to eliminate_dead_code):

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> print(simplify_reductions(parse_graph(before), PassOptions()))
    graph f(%x: f32[4,3], %y: f32[4,1]) {
      %0: f32[4,1] = amax(%x, (1,), True)
      %1: f32[4] = view(%0, (4,))
      %2: f32[] = amax(%1, (0,))
      %3: f32[4,9] = expand(%y, (4, 9))
      %4: f32[4] = view(%y, (4,))
      return %0, %1, %2, %4
    }

    A sum of a broadcast is a product with the count, and a factor that does not change along the
    sum is multiplied once: both need integers or numerics="fast".

    Complexity: linear in the nodes. Source: loop-invariant code motion (Aho et al., 9.5), on sums.
    """
    uses = Counter(used_values(graph))
    seen: dict[Hashable, Value] = {}

    def step(rebuilder: Rebuilder, node: Node) -> Sequence[Value] | None:
        if node.op not in OPS:
            return None
        found = _Reduction(rebuilder, node, uses, options)
        result = found.shared(seen) or found.smaller()
        if result is None:
            seen.setdefault(found.key(), node.results[0])
            return None
        uses[result] += uses[node.results[0]]
        return (result,)

    return rebuild(graph, step, lambda inner: simplify_reductions(inner, options))


class _Reduction:
    """One reduction, and what it may become."""

    def __init__(self, rebuilder: Rebuilder, node: Node, uses: Counter, options: PassOptions):
        self.rebuilder, self.node, self.uses = rebuilder, node, uses
        args: Any = node.args
        self.operand: Value = args[0]
        self.type = tensor_type(self.operand)
        self.dims = tuple(sorted(normalize_dims(args[1], self.type.ndim)))
        self.result = tensor_type(node.results[0])
        same = self.type.dtype is self.result.dtype
        self.exact = same and (node.op in SELECTING or not self.type.dtype.is_floating_point)
        self.may_round = same and options.fast_math

    def key(self) -> Hashable:
        """What reductions have in common that differ in keepdim only."""
        return self.node.op, self.operand, self.dims, literal_key(self.node.args[3:])

    def shared(self, seen: dict[Hashable, Value]) -> Value | None:
        """The result of the same reduction made before, in this one's shape."""
        earlier = seen.get(self.key())
        if earlier is None or not _is_known(self.result.shape):
            return None
        note(f"the {self.node.op} is {earlier}", self.node)
        return self.shaped(earlier)

    def smaller(self) -> Value | None:
        """A reduction of less, if there is one."""
        if all(self.type.shape[dim] == 1 for dim in self.dims) and self.exact:
            if not _is_known(self.result.shape):
                return None
            note(f"{self.node.op} of one element each", self.node)
            return self.shaped(self.operand)
        inner = self.rebuilder.definition(self.operand)
        if inner is None or not _is_known(self.type.shape):
            return None
        if inner.op == "expand":
            return self.of_broadcast(inner)
        if inner.op == "full" and self.node.op in SELECTING:
            return self.of_number(inner)
        if inner.op == self.node.op and self.uses_once():
            return self.of_reduction(inner)
        return self.of_product(inner) if inner.op == "mul" and self.node.op == "sum" else None

    def of_broadcast(self, inner: Node) -> Value | None:
        """amax(expand(y)) is amax(y); a sum of equal elements is one of them times their count."""
        base = inner.args[0]
        assert isinstance(base, Value)
        if not _is_known(tensor_type(base).shape):
            return None
        lead = (1,) * (self.type.ndim - tensor_type(base).ndim)
        shape: Any = (*lead, *tensor_type(base).shape)
        again = [dim for dim in self.dims if shape[dim] != self.type.shape[dim]]
        if not again or 0 in self.type.shape or not self.allowed("a sum of equal elements"):
            return None
        count = math.prod(self.type.shape[dim] for dim in again)
        note(f"{self.node.op} of {count} equal elements each", self.node, not self.exact)
        rest = tuple(dim for dim in self.dims if shape[dim] != 1)
        kept = tuple(1 if dim in self.dims else size for dim, size in enumerate(self.type.shape))
        stays = any(shape[dim] != size for dim, size in enumerate(kept) if dim not in self.dims)
        found = self.add("view", (base, shape), inner) if lead and (rest or stays) else base
        if rest:
            args = (found, rest, True, *self.node.args[3:])
            found = self.add(self.node.op, args, inner)
        if self.node.op == "sum" and self.type.dtype is not bool_dtype:  # of those it is any_true
            found = self.add("mul", (found, count), inner)
        if stays:
            found = self.add("expand", (found, kept), inner)
        return self.shaped(found)

    def of_number(self, inner: Node) -> Value | None:
        """An extremum of one number everywhere is that number."""
        if not self.exact or 0 in self.type.shape or not _is_known(self.result.shape):
            return None
        note(f"{self.node.op} of one number everywhere", self.node)
        return self.add("full", (self.result.shape, *inner.args[1:]), inner)

    def of_reduction(self, inner: Node) -> Value | None:
        """Two reductions in a row are one over the dimensions of both."""
        args: Any = inner.args
        base = args[0]
        first = sorted(normalize_dims(args[1], tensor_type(base).ndim))
        if tensor_type(base).dtype is not self.type.dtype or not self.allowed("a sum of sums"):
            return None
        left_over = [dim for dim in range(tensor_type(base).ndim) if dim not in first or args[2]]
        dims = tuple(sorted({*first, *(left_over[dim] for dim in self.dims)}))
        note(f"{self.node.op} over {dims} at once", self.node, not self.exact)
        return self.shaped(self.add(self.node.op, (base, dims, True, *self.node.args[3:]), inner))

    def of_product(self, inner: Node) -> Value | None:
        """A factor that is the same along the sum comes out of it."""
        for base, factor in (inner.args[:2], inner.args[1::-1]):
            if not isinstance(base, Value) or tensor_type(base) != self.type:
                continue
            if isinstance(factor, Value):
                other = tensor_type(factor)
                lead = self.type.ndim - other.ndim
                fits = other.dtype is self.type.dtype and all(
                    other.shape[dim - lead] == 1 for dim in self.dims if dim >= lead
                )
                if not fits:
                    continue
            if not self.uses_once() or not self.allowed("a factor outside of its sum"):
                return None
            note("the factor is multiplied after the sum", self.node, not self.exact)
            total = self.add("sum", (base, self.dims, True, *self.node.args[3:]), inner)
            return self.shaped(self.add("mul", (total, factor), inner))
        return None

    def uses_once(self) -> bool:
        """Whether nobody else reads the operand."""
        return self.uses[self.operand] <= 1

    def allowed(self, what: str) -> bool:
        """Whether a change of this kind keeps the numbers contract; if not, it is noted."""
        if self.exact or self.may_round:
            return True
        left(f"{what} rounds otherwise; it takes numerics='fast'", self.node)
        return False

    def add(self, op: str, args: tuple, inner: Node) -> Value:
        """A node in the place of the reduction and of what it reads."""
        return self.rebuilder.add(op, args, (self.node, inner), MADE_BY)

    def shaped(self, value: Value) -> Value:
        """A value in the shape of the result."""
        if tensor_type(value).shape == self.result.shape:
            return value
        return self.rebuilder.add("view", (value, self.result.shape), self.node, MADE_BY)


def _is_known(shape: tuple) -> bool:
    """Whether all sizes are numbers."""
    return all(isinstance(size, int) for size in shape)
