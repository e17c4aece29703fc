"""Files with sparse tensors and complex numbers pass between the libraries; meta as a place."""

import io

import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.both import LIBRARIES, check  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Sparse")

VALUES = [
    lambda t: t.eye(2).to_sparse(),
    lambda t: t.sparse_coo_tensor([[0, 0, 1]], [1.0, 2.0, 3.0], (3,)),
    lambda t: t.sparse_coo_tensor([[2]], t.ones(1, 2, dtype=t.float64), (4, 2)),
    lambda t: t.eye(2).to_sparse_csr(),
    lambda t: {"a": t.eye(2).to_sparse(), "b": [t.eye(3).to_sparse_csr(), 1 + 2j]},
]


def through(writer, reader, value, **how):
    file = io.BytesIO()
    writer.save(value(writer), file)
    file.seek(0)
    return reader.load(file, **how)


def shown(value):
    """What prints, and whether places may be there twice."""
    unique = None if getattr(value, "layout", None) is None else value.is_sparse_csr
    return str(value), unique if unique or unique is None else value.is_coalesced()


@pytest.mark.parametrize("reader", LIBRARIES)
@pytest.mark.parametrize("writer", LIBRARIES)
@pytest.mark.parametrize("value", VALUES)
def test_files(value, writer, reader):
    assert shown(through(writer, reader, value)) == shown(value(reader))


def test_places_outside_are_refused():
    def damaged(t):
        return t.sparse_coo_tensor([[5]], [1.0], (3,), check_invariants=False)

    # torch.load does not look, unless it is told to; then it says this
    with pytest.raises(RuntimeError, match=r"size is inconsistent with indices"):
        through(torch, minitorch2, damaged)


def test_meta():
    def sizes(t):
        made = t.nn.Linear(2, 3)
        found = through(t, t, lambda t: {"p": made.weight, "l": [made.bias.detach(), (3, None)]},
                        map_location="meta")  # fmt: skip
        one, (two, rest) = found["p"], found["l"]
        kinds = [one.device.type, two.device.type, type(one).__name__, one.requires_grad]
        return [*kinds, list(one.shape), list(two.shape), rest]

    check(sizes)


def test_no_gpu():
    for library in LIBRARIES:
        with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device"):
            through(torch, library, lambda t: t.ones(2), map_location="cuda")
