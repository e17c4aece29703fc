"""The scalar functions and reducers that loop IR may call, and the types of their results.

In: a function's name and its argument types. Out: its result type (`result_dtype`). How each one
is computed stands in two tables of the same keys: `interpreter.py` (plain Python, the definition)
and `codegen/expressions.py` (Numba source); a test compares the keys.

    >>> from minitorch2.dtypes import float32
    >>> result_dtype("less", (float32, float32))
    torch.bool
"""

from collections.abc import Sequence

from minitorch2.dtypes import BOOL, FLOATING, INTEGER, bool, dtype, int64

SAME = "same"  # the result has the type of the first argument
SECOND = "second"  # of the second argument (select)
TRUTH = "truth"  # bool

ALL_TYPES, NUMBERS, FLOATS, INTEGERS, TRUTHS = (
    frozenset({BOOL, INTEGER, FLOATING}),
    frozenset({INTEGER, FLOATING}),
    frozenset({FLOATING}),
    frozenset({BOOL, INTEGER}),
    frozenset({BOOL}),
)

# name -> (number of arguments, rule of the result type, categories the arguments may have)
FUNCTIONS: dict[str, tuple[int, str, frozenset[int]]] = {
    "add": (2, SAME, NUMBERS),
    "sub": (2, SAME, NUMBERS),
    "mul": (2, SAME, NUMBERS),
    "truediv": (2, SAME, FLOATS),
    "floor_divide": (2, SAME, NUMBERS),
    "remainder": (2, SAME, NUMBERS),
    "truncate_divide": (2, SAME, NUMBERS),
    "fmod": (2, SAME, NUMBERS),
    "negative": (1, SAME, NUMBERS),
    "absolute": (1, SAME, NUMBERS),
    "sign": (1, SAME, NUMBERS),
    "maximum": (2, SAME, ALL_TYPES),
    "minimum": (2, SAME, ALL_TYPES),
    "fmax": (2, SAME, NUMBERS),
    "fmin": (2, SAME, NUMBERS),
    "less": (2, TRUTH, ALL_TYPES),
    "less_equal": (2, TRUTH, ALL_TYPES),
    "greater": (2, TRUTH, ALL_TYPES),
    "greater_equal": (2, TRUTH, ALL_TYPES),
    "equal": (2, TRUTH, ALL_TYPES),
    "not_equal": (2, TRUTH, ALL_TYPES),
    "select": (3, SECOND, ALL_TYPES),
    "bit_and": (2, SAME, INTEGERS),
    "bit_or": (2, SAME, INTEGERS),
    "bit_xor": (2, SAME, INTEGERS),
    "bit_not": (1, SAME, INTEGERS),
    "shift_left": (2, SAME, INTEGERS),
    "shift_right": (2, SAME, INTEGERS),
    "isnan": (1, TRUTH, FLOATS),
    "isinf": (1, TRUTH, FLOATS),
    "isfinite": (1, TRUTH, FLOATS),
    "copysign": (2, SAME, FLOATS),
    "pow": (2, SAME, NUMBERS),
    "atan2": (2, SAME, FLOATS),
    "fma": (3, SAME, FLOATS),
    "random_word": (2, SAME, INTEGERS),  # 32 bits of Philox, from an i64 seed and word number
}

# one float in, the same float type out
UNARY_FLOAT = (
    "sqrt", "rsqrt", "reciprocal", "floor", "ceil", "round", "trunc",
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan",
    "asin", "acos", "atan", "sinh", "cosh", "tanh", "sigmoid", "erf", "erfc",
)  # fmt: skip
FUNCTIONS |= dict.fromkeys(UNARY_FLOAT, (1, SAME, FLOATS))

# Functions slow enough that computing them twice matters more than one more buffer.
EXPENSIVE = frozenset(UNARY_FLOAT[7:]) | {"pow", "atan2", "random_word"}

# Those with rare cases: see Note [Twice around a rare case].
RARE = frozenset({"sin", "cos", "tan", "fmod", "remainder", "floor_divide"})

REDUCERS = ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin")


def result_dtype(function: str, args: Sequence[dtype]) -> dtype:
    """The type of a call. Raises KeyError for a function that is not in the table."""
    _, rule, _ = FUNCTIONS[function]
    if rule == TRUTH:
        return bool
    return args[1] if rule == SECOND else args[0]


def accumulator_dtype(reducer: str, value: dtype) -> dtype:
    """The type of a reduction over values of a type."""
    if reducer in ("any", "all"):
        return bool
    return int64 if reducer in ("argmax", "argmin") else value
