"""Permutations move past pointwise calls, and cancel."""

from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.passes.pipeline import optimize
from minitorch2.jit.passes.pull_permutes import pull_permutes
from tests.jit.passes.checking import check


def test_operands_that_are_permuted_alike():
    start = (
        "graph f(%x: f32[2,3,4], %y: f32[2,3,4]) { %0: f32[4,2,3] = permute(%x, (2, 0, 1)) "
        "%1: f32[4,2,3] = permute(%y, (2, 0, 1)) "
    )
    check(
        pull_permutes,
        start + "%2: bool[4,2,3] = lt(%0, %1) return %2: strides(6,3,1) }",
        start + "%2: bool[2,3,4] = lt(%x, %y) %3: bool[4,2,3] = permute(%2, (2, 0, 1)) "
        "return %3: strides(6,3,1) }",
    )


def test_numbers_go_along():
    start = "graph f(%x: f32[2,3]) { %0: f32[3,2] = transpose(%x, 0, 1) "
    check(
        pull_permutes,
        start + "%1: f32[3,2] = add(%0, 2, 3) return %1: strides(2,1) }",
        start + "%1: f32[2,3] = add(%x, 2, 3) %2: f32[3,2] = permute(%1, (1, 0)) "
        "return %2: strides(2,1) }",
    )


def test_other_operands_stop_it():
    for call in ("add(%0, %y)", "add(%0, %z)", "add(%0, %1)"):
        text = (
            "graph f(%x: f32[2,2], %y: f32[2,2], %z: f32[2]) { "
            "%0: f32[2,2] = transpose(%x, 0, 1) %1: f32[2,2] = permute(%y, (0, 1)) "
            f"%2: f32[2,2] = {call} return %2: strides(2,1) }}"
        )
        check(pull_permutes, text, text)


def test_there_and_back_disappears():
    text = (
        "graph f(%x: f32[2,3]) { %0: f32[3,2] = transpose(%x, 0, 1) %1: f32[3,2] = exp(%0) "
        "%2: f32[3,2] = mul(%1, %1) %3: f32[2,3] = transpose(%2, 0, 1) return %3: strides(3,1) }"
    )
    assert [node.op for node in optimize(parse_graph(text)).nodes] == ["exp", "mul"]
