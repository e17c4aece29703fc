"""The compiler's back end: a functional graph in, a function over tensors out.

In: a Graph of primitives and KernelOptions. Out: a Compiled: call it with the list of inputs.

    compiled = compile_graph(graph, KernelOptions())
    [result] = compiled([x, w])

Five events say what happened on the way: "loops.lowered" (one kernel for each node),
"loops.fused" (the kernels that run, and every refusal to fuse with its reason), "kernel.source"
(their source and the host function's, with a table from source lines to user lines), "kernel.cost"
(what each step must move and compute) and "memory.planned" (when each value has memory). gpu.py
adds those of the GPU's kernels when somebody wants them, native.py what LLVM made of the CPU's.

Source: Inductor's compile_fx is the model of the interface.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from minitorch2.artifacts import emit, listening, wants
from minitorch2.config import config
from minitorch2.jit.autodiff.runtime import HostFunction
from minitorch2.jit.ir.eager_orders import Order, eager_orders
from minitorch2.jit.ir.graph import Graph, Value
from minitorch2.kernels import host
from minitorch2.kernels.codegen.host import host_code, host_source, identifier, is_plain
from minitorch2.kernels.codegen.source import KernelSource, generate_source
from minitorch2.kernels.control import control_step
from minitorch2.kernels.executors import Run, executor
from minitorch2.kernels.gpu import CUDA, emit_cuda, simulated
from minitorch2.kernels.loop_ir import Kernel
from minitorch2.kernels.lower.lowering import lower_graph
from minitorch2.kernels.lower.nests import tensor_type
from minitorch2.kernels.meter import Meter
from minitorch2.kernels.native import emit_native
from minitorch2.kernels.printer import Listing
from minitorch2.kernels.program_parts import failures_of
from minitorch2.kernels.runtime import chains
from minitorch2.kernels.runtime.compile import compile_kernel, compile_kernels
from minitorch2.kernels.schedule.chains import chain
from minitorch2.kernels.schedule.cost import plan_costs
from minitorch2.kernels.schedule.fusion import Fusion
from minitorch2.kernels.schedule.in_place import Taken, take_over
from minitorch2.kernels.schedule.lifetimes import lifetimes_of
from minitorch2.kernels.schedule.plan import (
    ChainStep,
    EagerStep,
    KernelStep,
    Plan,
    ProductStep,
    build_plan,
)
from minitorch2.kernels.schedule.program import build_program
from minitorch2.kernels.schedule.reinplace import reinplace
from minitorch2.kernels.verify import verify_kernel
from minitorch2.ops.table import CONTROL, lookup
from minitorch2.phases import phase

EXECUTORS = ("numba", "python", "loops", "sim")


@dataclass(frozen=True, slots=True)
class KernelOptions:
    """How a graph is compiled: whether nests are fused, and what runs the kernels.

    `exact` gives eager's bits: what sums up runs as eager does it, on values that lie in memory in
    eager's order. `chain` lets products and the
    kernels between them run unit by unit.

    MT2_CUDA=sim turns the executor "numba" into "sim", the simulator of a GPU.
    """

    fuse: bool = True
    executor: str = "numba"
    exact: bool = False
    reinplace: bool = True
    chain: bool = True


@dataclass(frozen=True, slots=True)
class Sources:
    """The text of everything generated for a graph: an event's payload."""

    kernels: tuple[KernelSource, ...]
    host: str

    def __str__(self) -> str:
        return "\n\n".join([*map(str, self.kernels), self.host.rstrip("\n")])


class Compiled(HostFunction):
    """A compiled graph. Calling it runs the host function; `sources` shows what was generated.

    `meter` counts what runs, if somebody wanted that when the graph was compiled.
    """

    __slots__ = ("graph", "plan", "sources", "meter")

    def __init__(
        self, graph: Graph, plan: Plan, sources: Sources,
        run: Callable[[list[Any]], list[Any]], meter: Meter | None = None,
    ):  # fmt: skip
        super().__init__(run, is_plain(plan))
        self.graph, self.plan, self.sources, self.meter = graph, plan, sources, meter

    @property
    def kernel_count(self) -> int:
        """How many kernels it launches."""
        return len(self.sources.kernels)


def compile_graph(
    graph: Graph, options: KernelOptions = KernelOptions(), unit: str = ""
) -> Compiled:
    """Compile a functional graph of primitives. `unit` names it in events."""
    unit = unit or graph.name
    with phase("loops.lowered"):
        lowered = lower_graph(graph, options.exact)
    if listening():
        plain = plan_graph(graph, lowered, fuse=False)[0]
        emit("loops.lowered", unit, listing(plain), graph=graph.name, kernels=kernel_count(plain))
    orders = eager_orders(graph) if options.exact else {}
    plan, fusion = plan_graph(graph, lowered, options.fuse, options.reinplace, orders)
    chained: tuple[str, ...] = ()
    if options.chain:
        with phase("loops.fused"):
            plan, chained = chain(plan)
    taken: tuple[Taken, ...] = ()
    if options.fuse and options.reinplace:
        with phase("loops.fused"):
            plan, taken = take_over(plan)
    if listening():
        refusals = tuple(map(str, fusion.refusals))
        again = tuple(map(str, fusion.recomputed))
        placed = tuple(map(str, fusion.reinplaced))
        over = tuple(map(str, taken))
        notes = refusals + again + placed + over + chained
        emit("loops.fused", unit, listing(plan, notes), graph=graph.name,
             kernels=kernel_count(plan), refusals=list(refusals), recomputed=list(again),
             in_place=list(placed), taken=list(over), chained=list(chained),
             eager=eager_steps(plan))  # fmt: skip
    compiled = generate(graph, plan, options, unit)
    if listening():
        sources = compiled.sources
        emit("kernel.source", unit, sources, graph=graph.name,
             lines={each.name: line_table(each) for each in sources.kernels})  # fmt: skip
        if wants(CUDA):
            kernels = [step.kernel for step in plan.kernels()]
            emit_cuda(kernels, unit, graph.name, line_table)
        emit_native(sources.kernels, unit, graph.name)
        costs = plan_costs(plan)
        emit("kernel.cost", unit, costs, graph=graph.name, costs=costs.facts())
        lives = lifetimes_of(plan)
        emit("memory.planned", unit, lives, graph=graph.name, **lives.facts())
    return compiled


