"""Whole training steps with a GradScaler as one graph, which takes back a step that
overflowed; what only Python can leave out is left to Python."""

import pytest

import minitorch2 as torch
from minitorch2 import nn, optim
from minitorch2.nn import functional as F
from tests.small_trainings import OPTIMIZERS, made

SCALED = OPTIMIZERS | {
    "Adadelta": lambda p: optim.Adadelta(p, lr=1.0, weight_decay=0.1),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.005),
    "SGD with momentum": lambda p: optim.SGD(p, lr=0.05, momentum=0.9),
}
OVERFLOWS = {"the first": (0, 3), "two in a row": (2, 3), "others": (1, 4)}


def scaled(opt, net, x, backend, overflows, schedule=None, fullgraph=True, clips=True):
    """Six steps; what each leaves behind, and the compiled step."""
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)

    def step(x):
        opt.zero_grad()
        loss = F.mse_loss(net(x), x)
        scaler.scale(loss).backward()
        if clips:
            scaler.unscale_(opt)
            nn.utils.clip_grad_norm_(opt.param_groups[0]["params"], 0.1)
        scaler.step(opt)
        scaler.update()
        return loss.detach()

    run = torch.compile(step, backend=backend, fullgraph=fullgraph) if backend else step
    seen, scales = [], []
    for number in range(6):
        loss = run(x * float("inf") if number in overflows else x)
        if schedule is not None:
            schedule.step()
        seen += [] if number in overflows else [loss.item()]
        for parameter in net.parameters():
            # A state made by a step that was taken back counts no updates, like none at all.
            count = opt.state[parameter].get("step", torch.tensor(0.0)).item()
            seen += [count, *parameter.detach().reshape(-1).tolist()]
        scales.append((scaler.get_scale(), scaler.state_dict()["_growth_tracker"]))
    return seen, scales, run


def both(make, backend, overflows, scheduled=False, **arguments):
    """Eager and compiled must agree; the compiled step."""
    found = []
    for which in (None, backend):
        net, _, x = made("SGD")
        opt = make([p for p in net.parameters() if p.requires_grad])
        schedule = optim.lr_scheduler.LinearLR(opt, 0.1, 1.0, 5) if scheduled else None
        found.append(scaled(opt, net, x, which, overflows, schedule, **arguments))
    (eager, eager_scales, _), (compiled, scales, run) = found
    assert scales == eager_scales
    assert compiled == pytest.approx(eager, rel=1e-9, abs=1e-15)
    return run


@pytest.mark.parametrize("overflows", OVERFLOWS.values(), ids=OVERFLOWS)
@pytest.mark.parametrize("optimizer", SCALED)
def test_every_optimizer_takes_back_a_step_that_overflowed(optimizer, overflows):
    run = both(SCALED[optimizer], "interpreter", overflows)
    totals = run.totals()
    # One capture that makes the state and one that finds it, whatever overflows.
    assert totals["breaks"] == 0 and totals["graphs"] <= 2


@pytest.mark.filterwarnings("ignore:Detected call")  # as eager says it of a step that is left out
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_what_starts_from_the_rate_starts_at_the_first_step_that_counts(optimizer):
    both(OPTIMIZERS[optimizer], "interpreter", (0, 1), scheduled=True)


@pytest.mark.numba
@pytest.mark.parametrize("optimizer", ["SGD with everything", "AdamW"])
def test_in_kernels(optimizer):
    both(OPTIMIZERS[optimizer], "numba", (0, 3))


def test_a_sum_that_starts_undampened_starts_at_the_first_step_that_counts():
    def make(parameters):
        return optim.SGD(parameters, lr=0.05, momentum=0.9, dampening=0.5)

    run = both(make, "interpreter", (0, 3), fullgraph=False)
    assert run.totals()["breaks"] == 1  # only while there is no sum
    both(make, "interpreter", (2, 4), fullgraph=False)


def test_a_loaded_state_that_is_no_tensor():
    def make(parameters):
        opt = optim.SGD(parameters, lr=0.05, momentum=0.9)
        empty = {number: {"momentum_buffer": None} for number in range(len(parameters))}
        opt.load_state_dict(opt.state_dict() | {"state": empty})
        return opt

    both(make, "interpreter", (0, 3), fullgraph=False)


class Counting(optim.SGD):
    """Steps that Python counts."""

    updates = 0

    def update(self, parameter, grad, state, group):
        self.updates += 1
        super().update(parameter, grad, state, group)


class Stepping(optim.SGD):
    """Steps in its own way."""

    updates = 0

    def step(self, closure=None):
        self.updates += 1
        return super().step(closure)


def hooked(register):
    def make(parameters):
        opt = optim.SGD(parameters, lr=0.05)
        opt.updates = 0

        def hook(optimizer, args, kwargs):
            optimizer.updates += 1

        getattr(opt, register)(hook)
        return opt

    return make


def patched(parameters):
    opt = optim.SGD(parameters, lr=0.05)
    opt.updates, step = 0, opt.step

    def counted():
        opt.updates += 1
        return step()

    opt.step = counted
    return opt


@pytest.mark.parametrize(
    "make",
    [
        lambda p: Counting(p, lr=0.05),
        lambda p: Stepping(p, lr=0.05),
        hooked("register_step_pre_hook"),
        hooked("register_step_post_hook"),
        patched,
    ],
    ids=["update", "step", "pre-hook", "post-hook", "patched"],
)
def test_python_around_a_step_runs_only_when_the_step_is_made(make):
    made_here = []

    def remembered(parameters):
        made_here.append(make(parameters))
        return made_here[-1]

    both(remembered, "interpreter", (0, 3), fullgraph=False)
    eager, compiled = made_here
    assert compiled.updates == eager.updates > 0


def test_two_optimizers_of_which_one_overflows():
    def run(backend):
        first, second = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(3))
        opts = optim.AdamW([first], lr=0.1), optim.RMSprop([second], lr=0.1)
        scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)

        def step(a, b):
            for opt in opts:
                opt.zero_grad()
            scaler.scale((first * a).sum() + (second * b).sum()).backward()
            for opt in opts:
                scaler.step(opt)
            scaler.update()

        train = torch.compile(step, backend=backend, fullgraph=True) if backend else step
        seen = []
        for a, b in ((1, 2), (float("inf"), 1), (1, float("nan")), (3, 1), (2, 1)):
            train(torch.full((3,), float(a)), torch.full((3,), float(b)))
            seen += [scaler.get_scale(), *first.tolist(), *second.tolist()]
        return seen

    eager = run(None)
    assert run("interpreter") == pytest.approx(eager, rel=1e-6)
    assert eager[7] == eager[0] / 2 and eager[8:11] == eager[1:4] and eager[11:14] != eager[4:7]


def test_misuse_is_told_in_a_compiled_step_too():
    parameter = nn.Parameter(torch.ones(3))
    opt, scaler = optim.SGD([parameter], lr=0.1), torch.amp.GradScaler("cpu")

    @torch.compile(backend="interpreter")
    def step():
        scaler.scale(parameter.sum()).backward()
        scaler.step(opt)
        scaler.step(opt)

    with pytest.raises(RuntimeError, match="already been called since the last update"):
        step()
