"""Code objects that start in the middle of a function, made from its own bytes.

In: a `Place`. Out: `rest_code(place)`, the rest of the function from there, and
`operation_code(...)`, one instruction alone: both put the frame together in a prologue, keep the
function's names and line table (so that tracebacks show the user's lines and carets) and differ in
what stands behind the prologue.

    COPY_FREE_VARS, MAKE_CELL ..., RESUME        as every function starts
    LOAD_DEREF, STORE_FAST                       a cell into its slot
    DELETE_FAST                                  an unbound variable
    LOAD_DEREF, DELETE_DEREF | PUSH_NULL         an item of the stack
    JUMP_FORWARD                                 over what was done, into the original bytes

Jumps are relative, so the bytes behind the prologue stay as they are. Variables come in as
arguments, cells and stack items as additional free variables at the end of the list, each emptied
when it is read.

Source: CPython's Objects/locations.md and Objects/exception_handling_notes.txt (InternalDocs).
"""

from __future__ import annotations

import inspect
import opcode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType
from typing import Any

from minitorch2.jit.capture.instructions import decode
from minitorch2.jit.capture.resume.place import ACTIVE, NULL, VALUE, Place, slot_count
from minitorch2.jit.guards import define

CODES = opcode.opmap
VARARGS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS  # the new function takes all by position
NESTED, GENERATOR = inspect.CO_NESTED, inspect.CO_GENERATOR
Entry = tuple[int, int, int, int, int]  # start, end, target in code units; depth; lasti


def encode(name: str, argument: int = 0) -> bytes:
    """The bytes of one instruction, with prefixes and room for its inline cache."""
    found = bytearray()
    for shift in (24, 16, 8):
        if argument >> shift:
            found += bytes((CODES["EXTENDED_ARG"], (argument >> shift) & 255))
    return bytes(found + bytes((CODES[name], argument & 255))) + bytes(2 * cache_size(name))


def cache_size(name: str) -> int:
    """How many code units of inline cache follow an instruction."""
    table = opcode._inline_cache_entries  # type: ignore[attr-defined]
    if isinstance(table, dict):
        return table.get(name, 0)
    return table[CODES[name]]


# ---- the tables beside the bytes


def _pieces(number: int) -> bytes:
    """A number in groups of six bits, the first group first (exception table)."""
    groups = [number & 63]
    while number := number >> 6:
        groups.append(number & 63)
    groups.reverse()
    return bytes([group | 64 for group in groups[:-1]] + groups[-1:])


def read_exception_table(code: CodeType) -> Iterator[Entry]:
    """The entries of `co_exceptiontable`."""
    stream = iter(code.co_exceptiontable)

    def number(first: int) -> int:
        value = first & 63
        while first & 64:
            first = next(stream)
            value = value << 6 | first & 63
        return value

    for byte in stream:
        start, length = number(byte & 127), number(next(stream))
        target, depth = number(next(stream)), number(next(stream))
        yield start, start + length, target, depth >> 1, depth & 1


def write_exception_table(entries: Iterable[Entry]) -> bytes:
    """The bytes of an exception table."""
    found = bytearray()
    for start, end, target, depth, lasti in entries:
        first = bytearray(_pieces(start))
        first[0] |= 128
        found += first + _pieces(end - start) + _pieces(target) + _pieces(depth << 1 | lasti)
    return bytes(found)


def _groups(number: int) -> bytes:
    """A number in groups of six bits, the last group first (line table)."""
    found = bytearray()
    while number > 63:
        found.append(number & 63 | 64)
        number >>= 6
    return bytes(found + bytes((number,)))


def without_place(units: int) -> bytes:
    """Line table of code that belongs to no line."""
    found = bytearray()
    while units:
        count = min(units, 8)
        found.append(0x80 | 15 << 3 | count - 1)
        units -= count
    return bytes(found)


def with_place(units: int, position: tuple, first_line: int) -> bytes:
    """Line table of code at one position, when it is the first that has one."""
    line, end_line, column, end_column = position
    if line is None:
        return without_place(units)
    found = bytearray()
    moved = line - first_line
    while units:
        count = min(units, 8)
        found.append(0x80 | 14 << 3 | count - 1)
        found += _groups(-moved << 1 | 1 if moved < 0 else moved << 1)
        found += _groups((end_line or line) - line)
        found += _groups(0 if column is None else column + 1)
        found += _groups(0 if end_column is None else end_column + 1)
        units, moved = units - count, 0
    return bytes(found)


