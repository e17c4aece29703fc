"""Lowering: expressions take torch's types, views become index maps, the rest says why not."""

import pytest

from minitorch2 import dtypes
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.index import symbol
from minitorch2.kernels.loop_ir import Name
from minitorch2.kernels.lower.expressions import lower_expression, number_of
from minitorch2.kernels.lower.lowering import lower_graph
from minitorch2.kernels.lower.nests import HostStep, NotLowered, View
from minitorch2.kernels.lower.split import split_reduction
from minitorch2.kernels.printer import print_expression

X, N, H = Name("x", dtypes.float32), Name("i", dtypes.int64), Name("h", dtypes.bfloat16)


@pytest.mark.parametrize(
    "text, operands, expected",
    [
        ("self + other * alpha", {"self": X, "other": X, "alpha": 2}, "add(x, mul(x, f32(2.0)))"),
        ("self + other * alpha", {"self": X, "other": X, "alpha": 1}, "add(x, x)"),
        ("self / other", {"self": X, "other": N}, "truediv(x, cast_f32(i))"),
        ("pow(self, 2)", {"self": X}, "mul(x, x)"),
        ("-self", {"self": N}, "negative(i)"),
        ("select(self > 0, self, 0)", {"self": X},
         "select(greater(x, f32(0.0)), x, f32(0.0))"),
        ("floor(self)", {"self": N}, "i"),
        ("exp(self)", {"self": H}, "exp(cast_f32(h))"),
    ],
)  # fmt: skip
def test_expressions(text, operands, expected):
    assert print_expression(lower_expression(text, operands, operands["self"].dtype)) == expected


def test_what_has_no_kernel_says_so():
    with pytest.raises(NotLowered, match="no scalar function lgamma"):
        lower_expression("lgamma(self)", {"self": X}, dtypes.float32)
    with pytest.raises(NotLowered, match="pow of int64"):
        lower_expression("pow(self, self)", {"self": N}, dtypes.int64)


def test_integers_wrap_and_floats_do_not():
    assert number_of(300, dtypes.uint8) == 44 and number_of(200, dtypes.int8) == -56
    assert number_of(3, dtypes.float32) == 3.0 and number_of(2, dtypes.bool) is True


@pytest.mark.parametrize(
    "call, shape, expected",
    [
        ("transpose(%x, 0, 1)", "6,s0", "(b, a)"),
        ("view(%x, (s0, 2, 3))", "s0,2,3", "(a, 3*b + c)"),
        ("slice(%x, 1, 1, 5, 2)", "s0,2", "(a, 2*b + 1)"),
        ("select(%x, 1, -1)", "s0", "(a, 5)"),
        ("unsqueeze(%x, 1)", "s0,1,6", "(a + b, c)"),
        ("expand(%x, (2, s0, 6))", "2,s0,6", "(b, c)"),
    ],
)
def test_views_are_index_maps(call, shape, expected):
    graph = parse_graph(f"graph f(%x: f32[s0,6]) {{ %0: f32[{shape}] = {call} return %0 }}")
    (view,) = lower_graph(graph)
    assert isinstance(view, View)
    names = "abc"[: shape.count(",") + 1]
    sizes = {"6": 6, "2": 2, "3": 3, "1": 1}
    ranges = {
        name: symbol("s0") if size == "s0" else symbol("s0") * 0 + sizes[size]
        for name, size in zip(names, shape.split(","), strict=True)
    }
    found = view.read(tuple(symbol(name) for name in names), ranges)
    assert str(found) == expected


def test_host_steps_have_reasons():
    graph = parse_graph(
        "graph f(%x: f32[4,4], %i: i64[4]) {\n"
        "  %0: f32[4,4], %1: i64[4,4] = sort(%x)\n"
        "  %2: i64[4] = pow(%i, %i)\n"
        "  %3: f32[4,4] = cumsum(%x, 0)\n"
        "  return %0, %2, %3\n"
        "}"
    )
    steps = lower_graph(graph)
    assert all(isinstance(step, HostStep) for step in steps)
    assert [step.reason for step in steps] == [
        "sorting is numpy's",
        "pow of int64 has no kernel",
        "cumsum is no fold of independent elements",
    ]


def test_large_sums_are_split_by_their_extent_alone():
    graph = parse_graph("graph f(%x: f32[1000,64]) { %0: f32[] = sum(%x) return %0 }")
    first, second = split_reduction(lower_graph(graph)[0])
    assert [str(extent) for extent in first.extents()] == ["40", "25", "64"]
    assert first.reduced == {"j", "a1"} and second.reduced == {"k"}
