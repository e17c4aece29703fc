"""Random programs beside torch: results, strides, sharing, gradients, refusals.

More of them, with a histogram of what they exercised: `python -m tests.programs 10000 torch`.
"""

import pytest

torch = pytest.importorskip("torch")

from tests.programs.features import LINES, features  # noqa: E402
from tests.programs.judging import judge_seed  # noqa: E402
from tests.programs.writing import write  # noqa: E402

SEEDS, PARTS = 160, 8


@pytest.mark.parametrize("part", range(PARTS))
def test_programs(part: int) -> None:
    """No difference but those that torch alone makes."""
    found = [judge_seed("torch", seed)[0] for seed in range(part, SEEDS, PARTS)]
    assert not [complaint for complaints in found for complaint in complaints]


def test_every_feature_is_exercised() -> None:
    """The programs reach every kind of line that the histogram counts."""
    missing = {name for name, _ in LINES}
    for seed in range(1000):
        missing -= features(write(seed))
        if not missing:
            return
    assert not missing
