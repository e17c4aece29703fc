"""The backward for outputs of which some get no gradient.

In: a backward graph and which of its tangents are not there. Out: the backward of the others. A
backward is linear in its tangents, so what depends on missing ones alone is zero and goes; a zero
beside something that is there becomes a tensor of zeros. Handing in zeros instead would compute
more, and 0 times infinity on the way would be nan where eager has computed nothing.

    %2 = mul(%tangent0, %saved0)
    %3 = mul(%tangent1, %saved1)      without %tangent1:    %2 = mul(%tangent0, %saved0)
    %4 = add(%2, %3)                                        %3 = full(...)
    return %4, %3                                           %4 = add(%2, %3)   return %4, None

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
        operands = [value for value in values_in(node.args) if value in linear]
        if operands:
            linear.update(node.results)
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
    outputs = tuple(Output(None) if _is_zero(o, zeros) else o for o in graph.outputs)
    shorter = replace(graph, inputs=inputs, nodes=tuple(nodes), outputs=outputs)
    return eliminate_dead_code(renumbered(shorter), DEFAULT)


def _is_zero(output: Output, zeros: set[Value]) -> bool:
    return isinstance(output.argument, Value) and output.argument in zeros


def _zeros(value: Value, origin: Origin | None) -> Node:
    """A call that fills a tensor of a value's type with zeros."""
    type = value.type
    assert isinstance(type, TensorType)
    args = complete_arguments(lookup("full"), (type.shape, 0, type.dtype, str(type.device)))
    return Node("full", args, (Value(f"zero_{value.id}", type),), True, origin)
