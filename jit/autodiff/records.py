"""A compiled program as plain data that a file can keep, and back.

In: a CompiledProgram whose captured graph was `numbered`. Out: a record (dicts, lists, numbers and
strings, as JSON has them) of everything but its two executables; and from a record a program that
runs as the first one does. Graphs stay text until somebody looks at them: a differentiated backward
needs the functional graph, nothing else does. Lines of the user's program are no part of a record:
it names nodes of the captured graph, and takes their lines from the graph that it is loaded for.

    record = program_record(program)
    again = loaded_program(record, forward, backward, node_spans(captured))

What has no plain form (a graph among the arguments of a step) raises NotRecorded.

Source: JSON (RFC 8259), as pickle would run what it reads.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from minitorch2 import dtypes
from minitorch2.artifacts import Origin, Span
from minitorch2.devices import device
from minitorch2.dtypes import dtype
from minitorch2.jit.autodiff.output_plans import Functional, OutputPlan
from minitorch2.jit.autodiff.runtime import CompiledProgram, Executable
from minitorch2.jit.ir.graph import Argument, Graph, Node, Value, values_in
from minitorch2.jit.ir.types import ScalarType, TensorType, Type
from minitorch2.jit.shapes.parser import parse_size
from minitorch2.jit.shapes.size_expression import Size, SizeExpression
from minitorch2.ops.table import Op, lookup

Record = dict[str, Any]
Spans = Sequence[tuple[Span, ...]]
PLAIN = (bool, int, str, type(None))


class NotRecorded(Exception):
    """Something in a program has no plain form; the text says what."""


@dataclass(frozen=True, slots=True, order=True)
class NumberedSpan(Span):
    """A span of the user's text that knows whose it is: span `place` of captured node `node`."""

    node: int = -1
    place: int = 0

    __str__ = Span.__str__


def numbered(graph: Graph) -> Graph:
    """The captured graph with NumberedSpans, which every later stage hands on."""
    nodes = []
    for number, node in enumerate(graph.nodes):
        origin = node.origin or Origin()
        spans = tuple(
            NumberedSpan(s.file, s.line, s.end_line, s.column, s.end_column, number, place)
            for place, s in enumerate(origin.spans)
        )
        nodes.append(replace(node, origin=replace(origin, spans=spans)))
    return replace(graph, nodes=tuple(nodes))


def node_spans(graph: Graph) -> Spans:
    """The spans of each node of a captured graph."""
    return [node.origin.spans if node.origin is not None else () for node in graph.nodes]


def origin_record(origin: Origin | None) -> list[list[int]]:
    """An Origin as pairs (captured node, which of its spans)."""
    spans = origin.spans if origin is not None else ()
    return [[span.node, span.place] for span in spans if isinstance(span, NumberedSpan)]


def origin_from(record: list[list[int]], spans: Spans) -> Origin:
    """The Origin with the lines that these nodes have now."""
    found = (spans[node][place] for node, place in record if place < len(spans[node]))
    return Origin(tuple(dict.fromkeys(found)), made_by="cache")


# Arguments and types.


def argument_record(argument: Any) -> Any:
    """An argument of a node as plain data."""
    if type(argument) in PLAIN:
        return argument
    match argument:
        case Value():
            return {"value": argument.id, "type": type_record(argument.type)}
        case SizeExpression():
            return {"size": str(argument)}
        case dtype():
            return {"dtype": argument.short}
        case tuple():
            return [argument_record(item) for item in argument]
    if type(argument) is float:
        return {"float": argument.hex()}
    if type(argument) is complex:
        return {"complex": [argument.real.hex(), argument.imag.hex()]}
    raise NotRecorded(f"an argument of type {type(argument).__name__}")


def argument_from(record: Any) -> Argument:
    """The argument that a record stands for."""
    if isinstance(record, list):
        return tuple(map(argument_from, record))
    if not isinstance(record, dict):
        return record
    if "value" in record:
        return Value(record["value"], type_from(record["type"]))
    if "size" in record:
        return parse_size(record["size"])
    if "dtype" in record:
        return dtypes.from_short(record["dtype"])
    if "complex" in record:
        return complex(*map(float.fromhex, record["complex"]))
    return float.fromhex(record["float"])


def size_record(size: Size | None) -> Any:
    """A size as an int or its text."""
    return size if size is None or isinstance(size, int) else str(size)


def size_from(record: Any) -> Any:
    """The size that a record stands for."""
    return parse_size(record) if isinstance(record, str) else record


def type_record(type: Type) -> list:
    """A type as a list; a scalar's is shorter."""
    if isinstance(type, ScalarType):
        return [type.kind, size_record(type.size)]
    return [type.dtype.short, [size_record(size) for size in type.shape], str(type.device)]


def type_from(record: list) -> Type:
    """The type that a record stands for."""
    if len(record) == 2:
        return ScalarType(record[0], size_from(record[1]))
    short, shape, where = record
    return TensorType(dtypes.from_short(short), tuple(map(size_from, shape)), device(where))


def node_record(node: Node) -> Record:
    """One node of a functional graph."""
    return {
        "op": node.op,
        "args": argument_record(node.args),
        "results": argument_record(node.results),
        "origin": origin_record(node.origin),
    }


