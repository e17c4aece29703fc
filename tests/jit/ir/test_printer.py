"""What the printed form leaves out and what it keeps."""

import pytest

from minitorch2.artifacts import Origin, Span
from minitorch2.jit.ir.graph import Graph, Node, Value
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.printer import argument_text, node_text, print_graph
from minitorch2.jit.ir.types import ScalarType


@pytest.mark.parametrize(
    "call",
    [
        "add(%x, 1)",
        "add(%x, True)",
        "add(%x, 1, alpha=1.0)",
        "add(%x, 1, alpha=True)",
        "sum(%x, keepdim=True)",
        "sum(%x, (0,), dtype=f64)",
        "sort(%x, stable=True)",
        "gelu(%x, approximate='tanh')",
    ],
)
def test_defaults_are_left_out_and_nothing_else(call):
    graph = parse_graph(f"graph f(%x: f32[4]) {{ %0: f32[4] = {call} return %0 }}")
    assert node_text(graph.nodes[0]).endswith(f"= {call}")


def test_origins_stand_in_a_column_of_their_own():
    text = "graph f(%x: f32[4]) { %0: f32[4] = exp(%x)\n %1: f32[4] = add(%0, 1) return %1 }"
    graph = parse_graph(text)
    assert print_graph(graph, origins=True).splitlines()[1:3] == [
        "  %0: f32[4] = exp(%x)     # <text>:1",
        "  %1: f32[4] = add(%0, 1)  # <text>:2",
    ]
    assert parse_graph(print_graph(graph, origins=True)) == graph


def test_paths_are_not_absolute():
    origin = Origin((Span("/home/user/train.py", 12),))
    node = Node("exp", (1.0,), (Value("0", ScalarType("float")),), True, origin)
    assert "train.py:12" in print_graph(Graph("f", (), (node,), ()), origins=True)
    assert "/home" not in print_graph(Graph("f", (), (node,), ()), origins=True)


def test_unknown_ops_print_all_their_arguments():
    assert str(Node("no_such_op", (1, "a", None), ())) == "no_such_op(1, 'a', None)"


def test_empty_and_single_tuples():
    assert argument_text(()) == "()"
    assert argument_text((1,)) == "(1,)"
    assert argument_text(((), (2.5, None))) == "((), (2.5, None))"
