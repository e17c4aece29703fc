"""What is saved: the cheapest choice there is, within its budget, and never an unsafe one."""

import itertools

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.artifacts import subscribe
from minitorch2.jit.autodiff import saving
from minitorch2.jit.autodiff.costs import Costs
from minitorch2.jit.autodiff.saving import Problem, cheapest, choose, reasons, saved_bytes
from minitorch2.jit.ir.graph import values_in
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.nn import functional as F

GRAPH = """
graph f(%x: f32[256,256], %w: f32[256,256]) {
  %0: f32[256,256] = matmul(%x, %w)
  %1: f32[256,256] = mul(%0, %0)
  %2: f32[256,1] = sum(%1, (1,), True)
  %3: f32[256,256] = sub(%1, %2)
  %4: bool[256,256] = gt(%3, 0)
  %5: f32[256,256] = exp(%3)
  %6: f32[256,256] = transpose(%5, 0, 1)
  return %6
}"""


def problem_of(text, *demanded, chains=False):
    graph = parse_graph(text)
    values = {r.id: r for node in graph.nodes for r in node.results}
    given = {each.value: 0 for each in graph.inputs}
    wanted = frozenset(values[d] for d in demanded)
    return Problem(Costs(graph), graph.nodes, wanted, given, chains=chains)


def price_of(problem, saved, price, cheap_only):
    """What a set of saved values costs: infinite when what is demanded cannot be had."""
    total, pending, seen = 0.0, list(problem.demanded), set()
    for value in saved:
        node = problem.makers[value]
        copied = saving.VIEW_COPY if node.op == "transpose" else 1.0
        total += problem.save_bytes(value) * copied * price
    while pending:
        value = pending.pop()
        if value in saved or value in problem.given or id(problem.makers[value]) in seen:
            continue
        node = problem.makers[value]
        if cheap_only and not problem.costs.is_cheap(node):
            return float("inf")
        seen.add(id(node))
        total += problem.costs.time_of(node)
        pending += values_in(node.args)
    return total


@pytest.mark.parametrize("cheap_only", [True, False])
@pytest.mark.parametrize("demanded", [("5", "4"), ("6",), ("1", "5"), ("0", "2", "6")])
def test_no_choice_is_cheaper(demanded, cheap_only):
    problem = problem_of(GRAPH, *demanded)
    for price in (0.01, 0.1, 0.5, 2.0, 100.0):
        found = cheapest(problem, price, cheap_only)
        kept = [value for value in found.saved if value not in problem.given]
        every = [
            price_of(problem, set(saved), price, cheap_only)
            for size in range(len(problem.makers) + 1)
            for saved in itertools.combinations(problem.makers, size)
        ]
        assert price_of(problem, set(kept), price, cheap_only) == pytest.approx(min(every))


@pytest.mark.parametrize("budget", [1.0, 0.8, 0.5, 0.25, 0.0])
def test_the_budget_holds(budget):
    problem = problem_of(GRAPH, "1", "3", "5")
    whole = saved_bytes(problem, choose(problem, 1.0).saved)
    choice = choose(problem, budget)
    assert whole > 0 and saved_bytes(problem, choice.saved) <= budget * whole


def test_nothing_expensive_runs_again_at_a_full_budget():
    for demanded in (("0",), ("2",), ("3",)):
        problem = problem_of(GRAPH, *demanded)
        assert not {"matmul", "sum"} & {node.op for node in choose(problem, 1.0).again}


ATTENTION = """
graph f(%q: f32[8,LENGTH,64], %k: f32[8,LENGTH,64]) {
  %0: f32[8,64,LENGTH] = transpose(%k, -1, -2)
  %1: f32[8,LENGTH,LENGTH] = matmul(%q, %0)
  %2: f32[8,LENGTH,1] = amax(%1, (-1,), True)
  %3: f32[8,LENGTH,LENGTH] = sub(%1, %2)
  %4: f32[8,LENGTH,LENGTH] = exp(%3)
  %5: f32[8,LENGTH,1] = sum(%4, (-1,), True)
  %6: f32[8,LENGTH,LENGTH] = true_divide(%4, %5)
  return %6
}"""


@pytest.mark.parametrize(("length", "saved"), [(512, ["6"]), (2048, ["q", "k", "2", "5"])])
def test_scores_of_long_rows_are_computed_again_by_a_chain(length, saved):
    """What is saved of their softmax is a number or two for each row."""
    text = ATTENTION.replace("LENGTH", str(length))
    assert [value.id for value in choose(problem_of(text, "6"), 1.0).saved] == ["6"]
    found = choose(problem_of(text, "6", chains=True), 1.0)
    assert [value.id for value in found.saved] == saved


