"""Symbols get their values from actual sizes; sizes that do not fit are named."""

import pytest

from minitorch2.jit.shapes.binding import SizeMismatch, bind_sizes
from minitorch2.jit.shapes.parser import parse_size


def pairs(*items):
    return [(parse_size(text), found) for text, found in items]


def test_names_are_solved_for_in_any_order():
    found = bind_sizes(pairs(("s0*s1", 12), ("s1*2+1", 9), ("s0", 3), ("5", 5)))
    assert found == {"s0": 3, "s1": 4}


def test_outer_bindings_are_used():
    assert bind_sizes(pairs(("s0+s1", 7)), {"s0": 3, "s1": 4}) == {"s0": 3, "s1": 4}


@pytest.mark.parametrize(
    "items",
    [
        [("s0", 3), ("s0", 4)],
        [("4", 3)],
        [("s0*2", 7)],
        [("s0*s1", 12)],
        [("s0", 3), ("s0//2", 2)],
    ],
)
def test_misfits(items):
    with pytest.raises(SizeMismatch, match="declared"):
        bind_sizes(pairs(*items))
