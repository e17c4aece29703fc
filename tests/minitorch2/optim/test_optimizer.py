"""Optimizers: groups, closures, hooks, state that is saved and restored."""

import copy

import pytest

import minitorch2 as torch
from minitorch2 import nn

OPTIMIZERS = [
    lambda p: torch.optim.SGD(p, lr=0.1),
    lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    lambda p: torch.optim.Adam(p, lr=0.1),
    lambda p: torch.optim.Adam(p, lr=0.1, amsgrad=True),
    lambda p: torch.optim.AdamW(p, lr=0.1),
    lambda p: torch.optim.NAdam(p, lr=0.1),
    lambda p: torch.optim.RAdam(p, lr=0.3),
    lambda p: torch.optim.Adamax(p, lr=0.1),
    lambda p: torch.optim.RMSprop(p, lr=0.05, momentum=0.5, centered=True),
    lambda p: torch.optim.Adagrad(p, lr=0.5),
    lambda p: torch.optim.Adadelta(p, lr=20.0),
]


def bowl(parameter):
    """A convex function with its minimum at 3."""
    return ((parameter - 3) ** 2).sum()


@pytest.mark.parametrize("make", OPTIMIZERS)
def test_each_finds_the_minimum(make):
    parameter = nn.Parameter(torch.zeros(2))
    optimizer = make([parameter])
    for _ in range(150):
        optimizer.zero_grad()
        loss = bowl(parameter)
        loss.backward()
        optimizer.step()
    assert parameter.tolist() == pytest.approx([3, 3], abs=0.15)


@pytest.mark.parametrize("make", OPTIMIZERS)
def test_a_restored_optimizer_goes_on_as_the_first_would(make):
    first = nn.Parameter(torch.tensor([1.0, 2.0]))
    optimizer = make([first])

    def steps(parameter, optimizer, count):
        for _ in range(count):
            parameter.grad = parameter.detach() * 0.5 + 1
            optimizer.step()

    steps(first, optimizer, 3)
    second = copy.deepcopy(first)
    other = make([second])
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    steps(first, optimizer, 3)
    steps(second, other, 3)
    assert first.tolist() == second.tolist()


def test_groups_have_their_own_settings():
    a, b = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([{"params": [a]}, {"params": b, "lr": 1.0}], lr=0.1)
    for parameter in (a, b):
        parameter.grad = torch.ones(1)
    optimizer.step()
    assert a.item() == pytest.approx(0.9) and b.item() == 0
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 1.0]
    with pytest.raises(ValueError, match="more than one parameter group"):
        optimizer.add_param_group({"params": [a]})


def test_named_parameters():
    layer = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(layer.named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]


def test_parameters_without_a_gradient_stay():
    a, b = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))
    optimizer = torch.optim.AdamW([a, b])
    a.grad = torch.ones(1)
    optimizer.step()
    assert b.item() == 1 and b not in optimizer.state


def test_closures_and_hooks():
    parameter = nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([parameter], lr=0.5)
    seen = []
    optimizer.register_step_pre_hook(lambda *_: seen.append("before"))
    handle = optimizer.register_step_post_hook(lambda *_: seen.append("after"))

    def closure():
        optimizer.zero_grad()
        loss = bowl(parameter)
        loss.backward()
        return loss

    with torch.no_grad():
        assert optimizer.step(closure).item() == 9
    handle.remove()
    optimizer.step()
    assert seen == ["before", "after", "before"]


def test_a_step_is_not_recorded_and_is_seen_by_autograd():
    parameter = nn.Parameter(torch.ones(1))
    optimizer = torch.optim.AdamW([parameter])
    product = parameter * parameter
    parameter.grad = torch.ones(1)
    optimizer.step()
    assert parameter.is_leaf
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


def test_zero_grad():
    parameter = nn.Parameter(torch.ones(1))
    parameter.grad = torch.ones(1)
    optimizer = torch.optim.SGD([parameter])
    optimizer.zero_grad(set_to_none=False)
    assert parameter.grad.item() == 0
    optimizer.zero_grad()
    assert parameter.grad is None


def test_mistakes():
    with pytest.raises(ValueError, match="empty parameter list"):
        torch.optim.SGD([])
    with pytest.raises(TypeError, match="should be an iterable of Tensors"):
        torch.optim.SGD(torch.zeros(1))
    with pytest.raises(ValueError, match="non-leaf"):
        torch.optim.SGD([nn.Parameter(torch.ones(1)) * 2])
    with pytest.raises(ValueError, match="Invalid learning rate: -1"):
        torch.optim.Adam([nn.Parameter(torch.ones(1))], lr=-1)
    small = torch.optim.SGD([nn.Parameter(torch.ones(1))])
    large = torch.optim.SGD(nn.Linear(1, 1).parameters())
    with pytest.raises(ValueError, match="groups of"):
        small.load_state_dict(large.state_dict())
