"""Results that are cut off from their history in place, and views made while none is recorded."""

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()


@program
def cut_off(w):
    y = w * 2
    before = (y + 1).sum()
    same = y.detach_() is y
    loss = (y * w).sum() + before
    loss.backward()
    return y, y.requires_grad, y.is_leaf, same, loss, w.grad


@program
def written_after_that(w):
    y = w * 2
    y.detach_()
    y.mul_(3)
    z = (y * w).sum()
    y.detach_()
    z.backward()
    return y, w.grad


@program
def without_history(x):
    return x.detach_() is x, (x * 2).detach_()


@program(breaks=True)
def a_view(w):
    y = w * 2
    try:
        y[1:].detach_()
    except RuntimeError:
        return y, "refused"


@program(breaks=True)
def an_input(w):
    w.detach_()
    return w * 2, w.requires_grad


@program
def a_view_made_while_nothing_is_recorded(w):
    y = w * 2
    with torch.no_grad():
        y.mul_(3)
        part = y.view(-1)
    z = y.exp().sum()
    return y, part, part.requires_grad, z


@program
def a_view_of_an_input_made_so(x):
    with torch.no_grad():
        x.mul_(3)
        x.add_(1)
        part = x.view(-1)
    return part, x.sum()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
