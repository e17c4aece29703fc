"""torch.func inside captured code: one node a call, on every backend."""
# ruff: noqa: E501, F403, F405 -- one line, one program

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.func import *
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()
OUTSIDE = grad(lambda t: (t**2).sum())
MAPPED = torch.vmap(lambda t: t.sum() * t)
LAYER = nn.Linear(3, 1)
program.lines(
    r"""
torch.vmap(lambda t: t.sin() + t.sum())(x)
torch.vmap(lambda p, q: p * q, in_dims=(0, None), out_dims=1)(x, x[0])
torch.vmap(lambda p, q: (p @ q, {"a": p + q}), in_dims=1)(x, y)
torch.vmap(torch.dot)(x, y)
torch.vmap(torch.vmap(lambda p: p * 2))(x)
torch.vmap(lambda d: d["a"] * d["b"])({"a": x, "b": y})
torch.vmap(lambda p: p + w[0])(x)
torch.vmap(lambda p: p, chunk_size=1)(x)
torch.vmap(lambda p: w[0])(x)
MAPPED(x), OUTSIDE(x)
grad(lambda t: (t ** 3).sum())(x)
grad(lambda t, u: (t * u ** 2).sum(), argnums=(0, 1))(x, y)
grad(lambda t: ((t ** 3).sum(), t * 2), has_aux=True)(x)
grad(grad(lambda t: t.sin()))(v[0])
grad_and_value(lambda t: (t ** 3).sum())(x)
grad(lambda d: (d["a"] * d["b"]).sum())({"a": x, "b": y})
torch.vmap(grad(lambda t: (t ** 3).sum()))(x)
torch.vmap(grad(lambda p, t: (p * t).sin().sum()), in_dims=(None, 0))(v, x)
jacrev(lambda t: t.sin())(v)
jacfwd(lambda t: t.sin() * t.sum())(v)
jacrev(lambda t, u: (t * u, t.sum()), argnums=(0, 1))(v, v)
hessian(lambda t: (t ** 3).sum())(v)
jvp(torch.sin, (x,), (y,))
jvp(lambda p, q: (p * q, p.sum()), (x, y), (y, x))
(lambda o, f: (o, f(x)))(*vjp(torch.sin, x))
(lambda o, f, a: (o, f(x), a))(*vjp(lambda t: (t.sin(), t * 2), x, has_aux=True))
functional_call(LAYER, {"weight": torch.ones(1, 3)}, (x,))
torch.vmap(grad(lambda p, t: functional_call(LAYER, p, (t,)).sum()), (None,
    0))(dict(LAYER.named_parameters()), x)
torch.vmap(LAYER)(x)
""",
    globals(),
)


@program
def backward_through(w):
    loss = grad(lambda t: (t**3).sum())(w).sum()
    loss = loss + torch.vmap(lambda row: (row * w[0]).sum())(w).sum()
    loss.backward()
    return w.grad


@program
def gradient_of_a_jacobian(w):
    return torch.autograd.grad((jacrev(lambda t: t**2)(w[0]) * w[1]).sum(), w)


@program
def own_list(x):
    seen = []
    return torch.vmap(lambda t: (seen.append(1), t * 2)[1])(x), seen


@program(breaks=True)
def function_of_one_branch(x):
    def kept():
        pass

    def first(x):
        kept.n = 1
        return x + 1

    def second(x):
        kept.n = 2
        return x + 2

    kept.n = 0
    return torch.cond(x.sum() < 0, first, second, (x,)), kept.n


@program(breaks=True)
def class_of_one_branch(x):
    class Kept:
        n = 0

    def first(x):
        Kept.n = 1
        return x + 1

    def second(x):
        Kept.n = 2
        return x + 2

    return torch.cond(x.sum() < 100, first, second, (x,)), Kept.n


@program(breaks=True)
def list_from_outside(x, items):
    return torch.vmap(lambda t: (items.append(1), t * 2)[1])(x), items


@program(breaks=True)
def random_numbers(x):
    return torch.vmap(lambda t: t + torch.rand(3), randomness="different")(x)


@program(breaks=True)
def refused(x):
    found = []
    for attempt in (lambda: grad(lambda t: 3)(x), lambda: torch.vmap(lambda t: t)(3)):
        try:
            found.append(attempt())
        except Exception as error:
            found.append(type(error).__name__)
    return found


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
