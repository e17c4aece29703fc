"""All stages between a captured graph and something that runs, in order.

In: a captured graph, which inputs require gradients, the options, and an executor that turns a
functional graph into a callable. Out: a CompiledProgram. Each stage emits one event.

    captured -> functional -> joint -> optimized -> forward + backward -> executor

Source: PyTorch's AOTAutograd.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from minitorch2.artifacts import emit
from minitorch2.config import config
from minitorch2.jit.autodiff.control_flow import without_custom_gradients
from minitorch2.jit.autodiff.functionalize import functionalize
from minitorch2.jit.autodiff.joint import Joint, make_joint
from minitorch2.jit.autodiff.output_plans import Functional
from minitorch2.jit.autodiff.partition import partition
from minitorch2.jit.autodiff.rematerialize import fullest, rematerialize, with_lean_backward
from minitorch2.jit.autodiff.runtime import CompiledProgram, Executable
from minitorch2.jit.ir.eager_orders import eager_orders
from minitorch2.jit.ir.graph import Graph, map_graphs
from minitorch2.jit.ir.verify import verify
from minitorch2.jit.passes.options import DEFAULT, PassOptions
from minitorch2.jit.passes.pipeline import optimize
from minitorch2.phases import phase

Executor = Callable[[Graph, str], Executable]


def compile_captured(
    captured: Graph,
    requires_grad: Sequence[bool],
    executor: Executor,
    unit: str = "",
    options: PassOptions = DEFAULT,
    written: Sequence[int] = (),
) -> CompiledProgram:
    """Compile a captured graph. `written` are inputs that callers may write before the backward.

    Raises CompileError when a stage cannot carry the graph out.
    """
    traced = trace(captured, requires_grad, unit)
    return compile_traced(traced, executor, unit, options, written)


@dataclass(frozen=True, slots=True)
class Traced:
    """A captured graph without writes, and its joint graph if gradients pass through it.

    `trains`: the captured graph runs a backward itself.
    """

    functional: Functional
    joint: Joint | None
    trains: bool


def trace(captured: Graph, requires_grad: Sequence[bool], unit: str = "") -> Traced:
    """The stages that no option changes: functional and joint graph."""
    with phase("autodiff.functional"):
        functional = functionalize(captured, requires_grad)
    _check(functional.graph)
    emit("autodiff.functional", unit, functional.graph)
    trains = any(node.op == "gradients" for node in captured.nodes)
    with phase("autodiff.joint"):
        joint = make_joint(functional) if any(requires_grad) else None
    if joint is not None:
        _check(joint.graph)
        emit("autodiff.joint", unit, joint.graph)
    return Traced(functional, joint, trains)


def compile_traced(
    traced: Traced,
    executor: Executor,
    unit: str = "",
    options: PassOptions = DEFAULT,
    written: Sequence[int] = (),
) -> CompiledProgram:
    """The other stages: passes, partition, executor."""
    if traced.joint is None:
        return _inference(traced.functional, executor, unit, options, traced.trains)
    return _training(traced.functional, traced.joint, executor, unit, options, written)


def _inference(
    functional: Functional, executor: Executor, unit: str, options: PassOptions, trains: bool
) -> CompiledProgram:
    """A program that nobody differentiates; one that `trains` holds a backward itself."""
    graph = without_custom_gradients(_without_modes(functional.graph))
    if options.run:
        graph = optimize(graph, options, unit)
    if options.memory_budget < 1.0 or trains:
        with phase("autodiff.partition"):
            smaller = rematerialize(graph, options.memory_budget)
        graph = smaller.graph
        _check(graph)
        emit("autodiff.partition", unit, smaller, budget=options.memory_budget,
             bytes=smaller.peak_after, peak=smaller.peak_before,
             reasons=[reason.facts() for reason in smaller.reasons])  # fmt: skip
    return CompiledProgram(functional, executor(graph, unit))


def _without_modes(graph: Graph) -> Graph:
    """The graph without its `no_grad` marks: nothing will be differentiated any more."""
    nodes = tuple(
        replace(node, args=map_graphs(node.args, _without_modes), grad=True) for node in graph.nodes
    )
    return replace(graph, nodes=nodes)


def _training(
    functional: Functional, joint: Joint, executor: Executor, unit: str,
    options: PassOptions, written: Sequence[int],
) -> CompiledProgram:  # fmt: skip
    if options.run:
        joint = replace(joint, graph=optimize(joint.graph, options, unit))
    written = [*written, *(position for position, _ in functional.writes)]
    count = len(functional.graph.outputs)
    with phase("autodiff.partition"):
        orders = eager_orders(joint.graph) if options.numerics == "eager" else {}
        rest = functional.held, options.chains, orders
        halves = partition(joint, count, written, options.memory_budget, *rest)
        if options.memory_budget < 1.0:
            whole = partition(joint, count, written, 1.0, *rest)
            halves = with_lean_backward(halves, fullest(whole.backward))
    _check(halves.forward)
    _check(halves.backward)
    emit("autodiff.partition", unit, halves, budget=options.memory_budget,
         bytes=halves.bytes_saved(),
         reasons=[reason.facts() for reason in halves.reasons])  # fmt: skip
    return CompiledProgram(
        functional,
        executor(halves.forward, unit),
        halves,
        executor(halves.backward, unit),
        joint.tangent_outputs,
        joint.gradient_inputs,
        lambda graph: executor(graph, unit),
    )


def _check(graph: Graph) -> None:
    if config.check:
        verify(graph)
