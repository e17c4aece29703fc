"""Sequential, lists and dicts of modules and parameters."""

from collections import OrderedDict

import pytest

import minitorch2 as torch
from minitorch2 import nn


def test_sequential_is_a_list_that_can_be_called():
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    model.append(nn.Linear(3, 1))
    assert model(torch.ones(4, 2)).shape == (4, 1)
    assert len(model[:2]) == 2 and isinstance(model[-1], nn.Linear)
    model[1] = nn.Tanh()
    del model[0]
    assert [type(m) for m in model] == [nn.Tanh, nn.Linear]
    assert list(model.state_dict()) == ["1.weight", "1.bias"]
    model.insert(0, nn.Identity())
    assert list(model._modules) == ["0", "1", "2"]
    with pytest.raises(IndexError):
        model[3]


def test_sequential_by_names():
    model = nn.Sequential(OrderedDict(first=nn.Linear(2, 2), act=nn.ReLU()))
    assert [name for name, _ in model.named_children()] == ["first", "act"]
    assert isinstance(model.act, nn.ReLU)


def test_module_list():
    layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(2))
    layers += [nn.ReLU()]
    layers.insert(1, nn.Tanh())
    assert [type(m) for m in layers] == [nn.Linear, nn.Tanh, nn.Linear, nn.ReLU]
    assert isinstance(layers.pop(), nn.ReLU)
    assert len(list(layers.parameters())) == 4
    with pytest.raises(NotImplementedError, match="forward"):
        layers(1)


def test_module_dict():
    parts = nn.ModuleDict({"a": nn.ReLU()})
    parts.update([("b", nn.Linear(1, 1))])
    assert list(parts) == ["a", "b"] and "b" in parts and len(parts) == 2
    parts.pop("a")
    assert list(parts.keys()) == ["b"]


def test_parameter_list_and_dict():
    weights = nn.ParameterList([torch.ones(2), nn.Parameter(torch.zeros(1))])
    weights.append(torch.ones(3))
    assert len(list(weights.parameters())) == 3
    assert [w.numel() for w in weights] == [2, 1, 3]
    named = nn.ParameterDict({"w": torch.ones(2)})
    named["v"] = torch.zeros(1)
    assert sorted(name for name, _ in named.named_parameters()) == ["v", "w"]
    assert named.get("missing") is None
