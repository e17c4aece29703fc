"""Python's operators: their symbols, functions and special methods.

In: a symbol as it stands in the program, `+` or `<=`. Out: what carries it out, and the names under
which a class defines it.

Source: the `operator` module; Python data model, "Emulating numeric types".
"""

import operator
from collections.abc import Callable

# symbol: (function, special method, reflected special method)
BINARY: dict[str, tuple[Callable, str, str]] = {
    "+": (operator.add, "__add__", "__radd__"),
    "-": (operator.sub, "__sub__", "__rsub__"),
    "*": (operator.mul, "__mul__", "__rmul__"),
    "/": (operator.truediv, "__truediv__", "__rtruediv__"),
    "//": (operator.floordiv, "__floordiv__", "__rfloordiv__"),
    "%": (operator.mod, "__mod__", "__rmod__"),
    "**": (operator.pow, "__pow__", "__rpow__"),
    "@": (operator.matmul, "__matmul__", "__rmatmul__"),
    "&": (operator.and_, "__and__", "__rand__"),
    "|": (operator.or_, "__or__", "__ror__"),
    "^": (operator.xor, "__xor__", "__rxor__"),
    "<<": (operator.lshift, "__lshift__", "__rlshift__"),
    ">>": (operator.rshift, "__rshift__", "__rrshift__"),
}
INPLACE: dict[str, Callable] = {
    "+": operator.iadd,
    "-": operator.isub,
    "*": operator.imul,
    "/": operator.itruediv,
    "//": operator.ifloordiv,
    "%": operator.imod,
    "**": operator.ipow,
    "@": operator.imatmul,
    "&": operator.iand,
    "|": operator.ior,
    "^": operator.ixor,
    "<<": operator.ilshift,
    ">>": operator.irshift,
}
COMPARE: dict[str, tuple[Callable, str, str]] = {
    "<": (operator.lt, "__lt__", "__gt__"),
    "<=": (operator.le, "__le__", "__ge__"),
    ">": (operator.gt, "__gt__", "__lt__"),
    ">=": (operator.ge, "__ge__", "__le__"),
    "==": (operator.eq, "__eq__", "__eq__"),
    "!=": (operator.ne, "__ne__", "__ne__"),
}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
UNARY: dict[str, tuple[Callable, str]] = {
    "-": (operator.neg, "__neg__"),
    "+": (operator.pos, "__pos__"),
    "~": (operator.invert, "__invert__"),
}


def inplace_method(symbol: str) -> str:
    """The special method of an augmented assignment: `__iadd__` for `+`."""
    return "__i" + BINARY[symbol][1].removeprefix("__")
