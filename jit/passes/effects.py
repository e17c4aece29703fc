"""What running an op does beside returning its results.

In: a node. Out: whether it may be dropped when nobody uses it, and whether two equal ones may
become one. Both follow from the row's `effects`.

- `writes` and `random` (numbers taken from a generator) act on something outside the graph: such a
  node is neither dropped nor merged. `uniform(seed, counter, ...)` gives the same numbers for the
  same arguments and is as pure as `add`.
- `may_fail` raises for some data: a node is not dropped, because eager would have raised; two
  equal ones may merge, because the first raises for both. Arithmetic fails on integers only.
"""

from minitorch2.jit.ir.graph import Node, node_graphs
from minitorch2.jit.ir.types import TensorType
from minitorch2.ops.table import POINTWISE, lookup


def may_drop(node: Node) -> bool:
    """Whether the node may go when its results are not used."""
    return may_merge(node) and not can_fail(node)


def may_merge(node: Node) -> bool:
    """Whether the node always gives the same results for the same arguments, and does no more."""
    row = lookup(node.op)
    return not ({"writes", "random"} & set(row.effects.split()))


def can_fail(node: Node) -> bool:
    """Whether the node may raise, depending on its data."""
    if any(can_fail(inner) for graph in node_graphs(node) for inner in graph.nodes):
        return True
    row = lookup(node.op)
    if "may_fail" not in row.effects.split():
        return False
    type = node.results[0].type if node.results else None
    floating = isinstance(type, TensorType) and type.dtype.is_floating_point
    return not (row.kind == POINTWISE and floating)
