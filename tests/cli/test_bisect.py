"""`mt2 bisect` finds faults planted in each stage, and says where; it accuses nobody else."""

from dataclasses import replace

import pytest

import minitorch2 as torch
from minitorch2.cli import bisection
from minitorch2.cli.bisect import place_of, script_text
from minitorch2.cli.bisection import bisect
from minitorch2.errors import CompileError, KernelError, VerificationError
from minitorch2.jit.ir.graph import Graph
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.verify import LoopVerifyError
from minitorch2.ops.table import lookup
from tests.cli.commands import mt2, python

pytestmark = pytest.mark.numba

GRAPH = parse_graph("""
graph f(%x: f32[4,6], %w: f32[6,6], %n: i64[4]) {
  %0: f32[4,6] = matmul(%x, %w)
  %1: f32[4,6] = tanh(%0)
  %2: f32[4,6] = mul_(%1, 2.0)
  %3: f32[4,6] = exp(%1)
  %4: f32[4,6] = mul(%3, 1)
  %5: f32[4] = sum(%4, (1,))
  %6: f32[4] = add(%5, %n)
  return %6, %3
}""")


def found(graph=GRAPH, flags=(True, True, False)):
    torch.manual_seed(0)
    inputs = [torch.randn(4, 6), torch.randn(6, 6), torch.arange(4)]
    return bisect(graph, inputs, flags)


def wrong(finding):
    """The only wrong stage, which is the last one that ran."""
    bugs = [verdict.stage for verdict in finding.verdicts if verdict.is_bug]
    assert bugs == [finding.verdicts[-1].stage]
    return bugs[0]


def changed(graph: Graph, op: str, other: str) -> Graph:
    """A fault: one op became another."""
    nodes = tuple(replace(n, op=other) if n.op == op else n for n in graph.nodes)
    return replace(graph, nodes=nodes)


@pytest.mark.parametrize("flags", [(True, True, False), (False, False, False)])
def test_nothing_is_wrong(flags):
    finding = found(flags=flags)
    assert not any(verdict.is_bug for verdict in finding.verdicts) and finding.graph is None
    stages = [verdict.stage for verdict in finding.verdicts]
    assert stages[0] == "captured graph" and stages[-1] == "kernels compiled"
    assert ("joint graph" in stages) == any(flags)


def test_a_fault_in_functionalization(monkeypatch):
    whole = bisection.functionalize

    def faulty(graph, flags):
        made = whole(graph, flags)
        return replace(made, graph=changed(made.graph, "tanh", "sin"))

    monkeypatch.setattr(bisection, "functionalize", faulty)
    finding = found()
    assert wrong(finding) == "functional graph" and "tanh(" in finding.node
    shows_itself(finding, monkeypatch)


def shows_itself(finding, monkeypatch):
    """The script fails, and no longer does once the fault is gone."""
    text = script_text(finding)
    with pytest.raises(AssertionError, match=finding.verdicts[-1].stage):
        exec(compile(text, "bisected.py", "exec"), {})
    monkeypatch.undo()
    exec(compile(text, "bisected.py", "exec"), {})


def test_a_fault_in_a_derivative(monkeypatch):
    monkeypatch.setattr(lookup("tanh"), "vjp", lambda s, g: g * (1 - s.result))
    finding = found()
    assert wrong(finding) == "derivatives" and "tanh(" in finding.node
    shows_itself(finding, monkeypatch)


@pytest.mark.parametrize("place", range(len(bisection.PIPELINE)))
def test_a_fault_in_a_pass(monkeypatch, place):
    passes = list(bisection.PIPELINE)
    right = passes[place]

    def faulty(graph, options):
        return changed(right(graph, options), "exp", "expm1")

    faulty.__name__ = right.__name__
    passes[place] = faulty
    monkeypatch.setattr(bisection, "PIPELINE", tuple(passes))
    finding = found()
    assert wrong(finding) == f"pass {right.__name__}" and "exp(" in finding.node
    assert "<text>:6" in finding.node and len(finding.graph.nodes) == 4
    if not place:
        shows_itself(finding, monkeypatch)


