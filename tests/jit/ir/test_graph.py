"""The data of a graph, and the builder."""

import dataclasses

import pytest

from minitorch2 import dtypes
from minitorch2.artifacts import Origin, Span
from minitorch2.devices import device
from minitorch2.dispatch import origin_scope
from minitorch2.errors import ArgumentTypeError, ShapeError
from minitorch2.jit.ir.graph import (
    GraphBuilder,
    Node,
    Output,
    complete_arguments,
    literal_key,
    renumbered,
    used_values,
)
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.shapes.environment import ShapeEnvironment
from minitorch2.ops.table import lookup


def f32(*shape):
    return TensorType(dtypes.float32, shape)


def test_the_builder_infers_types_and_numbers_values():
    builder = GraphBuilder("f")
    x = builder.input("x", f32(3, 4), strides=(1, 3))
    (total,) = builder.add("sum", (x, 1))
    (unused,) = builder.add("exp", (total,), grad=False)
    builder.output(total, strides=(1,))
    builder.output(x, alias=(0, 0))
    builder.write(0, x)
    assert str(builder.build()) == (
        "graph f(%x: f32[3,4] strides(1,3)) {\n"
        "  %0: f32[3] = sum(%x, (1,))\n"
        "  %1: f32[3] = exp(%0) no_grad\n"
        "  return %0: strides(1), %x: alias(%x, 0)\n"
        "  writes (%x <- %x)\n"
        "}"
    )


def test_the_builder_refuses_what_the_row_refuses():
    builder = GraphBuilder("f")
    x, y = builder.input("x", f32(3)), builder.input("y", f32(4))
    with pytest.raises(ShapeError, match=r"add\(f32\[3\], f32\[4\]"):
        builder.add("add", (x, y))


def test_sizes_of_a_trace_become_expressions_and_guards():
    environment = ShapeEnvironment()
    n = environment.new_size(6)
    builder = GraphBuilder("f", environment)
    x = builder.input("x", TensorType(dtypes.float32, (n.expression, 4)))
    y = builder.input("y", TensorType(dtypes.float32, (n.expression * 2,)))
    (flat,) = builder.add("view", (x, (n * 4,)))
    (same,) = builder.add("view", (y, (2, -1)))
    assert str(flat.type) == "f32[s0*4]" and str(same.type) == "f32[2,s0]"
    assert environment.guards == []


def test_multiple_results_and_composites_have_types():
    builder = GraphBuilder("f")
    x = builder.input("x", f32(3, 4))
    values, indices = builder.add("sort", (x,))
    assert str(values.type) == "f32[3,4]" and str(indices.type) == "i64[3,4]"
    (active,) = builder.add("gelu", (x,))
    (mask,) = builder.add("dropout", (x, 0.5, True))
    assert active.type == mask.type == x.type


def test_nodes_take_the_origin_in_force():
    origin = Origin((Span("train.py", 3),))
    builder = GraphBuilder("f")
    x = builder.input("x", f32(3))
    with origin_scope(origin):
        builder.add("exp", (x,))
    builder.add("exp", (x,), Origin((Span("other.py", 1),)))
    assert [str(node.origin) for node in builder.nodes] == ["train.py:3", "other.py:1"]


def test_arguments_become_plain_data():
    op = lookup("full")
    args = complete_arguments(op, ([2, 3], 1.5), {"device": device("cuda", 1)})
    assert args == ((2, 3), 1.5, None, "cuda:1")
    assert complete_arguments(lookup("sum"), (None, 1))[1] == (1,)


def test_wrong_arguments_name_the_signature():
    with pytest.raises(ArgumentTypeError, match=r"exp\(Operand self\).*missing"):
        complete_arguments(lookup("exp"), ())


@pytest.mark.parametrize("left, right", [(1, 1.0), (1, True), (0.0, -0.0), ((0,), (False,))])
def test_literals_that_python_calls_equal_are_not(left, right):
    assert literal_key(left) != literal_key(right)
    assert Node("exp", (left,), ()) != Node("exp", (right,), ())
    assert Output(left) != Output(right)


def test_nan_equals_nan_and_origins_do_not_count():
    first = Node("exp", (float("nan"),), (), origin=Origin(made_by="capture"))
    second = Node("exp", (float("nan"),), (), origin=None)
    assert first == second and hash(first) == hash(second)


def test_graphs_are_immutable():
    graph = parse_graph("graph f(%x: f32[4]) { return %x }")
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.name = "g"


def test_renumbering_starts_at_zero_and_keeps_meaning():
    graph = parse_graph(
        "graph f(%x: f32[4]) { %9: f32[4] = exp(%x) %4: f32[4] = neg(%9) "
        "return %4, (%9, 1) writes (%x <- %4) }"
    )
    assert str(renumbered(graph)) == (
        "graph f(%x: f32[4]) {\n"
        "  %0: f32[4] = exp(%x)\n"
        "  %1: f32[4] = neg(%0)\n"
        "  return %1, (%0, 1)\n"
        "  writes (%x <- %1)\n"
        "}"
    )


def test_uses_include_outputs_and_writes():
    graph = parse_graph(
        "graph f(%x: f32[4]) { %0: f32[4] = exp(%x) return (%0, 1) writes (%x <- %0) }"
    )
    assert [str(value) for value in used_values(graph)] == ["%x", "%0", "%0"]
