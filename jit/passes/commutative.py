"""Which ops give the same bits when their first two operands are exchanged.

In: a call. Out: yes or no, read off the row's `expr` (its definition for one element): exchange
the two names and see whether `+ * & | ^ == !=` make the two texts equal. There is no list of ops.
`maximum` does not count: of 0.0 and -0.0 it may return either, depending on the order.

    >>> is_commutative("mul", (1, 2)), is_commutative("sub", (1, 2, 1))
    (True, False)
    >>> is_commutative("add", (1, 2, 1)), is_commutative("add", (1, 2, 3))  # 1 + 2 * alpha
    (True, False)
"""

import ast
import functools

from minitorch2.dtypes import bfloat16, float16
from minitorch2.jit.ir.graph import Argument, Value
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.syntax import expression
from minitorch2.ops.table import POINTWISE, lookup

_OPERATORS = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)
_RELATIONS = (ast.Eq, ast.NotEq)


def is_commutative(op: str, args: tuple[Argument, ...]) -> bool:
    """Whether `op(a, b, ...)` and `op(b, a, ...)` are the same for all a and b."""
    row = lookup(op)
    if row.kind != POINTWISE or not row.expr or len(args) < 2:
        return False
    if row.wide and _rounds_one(args[:2]):
        return False
    extra = args[2:]
    return all(isinstance(item, int) for item in extra) and _symmetric(op, extra)


def _rounds_one(operands: tuple[Argument, ...]) -> bool:
    """Whether 16-bit floats stand beside something wider, which is rounded in one place only."""
    types = [each.type if isinstance(each, Value) else None for each in operands]
    dtypes = [each.dtype if isinstance(each, TensorType) else None for each in types]
    narrow = any(each is not None and each in (float16, bfloat16) for each in dtypes)
    return narrow and dtypes[0] is not dtypes[1]


@functools.cache
def _symmetric(op: str, extra: tuple) -> bool:
    """Whether the row's expression, with these further arguments, is symmetric."""
    row = lookup(op)
    first, second, *others = row.signature.names
    tree = expression(row.expr)
    known = dict(zip(others, extra, strict=True))
    exchanged = {first: second, second: first}
    return _normal(tree, known, {}) == _normal(tree, known, exchanged)


def _normal(tree: ast.expr, known: dict[str, int], names: dict[str, str]) -> str:
    """The expression as text, names exchanged, operands of commutative operators sorted."""
    match tree:
        case ast.Name(id=name):
            return str(known[name]) if name in known else names.get(name, name)
        case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, _OPERATORS):
            sides = sorted([_normal(left, known, names), _normal(right, known, names)])
            if isinstance(operator, ast.Mult) and "1" in sides:
                sides.remove("1")
            return f"({type(operator).__name__} {' '.join(sides)})" if sides[1:] else sides[0]
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            if isinstance(operator, _RELATIONS):
                sides = sorted([_normal(left, known, names), _normal(right, known, names)])
                return f"({type(operator).__name__} {' '.join(sides)})"
    inside = [
        _normal(child, known, names)
        for child in ast.iter_child_nodes(tree)
        if isinstance(child, ast.expr)
    ]
    kinds = [type(child).__name__ for child in ast.iter_child_nodes(tree)]
    constant = repr(tree.value) if isinstance(tree, ast.Constant) else ""
    return f"({type(tree).__name__} {constant} {kinds} {' '.join(inside)})"
