"""Checks that a graph keeps the rules of the IR.

In: a Graph. Out: nothing, or a VerificationError that names the value or node, what it declares,
what is right, and shows the lines around it. Checked are: every value is defined once and before
its uses; every node has an Origin; its op exists and gets one argument for each parameter; its
results have the types that the row infers; every symbol comes from an input; outputs and writes
fit the inputs; graphs among the arguments keep the rules too.

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> verify(parse_graph("graph f(%x: f32[4]) { %0: f32[4] = exp(%x) return %0 }"))

A node that calls an op with operands its row refuses fails with the row's own message.

Source: JAX's check_jaxpr and MLIR's verifier.
"""

import re
from dataclasses import dataclass, field
from typing import NoReturn

from minitorch2.dtypes import dtype
from minitorch2.errors import Mt2Error, VerificationError
from minitorch2.jit.ir.examples import environment_of
from minitorch2.jit.ir.graph import (
    Argument,
    Graph,
    Node,
    Output,
    Value,
    abstract,
    graphs_in,
    values_in,
)
from minitorch2.jit.ir.inference import infer_types
from minitorch2.jit.ir.printer import argument_text
from minitorch2.jit.ir.types import ScalarType, TensorType, Type
from minitorch2.jit.shapes.environment import ShapeEnvironment
from minitorch2.jit.shapes.size_expression import SizeExpression, size_symbols
from minitorch2.ops.signature import Parameter
from minitorch2.ops.table import COMPOSITE, INPLACE, Op, lookup

NAME = re.compile(r"[A-Za-z_][\w.]*")
NUMBER = re.compile(r"\d+")
CONTEXT = 5  # lines shown before and after the wrong one


def verify(graph: Graph, environment: ShapeEnvironment | None = None) -> None:
    """Raise VerificationError unless the graph keeps the rules.

    `environment` answers what the rows ask about symbolic sizes; by default sizes are made up that
    satisfy the graph's own assumptions.
    """
    environment = environment or environment_of(graph)
    _Check(graph, environment).run(frozenset())


def is_functional(graph: Graph) -> bool:
    """Whether no node writes into a tensor, nor any in the graphs among the arguments."""
    rows = [lookup(node.op) for node in graph.nodes]
    writes = any(row.kind == INPLACE or "writes" in row.effects for row in rows)
    return not writes and all(map(is_functional, graphs_in(graph)))


def has_only_primitives(graph: Graph) -> bool:
    """Whether no node is an op that is defined by other ops, here or in a graph inside; those with
    a derivative of their own count as primitives until the pass `decompose`."""
    rows = [lookup(node.op) for node in graph.nodes]
    composite = any(row.kind == COMPOSITE and not row.slope for row in rows)
    return not composite and all(map(has_only_primitives, graphs_in(graph)))


