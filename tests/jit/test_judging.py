"""The judge of random graphs: what it lets pass by name, and that it lets nothing else pass."""

from dataclasses import replace

import numpy
import pytest

from minitorch2.jit.ir.parser import parse_graph
from tests.graphs.judging import Bounds, differences, eager_of
from tests.graphs.making import Case
from tests.graphs.running import result

DRAW = numpy.random.RandomState(0)
WHOLE = DRAW.randint(0, 4, (5, 2))
REALS = DRAW.randn(4, 3).astype("float32")

FUNCTION_OF_INTEGERS = """
graph f(%x: i64[5,2]) {
  %0: f32[5,2] = atan2(%x, %x)
  %1: f64[5,2] = softmax(%0, -1, f64)
  return %1
}
"""
CANCELLED = """
graph f(%x: f32[], %y: f32[4,3]) {
  %0: f32[] = log1p(%x)
  %1: f32[] = normalize(%0, 1, 0)
  %2: f32[] = smooth_l1_loss(%1, %y, beta=0)
  return %2
}
"""
OVERWRITTEN = """
graph f(%x: f32[4,3]) {
  %0: bool[4,3] = gt(%x, 1)
  %1: f32[4,3] = neg(%x)
  %2: f32[4,3] = copy_(%1, %0)
  return %2
}
"""
BY_COLUMNS = """
graph f(%x: f32[4,3], %y: f32[3,4]) {
  %0: f32[3,4] = transpose(%x, 0, 1)
  %1: f32[3,4] = mul(%0, %y)
  %2: f32[] = sum(%1)
  return %2
}
"""
SIGNED = """
graph f(%x: f32[4,3]) {
  %0: f32[4,3] = relu(%x)
  %1: f32[4,3] = neg(%0)
  return %1
}
"""


def case_of(text, *arrays):
    floats = tuple(array.dtype.kind == "f" for array in arrays)
    return Case(0, parse_graph(text), arrays, floats)


CASES = {
    "a function of integers": case_of(FUNCTION_OF_INTEGERS, WHOLE),
    "what cancels": case_of(CANCELLED, numpy.array(2.9957249, "float32"), REALS),
    "a gradient that is overwritten": case_of(OVERWRITTEN, REALS),
    "a sum by columns": case_of(BY_COLUMNS, REALS, DRAW.randn(3, 4).astype("float32")),
    "a sum of LAPACK's columns": case_of(
        "graph f(%x: f64[4,2]) { %0: f64[4,2], %1: i32[2], %2: i64[4] = linalg_lu_parts(%x) "
        "%3: f32[] = sum(%0, (), dtype=f32) return %3 }",
        DRAW.randn(4, 2),
    ),
}


@pytest.mark.numba
@pytest.mark.parametrize("name", CASES)
def test_rounding_and_what_is_outside_of_eager_s_bits_pass(name):
    found = differences(CASES[name], ["aot_eager", "interpreter", "loops", "numba", "exact"])
    assert not found


def judged(case, change, place):
    """What the judge says of eager's own result with one array changed: by bounds, by bits."""
    eager = result(case, eager_of(case))
    arrays = list(eager.arrays)
    arrays[place] = numpy.asarray(change(arrays[place].copy()))
    other, bounds = replace(eager, arrays=tuple(arrays)), Bounds(case, eager)
    return bounds.differs(other), bounds.compare_bits(other, len(arrays))


def next_number(array):
    return numpy.nextafter(array, array.dtype.type(9))


@pytest.mark.parametrize(
    "name", [name for name in CASES if name != "a gradient that is overwritten"]
)
def test_the_next_number_is_rounding_and_other_bits(name):
    by_bounds, by_bits = judged(CASES[name], next_number, 0)
    assert not by_bounds and "not" in by_bits


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("place", [0, -1])
def test_a_part_in_ten_thousand_is_no_rounding(name, place):
    case = CASES[name]
    place = place if case.arrays[place].dtype.kind == "f" else 0
    by_bounds, by_bits = judged(case, lambda array: array * 1.0001 + 1e-4, place)
    assert by_bounds and by_bits


def test_a_nan_may_have_any_bits_as_a_part_of_a_number_and_in_what_is_computed_with_it():
    text = "graph f(%x: f32[2]) {{ %0: f64[1] = view_dtype(%x, f64, 4) {} return {} }}"
    nan = numpy.array([2.5, numpy.nan], "float32")
    shown = case_of(text.format("", "%0"), nan)
    computed = case_of(text.format("%1: f64[1] = mul(%0, 3)", "%1"), nan)
    other = numpy.array([2.5, -nan[1]], "float32").view("float64")
    for case, changed in ((shown, other), (computed, 3 * other)):
        assert judged(case, lambda _, changed=changed: changed, 0) == ("", "")
    number = case_of(str(computed.graph), numpy.array([2.5, 1.5], "float32"))
    assert judged(number, lambda array: array * 2, 0)[0]


def test_what_results_give_an_input_may_be_summed_up_apart():
    text = """
    graph f(%x: f32[3,1]) {
      %0: f32[2,3,5] = expand(%x, (2, 3, 5))
      %1: f32[2,3,5] = neg(%0)
      return %0, %1
    }"""
    case = case_of(text, REALS[:3, :1].copy())
    assert not judged(case, lambda array: array + 1e-6, -1)[0]
    assert judged(case, lambda array: array + 1e-2, -1)[0]


@pytest.mark.parametrize("other, right", [(-1, True), (2**63 - 1, True), (5, False)])
def test_the_bits_of_a_nan_that_is_shown_as_an_integer_are_any(other, right):
    text = "graph f(%x: f64[1]) {{ %0: {} = {} %1: i64[1] = clone(%0) return %1 }}"
    nan = numpy.array([numpy.nan])
    shown = case_of(text.format("i64[1]", "view_dtype(%x, i64, 8)"), nan)
    converted = case_of(text.format("i64[1]", "convert(%x, i64)"), nan)
    changed = numpy.array([other])
    assert bool(judged(shown, lambda _: changed, 0)[0]) != right
    assert judged(converted, lambda _: changed, 0)[0]


def test_only_a_gradient_beside_a_write_may_have_a_zero_of_another_sign():
    def other_zero(array):
        return numpy.where(array == 0, -array, array)

    overwritten, signed = case_of(OVERWRITTEN, REALS), case_of(SIGNED, REALS)
    first = result(overwritten, eager_of(overwritten)).first_gradient
    assert not judged(overwritten, other_zero, first)[1]
    assert judged(overwritten, other_zero, 0)[1]
    assert judged(signed, other_zero, 0)[1] and judged(signed, other_zero, -1)[1]
