"""Every rule, both sides evaluated on special values of every dtype it claims."""

import ast
from typing import Any

import pytest

import minitorch2 as torch
from minitorch2 import dtypes
from minitorch2.artifacts import Origin
from minitorch2.errors import Mt2Error
from minitorch2.jit.ir.compare import numeric_difference
from minitorch2.jit.ir.graph import Graph, GraphBuilder, complete_arguments
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.ir.verify import verify
from minitorch2.jit.passes.eliminate_dead_code import eliminate_dead_code
from minitorch2.jit.passes.options import PassOptions
from minitorch2.jit.passes.rewrite import Rule, rewrite
from minitorch2.jit.passes.rules import RULES, apply_rules, rule
from minitorch2.ops.table import lookup
from tests.jit.passes.checking import check, special_values

EXACT = [each for each in RULES if not each.fast_math]
FAST = [each for each in RULES if each.fast_math]
NUMBERS: dict[str, Any] = {
    "integer": [0, 1, -1, 3, 100, 70000],
    "number": [0.5, 3.0, -2.5],
    "nonzero": [3.0, -7.0],
    "power_of_two": [1, 2, -4, 0.5, -0.25, 1024.0],
}


def sides(rule: Rule, element: dtypes.dtype, values: list):
    """(left side, right side, inputs) for each choice of the rule's numbers; no choice, once."""
    numeric = {name: condition for condition, name in rule.where}
    tensors = [name for name in rule.variables() if name not in numeric]
    choices: list[dict] = [{}]
    for name, condition in numeric.items():
        choices = [{**choice, name: n} for choice in choices for n in NUMBERS[condition]]
    for choice in choices:
        left = built(rule.pattern, tensors, choice, element, len(values))
        right = rewrite(left, (rule,))
        yield left, right, grid(tensors, element, values)


def built(pattern: ast.Call, tensors: list, numbers: dict, element, count: int) -> Graph:
    """The pattern as a graph whose inputs are its variables, all with one dtype (`c` is bool)."""
    builder = GraphBuilder("side")
    shape = (count,) * max(len(tensors), 1)
    bound = dict(numbers)
    for name in tensors:
        bound[name] = builder.input(
            name, TensorType(dtypes.bool if name == "c" else element, shape)
        )

    def add(tree):
        if isinstance(tree, ast.Name):
            return bound[tree.id]
        if not isinstance(tree, ast.Call):
            return ast.literal_eval(tree)
        row = lookup(tree.func.id)
        named = {keyword.arg: add(keyword.value) for keyword in tree.keywords}
        args = complete_arguments(row, tuple(map(add, tree.args)), named)
        return builder.add(row.name, args, Origin())[0]

    builder.output(add(pattern))
    return builder.build()


def grid(tensors: list, element, values: list) -> list:
    """A tensor for each variable; together they hold every combination of the values."""
    found = []
    count, total = len(values), max(len(tensors), 1)
    for index, name in enumerate(tensors):
        used = [bool(i % 2) for i in range(count)] if name == "c" else values
        shape = [1] * total
        shape[index] = count
        whole = torch.tensor(used, dtype=dtypes.bool if name == "c" else element).reshape(shape)
        found.append(whole.expand((count,) * total).clone())
    return found


def evaluate(rule: Rule, element, values: list, **tolerances) -> int:
    """Compare both sides wherever the rule fires; how often that was."""
    fired = 0
    try:
        cases = list(sides(rule, element, values))
    except Mt2Error:
        return 0  # the left side is no valid call for this dtype
    for left, right, inputs in cases:
        if str(left) == str(right):
            continue
        verify(right)
        try:
            wrong = numeric_difference(left, right, inputs, **tolerances)
        except (Mt2Error, TypeError):
            continue  # nor does eager accept it
        assert wrong is None, f"{rule} on {element}: {wrong}\n{left}\n{right}"
        fired += 1
    return fired


@pytest.mark.parametrize("rule", EXACT, ids=lambda rule: rule.name)
def test_exact_rules_give_the_same_bits(rule):
    fired = sum(evaluate(rule, element, special_values(element)) for element in rule.dtypes)
    assert fired > 0, f"{rule} never fired"


@pytest.mark.parametrize("rule", FAST, ids=lambda rule: rule.name)
def test_fast_rules_hold_for_ordinary_numbers(rule):
    values = [0.25, 1.0, 1.5, 3.0, 10.0]
    assert evaluate(rule, dtypes.float64, values, rtol=1e-12) > 0


@pytest.mark.parametrize("rule", FAST, ids=lambda rule: rule.name)
def test_fast_rules_would_not_be_exact(rule):
    """Otherwise the mark is wrong."""
    fired = different = 0
    for element in (dtypes.float32, dtypes.float64):
        values = [*special_values(element), 1e30, 0.1, 0.7, 11.3]
        for left, right, inputs in sides(rule, element, values):
            fired += 1
            different += numeric_difference(left, right, inputs) is not None
    assert fired and different


def test_there_are_many_and_names_are_unique():
    assert len(EXACT) >= 12 and len({each.name for each in RULES}) == len(RULES)
    assert rule("mul_one").text == "mul_one: mul(x, 1) => x"


def test_rules_work_inside_out_and_build_on_each_other():
    check(
        lambda graph, options: eliminate_dead_code(apply_rules(graph, options), options),
        """graph f(%x: f32[s0], %y: f32[s0]) {
          %0: f32[s0] = neg(%y)
          %1: f32[s0] = neg(%0)
          %2: f32[s0] = mul(%1, -1)
          %3: f32[s0] = add(%x, %2)
          %4: f32[s0] = true_divide(%3, 8.0)
          %5: f32[s0] = true_divide(%4, 3.0)
          return %5
        }""",
        """graph f(%x: f32[s0], %y: f32[s0]) {
          %0: f32[s0] = sub(%x, %y)
          %1: f32[s0] = mul(%0, 0.125)
          %2: f32[s0] = true_divide(%1, 3.0)
          return %2
        }""",
    )


def test_fast_math_is_asked_for_and_rules_can_be_left_out():
    text = """graph f(%x: f32[4]) {
      %0: f32[4] = add(%x, 0)
      %1: f32[4] = mul(%0, 1)
      return %1
    }"""
    graph = parse_graph(text)

    def remaining(**options):
        result = apply_rules(graph, PassOptions(**options))
        return [node.op for node in eliminate_dead_code(result, PassOptions()).nodes]

    assert remaining() == ["add"]
    assert remaining(numerics="fast") == []
    assert remaining(disabled=("mul_one",)) == ["add", "mul"]


def test_a_constant_takes_the_place_of_a_tensor():
    check(
        apply_rules,
        "graph f(%x: i64[s0]) { %0: i64[s0] = sub(%x, %x) return %0 }",
        "graph f(%x: i64[s0]) { %0: i64[s0] = full((s0,), 0, dtype=i64) return %0 }",
    )
