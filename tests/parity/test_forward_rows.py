"""Tangents of every row of the op table on every sample, judged by torch's forward mode."""

import functools

import pytest

torch = pytest.importorskip("torch")

from tests.op_samples import rows  # noqa: E402
from tests.parity import tangents  # noqa: E402
from tests.parity.totals import Judgement, judge_tangents  # noqa: E402

ROWS = {op.name: op for op in rows()}

# Rows of which torch has a tangent for no sample; one that gains a comparison must go.
NO_FORMULA = set(
    """
    floor_divide floor_divide_ heaviside heaviside_ index_reduce index_reduce_ cdist igamma igamma_
    igammac igammac_ zeta bincount asinh_ acosh_ atanh_ bitwise_and bitwise_and_ bitwise_or
    bitwise_or_ bitwise_xor bitwise_xor_ bitwise_not bitwise_not_ bitwise_left_shift
    bitwise_left_shift_ bitwise_right_shift bitwise_right_shift_ channel_norm unique_parts
    unique_consecutive_parts gradients linalg_pinv_above
    """.split()
)


@functools.cache
def judged(name: str) -> Judgement:
    """A row judged, once for all tests."""
    return judge_tangents(name)


@pytest.mark.parametrize("name", ROWS)
def test_row(name: str) -> None:
    """No difference in any sample but those by design."""
    unexpected = judged(name).unexpected
    assert not unexpected, f"{len(unexpected)} differences\n" + "\n".join(unexpected[:20])


def test_every_other_row_has_a_comparison() -> None:
    """What passes has been compared, wherever a sample has something to differentiate."""
    asked = {name for name, op in ROWS.items() if tangents.asked(op)}
    assert {name for name in asked if not judged(name).compared["tangents"]} == NO_FORMULA
