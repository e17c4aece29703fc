"""Every row of the op table on every sample, judged by torch.

Values, dtypes, shapes, strides, gradients, double gradients, refusals, in-place forms.
"""

import functools
import warnings
from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch")

from minitorch2.ops.table import RANDOM, Op  # noqa: E402
from tests.op_samples import rows, samples  # noqa: E402
from tests.parity.differences import DIFFERENCES, Difference  # noqa: E402
from tests.parity.judge import complain, function_of  # noqa: E402

NAMES = [op.name for op in rows()]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """torch warns of its own deprecations on some samples."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def is_random(op: Op) -> bool:
    """Whether the values are drawn, so that only their dtype and shape can be compared."""
    return op.kind == RANDOM or op.effects == "random"


@functools.cache
def judged(name: str) -> list[tuple[str, list[str]]]:
    """For each sample of a row that differs: the call and the complaints."""
    op = next(op for op in rows() if op.name == name)
    found = [(repr(sample), complain(op, sample, is_random(op))) for sample in samples(op)]
    return [(call, complaints) for call, complaints in found if complaints]


@pytest.mark.parametrize("name", NAMES)
def test_row_has_a_judge(name: str) -> None:
    """The row's `torch` field names a function that exists."""
    op = next(op for op in rows() if op.name == name)
    assert callable(function_of(op))


@pytest.mark.parametrize("name", NAMES)
def test_row(name: str) -> None:
    """No difference but those by design."""
    unexpected = [
        f"{name}{call}: {complaint}"
        for call, complaints in judged(name)
        for complaint in complaints
        if not any(difference.covers(name, complaint) for difference in DIFFERENCES)
    ]
    assert not unexpected, f"{len(unexpected)} differences\n" + "\n".join(unexpected[:20])


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda d: f"{d.rows}: {d.complaint}")
def test_difference_still_exists(difference: Difference) -> None:
    """An entry of the list that matches nothing must go."""
    assert any(
        difference.covers(name, complaint)
        for name in NAMES
        for _, complaints in judged(name)
        for complaint in complaints
    )
