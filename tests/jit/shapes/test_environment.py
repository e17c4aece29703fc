"""Answers, guards and equalities of one trace."""

import pytest

from minitorch2.artifacts import Origin, Span
from minitorch2.dispatch import origin_scope
from minitorch2.jit.shapes.conditions import compare
from minitorch2.jit.shapes.environment import ShapeEnvironment
from minitorch2.jit.shapes.parser import parse_condition, parse_size
from minitorch2.jit.shapes.ranges import Range
from minitorch2.jit.shapes.symbolic_size import as_size


@pytest.mark.parametrize("hint", [0, 1])
def test_zero_and_one_specialize(hint):
    assert ShapeEnvironment().new_size(hint) is hint


def test_a_declared_range_is_used():
    environment = ShapeEnvironment()
    assert environment.new_size(1, low=1).environment is environment
    assert environment.new_size(100, low=2, high=64) == 100
    n = environment.new_size(8, low=2, high=64)
    assert n <= 64 and n >= 2
    assert environment.guards == []


def test_what_is_implied_makes_no_second_guard():
    environment = ShapeEnvironment()
    n = environment.new_size(8)
    assert n >= 5 and n >= 5 and n > 2 and not n < 5
    assert [str(guard.condition) for guard in environment.guards] == ["s0>=5"]
    assert environment.bounds(as_size(n * 2)) == Range(10)


def test_equalities_replace_names_everywhere():
    environment = ShapeEnvironment()
    a, b, c = (environment.new_size(hint) for hint in (8, 16, 24))
    assert b == a * 2 and c == a + b
    assert str(environment.canonical(parse_size("s1+s2"))) == "s0*5"
    assert int(a) == 8
    assert environment.canonical(parse_size("s2")) == 24


def test_what_equals_shares_its_range():
    environment = ShapeEnvironment()
    a, b = environment.new_size(8), environment.new_size(8)
    assert b >= 5 and a == b
    assert environment.bounds(as_size(a)) == Range(5)


def test_a_guard_knows_the_line_that_needed_it():
    environment = ShapeEnvironment()
    origin = Origin((Span("train.py", 12),))
    with origin_scope(origin):
        assert environment.new_size(8) > 3
    assert environment.guards[0].origin is origin


def test_guards_hold_for_the_hints_and_decide_other_sizes():
    environment = ShapeEnvironment()
    n, m = environment.new_size(8), environment.new_size(12)
    assert n * 3 == m * 2 and (n + m) % 4 == 0 and n != 9
    conditions = [guard.condition for guard in environment.guards]
    assert all(condition.evaluate(environment.hints) for condition in conditions)
    assert all(condition.evaluate({"s0": 16, "s1": 24}) for condition in conditions)
    assert not all(condition.evaluate({"s0": 8, "s1": 8}) for condition in conditions)


def test_known_answers_without_example_values():
    environment = ShapeEnvironment()
    environment.new_size(8)
    assert environment.known(parse_condition("s0 >= 2")) is True
    assert environment.known(parse_condition("s0 == 0")) is False
    assert environment.known(parse_condition("s0 == 8")) is None
    assert environment.guards == []


def test_a_generic_environment_takes_sizes_from_elsewhere():
    environment = ShapeEnvironment.generic([parse_condition("s0%8==0"), parse_condition("s1>=s0")])
    n, m, other = (environment.wrap(parse_size(name)) for name in ("s0", "s1", "s2"))
    assert n % 8 == 0 and m >= n and n != other and other % 8 != 0 and n > 1


def test_a_generic_environment_never_equates_by_accident():
    environment = ShapeEnvironment.generic()
    sizes = [environment.wrap(parse_size(f"s{index}")) for index in range(6)]
    pairs = [(a, b) for a in sizes for b in sizes if a is not b]
    assert not any(a == b or a % b == 0 for a, b in pairs)


def test_constants_need_no_environment():
    assert ShapeEnvironment().decide(compare("<", 2, 3)) is True


def test_an_expression_that_equals_a_number_is_that_number():
    environment = ShapeEnvironment()
    size = environment.new_size(3)
    assert size // 3 == 1
    assert environment.canonical((size // 3).expression) == 1
    again = ShapeEnvironment.generic([guard.condition for guard in environment.guards])
    assert again.canonical(parse_size("s0//3")) == 1
