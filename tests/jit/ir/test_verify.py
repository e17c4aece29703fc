"""Each rule of the IR, broken once: messages name the value, both types and the lines around."""

import dataclasses

import pytest
from hypothesis import HealthCheck, given, settings

from minitorch2 import dtypes
from minitorch2.errors import VerificationError
from minitorch2.jit.ir.graph import Graph, Node, Output, Value
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.ir.verify import has_only_primitives, is_functional, verify
from tests.jit.ir.graphs import graphs

GOOD = """\
graph f(%x: f32[s0,4], %w: f32[4,4] strides(1,4), %n: int(s1)) {
  where s0>=2
  %0: f32[s0,4] = matmul(%x, %w)
  %1: f32[s0,4] = gelu(%0, approximate='tanh')
  %2: f32[s0*4] = view(%1, (s0*4,))
  %3: f32[s1] = full((s1,), 1.0)
  return %2: strides(1), %x: alias(%x, 0), %3
  writes (%x <- %1)
}"""


def wrong(text):
    with pytest.raises(VerificationError) as raised:
        verify(parse_graph(text) if isinstance(text, str) else text)
    return str(raised.value)


def test_a_good_graph_passes():
    verify(parse_graph(GOOD))


def test_a_type_that_disagrees_with_the_row():
    message = wrong(GOOD.replace("%1: f32[s0,4] =", "%1: f64[s0,4] ="))
    assert "%1 declares f64[s0,4], infer says f32[s0,4]" in message
    assert "  > " in message and "gelu(%0, approximate='tanh')" in message
    assert "graph f(%x" in message and "writes (%x <- %1)" in message


def test_the_lines_around_are_about_ten():
    lines = "\n".join(f"  %{i}: f32[4] = exp(%{i - 1 if i else 'x'})" for i in range(30))
    message = wrong(f"graph f(%x: f32[4]) {{\n{lines}\n  %30: f32[5] = exp(%29)\n  return %30\n}}")
    shown = [line for line in message.splitlines() if "exp" in line and "%" in line]
    assert 5 <= len(shown) <= 11 and "  >   %30" in message


@pytest.mark.parametrize(
    "old, new, expected",
    [
        ("matmul(%x, %w)", "matmul(%w, %x)", "its row refuses the operands"),
        ("%0: f32[s0,4] = ", "%0: f32[s0,4], %9: f32[] = ", "has 2 results, infer says 1"),
        ("view(%1, (s0*4,))", "view(%1, (s0*2,))", "its row refuses the operands"),
        ("full((s1,), 1.0)", "full((s7,), 1.0)", "mentions s7, which no input has"),
        ("%2: strides(1)", "%2: strides(1,1)", "has 2 strides"),
        ("strides(1,4)", "strides(1)", "has 1 strides"),
        ("%2: strides(1)", "3: strides(1)", "a constant output has strides"),
        ("(%x <- %1)", "(%w <- %1)", "%1 of type f32[s0,4] is written into %w: f32[4,4]"),
        ("(%x <- %1)", "(%x <- %1, %x <- %0)", "written twice"),
        ("alias(%x, 0)", "alias(%x, s9)", "mentions s9"),
        ("where s0>=2", "where s8>=2", "mentions s8"),
    ],
)
def test_mistakes_in_text(old, new, expected):
    assert old in GOOD
    assert expected in wrong(GOOD.replace(old, new))


@pytest.mark.parametrize(
    "call, shown",
    [
        ("exp('a')", "'a' is given for `Operand self`"),
        ("matmul(%x, 1)", "1 is given for `Tensor other`"),
        ("sum(%x, (1.5,))", "(1.5,) is given for `int[]? dim`"),
        ("sum(%x, dtype='f32')", "'f32' is given for `dtype? dtype`"),
        ("cat((%x, 1))", "(%x, 1) is given for `Tensor[] tensors`"),
        ("add(%x, None)", "None is given for `Operand other`"),
        ("select(%x, 0, 1.0)", "1.0 is given for `int index`"),
        ("gelu(%x, approximate=1)", "1 is given for `str approximate`"),
    ],
)
def test_arguments_of_the_wrong_kind(call, shown):
    message = wrong(f"graph f(%x: f32[4]) {{ %0: f32[4] = {call} return %0 }}")
    assert shown in message and "the signature is" in message


