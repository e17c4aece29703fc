"""Finds the first stage at which a compiled function's numbers go wrong.

In: a captured graph and the inputs of one call. Out: a Verdict for each stage, in order: the ops as
captured, the functional graph, the joint graph, the graph after each pass, the halves, and the
halves as loops, as Python and as machine code. Each stage runs on the same inputs.

Every number has a bound: what eager itself differs from the same graph in float64, and what it
changes by when the inputs change in their last bits or its steps are rounded the other way (which
is measured where the others are not enough), some times over. A stage inside the bound is
as good as eager; a difference is rounding there, and a bug outside of it. The first stage outside
is searched for the first node, and that node with what it needs becomes a script of its own.

Source: delta debugging (A. Zeller); torch's accuracy minifier.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy

from minitorch2.autograd.modes import no_grad
from minitorch2.cli.rounding import (
    RoundedSteps,
    arrays,
    as_eager,
    bound_of,
    copies,
    ratio_of,
    shaken,
    tangent,
    wide_input,
    widened,
)
from minitorch2.cli.slopes import slope_ratio
from minitorch2.errors import Mt2Error, is_refusal
from minitorch2.jit.autodiff.costs import Costs
from minitorch2.jit.autodiff.functionalize import functionalize
from minitorch2.jit.autodiff.joint import Joint, make_joint
from minitorch2.jit.autodiff.output_plans import Functional
from minitorch2.jit.autodiff.partition import Partition, partition
from minitorch2.jit.autodiff.rematerialize import rematerialize
from minitorch2.jit.autodiff.runtime import CompiledProgram
from minitorch2.jit.ir.graph import Graph, Output, Value, values_in
from minitorch2.jit.ir.interpreter import bind_inputs, interpret, run_captured
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.ir.verify import verify
from minitorch2.jit.passes.eliminate_dead_code import eliminate_dead_code
from minitorch2.jit.passes.options import DEFAULT, PassOptions
from minitorch2.jit.passes.pipeline import PIPELINE, Pass
from minitorch2.kernels.backend import KernelOptions, compile_graph
from minitorch2.random import manual_seed
from minitorch2.tensors import wrap

ERROR = "error, in what rounding explains (above 1: a bug)"
EXECUTORS = (("loops", "loop IR"), ("python", "kernels as Python"), ("numba", "kernels compiled"))
AGAIN, PARTED = "computed again", "forward and backward"
WIDTH = max(len(f"pass {function.__name__}") for function in PIPELINE)
SHAKES = 3
LINEAR = 100  # nodes that are tried one after the other
SLOW = 30_000.0  # ns of machine code: what takes longer is not run as loops and as Python
Run = Callable[[Graph, list[Any]], list[Any]]
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one stage did: `ratio` is its worst error over the bound; above 1 it is a bug, and nan
    where nothing could be judged."""

    stage: str
    ratio: float
    detail: str = ""

    @property
    def is_bug(self) -> bool:
        """Whether rounding cannot explain it."""
        return self.ratio > 1.0

    @property
    def kind(self) -> str:
        """The verdict in a word or two."""
        if numpy.isnan(self.ratio):
            return "not judged"
        return "BUG" if self.is_bug else "rounding" if self.ratio > 0 else "equal"

    @property
    def error(self) -> str:
        """The error as text: how many times what rounding explains, or what was raised."""
        if self.detail or numpy.isnan(self.ratio):
            return self.detail
        return f"{self.ratio:.2g}" if self.ratio else "0"

    def __str__(self) -> str:
        return f"{self.stage:{WIDTH}} {self.kind:10} {self.error}".rstrip()

    @classmethod
    def raised(cls, stage: str, error: Exception) -> "Verdict":
        """A stage that raises: what it raises is what the user sees."""
        return cls(stage, float("inf"), f"raises {type(error).__name__}: {error}")


