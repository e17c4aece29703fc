"""Finds the first stage at which a compiled function's numbers go wrong.

In: a captured graph and the inputs of one call. Out: a Verdict for each stage, in order: the ops as
captured, the functional graph, the joint graph, the graph after each pass, the halves, and the
halves as loops, as Python and as machine code. Each stage runs on the same inputs.

Every number has a bound: what eager itself differs from the same graph in float64, and what it
changes by when the inputs change in their last bits, some times over. A stage inside the bound is
as good as eager; a difference is rounding there, and a bug outside of it. The first stage outside
is searched for the first node, and that node with what it needs becomes a script of its own.

Source: delta debugging (A. Zeller); torch's accuracy minifier.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy

from minitorch2 import dtypes
from minitorch2.autograd.engine import run_backward
from minitorch2.autograd.modes import no_grad
from minitorch2.dtypes import dtype
from minitorch2.errors import Mt2Error
from minitorch2.jit.autodiff.costs import Costs
from minitorch2.jit.autodiff.functionalize import Functional, functionalize
from minitorch2.jit.autodiff.joint import make_joint
from minitorch2.jit.autodiff.partition import partition
from minitorch2.jit.autodiff.runtime import CompiledProgram
from minitorch2.jit.ir.graph import Graph, GraphBuilder, Output, Value, map_values, values_in
from minitorch2.jit.ir.interpreter import bind_inputs, interpret, run_captured
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.passes.eliminate_dead_code import eliminate_dead_code
from minitorch2.jit.passes.options import DEFAULT, PassOptions
from minitorch2.jit.passes.pipeline import PIPELINE
from minitorch2.kernels.backend import KernelOptions, compile_graph
from minitorch2.random import manual_seed
from minitorch2.tensors import Tensor, wrap

EXECUTORS = (("loops", "loop IR"), ("python", "kernels as Python"), ("numba", "kernels compiled"))
SLACK, SHAKES = 30.0, 3
SLOW = 30_000.0  # ns of machine code: what takes longer is not run as loops and as Python
Run = Callable[[Graph, list[Any]], list[Any]]


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

    def __str__(self) -> str:
        if self.detail:
            return f"{self.stage:24} BUG       {self.detail}"
        if numpy.isnan(self.ratio):
            return f"{self.stage:24} not judged"
        kind = "BUG" if self.is_bug else "rounding" if self.ratio > 0 else "equal"
        return f"{self.stage:24} {kind:9} {self.ratio:.2g} of the bound"


@dataclass(frozen=True, slots=True)
class Finding:
    """All verdicts; the first wrong stage's graph cut down to the node that is wrong."""

    verdicts: tuple[Verdict, ...]
    graph: Graph | None = None
    inputs: tuple[Any, ...] = ()
    executor: str = ""
    node: str = ""


def bisect(captured: Graph, inputs: Sequence[Any], flags: Sequence[bool]) -> Finding:
    """Run every stage and search the first one that is wrong."""
    functional = functionalize(captured, flags)
    values = [*inputs, *([] if functional.random_count is None else [0, 0])]
    joint = make_joint(functional) if any(flags) else None
    graph = functional.graph if joint is None else joint.graph
    given = [*values, *(_tangent(i.value) for i in graph.inputs[len(functional.graph.inputs) :])]
    verdicts = _captured_verdicts(captured, functional, list(inputs))
    if verdicts[-1].is_bug:
        return Finding(tuple(verdicts), functional.graph, tuple(values))
    if joint is not None:
        verdicts.append(_slope_verdict(functional.graph, values, flags))
        if verdicts[-1].is_bug:
            return _wrong_vjp(verdicts, functional.graph, values, flags)
    judge = _Judge(graph, given)
    for stage, changed, run in _stages(functional, joint, graph):
        verdicts.append(judge.verdict(stage, changed, run))
        if verdicts[-1].is_bug:
            return _located(verdicts, changed, given, stage)
    return Finding(tuple(verdicts))


def interpret_and_compile(
    graph: Graph, inputs: Sequence[Any], executor: str
) -> tuple[list[Any], list[Any]]:
    """What a graph gives node by node, and under an executor of kernels. Arrays become tensors."""
    given = [wrap(i) if isinstance(i, numpy.ndarray) else i for i in inputs]
    compiled = _run_kernels(executor, graph, copies(given))
    return _arrays(interpret(graph, copies(given))), _arrays(compiled)


def _captured_verdicts(
    captured: Graph, functional: Functional, inputs: list[Any]
) -> list[Verdict]:  # fmt: skip
    """The ops as the user called them, and the same without writes: outputs and inputs after."""

    def eager(graph: Graph, given: list[Any]) -> list[Any]:
        manual_seed(0)
        with no_grad():
            return [*run_captured(graph, given), *given]

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


