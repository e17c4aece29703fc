"""The graph IR: immutable, typed, in static single assignment form.

The grammar, whole (text in quotes stands for itself, [x] is optional, {x} may be repeated):

    graph    = "graph" name "(" [input {"," input}] ")" "{" [where] {node} return [writes] "}"
    input    = value ":" type [strides]
    where    = "where" condition {"," condition}            e.g.  where s0>=2, s0%8==0
    node     = [result {"," result} "="] op "(" [argument {"," argument}] ")" ["no_grad"]
    result   = value ":" type
    return   = "return" [output {"," output}]
    output   = argument [":" [alias] [strides]]
    writes   = "writes" "(" value "<-" value {"," value "<-" value} ")"
    argument = [parameter "="] (value | literal | dtype | size | tuple | graph)
    literal  = integer | float | "inf" | "nan" | "True" | "False" | "None" | string
             | "complex" "(" float "," float ")"
    tuple    = "(" [argument "," [argument {"," argument}]] ")"
    strides  = "strides" "(" [size {"," size}] ")"
    alias    = "alias" "(" value "," size ")"                the input's memory, from an offset
    type     = dtype "[" [size {"," size}] "]" ["@" device] | kind ["(" size ")"]
    dtype    = "c128" | "c64" | "f64" | "f32" | "f16" | "bf16" | "i64" | "i32" | "i16" | "i8" | "u8"
             | "bool"
    kind     = "int" | "float" | "bool"
    size     = integer expression over s0, s1, ... with + - * // % max min
    value    = "%" name | "%" number;  "#" starts a comment

What it means:

- A node calls the op of that name; one argument for each parameter of its row, in order (the text
  leaves defaults out). Its results have the types that the row infers. A graph among the arguments
  sees only its own inputs, but the symbols of the graph around it.
- Symbols get their values from the inputs' shapes. The conditions after `where` hold for them.
- A captured graph holds ops as the user called them, composite and in-place ones too. A functional
  graph holds primitives only, none of which writes, and composites that have a derivative of their
  own, such as softmax (until jit/passes/decompose.py); what the program wrote into its inputs
  stands in `writes`, and is written after everything was computed.
- An output with `strides` owns its memory. One with `alias` is a view of an input's memory, as
  that is after the writes. One with neither is the value as computed, before the writes; it may
  share memory with an input that is not written.
- A node with `no_grad` was called where gradients were off.

    >>> from minitorch2 import dtypes
    >>> from minitorch2.jit.ir.types import TensorType
    >>> builder = GraphBuilder("f")
    >>> x = builder.input("x", TensorType(dtypes.float32, (2, 3)))
    >>> (y,) = builder.add("exp", (x,))
    >>> builder.output(y)
    >>> print(builder.build())
    graph f(%x: f32[2,3]) {
      %0: f32[2,3] = exp(%x)
      return %0
    }

An Origin is no part of a node's value: two graphs that compute the same are equal.

Source: MLIR's language reference and jaxprs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from minitorch2.artifacts import Origin
from minitorch2.devices import device
from minitorch2.dispatch import current_origin
from minitorch2.dtypes import dtype
from minitorch2.errors import ArgumentTypeError
from minitorch2.jit.ir.inference import infer_types
from minitorch2.jit.ir.printer import node_text, print_graph
from minitorch2.jit.ir.types import TensorType, Type
from minitorch2.jit.shapes.conditions import SizeCondition
from minitorch2.jit.shapes.environment import ShapeEnvironment
from minitorch2.jit.shapes.size_expression import Size, SizeExpression
from minitorch2.jit.shapes.symbolic_size import SymbolicSize, as_size
from minitorch2.ops.signature import REQUIRED
from minitorch2.ops.table import Op, lookup


@dataclass(frozen=True, slots=True)
class Value:
    """A named value: an input's name, or the number of a node's result as a string."""

    id: str
    type: Type

    def __hash__(self) -> int:
        return hash(self.id)  # of a string: kept in it

    def __str__(self) -> str:
        return f"%{self.id}"


@dataclass(frozen=True, slots=True)
class Input:
    """An input and, for a tensor whose layout matters, its strides in elements."""

    value: Value
    strides: tuple[Size, ...] | None = None

    @property
    def name(self) -> str:
        """The input's name."""
        return self.value.id


