"""Views that change nothing go, views of views become one."""

import pytest

from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.verify import verify
from minitorch2.jit.passes.eliminate_dead_code import eliminate_dead_code
from minitorch2.jit.passes.options import DEFAULT
from minitorch2.jit.passes.simplify_views import simplify_views
from tests.jit.passes.checking import same_numbers


def simplified(body):
    """The calls that are left when `body` computes %9 from %x."""
    graph = parse_graph(f"graph f(%x: f32[s0,4,3]) {{\n{body}\nreturn %9 }}")
    after = eliminate_dead_code(simplify_views(graph, DEFAULT), DEFAULT)
    verify(after)
    same_numbers(graph, after)
    return [str(node).split(" = ")[-1] for node in after.nodes]


@pytest.mark.parametrize(
    "call",
    [
        "view(%x, (s0, 4, 3))",
        "view(%x, (-1, 4, 3))",
        "expand(%x, (-1, 4, 3))",
        "permute(%x, (0, 1, -1))",
        "transpose(%x, 1, 1)",
        "slice(%x, 1)",
        "slice(%x, 1, 0, 4)",
        "squeeze(%x)",
        "detach(%x)",
        "alias(%x)",
        "clone(%x)",
        "contiguous_copy(%x)",
    ],
)
def test_what_changes_nothing(call):
    body = f"%0: f32[s0,4,3] = {call}\n%9: f32[s0,4,3] = exp(%0)"
    assert simplified(body) == ["exp(%x)"]


@pytest.mark.parametrize(
    "first, second, joined",
    [
        ("f32[3,s0,4] = permute(%x, (2, 0, 1))", "f32[4,3,s0] = permute(%0, (2, 0, 1))",
         "permute(%x, (1, 2, 0))"),
        ("f32[3,4,s0] = transpose(%x, 0, 2)", "f32[3,s0,4] = transpose(%0, -1, 1)",
         "permute(%x, (2, 0, 1))"),
        ("f32[s0*4,3] = view(%x, (s0*4, 3))", "f32[s0,12] = view(%0, (s0, 12))",
         "view(%x, (s0, 12))"),
        ("f32[s0,1,4,3] = unsqueeze(%x, 1)", "f32[s0,1,12] = view(%0, (s0, 1, 12))",
         "view(%x, (s0, 1, 12))"),
        ("f32[2,s0,4,3] = expand(%x, (2, -1, -1, -1))",
         "f32[5,2,s0,4,3] = expand(%0, (5, 2, s0, 4, 3))", "expand(%x, (5, 2, s0, 4, 3))"),
        ("f32[s0,3,3] = slice(%x, 1, 1)", "f32[s0,1,3] = slice(%0, -2, 1, 2)",
         "slice(%x, 1, 2, 3)"),
        ("f32[s0,2,3] = slice(%x, 1, 0, None, 2)", "f32[s0,1,3] = slice(%0, 1, 1)",
         "slice(%x, 1, 2, 3, 2)"),
        ("f32[s0,2,3] = slice(%x, 1, -2)", "f32[s0,0,3] = slice(%0, 1, 5)",
         "slice(%x, 1, 4, 4)"),
    ],
)  # fmt: skip
def test_two_views_become_one(first, second, joined):
    type = second.split(" = ")[0]
    body = f"%0: {first}\n%1: {second}\n%9: {type} = exp(%1)"
    assert simplified(body) == [joined, "exp(%0)"]


def test_there_and_back_is_nothing():
    body = """%0: f32[3,4,s0] = transpose(%x, 0, 2)
    %1: f32[s0,4,3] = transpose(%0, 2, 0)
    %2: f32[s0,1,4,3] = unsqueeze(%1, 1)
    %3: f32[s0,4,3] = squeeze(%2, (1,))
    %9: f32[s0,4,3] = exp(%3)"""
    assert simplified(body) == ["exp(%x)"]


def test_symbolic_slices_are_left_alone():
    body = """%0: f32[s0-1,4,3] = slice(%x, 0, 1)
    %1: f32[s0-2,4,3] = slice(%0, 0, 1)
    %9: f32[s0-2,4,3] = exp(%1)"""
    assert len(simplified(body)) == 3


def test_a_returned_copy_stays_a_tensor_of_its_own():
    text = "graph f(%x: f32[4]) { %0: f32[4] = clone(%x) return %0 }"
    graph = parse_graph(text)
    assert len(simplify_views(graph, DEFAULT).nodes) == 1
    with_layout = parse_graph(text.replace("return %0", "return %0: strides(1)"))
    assert len(simplify_views(with_layout, DEFAULT).nodes) == 0


def test_a_graph_that_writes_is_left_alone():
    text = """graph f(%x: f32[4]) {
      %0: f32[4] = clone(%x)
      %1: f32[4] = copy_(%x, %0)
      return %0: strides(1)
    }"""
    graph = parse_graph(text)
    assert simplify_views(graph, DEFAULT) is graph
