"""Reads graphs back from their text.

In: text in the grammar at the top of `graph.py`. Out: a Graph, its values numbered as in the text,
each node with the Origin `<text>:line`. Whatever the grammar does not allow is a ParseError that
names the line; types are taken as written, `verify` compares them with the rows.

    >>> graph = parse_graph("graph f(%x: f32[s0,4] strides(1,s0)) { return %x: alias(%x, 0) }")
    >>> print(graph.inputs[0].value.type, graph.outputs[0].alias)
    f32[s0,4] (0, 0)

Source: recursive descent, as in A. Aho et al., "Compilers: Principles, Techniques, and Tools".
"""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from minitorch2 import dtypes
from minitorch2.artifacts import Origin, Span
from minitorch2.devices import device
from minitorch2.errors import ArgumentTypeError, DeviceError, ParseError
from minitorch2.jit.ir.graph import (
    Argument,
    Graph,
    Input,
    Node,
    Output,
    Value,
    complete_arguments,
)
from minitorch2.jit.ir.types import SCALAR_KINDS, ScalarType, TensorType, Type
from minitorch2.jit.shapes.conditions import SizeCondition
from minitorch2.jit.shapes.parser import parse_condition, parse_size
from minitorch2.jit.shapes.size_expression import Size
from minitorch2.ops.table import Op, lookup

