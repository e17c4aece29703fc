"""Random Python programs that are left again and again, wherever it may be.

`python -m tests.jit.resume.test_random_programs SECONDS [FIRST SEED]` goes on for a while.
"""

import random
import sys
import time
from collections import Counter

import pytest

from minitorch2.jit.capture.attempt import Attempt
from minitorch2.jit.capture.graph_break import GraphBreak
from tests.python_programs.judging import Verdict, judge
from tests.python_programs.writing import write

WIDTHS = (1, 2, 3, 5, 8, 13, 30, 100)


def left_often(seed: int) -> Verdict:
    """A program judged while every piece of it ends after a few instructions."""
    width = random.Random(seed).choice(WIDTHS)
    original = Attempt.__init__

    def stopping(self, fn, args, kwargs, unit, chosen, place, at=None, reason=None, resume=True):
        if at is None:
            at, reason = width, GraphBreak("unknown-call", "a break for a test")
        original(self, fn, args, kwargs, unit, chosen, place, at, reason, resume)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Attempt, "__init__", stopping)
        return judge(write(seed))


@pytest.mark.filterwarnings("ignore:.* was compiled 8 times")
@pytest.mark.parametrize("seed", range(30))
def test_a_program_is_left_and_goes_on(seed):
    verdict = left_often(seed)
    assert not verdict.differences and verdict.breaks


def main() -> None:
    """Judge programs until the time is over."""
    end = time.monotonic() + float(sys.argv[1])
    seed = first = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    bad = 0
    reasons: Counter[str] = Counter()
    while time.monotonic() < end:
        verdict = left_often(seed)
        reasons.update(set(verdict.breaks))
        if verdict.differences:
            bad += 1
            print(f"seed {seed}: {verdict.differences[0][:600]}", flush=True)
        seed += 1
    print(f"{seed - first} programs, {bad} differ;", dict(reasons))


if __name__ == "__main__":
    main()