@dataclass(frozen=True, slots=True)
class Finding:
    """All verdicts; the first wrong stage's graph cut down to the node that is wrong. That is a
    graph for kernels where `executor` says which, and a captured graph with `flags` where a stage
    that rewrites graphs is wrong."""

    verdicts: tuple[Verdict, ...]
    graph: Graph | None = None
    inputs: tuple[Any, ...] = ()
    executor: str = ""
    node: str = ""
    flags: tuple[bool, ...] = ()


def bisect(captured: Graph, inputs: Sequence[Any], flags: Sequence[bool]) -> Finding:
    """Run every stage and search the first one that is wrong, and the first node there."""
    finding = first_wrong(captured, inputs, flags)
    if finding.graph is None or finding.node:
        return finding
    return _shortened(finding, captured, inputs, flags)


def _shortened(
    finding: Finding, captured: Graph, inputs: Sequence[Any], flags: Sequence[bool]
) -> Finding:
    """The finding with the captured graph up to the first node at which the stage is wrong.

    In long graphs that node is searched by halving, which may miss; then the graph is whole.
    """
    stage = finding.verdicts[-1].stage

    def ends_wrong(count: int) -> Finding | None:
        short = _prefix(captured, count)
        try:
            found = first_wrong(short, inputs, flags, stage) if short.outputs else None
        except Mt2Error:  # not every part of a graph can be compiled
            return None
        same = found is not None and found.verdicts[-1].is_bug and (
            found.verdicts[-1].stage == stage)  # fmt: skip
        return replace(finding, graph=short) if same else None

    whole = replace(finding, graph=captured, inputs=tuple(inputs), flags=tuple(flags), executor="")
    low, high = 1, len(captured.nodes)
    while high - low > LINEAR:
        middle = (low + high) // 2
        low, high = (low, middle) if ends_wrong(middle) is not None else (middle, high)
    for count in range(low, high + 1):
        found = ends_wrong(count)
        if found is not None:
            node = captured.nodes[count - 1]
            return replace(whole, graph=found.graph, node=f"{node}  # {node.origin}")
    return whole


def _prefix(captured: Graph, count: int) -> Graph:
    """The first nodes of a graph, returning what the last of them gives."""
    results = captured.nodes[count - 1].results
    outputs = tuple(Output(each) for each in results if isinstance(each.type, TensorType))
    return replace(captured, nodes=captured.nodes[:count], outputs=outputs)


def first_wrong(
    captured: Graph, inputs: Sequence[Any], flags: Sequence[bool], until: str = ""
) -> Finding:
    """Run the stages up to the first that is wrong, or to the one named `until`.

    Raises the Mt2Error of a program that is refused: it is not compiled but run op by op.
    """
    verdicts: list[Verdict] = []
    try:
        return _first_wrong(verdicts, captured, list(inputs), flags, until)
    except _Broken as broken:
        verdicts.append(Verdict.raised(broken.stage, broken.error))
        return Finding(tuple(verdicts), captured, tuple(inputs), flags=tuple(flags))


def _first_wrong(
    verdicts: list[Verdict], captured: Graph, inputs: list[Any], flags: Sequence[bool], until: str
) -> Finding:
    """`first_wrong`, which adds to the verdicts; raises _Broken where a stage makes no graph."""
    functional = _made("functional graph", _functional, captured, flags, may_refuse=True)
    values = [*inputs, *([] if functional.random_count is None else [0, 0])]
    joint = _made("joint graph", _joint, functional, may_refuse=True) if any(flags) else None
    graph = functional.graph if joint is None else joint.graph
    given = [*values, *(tangent(i.value) for i in graph.inputs[len(functional.graph.inputs) :])]
    start = (captured, functional, inputs, flags)
    verdicts += _made("captured graph", _captured_verdicts, *start, may_refuse=True)
    if verdicts[-1].is_bug:
        return Finding(tuple(verdicts), functional.graph, tuple(values))
    if verdicts[-1].stage == until:
        return Finding(tuple(verdicts))
    sloped = functional if joint is not None else _differentiated(captured, flags)
    if sloped is not None:
        verdicts.append(_slope_verdict(sloped.graph, values, flags))
        if verdicts[-1].is_bug:
            return _wrong_vjp(verdicts, sloped.graph, values, flags)
    judge = _made("joint graph" if joint else "functional graph", _Judge, graph, given)
    for stage, changed, run in _stages(captured, functional, joint, graph):
        verdicts.append(judge.verdict(stage, changed, run))
        if verdicts[-1].is_bug:
            return _located(verdicts, changed, given, stage)
        if stage == until:
            break
    return Finding(tuple(verdicts))