# A `%` right behind an operand is the operator of sizes (`s0%4`), any other starts a value.
_TOKENS = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
    |(?P<value>(?<![\w)])%(?:[A-Za-z_][\w.]*|\d+))
    |(?P<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
    |(?P<number>(?:\d+\.?\d*(?:[eE][+-]?\d+)?))
    |(?P<word>[A-Za-z_][\w.]*)
    |(?P<sign><-|<=|>=|==|!=|//|[-+*%<>=(){}\[\],:@])""",
    re.VERBOSE,
)
_FLOAT = re.compile(r"-?(inf|nan|\d+\.\d*([eE][+-]?\d+)?|\d+[eE][+-]?\d+)")
_DTYPES = {each.short: each for each in dtypes.EVERY}
_LITERALS: dict[str, Argument] = {"True": True, "False": False, "None": None}
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text: what kind, its characters, where it starts."""

    kind: str
    text: str
    start: int


def parse_graph(text: str) -> Graph:
    """The graph a text stands for. Raises ParseError."""
    parser = _Parser(text)
    graph = parser.graph()
    if parser.token.kind != "end":
        parser.fail("the text goes on after the graph's closing brace")
    return graph


def parse_graphs(text: str) -> list[Graph]:
    """The graphs of a text that holds one behind the other, at least one. Raises ParseError."""
    parser = _Parser(text)
    graphs = [parser.graph()]
    while parser.token.kind != "end":
        graphs.append(parser.graph())
    return graphs


class _Parser:
    """Walks the tokens; each method reads one thing of the grammar and stands behind it."""

    def __init__(self, text: str):
        self.text = text
        self.tokens = self._tokenize()
        self.at = 0

    # Graphs and what stands between their braces.

    def graph(self) -> Graph:
        """A whole graph, the word `graph` first."""
        self.expect("graph")
        name = self.take("word").text
        values: dict[str, Value] = {}
        self.expect("(")
        inputs = self.separated(lambda: self.input(values), ")")
        self.expect("{")
        assumptions = self.where() if self.accept("where") else ()
        nodes = []
        while self.token.text != "return":
            nodes.append(self.node(values))
        self.expect("return")
        named = {input.name: index for index, input in enumerate(inputs)}
        outputs: list[Output] = []
        while self.token.text not in ("writes", "}"):
            outputs.append(self.output(values, named))
            if not self.accept(","):
                break
        writes = self.writes(values, named) if self.accept("writes") else ()
        self.expect("}")
        return Graph(
            name, tuple(inputs), tuple(nodes), tuple(outputs), tuple(writes), tuple(assumptions)
        )

    def input(self, values: dict[str, Value]) -> Input:
        value = self.definition(values)
        return Input(value, self.strides() if self.token.text == "strides" else None)

    def definition(self, values: dict[str, Value]) -> Value:
        token = self.take("value")
        self.expect(":")
        value = Value(token.text[1:], self.type())
        if value.id in values:
            self.fail(f"the value {token.text} is defined twice", token)
        values[value.id] = value
        return value

    def where(self) -> list[SizeCondition]:
        conditions = []
        while True:
            conditions.append(self.condition())
            if not self.accept(","):
                return conditions

    def condition(self) -> SizeCondition:
        """One assumption about sizes."""
        token = self.token
        try:
            condition = parse_condition(self.raw(stop_at_line_end=True))
        except ParseError as error:
            self.fail(error.wrong, token)
        if isinstance(condition, bool):
            self.fail("a condition without symbols says nothing", token)
        return condition

    def node(self, values: dict[str, Value]) -> Node:
        """One call with its results."""
        line = self.line(self.token)
        pending: dict[str, Value] = {}
        results: list[Value] = []
        if self.token.kind == "value":
            results.append(self.definition(pending))
            while self.accept(","):
                results.append(self.definition(pending))
            self.expect("=")
        op = self.op()
        args = self.call_arguments(op, values)
        grad = not self.accept("no_grad")
        for result in results:
            if result.id in values:
                self.fail(f"the value {result} is defined twice")
            values[result.id] = result
        origin = Origin((Span("<text>", line, line),))
        return Node(op.name, args, tuple(results), grad, origin)

    def op(self) -> Op:
        token = self.take("word")
        try:
            return lookup(token.text)
        except KeyError as error:
            self.fail(str(error.args[0]), token)

    def call_arguments(self, op: Op, values: dict[str, Value]) -> tuple[Argument, ...]:
        """The arguments in parentheses, completed with the defaults of the signature."""
        opening = self.token
        positional: list[Argument] = []
        named: dict[str, Argument] = {}

        def one() -> None:
            if self.token.kind == "word" and self.ahead(1).text == "=":
                name = self.take("word").text
                self.expect("=")
                named[name] = self.argument(values)
            elif named:
                self.fail("an argument without a name follows one with a name")
            else:
                positional.append(self.argument(values))

        self.expect("(")
        self.separated(one, ")")
        try:
            return complete_arguments(op, tuple(positional), named)
        except ArgumentTypeError as error:
            self.fail(error.wrong, opening)

    def output(self, values: dict[str, Value], inputs: dict[str, int]) -> Output:
        """A value or literal, and how its memory lies."""
        argument = self.argument(values)
        alias = strides = None
        if self.accept(":"):
            if self.accept("alias"):
                self.expect("(")
                index = self.input_index(inputs)
                self.expect(",")
                alias = (index, self.size())
                self.expect(")")
            if self.token.text == "strides":
                strides = self.strides()
        return Output(argument, strides, alias)

    def writes(self, values: dict[str, Value], inputs: dict[str, int]) -> list[tuple[int, Value]]:
        def one() -> tuple[int, Value]:
            index = self.input_index(inputs)
            self.expect("<-")
            return index, self.value(values)

        self.expect("(")
        return self.separated(one, ")")

    def input_index(self, inputs: dict[str, int]) -> int:
        token = self.take("value")
        if token.text[1:] not in inputs:
            self.fail(f"{token.text} is not an input of this graph", token)
        return inputs[token.text[1:]]

    # Arguments and types.

    def argument(self, values: dict[str, Value]) -> Argument:
        """One argument: a value, literal, dtype, size, tuple or graph."""
        token = self.token
        if token.kind == "value":
            return self.value(values)
        if token.kind == "string":
            return ast.literal_eval(self.take("string").text)
        if token.text == "graph":
            return self.graph()
        if token.text == "(" and self.is_tuple():
            self.expect("(")
            return tuple(self.separated(lambda: self.argument(values), ")"))
        if token.text in _LITERALS or token.text in _DTYPES:
            self.at += 1
            return _LITERALS[token.text] if token.text in _LITERALS else _DTYPES[token.text]
        if token.text == "complex":
            self.at += 1
            self.expect("(")
            return complex(*self.separated(self.real_number, ")"))
        start = self.at
        text = self.raw()
        if _FLOAT.fullmatch(text):
            return float(text)
        self.at = start
        return self.size()

    def real_number(self) -> float:
        """inf, nan or a number with a point or an exponent."""
        token = self.token
        text = self.raw()
        if not _FLOAT.fullmatch(text):
            self.fail(f"{text!r} is no float", token)
        return float(text)

    def value(self, values: dict[str, Value]) -> Value:
        token = self.take("value")
        if token.text[1:] not in values:
            self.fail(f"the value {token.text} is used before it is defined", token)
        return values[token.text[1:]]

    def is_tuple(self) -> bool:
        """Whether the parenthesis here holds a tuple and not a size: empty, or with a comma."""
        depth = 0
        for index, token in enumerate(self.tokens[self.at :]):
            depth += (token.text in _OPENING) - (token.text in _CLOSING)
            if depth == 0:
                return index == 1
            if depth == 1 and token.text == ",":
                return True
        return False

    def type(self) -> Type:
        """A scalar kind, or a dtype with its shape and device."""
        token = self.take("word")
        if token.text in SCALAR_KINDS and self.token.text != "[":
            size = None
            if self.accept("("):
                size = self.size()
                self.expect(")")
            return ScalarType(token.text, size)
        if token.text not in _DTYPES:
            self.fail(f"no type is named {token.text!r}", token)
        self.expect("[")
        shape = self.separated(self.size, "]")
        where = self.device() if self.accept("@") else device("cpu")
        return TensorType(_DTYPES[token.text], tuple(shape), where)

    def device(self) -> device:
        """`cpu` or `cuda:0`."""
        token = self.take("word")
        index = ""
        if self.token.text == ":" and self.ahead(1).kind == "number":
            self.expect(":")
            index = ":" + self.take("number").text
        try:
            return device(token.text + index)
        except DeviceError as error:
            self.fail(error.wrong, token)

    def strides(self) -> tuple[Size, ...]:
        self.expect("strides")
        self.expect("(")
        return tuple(self.separated(self.size, ")"))

    def size(self) -> Size:
        token = self.token
        try:
            return parse_size(self.raw())
        except ParseError as error:
            self.fail(error.wrong, token)

    # Tokens.

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def ahead(self, count: int) -> Token:
        return self.tokens[min(self.at + count, len(self.tokens) - 1)]

    def accept(self, text: str) -> bool:
        if self.token.text != text or self.token.kind == "string":
            return False
        self.at += 1
        return True

    def expect(self, text: str) -> None:
        if not self.accept(text):
            self.fail(f"expected {text!r}, found {self.token.text or 'the end'!r}")

    def take(self, kind: str) -> Token:
        token = self.token
        if token.kind != kind:
            self.fail(f"expected a {kind}, found {token.text or 'the end'!r}")
        self.at += 1
        return token

    def separated(self, one: Callable[[], Item], closing: str) -> list[Item]:
        """Things separated by commas up to a closing bracket; a last comma is allowed."""
        found = []
        while not self.accept(closing):
            found.append(one())
            if not self.accept(","):
                self.expect(closing)
                break
        return found

    def raw(self, stop_at_line_end: bool = False) -> str:
        """The text up to the comma, colon, bracket or keyword that ends it."""
        first, depth = self.at, 0
        while self.token.kind != "end":
            text = self.token.text
            if depth == 0 and (text in (",", ":", "writes") or text in _CLOSING):
                break
            if stop_at_line_end and self.at > first and self._starts_line():
                break
            depth += (text in _OPENING) - (text in _CLOSING)
            self.at += 1
        if self.at == first:
            self.fail(f"expected an argument or size, found {self.token.text or 'the end'!r}")
        last = self.tokens[self.at - 1]
        return self.text[self.tokens[first].start : last.start + len(last.text)]

    def _starts_line(self) -> bool:
        return "\n" in self.text[self.tokens[self.at - 1].start : self.token.start]

    def line(self, token: Token) -> int:
        return self.text.count("\n", 0, token.start) + 1

    def fail(self, wrong: str, token: Token | None = None) -> NoReturn:
        """Raise ParseError for the line of a token (the next one, when none is given)."""
        token = token or self.token
        line = self.line(token)
        shown = self.text.splitlines()[line - 1].strip() if self.text else ""
        raise ParseError(
            f"line {line} of the graph's text, `{shown}`",
            wrong,
            "the grammar stands at the top of minitorch2/jit/ir/graph.py",
        )

    def _tokenize(self) -> list[Token]:
        tokens, at = [], 0
        while at < len(self.text):
            match = _TOKENS.match(self.text, at)
            if match is None:
                self.tokens, self.at = [Token("bad", self.text[at], at)], 0
                self.fail(f"no token starts with {self.text[at]!r}")
            if match.lastgroup != "space":
                tokens.append(Token(str(match.lastgroup), match.group(), at))
            at = match.end()
        return [*tokens, Token("end", "", len(self.text))]
