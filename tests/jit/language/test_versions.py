"""How often memory was written, as `_version` tells, and whether it counts at all: inference
tensors, which have no version, are told apart from others by guards."""

from functools import partial

import pytest

import minitorch2 as torch
from minitorch2 import nn
from tests.jit.language.judging import BACKENDS, OPTIONS

X = torch.tensor([1.0, 2.0, 3.0])


def results(x):
    y = x * 2
    y.add_(1)
    z = torch.zeros(3)
    z.copy_(x)
    k = torch.ones(3)
    part = k[0:1]
    part.add_(1)
    return y, z, k, part, x.clone().mul_(2), x + 1, y.view(1, 3), y.detach()


def inputs(x):
    x.add_(1)
    x.mul_(2)
    x[0] = 5
    x[1:].fill_(3)
    return x, nn.functional.relu_(x), nn.functional.dropout(x, 0.5, inplace=True)


def parts_of_inputs(x):
    part = x[1:]
    part.add_(1)
    part.mul_(2)
    return part, x


def leaves(x):
    filled = torch.empty(3)
    nn.init.ones_(filled)
    made = (
        nn.Parameter(torch.ones(3)), torch.zeros(3, requires_grad=True), nn.Buffer(torch.ones(3)),
        torch.ones(3).requires_grad_(), nn.Parameter(x.clone()), nn.Parameter(filled),
    )  # fmt: skip
    with torch.no_grad():
        made[1].add_(1)
        made[4].mul_(2).add_(3)
    nn.init.zeros_(made[5])
    return made, [*nn.Linear(3, 3).parameters()]


def gradients(x):
    w = nn.Parameter(torch.ones(3))
    (w * x).sum().backward()
    (w * x).sum().backward()
    return w, w.grad


def steps():
    w = nn.Parameter(torch.ones(3))
    optimizer = torch.optim.Adam([w], lr=0.1)

    def step(x):
        optimizer.zero_grad()
        (w * x).sum().backward()
        optimizer.step()
        state = optimizer.state[w]
        return w, w.grad, state["exp_avg"], state["exp_avg_sq"]

    return step


def versions(found):
    """The version of each tensor in what a function returned."""
    if isinstance(found, torch.Tensor):
        return found._version
    return [versions(one) for one in found]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("fn", [results, inputs, parts_of_inputs, leaves, gradients])
def test_functions(fn, backend):
    compiled = torch.compile(fn, backend=backend, options=OPTIONS.get(backend))
    given, other = X.clone(), X.clone()
    for _ in range(3):
        assert versions(compiled(given)) == versions(fn(other))
        assert given._version == other._version


@pytest.mark.parametrize("backend", BACKENDS[1:])  # the interpreter fills new gradients in place
def test_steps(backend):
    eager, compiled = steps(), torch.compile(steps(), backend=backend)
    for _ in range(3):
        assert versions(compiled(X)) == versions(eager(X))


@pytest.mark.parametrize("backend", BACKENDS)
def test_modules(backend):
    eager, module = nn.BatchNorm1d(3), nn.BatchNorm1d(3)
    compiled = torch.compile(module, backend=backend)
    for _ in range(3):
        assert versions(compiled(X.expand(2, 3))) == versions(eager(X.expand(2, 3)))
        assert versions(module.buffers()) == versions(eager.buffers())


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_leaf_that_is_written_after_the_call(backend):
    def fn(x):
        w = nn.Parameter(torch.ones(3))
        return w, (w * x).sum(), (w * w).sum()

    w, linear, square = torch.compile(fn, backend=backend)(X)
    with torch.no_grad():
        w.add_(1)
    linear.backward()
    assert w.grad.tolist() == X.tolist()
    assert w._version == 1


# ---- inference tensors


def outcome(run):
    """What a call gives: texts of errors without their places."""
    try:
        found = run()
    except RuntimeError as error:
        return type(error).__name__, str(error).splitlines()[0]
    found = found if isinstance(found, tuple) else (found,)
    return [(one.tolist(), one.is_inference()) if isinstance(one, torch.Tensor) else one
            for one in found]  # fmt: skip


def written(x, w):
    return x.add_(1) * 2


def written_in_part(x, w):
    part = x[0:1]
    part.mul_(3)
    return part, x


def saved(x, w):
    (w * x).sum().backward()
    return w.grad + 0


def saved_for_later(x, w):
    return (w * x).sum()


def nothing_saved(x, w):
    return (w + x).sum()


def told(x, w):
    return x + 1, x.is_inference(), (x + 1).is_inference(), x.view(-1).is_inference()


def turned_into_a_leaf(x, w):
    return x.detach().requires_grad_() * 2


INFERENCE = [written, written_in_part, saved, saved_for_later, nothing_saved, told,
             turned_into_a_leaf]  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("first", ["plain", "inference"])
@pytest.mark.parametrize("fn", INFERENCE, ids=lambda fn: fn.__name__)
def test_inference_tensors(fn, first, backend):
    """One after another and in both orders, in the mode and outside: each call is eager's."""

    def kinds():
        with torch.inference_mode():
            made = X.clone()
        order = ["plain", "inference", "plain", "inference"]
        tensors = {"plain": X.clone(), "inference": made}
        return [tensors[kind] for kind in (order if first == "plain" else order[1:])]

    compiled = torch.compile(fn, backend=backend, options=OPTIONS.get(backend))
    for x, other in zip(kinds(), kinds(), strict=True):
        for mode in (False, True, False):
            w, v = (torch.ones(3, requires_grad=True) for _ in range(2))
            with torch.inference_mode(mode):
                assert outcome(partial(compiled, x, w)) == outcome(partial(fn, other, v))
