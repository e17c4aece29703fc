"""cond, while_loop, scan and map: what eager does, captured as one graph on every backend."""

import warnings

import pytest

import minitorch2 as torch
from minitorch2._higher_order_ops import associative_scan, map, scan
from minitorch2.artifacts import subscribe
from minitorch2.errors import GraphBreakError
from minitorch2.jit.ir.interpreter import interpret
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.verify import verify

BACKENDS = ["eager", "aot_eager", "interpreter", pytest.param("numba", marks=pytest.mark.numba)]
every_backend = pytest.mark.parametrize("backend", BACKENDS)


def tensors(*shapes, seed=0):
    torch.manual_seed(seed)
    return [torch.randn(*shape, dtype=torch.float64) for shape in shapes]


def branch(x, w):
    return torch.cond(x.sum() > 0, lambda x: x.sin() * w, lambda x: x.cos() + w.exp(), (x,))


def branch_of_trees(x, w):
    def then(pair, more):
        return {"a": pair[0] * more["w"], "b": (pair[1],)}

    def otherwise(pair, more):
        return {"a": pair[0] + 1, "b": (pair[1] * more["w"],)}

    found = torch.cond(w.sum() > 0, then, otherwise, ((x, x.exp()), {"w": w}))
    return found["a"] * found["b"][0]


def nested(x, w):
    def inner(x):
        return torch.cond(x[0, 0] > 0, lambda x: x * w, lambda x: x - w, (x,))

    return torch.cond(w.sum() > 0, lambda x: inner(x) + inner(-x), lambda x: inner(x * 2), (x,))


def recurrence(x, w):
    last, rows = scan(lambda h, row: ((h * w + row).tanh(), h * row), torch.zeros_like(w), x)
    return last + rows.sum(0)


def backwards_and_sideways(x, w):
    _, rows = scan(
        lambda c, xs: ({"n": c["n"] + 1, "h": c["h"] * xs[0] + w[0]}, [xs[1] * c["h"]]),
        {"n": torch.tensor(0), "h": x[:, 0]}, (x, x * 2), dim=1, reverse=True,
    )  # fmt: skip
    return rows[0]


def scan_of_branches(x, w):
    def step(total, row):
        following = torch.cond(row.sum() > 0, lambda t: t + row * w, lambda t: t * 0.5, (total,))
        return following, following.relu()

    last, rows = scan(step, w, x)
    return last * rows.sum()


def mapped(x, w):
    return map(lambda row, other: row.softmax(0) * other, x, w)


def prefixes(x, w):
    return associative_scan(lambda a, b: a * b, x, 0) + associative_scan(torch.add, x, 1, True)


def sizes(x, w):
    def then(x):
        return x.reshape(-1, 2).sum(0)[0] * x[:, 1] / x.shape[0]

    return torch.cond(x.sum() > 0, then, lambda x: x[:, 0] * x.shape[1], (x,))


PROGRAMS = [branch, branch_of_trees, nested, recurrence, backwards_and_sideways, scan_of_branches,
            mapped, prefixes, sizes]  # fmt: skip


def results(run, x, w):
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
    found = run(x, w)
    found.sin().sum().backward()
    return [found.detach(), x.grad, w.grad]


@every_backend
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_values_and_gradients_are_those_of_eager(program, backend):
    run = torch.compile(program, backend=backend, fullgraph=True)
    for sign_x in (1, -1):
        for sign_w in (1, -1):
            x, w = tensors((3, 4), (4,))
            x, w = x.abs() * sign_x, w.abs() * sign_w
            for eager, compiled in zip(results(program, x, w), results(run, x, w), strict=True):
                assert (eager is None) == (compiled is None) or not compiled.any()
                if eager is not None:
                    assert torch.allclose(eager, compiled, rtol=1e-12)
    assert run.totals()["graphs"] == 1  # data decides, nothing is captured again


@every_backend
@pytest.mark.parametrize("program", [branch, sizes, recurrence, mapped, scan_of_branches],
                         ids=lambda each: each.__name__)  # fmt: skip
def test_sizes_may_be_symbolic(program, backend):
    run = torch.compile(program, backend=backend, fullgraph=True, dynamic=True)
    for rows in (3, 5, 6):
        x, w = tensors((rows, 4), (4,), seed=rows)
        for eager, compiled in zip(results(program, x, w), results(run, x, w), strict=True):
            assert eager is None or torch.allclose(eager, compiled, rtol=1e-12)
    assert run.totals()["graphs"] <= 2


