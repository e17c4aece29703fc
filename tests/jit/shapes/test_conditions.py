"""Conditions in canonical form hold exactly when the comparison they were made from does."""

import operator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minitorch2.jit.shapes.conditions import SizeCondition, compare
from minitorch2.jit.shapes.parser import parse_condition
from tests.jit.shapes.expressions import BINDINGS, pairs

RELATIONS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@settings(deadline=None)
@given(st.sampled_from(sorted(RELATIONS)), pairs(), pairs(), BINDINGS)
def test_agrees_with_python(relation, left, right, bindings):
    condition = compare(relation, left[0], right[0])
    expected = RELATIONS[relation](left[1](bindings), right[1](bindings))
    if isinstance(condition, bool):
        assert condition == expected
        return
    assert condition.evaluate(bindings) == expected
    assert condition.negated().evaluate(bindings) != expected
    assert condition.negated().negated() == condition


@settings(deadline=None)
@given(st.sampled_from(sorted(RELATIONS)), pairs(), pairs())
def test_prints_and_parses_back(relation, left, right):
    condition = compare(relation, left[0], right[0])
    if isinstance(condition, SizeCondition):
        assert parse_condition(str(condition)) == condition


@pytest.mark.parametrize(
    "text, canonical",
    [
        ("s0 > 4", "s0>=5"),
        ("s0*2 == s1*2", "s0==s1"),
        ("s1 == s0", "s0==s1"),
        ("s0 + 3 < s1 + 3", "s0+1<=s1"),
        ("s0*4 % 8 == 0", "s0%2==0"),
        ("0 != s0 - 7", "s0!=7"),
        ("s0*4 > 6", "s0>=2"),
        ("s0*4 - s1*8 < 6", "s0<=s1*2+1"),
    ],
)
def test_one_form(text, canonical):
    assert str(parse_condition(text)) == canonical
    assert parse_condition(text) == parse_condition(canonical)


def test_constants_decide():
    assert parse_condition("s0 + 1 > s0") is True
    assert parse_condition("3 == 4") is False
    assert parse_condition("s0*2 == s1*4 + 3") is False
    assert parse_condition("s0*2 != 3") is True


def test_unknown_relations_are_refused():
    with pytest.raises(ValueError, match="no such relation"):
        compare("<>", 1, 2)
