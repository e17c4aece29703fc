"""Rematerialization inside one graph: the same results, less memory alive."""

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.artifacts import subscribe
from minitorch2.jit.autodiff.costs import Costs
from minitorch2.jit.autodiff.rematerialize import alive, rematerialize
from minitorch2.jit.ir.interpreter import interpret
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.verify import verify
from minitorch2.nn import functional as F

LAYERS = 12


def chain(layers=LAYERS):
    """A forward chain whose every value is read again in the opposite order."""
    lines = ["graph f(%x: f64[50,50], %w: f64[50,50]) {"]
    last, number, kept = "%x", 0, []
    for _ in range(layers):
        for call in (f"matmul({last}, %w)", "tanh(%{0})", "mul(%{0}, %x)", "exp(%{0})"):
            lines.append(f"  %{number}: f64[50,50] = {call.format(number - 1)}")
            number += 1
        last = f"%{number - 1}"
        kept.append(last)
    for value in reversed(kept):
        for other in (value, "%x"):
            lines.append(f"  %{number}: f64[50,50] = mul({last}, {other})")
            last, number = f"%{number}", number + 1
        lines.append(f"  %{number}: f64[50,50] = sub({last}, {value})")
        last, number = f"%{number}", number + 1
    return parse_graph("\n".join([*lines, f"  return {last}: strides(50,1)", "}"]))


@pytest.mark.parametrize("budget", [0.5, 0.25, 0.0])
def test_less_is_alive_and_results_are_the_same(budget):
    graph = chain()
    found = rematerialize(graph, budget)
    verify(found.graph)
    assert found.peak_before == max(alive(graph, Costs(graph)))
    assert found.peak_after == max(alive(found.graph, Costs(found.graph))) < found.peak_before
    inputs = [torch.randn(50, 50, dtype=torch.float64) * 0.01 for _ in range(2)]
    assert torch.equal(interpret(graph, inputs)[0], interpret(found.graph, inputs)[0])
    assert "computed again" in str(found)


def test_a_full_budget_leaves_the_graph_as_it_is():
    graph = chain()
    assert rematerialize(graph, 1.0).graph == graph


def losses(budget, backend, micro_batches):
    torch.manual_seed(1)
    net = nn.Sequential(*(
        nn.Sequential(nn.Linear(32, 32), nn.GELU(), nn.Dropout(0.3), nn.LayerNorm(32))
        for _ in range(3)
    ))  # fmt: skip
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)

    def step(x):
        optimizer.zero_grad()
        total = 0.0
        for part in x.chunk(micro_batches):
            loss = F.mse_loss(net(part), part)
            loss.backward()
            total = total + loss.detach()
        optimizer.step()
        return total

    run = torch.compile(
        step, backend=backend, fullgraph=True, options={"activation_memory_budget": budget}
    ) if backend else step  # fmt: skip
    x = torch.randn(64, 32)
    return [run(x).item() for _ in range(3)]


@pytest.mark.parametrize("micro_batches", [1, 2])
@pytest.mark.parametrize("backend", ["interpreter", pytest.param("numba", marks=pytest.mark.numba)])
def test_a_whole_training_step_is_the_same_at_every_budget(backend, micro_batches):
    whole = losses(1.0, backend, micro_batches)
    assert whole == pytest.approx(losses(1.0, None, micro_batches), rel=1e-5)
    assert losses(0.2, backend, micro_batches) == whole


def test_the_step_says_what_it_keeps():
    events = []
    with subscribe(events.append):
        losses(0.25, "interpreter", 1)
    facts = next(e.facts for e in events if e.stage == "autodiff.partition")
    assert facts["bytes"] < facts["before"] and facts["reasons"]
