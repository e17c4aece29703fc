"""The search for example sizes finds values that satisfy the conditions, or says there are none."""

import pytest

from minitorch2.jit.shapes.example_sizes import find_example
from minitorch2.jit.shapes.parser import parse_condition


@pytest.mark.parametrize(
    "texts",
    [
        ["s0%8==0"],
        ["s0%8==0", "s0<=64"],
        ["s0<=7", "s0>=7"],
        ["s0==s1*2", "s1%3==0"],
        ["s0>=5", "s0<=s1", "s1!=8"],
        ["s0*4%6==0", "s0<=100"],
        ["s0+s1==10"],
        ["s0==1"],
    ],
)
def test_found(texts):
    conditions = [parse_condition(text) for text in texts]
    names = tuple(dict.fromkeys(name for each in conditions for name in each.symbols()))
    found = find_example(names, conditions)
    assert found is not None and all(condition.evaluate(found) for condition in conditions)


def test_none_when_conditions_contradict():
    assert find_example(("s0",), [parse_condition("s0<=3"), parse_condition("s0>=5")]) is None


def test_sizes_0_and_1_are_other_programs():
    assert find_example(("s0",), [parse_condition("s0<=2")]) == {"s0": 2}
