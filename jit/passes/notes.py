"""What passes did and what they left, in words.

In: passes call `note` where they change a node, `left` where they could have and did not. Out:
whoever runs a pass inside `collected()` gets the Notes in order; otherwise nothing is kept. A note
says whether the change can show in the bits of a result: those make up the ledger of
`numerics="fast"`.

    with collected() as notes:
        graph = apply_rules(graph, options)
    print(*notes, sep="\\n")      # train.py:8: mul_one: mul(%x, 1) => %x

Source: LLVM's optimization remarks (-Rpass, -Rpass-missed).
"""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from minitorch2.artifacts import Origin
from minitorch2.jit.ir.graph import Node


@dataclass(frozen=True, slots=True)
class Note:
    """One change (`did`), or one that was possible and was not made."""

    text: str
    origin: Origin | None
    changes_bits: bool = False
    did: bool = True

    def __str__(self) -> str:
        place = f"{self.origin}: " if self.origin is not None else ""
        return place + ("" if self.did else "not changed: ") + self.text


_current = threading.local()


@contextlib.contextmanager
def collected() -> Iterator[list[Note]]:
    """Collect the notes of this thread made inside the block."""
    before = getattr(_current, "notes", None)
    found: list[Note] = []
    _current.notes = found
    try:
        yield found
    finally:
        _current.notes = before


def note(text: str, node: Node, changes_bits: bool = False) -> None:
    """A pass changed `node`."""
    notes = getattr(_current, "notes", None)
    if notes is not None:
        notes.append(Note(text, node.origin, changes_bits))


def left(text: str, node: Node) -> None:
    """A pass left `node` as it is, and why."""
    notes = getattr(_current, "notes", None)
    if notes is not None:
        notes.append(Note(text, node.origin, did=False))


def repeat(found: Note) -> None:
    """Hand a note on to whoever collects around the collector that got it."""
    notes = getattr(_current, "notes", None)
    if notes is not None:
        notes.append(found)
