"""Bounds hold every value, and decisions made from them are right."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minitorch2.jit.shapes.conditions import SizeCondition, compare
from minitorch2.jit.shapes.parser import parse_condition, parse_size
from minitorch2.jit.shapes.ranges import Range, bounds, decide
from minitorch2.jit.shapes.size_expression import evaluate_size
from tests.jit.shapes.expressions import BINDINGS, pairs

RANGES = {name: Range(1, 40) for name in ("s0", "s1", "s2")}


@settings(deadline=None)
@given(pairs(), BINDINGS)
def test_every_value_is_inside(pair, bindings):
    assert evaluate_size(pair[0], bindings) in bounds(pair[0], RANGES)
    assert evaluate_size(pair[0], bindings) in bounds(pair[0], {n: Range(1) for n in RANGES})


@settings(deadline=None)
@given(st.sampled_from(["==", "!=", "<="]), pairs(), pairs(), BINDINGS)
def test_decisions_are_right(relation, left, right, bindings):
    condition = compare(relation, left[0], right[0])
    if isinstance(condition, SizeCondition):
        decided = decide(condition, RANGES)
        assert decided is None or decided == condition.evaluate(bindings)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("s0*4+1", Range(5, 161)),
        ("s0-s1", Range(-39, 39)),
        ("s0%8", Range(0, 7)),
        ("s0//8", Range(0, 5)),
        ("max(s0,9)", Range(9, 40)),
        ("s9", Range(0, math.inf)),
    ],
)
def test_bounds(text, expected):
    assert bounds(parse_size(text), RANGES) == expected


def test_what_ranges_cannot_decide_stays_open():
    assert decide(parse_condition("s0 == s1"), RANGES) is None
    assert decide(parse_condition("s0 >= 1"), RANGES) is True
    assert decide(parse_condition("s0*s1 == 0"), RANGES) is False
