"""Names of torch that a program replaces: compiled code calls what they are bound to now."""

import functools

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
