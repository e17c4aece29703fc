"""What each instruction takes from the stack and leaves there, when Python does it alone.

In: a code object and the index of the instruction at which capture stopped. Out: an `Operation`:
which items of the stack it needs, the bytes that do it, what it leaves; or None for the few
instructions that only make sense inside their frame, after which the rest runs as Python.

    >>> def f(x): return x.item() + 1
    >>> index = [i.name for i in decode(f.__code__).instructions].index("BINARY_OP")
    >>> operation = operation_at(f.__code__, index)
    >>> operation.operands, operation.popped, operation.pushed
    ((-2, -1), 2, ('value',))

A conditional jump becomes the question for the truth of its operand, a FOR_ITER becomes
`next(iterator, END)`: the driver takes the jump. An instruction that loads a method loads the
bound method instead.

Source: CPython's Python/bytecodes.c; `dis.stack_effect`, against which a test holds the table.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import CodeType
from typing import Any

from minitorch2.jit.capture.instructions import PY312, PY313, Instruction, beside_null, decode
from minitorch2.jit.capture.resume.place import NULL, VALUE
from minitorch2.jit.capture.resume.splice import encode

END: Any = object()  # what `next` answers at the end of a loop
PLAIN, TRUTH, NEXT, RAISE = "plain", "truth", "next", "raise"


@dataclass(frozen=True, slots=True)
class Operation:
    """One instruction alone. `operands` are places on the stack, -1 on top; `constants` are
    pushed where an operand is a string of that name."""

    operands: tuple[int | str, ...]
    popped: int
    body: bytes
    pushed: tuple[str, ...]
    kind: str = PLAIN
    dropped: int = 0  # operands that the instruction leaves below its results
    jump: int = 0  # how many instructions that follow are done with it, such as a jump on a truth
    callee: int | None = None  # which operand is called
    constants: tuple[tuple[str, Any], ...] = ()


FIXED: dict[str, tuple[int, int]] = {
    "BINARY_OP": (2, 1),
    "BINARY_SUBSCR": (2, 1),
    "BINARY_SLICE": (3, 1),
    "STORE_SUBSCR": (3, 0),
    "STORE_SLICE": (4, 0),
    "DELETE_SUBSCR": (2, 0),
    "COMPARE_OP": (2, 1),
    "CONTAINS_OP": (2, 1),
    "IS_OP": (2, 1),
    "UNARY_NEGATIVE": (1, 1),
    "UNARY_POSITIVE": (1, 1),
    "UNARY_INVERT": (1, 1),
    "UNARY_NOT": (1, 1),
    "TO_BOOL": (1, 1),
    "STORE_ATTR": (2, 0),
    "DELETE_ATTR": (1, 0),
    "LOAD_NAME": (0, 1),
    "LOAD_DEREF": (0, 1),
    "LOAD_FAST": (0, 1),
    "LOAD_FAST_CHECK": (0, 1),
    "LOAD_FAST_LOAD_FAST": (0, 2),
    "STORE_GLOBAL": (1, 0),
    "DELETE_GLOBAL": (0, 0),
    "GET_ITER": (1, 1),
    "FORMAT_SIMPLE": (1, 1),
    "FORMAT_WITH_SPEC": (2, 1),
    "CONVERT_VALUE": (1, 1),
    "BEFORE_WITH": (1, 2),
    "IMPORT_NAME": (2, 1),
    "IMPORT_FROM": (1, 2),
    "CALL_INTRINSIC_1": (1, 1),
    "CALL_INTRINSIC_2": (2, 1),
    "LIST_TO_TUPLE": (1, 1),
    "LOAD_BUILD_CLASS": (0, 1),
    "LOAD_CONST": (0, 1),
    "GET_LEN": (1, 2),
    "MATCH_CLASS": (3, 1),
    "MATCH_MAPPING": (1, 2),
    "MATCH_SEQUENCE": (1, 2),
    "MATCH_KEYS": (2, 3),
    "CHECK_EXC_MATCH": (2, 2),
    "SET_FUNCTION_ATTRIBUTE": (2, 1),
}
COUNTED: dict[str, Callable[[int], tuple[int, int]]] = {
    "BUILD_STRING": lambda count: (count, 1),
    "BUILD_TUPLE": lambda count: (count, 1),
    "BUILD_LIST": lambda count: (count, 1),
    "BUILD_SET": lambda count: (count, 1),
    "BUILD_SLICE": lambda count: (count, 1),
    "BUILD_MAP": lambda count: (2 * count, 1),
    "BUILD_CONST_KEY_MAP": lambda count: (count + 1, 1),
    "UNPACK_SEQUENCE": lambda count: (1, count),
    "UNPACK_EX": lambda sizes: (1, (sizes & 255) + (sizes >> 8) + 1),
    "FORMAT_VALUE": lambda flags: (2 if flags & 4 else 1, 1),
    "MAKE_FUNCTION": lambda flags: (1 + (0 if PY313 else (flags & 15).bit_count()), 1),
}
INSIDE = {"LIST_APPEND": 1, "SET_ADD": 1, "MAP_ADD": 2, "LIST_EXTEND": 1, "SET_UPDATE": 1,
          "DICT_UPDATE": 1}  # fmt: skip
CONDITIONAL = ("POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE")
CALLS = ("CALL", "CALL_KW", "CALL_FUNCTION_EX")


@functools.lru_cache(maxsize=4096)
def operation_at(code: CodeType, index: int) -> Operation | None:
    """How the instruction at an index is done alone."""
    instructions = decode(code).instructions
    instruction = instructions[index]
    name, argument = instruction.name, instruction.argument
    halves = index + 1 < len(instructions) and instructions[index + 1].is_half
    if halves or name in ("TO_BOOL", "CONTAINS_OP"):  # it leaves True or False
        jump = index + 1 + halves
        if instructions[jump].name in CONDITIONAL:  # which is taken with it
            operands = (-1,) if name == "TO_BOOL" else (-2, -1)
            body = encode(name, argument) + encode("UNARY_NOT")
            return Operation(operands, len(operands), body, (), TRUTH, jump=jump - index)
        return replace(_plain(name, argument, *FIXED[name]), jump=int(halves))
    if name in FIXED:
        return _plain(name, argument, *FIXED[name])
    if name in COUNTED:
        return _plain(name, argument, *COUNTED[name](argument))
    if name in INSIDE:
        popped = INSIDE[name]
        operands = (-popped - argument, *range(-popped, 0))
        return Operation(operands, popped, encode(name, 1), (), dropped=1)
    if name in CALLS:
        return _call(instructions, index)
    if name in LOADS:
        return LOADS[name](name, argument)
    if name.endswith(("_IF_TRUE", "_IF_FALSE", "_OR_POP")):
        return _truth(name)
    return _special(name, argument)


def _plain(name: str, argument: int, popped: int, pushed: int) -> Operation:
    operands = tuple(range(-popped, 0))
    return Operation(operands, popped, encode(name, argument), (VALUE,) * pushed)


def _method(name: str, argument: int) -> Operation:
    return _loaded(encode("LOAD_ATTR", argument), 1, True)


def _attribute(name: str, argument: int) -> Operation:
    if not PY312:
        return _plain(name, argument, 1, 1)
    return _loaded(encode(name, argument & ~1), 1, bool(argument & 1))


def _global(name: str, argument: int) -> Operation:
    return _loaded(encode(name, argument & ~1), 0, bool(argument & 1))


def _super_attribute(name: str, argument: int) -> Operation:
    return _loaded(encode(name, argument & ~1), 3, bool(argument & 1))


def _loaded(body: bytes, popped: int, with_null: bool) -> Operation:
    """An attribute or global that may be about to be called."""
    pushed = beside_null(VALUE, NULL) if with_null else (VALUE,)
    return Operation(tuple(range(-popped, 0)), popped, body, pushed)


LOADS: dict[str, Callable[[str, int], Operation]] = {
    "LOAD_METHOD": _method,
    "LOAD_ATTR": _attribute,
    "LOAD_GLOBAL": _global,
    "LOAD_SUPER_ATTR": _super_attribute,
}


def _call(instructions: tuple[Instruction, ...], index: int) -> Operation:
    """A call: [NULL or function, function or self, arguments] before 3.13, then the other way."""
    name, argument = instructions[index].name, instructions[index].argument
    body = b""
    if name == "CALL_FUNCTION_EX":
        popped = 3 + (argument & 1)
    else:
        popped = argument + 2 + (name == "CALL_KW")
    if name == "CALL" and not PY313:
        before = index - 1
        while instructions[before].name == "PRECALL":
            before -= 1
        if instructions[before].name == "KW_NAMES":
            body = encode("KW_NAMES", instructions[before].argument)
    body += _encoded_call(argument) if name == "CALL" else encode(name, argument)
    operands = tuple(range(-popped, 0))
    return Operation(operands, popped, body, (VALUE,), callee=0)


def _encoded_call(count: int) -> bytes:
    return (b"" if PY312 else encode("PRECALL", count)) + encode("CALL", count)


def _truth(name: str) -> Operation | None:
    """A conditional jump on the truth of the item on top."""
    if PY313:
        return None  # TO_BOOL stands before it
    keeps = name.endswith("_OR_POP")
    return Operation((-1,), 0 if keeps else 1, encode("UNARY_NOT"), (), TRUTH)


def _special(name: str, argument: int) -> Operation | None:
    if name == "FOR_ITER":
        body = _encoded_call(2)
        operands: tuple[int | str, ...] = (*beside_null("next", NULL), -1, "end")
        constants: tuple[tuple[str, Any], ...] = (("next", next), ("end", END))
        return Operation(operands, 0, body, (VALUE,), NEXT, constants=constants)
    if name == "RAISE_VARARGS":
        return Operation(tuple(range(-argument, 0)), argument, encode(name, argument), (), RAISE)
    if name == "RERAISE":
        return Operation((-1,), 1, encode(name, 0), (), RAISE)
    if name == "WITH_EXCEPT_START":
        # [exit, offset, exception before, exception]; the two in the middle are not looked at
        operands = (-4, "none", "none", -1)
        constants = (("none", None),)
        return Operation(operands, 0, encode(name), (VALUE,), dropped=4, constants=constants)
    return None