# ---- the prologue


class Prologue:
    """The instructions that put a frame together; `take` reads the next additional input."""

    def __init__(self, place: Place, own_cells: tuple[int, ...], unbound: Iterable[int]):
        self.place = place
        self.base = slot_count(place.code)
        self.extra = 0
        self.body = bytearray()
        for slot in own_cells:
            self.take()
            self.body += encode("STORE_FAST", slot)
        for slot in unbound:
            self.body += encode("DELETE_FAST", slot)

    def take(self) -> None:
        """Push the next additional input."""
        slot = self.base + self.extra
        self.body += encode("LOAD_DEREF", slot) + encode("DELETE_DEREF", slot)
        self.extra += 1

    def activate(self) -> None:
        """Make the next additional input the active exception; its predecessor stays behind."""
        self.take()
        self.body += encode("PUSH_EXC_INFO") + encode("POP_TOP")

    def push(self, kind: str | int) -> None:
        """Push one item of the stack."""
        if kind == NULL:
            self.body += encode("PUSH_NULL")
        elif kind == ACTIVE:
            self.activate()
        else:
            self.take()

    def head(self, own_cells: tuple[int, ...]) -> bytes:
        """What every function starts with."""
        free = len(self.place.code.co_freevars) + self.extra
        found = encode("COPY_FREE_VARS", free) if free else b""
        found += b"".join(encode("MAKE_CELL", slot) for slot in own_cells)
        if self.place.code.co_flags & GENERATOR:
            found += encode("RETURN_GENERATOR") + encode("POP_TOP")
        return found + encode("RESUME", 0)

    def free_names(self) -> tuple[str, ...]:
        """The additional free variables."""
        return tuple(f".handed{index}" for index in range(self.extra))


@dataclass(frozen=True, slots=True)
class Inputs:
    """Where the inputs of a spliced function come from, as indices into a place's values and what
    goes with them; None for an unbound variable."""

    arguments: tuple[int | None, ...]  # one for each local variable
    free: tuple[int, ...]  # the cells of the function's own free variables
    boxed: tuple[int, ...]  # cells that go into slots, then items of the stack

    def entrance(self, code: CodeType, place: Place, constants: tuple = ()) -> Callable[..., Any]:
        """A function of the place's values that makes the function over this code and calls it.

        It is generated, because it runs at every break:

            def enter(v0, v1, v2):
                return Function(CODE, GLOBALS, NAME, None, (v0, Cell(v2)))(v1, None)
        """
        given = [f"v{index}" for index in range(place.width)]
        known = {f"c{index}": constant for index, constant in enumerate(constants)}
        names = given + list(known)
        closure = [names[index] for index in self.free]
        closure += [f"Cell({names[index]})" for index in self.boxed]
        cells = f"({', '.join(closure)},)" if closure else "None"
        arguments = ", ".join("None" if i is None else names[i] for i in self.arguments)
        made = f"Function(CODE, GLOBALS, NAME, None, {cells})"
        text = f"def enter({', '.join(given)}):\n    return {made}({arguments})\n"
        scope = {"Function": FunctionType, "Cell": CellType, "CODE": code,
                 "GLOBALS": place.globals, "NAME": code.co_name, **known}  # fmt: skip
        return define(text, "enter", f"entrance of {code.co_qualname}", scope)


def frame_inputs(place: Place, stack: tuple[int, ...]) -> tuple[Inputs, tuple[int, ...], list[int]]:
    """(where the inputs come from, slots that get a cell, unbound variables)."""
    code = place.code
    count, first_free = code.co_nlocals, slot_count(code) - len(code.co_freevars)
    at = {slot: index for index, slot in enumerate(place.slots)}
    own = tuple(slot for slot in place.cells if slot < first_free)
    plain = [at[slot] if slot in at and slot not in own else None for slot in range(count)]
    unbound = [slot for slot in range(count) if slot not in at]
    free = tuple(at[slot] for slot in range(first_free, slot_count(code)))
    boxed = tuple(at[slot] for slot in own) + stack
    return Inputs(tuple(plain), free, boxed), own, unbound