class _Broken(Exception):
    """A stage that raised instead of making its graph."""

    def __init__(self, stage: str, error: Exception):
        super().__init__(stage, error)
        self.stage, self.error = stage, error


def _made(stage: str, make: Callable[..., Made], *given: Any, may_refuse: bool = False) -> Made:
    """What a stage makes; _Broken for what it raises, but for a refusal where it may refuse."""
    try:
        return make(*given)
    except Exception as error:
        if may_refuse and is_refusal(error):
            raise
        raise _Broken(stage, error) from error


def _functional(captured: Graph, flags: Sequence[bool]) -> Functional:
    made = functionalize(captured, flags)
    verify(made.graph)
    return made


def _joint(functional: Functional) -> Joint | None:
    made = make_joint(functional)
    if made is not None:
        verify(made.graph)
    return made


def assert_right(graph: Graph, inputs: Sequence[Any], flags: Sequence[bool]) -> None:
    """Run every stage of a captured graph and print how it does; AssertionError when one is wrong.
    Arrays become tensors."""
    given = [wrap(i) if isinstance(i, numpy.ndarray) else i for i in inputs]
    verdicts = first_wrong(graph, given, flags).verdicts
    print(f"{'stage':{WIDTH}} {'verdict':10} {ERROR}", *verdicts, sep="\n")
    assert not verdicts[-1].is_bug, verdicts[-1]


def interpret_and_compile(
    graph: Graph, inputs: Sequence[Any], executor: str
) -> tuple[list[Any], list[Any]]:
    """What a graph gives node by node, and under an executor of kernels. Arrays become tensors."""
    given = [wrap(i) if isinstance(i, numpy.ndarray) else i for i in inputs]
    compiled = _run_kernels(executor, graph, copies(given))
    return arrays(interpret(graph, copies(given))), arrays(compiled)


def _captured_verdicts(
    captured: Graph, functional: Functional, inputs: list[Any], flags: Sequence[bool]
) -> list[Verdict]:  # fmt: skip
    """The ops as the user called them, and the same without writes: outputs and inputs after."""

    def eager(graph: Graph, given: list[Any]) -> list[Any]:
        manual_seed(0)
        live = [  # no leaves, so that they may be written
            each.requires_grad_().clone() if flag else each
            for each, flag in zip(given, flags, strict=True)
        ]
        return [*run_captured(graph, live), *live]

    def pure(graph: Graph, given: list[Any]) -> list[Any]:
        manual_seed(0)
        with no_grad():
            return [
                *CompiledProgram(functional, partial(interpret, functional.graph))(given),
                *given,
            ]

    judge = _Judge(captured, inputs, eager)
    return [
        judge.verdict("captured graph", captured, eager),
        judge.verdict("functional graph", captured, pure),
    ]


def _differentiated(captured: Graph, flags: Sequence[bool]) -> Functional | None:
    """What a graph that runs its own backward differentiates: up to there, without writes."""
    for place, node in enumerate(captured.nodes):
        if node.op == "gradients":
            outputs = tuple(Output(each) for each in values_in(node.args[0]))
            return functionalize(
                replace(captured, nodes=captured.nodes[:place], outputs=outputs), flags
            )
    return None