@dataclass(frozen=True, slots=True, eq=False)
class Output:
    """What the graph returns in one place: a value or constant, and its layout.

    `alias` is (index of the input whose memory it is, offset in elements).
    """

    argument: Argument
    strides: tuple[Size, ...] | None = None
    alias: tuple[int, Size] | None = None

    def key(self) -> Hashable:
        """What equality compares."""
        return literal_key(self.argument), self.strides, self.alias

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Output) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One call. Equality leaves the origin out and tells 1, 1.0 and True apart."""

    op: str
    args: tuple[Argument, ...]
    results: tuple[Value, ...]
    grad: bool = True
    origin: Origin | None = None

    def key(self) -> Hashable:
        """What equality compares."""
        return self.op, literal_key(self.args), self.results, self.grad

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    def __str__(self) -> str:
        return node_text(self)


@dataclass(frozen=True, slots=True)
class Graph:
    """A function of its inputs. `writes` are (index of the input, value written into it)."""

    name: str
    inputs: tuple[Input, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Output, ...]
    writes: tuple[tuple[int, Value], ...] = ()
    assumptions: tuple[SizeCondition, ...] = ()

    def __str__(self) -> str:
        return print_graph(self)


Argument: TypeAlias = (
    Value
    | int
    | float
    | complex
    | bool
    | None
    | str
    | dtype
    | SizeExpression
    | tuple["Argument", ...]
    | Graph
)


class GraphBuilder:
    """Builds a graph from its first input to its outputs; types come from the op rows.

    `environment` answers questions about symbolic sizes and collects guards; without one, sizes
    are taken to be large and without common factors.
    """

    def __init__(self, name: str, environment: ShapeEnvironment | None = None):
        self.name = name
        self.environment = environment or ShapeEnvironment.generic()
        self.inputs: list[Input] = []
        self.nodes: list[Node] = []
        self.outputs: list[Output] = []
        self.writes: list[tuple[int, Value]] = []
        self.assumptions: list[SizeCondition] = []
        self._next = 0

    def input(self, name: str, type: Type, strides: tuple | None = None) -> Value:
        """Declare the next input."""
        value = Value(name, type)
        self.inputs.append(Input(value, _sizes(strides)))
        return value

    def add(
        self, op: str, args: tuple, origin: Origin | None = None, grad: bool = True
    ) -> tuple[Value, ...]:
        """Append a call and return its results; missing trailing arguments get their defaults.

        Without `origin` the node gets the one in force (`dispatch.origin_scope`).
        """
        row = lookup(op)
        complete = complete_arguments(row, args)
        operands = tuple(map(abstract, complete))
        results = tuple(map(self.value, infer_types(row, operands, self.environment)))
        self.nodes.append(Node(op, complete, results, grad, origin or current_origin()))
        return results

    def value(self, type: Type) -> Value:
        """A fresh value that nothing computes yet."""
        self._next += 1
        return Value(f"{self._next - 1}", type)

    def output(
        self,
        argument: Argument,
        strides: tuple | None = None,
        alias: tuple[int, Any] | None = None,
    ) -> None:
        """Declare the next output."""
        plain = None if alias is None else (alias[0], as_size(alias[1]))
        self.outputs.append(Output(plain_argument(argument), _sizes(strides), plain))

    def write(self, input_index: int, value: Value) -> None:
        """At the end, `value` is written into an input."""
        self.writes.append((input_index, value))

    def build(self) -> Graph:
        """The graph, its values numbered in order."""
        return renumbered(
            Graph(
                self.name,
                tuple(self.inputs),
                tuple(self.nodes),
                tuple(self.outputs),
                tuple(self.writes),
                tuple(self.assumptions),
            )
        )


def complete_arguments(op: Op, args: tuple, named: Mapping[str, Any] | None = None) -> tuple:
    """One plain argument for each parameter of the op; ArgumentTypeError when that cannot be."""
    named = dict(named or {})
    parameters = op.signature.parameters
    complete = []
    for index, parameter in enumerate(parameters):
        given = parameter.default
        if index < len(args):
            given = args[index]
        elif parameter.name in named:
            given = named.pop(parameter.name)
        if given is REQUIRED:
            raise ArgumentTypeError(op.signature.text, f"argument '{parameter.name}' is missing")
        if parameter.type == "int[]" and isinstance(given, int | SizeExpression | SymbolicSize):
            given = (given,)
        complete.append(plain_argument(given))
    if len(args) > len(parameters) or named:
        extra = ", ".join(named) or f"{len(args) - len(parameters)} more than it has parameters"
        raise ArgumentTypeError(op.signature.text, f"unexpected arguments: {extra}")
    return tuple(complete)


def plain_argument(argument: Any) -> Argument:
    """An argument as immutable data: lists become tuples, devices strings, sizes expressions."""
    match argument:
        case list() | tuple():
            return tuple(map(plain_argument, argument))
        case SymbolicSize():
            return as_size(argument)
        case device():
            return str(argument)
    return argument


def abstract(argument: Argument) -> Any:
    """An argument as inference sees it: a value by its type, a graph as a function of types."""
    match argument:
        case Value():
            return argument.type
        case tuple():
            return tuple(map(abstract, argument))
        case Graph():
            return output_types(argument)
    return argument


def output_types(graph: Graph) -> Callable[..., tuple]:
    """The graph as a function of operand types that returns the types of its outputs.

    ArgumentTypeError when the operands are not what the graph's inputs declare.
    """

    def function(*operands: Any) -> tuple:
        declared = [input.value.type for input in graph.inputs]
        given = [_plain_type(operand) for operand in operands]
        if declared != given:
            shown = [", ".join(map(str, types)) for types in (declared, given)]
            raise ArgumentTypeError(
                f"call graph {graph.name}", f"it takes ({shown[0]}), given are ({shown[1]})"
            )
        return tuple(abstract(output.argument) for output in graph.outputs)

    return function


def _plain_type(operand: Any) -> Any:
    """A type without SymbolicSizes."""
    if not isinstance(operand, TensorType):
        return operand
    shape: Any = operand.shape
    return replace(operand, shape=tuple(map(as_size, shape)))


def literal_key(argument: Argument) -> Hashable:
    """Equal for equal literals only: 1, 1.0 and True differ, so do 0.0 and -0.0; nan is nan."""
    match argument:
        case bool() | int() | float() | complex():
            return type(argument).__name__, repr(argument)
        case tuple():
            return tuple(map(literal_key, argument))
    return argument


def values_in(argument: Argument) -> Iterator[Value]:
    """The values an argument mentions; those inside a graph argument are its own affair."""
    match argument:
        case Value():
            yield argument
        case tuple():
            for item in argument:
                yield from values_in(item)


def map_values(argument: Argument, function: Callable[[Value], Argument]) -> Argument:
    """The argument with each value replaced by what `function` returns for it."""
    match argument:
        case Value():
            return function(argument)
        case tuple():
            return tuple(map_values(item, function) for item in argument)
    return argument


def renamed_args(
    args: tuple[Argument, ...], names: Mapping[Value, Argument]
) -> tuple[Argument, ...]:
    """A node's arguments with the values in `names` replaced; the very tuple where that is none."""
    if not names:
        return args
    found = tuple([_renamed(item, names) for item in args])
    return args if all(map(operator.is_, found, args)) else found


