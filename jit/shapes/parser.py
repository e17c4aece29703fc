"""Reads sizes and conditions back from their printed form.

In: text such as `s0*4+1`, `max(s0,3)//2` or `s0>=5`. Out: the size or condition in canonical form.
The text is Python's own expression syntax, so Python's parser reads it and this file walks the
tree; anything else in it is an error.

    >>> parse_size("(s0+1)*4") == (symbol("s0") + 1) * 4
    True
    >>> print(parse_condition("s0 > s1"))
    s1+1<=s0

Source: https://docs.python.org/3/library/ast.html
"""

import ast
import re
from collections.abc import Callable

from minitorch2.errors import ParseError
from minitorch2.jit.shapes.conditions import SizeCondition, compare
from minitorch2.jit.shapes.size_expression import (
    Size,
    floor_divide,
    maximum,
    minimum,
    modulo,
    symbol,
)
from minitorch2.jit.syntax import expression

SYMBOL = re.compile(r"s\d+")  # `u8` is a dtype, so a symbol starts with an s

_BINARY: dict[type, Callable[[Size, Size], Size]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: floor_divide,
    ast.Mod: modulo,
}
_CALLS: dict[str, Callable[..., Size]] = {"max": maximum, "min": minimum}
_RELATIONS: dict[type, str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


def parse_size(text: str) -> Size:
    """The size a text stands for. Raises ParseError."""
    return _size(_tree(text, "size"), text)


def parse_condition(text: str) -> SizeCondition | bool:
    """The condition a text stands for; a bool when it has no names. Raises ParseError."""
    tree = _tree(text, "condition")
    if not isinstance(tree, ast.Compare) or len(tree.ops) != 1:
        raise _error(text, "a condition compares two sizes")
    left, right = _size(tree.left, text), _size(tree.comparators[0], text)
    relation = _RELATIONS.get(type(tree.ops[0]))
    if relation is None:
        raise _error(text, f"`{ast.unparse(tree)}` uses no relation of sizes")
    return compare(relation, left, right)


def _tree(text: str, what: str) -> ast.expr:
    try:
        return expression(text.strip())
    except SyntaxError as error:
        raise _error(text, f"it is no {what}: {error.msg}") from None


def _size(tree: ast.expr, text: str) -> Size:
    match tree:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return value
        case ast.Name(id=name) if SYMBOL.fullmatch(name):
            return symbol(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_size(operand, text)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _BINARY:
            return _BINARY[type(operator)](_size(left, text), _size(right, text))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _CALLS:
            return _CALLS[name](*(_size(argument, text) for argument in arguments))
    raise _error(text, f"`{ast.unparse(tree)}` is not allowed in a size")


def _error(text: str, wrong: str) -> ParseError:
    return ParseError(
        f"the size {text!r}", wrong, "use integers, s0, s1, ..., + - * // % and max, min"
    )
