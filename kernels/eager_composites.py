"""Composite rows as programs of their own, for eager: all stages of the compiler for one row.

In: a row, its arguments, and the tensors among them. Out: a function of the list of tensors that
gives what the row gives, with one autograd node for the whole of it, named as torch names the
row's; or None for a row that the stages refuse. Sizes of 2 and more are symbols, equal ones the
same one, so that tensors of other sizes find the same program.

    run = program(lookup("softmax"), (x, -1, None), [x])
    run([x])

A program on disk is loaded without the stages that made it.

Source: `minitorch2.backends.composite_programs` asks for this file by name.
"""

from collections.abc import Callable
from typing import Any

from minitorch2 import forks
from minitorch2.artifacts import Origin, muted
from minitorch2.dispatch import origin_scope, state
from minitorch2.errors import Mt2Error, is_refusal
from minitorch2.garbage import rarely_collected
from minitorch2.jit.autodiff.runtime import CompiledProgram, GraphFailed
from minitorch2.jit.ir.graph import Graph, GraphBuilder
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.shapes.environment import ShapeEnvironment
from minitorch2.jit.shapes.symbolic_size import as_size
from minitorch2.kernels.programs import program_for
from minitorch2.layouts import contiguous_strides
from minitorch2.ops.table import Op
from minitorch2.storages import first_version
from minitorch2.tensors import Tensor

MOST = 64  # programs of one row
SETTINGS = 8  # of the numbers of one row that are no sizes: programs are made for so many
OPTIONS = "a composite row, eager"
Run = Callable[[list[Tensor]], Any]
_lock = forks.lock()
_counts: dict[str, int] = {}
_settings: dict[str, set[tuple]] = {}
_runs: dict[tuple, Run] = {}  # by graph and by which inputs require gradients


@rarely_collected()
def program(op: Op, args: tuple, tensors: list[Tensor], recorded: bool = True) -> Run | None:
    """The row as a function of its tensors, for all sizes that lead to the same graph.

    `recorded`: with a backward for the tensors that require gradients. None for a row of which
    there are MOST programs, and for one whose numbers change from call to call: to compile it
    again takes longer than its steps. Raises what only a fault of the compiler raises.
    """
    with _lock, muted():
        if not _is_kept(op, args):
            return None
        flags = tuple(recorded and tensor.requires_grad for tensor in tensors)
        try:
            with origin_scope(Origin(made_by=f"eager {op.name}")):
                graph = captured(op, args)
            key = str(graph), flags
            if key not in _runs:
                _counts[op.name] = _counts.get(op.name, 0) + 1
                if _counts[op.name] > MOST:
                    return None
                _runs[key] = _runner(op, _compiled(op, graph, flags), len(graph.outputs))
        except Mt2Error as error:  # a call that the row refuses, in words its steps know better
            if not is_refusal(error):
                raise
            return None
        return _runs[key]


def _is_kept(op: Op, args: tuple) -> bool:
    """Whether the numbers of a call are among the first SETTINGS of the row."""
    numbers = tuple(repr(each) for each in args if isinstance(each, float))
    known = _settings.setdefault(op.name, set())
    if len(known) < SETTINGS:
        known.add(numbers)
    return numbers in known


def captured(op: Op, args: tuple) -> Graph:
    """The call as a graph of one node, its sizes as symbols."""
    environment = ShapeEnvironment()
    sizes: dict[int, Any] = {}

    def symbolic(size: int) -> Any:
        if size not in sizes:
            sizes[size] = environment.new_size(size)
        return sizes[size]

    builder = GraphBuilder(op.name, environment)
    given: list[Any] = []
    for parameter, value in zip(op.signature.parameters, args, strict=True):
        if isinstance(value, Tensor):
            shape = tuple(map(symbolic, value.layout.shape))
            type = TensorType(value.dtype, tuple(map(as_size, shape)), value.device)
            value = builder.input(parameter.name, type, contiguous_strides(shape))
        elif parameter.name.endswith("_shape"):
            value = tuple(map(symbolic, value))
        given.append(value)
    for result in builder.add(op.name, tuple(given)):
        assert isinstance(result.type, TensorType)
        lengths: Any = result.type.shape
        builder.output(result, contiguous_strides(lengths))
    builder.assumptions = [guard.condition for guard in environment.guards]
    return builder.build()


def _compiled(op: Op, graph: Graph, flags: tuple[bool, ...]) -> CompiledProgram:
    names = [declared.name for declared in graph.inputs]
    unread = [names.index(name) for name in op.unread if name in names]

    def executor(graph: Graph, unit: str = "") -> Any:
        from minitorch2.kernels.backend import compile_graph  # only what is not on disk needs it

        return compile_graph(graph, unit=unit)

    def build(graph: Graph) -> CompiledProgram:
        from minitorch2.jit.autodiff.pipeline import compile_captured

        return compile_captured(graph, flags, executor, written=unread)

    def record(compiled: Any) -> dict[str, Any]:
        from minitorch2.kernels.program_parts import part_record

        return part_record(compiled)

    options = f"{OPTIONS}, unread: {unread}"
    return program_for(graph, flags, options, build, record, executor)


def _runner(op: Op, compiled: CompiledProgram, count: int) -> Run:
    """The program as a function that returns what the row returns."""
    compiled.label = "".join(part.capitalize() for part in op.name.split("_")) + "Backward0"
    flat = compiled.flat()

    def run(tensors: list[Tensor]) -> Any:
        try:
            found = flat(tensors)
        except GraphFailed:
            return None  # the row's steps say what is wrong
        if state.inference:
            for tensor in found:
                tensor.storage.version = first_version()
        return found[0] if count == 1 else tuple(found)

    return run