WRITING = parse_graph("""
graph f(%x: f32[4,6], %w: f32[6,6], %n: i64[4]) {
  %0: f32[4,6] = exp_(%x)
  %1: f32[6,6] = sin(%w)
  return %1
}""")


def test_a_write_into_an_input_that_a_pass_changes(monkeypatch):
    """No result shows it, the inputs afterwards do."""
    passes = list(bisection.PIPELINE)
    name, right = passes[3].__name__, passes[3]

    def faulty(graph, options):
        made = right(graph, options)
        (place, value), other = made.writes[0], made.inputs[0].value
        return replace(made, writes=((place, other),) if value != other else made.writes)

    faulty.__name__ = name
    passes[3] = faulty
    monkeypatch.setattr(bisection, "PIPELINE", tuple(passes))
    finding = found(WRITING, (False, False, False))
    assert wrong(finding) == f"pass {name}" and "exp_(%x)" in finding.node
    shows_itself(finding, monkeypatch)


@pytest.mark.parametrize("executor, stage", bisection.EXECUTORS)
def test_a_write_into_an_input_that_kernels_change(monkeypatch, executor, stage):
    right = bisection.compile_graph

    def faulty(graph, options):
        run = right(graph, options)

        def wrong_write(inputs):
            results = run(inputs)
            if options.executor == executor and graph.writes:
                inputs[0].mul_(2)
            return results

        return wrong_write

    monkeypatch.setattr(bisection, "compile_graph", faulty)
    finding = found(WRITING, (False, False, False))
    assert wrong(finding) == stage and "exp_(%x)" in finding.node
    shows_itself(finding, monkeypatch)


def test_a_fault_in_the_partition(monkeypatch):
    whole = bisection.partition

    def faulty(*args, **named):
        made = whole(*args, **named)
        return replace(made, backward=changed(made.backward, "mul", "add"))

    monkeypatch.setattr(bisection, "partition", faulty)
    finding = found()
    assert wrong(finding) == "forward and backward" and "tanh(" in finding.node
    shows_itself(finding, monkeypatch)


TRAINING = parse_graph("""
graph step(%x: f32[4,6], %w: f32[6,6]) {
  %0: f32[4,6] = matmul(%x, %w)
  %1: f32[4,6] = tanh(%0)
  %2: f32[4,6] = exp(%1)
  %3: f32[] = sum(%2)
  %4: f32[] = full((), 1, dtype=f32, device='cpu')
  %5: f32[6,6] = gradients((%3,), (%4,), (%w,))
  %6: f32[6,6] = sub_(%w, %5) no_grad
  %7: f32[] = detach(%3)
  return %7: strides()
}""")


def test_a_fault_in_what_a_whole_step_computes_again(monkeypatch):
    whole = bisection.rematerialize

    def faulty(graph, budget):
        made = whole(graph, budget)
        return replace(made, graph=changed(made.graph, "exp", "expm1"))

    monkeypatch.setattr(bisection, "rematerialize", faulty)
    finding = found_in_training()
    assert wrong(finding) == "computed again" and finding.node
    shows_itself(finding, monkeypatch)


def found_in_training():
    torch.manual_seed(0)
    return bisect(TRAINING, [torch.randn(4, 6), torch.randn(6, 6)], (False, True))


def test_nothing_is_wrong_with_a_whole_step():
    verdicts = {verdict.stage: verdict for verdict in found_in_training().verdicts}
    assert not any(verdict.is_bug for verdict in verdicts.values())
    assert 0 < verdicts["derivatives"].ratio < 1 and "computed again" in verdicts


def test_a_fault_in_a_derivative_of_a_whole_step(monkeypatch):
    monkeypatch.setattr(lookup("tanh"), "vjp", lambda s, g: g * (1 - s.result))
    finding = found_in_training()
    assert wrong(finding) == "derivatives" and "tanh(" in finding.node


