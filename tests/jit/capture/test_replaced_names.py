"""Names of torch that a program replaces: code is compiled with what they are bound to then, and
anew when they are bound to something else again."""

import functools
import math
import operator
import types
from unittest import mock

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.nn import functional

ZEROS = torch.zeros(2)
FULL = torch.full


def compiled_whole(run):
    """Whether a function was captured without a break: Python follows every replacement anyway."""
    cache = getattr(run, "_compiled", run).cache  # a module keeps its function
    return bool(cache.all_entries()) and not cache.breaks


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
    assert compiled_whole(run)


def test_a_function_that_a_module_of_ours_calls(monkeypatch):
    run = torch.compile(torch.nn.ReLU(), backend="interpreter")
    for number in (10.0, 20.0):
        monkeypatch.setattr(functional, "relu", lambda x, inplace=False, number=number: x + number)
        assert torch.equal(run(ZEROS), ZEROS + number)
    monkeypatch.undo()
    assert torch.equal(run(ZEROS), ZEROS) and compiled_whole(run)


def test_a_class_replaced(monkeypatch):
    class Shifted(torch.nn.Identity):
        def forward(self, x):
            return x + 5

    run = torch.compile(lambda x: torch.nn.Identity()(x), backend="interpreter")
    monkeypatch.setattr(torch.nn, "Identity", Shifted)
    assert torch.equal(run(ZEROS), ZEROS + 5)
    monkeypatch.undo()
    assert torch.equal(run(ZEROS), ZEROS) and compiled_whole(run)


def test_a_name_is_looked_at_once():
    """However often it is called, by whichever way: one identity."""
    layers = nn.Sequential(*[nn.GELU() for _ in range(5)])

    def fn(x):
        for _ in range(5):
            x = functional.gelu(x) + torch.randn(2)
        return layers(x)

    run = torch.compile(fn, backend="interpreter")
    run(ZEROS)
    (entry,) = run.cache.all_entries()
    text = entry.guards.source_text
    assert text.count("is not OBJECT_randn") == 1 and text.count("is not OBJECT_gelu") == 1


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
    assert compiled_whole(run)


@pytest.mark.parametrize("first, second", [(3.0, 4.0), ("abc", "d"), ((1, 2), (1,)), ([1], [2, 3])])
def test_a_name_of_the_program_in_torch(monkeypatch, first, second):
    run = torch.compile(lambda: ZEROS + (len(repr(torch.my_scale)) + 1), backend="eager")
    for now in (first, second, first):
        monkeypatch.setattr(torch, "my_scale", now, raising=False)
        assert torch.equal(run(), ZEROS + (len(repr(now)) + 1))
    assert compiled_whole(run)
    changed = torch.compile(
        lambda: ZEROS * len(torch.backends.__name__) + torch.pi, backend="eager"
    )
    monkeypatch.setattr(torch, "pi", 3.0)
    assert torch.equal(changed(), ZEROS + 3)
    monkeypatch.undo()
    assert torch.equal(changed(), ZEROS + torch.pi) and compiled_whole(changed)


def test_a_module_replaced(monkeypatch):
    mine = types.ModuleType("mine")
    mine.relu = lambda x: x + 3
    run = torch.compile(lambda x: torch.nn.functional.relu(x), backend="eager")
    monkeypatch.setattr(torch.nn, "functional", mine)
    assert torch.equal(run(ZEROS), ZEROS + 3)
    monkeypatch.undo()
    assert torch.equal(run(ZEROS), ZEROS) and compiled_whole(run)


def _double(x, *rest, **named):
    return x * 2


X, LINEAR, RELU = torch.ones(2), nn.Linear(2, 2), nn.ReLU()
LATE = {
    "function of torch": (torch, "relu", _double, lambda x: torch.relu(x - 2)),
    "function of functional": (functional, "gelu", _double, lambda x: functional.gelu(x)),
    "what a module of ours calls": (functional, "gelu", _double, nn.GELU()),
    "forward of a module": (nn.Linear, "forward", lambda self, x: x * 3, nn.Linear(2, 2)),
    "call of all modules": (nn.Module, "__call__", lambda self, x: x * 4,
                            lambda x: RELU(x)),
    "a method of tensors": (torch.Tensor, "relu", _double, lambda x: (x - 2).relu()),
    "a method that a module calls": (nn.Module, "named_parameters", lambda self, **named: iter([]),
                                     lambda x: x + len(list(LINEAR.parameters()))),
    "a function of Python's": (math, "sqrt", lambda x: 7.0, lambda x: x * math.sqrt(4.0)),
    "a class of torch": (nn, "ReLU", nn.Tanh, lambda x: nn.ReLU()(x - 2)),
}  # fmt: skip


@pytest.mark.parametrize("backend", ["eager", "numba"])
@pytest.mark.parametrize("name", LATE)
def test_a_name_replaced_after_the_compilation(monkeypatch, name, backend):
    owner, attribute, mine, fn = LATE[name]
    run = torch.compile(fn, backend=backend)
    before = fn(X)
    assert torch.allclose(run(X), before) and torch.allclose(run(X), before)
    monkeypatch.setattr(owner, attribute, mine)
    after = fn(X)
    assert not torch.equal(after, before)
    assert torch.allclose(run(X), after)
    monkeypatch.undo()
    assert torch.allclose(run(X), before)
    assert len(run.cache.recompiles) <= 1 if hasattr(run, "cache") else True


@pytest.mark.parametrize("backend", ["eager", "numba"])
def test_a_method_of_an_optimizer(monkeypatch, backend):
    w = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.5)

    def fn():
        optimizer.zero_grad()
        w.sum().backward()
        optimizer.step()

    run = torch.compile(fn, backend=backend)
    run()
    assert w.tolist() == [0.5, 0.5]
    monkeypatch.setattr(torch.optim.SGD, "step", lambda self: None)
    run()
    assert w.tolist() == [0.5, 0.5]
    monkeypatch.undo()
    run()
    assert w.tolist() == [0.0, 0.0]