def _slope_verdict(graph: Graph, values: list[Any], flags: Sequence[bool]) -> Verdict:
    return Verdict("derivatives", slope_ratio(graph, values, flags))


def _wrong_vjp(
    verdicts: list[Verdict], graph: Graph, values: list[Any], flags: Sequence[bool]
) -> Finding:
    """The first node after which derivatives and differences part."""
    wanted = {i.name: flag for i, flag in zip(graph.inputs, flags, strict=False)}
    for node in graph.nodes:
        if not all(_is_floating(result) for result in node.results):
            continue
        short = _ending_at(graph, node.results)
        own = _inputs_of(short, graph, values)
        live = [wanted.get(each.name, False) for each in short.inputs]
        if any(live) and _slope_verdict(short, own, live).is_bug:
            at = f"{node}  # {node.origin}"
            return Finding(tuple(verdicts), short, tuple(own), "", at, tuple(live))
    return Finding(tuple(verdicts), graph, tuple(values))


def _is_floating(value: Value) -> bool:
    kind = value.type.dtype if isinstance(value.type, TensorType) else None
    return kind is not None and (kind.is_floating_point or kind.is_complex)


def _stages(
    captured: Graph, functional: Functional, joint: Joint | None, graph: Graph
) -> Iterator[tuple[str, Graph, Run]]:
    """Each later stage: its name, the graph it runs, and how; what is to be refused was before."""
    if joint is not None:
        yield "joint graph", graph, _interpreted
    for function in PIPELINE:
        stage = f"pass {function.__name__}"
        graph = _made(stage, _passed, function, graph)
        yield stage, graph, _interpreted
    executors = EXECUTORS if _work(graph) <= SLOW else EXECUTORS[-1:]
    if joint is None:
        if any(node.op == "gradients" for node in captured.nodes):
            graph = _made(AGAIN, _passed, lambda graph, _: rematerialize(graph, 1.0).graph, graph)
            yield AGAIN, graph, _interpreted
        for name, title in executors:
            yield title, graph, partial(_run_kernels, name)
        return
    halves = _made(PARTED, _parted, functional, replace(joint, graph=graph))
    yield PARTED, graph, partial(_run_halves, halves, functional, _interpreted)
    for name, title in executors:
        yield title, graph, partial(_run_halves, halves, functional, partial(_run_kernels, name))


def _passed(function: Pass, graph: Graph) -> Graph:
    """What a pass makes of a graph, checked as under MT2_CHECK=1."""
    made = function(graph, DEFAULT)
    verify(made)
    return made


def _parted(functional: Functional, joint: Joint) -> Partition:
    written = [place for place, _ in functional.writes]
    halves = partition(joint, len(functional.graph.outputs), written, held=functional.held)
    verify(halves.forward)
    verify(halves.backward)
    return halves


def _work(graph: Graph) -> float:
    """About how many elements are computed, products counted by their multiplications."""
    costs = Costs(graph)
    return sum(costs.time_of(node) for node in graph.nodes)


def _interpreted(graph: Graph, inputs: list[Any]) -> list[Any]:
    return interpret(graph, inputs)


def _run_kernels(name: str, graph: Graph, inputs: list[Any]) -> list[Any]:
    return compile_graph(graph, KernelOptions(executor=name))(inputs)


def _run_halves(
    halves: Any, functional: Functional, run: Run, graph: Graph, inputs: list[Any]
) -> list[Any]:
    """Forward, then backward over what it saved: the joint graph's outputs."""
    first = len(functional.graph.inputs)
    sizes: dict[str, int] = {}
    found = run(halves.forward, inputs[:first])
    count = len(functional.graph.outputs)
    saved = [*(inputs[place] for place in halves.saved_inputs), *found[count:]]
    if halves.sizes:
        sizes = bind_inputs(halves.forward, inputs[:first])
    more = [sizes[name] for name in halves.sizes]
    return [*found[:count], *run(halves.backward, [*saved, *inputs[first:], *more])]