OPTIONS = [{}, {"numerics": "eager"}, {"disable_passes": ["chain"]}, {"fuse": False}]


@pytest.mark.parametrize("options", OPTIONS)
def test_only_where_there_are_chains(options):
    compiled = torch.compile(F.scaled_dot_product_attention, dynamic=False, options=options)
    events = []
    with subscribe(events.append):
        given = [torch.rand(1, 8, 1024, 16, requires_grad=True) for _ in range(3)]
        compiled(*given)
    (event,) = [event for event in events if event.stage == "autodiff.partition"]
    assert (event.facts["bytes"] < 1 << 20) == (not options)
    fused = [event for event in events if event.stage == "loops.fused"]
    assert any(event.facts["chained"] for event in fused) == (not options)


def test_what_draws_from_a_generator_never_runs_again():
    text = (
        "graph f(%x: f32[999]) { %0: f32[999] = randn(999) %1: f32[999] = mul(%0, %x) return %1 }"
    )
    problem = problem_of(text, "1")
    choice = choose(problem, 0.0)
    assert not any(node.op == "randn" for node in choice.again)
    drawn = next(each for each in reasons(problem, choice) if each.maker.op in ("randn", "mul"))
    assert drawn.saved and drawn.once == (drawn.maker.op == "randn")


def test_a_reason_says_what_is_never_computed_again():
    text = (
        "graph f(%x: f32[999]) { %0: f32[999] = randn(999) %1: f32[999] = exp(%0)"
        " %2: f32[999] = mul(%1, %x) return %2 }"
    )
    problem = problem_of(text, "0", "1")
    why = {each.value.id: each for each in reasons(problem, choose(problem, 0.0))}
    assert why["0"].once and str(why["0"]).endswith("never computed again")
    assert not why["1"].saved and not why["1"].once and why["0"].facts()["once"]


def training_step(budget, backend):
    """Gradients and loss of a network with everything that could go wrong when it runs twice."""
    torch.manual_seed(3)
    layer, norm = nn.Linear(24, 48), nn.LayerNorm(48)
    table = nn.Embedding(11, 24)

    def loss_fn(index):
        hidden = F.gelu(layer(table(index)))
        hidden = F.dropout(hidden, 0.4) + torch.rand_like(hidden) * hidden
        attention = torch.softmax(hidden @ hidden.mT, -1) @ norm(hidden)
        return attention.sigmoid().sum()

    run = torch.compile(
        loss_fn, backend=backend, options={"activation_memory_budget": budget}
    ) if backend else loss_fn  # fmt: skip
    torch.manual_seed(5)
    loss = run(torch.arange(30).reshape(3, 10) % 11)
    loss.backward()
    found = [p.grad for m in (layer, norm, table) for p in m.parameters()]
    return [loss.detach(), *found, torch.rand(2)]


@pytest.mark.parametrize("backend", ["interpreter", pytest.param("numba", marks=pytest.mark.numba)])
def test_gradients_are_the_same_at_every_budget(backend):
    eager = training_step(1.0, None)
    whole = training_step(1.0, backend)
    for one, other in zip(eager, whole, strict=True):
        assert torch.allclose(one, other, rtol=1e-4, atol=1e-4 * other.abs().max().item())
    for budget in (0.5, 0.2, 0.0):
        for one, other in zip(whole, training_step(budget, backend), strict=True):
            assert torch.equal(one, other)


def reasons_at(budget):
    events = []
    with subscribe(events.append):
        training_step(budget, "interpreter")
    return next(event.facts for event in events if event.stage == "autodiff.partition")


def test_every_choice_is_explained():
    facts = reasons_at(0.5)
    assert facts["bytes"] <= 0.5 * reasons_at(1.0)["bytes"]
    for reason in facts["reasons"]:
        assert not reason["bytes"] or reason["lines"] or reason["saved"]
    again = [reason for reason in facts["reasons"] if not reason["saved"]]
    assert any("test_saving.py" in line for reason in again for line in reason["lines"])
    assert all(reason["microseconds"] >= 0 for reason in facts["reasons"])


@pytest.mark.parametrize("budget", [1.0, 0.0])
def test_an_input_may_change_before_the_backward_where_eager_lets_it(budget):
    def function(x, w):
        return (torch.exp(x) * w).sum()

    results = []
    for run in (function, torch.compile(
        function, backend="interpreter", options={"activation_memory_budget": budget}
    )):  # fmt: skip
        x = torch.linspace(0, 1, 64).requires_grad_()
        w = torch.linspace(1, 2, 64)
        loss = run(x, w)
        with torch.no_grad():
            x.mul_(3)  # eager saved the result of exp, not x
        loss.backward()
        results.append(x.grad)
    assert torch.equal(*results)
