"""Schedules: the rates they set, and resuming them; tests/parity compares them with torch."""

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.optim import lr_scheduler

# The optimizers here make no steps.
pytestmark = pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")


def optimizer(lr=1.0):
    return torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=lr)


def rates(schedule, steps):
    found = [schedule.get_last_lr()[0]]
    for _ in range(steps):
        schedule.step()
        found.append(schedule.get_last_lr()[0])
    return found


def test_steps():
    schedule = lr_scheduler.StepLR(optimizer(), step_size=2, gamma=0.5)
    assert rates(schedule, 4) == [1, 1, 0.5, 0.5, 0.25]


def test_each_group_keeps_its_rate():
    parameters = [nn.Parameter(torch.zeros(1)) for _ in range(2)]
    groups = [{"params": parameters[:1], "lr": 1.0}, {"params": parameters[1:], "lr": 2.0}]
    schedule = lr_scheduler.ExponentialLR(torch.optim.SGD(groups), 0.5)
    schedule.step()
    assert schedule.get_last_lr() == [0.5, 1.0]


def test_cosine_reaches_its_floor_and_comes_back():
    found = rates(lr_scheduler.CosineAnnealingLR(optimizer(), 4, eta_min=0.1), 8)
    assert found[4] == pytest.approx(0.1) and found[8] == pytest.approx(1.0)


def test_one_cycle_moves_momentum_too():
    sgd = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0, momentum=0.5)
    found = rates(lr_scheduler.OneCycleLR(sgd, max_lr=1.0, total_steps=10), 9)
    assert max(found) == 1.0 and found[0] == pytest.approx(1 / 25)
    assert sgd.param_groups[0]["momentum"] == pytest.approx(0.95)
    with pytest.raises(ValueError, match="Tried to step"):
        rates(lr_scheduler.OneCycleLR(sgd, max_lr=1.0, total_steps=3), 5)


def test_plateau():
    schedule = lr_scheduler.ReduceLROnPlateau(optimizer(), patience=1, factor=0.5)
    for measure in (1.0, 1.0, 1.0, 0.5):
        schedule.step(torch.tensor(measure))
    assert schedule.get_last_lr() == [0.5]


def test_resuming():
    first = lr_scheduler.MultiStepLR(optimizer(), [2, 5])
    rates(first, 3)
    second = lr_scheduler.MultiStepLR(optimizer(first.get_last_lr()[0]), [2, 5])
    second.load_state_dict(first.state_dict())
    assert rates(first, 4) == rates(second, 4)


def test_mistakes():
    with pytest.raises(TypeError, match="is not an Optimizer"):
        lr_scheduler.StepLR([], 1)
    with pytest.raises(ValueError, match="Expected 1 lr_lambdas"):
        lr_scheduler.LambdaLR(optimizer(), [len, len])