def _slope_verdict(graph: Graph, values: list[Any], flags: Sequence[bool]) -> Verdict:
    """Derivatives against differences, in float64, along a few directions."""
    stage = "derivatives"
    try:
        errors = [_slope_error(widened(graph), values, flags, seed) for seed in range(SHAKES)]
    except Mt2Error:  # no wider form of some dtype argument
        return Verdict(stage, float("nan"))
    judged = [error for error in errors if numpy.isfinite(error)]
    return Verdict(stage, min(judged, default=float("nan")))  # one kink of a relu is no bug


def _slope_error(graph: Graph, values: list[Any], flags: Sequence[bool], seed: int) -> float:
    wide = [_wide_input(each) for each in values]
    draw = numpy.random.RandomState(seed)
    steps = [
        _direction(draw, each.array) if flag else None
        for each, flag in zip(wide, [*flags, False, False], strict=False)
    ]

    def total(size: float) -> float:
        moved = [
            each if step is None else wrap(numpy.asarray(each.array + size * step))
            for each, step in zip(wide, steps, strict=True)
        ]
        found = _arrays(interpret(graph, moved))
        return sum(_along(_weights(a), a) for a in found if _is_float(a))

    leaves = [
        wrap(numpy.array(each.array)).requires_grad_() if step is not None else each
        for each, step in zip(wide, steps, strict=True)
    ]
    outputs = [each for each in interpret(graph, leaves) if getattr(each, "requires_grad", False)]
    run_backward(outputs, [wrap(_weights(each.array)) for each in outputs], False, False)
    slope = sum(
        _along(leaf.grad.array, step)
        for leaf, step in zip(leaves, steps, strict=True)
        if step is not None and leaf.grad is not None
    )
    size = 1e-6
    difference = (total(size) - total(-size)) / (2 * size)
    gap = abs(difference - slope)
    scale = abs(difference) + abs(slope) + abs(total(0.0)) + 1e-3
    return gap / (1e-3 * scale)


def _weights(array: Any) -> Any:
    weights = numpy.linspace(0.5, 1.5, array.size).reshape(array.shape)
    return weights * (1 - 0.7j) if array.dtype.kind == "c" else weights


def _direction(draw: numpy.random.RandomState, array: Any) -> Any:
    step = numpy.asarray(draw.randn(*array.shape))
    return step + 1j * draw.randn(*array.shape) if array.dtype.kind == "c" else step


def _along(gradient: Any, step: Any) -> float:
    """How fast a loss grows along a step; the gradient of z = x + iy is dL/dx + i dL/dy."""
    return float((numpy.conj(gradient) * step).real.sum())


def _is_float(array: Any) -> bool:
    return isinstance(array, numpy.ndarray) and array.dtype.kind in "fc"


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
            return Finding(tuple(verdicts), short, tuple(own), "", f"{node}  # {node.origin}")
    return Finding(tuple(verdicts), graph, tuple(values))


def _is_floating(value: Value) -> bool:
    kind = value.type.dtype if isinstance(value.type, TensorType) else None
    return kind is not None and (kind.is_floating_point or kind.is_complex)


def _stages(functional: Functional, joint: Any, graph: Graph) -> Iterator[tuple[str, Graph, Run]]:
    """Each later stage: its name, the graph it runs, and how."""
    if joint is not None:
        yield "joint graph", graph, _interpreted
    for function in PIPELINE:
        graph = function(graph, DEFAULT)
        yield f"pass {function.__name__}", graph, _interpreted
    executors = EXECUTORS if _work(graph) <= SLOW else EXECUTORS[-1:]
    if joint is None:
        for name, title in executors:
            yield title, graph, partial(_run_kernels, name)
        return
    count = len(functional.graph.outputs)
    written = [place for place, _ in functional.writes]
    halves = partition(replace(joint, graph=graph), count, written, held=functional.held)
    yield "forward and backward", graph, partial(_run_halves, halves, functional, _interpreted)
    for name, title in executors:
        yield title, graph, partial(_run_halves, halves, functional, partial(_run_kernels, name))


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


class _Judge:
    """Knows the numbers of a graph in float64 and how far each may be from them."""

    def __init__(self, graph: Graph, inputs: list[Any], run: Run = _interpreted):
        self.inputs = inputs
        own = _arrays(run(graph, copies(inputs)))
        others = [_arrays(run(graph, _shaken(inputs, n))) for n in range(SHAKES)]
        try:
            self.exact = _arrays(run(widened(graph), [_wide_input(i) for i in inputs]))
        except Mt2Error:  # no wider form of some dtype argument
            self.exact = own
        self.bounds = [_bound(*columns) for columns in zip(own, self.exact, *others, strict=True)]

    def verdict(self, stage: str, graph: Graph, run: Run) -> Verdict:
        """How a stage does on the inputs."""
        try:
            found = _arrays(run(graph, copies(self.inputs)))
        except Exception as error:  # whatever it raises is what the user sees
            return Verdict(stage, float("inf"), f"raises {type(error).__name__}: {error}")
        if len(found) != len(self.exact):
            detail = f"gives {len(found)} results, not {len(self.exact)}"
            return Verdict(stage, float("inf"), detail)
        ratios = [
            _ratio(one, other, bound)
            for one, other, bound in zip(found, self.exact, self.bounds, strict=True)
        ]
        return Verdict(stage, max(ratios, default=0.0))


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


