"""Chains of products in the order that takes the fewest operations, where rounding may differ."""

import itertools

import pytest

import minitorch2 as torch
from minitorch2.jit.ir.interpreter import interpret
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.verify import verify
from minitorch2.jit.passes.eliminate_dead_code import eliminate_dead_code
from minitorch2.jit.passes.notes import collected
from minitorch2.jit.passes.options import DEFAULT, PassOptions
from minitorch2.jit.passes.order_products import _best, order_products
from tests.jit.passes.checking import check

FAST = PassOptions("fast")
CHAIN = """graph f(%a: f64[50,4], %b: f64[4,60], %c: f64[60,3]) {
  %0: f64[50,60] = matmul(%a, %b)
  %1: f64[50,3] = matmul(%0, %c)
  return %1
}"""
SCALED = """graph f(%q: f64[2,3,40,8], %k: f64[2,3,8,40]) {
  %0: f64[2,3,40,40] = matmul(%q, %k)
  %1: f64[2,3,40,40] = mul(%0, 0.25)
  return %1
}"""


def changed(text, expected):
    """Under fast numerics: the expected text, a graph that verifies, the same numbers but for
    rounding; and the change stands in the ledger."""
    before = parse_graph(text)
    with collected() as notes:
        after = eliminate_dead_code(order_products(before, FAST), FAST)
    verify(after)
    assert str(after) == str(parse_graph(expected))
    assert any(each.changes_bits for each in notes)
    assert str(order_products(after, FAST)) == str(after), "the pass is not idempotent"
    torch.manual_seed(0)
    given = [torch.randn(each.value.type.shape, dtype=torch.float64) for each in before.inputs]
    for one, other in zip(interpret(before, given), interpret(after, given), strict=True):
        assert torch.allclose(one, other, rtol=1e-12, atol=1e-12)


def test_a_chain_is_multiplied_from_its_cheaper_end():
    changed(CHAIN, """graph f(%a: f64[50,4], %b: f64[4,60], %c: f64[60,3]) {
  %0: f64[4,3] = matmul(%b, %c)
  %1: f64[50,3] = matmul(%a, %0)
  return %1
}""")  # fmt: skip


def test_four_matrices_are_cut_in_the_middle():
    inputs = "%a: f64[2,90], %b: f64[90,3], %c: f64[3,80], %d: f64[80,4]"
    changed(f"""graph f({inputs}) {{
  %0: f64[90,80] = matmul(%b, %c)
  %1: f64[90,4] = matmul(%0, %d)
  %2: f64[2,4] = matmul(%a, %1)
  return %2
}}""", f"""graph f({inputs}) {{
  %0: f64[2,3] = matmul(%a, %b)
  %1: f64[3,4] = matmul(%c, %d)
  %2: f64[2,4] = matmul(%0, %1)
  return %2
}}""")  # fmt: skip


def test_the_scale_of_scores_is_one_of_the_queries():
    changed(SCALED, """graph f(%q: f64[2,3,40,8], %k: f64[2,3,8,40]) {
  %0: f64[2,3,40,8] = mul(%q, 0.25)
  %1: f64[2,3,40,40] = matmul(%0, %k)
  return %1
}""")  # fmt: skip


@pytest.mark.parametrize("text", [CHAIN, SCALED])
def test_by_default_rounding_stays_and_the_pass_says_why(text):
    with collected() as notes:
        check(order_products, text, text, DEFAULT)
    assert "it takes numerics='fast'" in notes[0].text.replace("and takes", "it takes")
    assert not notes[0].did


@pytest.mark.parametrize(
    "text",
    [
        CHAIN.replace("return %1", "return %1, %0"),  # the first product is wanted itself
        CHAIN.replace("[50,", "[3,").replace(",3]", ",50]"),  # it is in its best order
        SCALED.replace("return %1", "return %1, %0"),
        SCALED.replace("40]", "4]").replace("f64[2,3,40", "f64[2,3,4"),  # the result is smallest
        """graph f(%a: f64[s0,4], %b: f64[4,60], %c: f64[60,3]) {
  %0: f64[s0,60] = matmul(%a, %b)
  %1: f64[s0,3] = matmul(%0, %c)
  return %1
}""",
    ],
)
def test_what_is_left_under_fast_numerics(text):
    graph = parse_graph(text)
    assert str(order_products(graph, FAST)) == str(graph)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
def test_the_order_is_the_best_of_all(count):
    def orders(first, last):
        if first == last:
            yield 0
            return
        for at in range(first, last):
            own = sizes[first] * sizes[at + 1] * sizes[last + 1]
            for one, other in itertools.product(orders(first, at), orders(at + 1, last)):
                yield one + other + own

    for seed in range(5):
        torch.manual_seed(seed)
        sizes = [int(size) for size in torch.randint(1, 30, (count + 1,))]
        assert _best(sizes)[0] == min(orders(0, count - 1))
