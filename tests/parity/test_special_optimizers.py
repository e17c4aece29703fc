"""LBFGS, Muon and averages of weights beside torch's."""

from typing import Any

import numpy
import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402


def as_lists(value: Any) -> Any:
    return value.detach().double().numpy()


def rosenbrock(t: Any, x: Any) -> Any:
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def quartic(t: Any, x: Any) -> Any:
    return ((x - 1) ** 4).sum() + 0.1 * (x * x).sum()


def wavy(t: Any, x: Any) -> Any:
    return (x * x * 0.1).sum() + t.sin(3 * x).sum()


@pytest.mark.parametrize("function", [rosenbrock, quartic, wavy], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "settings",
    [
        {"line_search_fn": "strong_wolfe"},
        {"line_search_fn": "strong_wolfe", "history_size": 2, "max_iter": 7, "lr": 0.5},
        {"lr": 0.01},
        {"lr": 0.01, "max_iter": 5, "max_eval": 4, "tolerance_grad": 1e-3},
    ],
    ids=lambda settings: "-".join(f"{key}={value}" for key, value in settings.items()),
)
def test_lbfgs(function, settings):
    found = []
    for library in (minitorch2, torch):
        x = library.tensor([-1.2, 1.0, 0.7, 2.0], dtype=library.float64, requires_grad=True)
        optimizer = library.optim.LBFGS([x], **settings)
        evaluations, path = [0], []

        def closure(x=x, optimizer=optimizer, library=library, evaluations=evaluations):
            optimizer.zero_grad()
            loss = function(library, x)
            loss.backward()
            evaluations[0] += 1
            return loss

        for _ in range(4):
            loss = optimizer.step(closure)
            state = optimizer.state_dict()["state"][0]
            counts = [evaluations[0], state["func_evals"], state["n_iter"]]
            path.append([*as_lists(x), float(loss.detach()), *counts])
        found.append(path)
    numpy.testing.assert_allclose(*found, rtol=1e-6, atol=1e-8)


def test_lbfgs_needs_one_group_and_a_closure():
    x = minitorch2.ones(1, requires_grad=True)
    with pytest.raises(ValueError, match="per-parameter options"):
        minitorch2.optim.LBFGS([{"params": [x]}, {"params": [minitorch2.ones(1)]}])
    with pytest.raises(RuntimeError, match="closure"):
        minitorch2.optim.LBFGS([x]).step()


@pytest.mark.parametrize(
    "settings",
    [{}, {"adjust_lr_fn": "match_rms_adamw", "nesterov": False, "weight_decay": 0.0, "lr": 0.1}],
)
@pytest.mark.parametrize("shape", [(4, 6), (6, 3)])
def test_muon(settings, shape):
    found = []
    for library in (minitorch2, torch):
        rng = numpy.random.default_rng(0)
        weight = library.nn.Parameter(library.from_numpy(rng.standard_normal(shape, "float32")))
        optimizer = library.optim.Muon([weight], **settings)
        for _ in range(5):
            weight.grad = library.from_numpy(rng.standard_normal(shape, "float32"))
            optimizer.step()
        found.append(as_lists(weight))
    numpy.testing.assert_allclose(*found, rtol=0, atol=1e-3 * settings.get("lr", 1e-3))


def test_muon_refuses_vectors():
    with pytest.raises(ValueError, match="2D parameters"):
        minitorch2.optim.Muon([minitorch2.nn.Parameter(minitorch2.ones(3))])


def averaged(t: Any, **settings: Any) -> Any:
    model = t.nn.Sequential(t.nn.Linear(2, 3), t.nn.BatchNorm1d(3))
    with t.no_grad():
        for each in model.parameters():
            each.copy_(t.arange(each.numel(), dtype=t.float32).reshape(each.shape) / 7)
    average = t.optim.swa_utils.AveragedModel(model, **settings)
    for step in range(4):
        with t.no_grad():
            for each in model.parameters():
                each.mul_(0.9).add_(step)
        model(t.arange(8.0).reshape(4, 2) + step)
        average.update_parameters(model)
    batches = [t.arange(8.0).reshape(4, 2) * scale for scale in (1, 2)]
    before = [each.clone() for each in average.state_dict().values()]
    t.optim.swa_utils.update_bn([(batch, 0) for batch in batches], average)
    return [*before, *average.state_dict().values(), average(batches[0])]


