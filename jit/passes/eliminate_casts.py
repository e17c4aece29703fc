"""Joins conversions of conversions.

In: a functional graph. Out: the same graph in which a value is not taken through a dtype that holds
all of its values anyway, and, where the options allow it, not through a narrower one either.
"""

from collections.abc import Sequence

from minitorch2.dtypes import FLOATING, INTEGER, dtype
from minitorch2.jit.ir.graph import Graph, Node, Value
from minitorch2.jit.passes.notes import left, note
from minitorch2.jit.passes.options import PassOptions
from minitorch2.jit.passes.rebuild import Rebuilder, rebuild, tensor_type

MADE_BY = "pass eliminate_casts"
# Bits of the significand, and of the exponent's range, of each floating dtype.
_FLOATS = {"f64": (53, 11), "f32": (24, 8), "bf16": (8, 8), "f16": (11, 5)}


def eliminate_casts(graph: Graph, options: PassOptions) -> Graph:
    """Leave out the first of two conversions where it loses nothing, or may lose something.

    Before:

    >>> before = '''
    ... graph f(%x: bf16[4], %y: f32[4]) {
    ...   %0: f32[4] = convert(%x, f32)
    ...   %1: bf16[4] = convert(%0, bf16)
    ...   %2: bf16[4] = convert(%y, bf16)
    ...   %3: f32[4] = convert(%2, f32)
    ...   return %1, %3
    ... }'''

    After (the rounding of %y to bf16 is kept: eager has it):

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> print(eliminate_casts(parse_graph(before), PassOptions()))
    graph f(%x: bf16[4], %y: f32[4]) {
      %0: f32[4] = convert(%x, f32)
      %1: bf16[4] = convert(%y, bf16)
      %2: f32[4] = convert(%1, f32)
      return %x, %2
    }

    With numerics="fast" %y itself would be returned, and the ledger would say so.

    Complexity: linear in the nodes. Source: XLA's algebraic simplifier, "convert pairs".
    """

    def step(rebuilder: Rebuilder, node: Node) -> Sequence[Value] | None:
        """What stands for a `convert`: its operand, or one for two; None where it stays."""
        if node.op != "convert":
            return None
        source = node.args[0]
        inner = rebuilder.definition(source)
        target = tensor_type(node.results[0]).dtype
        if isinstance(source, Value) and tensor_type(source).dtype is target:
            return (source,)
        if inner is None or inner.op != "convert":
            return None
        first = inner.args[0]
        assert isinstance(first, Value) and isinstance(source, Value)
        start, middle = tensor_type(first).dtype, tensor_type(source).dtype
        loses = not holds(middle, start)
        narrowing = loses and start.category == middle.category == target.category == FLOATING
        if loses and not (options.fast_math and narrowing):
            left(f"convert to {middle.short} and back rounds, as eager does", node)
            return None
        text = f"{start.short} to {target.short} without {middle.short}"
        note(text, node, changes_bits=loses)
        if start is target:
            return (first,)
        return (rebuilder.add("convert", (first, target), (node, inner), MADE_BY),)

    return rebuild(graph, step, lambda inner: eliminate_casts(inner, options))


def holds(wide: dtype, narrow: dtype) -> bool:
    """Whether every value of one dtype is a value of the other.

    >>> from minitorch2.dtypes import bfloat16, float16, float32, int8, int32
    >>> holds(float32, bfloat16), holds(bfloat16, float16), holds(float32, int32)
    (True, False, False)
    >>> holds(float16, int8)
    True
    """
    if narrow is wide or narrow.short == "bool":
        return True
    if narrow.short in _FLOATS and wide.short in _FLOATS:
        return all(a >= b for a, b in zip(_FLOATS[wide.short], _FLOATS[narrow.short], strict=True))
    if narrow.category != INTEGER:
        return False
    digits = narrow.itemsize * 8 - narrow.is_signed
    if wide.short in _FLOATS:
        return digits <= _FLOATS[wide.short][0]
    if wide.category != INTEGER or narrow.is_signed > wide.is_signed:
        return False
    return digits <= wide.itemsize * 8 - wide.is_signed
