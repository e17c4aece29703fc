"""What nobody uses goes, what acts on the world stays."""

import pytest

from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.passes.eliminate_dead_code import eliminate_dead_code
from minitorch2.jit.passes.options import DEFAULT
from tests.jit.passes.checking import check


def left(body):
    graph = parse_graph(f"graph f(%x: f32[4], %i: i64[4]) {{\n{body}\n}}")
    return [node.op for node in eliminate_dead_code(graph, DEFAULT).nodes]


def test_chains_of_unused_nodes_go():
    check(
        eliminate_dead_code,
        """graph f(%x: f32[s0]) {
          %0: f32[s0] = exp(%x)
          %1: f32[s0] = neg(%x)
          %2: f32[s0] = exp(%1)
          %3: f32[s0], %4: i64[s0] = sort(%0)
          return %4
        }""",
        """graph f(%x: f32[s0]) {
          %0: f32[s0] = exp(%x)
          %1: f32[s0], %2: i64[s0] = sort(%0)
          return %2
        }""",
    )


def test_what_is_written_is_used():
    check(
        eliminate_dead_code,
        """graph f(%x: f32[s0]) {
          %0: f32[s0] = exp(%x)
          %1: f32[s0] = neg(%x)
          return
          writes (%x <- %1)
        }""",
        """graph f(%x: f32[s0]) {
          %0: f32[s0] = neg(%x)
          return
          writes (%x <- %0)
        }""",
    )


@pytest.mark.parametrize(
    "node, kept",
    [
        ("%0: f32[4] = copy_(%x, %x)", True),
        ("%0: f32[4] = exp_(%x)", True),
        ("%0: f32[4] = rand((4,))", True),
        ("%0: f32[4] = dropout(%x)", True),
        ("%0: f32[4] = uniform(1, 2, (4,), f32)", False),
        ("%0: i64[4] = floor_divide(%i, %i)", True),
        ("%0: f32[4] = floor_divide(%x, %x)", False),
        ("%0: f32[4] = gather(%x, 0, %i)", True),
        ("%0: f32[4] = exp(%x)", False),
    ],
)
def test_effects_are_kept(node, kept):
    assert (left(f"{node} return") != []) == kept


def test_graphs_among_the_arguments(choose):
    text = """graph f(%p: bool[], %x: f32[4]) {
      %0: f32[4] = choose(%p, graph yes(%a: f32[4]) {
        %0: f32[4] = exp(%a)
        %1: f32[4] = neg(%a)
        return %1
      }, graph no(%a: f32[4]) { return %a }, (%x,))
      return %0
    }"""
    assert "exp" not in str(eliminate_dead_code(parse_graph(text), DEFAULT))
