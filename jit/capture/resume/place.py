"""Where a frame stands and what it holds there: all that is fixed about it.

In: a code object and the index of the instruction that comes next. Out: a `Place`, the key under
which the rest of the function is compiled. What varies, the objects themselves, is a flat tuple:
one for each slot that holds something, then one for each item of the stack that is an object.

    slots (0, 2), stack (NULL, VALUE)  ->  values (local 0, local 2, the item on top)
"""

from __future__ import annotations

import linecache
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from minitorch2.artifacts import Span
from minitorch2.jit.capture.instructions import decode
from minitorch2.jit.capture.source import argument_names

VALUE = "value"  # an object
NULL = "null"  # no object: the place of a missing self, or of an unbound variable
ACTIVE = "active"  # where PUSH_EXC_INFO keeps the exception before; handed over: the active one


MAKING = ("LOAD_ATTR", "LOAD_METHOD", "BINARY_SUBSCR", "BINARY_OP", "COMPARE_OP", "FOR_ITER",
          "FORMAT_VALUE", "CONTAINS_OP", "UNARY_NOT")  # fmt: skip
LONGEST = 40  # characters of an expression that stands for a name


def text_of(span: Span) -> str:
    """The source text of a place, when it is short and on one line."""
    if span.end_line not in (0, span.line) or not span.end_column:
        return ""
    line = linecache.getline(span.file, span.line).encode()
    text = line[span.column : span.end_column].decode(errors="replace")
    return text if len(text) <= LONGEST else ""


@dataclass(frozen=True, slots=True)
class Place:
    """A point in a function. `slots` hold something, `cells` are those that hold a cell itself.

    `stack` names the kind of each item, deepest first; an int is an instruction offset, which
    exception handlers keep there.
    """

    code: CodeType
    index: int
    slots: tuple[int, ...]
    cells: tuple[int, ...]
    stack: tuple[str | int, ...]
    globals: dict[str, Any] = field(compare=False, repr=False)
    globals_id: int = 0

    @property
    def width(self) -> int:
        """How many objects are handed over."""
        return len(self.slots) + sum(1 for kind in self.stack if kind in (VALUE, ACTIVE))

    def span(self) -> Span:
        """The user's line of the instruction that comes next."""
        return decode(self.code).instructions[self.index].span

    def names(self) -> list[str]:
        """A name for each object, that of the variable where there is one."""
        hints = [name_of(self.code, slot) for slot in self.slots]
        on_stack = [kind for kind in self.stack if kind in (VALUE, ACTIVE)]
        hints += [f"stack{index}" for index in range(len(on_stack))]
        return argument_names(self.width, (), tuple(hints))

    def labels(self) -> list[str]:
        """What a user would call each object: the variable, or the expression it came from."""
        names = self.names()
        stack = [place for place, kind in enumerate(self.stack) if kind in (VALUE, ACTIVE)]
        for count, depth in enumerate(stack):
            at = len(self.slots) + count
            span = self._maker_of(depth)
            text = text_of(span) if span is not None else ""
            what = text or f"a value kept at line {self.span().line}"
            names[at] = what if what not in names else f"{what} ({count + 1})"
        return names

    def _maker_of(self, depth: int) -> Span | None:
        """The place of the operation that left the object on top of the stack."""
        if depth != len(self.stack) - 1 or not self.index:
            return None
        made_by = decode(self.code).instructions[self.index - 1]
        return made_by.span if "CALL" in made_by.name or made_by.name in MAKING else None

    def value_index(self, depth: int) -> int | None:
        """Which of the objects is item `depth` of the stack, if it is an object."""
        if self.stack[depth] not in (VALUE, ACTIVE):
            return None
        below = sum(1 for kind in self.stack[:depth] if kind in (VALUE, ACTIVE))
        return len(self.slots) + below


def name_of(code: CodeType, slot: int) -> str:
    """The variable that lives in a slot."""
    return code._varname_from_oparg(slot)  # type: ignore[attr-defined]


def slot_count(code: CodeType) -> int:
    """How many slots a frame of this code has: locals, cells, free variables."""
    own = sum(1 for name in code.co_cellvars if name not in code.co_varnames)
    return len(code.co_varnames) + own + len(code.co_freevars)
