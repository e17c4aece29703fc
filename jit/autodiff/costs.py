"""What values weigh and what nodes take: the numbers that decide what is saved.

In: values and nodes of a functional graph, and a size for each symbol. Out: bytes, and nanoseconds
on one thread. They are estimates that compare choices with each other, from how each kind of row is
carried out: a pointwise op as one step of a fused loop, a product at its flops, a view for nothing.

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> graph = parse_graph("graph f(%x: f32[64,64]) { %0: f32[64,64] = exp(%x) return %0 }")
    >>> costs = Costs(graph)
    >>> costs.bytes_of(graph.nodes[0].results[0]), round(costs.time_of(graph.nodes[0]))
    (16384, 4096)

Source: T. Chen et al., "Training Deep Nets with Sublinear Memory Cost"; the constants are those of
kernels measured on one core with 256-bit vectors.
"""

import ast
import functools
import math
from collections.abc import Collection, Sequence

from minitorch2.jit.ir.examples import environment_of
from minitorch2.jit.ir.graph import Graph, Node, Value, values_in
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.passes.effects import may_merge
from minitorch2.jit.shapes.size_expression import Size
from minitorch2.jit.syntax import expression
from minitorch2.ops.table import (
    CREATION,
    GATHER,
    POINTWISE,
    PRODUCT,
    RANDOM,
    REDUCTION,
    VIEW,
    lookup,
)

STEP, FUNCTION = 0.1, 0.9  # ns for an element: an arithmetic step, a slow function more
MOVE = 0.1  # ns for a byte that is read or written
DRAW = 2.5  # ns for a random number
PRODUCT_STEP = 0.04  # ns for a multiplication and an addition in a matrix product
OTHER = 10.0  # ns for an element in a library call
LARGE, OUTGROWN = 1 << 25, 4  # bytes of a product, and how much more than its operands have
SMALL = 4096  # elements; to reduce so few again costs nothing worth saving
SIMPLE = frozenset("select maximum minimum abs sign floor ceil trunc round convert".split()) | {
    "isnan", "isinf", "isfinite", "sqrt",
}  # fmt: skip


class Costs:
    """Answers for the values and nodes of one graph."""

    def __init__(self, graph: Graph):
        self.environment = environment_of(graph)
        self._known: dict[Value, int] = {}

    def elements(self, value: Value) -> int:
        """How many elements a value has; 1 for a number."""
        found = self._known.get(value)
        if found is None:
            shape = value.type.shape if isinstance(value.type, TensorType) else ()
            found = self._known[value] = math.prod(map(self._size, shape))
        return found

    def _size(self, size: Size) -> int:
        """A size, or an example of it; examples are chosen apart, and may not fit together."""
        self.environment.wrap(size)  # so that its symbols have examples
        return max(self.environment.hint(size), 0)

    def bytes_of(self, value: Value) -> int:
        """How much memory a value takes; none for a number."""
        if not isinstance(value.type, TensorType):
            return 0
        return self.elements(value) * value.type.dtype.itemsize

    def time_of(self, node: Node) -> float:
        """Nanoseconds that the node takes inside a kernel, or as a call of its own."""
        row, made = lookup(node.op), sum(map(self.elements, node.results))
        read = [self.elements(value) for value in values_in(node.args)]
        match row.kind:
            case _ if row.kind == VIEW:
                return 0.0
            case _ if row.kind == POINTWISE:
                return made * element_time(row.expr)
            case _ if row.kind == CREATION:
                return made * STEP
            case _ if row.kind == RANDOM:
                return made * DRAW
            case _ if row.kind == REDUCTION:
                return max([*read, made]) * 2 * STEP
            case _ if row.kind == PRODUCT:
                return PRODUCT_STEP * self._steps(node, read, made)
            case _ if row.kind == GATHER:
                return 2 * MOVE * sum(map(self.bytes_of, node.results))
        return max([*read, made]) * OTHER

    def _steps(self, node: Node, read: Sequence[int], made: int) -> float:
        """Multiplications of a product: results times the dimension that is summed over. Of a
        convolution about the root of the three sizes, in each of which every index stands once."""
        left = node.args[0]
        if node.op == "matmul" and isinstance(left, Value):
            assert isinstance(left.type, TensorType)
            return made * float(self._size(left.type.shape[-1]))
        first, second = (*read, 1, 1)[:2]
        return math.sqrt(float(first) * second * made)

    def outgrows(self, node: Node, others: Collection[Value] = ()) -> bool:
        """Whether it is a product of large matrices much larger than both of its operands, or is
        computed element by element from one of the `others` for which that holds."""
        made = max(map(self.bytes_of, node.results), default=0)
        read = values_in(node.args)
        if made < LARGE:
            return False
        if node.op == "matmul":
            return made >= OUTGROWN * sum(map(self.bytes_of, read))
        return lookup(node.op).kind in (POINTWISE, VIEW) and any(v in others for v in read)

    def is_cheap(self, node: Node) -> bool:
        """Whether it may be computed again where nothing forces us to save memory."""
        kind = lookup(node.op).kind
        if kind == REDUCTION:
            return max(map(self.elements, values_in(node.args)), default=0) <= SMALL
        if kind == GATHER:
            return not lookup(node.op).host and node.op in MOVES
        return kind in (POINTWISE, VIEW, CREATION, RANDOM)


MOVES = frozenset(
    "gather index_select index cat flip clone contiguous_copy slice_scatter select_scatter".split()
)  # gathers that move each element once and add nothing up


def is_repeatable(node: Node) -> bool:
    """Whether a second run gives the same bits: it draws nothing from a generator, writes nothing,
    and holds no graph whose cost nobody knows. Random numbers of a functional graph are functions
    of a seed and a counter, so a mask that is computed again is the same mask."""
    return may_merge(node) and "nondeterministic" not in lookup(node.op).effects and (
        not lookup(node.op).kind == "control")  # fmt: skip


@functools.cache
def element_time(expr: str) -> float:
    """Nanoseconds for one element of a pointwise row with this definition (none: numpy's)."""
    if not expr:
        return FUNCTION
    calls = [node for node in ast.walk(expression(expr)) if isinstance(node, ast.Call)]
    slow = sum(isinstance(c.func, ast.Name) and c.func.id not in SIMPLE for c in calls)
    steps = sum(isinstance(n, ast.Call | ast.BinOp | ast.Compare) for n in ast.walk(
        expression(expr)))  # fmt: skip
    return STEP * max(steps, 1) + FUNCTION * slow
