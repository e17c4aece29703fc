"""Checkpoints: how often the forward runs again, in which backward, and what it must repeat."""

import contextlib

import pytest

import minitorch2 as torch
from minitorch2.utils import checkpoint as module
from minitorch2.utils.checkpoint import checkpoint


def counted(function):
    """The function, and a list that grows with each call."""
    calls = []

    def run(*args):
        calls.append(args)
        return function(*args)

    return run, calls


def last_is_counted(early_stop):
    copy, calls = counted(torch.clone)
    a = torch.tensor(1.0, requires_grad=True)
    out = checkpoint(lambda x: copy(x.sin().cos()), a, use_reentrant=False, early_stop=early_stop)
    out.backward()
    return len(calls)


def test_a_recomputation_ends_once_all_is_there():
    assert last_is_counted(True) == 1
    assert last_is_counted(False) == 2
    with module.set_checkpoint_early_stop(False):
        assert last_is_counted(True) == 2


def test_each_backward_makes_its_own():
    function, calls = counted(lambda x: x.exp().sin())
    a = torch.rand(3, requires_grad=True)
    out = checkpoint(function, a, use_reentrant=False)
    out.grad_fn._saved_self  # noqa: B018  (outside of any backward)
    assert len(calls) == 2
    out.sum().backward(retain_graph=True)
    out.sum().backward()
    assert len(calls) == 4
    assert torch.allclose(a.grad, 2 * a.exp() * a.exp().cos())
    with pytest.raises(RuntimeError, match="already been freed"):
        out.grad_fn._saved_self  # noqa: B018


@pytest.mark.parametrize("grouped", [True, False])
def test_backwards_of_one_group_share(grouped):
    function, calls = counted(lambda x: (x.sin().cos(), x.sin().cos().exp()))
    x = torch.rand(3, requires_grad=True)
    first, second = checkpoint(function, x, use_reentrant=False)
    with module.GraphExecGroup() if grouped else contextlib.nullcontext():
        torch.autograd.grad(second, x, torch.ones(3))
        torch.autograd.grad(first, x, torch.ones(3))
    assert len(calls) == 2 if grouped else 3
    again = checkpoint(lambda x: x.sin().cos(), x, use_reentrant=False)
    with module.GraphExecGroup():
        again.sum().backward(retain_graph=True)
        with pytest.raises(RuntimeError, match="two backward calls that overlap"):
            again.sum().backward()


def alternating(first, second):
    functions = iter([first, second])
    return lambda x: next(functions)(x)


def two(x):
    return x.sin().exp()


def three(x):
    return x.sin().exp().sin()


def of_another_shape(x):
    return x.sin() * torch.tensor([1.0, 2.0])


@pytest.mark.parametrize(
    "first, second, text",
    [
        (three, two, "different number of tensors"),
        (two, three, "save more tensors during recomputation"),
        (two, of_another_shape, "different metadata"),
    ],
)
def test_the_function_must_do_the_same_again(first, second, text):
    a = torch.rand(1, requires_grad=True)
    out = checkpoint(alternating(first, second), a, use_reentrant=False, early_stop=False)
    with pytest.raises(RuntimeError, match=text):
        out.backward()


def derivative(function):
    def run(x):
        with torch.enable_grad():
            return torch.autograd.grad(function(x), x, create_graph=True)[0]

    return run


def kept(function):
    return lambda *args: checkpoint(function, *args, use_reentrant=False)


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_checkpoints_nest_with_derivatives(order):
    x = torch.tensor(0.7, requires_grad=True)
    plain, inside, between = three, kept(kept(three)), kept(three)
    for _ in range(order):
        plain, inside, between = derivative(plain), derivative(inside), kept(derivative(between))
    assert torch.allclose(inside(x), plain(x))
    assert torch.allclose(between(x), plain(x))


def test_what_the_reentrant_form_refuses():
    a = torch.rand(2, requires_grad=True)
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        out = checkpoint(torch.exp, a)
    with pytest.raises(RuntimeError, match="is incompatible"):
        torch.autograd.grad(out.sum(), a)
    with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
        checkpoint(torch.exp, a, use_reentrant=True, debug=True)


def test_arguments_that_need_no_gradient_come_back_themselves():
    seen = []

    class Saves(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(y)
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            seen.append(ctx.saved_tensors[0])
            return grad, None

    a, b = torch.tensor(1.0, requires_grad=True), torch.tensor(2.0)
    checkpoint(Saves.apply, a, b, use_reentrant=False).backward()
    assert seen[0] is b
