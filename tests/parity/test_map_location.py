"""torch judges where loaded tensors lie: every kind of `map_location`, and what a file names."""

import io
import zipfile

import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.both import LIBRARIES, check  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Sparse")


def content(t):
    base = t.arange(6.0)
    return {
        "ends": [base[:3], base[2:], base.view(2, 3).t()],
        "parameter": t.nn.Parameter(t.ones(2, dtype=t.bfloat16)),
        "linear": t.nn.Linear(2, 2).state_dict(),
    }


def saved(t, value, place="cpu"):
    """A file, its storages said to come from `place`."""
    file = io.BytesIO()
    t.save(value, file)
    if place == "cpu":
        return file.getvalue()
    named = (b"X\x03\x00\x00\x00cpu", b"X" + len(place).to_bytes(4, "little") + place.encode())
    moved = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(moved, "w") as new:
        for entry in old.infolist():
            held = old.read(entry)
            new.writestr(entry.filename, held.replace(*named))
    return moved.getvalue()


def facts(value):
    """Where tensors lie and how, through containers."""
    if isinstance(value, dict):
        return {key: facts(each) for key, each in value.items()}
    if isinstance(value, list):
        return [facts(each) for each in value]
    layout = [list(value.shape), list(value.stride()), value.storage_offset()]
    size = value.untyped_storage().nbytes()
    return [str(value.device), str(value.dtype), type(value).__name__, value.requires_grad, layout,
            size, value.tolist() if value.device.type == "cpu" and size < 30 else None]  # fmt: skip


def as_it_is(storage, place):
    return storage


def nothing(storage, place):
    return None


def no_storage(storage, place):
    return 3


def fails(storage, place):
    raise KeyError(place)


PLACES = [
    None, "cpu", "cpu:0", "cpu:1", "meta", "meta:0", "mps", "mps:0", "cuda", "cuda:0", "xpu", "hip",
    "xla", "nonsense", "", b"cpu", {}, {"cpu": "meta"}, {"cuda:0": "cpu"}, {"cpu": "nonsense"},
    {"cpu": "cuda"}, {"cpu": 3}, {"cuda:0": "meta", "cpu": "cuda"}, 3, 3.5, [1], as_it_is, nothing,
    no_storage, fails,
]  # fmt: skip


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("origin", ["cpu", "cuda:0", "mps", "meta", "nonsense"])
@pytest.mark.parametrize("where", PLACES, ids=lambda where: getattr(where, "__name__", str(where)))
def test_places(where, origin, weights_only):
    minitorch2.manual_seed(0)
    file = saved(minitorch2, content(minitorch2), origin)
    check(lambda t: facts(t.load(io.BytesIO(file), map_location=where, weights_only=weights_only)))


@pytest.mark.parametrize("name", ["cpu", "meta", "cpu:0", "meta:0", "cuda", "cuda:1"])
def test_devices(name):
    file = saved(minitorch2, content(minitorch2))
    check(lambda t: list(facts(t.load(io.BytesIO(file), map_location=t.device(name)))["ends"]))


@pytest.mark.parametrize("weights_only", [True, False])
def test_functions_are_asked_once_for_each_storage(weights_only):
    file = saved(torch, content(torch), "cuda:3")

    def asked(t):
        seen = []

        def place(storage, where):
            seen.append((type(storage).__name__, where, storage.nbytes()))
            return storage

        t.load(io.BytesIO(file), map_location=place, weights_only=weights_only)
        return seen

    check(asked)


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("where", ["cpu", "meta", as_it_is])
def test_shared_memory_stays_shared(where, weights_only):
    """On meta too, where torch makes a storage for each tensor."""
    file = io.BytesIO(saved(minitorch2, content(minitorch2)))
    found = minitorch2.load(file, map_location=where, weights_only=weights_only)
    one, two, three = found["ends"]
    assert one.untyped_storage() == two.untyped_storage() == three.untyped_storage()


@pytest.mark.parametrize("reader", LIBRARIES)
@pytest.mark.parametrize("writer", LIBRARIES)
@pytest.mark.parametrize("kind", ["coo", "csr", "result"])
def test_sparse_tensors_that_require_gradients(kind, writer, reader):
    """They are files of tensors; one in COO comes back without, one in CSR with its gradients."""
    made = writer.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2), requires_grad=True)
    if kind != "coo":
        made = made * 2 if kind == "result" else made.detach().to_sparse_csr().requires_grad_()
    found = reader.load(io.BytesIO(saved(writer, [made, made])), weights_only=True)
    assert found[0] is found[1] and found[0].requires_grad is (kind == "csr")
    assert found[0].to_dense().tolist() == made.to_dense().tolist()


def test_sparse_tensors_have_no_place_on_meta():
    file = io.BytesIO(saved(minitorch2, minitorch2.eye(2).to_sparse()))
    with pytest.raises(RuntimeError, match="sparse_coo on the device meta"):
        minitorch2.load(file, map_location="meta")
