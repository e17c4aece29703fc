"""Writes calls that mean the same in the same way, so that later passes see them as equal.

In: a functional graph. Out: the same graph where numbers stand on the right of commutative ops,
operands are in the order they were made, and dimensions are counted from the front and sorted.
"""

from collections.abc import Sequence
from typing import Any

from minitorch2.jit.ir.graph import Argument, Graph, Node, Value
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.passes.commutative import is_commutative
from minitorch2.jit.passes.options import PassOptions
from minitorch2.jit.passes.rebuild import Rebuilder, rebuild
from minitorch2.layouts import normalize_dim, normalize_dims
from minitorch2.ops.table import GATHER, REDUCTION, VIEW, lookup


def canonicalize(graph: Graph, options: PassOptions) -> Graph:
    """Number-right, first-made-first operands; dimensions from the front.

    Before:

    >>> before = '''
    ... graph f(%x: f32[4,3], %y: f32[4,3]) {
    ...   %0: f32[4,3] = mul(2.0, %x)
    ...   %1: f32[4,3] = add(%0, %y)
    ...   %2: f32[4] = sum(%1, (-1,))
    ...   return %2
    ... }'''

    After:

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> print(canonicalize(parse_graph(before), PassOptions()))
    graph f(%x: f32[4,3], %y: f32[4,3]) {
      %0: f32[4,3] = mul(%x, 2.0)
      %1: f32[4,3] = add(%y, %0)
      %2: f32[4] = sum(%1, (1,))
      return %2
    }

    Exchanging operands is exact: IEEE addition and multiplication are commutative. But a result
    lies in memory as the first tensor does, and under numerics="eager" that stays the first one.

    Complexity: linear in the nodes. Source: LLVM's InstCombine canonical forms.
    """
    apart = options.numerics != "eager"  # there all tensors rank alike
    order = {input.value: apart * index for index, input in enumerate(graph.inputs)}

    def step(rebuilder: Rebuilder, node: Node) -> Sequence[Value] | None:
        args = _dimensions(node, _ordered(node, order))
        results = node.results
        if args != node.args:
            results = (rebuilder.add(node.op, args, node, "pass canonicalize"),)
        else:
            rebuilder.keep(node)
        for result in results:
            order[result] = apart * len(order)
        return results

    return rebuild(graph, step, lambda inner: canonicalize(inner, options))


def _ordered(node: Node, order: dict[Value, int]) -> tuple[Argument, ...]:
    """The arguments with the first two exchanged when they stand the wrong way round."""
    args = node.args
    if len(args) < 2 or not is_commutative(node.op, args):
        return args
    left, right = (_rank(argument, order) for argument in args[:2])
    return args if left <= right else (args[1], args[0], *args[2:])


def _rank(argument: Argument, order: dict[Value, int]) -> float:
    return order[argument] if isinstance(argument, Value) else float("inf")


def _dimensions(node: Node, args: tuple[Argument, ...]) -> tuple[Argument, ...]:
    """The arguments with dimensions counted from the front, those of a reduction sorted."""
    row = lookup(node.op)
    if row.kind not in (REDUCTION, VIEW, GATHER) or len(node.results) != 1:
        return args
    types = [value.type for value in (args[0], node.results[0]) if isinstance(value, Value)]
    # unsqueeze counts the dimensions of its result, select those of its operand: the larger
    ndims = [type.ndim for type in types if isinstance(type, TensorType)]
    if len(ndims) < 2:
        return args
    changed: list[Any] = list(args)
    for index, parameter in enumerate(row.signature.parameters):
        dims: Any = args[index]
        if parameter.name == "dim" and parameter.type == "int[]" and row.kind == REDUCTION:
            changed[index] = tuple(sorted(normalize_dims(dims, ndims[0])))
        elif parameter.name in ("dim", "dim0", "dim1", "dim2") and isinstance(dims, int):
            changed[index] = normalize_dim(dims, max(ndims))
    return tuple(changed)
