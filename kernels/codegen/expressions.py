"""Loop-IR expressions and index expressions as Numba-ready Python text.

In: one expression. Out: text in the dialect of the kernel ABI: every literal typed, every narrow
integer result cast back, every index uint64. The same text runs as plain Python on vecmath's twins.

    >>> from minitorch2.kernels.index import symbol
    >>> index_text(symbol("i") * 4 + symbol("j") + 3)
    'i*u64(4) + j + u64(3)'

16-bit floats are held as f32 values that happen to be representable: a load widens, a cast to
f16 rounds, a store narrows.

Source: the ABI's type rules are Numba's (int32 + int32 is int64 there, literals are int64).
"""

import math

from minitorch2.dtypes import dtype
from minitorch2.kernels.functions import FUNCTIONS
from minitorch2.kernels.index import Divide, Index, Modulo, Symbol
from minitorch2.kernels.loop_ir import (
    Call,
    Cast,
    Constant,
    Expression,
    IndexValue,
    Load,
    Name,
)

SIXTEEN = ("f16", "bf16")
BINARY = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/",
    "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
    "equal": "==", "not_equal": "!=",
    "bit_and": "&", "bit_or": "|", "bit_xor": "^", "shift_left": "<<", "shift_right": ">>",
}  # fmt: skip
COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
_CAST = {"bool": "b1"}


def function_texts() -> dict[str, str]:
    """Each scalar function as a template over its arguments {0}, {1}, ..."""
    texts = {name: f"{{0}} {sign} {{1}}" for name, sign in BINARY.items()}
    texts["bit_not"] = "~{0}"
    for name, (count, _, _) in FUNCTIONS.items():
        if name not in texts:
            texts[name] = f"{name}({', '.join(f'{{{at}}}' for at in range(count))})"
    return texts


FUNCTION_TEXTS = function_texts()


def index_text(index: Index) -> str:
    """An index expression in uint64 arithmetic (differences wrap, and wrap back)."""
    added = [_term(m, f) for m, f in index.terms if f > 0]
    taken = [_term(m, -f) for m, f in index.terms if f < 0]
    text = " + ".join(added) or "u64(0)"
    return " - ".join([text, *taken])


def _term(monomial: tuple, factor: int) -> str:
    pieces = [_atom(atom) for atom in monomial]
    if factor != 1 or not pieces:
        pieces.append(f"u64({factor})")
    return "*".join(pieces)


def _atom(atom: Symbol | Divide | Modulo) -> str:
    if isinstance(atom, Symbol):
        return atom.name
    sign = "//" if isinstance(atom, Divide) else "%"
    return f"(({index_text(atom.top)}) {sign} ({index_text(atom.bottom)}))"


def constant_text(value: int | float | bool, element: dtype) -> str:
    """A number as a literal of a type."""
    if element.short == "bool":
        return f"b1({int(bool(value))})"
    if not element.is_floating_point:
        return f"{element.short}({int(value)})"
    number, wide = float(value), element.short == "f64"
    if element.short in SIXTEEN:
        number = float(element.numpy.type(number))
    if math.isnan(number):
        return "f64_bits(i64(0x7FF8000000000000))" if wide else "f32_bits(i32(0x7FC00000))"
    text = f"{'-' if number < 0 else ''}1e400" if math.isinf(number) else repr(number)
    return f"{'f64' if wide else 'f32'}({text})"


def load_text(buffer: str, index: str, element: dtype) -> str:
    """An element of a buffer as a value."""
    text = f"{buffer}[{index}]"
    return f"widen_{element.short}({text})" if element.short in SIXTEEN else text


def stored_text(value: str, element: dtype) -> str:
    """A value as what a buffer of its type holds."""
    return f"narrow_{element.short}({value})" if element.short in SIXTEEN else value


def expression_text(expression: Expression) -> str:
    """An expression as text; operators inside it are parenthesized."""
    match expression:
        case Name(name):
            return name
        case Constant(value, element):
            return constant_text(value, element)
        case Load(buffer, index, element):
            return load_text(buffer, index_text(index), element)
        case IndexValue(index):
            return f"i64({index_text(index)})"
        case Cast(value, element):
            return cast_text(expression_text(value), value.dtype, element)
        case Call():
            return _call_text(expression)


def cast_text(text: str, source: dtype, target: dtype) -> str:
    """A conversion between types."""
    if source is target:
        return text
    if target.short in SIXTEEN:
        wide = text if source.short in (*SIXTEEN, "f32") else f"f32({text})"
        return f"widen_{target.short}(narrow_{target.short}({wide}))"
    if source.short in SIXTEEN and target.short == "f32":
        return text
    return f"{_CAST.get(target.short, target.short)}({text})"


def _call_text(call: Call) -> str:
    function, short = call.function, call.args[0].dtype.short
    template = FUNCTION_TEXTS[function]
    texts = [expression_text(argument) for argument in call.args]
    if function in BINARY or function == "bit_not":
        texts = [
            f"({text})" if isinstance(argument, Call | Cast) and " " in text else text
            for text, argument in zip(texts, call.args, strict=True)
        ]
    if function in COMPARISONS and short == "bool":
        texts = [f"u8({text})" for text in texts]
    if function == "bit_not" and short == "bool":
        return f"logical_not({texts[0]})"
    text = template.format(*texts)
    narrow = not call.dtype.is_floating_point and call.dtype.short not in ("bool", "i64")
    return f"{call.dtype.short}({text})" if narrow and function in (*BINARY, "bit_not") else text
