"""Index expressions: simplification never changes a value, and proves what views need."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minitorch2.kernels.index import (
    constant,
    evaluate,
    floor_divide,
    modulo,
    nonnegative,
    recombine,
    substitute,
    symbol,
)
from minitorch2.kernels.parser import parse_index
from minitorch2.kernels.positions import delinearize, linearize

B, T, C = symbol("s0"), symbol("s1"), symbol("s2")
b, t, c = symbol("b"), symbol("t"), symbol("c")
RANGES = {"b": B, "t": T, "c": C}

sizes = st.integers(1, 7)
factors = st.integers(0, 12)


@st.composite
def cases(draw):
    """An index over i, j, k, their ranges, and one value for each of them."""
    ranges = {name: constant(draw(sizes)) for name in "ijk"}
    index = constant(draw(st.integers(0, 5)))
    for name in "ijk":
        index = index + symbol(name) * draw(factors)
    values = {name: draw(st.integers(0, ranges[name].as_int() - 1)) for name in "ijk"}
    return index, ranges, values


@given(cases(), st.integers(1, 12), st.integers(1, 12))
def test_division_is_exact(case, first, second):
    index, ranges, values = case
    number = evaluate(index, values)
    nested = floor_divide(modulo(index, constant(first), ranges), constant(second), ranges)
    assert evaluate(nested, values) == number % first // second
    nested = modulo(floor_divide(index, constant(first), ranges), constant(second), ranges)
    assert evaluate(nested, values) == number // first % second


def smallest_dividend(index, values):
    """The smallest number that is divided when an index is evaluated."""
    atoms = [atom for term, _ in index.terms for atom in term if hasattr(atom, "top")]
    inner = [min(evaluate(a.top, values), smallest_dividend(a.top, values)) for a in atoms]
    return min(inner, default=0)


@given(cases(), st.integers(1, 12))
def test_differences_are_divided_without_going_negative(case, divisor):
    index, ranges, values = case
    largest = {name: extent.as_int() - 1 for name, extent in ranges.items()}
    index = constant(evaluate(index, largest)) - index
    number = evaluate(index, values)
    for found, wanted in (
        (floor_divide(index, constant(divisor), ranges), number // divisor),
        (modulo(index, constant(divisor), ranges), number % divisor),
    ):
        assert evaluate(found, values) == wanted
        assert smallest_dividend(found, values) >= 0


def test_a_flipped_axis_needs_no_division():
    position = symbol("i") * B + (B - symbol("j") - 1)
    ranges = {"i": T, "j": B}
    assert str(delinearize(position, (T, B), ranges)) == "(i, -j + s0 - 1)"


@given(cases(), st.integers(1, 12))
def test_text_round_trip(case, divisor):
    index, ranges, _ = case
    mixed = floor_divide(index, constant(divisor), ranges) * symbol("s0") - 3
    assert parse_index(str(mixed)) == mixed


@given(cases(), cases())
def test_nonnegative_is_never_wrong(case, other):
    index, ranges, values = case
    difference = index - other[0]
    if nonnegative(difference, ranges):
        assert evaluate(difference, values) >= 0


@pytest.mark.parametrize(
    "shape, expected",
    [
        ((B * T, C), ("b*s1 + t", "c")),
        ((B, T, C), ("b", "t", "c")),
        ((B * T * C,), ("b*s1*s2 + c + s2*t",)),
    ],
)
def test_symbolic_reshapes_need_no_division(shape, expected):
    position = linearize((b, t, c), (B, T, C))
    found = delinearize(position, shape, RANGES)
    assert [set(str(part).split(" + ")) for part in found] == [
        set(text.split(" + ")) for text in expected
    ]


def test_splitting_a_merged_axis():
    ranges = {"i": B * T, "c": C}
    found = delinearize(linearize((symbol("i"), c), (B * T, C)), (B, T, C), ranges)
    assert str(found) == "((i // s1), (i % s1), c)"
    back = tuple(substitute(p, {"i": b * T + t}, RANGES) for p in found)
    assert back == (b, t, c)


def test_positions_in_an_empty_shape():
    shape = (symbol("n"), constant(0), constant(3))
    assert delinearize(symbol("p"), shape, {"p": constant(0)}) == (constant(0),) * 3


@given(cases(), st.integers(1, 12), st.integers(0, 3), st.integers(1, 24))
def test_recombining_changes_no_value(case, divisor, fine, coarse):
    index, ranges, values = case
    size = constant(divisor)
    high, low = floor_divide(index, size, ranges), modulo(index, size, ranges)
    for factor in (fine * divisor, coarse):  # the two belong together, or not
        whole = high * factor + low * fine
        assert evaluate(recombine(whole, ranges), values) == evaluate(whole, values)


def test_a_quotient_that_the_ranges_have_simplified_is_recombined():
    shape, groups = [constant(n) for n in (4, 6, 35)], [constant(n) for n in (4, 3, 70)]
    ranges = dict(zip("ijk", shape, strict=True))
    flat = linearize(tuple(map(symbol, "ijk")), shape)
    place = linearize(delinearize(flat, groups, ranges), groups)
    assert "j // 2" in str(place) and recombine(place, ranges) == flat
