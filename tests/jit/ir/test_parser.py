"""Text to graph and back; what the grammar refuses, and how it says so."""

import math

import pytest
from hypothesis import HealthCheck, given, settings

from minitorch2 import dtypes
from minitorch2.artifacts import Origin, Span
from minitorch2.errors import ParseError
from minitorch2.jit.ir.graph import Graph
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.printer import print_graph
from tests.jit.ir.graphs import graphs


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(graphs())
def test_every_graph_prints_and_parses_back(graph):
    text = print_graph(graph)
    assert parse_graph(text) == graph
    assert print_graph(parse_graph(text)) == text


CANONICAL = """\
graph step.1(%x: f32[s0,4] strides(1,s0), %w: bf16[4,max(s1,2)]@cuda:0, %n: int(s2), %p: float) {
  where s0>=2, s0%8==0
  %0: f32[s0,4] = add(%x, 2.0, alpha=-inf)
  %1: f32[s0*4] = view(%0, (s0*4,)) no_grad
  %2: f32[s0*4], %3: i64[s0*4] = sort(%1, descending=True)
  copy_(%x, %0)
  %4: f32[s0,4] = convert(%0, f32)
  return %1: strides(1), %x: alias(%x, s0+1) strides(4,1), (%4, None, 'a#b', nan, -0.0, s0//2, ())
  writes (%x <- %0, %w <- %4)
}"""


def test_the_whole_grammar():
    graph = parse_graph(CANONICAL)
    assert str(graph) == CANONICAL
    assert graph.nodes[0].args[1:] == (2.0, -math.inf)
    assert not graph.nodes[1].grad
    assert graph.nodes[3].results == ()
    assert graph.nodes[4].args[1] is dtypes.float32
    assert graph.writes == ((0, graph.nodes[0].results[0]), (1, graph.nodes[4].results[0]))


NESTED = """\
graph f(%p: bool[], %x: f32[s0]) {
  %0: f32[s0] = choose(%p, graph yes(%a: f32[s0]) {
    %0: f32[s0] = exp(%a)
    return %0
  }, graph no(%a: f32[s0]) {
    return %a
  }, (%x,))
  return %0
}"""


def test_graphs_are_arguments(choose):
    graph = parse_graph(NESTED)
    assert str(graph) == NESTED
    assert all(isinstance(argument, Graph) for argument in graph.nodes[0].args[1:3])


def test_layout_and_comments_do_not_count():
    loose = "graph f( %x:f32[ 4 ] ){ # a comment\n%7 :f32[4]=exp(\n%x, ) # exp\nreturn %7,}"
    assert parse_graph(loose).nodes[0].op == "exp"


def test_the_origin_is_the_line():
    graph = parse_graph("graph f(%x: f32[4]) {\n\n  %0: f32[4] = exp(%x)\n  return %0\n}")
    assert graph.nodes[0].origin == Origin((Span("<text>", 3, 3),))


@pytest.mark.parametrize(
    "body, wrong",
    [
        ("%0: f32[4] = exp(%y) return %0", "the value %y is used before it is defined"),
        ("%x: f32[4] = exp(%x) return %x", "the value %x is defined twice"),
        ("%0: f32[4] = exq(%x) return %0", "no op named 'exq'; nearest: "),
        ("%0: f32[4] = exp() return %0", "argument 'self' is missing"),
        ("%0: f32[4] = exp(%x, %x) return %0", "1 more than it has parameters"),
        ("%0: f32[4] = add(%x, 1, beta=2) return %0", "unexpected arguments: beta"),
        ("%0: f32[4] = add(other=%x, %x) return %0", "without a name follows one with a name"),
        ("%0: f33[4] = exp(%x) return %0", "no type is named 'f33'"),
        ("%0: f32[4]@tpu = exp(%x) return %0", "device type at start of device string: tpu"),
        ("%0: f32[n] = exp(%x) return %0", "`n` is not allowed in a size"),
        ("%0: f32[4] exp(%x) return %0", "expected '=', found 'exp'"),
        ("return %x: alias(%y, 0)", "%y is not an input"),
        ("return %x } trailing", "goes on after the graph's closing brace"),
        ("where 2 > 1\n return %x", "a condition without symbols"),
        ("return $", "no token starts with '$'"),
        ("return %x", "expected '}', found 'the end'"),
    ],
)
def test_refusals_name_line_and_reason(body, wrong):
    closing = "" if body == "return %x" else "\n}"
    with pytest.raises(ParseError) as raised:
        parse_graph(f"graph f(%x: f32[4]) {{\n  {body}{closing}")
    assert wrong in str(raised.value)
    assert "of the graph's text" in str(raised.value)