def collatz(n, steps):
    def body(n, steps):
        return torch.cond(n % 2 == 0, lambda n: n // 2, lambda n: 3 * n + 1, (n,)), steps + 1

    return torch.while_loop(lambda n, steps: n != 1, body, (n, steps))


def power(x, w):
    """The largest eigenvalue, with a closure, an inner loop and no gradient."""
    with torch.no_grad():
        _, v, _ = torch.while_loop(
            lambda i, v, old: (i < 50) & ((v - old).abs().max() > 1e-9),
            lambda i, v, old: (i + 1, (x @ x.mT @ v) / (x @ x.mT @ v).norm(), v),
            (torch.tensor(0), torch.ones(3, dtype=torch.float64), w.new_zeros(3)),
        )
    return v


@every_backend
def test_while_loops(backend):
    run = torch.compile(collatz, backend=backend, fullgraph=True)
    for n, expected in ((1, 0), (6, 8), (27, 111)):
        assert [t.item() for t in run(torch.tensor(n), torch.tensor(0))] == [1, expected]
    x, w = tensors((3, 5), (4,))
    found = torch.compile(power, backend=backend, fullgraph=True)(x.requires_grad_(), w)
    assert torch.allclose(found, power(x, w))


def test_the_gradient_of_a_while_loop_is_refused_by_name_and_right():
    def function(x):
        return torch.while_loop(
            lambda i, x: i < 3, lambda i, x: (i + 1, x * x), (torch.tensor(0), x)
        )[1]

    x = torch.tensor([1.1, 0.9], dtype=torch.float64, requires_grad=True)
    run = torch.compile(function, backend="interpreter")
    with pytest.warns(UserWarning, match="the gradient of while_loop"):
        run(x).sum().backward()
    assert torch.allclose(x.grad, 8 * x.detach() ** 7)


@every_backend
def test_gradients_of_gradients(backend):
    for program in (branch, recurrence, mapped):
        found = []
        for run in (program, torch.compile(program, backend=backend, fullgraph=True)):
            x, w = (t.requires_grad_() for t in tensors((3, 4), (4,)))
            (first,) = torch.autograd.grad(run(x, w).sin().sum(), x, create_graph=True)
            found.append(torch.autograd.grad(first.pow(2).sum(), (x, w)))
        for eager, compiled in zip(*found, strict=True):
            assert torch.allclose(eager, compiled, rtol=1e-10)


@every_backend
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_whole_training_step_with_control_flow(backend, create_graph):
    def losses(compiled):
        torch.manual_seed(0)
        layer = torch.nn.Linear(4, 4).double()
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)

        def step(x):
            optimizer.zero_grad()
            state, rows = scan(lambda h, row: (torch.cond(
                row.sum() > 0, lambda h: layer(h).tanh(), lambda h: h + layer.bias, (h,)), h),
                torch.ones(4, dtype=torch.float64), x)  # fmt: skip
            loss = (state * rows).pow(2).sum()
            loss.backward()
            optimizer.step()
            return loss.detach()

        run = torch.compile(step, backend=backend, fullgraph=True) if compiled else step
        x = torch.randn(6, 4, dtype=torch.float64)
        return [run(x).item() for _ in range(5)]

    assert losses(True) == pytest.approx(losses(False), rel=1e-10)


@pytest.mark.parametrize("program", PROGRAMS[:7], ids=lambda each: each.__name__)
def test_graphs_are_printed_parsed_verified_and_interpreted(program):
    events = []
    x, w = tensors((3, 4), (4,))
    with subscribe(events.append):
        results(torch.compile(program, backend="interpreter", fullgraph=True), x, w)
    seen = {event.stage: event.payload for event in events}
    for stage in ("capture.graph", "autodiff.functional", "autodiff.joint", "passes.optimized"):
        graph = seen[stage]
        verify(graph)
        assert parse_graph(str(graph)) == graph
        assert any(f"{op}(" in str(graph) for op in ("cond", "scan"))
    graph = parse_graph(str(seen["autodiff.functional"]))
    inputs = {"x": x, "w": w}
    given = [inputs.get(each.name, torch.tensor(0)) for each in graph.inputs]
    assert torch.allclose(interpret(graph, given)[0], program(x, w))


def _writes(x):
    def then(y):
        return y.add_(1)

    return torch.cond(x.sum() > 0, then, lambda y: y + 1, (x,))


def _appends(x):
    seen = []
    torch.cond(x.sum() > 0, lambda y: (outside.append(1), y.clone())[1], lambda y: y + 1, (x,))
    return x * len(seen)


def _differs(x):
    return torch.cond(x.sum() > 0, lambda y: y, lambda y: y[:1], (x,))


def _number(x):
    return torch.cond(x.sum() > 0, lambda y: 1, lambda y: 2, (x,))


outside: list[int] = []


@pytest.mark.parametrize("program", [_writes, _appends, _differs, _number])
def test_what_a_branch_may_not_do_is_refused_by_name(program):
    with pytest.raises(GraphBreakError, match="then|cond|branch"):
        torch.compile(program, fullgraph=True)(torch.ones(3))


def test_random_numbers_in_a_branch_run_op_by_op():
    def function(x):
        return torch.cond(x.sum() > 0, lambda y: y * torch.rand(3), lambda y: y, (x,))

    run = torch.compile(function, backend="interpreter")
    torch.manual_seed(0)
    with pytest.warns(UserWarning, match="it draws random numbers"):
        found = run(torch.ones(3))
    torch.manual_seed(0)
    with warnings.catch_warnings():
        assert torch.equal(found, function(torch.ones(3)))


def test_a_known_predicate_chooses_at_once():
    def function(x, flag):
        return torch.cond(flag, lambda y: y + 1, lambda y: y - 1, (x,))

    run = torch.compile(function, backend="interpreter", fullgraph=True)
    assert run(torch.ones(2), True)[0] == 2 and run(torch.ones(2), False)[0] == 0
