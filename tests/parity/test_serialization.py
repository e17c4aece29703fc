"""torch judges files: each library reads what the other has saved."""

import io

import pytest
import torch

import minitorch2
from tests.parity import both
from tests.parity.shared import as_array

DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "bool"]


def content(library):
    base = library.arange(12.0).reshape(3, 4)
    return {
        "tensors": [base, base.t(), base[1], library.zeros(0, 2), library.tensor(1.5)],
        "dtypes": {name: library.ones(3).to(getattr(library, name)) for name in DTYPES},
        "plain": (1, -(2**40), 2.5, "text", None, True, [1, (2, 3)], b"\x00\xff"),
        "size": base.shape,
        "parameter": library.nn.Parameter(library.ones(2)),
        "state": library.nn.Linear(2, 3).state_dict(),
    }


def check(found, expected):
    for mine, other in zip(found["tensors"], expected["tensors"], strict=True):
        assert as_array(mine).tolist() == as_array(other).tolist()
        assert mine.stride() == other.stride()
    for name, tensor in found["dtypes"].items():
        assert str(tensor.dtype) == f"torch.{name}" and tensor.float().tolist() == [1, 1, 1]
    assert found["plain"] == expected["plain"] and tuple(found["size"]) == (3, 4)
    assert type(found["parameter"]).__name__ == "Parameter"
    assert list(found["state"]) == list(expected["state"])
    found["tensors"][0][0, 1] = 50.0
    assert found["tensors"][1][1, 0].item() == 50.0


@pytest.mark.parametrize(("writer", "reader"), [(minitorch2, torch), (torch, minitorch2)])
def test_files_are_exchanged(writer, reader):
    buffer = io.BytesIO()
    expected = content(writer)
    writer.save(expected, buffer)
    buffer.seek(0)
    check(reader.load(buffer, weights_only=True), expected)


def test_records_that_cannot_be_read(tmp_path):
    """A reader refuses as torch's does: no file, no archive, no such record."""
    (tmp_path / "text").write_text("no archive")
    torch.save({"x": torch.arange(3)}, tmp_path / "x.pt")
    for name in ("missing", "text"):
        both.check(lambda t, name=name: t._C.PyTorchFileReader(str(tmp_path / name)))
    both.check(lambda t: t._C.PyTorchFileReader(str(tmp_path / "x.pt")).get_record("data/1"))
    both.check(lambda t: t._C.PyTorchFileReader(str(tmp_path / "x.pt")).get_record("data/0"))
