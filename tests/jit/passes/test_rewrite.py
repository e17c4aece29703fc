"""The engine: what a rule's text may say, when it fires, and why it does not."""

import pytest

from minitorch2.artifacts import Origin, Span
from minitorch2.dtypes import float32
from minitorch2.jit.ir.graph import GraphBuilder
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.passes.rewrite import parse_rule, rewrite, why_not
from minitorch2.jit.passes.rules import RULES
from tests.jit.passes.checking import same_numbers


def body(text, *rules):
    graph = rewrite(parse_graph(text), [parse_rule(rule) for rule in rules])
    return [line.strip() for line in str(graph).splitlines()[1:-1]]


X = "graph f(%x: f32[4], %y: f32[4], %i: i64[4]) {{ {} }}"


def refusal(rule, nodes, value="0"):
    return why_not(parse_rule(rule), parse_graph(X.format(nodes + " return")), value)


@pytest.mark.parametrize(
    "rule, nodes, reason",
    [
        ("r: mul(x, 1) => x", "%0: f32[4] = add(%x, 1)", "is no mul(...)"),
        ("r: mul(x, 1) => x", "%0: f32[4] = mul(%x, 2)", "2 is not 1"),
        ("r: mul(x, 1) => x", "%0: f32[4] = mul(%x, True)", "True is not 1"),
        ("r: add(x, 0) => x", "%0: f32[4] = add(%x, -0.0)", "-0.0 is not 0"),
        ("r: add(x, y) => x", "%0: f32[4] = add(%x, %y, alpha=2)", "2 is not 1"),
        ("r: maximum(x, x) => x", "%0: f32[4] = maximum(%x, %y)", "x is both %x and %y"),
        ("r: neg(neg(x)) => x", "%0: f32[4] = neg(%x)", "the rule wants neg(...)"),
        ("r: mul(x, 1) => x", "%0: f64[4] = mul(%i, 1.0)", "change the type from f64[4] to i64[4]"),
        ("r: abs(x) => x for integers", "%0: f32[4] = abs(%x)", "does not hold for f32"),
        ("r: add(x, y) => sub(x, y)", "%0: f32[4] = add(%x, %i)", "several dtypes"),
        (
            "r: true_divide(x, c) => x where power_of_two(c)",
            "%0: f32[4] = true_divide(%x, 3.0)",
            "power_of_two(3.0) does not hold",
        ),
        (
            "r: add(x, y) => matmul(x, sum(y))",
            "%0: f32[4] = add(%x, %y)",
            "the replacement is no valid call",
        ),
        ("r: neg(x) => x", "%0: f32[4] = neg(%x)", "it fires"),
    ],
)
def test_a_rule_says_why_it_does_not_fire(rule, nodes, reason):
    found = refusal(rule, nodes)
    assert found.startswith("r: ") and reason in found


def test_unknown_values_are_named():
    assert refusal("r: neg(x) => x", "%0: f32[4] = neg(%x)", "7") == "r: no node computes %7"


@pytest.mark.parametrize(
    "text, wrong",
    [
        ("mul(x, 1) => x", "not a rule"),
        ("r: x => x", "the pattern of a rule is a call"),
        ("r: neg(x) => y", "uses unbound y"),
        ("r: neg(x) => x where lucky(x)", "not a condition"),
    ],
)
def test_texts_that_are_no_rules(text, wrong):
    with pytest.raises(ValueError, match=wrong):
        parse_rule(text)


def test_unknown_dtypes_are_refused():
    with pytest.raises(KeyError):
        parse_rule("r: neg(x) => x for f33")


def test_commutative_ops_match_both_ways():
    rule = "r: add(x, neg(y)) => sub(x, y)"
    text = X.format("%0: f32[4] = neg(%y) %1: f32[4] = add(%0, %x) return %1")
    assert body(text, rule)[-2:] == ["%1: f32[4] = sub(%x, %y)", "return %1"]


def test_named_arguments_in_patterns_and_templates():
    rule = "r: add(x, y, alpha=-1) => sub(x, y, alpha=1)"
    text = X.format("%0: f32[4] = add(%x, %y, alpha=-1) return %0")
    assert body(text, rule)[0] == "%0: f32[4] = sub(%x, %y)"


def test_arithmetic_on_bound_numbers():
    rule = "r: mul(mul(x, a), b) => mul(x, a * b - 1) where number(a), number(b)"
    text = X.format("%0: f32[4] = mul(%x, 2.0) %1: f32[4] = mul(%0, 4.0) return %1")
    assert body(text, rule)[1] == "%1: f32[4] = mul(%x, 7.0)"


def test_templates_may_nest():
    rule = "r: sigmoid(x) => reciprocal(add(exp(neg(x)), 1))"
    assert [line.split(" = ")[-1] for line in body(
        X.format("%0: f32[4] = sigmoid(%x) return %0"), rule
    )] == ["neg(%x)", "exp(%0)", "add(%1, 1)", "reciprocal(%2)", "return %3"]  # fmt: skip


def test_rules_that_undo_each_other_are_found_out():
    rules = ("a: add(x, y) => sub(x, y)", "b: sub(x, y) => add(x, y)")
    with pytest.raises(RecursionError, match="undo each other"):
        body(X.format("%0: f32[4] = add(%x, %y) return %0"), *rules)


def test_new_nodes_carry_the_places_of_all_they_replace():
    builder = GraphBuilder("f")
    x = builder.input("x", TensorType(float32, (4,)))
    y = builder.input("y", TensorType(float32, (4,)))
    (inner,) = builder.add("neg", (y,), Origin((Span("train.py", 1),), parents=("f:%a",)))
    (outer,) = builder.add("add", (x, inner), Origin((Span("train.py", 2),), parents=("f:%b",)))
    builder.output(outer)
    graph = rewrite(builder.build(), [parse_rule("add_neg: add(x, neg(y)) => sub(x, y)")])
    origin = graph.nodes[-1].origin
    assert [span.line for span in origin.spans] == [2, 1]
    assert origin.parents == ("f:%b", "f:%a") and origin.made_by == "rule add_neg"


def test_graphs_among_the_arguments_are_rewritten_too(choose):
    text = """graph f(%p: bool[], %x: f32[4]) {
      %0: f32[4] = choose(%p, graph yes(%a: f32[4]) {
        %0: f32[4] = mul(%a, 1)
        return %0
      }, graph no(%a: f32[4]) { return %a }, (%x,))
      return %0
    }"""
    assert not any("mul" in line for line in body(text, "r: mul(x, 1) => x")[2:])


def test_a_rule_for_integers_is_none_for_their_products_with_floats():
    """-3 * 0.0 is -0.0: what counts is the dtype that the node computes in."""
    rules = [rule for rule in RULES if rule.name in ("mul_zero", "add_zero", "sub_same")]
    text = """graph f(%x: i64[s0,4]) {
      %0: f32[s0,4] = mul(0.0, %x)
      %1: f32[s0,4] = mul(%x, 0.0)
      %2: i64[s0,4] = mul(%x, 0)
      return %0, %1, %2
    }"""
    after = rewrite(parse_graph(text), rules)
    assert [node.op for node in after.nodes] == ["mul", "mul", "full"]
    same_numbers(parse_graph(text), after)
