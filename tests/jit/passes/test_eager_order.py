"""What passes leave as it is where sums have to go through memory as eager's do."""

import pytest

from minitorch2.jit.ir.eager_orders import eager_orders
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.passes.canonicalize import canonicalize
from minitorch2.jit.passes.decompose import decompose
from minitorch2.jit.passes.join_slices import join_slices
from minitorch2.jit.passes.options import DEFAULT, PassOptions
from minitorch2.jit.passes.simplify_views import simplify_views
from tests.jit.passes.checking import check

EAGER = PassOptions("eager")
COLUMNS = "%x: f32[4,3] strides(1,4)"
LEFT = {
    canonicalize: f"""graph f(%y: f32[4,3], {COLUMNS}) {{
      %0: f32[4,3] = mul(%x, %y)
      return %0
    }}""",
    simplify_views: f"""graph f({COLUMNS}) {{
      %0: f32[4,3] = contiguous_copy(%x)
      %1: f32[] = sum(%0)
      return %1
    }}""",
    join_slices: f"""graph f({COLUMNS}) {{
      %0: f32[2,3] = slice(%x, 0, 0, 2, 1)
      %1: f32[2,3] = slice(%x, 0, 2, 4, 1)
      %2: f32[4,3] = cat((%0, %1))
      return %2
    }}""",
}


@pytest.mark.parametrize("function", LEFT)
def test_left_under_eager_numerics_only(function):
    check(function, LEFT[function], LEFT[function], EAGER)
    graph = parse_graph(LEFT[function])
    assert str(function(graph, DEFAULT)) != str(graph)


def test_a_number_still_goes_right():
    check(
        canonicalize,
        "graph f(%x: f32[4]) { %0: f32[4] = mul(2.0, %x) return %0 }",
        "graph f(%x: f32[4]) { %0: f32[4] = mul(%x, 2.0) return %0 }",
        EAGER,
    )


def test_steps_that_want_rows_copy_what_lies_by_columns():
    text = "graph f(%x: f32[4,3]{}) {{ %0: f32[4,3] = softmax(%x, 1) return %0 }}"
    for strides, first in (("", "detach"), (" strides(1,4)", "contiguous_copy")):
        graph = parse_graph(text.format(strides))
        assert decompose(graph, EAGER).nodes[0].op == first
        assert decompose(graph, DEFAULT).nodes[0].op == "detach"


ORDERS = {
    "exp(%x)": (1, 0),
    "mul(%y, %x)": None,
    "mul(%x, %y)": (1, 0),
    "clone(%x)": (1, 0),
    "contiguous_copy(%x)": None,
    "matmul(%x, %z)": None,
    "where(%b, %x, %y)": None,
    "cat((%x, %x))": None,
    "slice_scatter(%x, %y, 0, 0, 4, 1)": (1, 0),
    "transpose(%y, 0, 1)": (1, 0),
    "expand(%z, (2, 3, 3))": None,
}


@pytest.mark.parametrize("call", ORDERS)
def test_the_order_of_a_result(call):
    """As eager lays it out: pointwise results as their first operand, gathers in rows."""
    shape = {"cat": "8,3", "transpose": "3,4", "expand": "2,3,3"}.get(call.partition("(")[0], "4,3")
    graph = parse_graph(
        f"graph f({COLUMNS}, %y: f32[4,3], %z: f32[3,3], %b: bool[4,3]) "
        f"{{ %0: f32[{shape}] = {call} return %0 }}"
    )
    assert eager_orders(graph).get(graph.nodes[0].results[0]) == ORDERS[call]


def test_orders_of_symbolic_sizes():
    graph = parse_graph(
        "graph f(%x: f32[s0,s1,8]) { %0: f32[8,s0,s1] = permute(%x, (2, 0, 1)) "
        "%1: f32[8,s0,s1] = exp(%0) return %1 }"
    )
    assert eager_orders(graph)[graph.nodes[1].results[0]] == (1, 2, 0)
