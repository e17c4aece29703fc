"""Derivatives inside captured code: autograd.Function, autograd.grad, checkpoint."""

import pytest

import minitorch2 as torch
from minitorch2.autograd import Function
from minitorch2.utils.checkpoint import checkpoint
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()
SEEN: list = []


class Scaled(Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return x * x * k

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 * x * ctx.k, None


class WithSetup(Function):
    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0]


class KeepsItsResult(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0] * 10


class Several(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.larger = a > b
        ctx.mark_non_differentiable(ctx.larger)
        return torch.maximum(a, b), ctx.larger, a - b

    @staticmethod
    def backward(ctx, g, unused, g2):
        ga = torch.where(ctx.larger, g, 0.0) + g2 if ctx.needs_input_grad[0] else None
        gb = torch.where(ctx.larger, 0.0, g) - g2 if ctx.needs_input_grad[1] else None
        return ga, gb


class StraightThrough(Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


class Reversed(Function):
    @staticmethod
    def forward(ctx, x, a):
        ctx.a = a
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g.neg() * ctx.a, None


class WithEffect(Function):
    @staticmethod
    def forward(ctx, x):
        SEEN.append(1)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 3


class Linear(Function):
    @staticmethod
    def forward(ctx, x, w, b=None):
        ctx.save_for_backward(x, w, b)
        return x @ w.t() + (0 if b is None else b)

    @staticmethod
    def backward(ctx, g):
        x, w, b = ctx.saved_tensors
        return g @ w, g.t() @ x, None if b is None else g.sum(0)


def derivative(body, breaks=False):
    """Two programs: what a function of (x, w, v) gives, and what its backward inside leaves."""

    def program_of(run):
        def made():
            SEEN.clear()
            w = torch.tensor([[0.5, -1.0, 2.0], [1.0, 1.5, 3.0]], requires_grad=True)
            v = torch.tensor([[1.5, -1.0, 1.0], [0.3, 2.5, 3.0]], requires_grad=True)
            fn = lambda x: run(x, w, v)  # noqa: E731
            return fn, lambda: (torch.ones(2, 3),), lambda: (w.grad, v.grad, list(SEEN))

        return made

    def backward(x, w, v):
        out = body(x, w, v)
        (out[0] if isinstance(out, tuple) else out).sum().backward()
        return x

    name = body.__name__
    program.known[name] = program_of(body), {"breaks": breaks}
    program.known[f"{name}, backward"] = program_of(backward), {"breaks": breaks, "again": True}


@derivative
def an_input(x, w, v):
    return Scaled.apply(w, 3)


@derivative
def inside(x, w, v):
    return Scaled.apply(w * x + v, 3) * 2


@derivative
def needs_nothing(x, w, v):
    return Scaled.apply(x, 3) * w


@derivative
def setup(x, w, v):
    return WithSetup.apply(w)


@derivative
def its_result(x, w, v):
    return KeepsItsResult.apply(w)


@derivative
def several(x, w, v):
    return (lambda t: (t[0] + t[2] * 3, t[1]))(Several.apply(w, v))


@derivative
def one_needs(x, w, v):
    return Several.apply(w, x)[0]


@derivative
def twice_the_same(x, w, v):
    return Several.apply(w, w)[2]


@derivative
def straight_through(x, w, v):
    return StraightThrough.apply(w) * v


@derivative
def a_view(x, w, v):
    return Reversed.apply(w, 2.0)


@derivative
def none_for_an_argument(x, w, v):
    return Linear.apply(x, w)


@derivative
def three_arguments(x, w, v):
    return Linear.apply(x, w, v[0, :2])


@derivative
def one_in_another(x, w, v):
    return KeepsItsResult.apply(StraightThrough.apply(w)) + Scaled.apply(v, 2)


@derivative
def second_derivative(x, w, v):
    return torch.autograd.grad(Scaled.apply(w, 3).sum(), w, create_graph=True)[0] * v


@derivative
def under_no_grad(x, w, v):
    return torch.no_grad()(Scaled.apply)(w, 3) * w


@derivative
def checkpointed(x, w, v):
    return checkpoint(lambda q: Scaled.apply(q, 2), w, use_reentrant=False)


def with_effect(x, w, v):
    return WithEffect.apply(w)


derivative(with_effect, breaks=True)


@program
def gradients(w, x):
    y = w * x
    return (
        torch.autograd.grad((w**2).sum(), w),
        torch.autograd.grad(y.sum(), [w, y], allow_unused=True),
        torch.autograd.grad(w * x, w, grad_outputs=x),
        torch.autograd.grad([w.sum(), (w * 2).sum()], [w]),
        torch.autograd.grad(w.sum(), [w, w * 2], allow_unused=True),
        torch.autograd.grad(w.sum(), [w, w * 2], materialize_grads=True),
    )


@program
def second_gradients(w):
    first = torch.autograd.grad((w**3).sum(), w, create_graph=True)[0]
    return first.detach(), torch.autograd.grad(first.sum(), w)


@program
def penalty(w):
    z = w * 2
    slope = torch.autograd.grad((z**3).sum(), z, create_graph=True)[0]
    loss = (slope.norm() - 1) ** 2
    loss.backward()
    return loss.detach(), w.grad


@program(breaks=True)
def not_used(w):
    try:
        return torch.autograd.grad(w.sum(), [w, w * 2])
    except RuntimeError as error:
        return type(error).__name__


@program(breaks=True)
def leads_outside():
    def arguments():
        x = torch.ones(2, requires_grad=True)
        return x, x * 2

    return lambda x, y: torch.autograd.grad(y.sum(), x), arguments, lambda: None


@program
def dropout_in_checkpoint(w, x):
    run = lambda q: torch.nn.functional.dropout(q * w, 0.5)  # noqa: E731
    return checkpoint(run, x, use_reentrant=False)


class Parts(Function):
    """Two results, one of them a view of the argument."""

    @staticmethod
    def forward(ctx, x):
        return x[:1], x * 2

    @staticmethod
    def backward(ctx, g, h):
        return torch.cat([g, torch.zeros_like(g)]) + h * 2


def refused_write(name, body):
    """A program that writes into what a Function returned, and says how that is refused."""

    def run(w):
        try:
            body(w)
        except RuntimeError as error:
            return str(error).partition("This view")[2].splitlines()[0]

    program.known[name] = run, {"breaks": True}


def write_later(w):
    part = Reversed.apply(w * 1, 2)
    other = w * 3
    part.mul_(other)


def write_through_a_view(w):
    Reversed.apply(w, 2)[0].add_(1)


def write_one_of_two(w):
    part, _ = Parts.apply(w * 1)
    part += 1


for _body in (write_later, write_through_a_view, write_one_of_two):
    refused_write(_body.__name__, _body)


@program
def write_what_is_no_view(w):
    _, doubled = Parts.apply(w * 1)
    doubled += 1
    return doubled, StraightThrough.apply(w).add_(1)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)


OUTSIDE = [name for name in program.names if f"{name}, backward" in program.names]


@pytest.mark.parametrize("backend", ["interpreter", "numba", "eager"])
@pytest.mark.parametrize("name", OUTSIDE)
def test_a_backward_from_outside(name, backend):
    found = []
    for compiling in (lambda fn: fn, lambda fn: torch.compile(fn, backend=backend)):
        fn, arguments, observe = program.known[name][0]()
        run = compiling(fn)
        for _ in range(2):
            out = run(*arguments())
            out = out[0] if isinstance(out, tuple) else out
            (out * torch.arange(out.numel()).reshape(out.shape)).sum().backward()
        found.append([None if grad is None else grad.tolist() for grad in observe()[:2]])
    assert found[0] == found[1]
