"""The backward for outputs of which some get no gradient.

In: a backward graph and which of its tangents are not there. Out: the backward of the others. A
backward is linear in its tangents, so what depends on missing ones alone is zero and goes, and so
does its sum with something that is there, which is that thing; beside it in any other operation a
zero becomes a tensor of zeros. Handing in zeros instead would compute more, 0 times infinity on the
way would be nan where eager has computed nothing, and a sum with 0 loses the sign of -0.

    %2 = mul(%tangent0, %saved0)
    %3 = mul(%tangent1, %saved1)      without %tangent1:    %2 = mul(%tangent0, %saved0)
    %4 = add(%2, %3)                                        %3 = full(...)
    %5 = where(%saved2, %4, %3)                             %5 = where(%saved2, %2, %3)
    return %4, %3, %5                                       return %2, None, %5

Source: JAX's symbolic zeros.
"""

from dataclasses import replace

from minitorch2.artifacts import Origin
from minitorch2.jit.ir.graph import (
    Argument,
    Graph,
    Node,
    Output,
    Value,
    complete_arguments,
    renamed_args,
    renumbered,
    values_in,
)
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.passes.eliminate_dead_code import eliminate_dead_code
from minitorch2.jit.passes.options import DEFAULT
from minitorch2.ops.table import lookup


def without_tangents(graph: Graph, first: int, count: int, missing: frozenset[int]) -> Graph:
    """A backward graph whose `count` tangents start at input `first`, without the missing ones."""
    tangents = [declared.value for declared in graph.inputs[first : first + count]]
    zeros = {tangents[place] for place in missing}
    linear, nodes = set(tangents), []
    filled: dict[Value, Argument] = {}
    for node in graph.nodes:
        # `after` has its first operand's value, and only waits for the other
        read = node.args[:1] if node.op == "after" else node.args
        operands = [value for value in values_in(read) if value in linear]
        if operands:
            linear.update(node.results)
        if node.op == "sub" and _is_taken_from_zero(node, zeros):
            node = replace(node, op="neg", args=node.args[1:2])
            operands = [value for value in operands if value in node.args]
        other = _other_term(node, zeros) if node.op in ("add", "sub") else _unwaiting(node, zeros)
        if other is not None:
            filled[node.results[0]] = filled.get(other, other)
            continue
        if operands and zeros.issuperset(operands):
            zeros.update(node.results)
            continue
        for value in operands:
            if value in zeros and value not in filled:
                zero = _zeros(value, node.origin)
                filled[value] = zero.results[0]
                nodes.append(zero)
        nodes.append(replace(node, args=renamed_args(node.args, filled)))
    inputs = tuple(i for i in graph.inputs if i.value not in tangents or i.value not in zeros)
    outputs = tuple(
        Output(None) if _is_zero(o, zeros) else replace(o, argument=_named(o.argument, filled))
        for o in graph.outputs
    )
    shorter = replace(graph, inputs=inputs, nodes=tuple(nodes), outputs=outputs)
    return eliminate_dead_code(renumbered(shorter), DEFAULT)


def _is_taken_from_zero(node: Node, zeros: set[Value]) -> bool:
    """Whether a difference is what it takes away, with another sign."""
    zero, other, factor = node.args
    plain = factor == 1 and isinstance(other, Value) and other.type == node.results[0].type
    return plain and zero in zeros and other not in zeros


def _other_term(node: Node, zeros: set[Value]) -> Value | None:
    """What a node adds a zero to or takes one from, where the result is the same value."""
    if node.args[2] != 1:
        return None
    pairs = (node.args[1::-1], node.args[:2])  # of each the zero, the other one
    for zero, other in pairs if node.op == "add" else pairs[:1]:
        if zero not in zeros or not isinstance(other, Value) or other in zeros:
            continue
        if other.type == node.results[0].type:
            return other
    return None


def _unwaiting(node: Node, zeros: set[Value]) -> Value | None:
    """The value of a node that waits for what is not computed any more."""
    if node.op != "after" or node.args[1] not in zeros or node.args[0] in zeros:
        return None
    value = node.args[0]
    return value if isinstance(value, Value) else None


def _named(argument: Argument, names: dict[Value, Argument]) -> Argument:
    (renamed,) = renamed_args((argument,), names)
    return renamed


def _is_zero(output: Output, zeros: set[Value]) -> bool:
    return isinstance(output.argument, Value) and output.argument in zeros


def _zeros(value: Value, origin: Origin | None) -> Node:
    """A call that fills a tensor of a value's type with zeros."""
    type = value.type
    assert isinstance(type, TensorType)
    args = complete_arguments(lookup("full"), (type.shape, 0, type.dtype, str(type.device)))
    return Node("full", args, (Value(f"zero_{value.id}", type),), True, origin)
