"""Random graphs for the property tests, and a row that calls graphs.

`graphs()` draws graphs that follow the grammar; their types need not be what the rows infer.
"""

import math

from hypothesis import strategies as st

from minitorch2 import dtypes
from minitorch2.artifacts import Origin
from minitorch2.devices import device
from minitorch2.jit.ir.graph import Graph, Input, Node, Output, Value
from minitorch2.jit.ir.types import SCALAR_KINDS, ScalarType, TensorType
from minitorch2.jit.shapes.conditions import SizeCondition, compare
from minitorch2.ops.table import all_ops
from tests.jit.shapes.expressions import pairs

SIZES = st.one_of(st.integers(0, 9), pairs().map(lambda pair: pair[0]))
SHAPES = st.lists(SIZES, max_size=3).map(tuple)
DEVICES = st.sampled_from([device("cpu"), device("cuda"), device("cuda", 1), device("meta")])
TENSOR_TYPES = st.builds(TensorType, st.sampled_from(dtypes.ALL), SHAPES, DEVICES)
SCALAR_TYPES = st.builds(ScalarType, st.sampled_from(SCALAR_KINDS), st.none() | SIZES)
TYPES = st.one_of(TENSOR_TYPES, SCALAR_TYPES)
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}(\.[A-Za-z0-9_]{1,4})?", fullmatch=True)
LITERALS = st.one_of(
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 1e-310]),
    st.booleans(),
    st.none(),
    st.text(max_size=5),
    st.sampled_from(dtypes.ALL),
    pairs().map(lambda pair: pair[0]),
)
CONDITIONS = (
    st.tuples(pairs(), pairs())
    .map(lambda both: compare("<=", both[0][0], both[1][0]))
    .filter(lambda condition: isinstance(condition, SizeCondition))
)


@st.composite
def graphs(draw, depth=1):
    """A graph with up to three inputs and nodes; nodes of the outer one may hold graphs."""
    names = draw(st.lists(NAMES, max_size=3, unique=True))
    values = [Value(name, draw(TYPES)) for name in names]
    strides = st.none() | st.lists(SIZES, max_size=3).map(tuple)
    inputs = tuple(Input(value, draw(strides)) for value in values)
    nodes = []
    for _ in range(draw(st.integers(0, 3))):
        node = draw(_nodes(values, depth))
        nodes.append(node)
        values.extend(node.results)
    alias = st.none()
    if inputs:
        alias |= st.tuples(st.integers(0, len(inputs) - 1), SIZES)
    outputs = st.builds(Output, _arguments(values, depth), strides, alias)
    written = draw(st.lists(st.integers(0, len(inputs) - 1), unique=True)) if inputs else []
    return Graph(
        draw(NAMES),
        inputs,
        tuple(nodes),
        tuple(draw(st.lists(outputs, max_size=3))),
        tuple((index, draw(st.sampled_from(values))) for index in written),
        tuple(draw(st.lists(CONDITIONS, max_size=2))),
    )


@st.composite
def _nodes(draw, values, depth):
    op = draw(st.sampled_from(all_ops()))
    args = []
    for parameter in op.signature.parameters:
        argument = draw(_arguments(values, depth))
        is_size = isinstance(argument, int) or hasattr(argument, "terms")
        args.append((argument,) if parameter.type == "int[]" and is_size else argument)
    types = draw(st.lists(TYPES, max_size=2))
    first = sum(value.id.isdigit() for value in values)
    results = tuple(Value(f"{first + index}", type) for index, type in enumerate(types))
    return Node(op.name, tuple(args), results, draw(st.booleans()), Origin())


def _arguments(values, depth):
    choices = [LITERALS]
    if values:
        choices.append(st.sampled_from(values))
    if depth:
        choices.append(graphs(depth - 1))
    return st.recursive(
        st.one_of(choices), lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=3
    )
