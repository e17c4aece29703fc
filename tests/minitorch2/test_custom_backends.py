"""Backends of a user's own: by function, by name, by entry point; torch._dynamo's names for it."""

import importlib
import textwrap
import warnings

import pytest

import minitorch2 as torch
from minitorch2 import custom_backends
from minitorch2.errors import ArgumentTypeError, ArgumentValueError, BackendCompilerFailed
from minitorch2.fx import GraphModule, Interpreter, Node
from tests.jit.language.judging import forget, picture
from tests.programs.running import differences, function_of, run
from tests.programs.writing import write


def forward(graph, example_inputs):
    return graph.forward


def interpreted(graph, example_inputs):
    return lambda *inputs: list(Interpreter(graph).run(*inputs))


def written_again(graph, example_inputs):
    """The graph through its printed code: what is printed is what runs."""
    again = GraphModule(graph, graph.graph)
    graph.graph.lint()
    return again.forward


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    monkeypatch.setattr(custom_backends, "_registered", {})
    monkeypatch.setattr(custom_backends, "_tags", {})


def some_ops(x, w, n):
    with torch.no_grad():
        noise = torch.dropout(x, 0.5, True)
    hidden = torch.nn.functional.layer_norm(x @ w, (4,)).relu() + noise.sum()
    hidden[0] = n
    first, second = torch.split(hidden, 2)
    values, places = torch.topk(first, 2)
    return values * places, second.view(-1), {"n": x.shape[0] * n, "s": torch.zeros(n, 2)}


@pytest.mark.parametrize("backend", [forward, interpreted, written_again])
def test_a_graph_is_run_walked_and_printed(backend):
    compiled = torch.compile(some_ops, backend=backend, fullgraph=True)
    for count in (2, 3, 3):
        pair = []
        for function in (some_ops, compiled):
            torch.manual_seed(0)
            x, w = torch.ones(4, 3), torch.arange(12.0).view(3, 4).requires_grad_()
            found = function(x, w, count)
            (found[0].sum() + found[1].sum()).backward()
            forget()
            pair.append(picture((found, w.grad), {}))
        assert pair[0] == pair[1]
    assert len(compiled.cache.recompiles) == 1


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_through_their_graphs(seed):
    program = write(seed, 10)
    original = function_of(program, torch)
    compiled = torch.compile(function_of(program, torch), backend=written_again)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = run(program, torch, original, (4, 5))
        got = run(program, torch, compiled, (4, 5))
    for expected, found in zip(want, got, strict=True):
        assert not differences(expected, found, bitwise=True), program.text


def test_what_a_backend_is_given():
    seen = []

    def backend(graph, example_inputs):
        seen.append((graph, example_inputs))
        return graph.forward

    def fn(x, y):
        return (x + y).relu()

    x, y = torch.ones(2, 3), torch.ones(3)
    torch.compile(fn, backend=backend)(x, y)
    (graph, inputs), = seen  # fmt: skip
    assert isinstance(graph, GraphModule) and inputs[0] is x and inputs[1] is y
    assert [node.op for node in graph.graph.nodes] == [
        "placeholder", "placeholder", "call_function", "call_function", "output",
    ]  # fmt: skip
    add, relu = list(graph.graph.nodes)[2:4]
    assert add.target is torch.add and relu.target is torch.relu
    assert add.meta["val"].shape == (2, 3) and add.meta["val"].dtype is torch.float32
    assert "test_custom_backends.py" in add.stack_trace and "(x + y)" in add.stack_trace
    assert graph.code.strip() == textwrap.dedent("""\
        def forward(self, x, y):
            add = torch.add(x, y);  x = y = None
            relu = torch.relu(add);  add = None
            return (relu,)""")


def test_a_graph_is_changed_before_it_runs():
    def minus(graph, example_inputs):
        for node in graph.graph.nodes:
            if node.target is torch.add:
                node.target = torch.sub
        graph.recompile()
        return graph

    compiled = torch.compile(lambda x: x + 1, backend=minus)
    assert compiled(torch.ones(2)).tolist() == [0.0, 0.0]


def test_by_name_and_as_a_decorator():
    @torch._dynamo.register_backend
    def first_of_mine(graph, example_inputs):
        return lambda *inputs: [inputs[0] * 7]

    torch._dynamo.register_backend(forward, name="mine", tags=("debug",))
    assert torch.compile(lambda x: x + 1, backend="first_of_mine")(torch.ones(1)).item() == 7
    assert torch.compile(lambda x: x + 1, backend="mine")(torch.ones(1)).item() == 2
    listed = torch.compiler.list_backends()
    assert "first_of_mine" in listed and "numba" in listed and "inductor" in listed
    assert "mine" not in listed and "mine" in torch.compiler.list_backends(exclude_tags=None)
    assert torch._dynamo.lookup_backend("mine") is forward


def test_by_entry_point(tmp_path, monkeypatch):
    (tmp_path / "their_backends.py").write_text(
        "def quick(graph, inputs): return lambda *given: [given[0] * 9]\n"
    )
    about = tmp_path / "theirs-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[torch_dynamo_backends]\nquick = their_backends:quick\nlost = their_backends:none\n"
        "[minitorch2_backends]\nours = their_backends:quick\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    assert {"quick", "ours", "lost"} <= set(torch.compiler.list_backends())
    for name in ("quick", "ours"):
        assert torch.compile(lambda x: x + 1, backend=name)(torch.ones(1)).item() == 9
    with pytest.raises(BackendCompilerFailed, match=r"'their_backends:none' cannot be imported"):
        torch.compile(lambda x: x + 1, backend="lost")


