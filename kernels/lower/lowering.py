"""A functional graph as a list of loop nests, views, products and host steps, in program order.

In: a Graph of primitives. Out: one Lowered record for each result. Pointwise, reduction and view
rows are lowered by their kind, from the row itself; the others by a rule of their name. What has
no rule becomes a HostStep with the reason, and runs eagerly between the kernels.

Source: the rule tables follow JAX autodidax; nothing here repeats what an op row says.
"""

from minitorch2.errors import Mt2Error
from minitorch2.jit.ir.examples import environment_of
from minitorch2.jit.ir.graph import Graph, Node, values_in
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.shapes.environment import ShapeEnvironment
from minitorch2.kernels.lower.creation import CREATION_RULES, RANDOM_RULES
from minitorch2.kernels.lower.gathers import GATHER_RULES
from minitorch2.kernels.lower.nests import HostStep, Lowered, NotLowered, Product
from minitorch2.kernels.lower.pointwise import lower_pointwise
from minitorch2.kernels.lower.reductions import lower_reduction
from minitorch2.kernels.lower.views import lower_view
from minitorch2.ops.table import POINTWISE, PRODUCT, REDUCTION, VIEW, Op, all_ops, lookup

RULES = GATHER_RULES | CREATION_RULES | RANDOM_RULES
PRODUCT_RULES = ("matmul",)

NUMPYS = ("pow", "atan2")  # functions of kernels that eager does not take from vecmath

# Ops of the other kinds, and why kernels leave them to their eager rule.
HOST_REASONS = {
    "sort": "sorting is numpy's",
    "nonzero": "the size of its result is not known before it runs",
    "diagonal_scatter": "a partial write at a diagonal has no loop nest yet",
    "as_strided": "its strides are those of the memory, which values do not have",
    "as_strided_scatter": "its strides are those of the memory, which values do not have",
    "as_strided_add": "its strides are those of the memory, which values do not have",
} | {op.name: op.host for op in all_ops() if op.host}


def lower_graph(graph: Graph, exact: bool = False) -> tuple[Lowered, ...]:
    """The lowered form of every node, in order; `exact`: with eager's bits."""
    environment = environment_of(graph)
    return tuple(lower_node(node, environment, exact) for node in graph.nodes)


def lower_node(node: Node, environment: ShapeEnvironment, exact: bool = False) -> Lowered:
    """The lowered form of one node."""
    op = lookup(node.op)
    if exact and (reason := _inexact(op)):
        return HostStep(node, f"numerics='eager': {reason}")
    try:
        unknown = _unknown(node, op)
        if unknown:
            return HostStep(node, unknown)
        if op.kind == POINTWISE:
            return lower_pointwise(node, op)
        if op.kind == REDUCTION:
            return lower_reduction(node, op)
        if op.kind == VIEW:
            return lower_view(node, op, environment)
        if op.kind == PRODUCT:
            return Product(node, node.results[0])
        return RULES[op.name](node)
    except NotLowered as reason:
        return HostStep(node, str(reason))
    except Mt2Error as reason:
        return HostStep(node, f"its rule refused: {reason.asked}")


def _inexact(op: Op) -> str:
    """Why a kernel would give other bits than eager does; empty if it would not."""
    if op.kind in (REDUCTION, PRODUCT):
        return "the order of summation is eager's"
    if op.kind == POINTWISE and any(f"{name}(" in op.expr for name in NUMPYS):
        return "eager leaves this function to numpy"
    return ""


def _unknown(node: Node, op: Op) -> str:
    """Why a node cannot have a kernel whatever its arguments are; empty if it can."""
    if op.name in HOST_REASONS:
        return HOST_REASONS[op.name]
    if op.kind == PRODUCT and op.name not in PRODUCT_RULES:
        return f"no library call is known for {op.name}"
    if op.kind not in (POINTWISE, REDUCTION, VIEW, PRODUCT) and op.name not in RULES:
        return f"no lowering rule for {op.kind} op {op.name}"
    if len(node.results) != 1 or not isinstance(node.results[0].type, TensorType):
        return "it has several results, or none that is a tensor"
    if op.element is not None:
        return "it shows its memory as elements of another dtype"
    for value in (*values_in(node.args), *node.results):
        if not isinstance(value.type, TensorType):
            continue
        if op.kind != VIEW and value.type.dtype.is_complex:
            return "kernels move complex numbers, and leave computing with them to numpy"
        if op.kind != VIEW and value.type.dtype.is_stored_only:
            return "kernels move numbers of eight bits, and leave converting them to numpy"
        if value.type.device.type != "cpu":
            return f"it works on {value.type.device}"
        if any(size == 0 for size in value.type.shape):
            return "a tensor without elements"
    return ""