def test_mistakes_that_text_cannot_have():
    graph = parse_graph(GOOD)
    first, *rest = graph.nodes
    result = first.results[0]
    changed = {
        "has no Origin": dataclasses.replace(first, origin=None),
        "no op named": dataclasses.replace(first, op="no_such_op"),
        "2 parameters, the node 1 arguments": dataclasses.replace(first, args=first.args[:1]),
        "an argument is a list": dataclasses.replace(first, args=([1], first.args[1])),
        "is used before it is defined": dataclasses.replace(first, args=(result, first.args[1])),
    }
    for expected, node in changed.items():
        assert expected in wrong(dataclasses.replace(graph, nodes=(node, *rest)))
    doubled = dataclasses.replace(graph, nodes=(first, first, *rest))
    assert "defined twice" in wrong(doubled)
    other = Value(result.id, TensorType(dtypes.float32, (4,)))
    assert "is defined as f32[s0,4] and used as f32[4]" in wrong(
        dataclasses.replace(graph, outputs=(Output(other),))
    )
    assert "is no name" in wrong(dataclasses.replace(graph, name="a b"))
    assert "there is no such input" in wrong(
        dataclasses.replace(graph, outputs=(Output(result, None, (7, 0)),))
    )


def test_graphs_among_the_arguments_are_checked(choose):
    text = """
    graph f(%p: bool[], %x: f32[s0]) {
      %0: f32[s0] = choose(%p, graph yes(%a: f32[s0]) {
        %0: f32[s0] = add(%a, s0)
        return %0
      }, graph no(%a: f32[s0]) { return %a }, (%x,))
      return %0
    }"""
    verify(parse_graph(text))
    assert "%0 declares f64[s0]" in wrong(
        text.replace("%0: f32[s0] = add(%a", "%0: f64[s0] = add(%a")
    )
    assert "it takes (f32[4]), given are (f32[s0])" in wrong(
        text.replace("yes(%a: f32[s0]) {\n        %0: f32[s0]", "yes(%a: f32[4]) {\n %0: f32[4]")
    )


def test_assumptions_decide_what_the_rows_ask():
    text = """
    graph f(%x: f32[s0]) {
      where s0%2==0
      %0: f32[2,s0//2] = view(%x, (2, s0//2))
      return %0
    }"""
    verify(parse_graph(text))
    assert "refuses the operands" in wrong(text.replace("where s0%2==0", ""))


def test_predicates():
    functional = parse_graph("graph f(%x: f32[4]) { %0: f32[4] = exp(%x) return %0 }")
    assert is_functional(functional) and has_only_primitives(functional)
    writing = parse_graph(
        "graph f(%x: f32[4]) { %0: f32[4] = copy_(%x, %x) %1: f32[4] = relu_(%x) return }"
    )
    assert not is_functional(writing) and not has_only_primitives(writing)
    verify(writing)


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(graphs())
def test_random_graphs_fail_only_with_words(graph):
    """Whatever is wrong with a graph, the verifier says so and does not fall over."""
    try:
        verify(graph)
    except VerificationError:
        pass


def test_a_node_that_is_only_an_effect_is_allowed():
    graph = parse_graph("graph f(%x: f32[4]) { %0: f32[4] = copy_(%x, %x) return }")
    node = graph.nodes[0]
    assert isinstance(node, Node) and isinstance(graph, Graph)
    assert "has 0 results, infer says 1" in wrong(
        dataclasses.replace(graph, nodes=(dataclasses.replace(node, results=()),))
    )
