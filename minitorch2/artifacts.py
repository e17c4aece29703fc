"""Provenance and the stream of events: what every stage did, and from which user line.

In: stages call `emit(stage, unit, payload)` with the object they made. Out: whoever subscribed
gets one Event for each, in order; with no subscriber nothing happens at all. Payloads are kept
as objects; their text is made only when somebody reads it.

    with subscribe(events.append):
        compiled(x)
    events[0].stage, events[0].text

An Origin answers, for every graph node, loop and kernel line: which user source span, which
bytecode offset, which capture step, which parents, which pass.

Source: the one-stream design follows TORCH_LOGS and hidet's instruments; columns come from PEP 657.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of source text: lines count from 1, columns from 0, ends included as in PEP 657."""

    file: str
    line: int
    end_line: int = 0
    column: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something came from. See the module's docstring for each field's question."""

    spans: tuple[Span, ...] = ()
    offset: int | None = None
    step: int | None = None
    made_by: str = "text"
    parents: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ", ".join(dict.fromkeys(str(span) for span in self.spans)) or f"<{self.made_by}>"

    @staticmethod
    def union(origins: "list[Origin] | tuple[Origin, ...]", made_by: str) -> "Origin":
        """The Origin of something made from several things: all spans, all parents, in order."""
        spans = tuple(dict.fromkeys(span for origin in origins for span in origin.spans))
        parents = tuple(dict.fromkeys(parent for origin in origins for parent in origin.parents))
        offsets = [origin.offset for origin in origins if origin.offset is not None]
        steps = [origin.step for origin in origins if origin.step is not None]
        return Origin(spans, min(offsets, default=None), min(steps, default=None), made_by, parents)

    def derived(self, made_by: str, parents: tuple[str, ...] = ()) -> "Origin":
        """The same place in the user's source, made by another stage."""
        return Origin(self.spans, self.offset, self.step, made_by, parents or self.parents)


@dataclass(frozen=True, slots=True)
class Event:
    """One artifact of one stage. `text` is deterministic: no addresses, times, absolute paths."""

    id: int
    stage: str
    unit: str
    payload: Any
    facts: dict[str, Any] = field(default_factory=dict)
    producer: str = ""

    @property
    def text(self) -> str:
        """The payload's printed form."""
        return str(self.payload)


_silent = threading.local()
_subscribers: tuple[tuple[Callable[[Event], None], frozenset[str]], ...] = ()
_next_id = 0


def listening() -> bool:
    """Whether anybody would receive an event (so that facts need not be gathered for nobody)."""
    return bool(_subscribers)


def wants(stage: str) -> bool:
    """Whether somebody asked for a stage that costs time and is made for nobody else."""
    return any(stage in also for _, also in _subscribers)


def emit(stage: str, unit: str, payload: Any, **facts: Any) -> None:
    """Hand one artifact to the subscribers; `unit` is the compiled function's stable name."""
    if not _subscribers or getattr(_silent, "now", False):
        return
    global _next_id
    producer = _relative(sys._getframe(1).f_code.co_filename)
    event = Event(_next_id, stage, unit, payload, facts, producer)
    _next_id += 1
    for subscriber, _ in _subscribers:
        subscriber(event)


@contextlib.contextmanager
def muted() -> Iterator[None]:
    """What this thread does inside is only tried, and nobody is told."""
    before = getattr(_silent, "now", False)
    _silent.now = True
    try:
        yield
    finally:
        _silent.now = before


@contextlib.contextmanager
def subscribe(subscriber: Callable[[Event], None], also: Iterable[str] = ()) -> Iterator[None]:
    """Receive every event emitted inside the `with` block, from any thread.

    `also` names the stages that are made only when somebody `wants` them: "kernel.llvm",
    "kernel.asm", "runtime.launches" (which times every launch of what is compiled meanwhile),
    "runtime.inputs" (copies of what each captured graph was first called with).
    """
    global _subscribers
    entry = (subscriber, frozenset(also))
    _subscribers = (*_subscribers, entry)
    try:
        yield
    finally:
        _subscribers = tuple(other for other in _subscribers if other is not entry)


_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def _relative(path: str) -> str:
    return path[len(_ROOT) :] if path.startswith(_ROOT) else os.path.basename(path)