@dataclass(slots=True)
class _Check:
    """One walk over one graph; `shown` are its printed lines, where messages point."""

    graph: Graph
    environment: ShapeEnvironment
    values: dict[str, Value] = field(default_factory=dict)
    symbols: set[str] = field(default_factory=set)

    def run(self, outer_symbols: frozenset[str]) -> None:
        """Check the whole graph; symbols of the graphs around it are known."""
        graph = self.graph
        self.symbols |= outer_symbols
        if NAME.fullmatch(graph.name) is None:
            self.fail(None, f"the graph's name {graph.name!r} is no name", "use letters and digits")
        for input in graph.inputs:
            if NAME.fullmatch(input.value.id) is None:
                self.fail(None, f"the input {input.value} has no name", "use letters and digits")
            self.define(input.value, None)
            self.symbols.update(input.value.type.symbols())
            if input.strides is not None:
                self.strides(input.strides, input.value.type, f"the input {input.value}")
        for condition in graph.assumptions:
            self.known_symbols(condition.symbols(), None, f"the assumption {condition}")
        for node in graph.nodes:
            self.node(node)
        for output in graph.outputs:
            self.output(output)
        self.writes()

    def define(self, value: Value, node: Node | None) -> None:
        if value.id in self.values:
            self.fail(node, f"the value {value} is defined twice", "give it another number")
        self.values[value.id] = value

    def use(self, value: Value, node: Node | None) -> None:
        """A value is used: it was defined here, with this type."""
        defined = self.values.get(value.id)
        if defined is None:
            self.fail(
                node,
                f"the value {value} is used before it is defined, or in another graph",
                "a node comes after what it uses; a graph argument gets values as its inputs",
            )
        if defined != value:
            self.fail(
                node,
                f"{value} is defined as {defined.type} and used as {value.type}",
                "replace a value in all its uses when its type changes",
            )

    def node(self, node: Node) -> None:
        """A call fits its row, and declares what the row infers."""
        op = self.op(node)
        if node.origin is None:
            self.fail(node, "the node has no Origin", "pass `origin`, or use Origin.union")
        for value in values_in(node.args):
            self.use(value, node)
        self.argument(node.args, node)
        for parameter, argument in zip(op.signature.parameters, node.args, strict=True):
            if not _fits(parameter, argument):
                shown = argument_text(argument)
                optional = "?" if parameter.optional else ""
                wrong = f"{shown} is given for `{parameter.type}{optional} {parameter.name}`"
                self.fail(node, wrong, f"the signature is {op.signature.text}")
        inferred = self.infer(op, node)
        declared = tuple(result.type for result in node.results)
        if len(declared) != len(inferred):
            wrong = f"it has {len(declared)} results, infer says {len(inferred)}"
            self.fail(node, wrong, "declare every result")
        for result, type in zip(node.results, inferred, strict=True):
            if not _agree(result.type, type):
                self.fail(
                    node,
                    f"{result} declares {result.type}, infer says {type}",
                    "take result types from GraphBuilder.add instead of writing them",
                )
            self.known_symbols(result.type.symbols(), node, str(result))
            self.define(result, node)

    def infer(self, op: Op, node: Node) -> tuple[Type, ...]:
        """The result types that the row gives."""
        try:
            return infer_types(op, tuple(map(abstract, node.args)), self.environment)
        except VerificationError:
            raise
        except Mt2Error as error:
            self.fail(node, f"its row refuses the operands: {error.wrong}", error.fix)
        except Exception as error:  # a row fed with nonsense may raise anything: say where
            self.fail(node, f"its row fails on the operands: {error!r}", "see the row's `infer`")

    def op(self, node: Node) -> Op:
        """The row, with as many parameters as there are arguments."""
        try:
            op = lookup(node.op)
        except KeyError as error:
            self.fail(node, str(error.args[0]), "see `mt2 ops` for the ops there are")
        expected = len(op.signature.parameters)
        if len(node.args) != expected:
            self.fail(
                node,
                f"{op.name} has {expected} parameters, the node {len(node.args)} arguments",
                "fill in defaults with `complete_arguments`",
            )
        return op

    def argument(self, argument: Argument, node: Node) -> None:
        """An argument is of a kind that graphs hold; graphs inside are checked, too."""
        match argument:
            case tuple():
                for item in argument:
                    self.argument(item, node)
            case Graph():
                _Check(argument, self.environment).run(frozenset(self.symbols))
            case SizeExpression():
                self.known_symbols(argument.symbols(), node, f"the size {argument}")
            case Value() | int() | float() | complex() | None | str() | dtype():
                return
            case _:
                kind = type(argument).__name__
                self.fail(node, f"an argument is a {kind}: {argument!r}", "see graph.Argument")

    def output(self, output: Output) -> None:
        """An output is defined, its alias and strides are possible."""
        for value in values_in(output.argument):
            self.use(value, None)
        if output.alias is not None:
            index, offset = output.alias
            if not 0 <= index < len(self.graph.inputs):
                self.fail(None, f"an output is a view of input {index}", "there is no such input")
            self.known_symbols(size_symbols(offset), None, "an output's offset")
        if output.strides is not None:
            if not isinstance(output.argument, Value):
                self.fail(None, "a constant output has strides", "only tensors have")
            self.strides(output.strides, output.argument.type, f"the output {output.argument}")

    def strides(self, strides: tuple, type: Type, what: str) -> None:
        if not isinstance(type, TensorType) or len(strides) != type.ndim:
            self.fail(None, f"{what} of type {type} has {len(strides)} strides", "one a dimension")
        for stride in strides:
            self.known_symbols(size_symbols(stride), None, what)

    def writes(self) -> None:
        """Each written input exists, is written once, and gets a value of its type."""
        written: set[int] = set()
        for index, value in self.graph.writes:
            self.use(value, None)
            if not 0 <= index < len(self.graph.inputs) or index in written:
                self.fail(None, f"input {index} is not there or written twice", "write it once")
            written.add(index)
            target = self.graph.inputs[index].value
            if target.type != value.type:
                wrong = f"{value} of type {value.type} is written into {target}: {target.type}"
                self.fail(None, wrong, "convert and expand the value first")

    def known_symbols(self, names: tuple[str, ...], node: Node | None, what: str) -> None:
        for name in names:
            if name not in self.symbols:
                self.fail(node, f"{what} mentions {name}, which no input has", "add an input of it")

    def fail(self, node: Node | None, wrong: str, fix: str) -> NoReturn:
        where = "the whole" if node is None else f"`{str(node).splitlines()[0]}`"
        asked = f"{where} in graph {self.graph.name}"
        raise VerificationError(asked, f"{wrong}\n{self._context(node)}", fix)

    def _context(self, node: Node | None) -> str:
        """The printed lines around a node, the node's own marked."""
        lines = str(self.graph).splitlines()
        at = 0
        if node is not None:
            before = [str(each).count("\n") + 1 for each in self.graph.nodes]
            position = next(i for i, each in enumerate(self.graph.nodes) if each is node)
            at = 1 + bool(self.graph.assumptions) + sum(before[:position])
        first, last = max(at - CONTEXT, 0), at + CONTEXT + 1
        return "\n".join(
            f"  {'>' if node is not None and first + number == at else ' '} {line}"
            for number, line in enumerate(lines[first:last])
        )


