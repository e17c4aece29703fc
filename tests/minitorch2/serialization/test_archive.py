"""save and load: what goes in comes out, and nothing in a file runs."""

import io
import pickle
import zipfile

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.errors import SerializationError


def round_trip(value):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    buffer.seek(0)
    return torch.load(buffer)


def test_containers():
    value = {
        "numbers": (0, 255, 65535, -1, 2**40, -(2**80), 1.5, float("inf")),
        "others": [None, True, False, "häß", b"\x00\xff", torch.float32, torch.device("cpu")],
        (1, 2): {"set": {1, 2}, "empty": ((), [], {})},
    }
    assert round_trip(value) == value


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int8", "uint8", "bool"])
def test_dtypes(dtype):
    tensor = torch.arange(4).to(getattr(torch, dtype))
    found = round_trip(tensor)
    assert found.dtype is tensor.dtype and torch.equal(found, tensor)


def test_shared_memory_stays_shared():
    base = torch.arange(6.0)
    whole, part = round_trip([base, base.reshape(2, 3).t()[1:]])
    whole[1] = 100.0
    assert part.tolist() == [[100.0, 4.0], [2.0, 5.0]]
    assert part.stride() == (1, 3)


def test_one_object_in_two_places_is_one_object():
    weight = nn.Parameter(torch.ones(2))
    shared = [weight]
    first, second = round_trip([shared, shared])
    assert first is second and isinstance(first[0], nn.Parameter)


def test_state_dicts(tmp_path):
    model = nn.Sequential(nn.Linear(2, 3), nn.LayerNorm(3))
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    path = tmp_path / "model.pt"
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
    saved = torch.load(path, map_location="cpu", weights_only=True)
    other = nn.Sequential(nn.Linear(2, 3), nn.LayerNorm(3))
    other.load_state_dict(saved["model"])
    assert torch.equal(other[0].weight, model[0].weight)
    assert saved["optimizer"]["state"][0]["step"].item() == 1


def test_equal_objects_make_equal_files():
    files = []
    for _ in range(2):
        buffer = io.BytesIO()
        torch.save([torch.ones(3), "text"], buffer)
        files.append(buffer.getvalue())
    assert files[0] == files[1]


def test_modules_are_refused_with_advice(tmp_path):
    path = tmp_path / "model.pt"
    torch.save(nn.Linear(1, 1), path)
    with pytest.raises(SerializationError, match=r"weights_only=False"):
        torch.load(path)
    with pytest.raises((AttributeError, pickle.PicklingError)):
        torch.save([lambda: 1], tmp_path / "lambda.pt")
    assert not (tmp_path / "lambda.pt").exists()


class Evil:
    def __reduce__(self):
        return print, ("this must not run",)


def archive(program):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("archive/data.pkl", program)
    buffer.seek(0)
    return buffer


def test_code_in_a_file_does_not_run(capsys):
    with pytest.raises(SerializationError, match="refers to .*print"):
        torch.load(archive(pickle.dumps(Evil(), protocol=2)))
    assert capsys.readouterr().out == ""


def test_damaged_files():
    with pytest.raises(SerializationError, match="no zip archive"):
        torch.load(io.BytesIO(b"not a zip"))
    with pytest.raises(SerializationError, match="ends early"):
        torch.load(archive(b"\x80\x02X"))
    buffer = io.BytesIO()
    torch.save(torch.ones(4), buffer)
    with zipfile.ZipFile(buffer) as file:
        program = file.read("archive/data.pkl")
    shorter = io.BytesIO()
    with zipfile.ZipFile(shorter, "w") as file:
        file.writestr("archive/data.pkl", program)
        file.writestr("archive/data/0", b"\0" * 4)
    with pytest.raises(SerializationError, match="reaches outside its storage"):
        torch.load(shorter)
