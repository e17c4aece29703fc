"""Where a frame stands and what it holds there: all that is fixed about it.

In: a code object and the index of the instruction that comes next. Out: a `Place`, the key under
which the rest of the function is compiled. What varies, the objects themselves, is a flat tuple:
one for each slot that holds something, then one for each item of the stack that is an object.

    slots (0, 2), stack (NULL, VALUE)  ->  values (local 0, local 2, the item on top)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from minitorch2.artifacts import Span
from minitorch2.jit.capture.instructions import decode
from minitorch2.jit.capture.source import argument_names

VALUE = "value"  # an object
NULL = "null"  # no object: the place of a missing self, or of an unbound variable
ACTIVE = "active"  # where PUSH_EXC_INFO keeps the exception before; handed over: the active one


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
