"""Schedules: what they refuse and warn of, and their states."""

import pytest

import minitorch2 as torch
from minitorch2 import optim
from minitorch2.optim import lr_scheduler as schedules


def optimizer_of(groups=2, kind="SGD", **settings):
    given = [{"params": [torch.nn.Parameter(torch.ones(2))]} for _ in range(groups)]
    return getattr(optim, kind)(given, lr=0.1, **settings)


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda o: schedules.ConstantLR(o, 2.0), "between 0 and 1"),
        (lambda o: schedules.LinearLR(o, -0.1), "Starting multiplicative factor"),
        (lambda o: schedules.LinearLR(o, 0.1, 3.0), "Ending multiplicative factor"),
        (lambda o: schedules.CosineAnnealingWarmRestarts(o, 0), "positive integer T_0"),
        (lambda o: schedules.CosineAnnealingWarmRestarts(o, 1, 0), "integer T_mult >= 1"),
        (lambda o: schedules.ReduceLROnPlateau(o, factor=1.0), "Factor should be < 1.0"),
        (lambda o: schedules.ReduceLROnPlateau(o, mode="x"), "mode x is unknown"),
        (lambda o: schedules.ReduceLROnPlateau(o, min_lr=[1, 2, 3]), "expected 2 min_lrs, got 3"),
        (lambda o: schedules.SequentialLR(o, [], []), "at least one scheduler"),
        (lambda o: schedules.ChainedScheduler([]), "at least one scheduler"),
        (
            lambda o: schedules.SequentialLR(o, [schedules.StepLR(optimizer_of(), 1)], []),
            "belong to the same optimizer",
        ),
        (
            lambda o: schedules.ChainedScheduler([schedules.ReduceLROnPlateau(o)]),
            "does not support `ReduceLROnPlateau`",
        ),
        (lambda o: schedules.OneCycleLR(o, 0.1), "total_steps OR"),
        (lambda o: schedules.OneCycleLR(o, 0.1, total_steps=0), "positive integer total_steps"),
        (lambda o: schedules.OneCycleLR(o, 0.1, epochs=0, steps_per_epoch=1), "integer epochs"),
        (lambda o: schedules.OneCycleLR(o, 0.1, total_steps=3, pct_start=2.0), "pct_start"),
        (lambda o: schedules.OneCycleLR(o, [0.1] * 3, total_steps=3), "max_lr has 3 values"),
        (lambda o: schedules.CyclicLR(o, 0.1, 0.2, mode="x"), "mode is invalid"),
        (
            lambda o: schedules.CyclicLR(optimizer_of(kind="Adagrad"), 0.1, 0.2),
            "must support momentum",
        ),
    ],
)
def test_schedules_that_are_refused(make, text):
    with pytest.raises(ValueError, match=text):
        make(optimizer_of())


def test_the_order_of_steps_and_given_epochs_are_warned_of():
    schedule = schedules.StepLR(optimizer_of(), 1)
    with pytest.warns(UserWarning, match=r"before `optimizer.step\(\)`"):
        schedule.step()
    with pytest.warns(UserWarning, match="epoch parameter"):
        schedule.step(3)
    optimizer = optimizer_of()
    schedule = schedules.SequentialLR(
        optimizer, [schedules.ConstantLR(optimizer), schedules.StepLR(optimizer, 1)], [2]
    )
    for _ in range(4):
        optimizer.step()
        schedule.step()


class Half:
    """A function with a state."""

    def __init__(self):
        self.calls = 0

    def __call__(self, epoch):
        self.calls += 1
        return 0.5**epoch


@pytest.mark.parametrize(
    "make",
    [
        lambda o: schedules.ChainedScheduler([schedules.StepLR(o, 2), schedules.ConstantLR(o)]),
        lambda o: schedules.SequentialLR(
            o, [schedules.StepLR(o, 2), schedules.ExponentialLR(o, 0.9)], [3]
        ),
        lambda o: schedules.LambdaLR(o, Half()),
        lambda o: schedules.CyclicLR(o, 0.1, 0.3, 3),
        lambda o: schedules.ReduceLROnPlateau(o),
    ],
)
def test_states_go_over_to_another_schedule(make):
    def go(optimizer, schedule, steps):
        for _ in range(steps):
            optimizer.step()
            measured = isinstance(schedule, schedules.ReduceLROnPlateau)
            schedule.step(1.0) if measured else schedule.step()
        return schedule.get_last_lr()

    first, second = optimizer_of(), optimizer_of()
    one, other = make(first), make(second)
    go(first, one, 4)
    other.load_state_dict(one.state_dict())
    second.load_state_dict(first.state_dict())
    assert go(first, one, 5) == go(second, other, 5)
    if isinstance(one, schedules.LambdaLR):
        assert one.lr_lambdas[0].calls == other.lr_lambdas[0].calls
