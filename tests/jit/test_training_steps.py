"""Whole training steps as one captured graph: every optimizer, and what training adds to it."""

import pytest

import minitorch2 as torch
from minitorch2 import nn, optim
from minitorch2.nn import functional as F

STEPS = 50
OPTIMIZERS = {
    "SGD": lambda p: optim.SGD(p, lr=0.05),
    "SGD with everything": lambda p: optim.SGD(
        p, lr=0.05, momentum=0.9, weight_decay=0.01, nesterov=True
    ),
    "Adam": lambda p: optim.Adam(p, lr=0.01),
    "Adam with amsgrad": lambda p: optim.Adam(p, lr=0.01, amsgrad=True, weight_decay=0.1),
    "AdamW": lambda p: optim.AdamW(p, lr=0.01),
    "NAdam": lambda p: optim.NAdam(p, lr=0.01),
    "RAdam": lambda p: optim.RAdam(p, lr=0.01),
    "Adamax": lambda p: optim.Adamax(p, lr=0.01),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.05),
    "Adadelta": lambda p: optim.Adadelta(p, lr=1.0),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.005, momentum=0.5, centered=True),
    "Rprop": lambda p: optim.Rprop(p, lr=0.01),
    "ASGD": lambda p: optim.ASGD(p, lr=0.05),
    "Adafactor": lambda p: optim.Adafactor(p, lr=0.05),
    "Muon": lambda p: optim.Muon([each for each in p if each.dim() == 2], lr=0.05),
}
CLIPS = {
    "norm": lambda p: nn.utils.clip_grad_norm_(p, 0.1),
    "largest": lambda p: nn.utils.clip_grad_norm_(p, 0.01, float("inf")),
    "value": lambda p: nn.utils.clip_grad_value_(p, 0.01),
}


class Net(nn.Module):
    """Two layers of which the second uses the first one's weight, and one that is frozen."""

    def __init__(self):
        super().__init__()
        self.first, self.frozen = nn.Linear(6, 9), nn.Linear(9, 9)
        self.bias = nn.Parameter(torch.zeros(6))
        self.frozen.requires_grad_(False)

    def forward(self, x):
        hidden = torch.tanh(self.first(x))
        hidden = hidden + self.frozen(hidden)
        return hidden @ self.first.weight + self.bias


def made(optimizer):
    torch.manual_seed(0)
    net = Net().double()
    found = OPTIMIZERS[optimizer]([p for p in net.parameters() if p.requires_grad])
    return net, found, torch.randn(8, 6, dtype=torch.float64)


def outcome(net, losses):
    return [
        *losses,
        *(value for p in net.parameters() for value in p.detach().reshape(-1).tolist()),
    ]


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
    eager = trained("AdamW", None, 8, **arguments)
    assert eager != trained("AdamW", None, 8, **(arguments | {"clip": None}))
    assert trained("AdamW", "interpreter", 8, **arguments) == pytest.approx(eager, rel=1e-9)


@pytest.mark.parametrize("as_tensor", [False, True], ids=["number", "tensor"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_schedule_recompiles_nothing(optimizer, as_tensor):
    if as_tensor and optimizer in ("Rprop", "ASGD"):
        pytest.skip("their state starts from the rate as a number: a graph break at the first call")

    def run(backend):
        net, opt, x = made(optimizer)
        if as_tensor:
            opt.param_groups[0]["lr"] = torch.tensor(opt.param_groups[0]["lr"])
        schedule = optim.lr_scheduler.CosineAnnealingLR(opt, 8)

        def step(x):
            opt.zero_grad()
            loss = F.mse_loss(net(x), x)
            loss.backward()
            opt.step()
            return loss.detach()

        compiled = torch.compile(step, backend=backend, fullgraph=True) if backend else step
        losses, graphs = [], []
        for _ in range(8):
            losses.append(compiled(x).item())
            schedule.step()
            graphs.append(compiled.totals()["graphs"] if backend else 0)
        return outcome(net, losses), graphs

    eager, compiled = run(None), run("interpreter")
    assert compiled[0] == pytest.approx(eager[0], rel=1e-9)
    # Once the optimizer has its state, and the rate is known to change, nothing is captured again.
    assert compiled[1][3:] == [compiled[1][3]] * 5


def test_a_grad_scaler_skips_the_steps_that_eager_skips():
    def run(backend):
        net, opt, x = made("AdamW")
        scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=3)

        def step(x):
            opt.zero_grad()
            loss = F.mse_loss(net(x), x)
            scaler.scale(loss).backward()
            scaler.step(opt)
            scaler.update()
            return loss.detach()

        compiled = torch.compile(step, backend=backend) if backend else step
        losses, scales = [], []
        for number in range(12):
            given = x * float("inf") if number in (2, 7) else x
            losses.append(compiled(given).item())
            scales.append(scaler.get_scale())
        return outcome(net, [loss for loss in losses if loss == loss]), scales

    eager, compiled = run(None), run("interpreter")
    assert compiled[1] == eager[1]
    assert compiled[0] == pytest.approx(eager[0], rel=1e-9)