@pytest.mark.parametrize("executor, stage", bisection.EXECUTORS)
def test_a_fault_in_the_kernels(monkeypatch, executor, stage):
    whole = bisection.compile_graph

    def faulty(graph, options):
        return whole(
            changed(graph, "tanh", "atan") if options.executor == executor else graph, options
        )

    monkeypatch.setattr(bisection, "compile_graph", faulty)
    finding = found()
    assert wrong(finding) == stage and "tanh(" in finding.node and "<text>:4" in finding.node
    assert [node.op for node in finding.graph.nodes] == ["matmul", "tanh"]
    text = script_text(finding)
    with pytest.raises(AssertionError):
        exec(compile(text, "bisected.py", "exec"), {})
    monkeypatch.undo()
    exec(compile(text, "bisected.py", "exec"), {})  # without the fault nothing is wrong


MAKERS = {
    "functionalize": "functional graph",
    "make_joint": "joint graph",
    "rematerialize": "computed again",
    "partition": "forward and backward",
    "compile_graph": "loop IR",
}
FAULTS = (VerificationError, LoopVerifyError, KernelError, KeyError)


def raising(error):
    def stage(*given, **named):
        raise error

    stage.__name__ = "raising"
    return stage


@pytest.mark.parametrize("error", [kind("%0", "planted") for kind in FAULTS], ids=repr)
@pytest.mark.parametrize("maker, stage", MAKERS.items())
def test_a_stage_that_breaks_is_a_fault_and_no_refusal(monkeypatch, maker, stage, error):
    monkeypatch.setattr(bisection, maker, raising(error))
    finding = found_in_training() if maker == "rematerialize" else found()
    assert wrong(finding) == stage
    last = finding.verdicts[-1]
    assert last.kind == "BUG" and f"raises {type(error).__name__}" in str(last)
    assert finding.node and "planted" in str(last)


@pytest.mark.parametrize("error", [kind("%0", "planted") for kind in (*FAULTS, CompileError)])
@pytest.mark.parametrize("place", (0, len(bisection.PIPELINE) - 1))
def test_a_pass_that_breaks_is_a_fault(monkeypatch, place, error):
    passes = list(bisection.PIPELINE)
    passes[place] = raising(error)
    monkeypatch.setattr(bisection, "PIPELINE", tuple(passes))
    assert wrong(found()) == "pass raising"
    assert wrong(found(flags=(False, False, False))) == "pass raising"


def test_a_graph_that_breaks_the_rules_is_a_fault_though_its_numbers_are_right(monkeypatch):
    passes = list(bisection.PIPELINE)

    def untyped(graph, options):
        first = graph.nodes[0]
        kind = replace(first.results[0].type, shape=(99,))
        nodes = (replace(first, results=(replace(first.results[0], type=kind),)), *graph.nodes[1:])
        return replace(graph, nodes=nodes)

    passes.append(untyped)
    monkeypatch.setattr(bisection, "PIPELINE", tuple(passes))
    finding = found(flags=(False, False, False))
    assert wrong(finding) == "pass untyped" and "VerificationError" in str(finding.verdicts[-1])


@pytest.mark.parametrize("maker", ["functionalize", "make_joint"])
def test_a_refusal_is_no_fault(monkeypatch, maker):
    monkeypatch.setattr(bisection, maker, raising(CompileError("%0", "planted")))
    with pytest.raises(CompileError, match="planted"):
        found()


COMPLEX = parse_graph("""
graph f(%x: f32[5], %z: c64[5]) {
  %0: f32[5] = mul(%x, 2)
  %1: c64[5] = polar(%x, %0)
  %2: c64[5] = mul(%1, %z)
  %3: f32[5] = abs(%2)
  return %2, %3
}""")


def found_in_complex(flags=(True, True)):
    torch.manual_seed(0)
    return bisect(COMPLEX, [torch.rand(5), torch.randn(5, dtype=torch.complex64)], flags)


def test_nothing_is_wrong_with_complex_numbers():
    verdicts = {verdict.stage: verdict for verdict in found_in_complex().verdicts}
    assert not any(verdict.is_bug for verdict in verdicts.values())
    assert 0 < verdicts["derivatives"].ratio < 1 and "not judged" not in str(verdicts)