def node_from(record: Record, spans: Spans) -> Node:
    """The node that a record stands for."""
    args, results = argument_from(record["args"]), argument_from(record["results"])
    assert isinstance(args, tuple)
    lookup(record["op"])  # there must be such an op still
    return Node(record["op"], args, tuple(values_in(results)), True,
                origin_from(record["origin"], spans))  # fmt: skip


# Whole programs.


class StoredFunctional:
    """A Functional whose graph is still text; `graph` reads it."""

    __slots__ = ("record", "name", "output_count", "outputs", "writes", "random_count",
                 "reaches", "frees", "lost", "_spans", "_graph")  # fmt: skip

    def __init__(self, record: Record, spans: Spans):
        self.record, self._spans = record, spans
        self.name: str = record["name"]
        self.output_count: int = record["output_count"]
        self.outputs = tuple(_plan_from(each) for each in record["outputs"])
        self.writes = tuple((position, index) for position, index in record["writes"])
        self.random_count = size_from(record["random_count"])
        self.reaches = tuple(map(frozenset, record["reaches"]))
        self.frees = tuple(map(frozenset, record["frees"]))
        self.lost = tuple(None if each is None else tuple(each) for each in record["lost"])
        self._graph: Graph | None = None

    @property
    def graph(self) -> Graph:
        """The functional graph, with the user's lines."""
        if self._graph is None:
            graph = _parsed(self.record["graph"])
            pairs = zip(graph.nodes, self.record["origins"], strict=True)
            nodes = tuple(replace(n, origin=origin_from(o, self._spans)) for n, o in pairs)
            self._graph = replace(graph, nodes=nodes)
        return self._graph


class StoredPartition:
    """A Partition whose two graphs were compiled before; the backward is text until somebody needs
    a part of it."""

    __slots__ = ("saved", "saved_inputs", "sizes", "text")

    def __init__(self, record: Record):
        self.text = record["backward"]
        values = argument_from(record["saved"])
        self.saved = tuple(values_in(values))
        self.saved_inputs = tuple(record["saved_inputs"])
        self.sizes = tuple(record["sizes"])

    @property
    def backward(self) -> Graph:
        """The backward graph, without the user's lines."""
        return _parsed(self.text)


def program_record(program: CompiledProgram) -> Record:
    """Everything of a program but its executables. Raises NotRecorded."""
    functional, partition = program.functional, program.partition
    assert isinstance(functional, Functional)
    return {
        "functional": _functional_record(functional),
        "partition": None if partition is None else {
            "saved": argument_record(partition.saved),
            "saved_inputs": list(partition.saved_inputs),
            "sizes": list(partition.sizes),
            "backward": str(partition.backward),
        },
        "tangent_outputs": list(program.tangent_outputs),
        "gradient_inputs": list(program.gradient_inputs),
    }  # fmt: skip


def loaded_program(
    record: Record,
    forward: Executable,
    backward: Executable | None,
    spans: Spans,
    executor: Callable[[Graph], Executable] | None = None,
) -> CompiledProgram:
    """The program that a record stands for, over executables that were loaded elsewhere."""
    partition = record["partition"]
    return CompiledProgram(
        StoredFunctional(record["functional"], spans),
        forward,
        None if partition is None else StoredPartition(partition),
        backward,
        tuple(record["tangent_outputs"]),
        tuple(record["gradient_inputs"]),
        executor,
    )


def _functional_record(functional: Functional) -> Record:
    graph = functional.graph
    for node in graph.nodes:
        argument_record(node.args)  # what has no plain form may not have a faithful text either
    return {
        "name": graph.name,
        "graph": str(graph),
        "origins": [origin_record(node.origin) for node in graph.nodes],
        "output_count": len(graph.outputs),
        "outputs": [_plan_record(plan) for plan in functional.outputs],
        "writes": [list(pair) for pair in functional.writes],
        "random_count": size_record(functional.random_count),
        "reaches": [sorted(inputs) for inputs in functional.reaches],
        "frees": [sorted(steps) for steps in functional.frees],
        "lost": [None if each is None else list(each) for each in functional.lost],
    }


def _parsed(text: str) -> Graph:
    from minitorch2.jit.ir.parser import parse_graph  # most programs never look at their graphs

    return parse_graph(text)


def _plan_record(plan: OutputPlan) -> Record:
    return {
        "index": plan.index,
        "differentiable": plan.differentiable,
        "alias": plan.alias,
        "steps": [[_op_name(op), argument_record(arguments)] for op, arguments in plan.steps],
        "constant": argument_record(plan.constant),
        "freed": plan.freed,
    }


def _plan_from(record: Record) -> OutputPlan:
    steps = tuple((lookup(op), argument_from(arguments)) for op, arguments in record["steps"])
    constant = argument_from(record["constant"])
    return OutputPlan(record["index"], record["differentiable"], record["alias"], steps, constant,
                      record["freed"])  # fmt: skip


def _op_name(op: Any) -> str:
    if not isinstance(op, Op):
        raise NotRecorded(f"a view step of type {type(op).__name__}")
    return op.name
