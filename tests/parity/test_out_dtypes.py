"""out= of another dtype than the result's: which functions take it, for operands of each dtype."""

import warnings

import pytest

torch = pytest.importorskip("torch")

from minitorch2.ops.outputs import takes_out  # noqa: E402
from tests.op_samples import rows, samples, specs_in  # noqa: E402
from tests.parity import outs  # noqa: E402
from tests.parity.totals import Judgement, is_random  # noqa: E402

ROWS = {op.name: op for op in rows() if takes_out(op) and not is_random(op)}
FORMS = ("fitting", "wider", "narrower")
MOST = 8  # kinds of operands of a row


def of_each_kind(op):
    """A sample for each combination of the operands' dtypes."""
    found = {}
    for sample in samples(op):
        if not sample.fails:
            found.setdefault(tuple(spec.dtype.name for spec in specs_in(sample)), sample)
    return list(found.values())[:MOST]


@pytest.mark.parametrize("name", ROWS)
def test_row(name):
    """Wider and narrower tensors are written, or refused, as torch does."""
    found = Judgement(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in of_each_kind(ROWS[name]):
            for form, complaints in outs.complaints(ROWS[name], sample, FORMS):
                found.note("out=", f"{sample!r} with out= {form}", complaints)
    assert not found.unexpected, "\n".join(found.unexpected[:10])
