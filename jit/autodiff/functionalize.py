"""Functionalization: a captured graph becomes primitives without writes (and composites that have
a derivative of their own).

In: a captured graph and which of its inputs require gradients. Out: a functional graph, and what
each output is: a value of its own, a view of an input, a constant. What the program wrote into its
inputs becomes the graph's `writes`; random ops draw from two inputs, `%seed` and `%counter`.

Before: graph f(%x: f32[4]) { %0: f32[4] = mul_(%x, 2)  return %0: alias(%x, 0) }
After:  graph f(%x: f32[4]) { %0: f32[4] = mul(%x, 2)  return %0: alias(%x, 0)  writes (%x <- %0) }

Source: PyTorch's functionalization; JAX's traced functions are functional from the start.
"""

from collections.abc import Sequence
from typing import Any

from minitorch2.artifacts import Origin
from minitorch2.autograd.graph import Node
from minitorch2.dispatch import call, origin_scope, state
from minitorch2.errors import CompileError
from minitorch2.jit.autodiff.control_flow import Controls
from minitorch2.jit.autodiff.histories import InputNode, frees, lost, reached
from minitorch2.jit.autodiff.output_plans import Functional, OutputPlan
from minitorch2.jit.autodiff.tracer import Tracer
from minitorch2.jit.ir.examples import environment_of
from minitorch2.jit.ir.graph import Argument, Graph, Value, values_in
from minitorch2.jit.ir.graph import Node as GraphNode
from minitorch2.jit.shapes.size_expression import SizeExpression
from minitorch2.jit.shapes.symbolic_size import as_size
from minitorch2.ops.table import COMPOSITE, CONTROL, lookup
from minitorch2.tensors import Tensor


def functionalize(captured: Graph, requires_grad: Sequence[bool]) -> Functional:
    """Trace a captured graph into primitives. Raises what its ops raise on fakes."""
    environment = environment_of(captured)
    tracer = Tracer(captured.name, environment, "functionalize")
    tracer.builder.assumptions = list(captured.assumptions)
    inputs = trace_inputs(tracer, captured, requires_grad)
    with tracer:
        values = replay(captured, tracer, inputs, "functionalize")
        found = [actual(output.argument, tracer, values) for output in captured.outputs]
    return _finish(captured, tracer, inputs, found, tuple(requires_grad))


def trace_inputs(tracer: Tracer, graph: Graph, requires_grad: Sequence[bool]) -> list[Any]:
    """Declare the inputs of `graph` again, as fakes that require gradients where asked."""
    inputs = []
    for position, declared in enumerate(graph.inputs):
        fake = tracer.input(declared.name, declared.value.type, declared.strides)
        if requires_grad[position] and isinstance(fake, Tensor):
            fake.set_history(InputNode(fake, position))
        inputs.append(fake)
    return inputs


def replay(
    graph: Graph, tracer: Tracer, inputs: Sequence[Any], made_by: str, records: bool = True
) -> dict[str, Any]:
    """Run a graph's nodes under the tracer; what each of its values stands for. `records`: False
    where nothing is recorded, whatever the nodes were captured under."""
    values: dict[str, Any] = {
        declared.name: fake for declared, fake in zip(graph.inputs, inputs, strict=True)
    }
    for node in graph.nodes:
        results = _run(node, graph.name, tracer, values, made_by, records)
        for value, result in zip(node.results, results, strict=True):
            values[value.id] = result
    return values


def _run(
    node: GraphNode, name: str, tracer: Tracer, values: dict[str, Any], made_by: str, records: bool
) -> tuple:
    args = tuple(actual(argument, tracer, values) for argument in node.args)
    parents = tuple(f"{name}:{value}" for value in node.results)
    origin = (node.origin or Origin()).derived(made_by, parents)
    before = state.grad_enabled
    state.grad_enabled = node.grad and records  # the mode it was captured under, whatever holds now
    try:
        with origin_scope(origin):
            row = lookup(node.op)
            if row.kind == CONTROL:
                return Controls(tracer, replay).run(node.op, args)
            args = tuple(_as_function(each, tracer, made_by) for each in args)
            found = call(row, args)
    finally:
        state.grad_enabled = before
    if isinstance(found, (tuple, list)) and len(node.results) != 1:
        return tuple(found)
    if isinstance(found, (tuple, list)):
        return (found[0],)
    return (found,) if node.results else ()


def _as_function(argument: Any, tracer: Tracer, made_by: str) -> Any:
    """A graph among the arguments of a composite row: a function that replays it here."""
    if not isinstance(argument, Graph):
        return argument

    def function(*inputs: Any) -> tuple:
        values = replay(argument, tracer, inputs, made_by, state.grad_enabled)
        return tuple(actual(output.argument, tracer, values) for output in argument.outputs)

    return function


def actual(argument: Argument, tracer: Tracer, values: dict[str, Any]) -> Any:
    """What an argument of a replayed node is under the tracer."""
    match argument:
        case Value():
            return values[argument.id]
        case SizeExpression():
            return tracer.environment.wrap(argument)
        case tuple():
            return tuple(actual(item, tracer, values) for item in argument)
    return argument


