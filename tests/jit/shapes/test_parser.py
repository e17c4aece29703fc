"""Texts that are no sizes are refused with the part that is wrong."""

import pytest

from minitorch2.errors import ParseError
from minitorch2.jit.shapes.parser import parse_condition, parse_size


@pytest.mark.parametrize(
    "text, wrong",
    [
        ("s0 +", "invalid syntax"),
        ("n + 1", "`n` is not allowed"),
        ("s0 / 2", "`s0 / 2` is not allowed"),
        ("f(s0)", "is not allowed"),
        ("True", "is not allowed"),
        ("1.5", "is not allowed"),
        ("__import__('os')", "is not allowed"),
    ],
)
def test_refusals(text, wrong):
    with pytest.raises(ParseError, match="size") as raised:
        parse_size(text)
    assert wrong in str(raised.value)


def test_a_condition_has_one_relation():
    with pytest.raises(ParseError, match="compares two sizes"):
        parse_condition("s0 < s1 < s2")
    with pytest.raises(ParseError, match="compares two sizes"):
        parse_condition("s0")
