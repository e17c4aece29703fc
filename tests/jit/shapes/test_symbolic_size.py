"""A SymbolicSize behaves as the int it stands for, and guards what Python learned of it."""

import copy
import operator

import pytest

from minitorch2.jit.shapes.environment import ShapeEnvironment
from minitorch2.jit.shapes.symbolic_size import SymbolicSize, as_size, largest, smallest
from minitorch2.layouts import Layout, broadcast_shapes, contiguous_strides, view_strides


@pytest.fixture
def environment():
    return ShapeEnvironment()


def guards(environment):
    return [str(guard.condition) for guard in environment.guards]


def test_arithmetic_needs_no_guard(environment):
    n, m = environment.new_size(6), environment.new_size(4)
    results = [n + 1, 1 + n, n - 2, 20 - n, n * m, 3 * n, n // 2, 20 // n, n % 4, 9 % n, -n, +n]
    assert [str(each) for each in results] == [
        "s0+1", "s0+1", "s0-2", "-s0+20", "s0*s1", "s0*3", "s0//2", "20//s0", "s0%4", "9%s0",
        "-s0", "s0",
    ]  # fmt: skip
    assert [environment.hint(as_size(each)) for each in results] == [
        7, 7, 4, 14, 24, 18, 3, 3, 2, 3, -6, 6,
    ]  # fmt: skip
    assert str(n**2) == "s0*s0" and divmod(n, 2) == (n // 2, n % 2)
    assert environment.guards == []


def test_names_that_cancel_leave_ints(environment):
    n = environment.new_size(6)
    assert type(n - n) is int and type(n * 4 // n) is int


def test_comparisons_answer_from_the_example_and_guard(environment):
    n = environment.new_size(6)
    assert n > 4 and n != 7 and not n < 3
    assert guards(environment) == ["s0>=5", "s0!=7"]


def test_an_int_specializes(environment):
    n = environment.new_size(6)
    assert list(range(n)) == [0, 1, 2, 3, 4, 5]
    assert guards(environment) == ["s0==6"]
    assert as_size(n + 1) == 7


def test_floats_specialize(environment):
    n = environment.new_size(6)
    assert n / 2 == 3.0 and 12 / n == 2.0 and n * 0.5 == 3.0 and float(n) == 6.0
    assert guards(environment) == ["s0==6"]


def test_truth_of_a_size_is_known(environment):
    assert environment.new_size(6)
    assert environment.guards == []


def test_extremes_without_guards(environment):
    n = environment.new_size(6)
    assert str(largest(n, 9)) == "max(s0,9)" and str(smallest(n, n + 1)) == "s0"
    assert largest(2, 3) == 3
    assert environment.guards == []


def test_it_has_no_hash(environment):
    with pytest.raises(TypeError, match="unhashable"):
        hash(environment.new_size(6))


def test_other_types_do_not_mix(environment):
    n = environment.new_size(6)
    assert n != "6"
    with pytest.raises(TypeError):
        n + "6"


def test_copies_are_the_same_object(environment):
    n = environment.new_size(6)
    assert copy.copy(n) is n and copy.deepcopy([n])[0] is n and isinstance(n, SymbolicSize)


def test_layouts_take_symbolic_sizes(environment):
    n = environment.new_size(6)
    strides = contiguous_strides((n, 4, 2))
    assert strides == (8, 2, 1)
    assert Layout((4, n), (n, 1)).is_contiguous()
    assert [str(size) for size in view_strides(Layout((n, 4), (4, 1)), (n * 4,))] == ["1"]
    assert [str(size) for size in broadcast_shapes((n, 1), (1, 4))] == ["s0", "4"]
    assert environment.guards == []


def test_broadcasting_two_equal_sizes_makes_them_one(environment):
    n, m = environment.new_size(6), environment.new_size(6)
    shape = broadcast_shapes((n, 3), (m, 3))
    assert guards(environment) == ["s0==s1"]
    assert as_size(shape[0]) == as_size(m)


@pytest.mark.parametrize("divide", [operator.floordiv, operator.mod, divmod])
def test_a_divisor_that_may_be_zero_is_looked_at(environment, divide):
    n, m, k = environment.new_size(6), environment.new_size(6), environment.new_size(4)
    for dividend in (1, k):
        with pytest.raises(ZeroDivisionError):
            divide(dividend, n - m)
    assert guards(environment) == ["s0-s1==0"] or guards(environment) == ["s0==s1"]
    divide(7, k)
    assert guards(environment)[1:] in ([], ["s2!=0"])
