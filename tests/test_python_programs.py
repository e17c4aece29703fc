"""Random Python programs do the same run as they are and compiled; see `python_programs`."""

import pytest

from tests.python_programs.judging import judge
from tests.python_programs.writing import write


@pytest.mark.parametrize("first", range(0, 240, 40))
def test_programs(first):
    for seed in range(first, first + 40):
        assert not judge(write(seed)).differences, write(seed).text


def test_on_the_interpreter():
    for seed in range(1000, 1040):
        assert not judge(write(seed), "interpreter").differences, write(seed).text


def test_most_programs_run_compiled_graphs():
    verdicts = [judge(write(seed)) for seed in range(60)]
    assert sum(verdict.nodes > 0 for verdict in verdicts) > 20
    assert sum(not verdict.breaks for verdict in verdicts) > 30
    assert sum(bool(verdict.breaks) for verdict in verdicts) > 10
