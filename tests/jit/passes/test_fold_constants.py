"""What no input changes is computed, with the bits eager gives."""

import pytest

from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.passes.eliminate_dead_code import eliminate_dead_code
from minitorch2.jit.passes.fold_constants import fold_constants
from minitorch2.jit.passes.options import DEFAULT
from tests.jit.passes.checking import check, same_numbers


def test_calls_on_constants_are_constants():
    check(
        fold_constants,
        """graph f(%x: f32[s0]) {
          %0: f32[s0] = full((s0,), 2.25)
          %1: f32[s0] = sqrt(%0)
          %2: bool[s0] = gt(%1, 1)
          %3: f32[4,s0] = expand(%1, (4, s0))
          %4: i64[4,s0] = convert(%3, i64)
          return %2, %3, %4
        }""",
        """graph f(%x: f32[s0]) {
          %0: f32[s0] = full((s0,), 2.25)
          %1: f32[s0] = full((s0,), 1.5, dtype=f32)
          %2: bool[s0] = full((s0,), True, dtype=bool)
          %3: f32[4,s0] = full((4, s0), 1.5, dtype=f32)
          %4: i64[4,s0] = full((4, s0), 1, dtype=i64)
          return %2, %3, %4
        }""",
    )


def test_constants_rounded_to_their_dtype():
    check(
        fold_constants,
        """graph f(%x: f32[3]) {
          %0: f32[3] = full((3,), 0.1, dtype=f32)
          %1: f32[3] = mul(%x, %0)
          return %1
        }""",
        """graph f(%x: f32[3]) {
          %0: f32[3] = full((3,), 0.1, dtype=f32)
          %1: f32[3] = mul(%x, 0.10000000149011612)
          return %1
        }""",
    )


@pytest.mark.parametrize(
    "nodes",
    [
        # would compute in another dtype
        "%0: f64[] = full((), 0.1, dtype=f64) %1: f32[3] = mul(%x, %0)",
        "%0: f64[3] = full((3,), 0.1, dtype=f64) %1: bool[3] = lt(%x, %0)",
        # would have another shape
        "%0: f32[2,1] = full((2, 1), 2.0) %1: f32[2,3] = add(%x, %0)",
        # are other numbers as elements of another dtype
        "%0: f32[4] = full((4,), -2.0) %1: f64[2] = view_dtype(%0, f64, 4)",
        # takes no number
        "%0: bool[3] = full((3,), True) %1: f32[3] = where(%0, %x, %x)",
        # depends on a size
        "%0: f32[3] = full((3,), s0, dtype=f32) %1: f32[3] = add(%x, %0)",
        # raises when it runs
        "%0: i64[3] = full((3,), 0) %1: i64[3] = floor_divide(1, %0)",
        # is random
        "%0: f32[3] = uniform(1, 2, (3,), f32) %1: f32[3] = exp(%0)",
    ],
)
def test_what_is_left_alone(nodes):
    graph = parse_graph(f"graph f(%x: f32[3], %n: f32[s0]) {{ {nodes} return %1 }}")
    after = fold_constants(graph, DEFAULT)
    if "f64[]" in nodes:
        same_numbers(graph, after)
    else:
        assert str(after) == str(graph)


@pytest.mark.parametrize("value", ["inf", "-inf", "nan", "-0.0", "3"])
def test_special_values_survive(value):
    text = f"""graph f(%x: f32[16]) {{
      %0: f32[16] = full((16,), {value}, dtype=f32)
      %1: f32[16] = neg(%0)
      %2: f32[16] = mul(%x, %1)
      return %1, %2
    }}"""
    graph = parse_graph(text)
    after = eliminate_dead_code(fold_constants(graph, DEFAULT), DEFAULT)
    assert [node.op for node in after.nodes] == ["full", "mul"]
    same_numbers(graph, after)


def test_origins_are_united():
    text = "graph f() {\n%0: f32[3] = full((3,), 2.0)\n%1: f32[3] = exp(%0)\nreturn %1\n}"
    origin = fold_constants(parse_graph(text), DEFAULT).nodes[1].origin
    assert [span.line for span in origin.spans] == [3, 2]
    assert origin.made_by == "pass fold_constants"
