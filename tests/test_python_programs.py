"""Random Python programs do the same run as they are and compiled; see `python_programs`."""

import pytest

from tests.python_programs.judging import judge
from tests.python_programs.writing import write


@pytest.mark.parametrize("first", range(0, 240, 40))
def test_programs(first):
    """Of each forty, half run compiled graphs; many are captured whole, and some break."""
    verdicts = []
    for seed in range(first, first + 40):
        verdicts.append(judge(write(seed)))
        assert not verdicts[-1].differences, write(seed).text
    assert sum(verdict.nodes > 0 for verdict in verdicts) > 20
    assert sum(not verdict.breaks for verdict in verdicts) > 15
    assert sum(bool(verdict.breaks) for verdict in verdicts) > 6


def test_on_the_interpreter():
    for seed in range(1000, 1040):
        assert not judge(write(seed), "interpreter").differences, write(seed).text
