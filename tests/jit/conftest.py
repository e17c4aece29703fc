"""A row that takes graphs, present only while a test asks for it."""

from collections.abc import Iterator

import pytest

from minitorch2.ops import table
from minitorch2.ops.table import COMPOSITE, Op, defop


def _choose(predicate, then, otherwise, operands):
    """Run one of two graphs."""
    return (then if predicate.item() else otherwise)(*operands)[0]


@pytest.fixture
def choose(monkeypatch: pytest.MonkeyPatch) -> Iterator[Op]:
    """The row `choose(predicate, then, otherwise, operands)`, a conditional."""
    monkeypatch.setattr(table, "_table", dict(table._table))
    monkeypatch.setattr(table, "_binders", dict(table._binders))
    yield defop(
        "choose(Tensor predicate, any then, any otherwise, Tensor[] operands) -> Tensor",
        COMPOSITE,
        decomp=_choose,
        infer=lambda predicate, then, otherwise, operands: then(*operands)[0],
        doc="One of two graphs, run.",
    )
