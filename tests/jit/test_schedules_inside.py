"""`scheduler.step()` inside the compiled training step: the same rates, no compilation for each."""

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.optim import SGD, Adam, lr_scheduler

SCHEDULES = {
    "step": lambda o: lr_scheduler.StepLR(o, 3),
    "cosine": lambda o: lr_scheduler.CosineAnnealingLR(o, 10),
    "lambda": lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 0.9**epoch),
    "multiplicative": lambda o: lr_scheduler.MultiplicativeLR(o, lambda epoch: 0.95),
    "one cycle": lambda o: lr_scheduler.OneCycleLR(
        o, 0.1, total_steps=50, cycle_momentum=isinstance(o, SGD)
    ),
    "exponential": lambda o: lr_scheduler.ExponentialLR(o, 0.9),
    "milestones": lambda o: lr_scheduler.MultiStepLR(o, [3, 7]),
    "linear": lambda o: lr_scheduler.LinearLR(o),
    "polynomial": lambda o: lr_scheduler.PolynomialLR(o, 8),
    "constant": lambda o: lr_scheduler.ConstantLR(o, 0.5, 4),
    "restarts": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 5),
    "sequence": lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.ConstantLR(o, 0.1, 2), lr_scheduler.ExponentialLR(o, 0.9)], [4]
    ),
    "cycles": lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1, step_size_up=4, cycle_momentum=False),
}


def trained(optimizer, schedule, backend, fullgraph=False):
    """(rates, losses, parameters) of twenty steps, and the compiled step."""
    torch.manual_seed(0)
    net = nn.Linear(3, 2)
    opt = optimizer(net.parameters(), lr=0.1)
    planned = schedule(opt)

    def step(x):
        opt.zero_grad()
        loss = net(x).pow(2).sum()
        loss.backward()
        opt.step()
        planned.step()
        return loss.detach(), planned.get_last_lr()

    run = torch.compile(step, backend=backend, fullgraph=fullgraph) if backend else step
    x = torch.arange(12.0).reshape(4, 3) / 10
    seen = [run(x) for _ in range(20)]
    rates = [rate for _, (rate,) in seen]
    assert opt.param_groups[0]["lr"] == rates[-1] and planned.last_epoch == 20
    return rates, [loss.item() for loss, _ in seen], net.weight.tolist(), run


@pytest.mark.parametrize("optimizer", [SGD, Adam])
@pytest.mark.parametrize("name", SCHEDULES)
def test_the_same_rates_and_few_compilations(name, optimizer):
    wanted = trained(optimizer, SCHEDULES[name], None)
    got = trained(optimizer, SCHEDULES[name], "interpreter")
    assert got[0] == wanted[0]
    assert got[1] == pytest.approx(wanted[1], rel=1e-5)
    recompiles = got[3].cache.recompiles
    assert len(recompiles) <= 3, "\n".join(map(str, recompiles))
    assert {one.row.code for one in got[3].cache.breaks} <= {"schedule"}


def test_a_whole_graph_stays_one():
    """With fullgraph=True it is captured, for each number that its formula looks at."""
    got = trained(SGD, SCHEDULES["exponential"], "interpreter", fullgraph=True)
    assert got[0] == trained(SGD, SCHEDULES["exponential"], None)[0]
    assert not got[3].cache.breaks