def test_a_fault_in_imaginary_parts(monkeypatch):
    whole = bisection.compile_graph
    monkeypatch.setattr(bisection, "compile_graph", lambda graph, options: lambda inputs: [
        each.conj() if each.dtype.is_complex else each for each in whole(graph, options)(inputs)
    ])  # fmt: skip
    assert wrong(found_in_complex((False, False))) == "loop IR"


def test_a_fault_in_a_complex_derivative(monkeypatch):
    right = lookup("view_as_complex").vjp
    monkeypatch.setattr(lookup("view_as_complex"), "vjp", lambda s, g: right(s, g.conj()))
    finding = found_in_complex()
    assert wrong(finding) == "derivatives" and "view_as_complex(" in finding.node


def test_a_result_that_is_missing(monkeypatch):
    whole = bisection.compile_graph
    monkeypatch.setattr(
        bisection, "compile_graph", lambda *given: lambda inputs: whole(*given)(inputs)[:-1]
    )
    finding = found(flags=(False, False, False))
    assert wrong(finding) == "loop IR" and "gives 1 results, not 2" in str(finding.verdicts[-1])


def test_what_no_gradient_passes_through_is_no_fault():
    """A difference sees through `detach`, what runs without gradients, rows without any."""
    graph = parse_graph("""
graph f(%x: f32[5], %y: f32[5]) {
  %0: f32[5] = detach(%x)
  %1: f32[5] = mul(%0, %x)
  %2: f32[5] = exp(%1) no_grad
  %3: f32[5] = mul(%2, %x)
  %4: f32[5] = bessel_j1(%y)
  %5: f32[5] = add(%3, %4)
  return %5
}""")
    torch.manual_seed(0)
    finding = bisect(graph, [torch.randn(5), torch.randn(5)], (True, True))
    verdicts = {verdict.stage: verdict for verdict in finding.verdicts}
    assert not any(verdict.is_bug for verdict in verdicts.values())
    assert 0 < verdicts["derivatives"].ratio < 0.1


def test_a_script_with_infinite_inputs_runs(monkeypatch):
    whole = bisection.compile_graph
    monkeypatch.setattr(
        bisection,
        "compile_graph",
        lambda graph, options: whole(changed(graph, "exp", "expm1"), options),
    )
    graph = parse_graph("graph f(%x: f32[4]) { %0: f32[4] = exp(%x) return %0 }")
    given = torch.tensor([1.0, float("nan"), float("inf"), -float("inf")])
    text = script_text(bisect(graph, [given], (False,)))
    monkeypatch.undo()
    exec(compile(text, "bisected.py", "exec"), {})


