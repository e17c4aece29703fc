"""Every reason for a break has a program that breaks so, and one that follows its hint."""
# ruff: noqa: C417 -- odd spellings are what is tested

import array
import functools
import gc
import itertools
import sys
import types
import weakref

import pytest

import minitorch2 as torch
from minitorch2.jit.capture.graph_break import ROWS, GraphBreak
from minitorch2.jit.capture.program import capture
from minitorch2.jit.ir.fakes import FakeMode
from tests.jit.resume.both import both, codes


def x():
    return torch.tensor([1.0, 2.0, 3.0])


def item(x):
    return x + x.sum().item()


def item_kept(x):
    return x + x.sum()


def branch(x):
    return x + 1 if x.sum() > 0 else x - 1


def branch_as_where(x):
    return torch.where(x.sum() > 0, x + 1, x - 1)


def starts_backward(x):
    loss = (x * x).sum()
    loss.backward()
    return loss.detach()


def returns_loss(x):
    return (x * x).sum()


def keeps_gradient(x):
    x.retain_grad()
    return x * 2


def doubled(x):
    return x * 2


def talks(x):
    print("hello")
    return x * 2


def native(x):
    return x * 2 if gc.isenabled() else x


def native_outside(x, enabled):
    return x * 2 if enabled else x


class Stands:
    """A base that says itself what it stands for."""

    def __mro_entries__(self, bases):
        return (Scaled,)


class Scaled:
    scale = 2


def class_inside(x):
    class Local(Stands()):
        pass

    return x * Local.scale


module_code = types.FunctionType(compile("two = 1 + 1", "<module code>", "exec"), {})


def runs_module_code(x):
    module_code()
    return x * 2


class Outside(Stands()):  # type: ignore[misc]
    """The same, outside."""


def class_outside(x):
    return x * Outside.scale


def length(x, numbers):
    return x * len(numbers)


def typecode(x, numbers):
    return x * len(numbers.typecode)


def times(x, number):
    return x * number


def address(x):
    return x if id(3) else x + 1


def no_address(x):
    return x


def coroutine(x):
    async def later():
        return x

    later().close()
    return x * 2


def writes(x, y):
    x.add_(1)
    return y * 2


def shared():
    made = x()
    return made, made[:2]


def apart():
    made = x()
    return made, made[:2].clone()


def may_fail(x):
    try:
        return 12 // x.to(torch.int64)
    except RuntimeError:
        return x


def cannot_fail(x):
    return 12 // x.to(torch.int64)


def too_long(x):
    for _ in range(140_000):
        pass
    return x + 1


def body(x):
    return x + 1


def takes_state(x, generator):
    generator.set_state(torch.Generator().manual_seed(1).get_state())
    return x + torch.rand(3, generator=generator)


def takes_seed(x, generator):
    generator.manual_seed(1)
    return x + torch.rand(3, generator=generator)


def generator():
    return x(), torch.Generator()


class Named:
    """An object that can be referred to weakly."""


def asks_late(x, counts, reference):
    counts["calls"] = reference()
    return x * (reference() is not None)


def asks_once(x, counts, reference):
    held = reference()
    counts["calls"] = held
    return x * (held is not None)


def walks(x, steps):
    for step in steps:
        x = x + step
    return x


def lives_on(x):
    numbers = itertools.accumulate((2, 4))
    print("break")
    return x * sum(numbers)


def listed(x):
    numbers = list(itertools.accumulate((2, 4)))
    print("break")
    return x * sum(numbers)


class Owner:
    def __del__(self):
        pass


def made_inside(x):
    Owner()
    return x + 1


def made_outside(x, owner):
    return x + isinstance(owner, Owner)


def frame(x):
    return sys._getframe().f_code.co_name, x + 1


def name(x):
    return "name", x + 1


def debugger(x):
    breakpoint()
    return x + 1


@functools.lru_cache
def mask(n):
    return torch.ones(n)


