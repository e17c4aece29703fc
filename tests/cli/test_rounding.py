"""Steps rounded the other way: what moves, by how much, and what bisect makes of it."""

import numpy
import pytest

import minitorch2 as torch
from minitorch2.cli.bisection import bisect
from minitorch2.cli.rounding import RoundedSteps
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.ops.table import lookup

X = torch.randn(40, 30, generator=torch.Generator().manual_seed(0))
UNROUNDED = {
    "signs": lambda x: (x.neg(), x.abs(), x.relu(), x.clamp(-0.5, 0.25), x.sign()),
    "comparisons": lambda x: (x > 0.1, x.floor(), x.round(), (x > 0).float() * 3),
    "moves": lambda x: (x.sort(0)[0], x.flip(0), x[3:7].clone(), torch.cat((x, x)), x.mT + 0.0),
    "choices": lambda x: (torch.where(x > 0, x, -x), x.max(), x.amin(1), torch.maximum(x, -x)),
    "powers of two": lambda x: (x * 4, x / 8, x * 1.0, x - 0.0),
    "casts": lambda x: (x.double(), x.double().float(), x.int(), x.int().float()),
    "whole numbers": lambda x: (torch.arange(9.0) * 3, torch.ones(5).sum(), x.sign().cumsum(0)),
}
ROUNDED = {
    "arithmetic": lambda x: x * 3.7,
    "functions": lambda x: x.exp(),
    "of whole numbers": lambda x: torch.arange(1, 99).log(),
    "double": lambda x: x.double() / 3,
    "half": lambda x: x.half() * 1.37,
}


@pytest.mark.parametrize("name", UNROUNDED)
def test_what_is_not_rounded_stays(name):
    right = UNROUNDED[name](X)
    for seed in range(3):
        with RoundedSteps(seed):
            found = UNROUNDED[name](X)
        for one, other in zip(right, found, strict=True):
            assert torch.equal(one, other)


@pytest.mark.parametrize("name", ROUNDED)
def test_what_is_rounded_moves_to_the_next_number(name):
    right = ROUNDED[name](X).numpy()
    with RoundedSteps(1):
        found = ROUNDED[name](X).numpy()
    steps = (found.astype(float) - right.astype(float)) / numpy.spacing(numpy.abs(right))
    assert set(numpy.round(steps, 1).ravel()) == {-1.0, 0.0, 1.0}


SUMS = {
    "sums": (lambda x: x.sum(1), lambda x: x.abs().sum(1)),
    "what cancels": (lambda x: torch.cat((x, -x), 1).sum(1), lambda x: x.abs().sum(1) * 2),
    "products": (lambda x: x @ x.mT, lambda x: x.abs() @ x.abs().mT),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums_move_by_the_last_place_of_what_was_added_up(name):
    """Also to and from 0: steps in between were rounded."""
    add, magnitudes = SUMS[name]
    right = add(X).numpy()
    with RoundedSteps(1):
        found = add(X).numpy()
    steps = (found.astype(float) - right.astype(float)) / numpy.spacing(magnitudes(X).numpy())
    assert set(numpy.round(steps).ravel()) == {-1.0, 0.0, 1.0}


def test_the_inputs_stay_and_so_does_what_was_before():
    before, y = X.clone(), X.exp()
    kept = y.clone()
    with RoundedSteps(2):
        X.contiguous(), X.view(-1), y.to(torch.float32), y.reshape(30, 40), y.expand(2, 40, 30)
    assert torch.equal(X, before) and torch.equal(y, kept)


def test_the_steps_of_a_backward_and_of_composites_move_too():
    def gradient(seed):
        leaf = X.clone().requires_grad_()
        loss = torch.nn.functional.layer_norm(leaf, (30,)).pow(3).sum()
        if seed is None:
            loss.backward()
        else:
            with RoundedSteps(seed):
                loss.backward()
        return leaf.grad

    right, found = gradient(None), gradient(1)
    assert not torch.equal(right, found)
    torch.testing.assert_close(right, found)


OF_INTEGERS = """
graph f(%x: i64[5,2]) {
  %0: f32[5,2] = atan2(%x, %x)
  %1: f64[5,2] = softmax(%0, -1, f64)
  return %1
}
"""


def test_bisect_takes_the_rounding_of_a_function_of_integers_for_rounding():
    """Float64 and shaken inputs show nothing of it: the inputs are integers."""
    graph = parse_graph(OF_INTEGERS)
    x = torch.tensor([[1, 0], [0, 0], [1, 0], [0, 0], [1, 1]])
    finding = bisect(graph, [x], (False,))
    assert not any(verdict.is_bug for verdict in finding.verdicts)


@pytest.mark.parametrize("factor", ["1.00001", "0.99995"])
def test_bisect_takes_what_is_a_little_more_for_a_bug(factor, monkeypatch):
    row = lookup("atan2")
    monkeypatch.setattr(row, "expr", f"({row.expr}) * {factor}")
    x = torch.tensor([[1, 0], [0, 0], [1, 0], [0, 0], [1, 1]])
    finding = bisect(parse_graph(OF_INTEGERS), [x], (False,))
    assert finding.verdicts[-1].is_bug and finding.verdicts[-1].stage == "loop IR"