def test_options_and_mode_go_to_the_backend():
    seen = {}

    def backend(graph, example_inputs, **given):
        seen.update(given)
        return graph.forward

    options = {"anything": 1}
    torch.compile(lambda x: x + 1, backend=backend, options=options)(torch.ones(1))
    assert seen == {"options": options}


def raising(graph, inputs):
    raise KeyError("inside")


ERRORS = {
    "raised KeyError: 'inside'": raising,
    "returned None, which cannot be called": lambda graph, inputs: None,
    "it gave 2, where the graph gives a list of 1": lambda graph, inputs: lambda x: [x, x],
    "it gave int, where the graph gives a list of 1": lambda graph, inputs: lambda x: 3,
}


@pytest.mark.parametrize("said", ERRORS)
def test_what_a_backend_does_wrong_is_said(said):
    with pytest.raises(BackendCompilerFailed, match=said) as caught:
        torch.compile(lambda x: x + 1, backend=ERRORS[said])(torch.ones(2))
    assert isinstance(caught.value, torch._dynamo.exc.BackendCompilerFailed)
    assert "lambda" in str(caught.value) or "raising" in str(caught.value)


def test_wrong_registrations():
    with pytest.raises(ArgumentTypeError):
        torch._dynamo.register_backend("name")
    torch._dynamo.register_backend(forward, "taken")
    with pytest.raises(ArgumentValueError, match="another backend"):
        torch._dynamo.register_backend(interpreted, "taken")
    with pytest.raises(ArgumentValueError, match="did you mean 'numba'"):
        torch.compile(lambda x: x, backend="nunba")


def test_counting_backends_and_counters():
    def fn(x):
        y = x.sin() + 1
        if y.sum() > 0:
            y = y * 2
        return y.cos()

    torch._dynamo.utils.counters.clear()
    counter = torch._dynamo.testing.CompileCounter()
    compiled = torch.compile(fn, backend=counter)
    assert torch.equal(compiled(torch.ones(2)), fn(torch.ones(2)))
    assert (counter.frame_count, counter.op_count) == (2, 6)
    counters = torch._dynamo.utils.counters
    assert counters["stats"] == {"unique_graphs": 2, "calls_captured": 6}
    assert counters["graph_break"] == {"tensor-branch": 1}
    assert counters["frames"] == {"total": 2, "ok": 2}
    keeping = torch._dynamo.testing.EagerAndRecordGraphs()
    torch._dynamo.optimize(keeping)(fn)(torch.ones(2))
    assert len(keeping.graphs) == 2
    assert all(type(each).__name__.endswith("_fn") for each in keeping.graphs)
    assert all(isinstance(node, Node) for node in keeping.graphs[0].graph.nodes)
    whole = torch._dynamo.testing.CompileCounterWithBackend(forward)
    with pytest.raises(torch._dynamo.exc.Unsupported):
        torch._dynamo.optimize_assert(whole)(fn)(torch.ones(2))
    assert whole.frame_count == 0


def test_explain_gives_graphs():
    def fn(x):
        torch._dynamo.graph_break()
        return x.relu() + 1

    found = torch._dynamo.explain(fn)(torch.ones(2))
    assert found.graph_break_count == 1 and found.op_count == 2
    assert "graph_break" in found.break_reasons[0]
    assert found.ops_per_graph[-1] == ["relu", "add"]
    assert "torch.relu" in found.graphs[-1].code
    assert any(text.startswith("x: ") for text in found.out_guards[-1])
    assert torch._dynamo.explain(fn, torch.ones(2)).op_count == 2


def test_config_is_a_module_with_patches():
    import minitorch2._dynamo.config as config

    assert config is torch._dynamo.config and config.recompile_limit == 8
    with config.patch(recompile_limit=3, verbose=True):
        assert torch.compiler.config.cache_size_limit == 3 and config.verbose
    with config.patch("recompile_limit", 4), config.patch({"suppress_errors": False}):
        assert config.recompile_limit == 4
    assert config.recompile_limit == 8 and not config.verbose
    with pytest.raises(AttributeError, match="did you mean recompile_limit"):
        config.recompile_limits = 3
    saved = config.get_config_copy()
    config.recompile_limit = 5
    config.load_config(saved)
    assert config.recompile_limit == 8


def test_switches_of_config():
    run = torch.compile(lambda x: x + 1, backend="eager")
    with torch._dynamo.config.patch(automatic_dynamic_shapes=False):
        for count in (2, 3, 4):
            run(torch.ones(count))
    assert len(run.cache.recompiles) == 2
    with torch._dynamo.config.patch(error_on_recompile=True):
        with pytest.raises(torch._dynamo.exc.RecompileError, match=r"shape\[0\] was 4; now 9"):
            run(torch.ones(9))
    limited = {"fail_on_recompile_limit_hit": True, "recompile_limit": 1}
    with torch._dynamo.config.patch(limited):
        other = torch.compile(lambda x: x + 1, backend="eager")
        other(torch.ones(2))
        with pytest.raises(torch._dynamo.exc.FailOnRecompileLimitHit, match="Tried, by tracing"):
            other(torch.ones(3))


def test_run_compiles_nothing():
    compiled = torch.compile(lambda x: x + 1, backend="eager")
    compiled(torch.ones(2))
    ran = torch._dynamo.run(compiled)
    assert ran(torch.ones(2)).tolist() == [2, 2] and ran(torch.ones(2, 2)).sum() == 8
    assert not compiled.cache.recompiles
