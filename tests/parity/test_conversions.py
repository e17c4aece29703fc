"""Floats that become integers, judged by torch: also those that no integer holds, and nan."""

import math
import warnings

import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402

NUMBERS = (3e9, 1e19, math.nan, -3e9, 70000.0, 300.0, -300.0, math.inf, -math.inf, 2.0**31, -1.5)
FLOATS = ("float64", "float32", "float16", "bfloat16")
INTEGERS = ("int8", "uint8", "int16", "int32", "int64", "bool")


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", FLOATS)
def test_every_way_of_converting_gives_what_torch_gives(source: str, target: str) -> None:
    """`.to`, a write, and a compiled kernel; without a word from numpy."""
    there = torch.tensor(NUMBERS, dtype=getattr(torch, source)).to(getattr(torch, target))
    wanted = getattr(minitorch2, target)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        here = minitorch2.tensor(NUMBERS, dtype=getattr(minitorch2, source))
        written = minitorch2.zeros(len(NUMBERS), dtype=wanted).copy_(here)
        compiled = minitorch2.compile(lambda x: (x * 1).to(wanted))(here)
        ways = (here.to(wanted), written, compiled)
    assert [each.tolist() for each in ways] == [there.tolist()] * 3
