"""View nodes as index maps: a view costs no loop and no memory inside kernels.

In: a view node. Out: a View, by asking the row's own `view` rule for the layout of the view on a
row-major base: its strides and offset are positions in the base.

    %1: f32[3,2] = transpose(%0: f32[2,3], 0, 1)     %1[i, j] is element i + 3*j of %0: %0[j, i]

Source: the layouts are those of `minitorch2/layouts.py`, symbolic sizes included.
"""

from minitorch2.jit.ir.graph import Node, Value
from minitorch2.jit.ir.inference import _lift
from minitorch2.jit.shapes.environment import ShapeEnvironment
from minitorch2.jit.shapes.symbolic_size import as_size
from minitorch2.kernels.lower.nests import NotLowered, View, size_index
from minitorch2.layouts import contiguous
from minitorch2.ops.table import Op


def lower_view(node: Node, op: Op, environment: ShapeEnvironment) -> View:
    """The index map of a view node."""
    base = node.args[0]
    assert isinstance(base, Value) and op.view is not None
    operands = tuple(a.type if isinstance(a, Value) else a for a in node.args)
    lifted = tuple(_lift(operand, environment) for operand in operands)
    layout = op.view(contiguous(tuple(lifted[0].shape)), *lifted[1:])
    after = node.args[1] if op.name == "after" else None
    if after is None and any(isinstance(argument, Value) for argument in node.args[1:]):
        raise NotLowered("the view depends on a number known only when the graph runs")
    strides = tuple(size_index(as_size(stride)) for stride in layout.strides)
    assert after is None or isinstance(after, Value)
    offset = size_index(as_size(layout.offset))
    return View(node, node.results[0], base, strides, offset, after)
