"""Bytecode as a list of instructions with jump targets, exception handlers and source spans.

In: a code object of CPython 3.11, 3.12 or 3.13. Out: `decode(code)`, a cached `Program` whose
jumps are indices into its list, so that the machine never counts bytes. Where 3.13 compares and
tests in one instruction, `COMPARE_OP bool(>)`, the list has two, as the other versions have: what
is compared belongs to the graph also where its truth ends it.

    >>> def f(x): return x + 1
    >>> [i.name for i in decode(f.__code__).instructions if i.name == "BINARY_OP"]
    ['BINARY_OP']

Source: the `dis` module and Objects/exception_handling_notes.txt of CPython.
"""

import dis
import functools
import sys
from dataclasses import dataclass
from types import CodeType
from typing import Any

from minitorch2.artifacts import Span

PY312 = sys.version_info >= (3, 12)
PY313 = sys.version_info >= (3, 13)
SKIPPED = frozenset({"CACHE", "EXTENDED_ARG"})


def beside_null(function: Any, null: Any) -> tuple[Any, Any]:
    """Something to be called and the NULL for "no self", as they lie on the stack."""
    return (function, null) if PY313 else (null, function)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction; `target` is the index a jump goes to, `span` its place in the source."""

    name: str
    argument: int
    value: Any
    text: str
    offset: int
    target: int | None
    span: Span
    is_half: bool = False  # the second of the two that are one in the bytes


@dataclass(frozen=True, slots=True)
class Handler:
    """Instructions start <= index < end are covered; the stack is cut to `depth` on the way."""

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


@dataclass(frozen=True, slots=True)
class Program:
    """A decoded code object."""

    code: CodeType
    instructions: tuple[Instruction, ...]
    handlers: tuple[Handler, ...]

    def handler_at(self, index: int) -> Handler | None:
        """The innermost handler that covers an instruction: the table lists it last... or alone.

        CPython's table never overlaps, so the first that covers it is the one.
        """
        for handler in self.handlers:
            if handler.start <= index < handler.end:
                return handler
        return None


@functools.lru_cache(maxsize=4096)
def decode(code: CodeType) -> Program:
    """Decode once for each code object."""
    raw = list(dis.get_instructions(code, adaptive=False, show_caches=False))
    index_of: dict[int, int] = {}
    kept: list[dis.Instruction] = []
    waiting: list[int] = []
    for item in raw:
        waiting.append(item.offset)
        if item.opname in SKIPPED:
            continue
        for offset in waiting:
            index_of[offset] = len(kept)
        waiting = []
        kept.append(item)
        if _compares_and_tests(item):
            kept.append(item)
    size = len(code.co_code)
    index_of[size] = len(kept)
    before: list[dis.Instruction | None] = [None, *kept]
    instructions = tuple(
        _convert(item, code, index_of, item is last)
        for item, last in zip(kept, before, strict=False)
    )
    handlers = tuple(
        Handler(
            _index(index_of, entry.start),
            _index(index_of, entry.end),
            _index(index_of, entry.target),
            entry.depth,
            entry.lasti,
        )
        for entry in dis.Bytecode(code).exception_entries  # type: ignore[attr-defined]
    )
    return Program(code, instructions, handlers)


def _index(index_of: dict[int, int], offset: int) -> int:
    while offset not in index_of:  # the end of a range may fall on an inline cache
        offset += 2
    return index_of[offset]


JUMPS = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)


TESTED = 16 if PY313 else 0  # the bit of COMPARE_OP that asks for the truth


def _compares_and_tests(item: dis.Instruction) -> bool:
    return item.opname == "COMPARE_OP" and bool((item.arg or 0) & TESTED)


def _convert(
    item: dis.Instruction, code: CodeType, index_of: dict[int, int], is_half: bool
) -> Instruction:
    if is_half:
        span = _span(item, code)
        return Instruction("TO_BOOL", 0, None, "", item.offset, None, span, is_half=True)
    target = _index(index_of, item.argval) if item.opcode in JUMPS else None
    return Instruction(
        item.opname,
        item.arg if item.arg is not None else 0,
        item.argval,
        item.argrepr,
        item.offset,
        target,
        _span(item, code),
    )


def _span(item: dis.Instruction, code: CodeType) -> Span:
    where = item.positions
    if where is None or where.lineno is None:
        return Span(code.co_filename, code.co_firstlineno)
    return Span(
        code.co_filename,
        where.lineno,
        where.end_lineno or where.lineno,
        where.col_offset or 0,
        where.end_col_offset or 0,
    )
