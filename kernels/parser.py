"""Loop IR from text: the grammar of loop_ir.py.

In: text as printer.py writes it. Out: a Kernel. Statements written by hand get the Origin
`<text>:line`.

    >>> from minitorch2.kernels.printer import print_kernel
    >>> text = "kernel k(a: f32[4] in, b: f32[1] out) {\\n  b[0] = a[3]\\n}"
    >>> print_kernel(parse_kernel(text)) == text
    True

Source: expressions and indices are a subset of Python's, read with the standard `ast` module.
"""

import ast
import re

from minitorch2.artifacts import Origin, Span
from minitorch2.dtypes import bool as bool_dtype
from minitorch2.dtypes import dtype, from_short, int64
from minitorch2.errors import Mt2Error
from minitorch2.jit.syntax import expression
from minitorch2.kernels.functions import accumulator_dtype, result_dtype
from minitorch2.kernels.index import Divide, Index, Modulo, constant, symbol
from minitorch2.kernels.loop_ir import (
    Accumulator,
    Buffer,
    Call,
    Cast,
    Check,
    Constant,
    Expression,
    IndexValue,
    Kernel,
    Let,
    LetIndex,
    Load,
    Loop,
    Name,
    Reduce,
    Require,
    Scalar,
    Statement,
    Store,
    Window,
)

_SPREAD = "blocks|warps|threads|vector"
_SHORT = {"f32", "f64", "f16", "bf16", "i64", "i32", "i16", "i8", "u8", "bool"}


class LoopSyntaxError(Mt2Error, SyntaxError):
    """Text that is not loop IR."""

    code = "MT2-0901"
    remedy = "Compare the line with the grammar at the top of kernels/loop_ir.py."


def parse_kernel(text: str) -> Kernel:
    """The kernel a text describes. Raises LoopSyntaxError with the line at fault."""
    return _Parser(text).kernel()


def parse_index(text: str) -> Index:
    """The index expression of a text, not simplified beyond its normal form."""
    return _index(expression(text.strip()))


def _index(node: ast.expr) -> Index:
    match node:
        case ast.Constant(int(value)):
            return constant(value)
        case ast.Name(name):
            return symbol(name)
        case ast.UnaryOp(ast.USub(), operand):
            return _index(operand) * -1
        case ast.BinOp(left, ast.Add(), right):
            return _index(left) + _index(right)
        case ast.BinOp(left, ast.Sub(), right):
            return _index(left) - _index(right)
        case ast.BinOp(left, ast.Mult(), right):
            return _index(left) * _index(right)
        case ast.BinOp(left, ast.FloorDiv(), right):
            return Index((((Divide(_index(left), _index(right)),), 1),))
        case ast.BinOp(left, ast.Mod(), right):
            return Index((((Modulo(_index(left), _index(right)),), 1),))
    raise ValueError(f"{ast.unparse(node)} is no index expression")


