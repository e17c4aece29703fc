"""What the machine did at each instruction, for `mt2 explain`.

In: each instruction before and after its handler ran. Out: text that follows the bytecode, indented
by call depth: line, offset, instruction, and what came of it (the value on top of the stack, the
nodes added to the graph, the guards made). Nothing is kept when nobody listens.

      12    4  LOAD_GLOBAL F                     module minitorch2.nn.functional; guard: F
"""

from __future__ import annotations

from minitorch2.jit.capture.instructions import Instruction
from minitorch2.jit.capture.state import CaptureState, Frame


class Trace:
    """Collects lines while it is on."""

    __slots__ = ("on", "state", "lines", "_nodes", "_guards")

    def __init__(self, on: bool, state: CaptureState):
        self.on = on
        self.state = state
        self.lines: list[str] = []
        self._nodes = 0
        self._guards = 0

    def before(self, frame: Frame, instruction: Instruction) -> None:
        """An instruction is about to run."""
        if not self.on or not frame.is_user:
            return
        depth = "  " * sum(1 for other in self.state.frames[:-1] if other.is_user)
        text = f"{instruction.name} {instruction.text}".rstrip()
        place = f"{instruction.span.line:>5} {instruction.offset:>5}"
        self.lines.append(f"{place}  {depth}{text}")
        self._nodes = len(self.state.builder.nodes)
        self._guards = len(self.state.guards.guards)

    def after(self, frame: Frame, instruction: Instruction) -> None:
        """It has run."""
        if not self.on or not frame.is_user:
            return
        notes = [str(node).split("#")[0].strip() for node in
                 self.state.builder.nodes[self._nodes :]]  # fmt: skip
        guards = self.state.guards.guards[self._guards :]
        notes += [f"guard {guard.subject()}: {guard.meaning}" for guard in guards]
        self._nodes += len(self.state.builder.nodes[self._nodes :])
        self._guards += len(guards)
        if not notes and frame.stack:
            notes = [frame.stack[-1].describe()]
        if notes and self.lines:
            self.lines.append(f"{'':>13}  -> {'; '.join(notes)}")

    def __str__(self) -> str:
        return "\n".join(self.lines)
