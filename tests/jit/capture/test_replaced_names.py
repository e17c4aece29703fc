"""Names of torch that a program replaces: code is compiled with what they are bound to then, and
anew when they are bound to something else again."""

import functools
import operator
import types
from unittest import mock

import pytest

import minitorch2 as torch
from minitorch2.nn import functional

ZEROS = torch.zeros(2)
FULL = torch.full


def filled(number, shape):
    return FULL(shape, number)


def lambdas(number, original):
    return lambda *shape: filled(number, shape)


def wrapped(number, original):
    @functools.wraps(original)
    def wrapper(*shape):
        return original(*shape) * 0 + number

    return wrapper


def partials(number, original):
    return functools.partial(lambda value, *shape: filled(value, shape), number)


def methods(number, original):
    class Numbers:
        def draw(self, *shape):
            return filled(number, shape)

    return Numbers().draw


@pytest.mark.parametrize("backend", ["eager", "interpreter", "numba"])
@pytest.mark.parametrize("make", [lambdas, wrapped, partials, methods])
def test_a_function_replaced_again_and_again(monkeypatch, make, backend):
    original = torch.randn
    run = torch.compile(lambda: torch.randn(2) + 1, backend=backend)
    for number in (1.0, 2.0):
        monkeypatch.setattr(torch, "randn", make(number, original))
        assert torch.equal(run(), FULL((2,), number + 1))
        assert torch.equal(run(), FULL((2,), number + 1))
    monkeypatch.undo()
    assert not torch.equal(run(), run())


def test_a_function_that_a_module_of_ours_calls(monkeypatch):
    run = torch.compile(torch.nn.ReLU(), backend="interpreter")
    for number in (10.0, 20.0):
        monkeypatch.setattr(functional, "relu", lambda x, inplace=False, number=number: x + number)
        assert torch.equal(run(ZEROS), ZEROS + number)
    monkeypatch.undo()
    assert torch.equal(run(ZEROS), ZEROS)


def test_a_class_replaced(monkeypatch):
    class Shifted(torch.nn.Identity):
        def forward(self, x):
            return x + 5

    run = torch.compile(lambda x: torch.nn.Identity()(x), backend="interpreter")
    monkeypatch.setattr(torch.nn, "Identity", Shifted)
    assert torch.equal(run(ZEROS), ZEROS + 5)
    monkeypatch.undo()
    assert torch.equal(run(ZEROS), ZEROS)


def test_what_nobody_replaced_costs_no_guard():
    run = torch.compile(lambda x: functional.gelu(x) + torch.randn(2), backend="interpreter")
    run(ZEROS)
    (entry,) = run.cache.all_entries()
    text = entry.guards.source_text
    assert "randn" not in text and "gelu" not in text


class Callable:
    def __init__(self, number):
        self.number = number

    def __call__(self, *shape):
        return FULL(shape, self.number)


REPLACED = {
    "an instance": Callable(5.0),
    "a cached function": functools.lru_cache(lambda *shape: FULL(shape, 6.0)),
    "a mock": mock.Mock(side_effect=lambda *shape: FULL(shape, 7.0)),
    "another function of torch's": torch.ones,
    "a partial of torch's": functools.partial(FULL, fill_value=8.0),
    "a class": type("Shape", (), {"__new__": lambda cls, *shape: FULL(shape, 9.0)}),
    "a native function": operator.add,
}


@pytest.mark.parametrize("kind", REPLACED)
def test_whatever_is_put_in_a_place(monkeypatch, kind):
    arguments = (3, 4) if kind == "a native function" else (2,)
    if kind.startswith("a partial"):
        arguments = ((2,),)
    run = torch.compile(lambda: torch.zeros(*arguments) + 1, backend="eager")
    monkeypatch.setattr(torch, "zeros", REPLACED[kind])
    wanted = torch.as_tensor(REPLACED[kind](*arguments)) + 1
    assert torch.equal(torch.as_tensor(run()), wanted)
    assert torch.equal(torch.as_tensor(run()), wanted)
    monkeypatch.undo()
    assert torch.equal(run(), ZEROS.new_zeros(*arguments) + 1)


@pytest.mark.parametrize("first, second", [(3.0, 4.0), ("abc", "d"), ((1, 2), (1,)), ([1], [2, 3])])
def test_a_name_of_the_program_in_torch(monkeypatch, first, second):
    run = torch.compile(lambda: ZEROS + (len(repr(torch.my_scale)) + 1), backend="eager")
    for now in (first, second, first):
        monkeypatch.setattr(torch, "my_scale", now, raising=False)
        assert torch.equal(run(), ZEROS + (len(repr(now)) + 1))
    changed = torch.compile(
        lambda: ZEROS * len(torch.backends.__name__) + torch.pi, backend="eager"
    )
    monkeypatch.setattr(torch, "pi", 3.0)
    assert torch.equal(changed(), ZEROS + 3)
    monkeypatch.undo()
    assert torch.equal(changed(), ZEROS + torch.pi)


def test_a_module_replaced(monkeypatch):
    mine = types.ModuleType("mine")
    mine.relu = lambda x: x + 3
    run = torch.compile(lambda x: torch.nn.functional.relu(x), backend="eager")
    monkeypatch.setattr(torch.nn, "functional", mine)
    assert torch.equal(run(ZEROS), ZEROS + 3)
    monkeypatch.undo()
    assert torch.equal(run(ZEROS), ZEROS)