def _outcome(run: Run, graph: Graph, inputs: Sequence[Any]) -> list[Any]:
    """What a graph returns on copies of inputs, and the inputs that it has written."""
    given = copies(inputs)
    found = run(graph, given)
    return arrays([*found, *(given[place] for place, _ in graph.writes)])


class _Judge:
    """Knows the numbers of a graph in float64 and how far each may be from them."""

    def __init__(self, graph: Graph, inputs: list[Any], run: Run = _interpreted):
        self.inputs, self.run = inputs, partial(_outcome, run, graph)
        self.own = self.run(inputs)
        others = [self.run(shaken(inputs, n)) for n in range(SHAKES)]
        try:
            self.exact = _outcome(run, widened(graph), [wide_input(i) for i in inputs])
        except Mt2Error:  # no wider form of some dtype argument
            self.exact = self.own
        # What float32 cannot hold is no fault of a stage: it must overflow as eager does.
        self.exact = [as_eager(*pair) for pair in zip(self.own, self.exact, strict=True)]
        columns = zip(self.own, self.exact, *others, strict=True)
        self.bounds = [bound_of(*column) for column in columns]
        self.loose: list[Any] = []  # once they are needed

    def verdict(self, stage: str, graph: Graph, run: Run) -> Verdict:
        """How a stage does on the inputs."""
        try:
            found = _outcome(run, graph, self.inputs)
        except Exception as error:
            return Verdict.raised(stage, error)
        if len(found) != len(self.exact):
            detail = f"gives {len(found)} results, not {len(self.exact)}"
            return Verdict(stage, float("inf"), detail)
        verdict = Verdict(stage, self._worst(found, self.bounds))
        if not verdict.is_bug:
            return verdict
        self.loose = self.loose or self._of_steps()
        return Verdict(stage, self._worst(found, self.loose))

    def _worst(self, found: list[Any], bounds: list[Any]) -> float:
        columns = zip(found, self.exact, bounds, strict=True)
        return max((ratio_of(*column) for column in columns), default=0.0)

    def _of_steps(self) -> list[Any]:
        """The bounds with what eager changes by when its steps are rounded the other way."""
        others = []
        for number in range(SHAKES):
            with RoundedSteps(number):
                others.append(self.run(self.inputs))
        columns = zip(self.own, self.own, *others, strict=True)
        return [
            max(bound, bound_of(*column))
            for bound, column in zip(self.bounds, columns, strict=True)
        ]


def _located(verdicts: list[Verdict], graph: Graph, given: list[Any], stage: str) -> Finding:
    """The first node at which the wrong stage is wrong, on a graph that ends there.

    A stage that rewrites graphs has no such node: its result is what is shown."""
    name = next((name for name, title in EXECUTORS if title == stage), "")
    for node in graph.nodes if name else ():
        short = _ending_at(graph, node.results)
        values = _inputs_of(short, graph, given)
        run = partial(_run_kernels, name)
        if _Judge(short, values).verdict(stage, short, run).is_bug:
            return Finding(tuple(verdicts), short, tuple(values), name, f"{node}  # {node.origin}")
    return Finding(tuple(verdicts), graph, tuple(given), name)


def _ending_at(graph: Graph, results: tuple[Value, ...]) -> Graph:
    """The part of a graph that some results need, with its inputs."""
    outputs = tuple(Output(result) for result in results)
    cut = eliminate_dead_code(replace(graph, outputs=outputs, writes=()), PassOptions())
    read = {v for n in cut.nodes for v in values_in(n.args)}
    return replace(cut, inputs=tuple(i for i in cut.inputs if i.value in read))


def _inputs_of(short: Graph, graph: Graph, given: list[Any]) -> list[Any]:
    names = {declared.name: value for declared, value in zip(graph.inputs, given, strict=True)}
    return [names[declared.name] for declared in short.inputs]
