"""inference_mode inside and around: what is made there is an inference tensor, compiled too."""

import sys

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs, judge

program = Programs()


def facts(t):
    return t.is_inference(), t.requires_grad


def modes():
    return torch.is_inference_mode_enabled(), torch.is_grad_enabled(), facts(torch.ones(1))


@program
def results_of_a_block(w):
    with torch.inference_mode():
        y = w * 2
        y += 1
        z = y.view(-1)
        seen = facts(w.view(-1)), facts(y), facts(z), modes()
    return y, z, seen, facts(w + 1), modes()


@program
def blocks_in_blocks(w):
    with torch.inference_mode():
        with torch.inference_mode(False):
            inner = modes(), facts(w * 2)
        with torch.inference_mode(mode=False), torch.no_grad():
            quiet = modes()
        with torch.enable_grad():
            recording = torch.is_inference_mode_enabled(), torch.is_grad_enabled()
        return inner, quiet, recording, modes()


@program
def decorated(w):
    @torch.inference_mode()
    def evaluated(w):
        return w.exp() + 1

    return evaluated(w), facts(evaluated(w)), modes()


@program(breaks=True)
def over_a_break(w):
    with torch.inference_mode():
        y = w * 2
        count = int(y.numel() + y[0, 0].item())
        z = y + count
    return z, facts(y), facts(z), modes()


@program(breaks=True)
def over_a_frame(w):
    with torch.inference_mode():
        y = w * 2
        line = sys._getframe().f_code.co_name
        y = y + 1
    return y, line, facts(y), modes()


@program
def entered_by_hand(w):
    mode = torch.inference_mode()
    mode.__enter__()
    y = w * 2
    inside = modes()
    mode.__exit__(None, None, None)
    return facts(y), inside, modes()


@program
def left_by_an_exception(w):
    try:
        with torch.inference_mode():
            y = w * 2
            raise KeyError(1)
    except KeyError:
        return facts(y), modes()


@program(raises=True)
def a_write_outside(w):
    with torch.inference_mode():
        y = w * 2
    y += 1
    return y


@program(raises=True)
def a_gradient_outside(w):
    with torch.inference_mode():
        y = w.detach() * 2
    return y * w


def made_outside(write):
    def program():
        with torch.inference_mode():
            y = torch.ones(2)

        def fn(y):
            if write:
                y.add_(1)
            return facts(y), facts(y + 1), facts(y.view(2, 1))

        return fn, (y,), lambda: y

    return program


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("write", [False, True])
def test_arguments(write, backend):
    judge(made_outside(write), backend=backend, raises=write)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_leaves_is_one(backend):
    @torch.compile(backend=backend)
    def fn(w):
        with torch.inference_mode():
            return w * 2, w.view(-1)

    fresh, view = fn(torch.ones(2, requires_grad=True))
    assert facts(fresh) == (True, False) and facts(view) == (False, False)
    with pytest.raises(RuntimeError, match="inference tensor"):
        fresh.add_(1)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_inference_tensor_is_guarded(backend):
    @torch.compile(backend=backend)
    def fn(x):
        return x.is_inference(), x + 1

    with torch.inference_mode():
        x = torch.ones(2)
    assert fn(x)[0] and not fn(torch.ones(2))[0]
