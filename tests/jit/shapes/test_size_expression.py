"""Canonical expressions: equal to Python's integers under every binding, equal as data."""

import pytest
from hypothesis import given, settings

from minitorch2.jit.shapes.parser import parse_size
from minitorch2.jit.shapes.size_expression import (
    SizeExpression,
    evaluate_size,
    floor_divide,
    maximum,
    minimum,
    modulo,
    size_symbols,
    substitute_size,
    symbol,
)
from tests.jit.shapes.expressions import BINDINGS, pairs

s0, s1 = symbol("s0"), symbol("s1")


@settings(deadline=None)
@given(pairs(), BINDINGS)
def test_agrees_with_python(pair, bindings):
    size, function = pair
    assert evaluate_size(size, bindings) == function(bindings)


@settings(deadline=None)
@given(pairs(), BINDINGS)
def test_substituting_one_name_after_the_other_is_substituting_both(pair, bindings):
    size = pair[0]
    partly = substitute_size(size, {"s0": bindings["s0"]})
    assert "s0" not in size_symbols(partly)
    assert evaluate_size(partly, bindings) == evaluate_size(size, bindings)


@settings(deadline=None)
@given(pairs())
def test_prints_and_parses_back(pair):
    assert parse_size(str(pair[0])) == pair[0]


@settings(deadline=None)
@given(pairs(), pairs(), pairs())
def test_ring_laws_hold_as_data(a, b, c):
    x, y, z = a[0], b[0], c[0]
    assert x + y == y + x
    assert x * y == y * x
    assert (x + y) * z == x * z + y * z
    assert x - x == 0
    assert hash(x * (y + z)) == hash(x * y + x * z)


@pytest.mark.parametrize(
    "left, right, text",
    [
        (s0 * s1 * 4, s0 * 4, "s1"),
        (s0 * s1 + s0, s1 + 1, "s0"),
        (s0 * 4 + 5, 4, "s0+1"),
        (s0 - 3, 2, "(s0+1)//2-2"),
        (floor_divide(s0, 2), 3, "s0//6"),
        (floor_divide(s0, 2) + 1, 3, "(s0+2)//6"),
        (s0 * 2 + 2, 4, "(s0+1)//2"),
        (s0, -2, "(s0)//2-s0"),
        (s0, s1, "s0//s1"),
        (s0 + s1, s0, "(s0+s1)//s0"),
    ],
)
def test_division(left, right, text):
    quotient = floor_divide(left, right)
    assert quotient == parse_size(text)
    for a in range(1, 9):
        for b in range(1, 9):
            at = {"s0": a, "s1": b}
            assert evaluate_size(quotient, at) == evaluate_size(left, at) // evaluate_size(
                right, at
            )


def test_one_form_for_equal_divisions():
    assert floor_divide(s0 - 3, 2) + 1 == floor_divide(s0 - 1, 2)
    assert modulo(s0 * 5 + 6, 4) == modulo(s0 + 2, 4)
    assert modulo(modulo(s0, 8), 4) == modulo(s0, 4)
    assert modulo(s0 * s1 * 8, s1 * 4) == 0


def test_extremes_drop_what_cannot_win():
    assert maximum(s0, s0 + 3) == s0 + 3
    assert minimum(s0, s0 + 3, 7) == minimum(7, s0)
    assert maximum(maximum(s0, 1), maximum(2, s1)) == maximum(s1, s0, 2)
    assert maximum(4, 9) == 9


def test_constants_are_ints_and_names_are_not():
    assert type(s0 - s0 + 3) is int
    assert isinstance(s0, SizeExpression)
    assert s0 != 3
    assert s0 == symbol("s0")


def test_symbols_are_listed_by_number():
    assert (symbol("s10") + symbol("s2") * 3).symbols() == ("s2", "s10")
    assert str(symbol("s10") + symbol("s2") * 3) == "s2*3+s10"


def test_a_missing_binding_is_named():
    with pytest.raises(KeyError, match="s1"):
        (s0 + s1).evaluate({"s0": 1})


def test_truth_must_be_asked_of_an_environment():
    with pytest.raises(TypeError, match="not known before the graph runs"):
        bool(s0)


def test_division_by_zero_raises_as_for_ints():
    with pytest.raises(ZeroDivisionError):
        floor_divide(s0, 0)
    with pytest.raises(ZeroDivisionError):
        modulo(s0, 0)