@phase("loops.fused")
def plan_graph(
    graph: Graph,
    lowered: tuple,
    fuse: bool,
    in_place: bool = True,
    orders: Mapping[Value, Order] | None = None,
) -> tuple[Plan, Fusion]:
    """The steps of a lowered graph, fused or not; copies left out that nobody needs. `orders`: in
    which order values lie in memory, where that is asked for."""
    program = build_program(graph, lowered, orders)
    placed = reinplace(program) if fuse and in_place else []
    fusion = Fusion(program, fuse)
    fusion.reinplaced = placed
    return build_plan(program, fusion), fusion


def generate(graph: Graph, plan: Plan, options: KernelOptions, unit: str = "") -> Compiled:
    """Source for every step, and the function that runs them."""
    with phase("machine code"):
        names = host.host_names()  # the first time, the code of the pool of threads
    with phase("kernel.source"):
        sources = kernel_sources(plan)
    if options.executor == "numba" and config.cuda != "sim":
        with phase("machine code"):
            requests = [(source.text, source.signature) for source in sources]
            _compiled = compile_kernels(requests)  # until the launches below hold them
    source = iter(sources)
    meter = Meter() if wants("runtime.launches") else None
    run: Callable[..., Any]
    for name, step in zip(plan.names(), plan.steps, strict=True):
        if isinstance(step, KernelStep):
            run = kernel_run(step.kernel, next(source), options)
        elif isinstance(step, ChainStep):
            parts = zip(step.members, step.places, step.in_sums, strict=True)
            members = [_member(*each, source, options) for each in parts]
            run = host.chain_of(members, step.whole)
        else:
            run = _other_step(step, options, unit)
        names[name] = meter.counted(name, step, run) if meter is not None else run
    with phase("kernel.source"):
        text = host_source(plan, graph.name)
        exec(host_code(text, graph.name), names)
    run_name = identifier("run", graph.name)
    return Compiled(graph, plan, Sources(tuple(sources), text), names[run_name], meter)


def _member(
    step: KernelStep | ProductStep, places: tuple[int, ...], in_sums: bool,
    source: Iterator[KernelSource], options: KernelOptions,
) -> chains.Member:  # fmt: skip
    """A member of a chain as what runs it."""
    if isinstance(step, ProductStep):
        return host.product_member(tensor_type(step.result).dtype.short, places, in_sums)
    text = next(source)
    run = run_by(options.executor, step.kernel, text)
    native = options.executor == "numba" and config.cuda != "sim"
    compiled = compile_kernel(text.text, text.signature) if native else None
    return chains.Launch(run, compiled, places)


def _other_step(
    step: ProductStep | EagerStep, options: KernelOptions, unit: str
) -> Callable[..., Any]:
    """The function of a step that is no kernel."""
    if isinstance(step, ProductStep):
        return host.product_step(step.node)
    if lookup(step.node.op).kind == CONTROL:
        return control_step(step.node, lambda graph: compile_graph(graph, options, unit))
    return host.eager_step(step.node)


def kernel_sources(plan: Plan) -> list[KernelSource]:
    """The source of each kernel of a plan, in order."""
    kernels = [step.kernel for step in plan.kernels()]
    for kernel in kernels:
        verify_kernel(kernel)
    return [generate_source(kernel) for kernel in kernels]


def kernel_run(kernel: Kernel, source: KernelSource, options: KernelOptions) -> Run:
    """The launch of a kernel, whose checks raise with the user's line."""
    run = run_by(options.executor, kernel, source)
    return host.guarded(run, failures_of(kernel, source.messages)) if source.messages else run


def run_by(name: str, kernel: Kernel, source: KernelSource) -> Run:
    """The function that runs a kernel under an executor."""
    if name == "sim" or (name == "numba" and config.cuda == "sim"):
        return simulated(kernel)
    return executor(name, kernel, source)


def listing(plan: Plan, notes: tuple[str, ...] = ()) -> Listing:
    """The steps of a plan as text."""
    steps: list[Any] = []
    for step in plan.members():
        match step:
            case KernelStep(kernel):
                steps.append(kernel)
            case ProductStep(node):
                steps.append(f"product {node}  # {node.origin}")
            case EagerStep(node, reason):
                steps.append(f"eager {node}  # {node.origin}; {reason}")
    return Listing(tuple(steps), notes)


def kernel_count(plan: Plan) -> int:
    """How many kernels a plan launches."""
    return sum(1 for _ in plan.kernels())


def eager_steps(plan: Plan) -> list[str]:
    """What runs eagerly between the kernels, and why."""
    return [f"{s.node.op}: {s.reason}" for s in plan.steps if isinstance(s, EagerStep)]


def line_table(source: KernelSource) -> dict[int, list[str]]:
    """User lines for each line of a kernel's source (counted from 1)."""
    return {
        number: list(dict.fromkeys(map(str, origin.spans)))
        for number, origin in enumerate(source.lines, 1)
        if origin.spans
    }