def _spliced(prologue: Prologue, body: bytes, lines: bytes, table: bytes, room: int) -> CodeType:
    code = prologue.place.code
    flags = code.co_flags & ~VARARGS
    return code.replace(
        co_code=body,
        co_linetable=lines,
        co_exceptiontable=table,
        co_freevars=code.co_freevars + prologue.free_names(),
        co_argcount=code.co_nlocals,
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_flags=flags | NESTED,
        co_stacksize=max(code.co_stacksize, room) + 2,
    )


# ---- the rest of a function


def unit_start(place: Place) -> int:
    """The offset at which a place can be entered: before prefixes, and before KW_NAMES, PRECALL."""
    program = decode(place.code)
    index = place.index
    while index and program.instructions[index - 1].name in ("KW_NAMES", "PRECALL"):
        index -= 1
    offset = program.instructions[index].offset
    while offset and place.code.co_code[offset - 2] == CODES["EXTENDED_ARG"]:
        offset -= 2
    return offset


class Rest:
    """The rest of a function as Python: called with the objects of its place.

    A generator's rest is a generator that waits at its yield: `next` was called on it once.
    """

    def __init__(self, place: Place):
        self.place = place
        depths = range(len(place.stack))
        on_stack = [place.value_index(d) for d in depths if place.stack[d] in (VALUE, ACTIVE)]
        inputs, own, unbound = frame_inputs(place, tuple(i for i in on_stack if i is not None))
        self.enter = inputs.entrance(_rest_code(place, own, unbound), place)
        self.__name__ = place.code.co_name

    def __call__(self, *values: Any) -> Any:
        """Run to the end."""
        return self.enter(*values)

    def __str__(self) -> str:
        return f"the rest of {self.place.code.co_qualname}() from {self.place.span()}"


def _rest_code(place: Place, own: tuple[int, ...], unbound: list[int]) -> CodeType:
    """The prologue before the original bytes. An offset kept for RERAISE moves with them, which
    changes the length of the prologue that loads it: found by trying."""
    code = place.code
    shift = 0
    while True:
        prologue = Prologue(place, own, unbound)
        constants = list(code.co_consts)
        for kind in place.stack:
            if isinstance(kind, int):
                constants.append(kind // 2 + shift)
                prologue.body += encode("LOAD_CONST", len(constants) - 1)
            else:
                prologue.push(kind)
        target = unit_start(place) // 2
        start = prologue.head(own) + bytes(prologue.body) + encode("JUMP_FORWARD", target)
        if len(start) // 2 == shift:
            break
        shift = len(start) // 2
    entries = [(s + shift, e + shift, t + shift, d, lasti)
               for s, e, t, d, lasti in read_exception_table(code)]  # fmt: skip
    lines = without_place(shift) + code.co_linetable
    made = _spliced(prologue, start + code.co_code, lines, write_exception_table(entries), 0)
    return made.replace(co_consts=tuple(constants))


# ---- one instruction alone


def operation_code(
    prologue: Prologue, own: tuple[int, ...], index: int, body: bytes, ending: bytes,
    room: int, is_active: bool,
) -> CodeType:  # fmt: skip
    """`body` at the position of instruction `index`, then `ending`; with an active exception, it
    is put away again on both ways out."""
    code = prologue.place.code
    offset = decode(code).instructions[index].offset
    position = list(code.co_positions())[offset // 2]
    start = prologue.head(own) + bytes(prologue.body)
    leave = encode("SWAP", 2) + encode("POP_EXCEPT") if is_active else b""
    text = start + body + ending + leave + encode("RETURN_VALUE")
    table = b""
    if is_active:
        # From the end of the prologue: 3.13 takes an error of a called Python function for one of
        # the instruction before the call.
        first, last, target = len(start) // 2 - 1, (len(start) + len(body)) // 2, len(text) // 2
        table = write_exception_table([(first, last, target, 1, 0)])
        text += leave + encode("RERAISE", 0)
    lines = without_place(len(start) // 2)
    lines += with_place(len(body) // 2, position, code.co_firstlineno)
    lines += without_place((len(text) - len(start) - len(body)) // 2)
    made = _spliced(prologue, text, lines, table, room)
    return made.replace(co_flags=made.co_flags & ~GENERATOR)
