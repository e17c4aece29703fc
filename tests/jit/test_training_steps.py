"""Whole training steps as one captured graph: every optimizer, and what training adds to it."""

import pytest

import minitorch2 as torch
from minitorch2 import nn, optim
from minitorch2.nn import functional as F
from tests.small_trainings import OPTIMIZERS, made, outcome

STEPS = 50
CLIPS = {
    "norm": lambda p: nn.utils.clip_grad_norm_(p, 0.1),
    "largest": lambda p: nn.utils.clip_grad_norm_(p, 0.01, float("inf")),
    "value": lambda p: nn.utils.clip_grad_value_(p, 0.01),
}


def trained(optimizer, backend, steps=STEPS, set_to_none=True, micro_batches=1, clip=None):
    """Losses and parameters after some steps; `backend` None is eager."""
    net, opt, x = made(optimizer)

    def step(x):
        opt.zero_grad(set_to_none=set_to_none)
        total = 0.0
        for part in x.chunk(micro_batches):
            loss = F.mse_loss(net(part), part) / micro_batches
            loss.backward()
            total = total + loss.detach()
        if clip is not None:
            CLIPS[clip](net.parameters())
        opt.step()
        return total

    run = torch.compile(step, backend=backend, fullgraph=True) if backend else step
    losses = [run(x).item() for _ in range(steps)]
    if backend:
        assert run.totals()["breaks"] == 0
    return outcome(net, losses)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer(optimizer):
    assert trained(optimizer, "interpreter") == pytest.approx(trained(optimizer, None), rel=1e-9)


@pytest.mark.numba
@pytest.mark.parametrize("optimizer", ["SGD with everything", "AdamW", "Adagrad"])
def test_in_kernels(optimizer):
    assert trained(optimizer, "numba") == pytest.approx(trained(optimizer, None), rel=1e-9)


@pytest.mark.parametrize("set_to_none", [True, False])
@pytest.mark.parametrize("micro_batches", [1, 4])
@pytest.mark.parametrize("clip", CLIPS)
def test_accumulated_and_clipped_gradients(set_to_none, micro_batches, clip):
    arguments = {"set_to_none": set_to_none, "micro_batches": micro_batches, "clip": clip}
    eager = trained("AdamW", None, 20, **arguments)
    assert eager != trained("AdamW", None, 20, **(arguments | {"clip": None}))
    assert trained("AdamW", "interpreter", 20, **arguments) == pytest.approx(eager, rel=1e-9)


def test_a_rate_that_changes_late_recompiles_nothing():
    """Also if it was the same for the first calls: a rate varies from the start."""
    net, opt, x = made("SGD")
    schedule = optim.lr_scheduler.StepLR(opt, 4, 0.5)

    @torch.compile(backend="interpreter", fullgraph=True)
    def step(x):
        opt.zero_grad()
        loss = F.mse_loss(net(x), x)
        loss.backward()
        opt.step()
        return loss.detach()

    graphs = []
    for _ in range(10):
        step(x)
        schedule.step()
        graphs.append(step.totals()["graphs"])
    assert graphs[1:] == [graphs[1]] * 9


@pytest.mark.parametrize("as_tensor", [False, True], ids=["number", "tensor"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_schedule_recompiles_nothing(optimizer, as_tensor):
    # The state of two starts from the rate as a number: a graph break, at the first call only.
    whole = not (as_tensor and optimizer in ("Rprop", "ASGD"))

    def run(backend):
        net, opt, x = made(optimizer)
        if as_tensor:
            opt.param_groups[0]["lr"] = torch.tensor(opt.param_groups[0]["lr"])
        schedule = optim.lr_scheduler.CosineAnnealingLR(opt, 20)

        def step(x):
            opt.zero_grad()
            loss = F.mse_loss(net(x), x)
            loss.backward()
            opt.step()
            return loss.detach()

        compiled = torch.compile(step, backend=backend, fullgraph=whole) if backend else step
        losses, graphs = [], []
        for _ in range(20):
            losses.append(compiled(x).item())
            schedule.step()
            graphs.append(compiled.totals()["graphs"] if backend else 0)
        return outcome(net, losses), graphs

    eager, compiled = run(None), run("interpreter")
    assert compiled[0] == pytest.approx(eager[0], rel=1e-9)
    # Once the optimizer has its state, and the rate is known to change, nothing is captured again.
    assert compiled[1][3:] == [compiled[1][3]] * 17


def test_a_gradient_that_repeats_one_number_has_memory_of_its_own():
    def run(backend):
        parameter = nn.Parameter(torch.ones(2, 3))

        def step():
            parameter.grad = None
            parameter.sum().backward()
            parameter.grad.mul_(2.0)
            parameter.grad[0, 1] += 1.0

        (torch.compile(step, backend=backend, fullgraph=True) if backend else step)()
        return parameter.grad.tolist(), parameter.grad.stride()

    assert run("interpreter") == run(None)
