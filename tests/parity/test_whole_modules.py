"""Whole modules in files: written and read here, and read from a file that torch wrote."""

import functools
import io
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402


class Marker:
    """Something beside tensors that a module of a script keeps."""

    def __init__(self, text: str):
        self.text = text


def _model(t: Any) -> Any:
    model = t.nn.Sequential(
        t.nn.Conv2d(1, 2, 3, padding=1),
        t.nn.BatchNorm2d(2),
        t.nn.ReLU(inplace=True),
        t.nn.Flatten(2),
        t.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True),
        t.nn.LSTM(4, 3, batch_first=True),
    )
    model.tied = model[4].linear1.weight
    model.marker = Marker("kept")
    return model


def _through(t: Any, thing: Any, reader: Any = None, **options: Any) -> Any:
    file = io.BytesIO()
    t.save(thing, file)
    file.seek(0)
    return (reader or t).load(file, **options)


@pytest.mark.parametrize("writer", [minitorch2, torch], ids=["ours", "torch's"])
def test_module_comes_back(writer: Any) -> None:
    """The same outputs, shared weights still shared, gradients, a mode that can be changed."""
    model = _model(writer).eval()
    found = _through(writer, model, minitorch2, weights_only=False)
    x = [[[[0.5, -1.0], [2.0, 0.25]]]]
    wanted, seen = model(writer.tensor(x))[0], found(minitorch2.tensor(x))[0]
    difference = abs(wanted.detach().numpy() - seen.detach().numpy()).max()
    assert difference < 1e-5
    assert found.tied is found[4].linear1.weight and found.marker.text == "kept"
    found.train()(minitorch2.tensor(x * 3))[0].sum().backward()
    assert all(p.grad is not None for p in found[:5].parameters())
    assert list(found.state_dict()) == list(model.state_dict())


def test_only_where_the_file_is_trusted() -> None:
    """Without weights_only=False neither library reads what could run code."""
    for t in (minitorch2, torch):
        for thing in (_model(t), {"partial": functools.partial(print, "x")}):
            with pytest.raises(Exception, match="weights_only"):
                _through(t, thing)


def test_other_objects_and_shared_memory() -> None:
    """Dataclasses, arrays, optimizers with their state; views of one storage stay views."""
    for t in (minitorch2, torch):
        base = t.arange(6.0)
        parameter = t.nn.Parameter(t.ones(2))
        optimizer = t.optim.Adam([parameter], lr=0.1)
        parameter.sum().backward()
        optimizer.step()
        given = {"marker": Marker("m"), "a": base, "b": base[2:4], "o": optimizer}
        found = _through(t, given, weights_only=False)
        found["a"][2] = 10.0
        assert found["b"].tolist() == [10.0, 3.0] and found["marker"].text == "m"
        assert found["o"].param_groups[0]["lr"] == 0.1 and len(found["o"].state) == 1


def test_safe_globals() -> None:
    for t in (minitorch2, torch):
        names = t.serialization
        names.add_safe_globals([Marker])
        with names.safe_globals([complex]):
            assert set(names.get_safe_globals()) >= {Marker, complex}
        assert Marker in names.get_safe_globals() and complex not in names.get_safe_globals()
        names.clear_safe_globals()
        assert not names.get_safe_globals()


def test_state_dict_of_an_optimizer_lists_its_settings_first() -> None:
    for t in (minitorch2, torch):
        state = t.optim.Adam([t.nn.Parameter(t.ones(2))]).state_dict()
        assert list(state["param_groups"][0])[-1] == "params"