def asks_first(x):
    mask.cache_clear()
    return x * mask(3)


def asks_again(x):
    return x * mask(3)


@torch.compiler.disable
def disabled(x):
    return x + 1


def calls_disabled(x):
    return disabled(x) * 2


def calls_enabled(x):
    return body(x) * 2


def no_leaf():
    return (x().requires_grad_() * 2,)


def gradient_kept():
    (made,) = no_leaf()
    made.retain_grad()
    return (made,)


def with_(*more):
    return lambda: (x(), *(one() if callable(one) else one for one in more))


NAMED = Named()


def referred():
    return x(), {}, weakref.ref(NAMED)


NUMBERS = array.array("d", [1, 2])
# code: (what breaks, its arguments), (what follows the hint, its arguments)
PAIRS = {
    "data-dependent": ((item, with_()), (item_kept, with_())),
    "tensor-branch": ((branch, with_()), (branch_as_where, with_())),
    "backward": ((starts_backward, no_leaf), (returns_loss, no_leaf)),
    "gradient-machinery": ((keeps_gradient, no_leaf), (doubled, gradient_kept)),
    "input-output": ((talks, with_()), (doubled, with_())),
    "unknown-call": ((native, with_()), (native_outside, with_(True))),
    "unknown-object": ((length, with_(NUMBERS)), (length, with_([1, 2]))),
    "unknown-attribute": ((typecode, with_(NUMBERS)), (times, with_(len(NUMBERS.typecode)))),
    "unknown-operation": ((address, with_()), (no_address, with_())),
    "unhandled-opcode": ((runs_module_code, with_()), (doubled, with_())),
    "class-statement": ((class_inside, with_()), (class_outside, with_())),
    "generator": ((coroutine, with_()), (doubled, with_())),
    "aliased-inputs": ((writes, shared), (writes, apart)),
    "may-fail": ((may_fail, with_()), (cannot_fail, with_())),
    "too-long": ((too_long, with_()), (body, with_())),
    "random-generator": ((takes_state, generator), (takes_seed, generator)),
    "weak-reference": ((asks_late, referred), (asks_once, referred)),
    "iterator-argument": ((walks, with_(lambda: (n for n in [1, 2]))), (walks, with_([1, 2]))),
    "made-by-python": ((lives_on, with_()), (listed, with_())),
    "lifetime": ((made_inside, with_()), (made_outside, with_(Owner()))),
    "frame": ((frame, with_()), (name, with_())),
    "debugger": ((debugger, with_()), (body, with_())),
    "kept-answer": ((asks_first, with_()), (asks_again, with_())),
    "disabled": ((calls_disabled, with_()), (calls_enabled, with_())),
}
ELSEWHERE = {
    "mode-active",  # below: it is the caller who is in the way
    "schedule",  # in test_schedules_inside: it takes two steps
    "exception-escapes", "exception-lives-on",  # nothing to do: Python raises what is raised
    "internal",  # a mistake of ours has no program
}  # fmt: skip


@pytest.mark.parametrize("code", PAIRS)
def test_the_hint_takes_the_break_away(code, monkeypatch):
    monkeypatch.setattr(sys, "breakpointhook", lambda *args, **kwargs: None)
    (broken, broken_args), (mended, mended_args) = PAIRS[code]
    assert code in codes(both(broken, broken_args, calls=2))
    assert code not in codes(both(mended, mended_args, calls=2))


def test_every_row_is_here():
    assert set(PAIRS) | ELSEWHERE == {row.code for row in ROWS}
    without = {row.code for row in ROWS if not row.hints}
    assert without == ELSEWHERE - {"mode-active", "schedule"}


def test_a_mode_that_is_active():
    with FakeMode(), pytest.raises(GraphBreak) as caught:
        capture(body, (x(),), {}, unit="test:body#0")
    assert caught.value.row.code == "mode-active"
    assert capture(body, (x(),), {}, unit="test:body#0").graph.nodes
