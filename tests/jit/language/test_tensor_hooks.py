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


@program(breaks=True)
def a_result(w):
    middle = w * 2
    middle.register_hook(lambda gradient: gradient * 3)
    (middle * middle).sum().backward()
    return w.grad


@program(breaks=True)
def a_result_that_leaves(w):
    middle = (w * 2).relu()
    middle.register_hook(lambda gradient: gradient.clamp(max=1))
    return middle, middle.sum()


@program(breaks=True)
def a_hook_that_only_looks(w):
    middle = w * 2
    middle.register_hook(lambda gradient: None)
    middle.sum().backward()
    return w.grad


@program(breaks=True)
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


def hooked(middle):
    """A hook, by a function of the program's."""
    middle.register_hook(lambda gradient: gradient * 3)
    return middle


def used_and_hooked(w):
    """A result that a function of the program's makes, uses and hooks."""
    middle = w * 2
    other = middle * 3
    middle.register_hook(lambda gradient: gradient * 3)
    return middle + other


@program(breaks=True)
def a_result_that_was_used_is_hooked_elsewhere(w):
    middle = w * 2
    other = middle * 3
    (hooked(middle) + other).sum().backward()
    return w.grad


@program(breaks=True)
def a_result_of_a_function_that_hooks_it(w):
    used_and_hooked(w + 1).sum().backward()
    return w.grad


@program(breaks=True)
def results_in_a_loop(w):
    total = 0
    for number in range(2):
        middle = w * number
        total = total + middle.relu()
        middle.register_hook(lambda gradient: gradient * 3)
    total.sum().backward()
    return w.grad


@program(breaks=True)
def a_result_under_no_grad(w):
    middle = w * 2
    with torch.no_grad():
        middle.register_hook(lambda gradient: gradient * 3)
    (middle.sum() + (w * 3).sum()).backward()
    return w.grad


@program(breaks=True)
def what_a_hook_on_a_result_reads(w):
    factor, middle = 1, w * 2
    middle.register_hook(lambda gradient: gradient * factor)
    factor = 7
    middle.sum().backward()
    return w.grad


@program(breaks=True)
def the_gradient_kept_of_what_has_a_hook(w):
    middle = w * 2
    middle.register_hook(lambda gradient: gradient * 3)
    middle.retain_grad()
    (middle * middle).sum().backward()
    return middle.grad, w.grad


@program
def what_a_hook_on_a_leaf_reads(w):
    factor = 1
    handle = w.register_hook(lambda gradient: gradient * factor)
    factor = 7
    (w * 2).sum().backward()
    handle.remove()
    return w.grad


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
        return (w * 3).sum()

    def outcome(fn):
        w, log = torch.ones(2, requires_grad=True), []
        fn(w, log).backward()
        return w.grad.tolist(), log

    compiled = torch.compile(fn, fullgraph=True)
    assert outcome(compiled) == outcome(compiled) == outcome(fn) == ([6.0, 6.0], [[3.0, 3.0]])


def test_what_a_hook_reads():
    """It is read when the backward runs, on a leaf and on a result that leaves."""

    def on_a_leaf(w, scale):
        factor = 1
        w.register_hook(lambda gradient: gradient * factor * scale[0])
        factor = 7
        return (w * 3).sum(), w

    def on_a_result(w, scale):
        factor, middle = 1, w * 3
        middle.register_hook(lambda gradient: gradient * factor * scale[0])
        middle.register_hook(lambda gradient: gradient + 1)
        factor = 7
        return middle.sum(), middle

    def outcome(fn):
        w, scale = torch.ones(2, requires_grad=True), [1]
        total, watched = fn(w, scale)
        scale[0] = 2
        taken = torch.autograd.grad(total, watched, retain_graph=True)[0].tolist()
        if watched is not w:
            watched.retain_grad()
        watched.register_hook(lambda gradient: gradient * 5)
        total.backward()
        return taken, watched.grad.tolist(), w.grad.tolist()

    for fn in (on_a_leaf, on_a_result):
        compiled = torch.compile(fn, backend="aot_eager")
        assert outcome(compiled) == outcome(compiled) == outcome(fn)


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
