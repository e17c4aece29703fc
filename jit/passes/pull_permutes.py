"""Moves permutations past pointwise calls, so that they meet and cancel.

In: a functional graph. Out: the same graph in which a pointwise call whose operands are all
permuted in the same way is computed before the permutation. `simplify_views`, which runs next, then
joins it with the permutation that follows.
"""

from collections.abc import Sequence
from typing import Any

from minitorch2.jit.ir.graph import Graph, Node, Value
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.passes.notes import note
from minitorch2.jit.passes.options import PassOptions
from minitorch2.jit.passes.rebuild import Rebuilder, rebuild, tensor_type
from minitorch2.jit.passes.simplify_views import permutation
from minitorch2.ops.table import POINTWISE, lookup

MADE_BY = "pass pull_permutes"


def pull_permutes(graph: Graph, options: PassOptions) -> Graph:
    """Compute on the tensors themselves what is computed on their permutations.

    Before:

    >>> before = '''
    ... graph f(%x: f32[4,3], %y: f32[4,3]) {
    ...   %0: f32[3,4] = permute(%x, (1, 0))
    ...   %1: f32[3,4] = transpose(%y, 0, 1)
    ...   %2: f32[3,4] = add(%0, %1)
    ...   %3: f32[3,4] = mul(%2, 2.0)
    ...   return %3
    ... }'''

    After (what nobody uses any more is left to eliminate_dead_code):

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> print(pull_permutes(parse_graph(before), PassOptions()))
    graph f(%x: f32[4,3], %y: f32[4,3]) {
      %0: f32[3,4] = permute(%x, (1, 0))
      %1: f32[3,4] = transpose(%y, 0, 1)
      %2: f32[4,3] = add(%x, %y)
      %3: f32[3,4] = permute(%2, (1, 0))
      %4: f32[4,3] = mul(%2, 2.0)
      %5: f32[3,4] = permute(%4, (1, 0))
      return %5
    }

    Each element is computed from the same numbers, so the bits are the same.

    Complexity: linear in the nodes. Source: XLA's and Inductor's layout passes.
    """

    def step(rebuilder: Rebuilder, node: Node) -> Sequence[Value] | None:
        if lookup(node.op).kind != POINTWISE or len(node.results) != 1:
            return None
        found = _unpermuted(rebuilder, node)
        if found is None:
            return None
        order, args = found
        note(f"{node.op} before the permutation {order}", node)
        inner = rebuilder.add(node.op, args, node, MADE_BY)
        return (rebuilder.add("permute", (inner, order), node, MADE_BY),)

    return rebuild(graph, step, lambda inner: pull_permutes(inner, options))


def _unpermuted(rebuilder: Rebuilder, node: Node) -> tuple[tuple[int, ...], tuple] | None:
    """The permutation that all tensors of a call share, and its arguments without it."""
    shared: tuple[int, ...] | None = None
    args: list[Any] = []
    for argument in node.args:
        if not isinstance(argument, Value):
            args.append(argument)
            continue
        source = rebuilder.definition(argument)
        order = None if source is None else permutation(source)
        if source is None or order is None or order == tuple(range(len(order))):
            return None
        if shared not in (None, order) or not isinstance(argument.type, TensorType):
            return None
        shared = order
        args.append(source.args[0])
    if shared is None or len(shared) != tensor_type(node.results[0]).ndim:
        return None
    return shared, tuple(args)
