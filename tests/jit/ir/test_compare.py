"""Two graphs: the same text up to names, the same numbers up to a tolerance."""

import pytest

import minitorch2 as torch
from minitorch2.jit.ir.compare import anonymous, numeric_difference, structural_difference
from minitorch2.jit.ir.parser import parse_graph

FIRST = parse_graph("graph f(%x: f32[3]) { %0: f32[3] = exp(%x) return %0 writes (%x <- %0) }")


def test_names_and_numbers_do_not_count():
    same = parse_graph("graph g(%a: f32[3]) { %9: f32[3] = exp(%a) return %9 writes (%a <- %9) }")
    assert structural_difference(FIRST, same) is None
    assert anonymous(FIRST) == anonymous(same)


@pytest.mark.parametrize(
    "text",
    [
        "graph f(%x: f32[3]) { %0: f32[3] = exp(%x) return %0 }",
        "graph f(%x: f32[3]) { %0: f32[3] = exp(%x) return %x writes (%x <- %0) }",
        "graph f(%x: f64[3]) { %0: f64[3] = exp(%x) return %0 writes (%x <- %0) }",
        "graph f(%x: f32[3]) { %0: f32[3] = exp(%x) no_grad return %0 writes (%x <- %0) }",
    ],
)
def test_everything_else_counts(text):
    assert structural_difference(FIRST, parse_graph(text)) is not None


def numbers(left, right, values, **tolerances):
    texts = [f"graph f(%x: f32[3]) {{ {body} }}" for body in (left, right)]
    return numeric_difference(*map(parse_graph, texts), [torch.tensor(values)], **tolerances)


def test_every_bit_counts_without_tolerance():
    zero = "%0: f32[3] = mul(%x, 0.0) return %0"
    minus = "%0: f32[3] = mul(%x, -0.0) return %0"
    assert numbers(zero, zero, [1.0, float("nan"), -1.0]) is None
    assert "output 0: 3 elements differ, first at (0,)" in numbers(zero, minus, [1.0, 2.0, 3.0])


def test_tolerances():
    third, times = "%0: f32[3] = true_divide(%x, 3.0)", "%0: f32[3] = mul(%x, 0.333333)"
    left, right = third + " return %0", times + " return %0"
    assert numbers(left, right, [1.0, 2.0, float("inf")]) is not None
    assert numbers(left, right, [1.0, 2.0, float("inf")], rtol=1e-5) is None


def test_written_inputs_count_and_the_callers_tensors_stay():
    other = parse_graph("graph f(%x: f32[3]) { %0: f32[3] = exp(%x) return %0 }")
    x = torch.tensor([1.0, 2.0, 3.0])
    assert "input 0" in numeric_difference(FIRST, other, [x])
    assert x.tolist() == [1.0, 2.0, 3.0]


def test_dtypes_counts_and_numbers():
    double = parse_graph("graph f(%x: f32[3]) { %0: f64[3] = convert(%x, f64) return %0 }")
    single = parse_graph("graph f(%x: f32[3]) { return %x }")
    pair = parse_graph("graph f(%x: f32[3]) { return %x, 1 }")
    other = parse_graph("graph f(%x: f32[3]) { return %x, 1.0 }")
    x = [torch.ones(3)]
    assert "torch.float64[3] is not torch.float32[3]" in numeric_difference(double, single, x)
    assert numeric_difference(pair, single, x) == "2 outputs and 1"
    assert numeric_difference(pair, other, x) == "output 1: 1 is not 1.0"