class _Parser:
    """Reads statements line by line; `types` holds the dtype of every name in sight."""

    def __init__(self, text: str):
        self.lines = text.strip().split("\n")
        self.at = 0
        self.types: dict[str, dtype] = {}
        self.buffers: dict[str, dtype] = {}

    def kernel(self) -> Kernel:
        """The kernel that the text describes, from its head to the closing brace."""
        head = self._match(r"kernel (\w+)\((.*)\)(?: threads (\d+))? \{", self._line())
        buffers, sizes, scalars = [], [], []
        for parameter in _split(head[2]):
            name, kind = (part.strip() for part in parameter.split(":"))
            buffer = re.fullmatch(r"(\w+)\[(.*)\] (in|out|inout)", kind)
            if buffer:
                element = from_short(buffer[1])
                self.buffers[name] = element
                buffers.append(Buffer(name, element, parse_index(buffer[2]), buffer[3]))
            elif kind == "size":
                sizes.append(name)
            else:
                self.types[name] = from_short(kind)
                scalars.append(Scalar(name, from_short(kind)))
        body, _ = self._block()
        return Kernel(
            head[1], tuple(buffers), tuple(sizes), tuple(scalars), body, int(head[3] or 0)
        )

    def _line(self) -> str:
        line = re.sub(r"\s+# .*$", "", self.lines[self.at]).strip()
        self.at += 1
        return line

    def _match(self, pattern: str, line: str) -> "re.Match[str]":
        found = re.fullmatch(pattern, line)
        if found is None:
            raise LoopSyntaxError(f"line {self.at} of a kernel: {line}", f"expected {pattern}")
        return found

    def _block(self) -> tuple[tuple[Statement, ...], str]:
        """Statements up to the closing brace, and what follows it on its line."""
        statements: list[Statement] = []
        while self.at < len(self.lines):
            line = self._line()
            if line.startswith("}"):
                return tuple(statements), line[1:].strip()
            if line:
                statements.append(self._guarded(line))
        raise LoopSyntaxError("a kernel", "a closing brace is missing")

    def _guarded(self, line: str) -> Statement:
        try:
            return self._statement(line)
        except (ValueError, KeyError, SyntaxError) as error:
            if isinstance(error, LoopSyntaxError):
                raise
            raise LoopSyntaxError(f"line {self.at} of a kernel: {line}", str(error)) from error

    def _statement(self, line: str) -> Statement:
        origin = Origin((Span("<text>", self.at),))
        word = line.split(" ", 1)[0]
        if word == "for":
            found = self._match(rf"for (\w+) in (.*?)(?: (parallel|{_SPREAD}))? \{{", line)
            body, _ = self._block()
            word = found[3] or ""
            parallel, extent = word == "parallel", parse_index(found[2])
            return Loop(found[1], extent, body, parallel, origin, "" if parallel else word)
        if word == "reduce":
            return self._reduce(line, origin)
        if word == "index":
            found = self._match(r"index (\w+) = (.*)", line)
            return LetIndex(found[1], parse_index(found[2]), origin)
        if word == "window":
            found = self._match(r"window (\w+), (\w+) = (.*) in (.*)", line)
            self.types[found[2]] = bool_dtype
            index, size = parse_index(found[3]), parse_index(found[4])
            return Window(found[1], found[2], index, size, origin)
        if word == "check":
            found = self._match(r'check (\w+) = (.*) in (.*) else "(.*)"', line)
            value, size = self._expression(found[2]), parse_index(found[3])
            return Check(found[1], value, size, found[4], origin)
        if word == "require":
            found = self._match(r'require (.*) else "(.*)"', line)
            return Require(self._expression(found[1]), found[2], origin)
        found_let = re.fullmatch(r"(\w+): (\w+) = (.*)", line)
        if found_let:
            value = self._expression(found_let[3])
            self.types[found_let[1]] = from_short(found_let[2])
            return Let(found_let[1], value, origin)
        found = self._match(r"(\w+)\[(.*?)\] (\+?=) (.*)", line)
        value = self._expression(found[4])
        return Store(found[1], parse_index(found[2]), value, found[3] == "+=", origin)

    def _reduce(self, line: str, origin: Origin) -> Reduce:
        head = self._match(r"reduce (.*) \{", line)
        domain, words = [], []
        for part in _split(head[1]):
            axis = self._match(rf"(\w+) in (.*?)(?: ({_SPREAD}))?", part.strip())
            domain.append((axis[1], parse_index(axis[2])))
            words.append(axis[3] or "")
        body, rest = self._block()
        accumulators = []
        for part in _split(self._match(r"into (.*)", rest)[1]):
            found = self._match(r"(\w+): (\w+) = (\w+)\((.*)\)", part.strip())
            value = self._expression(found[4])
            element = accumulator_dtype(found[3], value.dtype)
            accumulators.append(Accumulator(found[1], found[3], value, element))
            self.types[found[1]] = element
        spread = tuple(words) if any(words) else ()
        return Reduce(tuple(domain), body, tuple(accumulators), origin, spread)

    def _expression(self, text: str) -> Expression:
        return self._value(expression(text.strip()))

    def _value(self, node: ast.expr) -> Expression:
        match node:
            case ast.Name(name):
                return Name(name, self.types[name])
            case ast.Subscript(ast.Name(buffer), index):
                return Load(buffer, _index(index), self.buffers[buffer])
            case ast.Call(ast.Name("index"), [index]):
                return IndexValue(_index(index), int64)
            case ast.Call(ast.Name(function), [argument]) if function in _SHORT:
                return Constant(_number(argument), from_short(function))
            case ast.Call(ast.Name(function), [argument]) if function.startswith("cast_"):
                return Cast(self._value(argument), from_short(function[5:]))
            case ast.Call(ast.Name(function), arguments):
                args = tuple(self._value(argument) for argument in arguments)
                return Call(function, args, result_dtype(function, [a.dtype for a in args]))
        raise ValueError(f"{ast.unparse(node)} is no expression")


def _number(node: ast.expr) -> int | float | bool:
    match node:
        case ast.Constant(bool() | int() | float() as value):
            return value
        case ast.UnaryOp(ast.USub(), operand):
            return -_number(operand)
        case ast.Name(("inf" | "nan") as name):
            return float(name)
    raise ValueError(f"{ast.unparse(node)} is no number")


def _split(text: str) -> list[str]:
    """Split at commas that stand outside brackets."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]] if text.strip() else []
