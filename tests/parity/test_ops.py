"""Every row of the op table judged by torch: a part of what `python -m tests.parity` runs.

Values, dtypes, shapes, strides, gradients, double gradients, refusals, in-place forms, out=; on
every sample of the row and on the variations of one of them.
"""

import functools
import re

import pytest

torch = pytest.importorskip("torch")

from minitorch2.ops.table import lookup  # noqa: E402
from tests.op_samples import rows  # noqa: E402
from tests.parity.differences import DIFFERENCES  # noqa: E402
from tests.parity.judge import function_of  # noqa: E402
from tests.parity.totals import Judgement, judge, judge_tangents  # noqa: E402

NAMES = [op.name for op in rows()]
MOST = 15  # documented differences


@functools.cache
def judged(name: str) -> Judgement:
    """A row judged, once for all tests."""
    return judge(name, varied=1, outputs=1)


@pytest.mark.parametrize("name", NAMES)
def test_row_has_a_judge(name: str) -> None:
    """The row's `torch` field names a function that exists."""
    assert callable(function_of(lookup(name)))


@pytest.mark.parametrize("name", NAMES)
def test_row(name: str) -> None:
    """No difference but those by design."""
    unexpected = judged(name).unexpected
    assert not unexpected, f"{len(unexpected)} differences\n" + "\n".join(unexpected[:20])


def test_differences_exist() -> None:
    """The list of differences is short, and an entry that matches nothing must go."""
    assert len(DIFFERENCES) <= MOST
    met = {index for name in NAMES for index in judged(name).meant}
    for index in set(range(len(DIFFERENCES))) - met:  # more variations of the rows it names
        for name in NAMES:
            if index not in met and re.fullmatch(DIFFERENCES[index].rows, name):
                met |= set(judge_tangents(name, judge(name, varied=6, outputs=1)).meant)
    assert met == set(range(len(DIFFERENCES)))
