"""Module: the registry, walking the tree, hooks, modes, printing."""

import copy
import pickle

import pytest

import minitorch2 as torch
from minitorch2 import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 3)
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("scratch", torch.zeros(2), persistent=False)
        self.note = "plain"

    def forward(self, x):
        return self.inner(x) * self.scale


def test_what_is_assigned_is_sorted_by_its_class():
    block = Block()
    assert [name for name, _ in block.named_parameters()] == [
        "scale",
        "inner.weight",
        "inner.bias",
    ]
    assert [name for name, _ in block.named_buffers()] == ["count", "scratch"]
    assert [name for name, _ in block.named_modules()] == ["", "inner"]
    assert block.note == "plain"
    assert list(block.state_dict()) == ["scale", "count", "inner.weight", "inner.bias"]


def test_a_shared_parameter_is_walked_once():
    first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    second.weight = first.weight
    pair = nn.Sequential(first, second)
    assert len(list(pair.parameters())) == 3
    assert len(pair.state_dict()) == 4


def test_assigning_keeps_the_order_and_changes_the_table():
    layer = nn.Linear(2, 2)
    layer.weight = nn.Parameter(torch.zeros(2, 2))
    assert [name for name, _ in layer.named_parameters()] == ["weight", "bias"]
    layer.bias = None
    assert [name for name, _ in layer.named_parameters()] == ["weight"]
    with pytest.raises(TypeError, match="cannot assign 'Tensor' as parameter 'weight'"):
        layer.weight = torch.zeros(2, 2)


def test_assigning_before_init_says_so():
    class Early(nn.Module):
        def __init__(self):
            self.weight = nn.Parameter(torch.zeros(1))

    with pytest.raises(AttributeError, match="before Module.__init__"):
        Early()


def test_unknown_attribute():
    with pytest.raises(AttributeError, match="'Linear' object has no attribute 'wieght'"):
        _ = nn.Linear(1, 1).wieght


def test_names_are_checked():
    block = Block()
    with pytest.raises(KeyError, match="can't contain"):
        block.register_buffer("a.b", torch.zeros(1))
    with pytest.raises(KeyError, match="already exists"):
        block.register_parameter("forward", None)


def test_conversion_touches_floating_parts_only():
    block = Block()
    block.register_buffer("index", torch.arange(3))
    block.double()
    assert block.scale.dtype is torch.float64 and block.count.dtype is torch.float64
    assert block.index.dtype is torch.int64
    assert isinstance(block.scale, nn.Parameter)
    with pytest.raises(TypeError, match="only accepts floating point or complex dtypes"):
        block.to(torch.int64)


def test_modes_reach_all_children():
    model = nn.Sequential(nn.Dropout(0.5), nn.Sequential(nn.Dropout(0.5)))
    model.eval()
    assert not any(module.training for module in model.modules())
    x = torch.ones(4)
    assert torch.equal(model(x), x)
    model.train()
    assert all(module.training for module in model.modules())


def test_freezing_and_zero_grad():
    layer = nn.Linear(2, 1)
    layer(torch.ones(1, 2)).sum().backward()
    layer.zero_grad(set_to_none=False)
    assert layer.weight.grad.tolist() == [[0.0, 0.0]]
    layer.zero_grad()
    assert layer.weight.grad is None
    layer.requires_grad_(False)
    assert not layer(torch.ones(1, 2)).requires_grad


def test_apply_goes_from_leaves_to_root():
    seen = []
    nn.Sequential(nn.ReLU(), nn.Sequential(nn.Tanh())).apply(lambda m: seen.append(m._get_name()))
    assert seen == ["ReLU", "Tanh", "Sequential", "Sequential"]


def test_paths():
    model = nn.Sequential(nn.Sequential(nn.Linear(1, 2)))
    assert model.get_submodule("0.0") is model[0][0]
    assert model.get_parameter("0.0.bias") is model[0][0].bias
    with pytest.raises(AttributeError, match="has no attribute `7`"):
        model.get_submodule("0.7")


def test_forward_hooks_see_and_replace():
    layer = nn.Identity()
    seen = []
    before = layer.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    after = layer.register_forward_hook(lambda module, args, output: seen.append(output) or 7)
    assert layer(torch.tensor(1)) == 7
    assert seen == [torch.tensor(2)]
    before.remove()
    after.remove()
    assert layer(torch.tensor(1)) == 1