def _finish(
    captured: Graph, tracer: Tracer, inputs: list[Any], found: list[Any], requires_grad: tuple
) -> Functional:
    builder = tracer.builder
    with tracer:
        outputs = _Outputs(tracer, inputs, found)
        plans = tuple(map(outputs.plan, found))
        writes = _plan_writes(tracer, inputs, outputs)
    random_count = tracer.random_count()
    extra = (False,) * (len(builder.inputs) - len(requires_grad))
    return Functional(builder.build(), plans, requires_grad + extra, writes, random_count,
                      tuple(outputs.flags), tuple(outputs.reaches), _held(captured),
                      tuple(outputs.frees), tuple(outputs.lost))  # fmt: skip


def _held(captured: Graph) -> frozenset[int]:
    """The inputs that composite rows read (other than copies, views and arithmetic)."""
    read = {
        value
        for node in captured.nodes
        if lookup(node.op).kind == COMPOSITE and not lookup(node.op).inplace_of
        for value in values_in(node.args)
    }
    return frozenset(n for n, each in enumerate(captured.inputs) if each.value in read)


class _Outputs:
    """Declares the graph's outputs; `flags` says of each whether it carries gradients.

    Results that share memory with each other are views of one output, their base.
    """

    def __init__(self, tracer: Tracer, inputs: list[Any], found: list[Any]):
        self.tracer, self.inputs = tracer, inputs
        self.flags: list[bool] = []
        self.reaches: list[frozenset[int]] = []
        self.frees: list[frozenset[int]] = []
        self.lost: list[tuple[str, str, str] | None] = []
        self.numbers: dict[Node, int] = {}  # of the steps that a backward frees
        self.bases: dict[int, int] = {}  # id of a base -> its place among the outputs
        cells = [id(tracer.cell_of(item)) for item in found if isinstance(item, Tensor)]
        self.shared = {cell for cell in cells if cells.count(cell) > 1}

    def plan(self, argument: Any) -> OutputPlan:
        """What one result is."""
        if not isinstance(argument, Tensor):
            return OutputPlan(None, constant=argument)
        tracer = self.tracer
        owner = tracer.owner_of(argument)
        steps = tracer.steps_of(argument)
        if owner is not None or id(tracer.cell_of(argument)) in self.shared:
            _check_history(tracer, argument)
        if owner is not None:
            if not steps and argument is not self.inputs[owner]:
                steps = ((lookup("detach"), ()),)
            return OutputPlan(None, _is_live(argument), owner, steps)
        cell = tracer.cell_of(argument)
        if id(cell) not in self.shared and not argument.layout.overlaps_itself():
            return OutputPlan(self.declare(argument), _is_live(argument), freed=_is_freed(argument))
        if id(cell) not in self.bases:
            self.bases[id(cell)] = self.declare(cell.base)
        index, freed = self.bases[id(cell)], _is_freed(cell.base)
        return OutputPlan(index, _is_live(argument), None, steps, freed=freed)

    def declare(self, tensor: Tensor) -> int:
        """Make the tensor's value the graph's next output; its place."""
        strides = tuple(map(as_size, tensor.layout.strides))
        self.tracer.builder.output(self.tracer.value_of(tensor), strides)
        self.flags.append(_is_live(tensor))
        live = self.flags[-1]
        self.reaches.append(reached(tensor) if live else frozenset())
        self.frees.append(frees(tensor, self.numbers) if live else frozenset())
        self.lost.append(lost(tensor) if live else None)
        return len(self.flags) - 1


def _check_history(tracer: Tracer, tensor: Tensor) -> None:
    """Refuse what is returned as a view of memory that somebody else sees too, and has a history
    that this memory has not: it was detached, and then something with a history written into it."""
    root = tensor if tensor._view is None else tensor._view.base
    if tensor.requires_grad and root is not tracer.cell_of(tensor).base:
        raise CompileError(
            "a result that shares memory with an input or another result, and has other gradients",
            "it was detached and then written with a value that requires a gradient",
            "return a clone() of it",
        )


def _is_freed(tensor: Tensor) -> bool:
    return getattr(tensor.grad_fn, "freed", False)


def _is_live(tensor: Tensor) -> bool:
    return tensor.requires_grad and not _is_freed(tensor)


def _plan_writes(tracer: Tracer, inputs: list[Any], outputs: _Outputs) -> tuple:
    """Writes into inputs: into the graph, or as outputs where the value carries a gradient."""
    kept = []
    for position, fake in enumerate(inputs):
        if not isinstance(fake, Tensor):
            continue
        cell = tracer.cell_of(fake)
        if cell.version == 0:
            continue
        history = cell.base.grad_fn
        if history is not None and not isinstance(history, InputNode):
            kept.append((position, outputs.declare(cell.base)))
        else:
            tracer.builder.write(position, cell.value)
    return tuple(kept)
