"""`with` blocks that are open at a break: they are left once, at their end, as they would be."""

import contextlib
import threading

import pytest

import minitorch2 as torch
from tests.jit.resume.both import both, is_captured, ones


class Manager:
    """Writes down what happens to it, and swallows what it is told to."""

    def __init__(self, swallows=()):
        self.log = []
        self.swallows = swallows

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, kind, error, trace):
        self.log.append(kind.__name__ if kind else None)
        return kind in self.swallows


@contextlib.contextmanager
def announced(name, log):
    log.append(f"in {name}")
    try:
        yield name.upper()
    except KeyError:
        log.append("swallowed")
    finally:
        log.append(f"out {name}")


def no_grad(x):
    w = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        a = w * x
        print(a.sum().item())
        b = a + w
    c = b + w
    return a, b, c


def grad_modes(x):
    w = x * 2
    with torch.no_grad():
        print(torch.is_grad_enabled(), w.sum())
        with torch.enable_grad():
            a = w * 3
            print(torch.is_grad_enabled(), a.sum())
        with torch.set_grad_enabled(False), torch.inference_mode():
            print(torch.is_inference_mode_enabled(), a.sum())
            b = a * 2
        if a.sum() > 0:
            b = b + w
    torch.set_grad_enabled(False)
    print(x.sum().item())
    c = w * 3
    torch.set_grad_enabled(True)
    return a, b, c


def autocast(x):
    m = torch.ones(3, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        a = m @ m
        print(a.sum().item())
        b = m @ m
        with torch.autocast("cpu", enabled=False):
            print(b.dtype)
            c = m @ m
        d = m @ a
    return a.dtype, b.dtype, c.dtype, d.dtype, (m @ m).dtype


def own_manager(x):
    manager = Manager((KeyError,))
    with manager as held:
        x = x + 1
        print(x.sum())
        x = x * 2
        if x.sum() > 0:
            raise KeyError("swallowed")
        held.log.append("not reached")
    with manager:
        print(x.max())
    return x * 3, manager.log


def generator_manager(x):
    log = []
    with announced("a", log) as a, announced("b", log):
        print(a, x.sum())
        x = x * 2
        {}[x.sum().item()]
    return x + 1, log


def left_by_return(x):
    manager = Manager()
    for i in range(3):
        with manager:
            if (x * i).sum() > 2:
                return i, manager.log
    return x


def left_by_break(x):
    manager = Manager()
    for i in range(3):
        with manager:
            if (x * i).sum() > 2:
                break
            continue
    return i, manager.log


def left_by_error(x, manager):
    with torch.no_grad(), manager:
        y = x * 2
        raise ValueError(y.sum().item())


def lock(x):
    held = threading.Lock()
    with held:
        y = x * 2
        print(held.locked(), y.sum())
        y = y + 1
    return y, held.locked()


PROGRAMS = [
    no_grad, grad_modes, autocast, own_manager, generator_manager, left_by_return, left_by_break,
    lock,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_python(program):
    cache = both(program)
    assert cache.breaks and is_captured(cache)


def test_an_error_leaves_the_blocks_and_the_function():
    both(left_by_error, lambda: (*ones(), Manager()))
    both(left_by_error, lambda: (*ones(), Manager((ValueError,))))


def reused(x, mode):
    with mode:
        y = x * 2
        print(y.sum(), torch.is_grad_enabled())
        y = y * 3
    return y


@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad, torch.inference_mode])
def test_a_mode_object_of_the_caller(mode):
    both(reused, lambda: (torch.ones(3, requires_grad=True), mode()))


def test_called_inside_a_mode():
    with torch.no_grad():
        both(no_grad)
        both(grad_modes)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        both(autocast)