def _fits(parameter: Parameter, argument: Argument) -> bool:
    """Whether an argument is of the kind that the parameter takes."""
    if argument is None:
        return parameter.optional or parameter.type == "any"
    type = argument.type if isinstance(argument, Value) else None
    literal = isinstance(argument, int | float | complex | SizeExpression)
    number = literal or isinstance(type, ScalarType)
    match parameter.type:
        case "Tensor":
            return isinstance(type, TensorType)
        case "Operand":
            return number or isinstance(type, TensorType)
        case "Scalar" | "float":
            return number
        case "int" | "bool":
            return number and not isinstance(argument, float | complex)
        case "str" | "device":
            return isinstance(argument, str)
        case "dtype":
            return isinstance(argument, dtype)
        case "Tensor[]":
            return isinstance(argument, tuple) and all(
                item is None or (isinstance(item, Value) and isinstance(item.type, TensorType))
                for item in argument
            )
        case "int[]" | "int[...]":
            return isinstance(argument, tuple) and all(map(_is_int, argument))
    return True


def _is_int(argument: Argument) -> bool:
    """Whether it is an integer, a size, or a value that is one."""
    if isinstance(argument, Value):
        return isinstance(argument.type, ScalarType) and argument.type.kind == "int"
    return isinstance(argument, int | SizeExpression)


def _agree(declared: Type, inferred: Type) -> bool:
    """Whether a declared type is the inferred one; a scalar may add the size that it is."""
    if isinstance(declared, TensorType) or isinstance(inferred, TensorType):
        return declared == inferred
    return declared.kind == inferred.kind
