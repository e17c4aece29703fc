"""`register_hook` inside: on leaves and on results, with a backward inside and after the call."""

import pytest

import minitorch2 as torch
from minitorch2 import nn
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()


@program
def a_leaf_and_a_backward_inside(w):
    handle = w.register_hook(lambda gradient: gradient * 2)
    (w * w).sum().backward()
    handle.remove()
    return w.grad


@program
def taken_out_before(w):
    handle = w.register_hook(lambda gradient: gradient * 2)
    handle.remove()
    (w * w).sum().backward()
    return w.grad


@program
def hooks_in_order(w):
    seen = []
    first = w.register_hook(lambda gradient: seen.append(gradient))
    second = w.register_hook(lambda gradient: gradient + 1)
    third = w.register_hook(lambda gradient: seen.append(gradient) or gradient * 2)
    (w * 3).sum().backward()
    for handle in (first, second, third):
        handle.remove()
    return w.grad, seen


@program
def a_leaf_made_inside(x):
    p = nn.Parameter(torch.ones(3))
    handle = p.register_hook(lambda gradient: gradient * 5)
    (p * x).sum().backward()
    handle.remove()
    return p


@program
def a_result(w):
    middle = w * 2
    middle.register_hook(lambda gradient: gradient * 3)
    (middle * middle).sum().backward()
    return w.grad


@program
def a_result_that_leaves(w):
    middle = (w * 2).relu()
    middle.register_hook(lambda gradient: gradient.clamp(max=1))
    return middle, middle.sum()


@program
def a_hook_that_only_looks(w):
    middle = w * 2
    middle.register_hook(lambda gradient: None)
    middle.sum().backward()
    return w.grad


@program
def two_hooks_on_a_result(w):
    middle = w * 2
    middle.register_hook(lambda gradient: gradient + 1)
    middle.register_hook(lambda gradient: gradient * 2)
    middle.sum().backward()
    return w.grad


@program(breaks=True)
def a_result_that_was_used(w):
    middle = w * 2
    other = middle * 3
    middle.register_hook(lambda gradient: gradient * 3)
    (middle + other).sum().backward()
    return w.grad


@program(breaks=True)
def a_result_that_is_written(w):
    middle = w * 2
    middle.register_hook(lambda gradient: gradient * 3)
    middle.mul_(2)
    middle.sum().backward()
    return w.grad


@program(breaks=True)
def a_result_whose_hook_is_taken_out(w):
    middle = w * 2
    handle = middle.register_hook(lambda gradient: gradient * 3)
    total = middle.sum()
    handle.remove()
    total.backward()
    return w.grad


@program(breaks=True)
def a_hook_on_a_result_that_tells(w):
    middle, seen = w * 2, []
    middle.register_hook(lambda gradient: seen.append(gradient.shape))
    middle.sum().backward()
    return w.grad, seen


@program(breaks=True)
def the_gradient_of_what_has_a_hook(w):
    middle = w * 2
    middle.register_hook(lambda gradient: gradient * 3)
    return torch.autograd.grad(middle.sum(), middle)


@program
def a_tensor_without_gradient(x):
    try:
        x.register_hook(lambda gradient: gradient)
    except RuntimeError as error:
        return str(error)[:40], x + 1


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)


def test_a_backward_after_the_call():
    def fn(w, log):
        w.register_hook(lambda gradient: log.append(gradient.tolist()) or gradient * 2)
        middle = w * 3
        middle.register_hook(lambda gradient: gradient + 1)
        return middle.sum()

    def outcome(fn):
        w, log = torch.ones(2, requires_grad=True), []
        fn(w, log).backward()
        return w.grad.tolist(), log

    compiled = torch.compile(fn, fullgraph=True)
    assert outcome(compiled) == outcome(compiled) == outcome(fn) == ([12.0, 12.0], [[6.0, 6.0]])


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_hook_that_comes_later(backend):
    """One that was registered after the compilation is called as well."""

    def fn(w):
        (w * w).sum().backward()
        return w.grad.tolist()

    compiled = torch.compile(fn, backend=backend)
    w = torch.ones(2, requires_grad=True)
    assert compiled(w) == [2.0, 2.0]
    w.grad = None
    handle = w.register_hook(lambda gradient: gradient * 10)
    assert compiled(w) == [20.0, 20.0]
    w.grad = None
    handle.remove()
    assert compiled(w) == [2.0, 2.0]
