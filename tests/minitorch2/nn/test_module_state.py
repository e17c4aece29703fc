"""State dicts: what is in them, and what loading says when they do not fit."""

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.errors import ModuleError


def model(width=3):
    return nn.Sequential(nn.Linear(2, width), nn.LayerNorm(width))


def test_round_trip():
    source, target = model(), model()
    found = target.load_state_dict(source.state_dict())
    assert repr(found) == "<All keys matched successfully>"
    assert torch.equal(source[0].weight, target[0].weight)


def test_state_dict_shares_memory_without_history():
    source = model()
    state = source.state_dict()
    state["0.bias"].zero_()
    assert source[0].bias.tolist() == [0.0, 0.0, 0.0]
    assert not state["0.bias"].requires_grad


def test_all_that_does_not_fit_is_named_at_once():
    state = model().state_dict()
    state["0.wieght"] = state.pop("0.weight")
    state["1.bias"] = torch.zeros(4)
    with pytest.raises(ModuleError) as caught:
        model().load_state_dict(state)
    text = str(caught.value)
    assert 'Missing key(s) in state_dict: "0.weight".' in text
    assert 'Unexpected key(s) in state_dict: "0.wieght".' in text
    assert "size mismatch for 1.bias" in text
    assert 'rename the keys: "0.wieght" looks like "0.weight"' in text


def test_a_lost_prefix_is_recognized():
    state = {f"module.{name}": value for name, value in model().state_dict().items()}
    with pytest.raises(RuntimeError, match="looks like .* under another prefix"):
        model().load_state_dict(state)


def test_not_strict_loads_what_fits():
    state = model().state_dict()
    del state["1.weight"]
    state["other"] = torch.zeros(1)
    found = model().load_state_dict(state, strict=False)
    assert found.missing_keys == ["1.weight"]
    assert found.unexpected_keys == ["other"]


def test_assign_takes_the_tensors_themselves():
    state = {name: value.double() for name, value in model().state_dict().items()}
    target = model()
    target.load_state_dict(state, assign=True)
    assert target[0].weight.dtype is torch.float64
    assert isinstance(target[0].weight, nn.Parameter)


def test_extra_state():
    class Counted(nn.Module):
        calls = 0

        def get_extra_state(self):
            return {"calls": self.calls}

        def set_extra_state(self, state):
            self.calls = state["calls"]

    source, target = nn.Sequential(Counted()), nn.Sequential(Counted())
    source[0].calls = 4
    target.load_state_dict(source.state_dict())
    assert target[0].calls == 4


def test_a_module_is_no_state_dict():
    with pytest.raises(TypeError, match="expected state_dict to be dict-like"):
        model().load_state_dict(model())


@pytest.mark.parametrize("kind", [nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm])
def test_a_plain_dict_need_not_count_the_batches_of_a_norm(kind):
    model = nn.Sequential(kind(2))
    model[0].num_batches_tracked.fill_(7)
    state = model.state_dict()
    plain = {name: values + 1 for name, values in state.items() if "num_batches" not in name}
    given = dict(plain)
    assert str(model.load_state_dict(given)) == "<All keys matched successfully>"
    assert given.keys() == plain.keys()
    assert model[0].num_batches_tracked.item() == 7
    assert model[0].running_mean.tolist() == [1.0, 1.0]
    model[0].load_state_dict({name[2:]: values for name, values in plain.items()})


def test_a_state_of_this_version_must_count_the_batches_of_a_norm():
    model = nn.BatchNorm1d(2)
    state = model.state_dict()
    del state["num_batches_tracked"]
    assert model.load_state_dict(state, strict=False).missing_keys == ["num_batches_tracked"]
    with pytest.raises(RuntimeError, match="num_batches_tracked"):
        model.load_state_dict(state)
    counts_nothing = nn.BatchNorm1d(2, track_running_stats=False)
    counts_nothing.load_state_dict({"weight": torch.ones(2), "bias": torch.ones(2)})


def test_a_count_on_no_device_starts_at_zero():
    model = nn.BatchNorm1d(2, device="meta")
    plain = {name: torch.ones(2) for name in ("weight", "bias", "running_mean", "running_var")}
    model.load_state_dict(plain, assign=True)
    assert model.num_batches_tracked.item() == 0 and model.weight.tolist() == [1.0, 1.0]