# Numbers


def _tangent(value: Value) -> Tensor:
    assert isinstance(value.type, TensorType)
    shape = tuple(size if isinstance(size, int) else 1 for size in value.type.shape)
    count = int(numpy.prod(shape, dtype=int))
    return wrap(numpy.linspace(0.5, 1.5, count).reshape(shape).astype(value.type.dtype.numpy))


def copies(inputs: Sequence[Any]) -> list[Any]:
    """Inputs that may be written."""
    return [wrap(numpy.array(i.array)) if isinstance(i, Tensor) else i for i in inputs]


def _shaken(inputs: Sequence[Any], seed: int) -> list[Any]:
    draw, changed = numpy.random.RandomState(seed), []
    for value in inputs:
        if isinstance(value, Tensor) and value.dtype in (*WIDER, *WIDER.values()):
            array = numpy.array(value.array)
            epsilon = 2.0 ** -{2: 10, 4: 23, 8: 52}[_real_size(array)]
            factor = 1 + epsilon * draw.uniform(-2, 2, array.shape)
            wide = WIDER.get(value.dtype, value.dtype).numpy
            value = wrap((array.astype(wide) * factor).astype(array.dtype))
        changed.append(value)
    return changed


def _arrays(found: Sequence[Any]) -> list[Any]:
    return [numpy.array(each.array) if isinstance(each, Tensor) else each for each in found]


def _bound(own: Any, exact: Any, *others: Any) -> Any:
    if not isinstance(own, numpy.ndarray) or own.size == 0:
        return 0.0
    wide = _reals(own)
    with numpy.errstate(all="ignore"):
        gaps = [numpy.abs(_reals(o) - wide) for o in (exact, *others)]
    gaps = [numpy.where(numpy.isfinite(gap), gap, 0.0) for gap in gaps]
    finite = numpy.abs(wide[numpy.isfinite(wide)])
    scale = float(finite.max()) if finite.size else 0.0
    floating = own.dtype.kind in "fc" or own.dtype.name == "bfloat16"
    step = scale * 2.0 ** -{2: 8, 4: 23, 8: 52}.get(_real_size(own), 52) if floating else 0.0
    return SLACK * (max(float(gap.max()) for gap in gaps) + step)


def _reals(array: numpy.ndarray) -> numpy.ndarray:
    """The numbers in float64; a complex one is two, along one more dimension."""
    if array.dtype.kind == "c":
        array = numpy.stack([array.real, array.imag], -1)
    return array.astype(numpy.float64)


def _real_size(array: numpy.ndarray) -> int:
    """The bytes of one real number in it."""
    return array.dtype.itemsize // (2 if array.dtype.kind == "c" else 1)


def _ratio(found: Any, exact: Any, bound: float) -> float:
    if not isinstance(found, numpy.ndarray) or not isinstance(exact, numpy.ndarray):
        return 0.0 if repr(found) == repr(exact) else float("inf")
    if found.shape != exact.shape:
        return float("inf")
    a, b = _reals(found), _reals(exact)
    with numpy.errstate(all="ignore"):
        gap = numpy.abs(a - b)
    same = (a == b) | (numpy.isnan(a) & numpy.isnan(b))
    gap = numpy.where(same, 0.0, numpy.where(numpy.isnan(gap), numpy.inf, gap))
    worst = float(gap.max(initial=0.0))
    return worst / bound if bound else (0.0 if worst == 0.0 else float("inf"))


WIDER = {
    **dict.fromkeys((dtypes.float32, dtypes.float16, dtypes.bfloat16), dtypes.float64),
    dtypes.complex64: dtypes.complex128,
}


def _wide_input(value: Any) -> Any:
    if isinstance(value, Tensor) and value.dtype in WIDER:
        return wrap(numpy.array(value.array).astype(WIDER[value.dtype].numpy))
    return copies([value])[0]


def widened(graph: Graph) -> Graph:
    """The graph in float64: every narrower float type and dtype argument replaced."""
    builder = GraphBuilder(graph.name)
    builder.assumptions = list(graph.assumptions)
    names: dict[Value, Any] = {}
    for declared in graph.inputs:
        type = declared.value.type
        if isinstance(type, TensorType):
            type = replace(type, dtype=WIDER.get(type.dtype, type.dtype))
        names[declared.value] = builder.input(declared.name, type, declared.strides)
    for node in graph.nodes:
        args = tuple(map_values(_wide(item), names.__getitem__) for item in node.args)
        results = builder.add(node.op, args, node.origin, node.grad)
        names.update(zip(node.results, results, strict=True))
    for output in graph.outputs:
        builder.output(map_values(output.argument, names.__getitem__), output.strides)
    return builder.build()


def _wide(argument: Any) -> Any:
    match argument:
        case dtype():
            return WIDER.get(argument, argument)
        case tuple():
            return tuple(map(_wide, argument))
        case Graph():
            return widened(argument)
    return argument
