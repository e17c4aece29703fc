"""Cutting apart and joining again is nothing."""

from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.passes.join_slices import join_slices
from minitorch2.jit.passes.options import DEFAULT
from tests.jit.passes.checking import check

CUT = (
    "%0: f32[4,2] = slice(%x, 1, 0, 2) %1: f32[4,3] = slice(%x, 1, 2, 5) "
    "%2: f32[4,1] = slice(%x, 1, 5, 6)"
)
START = f"graph f(%x: f32[4,6], %y: f32[4,2]) {{ {CUT} "


def test_all_parts_are_the_whole():
    before = START + "%3: f32[4,6] = cat((%0, %1, %2), 1) return %3: strides(6,1) }"
    check(join_slices, before, START + "return %x: strides(6,1) }")


def test_neighbours_become_one_part():
    before = START + "%3: f32[4,6] = cat((%1, %2, %y), 1) return %3: strides(6,1) }"
    after = START + (
        "%3: f32[4,4] = slice(%x, 1, 2, 6) %4: f32[4,6] = cat((%3, %y), 1) "
        "return %4: strides(6,1) }"
    )
    check(join_slices, before, after)


def test_another_order_is_left():
    before = START + "%3: f32[4,6] = cat((%1, %0, %2), 1) return %3: strides(6,1) }"
    check(join_slices, before, before)


def test_another_dimension_is_left():
    text = (
        "graph f(%x: f32[4,6]) { "
        "%0: f32[4,3] = slice(%x, 1, 0, 3) %1: f32[4,3] = slice(%x, 1, 3, 6) "
        "%2: f32[8,3] = cat((%0, %1), 0) return %2: strides(3,1) }"
    )
    check(join_slices, text, text)


def test_a_part_of_a_cat_is_a_part_of_its_operand():
    before = (
        "graph f(%x: f32[4,6], %y: f32[4,2]) { %0: f32[4,8] = cat((%x, %y), 1) "
        "%1: f32[4,2] = slice(%0, 1, 6, 8) %2: f32[4,3] = slice(%0, 1, 1, 4) "
        "%3: f32[4,3] = slice(%0, 1, 4, 7) "
        "return %1: strides(2,1), %2: strides(3,1), %3: strides(3,1) }"
    )
    after = (
        "graph f(%x: f32[4,6], %y: f32[4,2]) { %0: f32[4,8] = cat((%x, %y), 1) "
        "%1: f32[4,3] = slice(%x, 1, 1, 4) %2: f32[4,3] = slice(%0, 1, 4, 7) "
        "return %y: strides(2,1), %1: strides(3,1), %2: strides(3,1) }"
    )
    check(join_slices, before, after)


def test_symbolic_sizes_and_other_dtypes_are_left():
    for text in (
        "graph f(%x: f32[s0]) { %0: f32[s0] = slice(%x, 0, 0, s0) "
        "%1: f32[s0*2] = cat((%0, %x)) return %1 }",
        "graph f(%x: f32[2], %y: f64[2]) { %0: f64[4] = cat((%x, %y)) "
        "%1: f64[2] = slice(%0, 0, 0, 2) return %1 }",
    ):
        graph = parse_graph(text)
        assert join_slices(graph, DEFAULT) == graph
