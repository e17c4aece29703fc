"""Gradients through several graph pieces are eager's; whole training steps stay whole."""

import threading

import pytest

import minitorch2 as torch
from tests.jit.resume.both import is_captured

BACKENDS = ("eager", "aot_eager", "interpreter")


def weights():
    torch.manual_seed(0)
    return torch.randn(3, 3, requires_grad=True), torch.randn(3, requires_grad=True)


def two_pieces(w, b, x):
    y = torch.tanh(x @ w + b)
    if y.sum() > -100:
        y = y * b
    return (y @ w).sum()


def loop(w, b, x):
    for _ in range(4):
        x = torch.relu(x @ w) + b
        if x.sum().item() > 1e6:
            break
    return x.sum()


def callee(w, b, x):
    def layer(x):
        y = x @ w
        print(y.shape, y.sum().item() > 1e9)
        return torch.sigmoid(y + b)

    return layer(layer(x)).mean() + layer(x).sum()


def partly_without(w, b, x):
    y = x @ w
    with torch.no_grad():
        scale = y.abs().max().item()
        frozen = y * 2
    z = y / scale + frozen
    return (z * b).sum()


def in_place(w, b, x):
    y = x @ w
    y += b
    print(y.sum().item() > 1e9)
    y *= 2
    z = y.clone()
    z[0] = 0
    if z.max() > -100:
        z.mul_(b)
    return z.sum()


def views(w, b, x):
    y = x @ w
    rows = y.unbind(0)
    first = y[0]
    print(len(rows), first.sum().item() > 1e9)
    return (rows[1] * first).sum() + y.t()[0].sum() + (b * b.detach()).sum()


PROGRAMS = [two_pieces, loop, callee, partly_without, in_place, views]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_gradients_are_eagers(program, backend, capsys):
    function = torch.compile(program, backend=backend)
    for _ in range(3):
        w, b = weights()
        x = torch.ones(2, 3, requires_grad=True)
        expected = program(w, b, x)
        expected.backward()
        gradients = [t.grad.tolist() for t in (w, b, x)]
        for t in (w, b, x):
            t.grad = None
        found = function(w, b, x)
        assert found.requires_grad and torch.allclose(found, expected)
        found.backward()
        for t, gradient in zip((w, b, x), gradients, strict=True):
            assert torch.allclose(t.grad, torch.tensor(gradient), rtol=1e-5, atol=1e-6)
    assert function.cache.breaks and is_captured(function.cache)


@pytest.mark.parametrize("backend", BACKENDS)
def test_second_derivatives_through_pieces(backend):
    def cubed(x):
        y = x * x
        if y.sum() < 0:
            return x
        return (y * x).sum()

    function = torch.compile(cubed, backend=backend)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (first,) = torch.autograd.grad(function(x), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert first.tolist() == [3.0, 12.0] and second.tolist() == [6.0, 12.0]


def trained(step, steps=5):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    losses = [step(model, optimizer, x, y) for _ in range(steps)]
    return [float(loss) for loss in losses], [p.tolist() for p in model.parameters()]


def whole_step(model, optimizer, x, y):
    loss = ((model(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def logging_step(model, optimizer, x, y):
    loss = ((model(x) - y) ** 2).mean()
    if loss.item() > 1e9:
        raise ValueError("diverged")
    optimizer.zero_grad()
    loss.backward()
    print("loss", float(loss) > 1e9)
    optimizer.step()
    return loss.detach()


def close(left, right):
    return all(
        torch.allclose(torch.tensor(a), torch.tensor(b), rtol=1e-4, atol=1e-5)
        for a, b in zip([left[0], *left[1]], [right[0], *right[1]], strict=True)
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_training_step_with_breaks_trains_the_same(backend, capsys):
    step = torch.compile(logging_step, backend=backend)
    assert close(trained(step), trained(logging_step))
    assert step.cache.breaks


@pytest.mark.parametrize("backend", ["aot_eager", "interpreter"])
def test_a_training_step_without_breaks_is_one_graph(backend):
    step = torch.compile(whole_step, backend=backend, fullgraph=True)
    assert close(trained(step), trained(whole_step))
    assert all(entry.program.stop is None for entry in step.cache.all_entries())


def test_random_numbers_are_drawn_in_the_programs_order():
    def draws(x):
        a = torch.rand(3)
        print(a.sum().item() > 9)
        b = torch.randn(3)
        if b.sum() > 100:
            return x
        return a, b, torch.nn.functional.dropout(x, 0.5), torch.rand(2)

    function = torch.compile(draws, backend="interpreter")
    for _ in range(3):
        found = []
        for each in (draws, function):
            torch.manual_seed(3)
            found.append([t.tolist() for t in each(torch.ones(4))] + torch.rand(1).tolist())
        assert found[0] == found[1]


def test_threads_that_break_at_the_same_places():
    def body(x, k):
        total = 0
        for i in range(3):
            x = x * 2 + k
            if x.sum() > 50:
                total += x.max().item()
            with torch.no_grad():
                x = x + i
        return total, x.tolist()

    function = torch.compile(body, backend="interpreter")
    expected = {k: body(torch.ones(3), k) for k in range(8)}
    wrong = []

    def run(k):
        for _ in range(20):
            if function(torch.ones(3), k) != expected[k]:
                wrong.append(k)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and torch.is_grad_enabled()
