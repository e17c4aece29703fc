"""What the backward of an autograd.Function reads when its time has come.

Each program makes a function with a backward of its own, runs it, changes something, and only then
goes back: the gradients are those of what stands there by then. What cannot change is captured.
"""

import functools
import math

import pytest

import minitorch2 as torch
from minitorch2.autograd import Function
from tests.jit.language.judging import BACKENDS, OPTIONS

FACTOR = 2.0


class Scale:
    def __init__(self):
        self.factor = 2.0

    def times(self, gradient):
        return gradient * self.factor


def doubling(backward, keep=lambda ctx: None):
    """A Function that doubles, with this backward."""

    class Doubled(Function):
        @staticmethod
        def forward(ctx, x):
            keep(ctx)
            return x * 2

    Doubled.backward = staticmethod(backward)
    return Doubled


def by_a_global():
    def change(value):
        global FACTOR  # noqa: PLW0603
        FACTOR = value

    return doubling(lambda ctx, gradient: gradient * FACTOR), change


def by_a_cell():
    factor = 2.0

    def change(value):
        nonlocal factor
        factor = value

    return doubling(lambda ctx, gradient: gradient * factor), change


def by_a_cell_of_tensors():
    factor = torch.full((3,), 2.0)

    def change(value):
        nonlocal factor
        factor = torch.full((3,), value)

    return doubling(lambda ctx, gradient: gradient * factor), change


def by_an_object():
    scale = Scale()
    return (doubling(lambda ctx, gradient: scale.times(gradient)),
            functools.partial(setattr, scale, "factor"))  # fmt: skip


def by_an_object_that_is_kept():
    scale = Scale()
    made = doubling(lambda ctx, gradient: gradient * ctx.scale.factor,
                    lambda ctx: setattr(ctx, "scale", scale))  # fmt: skip
    return made, functools.partial(setattr, scale, "factor")


def by_a_bound_method():
    scale = Scale()
    made = doubling(lambda ctx, gradient: ctx.times(gradient),
                    lambda ctx: setattr(ctx, "times", scale.times))  # fmt: skip
    return made, functools.partial(setattr, scale, "factor")


def by_a_list():
    held = [2.0]
    return (doubling(lambda ctx, gradient: gradient * sum(held)),
            functools.partial(held.__setitem__, 0))  # fmt: skip


def by_a_list_that_was_read():
    held = {"k": [2.0]}

    def keep(ctx):
        ctx.held, ctx.first = held, held["k"][0]

    made = doubling(lambda ctx, gradient: gradient * ctx.held["k"][0], keep)
    return made, functools.partial(held["k"].__setitem__, 0)


def by_its_class():
    def backward(ctx, gradient):
        return gradient * made.factor

    made = doubling(backward)
    made.factor = 2.0
    return made, functools.partial(setattr, made, "factor")


CHANGED = [by_a_global, by_a_cell, by_a_cell_of_tensors, by_an_object, by_an_object_that_is_kept,
           by_a_bound_method, by_a_list, by_a_list_that_was_read, by_its_class]  # fmt: skip


def gradients(make, compiling):
    """Gradients of calls between which, and after which, the factor is changed."""
    function, change = make()
    change(2.0)
    fn = compiling(lambda w: function.apply(w) + 1)
    found = []
    for later in (5.0, 2.0, 7.0):
        w = torch.ones(3, requires_grad=True)
        y = fn(w)
        change(later)
        y.sum().backward()
        found.append(w.grad.tolist())
    return found


def compiling_with(backend):
    return functools.partial(torch.compile, backend=backend, options=OPTIONS.get(backend))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("make", CHANGED, ids=lambda make: make.__name__)
def test_what_is_changed_before_the_backward(make, backend):
    assert gradients(make, compiling_with(backend)) == gradients(make, lambda fn: fn)


def recorded(ctx, gradient):
    return gradient * (3 if torch.is_grad_enabled() else 2)


def counting(ctx, gradient):
    ctx.count = getattr(ctx, "count", 1) + 1
    return gradient * ctx.count


@pytest.mark.parametrize("backend", BACKENDS)
def test_whether_gradients_are_recorded(backend):
    def run(compiling):
        w = torch.ones(3, requires_grad=True)
        fn = compiling(doubling(recorded).apply)
        first = torch.autograd.grad(fn(w).sum(), w)[0]
        second = torch.autograd.grad(fn(w).sum(), w, create_graph=True)[0]
        return first.tolist(), second.tolist()

    assert run(compiling_with(backend)) == run(lambda fn: fn)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_one_backward_leaves_for_the_next(backend):
    def run(compiling):
        w = torch.ones(3, requires_grad=True)
        y = compiling(lambda w: doubling(counting).apply(w) + 1)(w).sum()
        for _ in range(3):
            y.backward(retain_graph=True)
        return w.grad.tolist()

    assert run(compiling_with(backend)) == run(lambda fn: fn)


def helped(gradient):
    return gradient * math.pi


class Kept(Function):
    """Reads what forward left, functions, modules, sizes: all in one graph."""

    @staticmethod
    def forward(ctx, x, factor, sizes):
        ctx.save_for_backward(x)
        ctx.factor, ctx.sizes, ctx.names = factor, sizes, ["a", "b"]
        return x.exp() * factor

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        numbers = [len(name) for name in ctx.names]
        ones = torch.ones(*ctx.sizes, dtype=gradient.dtype)
        return helped(gradient) * x.exp() * ctx.factor * sum(numbers) * ones, None, None


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_stays_is_captured(backend):
    found = []
    for fn in (
        lambda w: Kept.apply(w, 3.0, (3,)),
        torch.compile(lambda w: Kept.apply(w, 3.0, (3,)), backend=backend, fullgraph=True),
    ):
        w = torch.zeros(3, requires_grad=True)
        fn(w).sum().backward()
        found.append(w.grad.tolist())
    assert found[0] == pytest.approx(found[1])