def test_the_command(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import torch\n"
        "@torch.compile\n"
        "def loss_fn(x):\n"
        "    return (x.sin() * 2).sum()\n"
        "loss_fn(torch.ones(3, requires_grad=True)).backward()\n"
    )
    done = mt2("bisect", script, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "train.py:loss_fn#0" in done.stdout.splitlines()
    assert "kernels compiled" in done.stdout and "BUG" not in done.stdout


REFUSED = """import torch
from torch._higher_order_ops import while_loop
@torch.compile
def f(x):
    return while_loop(lambda x: x.sum() < 10.0, lambda x: (x * 2,), (x,))[0]
f(torch.ones(3, requires_grad=True))
"""


def test_a_script_that_fails_or_compiles_nothing_says_so_and_exits_with_2(tmp_path):
    texts = {
        "raises.py": "import torch\nraise ValueError('boom')\n",
        "leaves.py": "import sys, torch\ntorch.compile(torch.sin)(torch.ones(3))\nsys.exit(3)\n",
        "nothing.py": "import torch\nprint(torch.ones(3))\n",
        "wrong_shape.py": "import torch\ntorch.compile(lambda x: x @ x)(torch.ones(2, 3))\n",
        "refused.py": REFUSED,
    }
    said = {
        "raises.py": ("The script raised (ValueError) before it compiled a graph",),
        "leaves.py": ("The script exited with 3", "1 compiled graph judged: nothing is wrong."),
        "nothing.py": ("compiled no graph",),
        "wrong_shape.py": ("The script raised (ShapeError) before it compiled a graph",),
        "refused.py": (
            "no stage can be wrong: the gradient of while_loop(): how often",
            "1 captured graph not compiled but run op by op",
        ),
    }  # fmt: skip
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        done = mt2("bisect", tmp_path / name, folder=tmp_path)
        assert done.returncode == 2, (name, done.stdout, done.stderr)
        assert all(words in done.stdout for words in said[name]), (name, done.stdout)
        assert ("is torch.compile called" in done.stdout.replace("\n", " ")) == (
            "compiled no graph" in said[name][-1]
        )


PLANTED = """
import torch
from minitorch2.ops.table import lookup
right = lookup("tanh").vjp
lookup("tanh").vjp = lambda s, g: 0.9 * right(s, g)
for size in (3, 4):
    @torch.compile(dynamic=False)
    def loss_fn(x):
        return (x.tanh() * 2).sum()
    loss_fn(torch.ones(size, requires_grad=True)).backward()
"""


def test_the_command_concludes_and_writes_a_script_for_each_wrong_graph(tmp_path):
    (tmp_path / "train.py").write_text(PLANTED)
    done = mt2("bisect", "--output", tmp_path / "small.py", tmp_path / "train.py", folder=tmp_path)
    assert done.returncode == 1, done.stderr
    for words in (
        "WRONG: derivatives; the 2 stages before it are right.",
        "tanh(%x)",
        "train.py:9",
        "minitorch2/ops",
        "small_2.py",
        "2 compiled graphs judged: 2 wrong.",
    ):
        assert words in done.stdout, done.stdout
    for name in ("small.py", "small_2.py"):
        alone = python(tmp_path / name, folder=tmp_path)
        assert alone.returncode == 0, alone.stderr  # without the fault nothing is wrong
        assert "derivatives" in alone.stdout


def test_overflow_is_no_fault():
    graph = parse_graph("graph f(%x: f32[3]) { %0: f32[3] = mul(%x, %x) return %0 }")
    finding = bisect(graph, [torch.tensor([1e30, -2.0, float("inf")])], (True,))
    assert finding.graph is None, list(map(str, finding.verdicts))


@pytest.mark.parametrize(
    "text, numbers",
    [
        ("%0: f32[3] = relu(%x)", [0.0, 1.0, -1.0]),
        ("%0: f32[3] = sgn(%x)", [0.0, 0.0, 0.0]),
        ("%0: f32[3] = abs(%x)", [0.0, 0.0, 2.0]),
    ],
)
def test_no_derivative_is_judged_across_a_kink(text, numbers):
    graph = parse_graph(f"graph f(%x: f32[3]) {{ {text} return %0 }}")
    verdicts = {v.stage: v for v in bisect(graph, [torch.tensor(numbers)], (True,)).verdicts}
    assert verdicts["derivatives"].ratio < 0.1


def test_rows_that_read_one_triangle_are_judged_by_symmetric_changes(monkeypatch):
    graph = parse_graph("graph f(%x: f64[3,3]) { %0: f64[3,3] = linalg_cholesky(%x) return %0 }")
    matrix = torch.tensor([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]], dtype=torch.float64)
    assert bisect(graph, [matrix], (True,)).graph is None
    right = lookup("linalg_cholesky").vjp
    monkeypatch.setattr(lookup("linalg_cholesky"), "vjp", lambda s, g: right(s, g) * 0.9)
    assert wrong(bisect(graph, [matrix], (True,))) == "derivatives"


def test_every_stage_has_a_place_to_look_in():
    stages = [v.stage for v in (*found().verdicts, *found_in_training().verdicts)]
    assert all(map(place_of, stages))
    assert place_of("pass simplify_views") == "jit/passes/simplify_views.py"