@pytest.mark.parametrize(
    "kind", ["equal", "ema", "ema with buffers", "one by one", "swa one by one"]
)
def test_averages(kind):
    found = []
    for library in (minitorch2, torch):
        utils = library.optim.swa_utils
        settings = {
            "equal": {},
            "ema": {"multi_avg_fn": utils.get_ema_multi_avg_fn(0.7)},
            "ema with buffers": {
                "multi_avg_fn": utils.get_ema_multi_avg_fn(0.7),
                "use_buffers": True,
            },
            "one by one": {"avg_fn": utils.get_ema_avg_fn(0.7)},
            "swa one by one": {"avg_fn": utils.get_swa_avg_fn()},
        }[kind]
        found.append([as_lists(each) for each in averaged(library, **settings)])
    for a, b in zip(*found, strict=True):
        numpy.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "settings",
    [
        {"swa_lr": 0.01},
        {"swa_lr": 0.5, "anneal_epochs": 3, "anneal_strategy": "linear"},
        {"swa_lr": 0.01, "anneal_epochs": 0},
        {"swa_lr": [0.01, 0.5], "anneal_epochs": 4},
    ],
)
def test_annealed_rates(settings):
    found = []
    for library in (minitorch2, torch):
        groups = [
            {"params": [library.nn.Parameter(library.ones(1))], "lr": lr}
            for lr in ((0.1, 0.2) if isinstance(settings["swa_lr"], list) else (0.1,))
        ]
        optimizer = library.optim.SGD(groups, lr=0.1)
        schedule = library.optim.swa_utils.SWALR(optimizer, **settings)
        rates = [schedule.get_last_lr()]
        for _ in range(12):
            optimizer.step()
            schedule.step()
            rates.append(schedule.get_last_lr())
        found.append(rates)
    numpy.testing.assert_allclose(*found, rtol=1e-9)


def steps_of(t: Any, kind: str, dtype: str, shape: tuple, **settings: Any) -> tuple[Any, Any]:
    """A parameter after twelve steps with the same gradients, and its state."""
    rng = numpy.random.default_rng(0)

    def drawn() -> Any:
        return t.from_numpy(rng.standard_normal(shape)).to(getattr(t, dtype))

    parameter = t.nn.Parameter(drawn())
    optimizer = getattr(t.optim, kind)([parameter], **settings)
    for _ in range(12):
        parameter.grad = drawn()
        optimizer.step()
    return parameter, optimizer.state[parameter]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("shape", [(3, 4), (6, 3), (16, 8), (32, 33)], ids=str)
def test_muon_rounds_as_torch_does(shape, dtype):
    """Newton-Schulz runs in bfloat16, where one rounding more is a hundred times the tolerance.

    In larger sums the order matters, and some element falls to the other side of a rounding.
    """
    ours, theirs = (as_lists(steps_of(t, "Muon", dtype, shape)[0]) for t in (minitorch2, torch))
    if dtype == "bfloat16":
        assert (ours != theirs).mean() < 0.05
        numpy.testing.assert_allclose(ours, theirs, rtol=2.0**-6)
    else:
        most = 1e-6 if shape[0] <= 16 else 2e-5
        numpy.testing.assert_allclose(ours, theirs, rtol=0, atol=most)


@pytest.mark.parametrize("dtype, most", [("float64", 2e-15), ("float32", 5e-7)])
@pytest.mark.parametrize("t0", [1e6, 2.0])
@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_asgd_keeps_its_rates_in_double(dtype, most, t0, weight_decay):
    """The rate is a Python number in torch; of a float32 one, float64 parameters are 3e-7 off."""
    settings = {"lr": 0.1, "t0": t0, "weight_decay": weight_decay}
    ours, theirs = (steps_of(t, "ASGD", dtype, (50,), **settings) for t in (minitorch2, torch))
    numpy.testing.assert_allclose(as_lists(ours[0]), as_lists(theirs[0]), rtol=0, atol=most)
    for key in ("ax", "eta", "mu", "step"):
        values = [as_lists(each[1][key]) for each in (ours, theirs)]
        numpy.testing.assert_allclose(*values, rtol=0, atol=most)


@pytest.mark.parametrize("max_iter", [1, 2, 20])
def test_lbfgs_has_torchs_state(max_iter):
    found = []
    for t in (minitorch2, torch):
        x = t.tensor([1.0, 2.0], dtype=t.float64, requires_grad=True)
        optimizer = t.optim.LBFGS([x], history_size=3, max_iter=max_iter)

        def closure(x=x, optimizer=optimizer):
            optimizer.zero_grad()
            loss = (x**4).sum() + x.prod()
            loss.backward()
            return loss

        optimizer.step(closure)
        found.append(optimizer.state[x])
    ours, theirs = found
    assert sorted(ours) == sorted(theirs)
    for mine, other in zip(ours.get("al", ()), theirs.get("al", ()), strict=True):
        assert (mine is None) == (other is None)
        if mine is not None:
            numpy.testing.assert_allclose(as_lists(mine), as_lists(other), rtol=1e-9)
