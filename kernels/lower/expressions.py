"""The `expr` text of an op row as a typed scalar expression.

In: the text ("self + other * alpha") and for each parameter a typed expression or a plain number.
Out: a nest expression. Plain numbers take the type of what they meet, as torch's weak scalars do;
16-bit floats are computed in f32, and the caller rounds the result once.

Source: the expression language is Python's, read with the standard `ast` module.
"""

import ast
import functools
from collections.abc import Mapping

from minitorch2.dtypes import bool as bool_dtype
from minitorch2.dtypes import dtype, float32, promote_types
from minitorch2.jit.syntax import expression
from minitorch2.kernels.functions import FUNCTIONS, result_dtype
from minitorch2.kernels.loop_ir import Call, Cast, Constant
from minitorch2.kernels.lower.nests import NestExpression, NotLowered
from minitorch2.ops.infer import rounded_number

Operand = NestExpression | int | float | bool

BINARY: dict[type, str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: "pow",
    ast.BitAnd: "bit_and",
    ast.BitOr: "bit_or",
    ast.BitXor: "bit_xor",
    ast.LShift: "shift_left",
    ast.RShift: "shift_right",
}
COMPARISONS: dict[type, str] = {
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
}
ALIASES = {
    "abs": "absolute",
    "min": "minimum",
    "max": "maximum",
    "trunc_divide": "truncate_divide",
    "where": "select",
}
ROUNDING = ("floor", "ceil", "trunc", "round")


@functools.cache
def parsed(text: str) -> ast.expr:
    """The syntax tree of an `expr` text."""
    return expression(text)


def lower_expression(text: str, operands: Mapping[str, Operand], compute: dtype) -> NestExpression:
    """The expression for given operands; a number that stays a number gets the type `compute`."""
    return typed(_lower(parsed(text), operands), widened(compute))


def widened(element: dtype) -> dtype:
    """The type arithmetic is done in: f32 for 16-bit floats, else the type itself."""
    return float32 if element.is_floating_point and element.itemsize == 2 else element


def cast(expression: NestExpression, element: dtype) -> NestExpression:
    """A conversion, left out where the type is right already."""
    if expression.dtype is element:
        return expression
    if isinstance(expression, Constant):
        return Constant(number_of(expression.value, element), element)
    return Cast(expression, element)  # type: ignore[arg-type]


def number_of(value: int | float | bool, element: dtype) -> int | float | bool:
    """A Python number as one that a type can hold; integers wrap as torch's casts do."""
    if element.short == "bool":
        return bool(value)
    if element.is_floating_point and element.itemsize == 2:
        return rounded_number(value, element)
    if element.is_floating_point:
        return float(value)
    bits = 8 * element.itemsize
    low = -(1 << (bits - 1)) if element.is_signed else 0
    return (int(value) - low) % (1 << bits) + low


def _lower(node: ast.expr, operands: Mapping[str, Operand]) -> Operand:
    match node:
        case ast.Constant(bool() | int() | float() as value):
            return value
        case ast.Name(name):
            return operands[name]
        case ast.BinOp(left, sign, right):
            return call(BINARY[type(sign)], _lower(left, operands), _lower(right, operands))
        case ast.UnaryOp(sign, operand):
            return _unary(sign, _lower(operand, operands))
        case ast.Compare(left, [sign], [right]):
            return call(COMPARISONS[type(sign)], _lower(left, operands), _lower(right, operands))
        case ast.Call(ast.Name(name), arguments):
            return call(ALIASES.get(name, name), *(_lower(a, operands) for a in arguments))
    raise NotLowered(f"the expression {ast.unparse(node)} is not understood")


def _unary(sign: ast.unaryop, operand: Operand) -> Operand:
    if isinstance(sign, ast.USub):
        return -operand if isinstance(operand, int | float) else call("negative", operand)
    return call("bit_not", operand)


def call(function: str, *operands: Operand) -> Operand:
    """A scalar function of operands brought to one type."""
    if function not in FUNCTIONS:
        raise NotLowered(f"kernels have no scalar function {function}")
    first: tuple[Operand, ...] = ()
    if function == "select":
        first, operands = (operands[0],), operands[1:]
    element = _common_type(operands)
    if element is None:
        raise NotLowered(f"{function} of numbers only")
    args = [typed(operand, element) for operand in operands]
    if not element.is_floating_point and function in ROUNDING:
        return args[0]
    if element.category not in FUNCTIONS[function][2] or (
        function == "pow" and not element.is_floating_point
    ):
        raise NotLowered(f"{function} of {element.name} has no kernel")
    simple = _simplified(function, args)
    if simple is not None:
        return simple
    if first:
        args.insert(0, typed(first[0], bool_dtype))
    types = [argument.dtype for argument in args]
    return Call(function, tuple(args), result_dtype(function, types))  # type: ignore[arg-type]


def _common_type(operands: tuple[Operand, ...]) -> dtype | None:
    element = None
    for operand in operands:
        if not isinstance(operand, int | float):
            own = widened(operand.dtype)
            element = own if element is None else promote_types(element, own)
    return element


def typed(operand: Operand, element: dtype) -> NestExpression:
    """The operand as an expression of that element type: numbers become constants."""
    if isinstance(operand, int | float):
        return Constant(number_of(operand, element), element)
    return cast(operand, element)


def _simplified(function: str, args: list[NestExpression]) -> NestExpression | None:
    """x * 1 is x; pow(x, 2) is x * x and pow(x, 0.5) is sqrt(x), as eager has them."""
    if len(args) != 2 or not isinstance(args[1], Constant):
        return None
    if function == "mul" and args[1].value == 1:
        return args[0]
    if function == "pow" and args[1].value == 1:
        return args[0]
    if function == "pow" and args[1].value == 0.5:
        return Call("sqrt", (args[0],), args[0].dtype)  # type: ignore[arg-type]
    if function == "pow" and args[1].value == 2:
        return Call("mul", (args[0], args[0]), args[0].dtype)  # type: ignore[arg-type]
    return None