def test_hooks_with_keywords_and_order():
    layer = nn.Linear(1, 1)
    order = []
    layer.register_forward_hook(lambda *_: order.append("last"))
    layer.register_forward_hook(lambda *_: order.append("first"), prepend=True)
    layer.register_forward_pre_hook(
        lambda module, args, kwargs: ((kwargs["given"],), {}), with_kwargs=True
    )
    layer(given=torch.ones(1, 1))
    assert order == ["first", "last"]


def test_a_hook_that_must_always_be_called_is_called_when_forward_raises():
    class Broken(nn.Module):
        def forward(self, x):
            raise ValueError("broken")

    module, seen = Broken(), []
    module.register_forward_hook(lambda *args: seen.append(args[-1]), always_call=True)
    with pytest.raises(ValueError, match="broken"):
        module(1)
    assert seen == [None]


def test_backward_hooks_see_and_replace_gradients():
    layer = nn.Linear(2, 1, bias=False)
    seen = {}
    layer.register_full_backward_hook(
        lambda module, grad_input, grad_output: seen.update(i=grad_input, o=grad_output)
    )
    layer.register_full_backward_pre_hook(lambda module, grad_output: (grad_output[0] * 2,))
    x = torch.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    assert seen["o"][0].tolist() == [[2.0]]
    assert torch.equal(seen["i"][0], x.grad)
    assert torch.equal(x.grad, 2 * layer.weight.detach())


def test_backward_hooks_without_input_gradients():
    layer, seen = nn.Linear(2, 1), []
    layer.register_full_backward_hook(lambda module, gi, go: seen.append(gi))
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        layer(torch.ones(1, 2)).sum().backward()
    assert seen == [(None,)]


def test_copies_are_apart():
    model = nn.Sequential(nn.Linear(2, 2))
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert isinstance(other[0].weight, nn.Parameter)
        assert torch.equal(other[0].weight, model[0].weight)
        with torch.no_grad():
            other[0].weight.zero_()
        assert not torch.equal(other[0].weight, model[0].weight)


def test_printing():
    model = nn.Sequential(nn.Linear(2, 3), nn.ModuleDict({"act": nn.ReLU(inplace=True)}))
    assert repr(model) == (
        "Sequential(\n"
        "  (0): Linear(in_features=2, out_features=3, bias=True)\n"
        "  (1): ModuleDict(\n"
        "    (act): ReLU(inplace=True)\n"
        "  )\n"
        ")"
    )
    assert repr(nn.Parameter(torch.ones(2))) == (
        "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    )


def test_a_parameter_shares_memory_and_keeps_its_class():
    data = torch.zeros(2)
    parameter = nn.Parameter(data)
    data[0] = 5.0
    assert parameter.tolist() == [5.0, 0.0]
    assert type(parameter + 1) is torch.Tensor
    assert parameter.requires_grad and parameter.is_leaf


def test_extra_state_is_known_by_its_methods_in_any_class_hierarchy():
    class Named:
        pass

    class Plain(nn.Linear, Named):  # Module is not last but one of its bases
        pass

    class Keeps(nn.Linear, Named):
        def get_extra_state(self):
            return {"steps": 3}

        def set_extra_state(self, state):
            self.steps = state["steps"]

    assert list(Plain(1, 1).state_dict()) == ["weight", "bias"]
    keeps = Keeps(1, 1)
    keeps.load_state_dict(Keeps(1, 1).state_dict())
    assert keeps.steps == 3


def test_subclass_of_parameter_with_a_constructor_of_its_own():
    class Bounded(nn.Parameter):
        def __new__(cls, data, low=0.0, requires_grad=True):
            made = torch.Tensor._make_subclass(cls, data, requires_grad)
            made.low = low
            return made

    class Named(nn.Parameter):
        def __new__(cls, data, label):
            made = super().__new__(cls, data, requires_grad=False)
            made.label = label
            return made

    bounded = Bounded(torch.ones(2), low=-1.0)
    assert bounded.requires_grad and bounded.low == -1.0 and isinstance(bounded, nn.Parameter)
    assert not Named(torch.ones(2), "scale").requires_grad
    module = nn.Module()
    module.weight = bounded
    assert list(module.parameters())[0] is bounded
