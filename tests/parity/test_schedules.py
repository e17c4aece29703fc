"""torch judges schedules: the same sequence of rates (and momenta) over 30 steps."""

import warnings

import pytest
import torch

import minitorch2

CASES = [
    "LambdaLR(o, lambda epoch: 0.95 ** epoch)",
    "LambdaLR(o, [lambda epoch: 1 / (epoch + 1), lambda epoch: 0.5])",
    "MultiplicativeLR(o, lambda epoch: 0.9)",
    "StepLR(o, 4, 0.5)",
    "MultiStepLR(o, [3, 3, 10], 0.3)",
    "ExponentialLR(o, 0.9)",
    "ConstantLR(o, 0.25, 5)",
    "LinearLR(o, 0.2, 0.9, 7)",
    "PolynomialLR(o, 12, 2.0)",
    "CosineAnnealingLR(o, 10)",
    "CosineAnnealingLR(o, 7, 0.001)",
    "CosineAnnealingWarmRestarts(o, 4, 2, 0.001)",
    "OneCycleLR(o, 0.5, total_steps=31)",
    "OneCycleLR(o, [0.5, 0.2], epochs=4, steps_per_epoch=10, anneal_strategy='linear')",
    "OneCycleLR(o, 0.5, total_steps=31, three_phase=True, cycle_momentum=False)",
    "CyclicLR(o, 0.01, 0.1, 5, 3)",
    "CyclicLR(o, 0.01, 0.1, 4, mode='triangular2')",
    "CyclicLR(o, 0.01, 0.1, 4, mode='exp_range', gamma=0.95)",
    "SequentialLR(o, [s.LinearLR(o, 0.1, 1.0, 5), s.ExponentialLR(o, 0.9)], [6])",
    "SequentialLR(o, [s.ConstantLR(o, 0.1, 3), s.StepLR(o, 2), s.ExponentialLR(o, 0.9)], [3, 9])",
    "ChainedScheduler([s.ExponentialLR(o, 0.95), s.StepLR(o, 7)])",
    "ChainedScheduler([s.LinearLR(o, 0.1, total_iters=3), s.ExponentialLR(o, 0.9)])",
    "LambdaLR(o, [lambda epoch: 0.9**epoch, lambda epoch: 1.0])",
    "SWALR(o, 0.05, 3)",
]


def sequence(library, text):
    parameters = [library.nn.Parameter(library.zeros(1)) for _ in range(2)]
    groups = [{"params": parameters[:1]}, {"params": parameters[1:], "lr": 0.05}]
    optimizer = library.optim.SGD(groups, lr=0.1, momentum=0.9)
    schedulers = library.optim.lr_scheduler
    place = "a" if text.startswith("SWALR") else "s"
    names = {"s": schedulers, "a": library.optim.swa_utils, "o": optimizer}
    schedule = eval(f"{place}.{text}", names)
    found = []
    for _ in range(30):
        found.append([(group["lr"], group["momentum"]) for group in optimizer.param_groups])
        optimizer.step()
        schedule.step()
    assert schedule.get_last_lr() == [group["lr"] for group in optimizer.param_groups]
    return [number for step in found for pair in step for number in pair]


@pytest.mark.parametrize("text", CASES)
def test_thirty_steps(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns about its own SequentialLR's step(0)
        expected = sequence(torch, text)
    assert sequence(minitorch2, text) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "settings",
    [
        {"patience": 2},
        {"patience": 1, "mode": "max", "factor": 0.5, "cooldown": 2},
        {"patience": 1, "threshold_mode": "abs", "threshold": 0.1, "min_lr": 0.03},
    ],
)
def test_plateau(settings):
    measures = [1.0, 0.9, 0.95, 0.93, 0.92, 0.91, 0.9, 0.9, 0.5, 0.6, 0.6, 0.6, 0.6, 0.7, 0.4]
    found = []
    for library in (minitorch2, torch):
        optimizer = library.optim.SGD([library.nn.Parameter(library.zeros(1))], lr=0.1)
        schedule = library.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **settings)
        rates = []
        for measure in measures:
            schedule.step(measure)
            rates.append(optimizer.param_groups[0]["lr"])
        found.append(rates)
    assert found[0] == pytest.approx(found[1])


FIRSTS = [
    "LambdaLR(o, lambda epoch: 0.5)",
    "MultiplicativeLR(o, lambda epoch: 0.5)",
    "StepLR(o, 1)",
    "MultiStepLR(o, [1])",
    "ExponentialLR(o, 0.9)",
    "ConstantLR(o)",
    "LinearLR(o)",
    "PolynomialLR(o)",
    "CosineAnnealingLR(o, 3)",
    "CosineAnnealingWarmRestarts(o, 3)",
    "CyclicLR(o, 0.1, 1.0)",
]
MORE = [*FIRSTS, "OneCycleLR(o, 1.0, 10)"]


def scheduled(library, make):
    """The rates of nine steps, and of two after a jump to the start where there is one."""
    optimizer = library.optim.SGD([library.nn.Parameter(library.zeros(1))], lr=0.5, momentum=0.9)
    optimizer.param_groups[0]["initial_lr"] = 1.0
    schedule, found = make(library.optim.lr_scheduler, optimizer), []
    for _ in range(9):
        found.append(schedule.get_last_lr())
        optimizer.step()
        schedule.step()
    return [*found, schedule.get_last_lr()]


@pytest.mark.parametrize("text", FIRSTS)
def test_resumed(text):
    """The first step of a schedule that goes on leaves the present rate as it is."""

    def make(s, o):
        return eval(f"s.{text[:-1]}, last_epoch=2)", {"s": s, "o": o})

    assert scheduled(minitorch2, make) == scheduled(torch, make)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("text", MORE)
def test_in_a_sequence(text, first):
    """A schedule that starts a sequence, and one that comes in later."""

    def make(s, o):
        both = [eval(f"s.{text}", {"s": s, "o": o}), s.StepLR(o, 2)]
        return s.SequentialLR(o, both if first else both[::-1], [3])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's SequentialLR steps with the epoch it deprecates
        theirs = scheduled(torch, make)
    assert scheduled(minitorch2, make) == theirs


@pytest.mark.parametrize("text", MORE)
def test_rates_are_asked_for_by_get_last_lr(text):
    """get_lr computes the next step from the present rates; whoever calls it is told so."""
    found = []
    for library in (minitorch2, torch):
        optimizer = library.optim.SGD(
            [library.nn.Parameter(library.zeros(1))], lr=1.0, momentum=0.9
        )
        schedule = eval(f"s.{text}", {"s": library.optim.lr_scheduler, "o": optimizer})
        with pytest.warns(UserWarning, match="please use `get_last_lr") as told:
            found.append(schedule.get_lr())
        assert library is torch or told[0].filename == __file__  # torch names a file of its own
    assert found[0] == found[1]
