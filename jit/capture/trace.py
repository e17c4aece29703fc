"""What the machine did at each instruction, for `mt2 explain`.

In: each instruction before and after its handler ran. Out: rows that follow the bytecode of the
user's code, with call depth and what came of each instruction: nodes added to the graph, guards
made, else the value it put on the stack. Nothing is kept when nobody listens.

    train.py:12      4  LOAD_GLOBAL F
                        -> module minitorch2.nn.functional; guard F: was minitorch2.nn.functional
"""

from __future__ import annotations

import linecache
from dataclasses import dataclass, field
from typing import Any

from minitorch2.jit.capture.instructions import Instruction
from minitorch2.jit.capture.state import CaptureState, Frame

SILENT = frozenset({"RESUME", "PRECALL", "PUSH_NULL", "COPY_FREE_VARS", "NOP", "KW_NAMES"})


@dataclass(slots=True)
class Row:
    """One instruction: `place` is file:line, `source` that line, `did` what came of it."""

    place: str
    source: str
    offset: int
    depth: int
    instruction: str
    did: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """The row as plain data."""
        return {name: getattr(self, name) for name in self.__slots__}


class Trace:
    """Collects rows while it is on."""

    __slots__ = ("on", "state", "rows", "_nodes", "_guards", "_stack")

    def __init__(self, on: bool, state: CaptureState):
        self.on = on
        self.state = state
        self.rows: list[Row] = []
        self._nodes = 0
        self._guards = 0
        self._stack: list[Any] = []

    def before(self, frame: Frame, instruction: Instruction) -> None:
        """An instruction of the user's code is about to run."""
        span = instruction.span
        depth = sum(1 for other in self.state.frames[:-1] if other.is_user)
        source = linecache.getline(span.file, span.line).strip()
        text = f"{instruction.name} {instruction.text}".rstrip()
        if "0x" in text:  # a constant that prints its address
            text = instruction.name
        self.rows.append(Row(str(span), source, instruction.offset, depth, text))
        self._nodes = len(self.state.builder.nodes)
        self._guards = len(self.state.guards.guards)
        self._stack = list(frame.stack)

    def after(self, frame: Frame, instruction: Instruction) -> None:
        """It has run: note what it did in the row of this instruction."""
        notes = [str(node) for node in self.state.builder.nodes[self._nodes :]]
        made = self.state.guards.guards[self._guards :]
        notes += [f"guard {guard.subject()}: {guard.meaning}" for guard in made]
        self._nodes += len(self.state.builder.nodes[self._nodes :])
        self._guards += len(made)
        if instruction.name in SILENT:
            return
        top = len(frame.stack) - 1
        # a store, a jump and the end of a loop leave on top what lay there before them
        old = top < len(self._stack) and top >= 0 and frame.stack[top] is self._stack[top]
        if not notes and frame.stack and not old:
            notes = [frame.stack[-1].describe()]
        depth = sum(1 for other in self.state.frames[:-1] if other.is_user)
        for row in reversed(self.rows):
            if row.offset == instruction.offset and row.depth == depth:
                row.did += notes
                return

    def facts(self) -> list[dict[str, Any]]:
        """The rows as plain data, without instructions that do nothing a reader cares for."""
        return [row.as_dict() for row in self._shown()]

    def _shown(self) -> list[Row]:
        return [row for row in self.rows if row.did or row.instruction.split()[0] not in SILENT]

    def __str__(self) -> str:
        rows = self._shown()
        width = max((len(row.place) for row in rows), default=0)
        lines = []
        for row in rows:
            indent = "  " * row.depth
            lines.append(f"{row.place:<{width}} {row.offset:>5}  {indent}{row.instruction}")
            if row.did:
                lines.append(f"{'':>{width + 8}}{indent}-> {'; '.join(row.did)}")
        return "\n".join(lines)