def _renamed(argument: Argument, names: Mapping[Value, Argument]) -> Argument:
    kind = type(argument)
    if kind is Value:
        return names.get(argument, argument)  # type: ignore[arg-type]
    if kind is tuple:
        return renamed_args(argument, names)  # type: ignore[arg-type]
    return argument


def map_graphs(
    args: tuple[Argument, ...], function: Callable[[Graph], Graph]
) -> tuple[Argument, ...]:
    """A node's arguments with each graph in them replaced by what `function` returns for it."""
    return tuple(_map_graph(item, function) for item in args)


def _map_graph(argument: Argument, function: Callable[[Graph], Graph]) -> Argument:
    match argument:
        case Graph():
            return function(argument)
        case tuple():
            return map_graphs(argument, function)
    return argument


def graphs_in(graph: Graph) -> Iterator[Graph]:
    """The graphs among the arguments of a graph's nodes."""
    for node in graph.nodes:
        yield from node_graphs(node)


def node_graphs(node: Node) -> list[Graph]:
    """The graphs among a node's arguments."""
    found: list[Graph] = []
    _collect_graphs(node.args, found)
    return found


def _collect_graphs(arguments: tuple[Argument, ...], found: list[Graph]) -> None:
    for each in arguments:
        kind = type(each)
        if kind is Graph:
            found.append(each)  # type: ignore[arg-type]
        elif kind is tuple:
            _collect_graphs(each, found)  # type: ignore[arg-type]


def used_values(graph: Graph) -> Iterator[Value]:
    """Every use of a value in the graph, outputs and writes among them."""
    for node in graph.nodes:
        yield from values_in(node.args)
    for output in graph.outputs:
        yield from values_in(output.argument)
    for _, value in graph.writes:
        yield value


def renumbered(graph: Graph) -> Graph:
    """The graph with results numbered 0, 1, ... in order, in graph arguments too."""
    if _is_numbered(graph):
        return graph
    names: dict[Value, Argument] = {}
    nodes = []
    for node in graph.nodes:
        results = []
        for result in node.results:
            results.append(Value(f"{len(names)}", result.type))
            names[result] = results[-1]
        args = renamed_args(node.args, names)
        if node_graphs(node):
            args = map_graphs(args, renumbered)
        nodes.append(Node(node.op, args, tuple(results), node.grad, node.origin))
    return with_nodes(graph, tuple(nodes), names)


def _is_numbered(graph: Graph) -> bool:
    """Whether `renumbered` would change nothing."""
    count = 0
    for node in graph.nodes:
        for result in node.results:
            if result.id != str(count):
                return False
            count += 1
        if not all(map(_is_numbered, node_graphs(node))):
            return False
    return True


def with_nodes(graph: Graph, nodes: tuple[Node, ...], names: Mapping[Value, Argument]) -> Graph:
    """The graph with other nodes, its outputs and writes renamed by `names`."""
    outputs = tuple(
        replace(output, argument=map_values(output.argument, lambda v: names.get(v, v)))
        for output in graph.outputs
    )
    writes = tuple((index, _renamed_value(value, names)) for index, value in graph.writes)
    return replace(graph, nodes=nodes, outputs=outputs, writes=writes)


def _renamed_value(value: Value, names: Mapping[Value, Argument]) -> Value:
    renamed = names.get(value, value)
    assert isinstance(renamed, Value)
    return renamed


def _sizes(sizes: tuple | None) -> tuple[Size, ...] | None:
    return None if sizes is None else tuple(map(as_size, sizes))
