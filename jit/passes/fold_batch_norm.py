"""Folds a scale of the channels into the weight of the convolution before it.

In: a functional graph. Out: the same graph, with numerics="fast", in which a batch norm in eval
mode, which is a scale and a shift of each channel, scales the convolution's weight once instead of
every element of its result. Otherwise the graph as it is, and a note that says why.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from minitorch2.jit.ir.graph import Graph, Node, Value, used_values
from minitorch2.jit.passes.notes import left, note
from minitorch2.jit.passes.options import PassOptions
from minitorch2.jit.passes.rebuild import Rebuilder, rebuild, tensor_type

MADE_BY = "pass fold_batch_norm"


def fold_batch_norm(graph: Graph, options: PassOptions) -> Graph:
    """Scale the weight of a convolution instead of its result.

    Before:

    >>> before = '''
    ... graph f(%x: f32[2,3,8,8], %w: f32[4,3,3,3], %s: f32[4]) {
    ...   %0: f32[2,4,6,6] = convolution(%x, %w, (1, 1), (0, 0), (1, 1), 1)
    ...   %1: f32[1,4,1,1] = view(%s, (1, 4, 1, 1))
    ...   %2: f32[2,4,6,6] = mul(%0, %1)
    ...   return %2
    ... }'''

    After (what nobody uses any more is left to eliminate_dead_code):

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> print(fold_batch_norm(parse_graph(before), PassOptions("fast")))
    graph f(%x: f32[2,3,8,8], %w: f32[4,3,3,3], %s: f32[4]) {
      %0: f32[2,4,6,6] = convolution(%x, %w, (1, 1), (0, 0), (1, 1), 1)
      %1: f32[1,4,1,1] = view(%s, (1, 4, 1, 1))
      %2: f32[4,1,1,1] = view(%s, (4, 1, 1, 1))
      %3: f32[4,3,3,3] = mul(%w, %2)
      %4: f32[2,4,6,6] = convolution(%x, %3, (1, 1), (0, 0), (1, 1), 1)
      return %4
    }

    A result that is read elsewhere too (in training, by the statistics) stays as it is.

    Complexity: linear in the nodes. Source: torch.nn.utils.fusion.fuse_conv_bn_eval.
    """
    uses = Counter(used_values(graph))

    def step(rebuilder: Rebuilder, node: Node) -> Sequence[Value] | None:
        """What stands for a product: the convolution with the factor in its weight, or None."""
        if node.op != "mul":
            return None
        for product, factor in ((node.args[0], node.args[1]), (node.args[1], node.args[0])):
            inner, scale = rebuilder.definition(product), rebuilder.definition(factor)
            if inner is None or scale is None or inner.op != "convolution":
                continue
            vector = _per_channel(inner, scale)
            if vector is None:
                continue
            if not options.fast_math:
                left("scaling the weight instead rounds otherwise; it takes numerics='fast'", node)
            elif uses[inner.results[0]] > 1:
                left("the convolution's result is read elsewhere too", node)
            else:
                return _folded(rebuilder, node, inner, scale, vector)
        return None

    return rebuild(graph, step, lambda inner: fold_batch_norm(inner, options))


def _folded(
    rebuilder: Rebuilder, node: Node, inner: Node, scale: Node, vector: Value
) -> tuple[Value, ...]:
    """The convolution with its weight scaled."""
    note("the scale of the channels goes into the weight", node, changes_bits=True)
    covered = (node, inner, scale)
    weight = inner.args[1]
    shape = (tensor_type(vector).shape[0], *(1,) * (tensor_type(weight).ndim - 1))
    column = rebuilder.add("view", (vector, shape), covered, MADE_BY)
    scaled = rebuilder.add("mul", (weight, column), covered, MADE_BY)
    args = (inner.args[0], scaled, *inner.args[2:])
    return (rebuilder.add("convolution", args, covered, MADE_BY),)


def _per_channel(convolution: Node, scale: Node) -> Value | None:
    """The vector of which a factor is a view with one number for each channel."""
    vector = scale.args[0] if scale.op == "view" else None
    if not isinstance(vector, Value) or tensor_type(vector).ndim != 1:
        return None
    result = tensor_type(convolution.results[0])
    count: Any = result.shape[1]
    expected = (1, count, *(1,) * (result.ndim - 2))
    shape = tensor_type(scale.results[0]).shape
    same = tensor_type(vector).dtype is result.dtype and tensor_type(vector).shape == (count,)
    return vector if same and shape in (expected, expected[1:]) else None
