"""The events of a run as plain records: what the report is laid out from and what --json writes.

In: Events, while the script runs. Out: Records, whose text is fixed the moment they arrive, so
that nothing of the script is kept alive. Graphs are printed with their user lines.

    >>> from minitorch2.artifacts import emit, subscribe
    >>> collector = Collector()
    >>> with subscribe(collector):
    ...     emit("capture.source", "digits.py:loss#0", "def loss(): ...")
    >>> collector.records[0].stage, collector.records[0].function
    ('capture.source', 'loss')

Source: the stream is that of minitorch2.artifacts; one JSON object a line follows jsonlines.org.
"""

import json
import os
import re
from dataclasses import dataclass, field
from typing import Any, TextIO

from minitorch2.artifacts import Event
from minitorch2.cli.stages import matches
from minitorch2.jit.autodiff.partition import Partition
from minitorch2.jit.ir.graph import Graph
from minitorch2.jit.ir.printer import INDENT, print_graph

_ORIGIN = re.compile(r"^(?P<code>.*?)\s*# (?P<origin>[^#'\"]+:\d+(?:, [^#'\"]+:\d+)*|<[^<>]+>)$")
BACKWARD = "# backward"
SAVED = "saved for the backward: "
HALVED = ("loops", "kernel", "memory", "cuda")  # stages that each half goes through
_PART = re.compile(
    r"(?:^|\bdef run_)\w+_(forward|backward)(?:_without_(\d+(?:_\d+)*))?(?:$|\()", re.M
)


@dataclass(frozen=True, slots=True)
class Record:
    """One event as text. `unit` is the compiled function, `producer` the file that emitted it."""

    id: int
    stage: str
    unit: str
    producer: str
    text: str
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def function(self) -> str:
        """The function's own name: 'loss' of 'digits.py:loss#0'."""
        return self.unit.rpartition(":")[2].partition("#")[0]

    @property
    def part(self) -> str:
        """What belongs to one half of the joint graph: 'forward', 'backward', 'backward without
        output 1'; else ''."""
        found = _PART.search(str(self.facts.get("graph", "")) or self.text)
        if not found or not self.stage.startswith(HALVED):
            return ""
        missing = f" without output {found[2].replace('_', ', ')}" if found[2] else ""
        return found[1] + missing

    def lines(self) -> list[tuple[str, str]]:
        """Each line of the text as (code, user lines); without any, the second is empty."""
        return [split_origin(line) for line in self.text.rstrip("\n").split("\n")]


def split_origin(line: str) -> tuple[str, str]:
    """A printed line and the user lines in its trailing comment.

    >>> split_origin("  %0: f32[4] = exp(%x)  # digits.py:7, digits.py:9")
    ('  %0: f32[4] = exp(%x)', 'digits.py:7, digits.py:9')
    """
    found = _ORIGIN.match(line)
    return (found["code"], found["origin"]) if found else (line, "")


class Collector:
    """A subscriber that keeps what it hears."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def __call__(self, event: Event) -> None:
        """Keep one event."""
        payload = event.payload
        joint = event.stage == "autodiff.joint" and isinstance(payload, Graph)
        text = _joint_text(payload) if joint else text_of(payload)
        record = Record(event.id, event.stage, event.unit, event.producer, text, event.facts)
        self.records.append(record)


def text_of(payload: Any) -> str:
    """An artifact as text; graphs with their user lines."""
    if isinstance(payload, Graph):
        return print_graph(payload, origins=True)
    if isinstance(payload, Partition):
        names = [given.value for given in payload.backward.inputs]
        saved = [
            f"{SAVED}{value}: {value.type} as {name}"
            for value, name in zip(payload.saved, names, strict=False)
        ]
        parts = [text_of(payload.forward), "\n".join(saved), text_of(payload.backward)]
        return "\n\n".join(part for part in parts if part)
    return str(payload)


def _joint_text(graph: Graph) -> str:
    """A joint graph with its user lines, and a comment where the backward begins."""
    text = print_graph(graph, origins=True)
    for node in graph.nodes:
        if node.origin is not None and node.origin.made_by.startswith("vjp of "):
            first = f"\n{INDENT}{node.results[0]}:"
            return text.replace(first, f"\n{INDENT}{BACKWARD}{first}", 1)
    return text


def is_about(record: Record, function: str) -> bool:
    """Whether a `--function` names the record's unit: whole, or by any of its natural parts."""
    name, qualified = record.unit.partition("#")[0], record.unit.rpartition(":")[2]
    short = record.function.rpartition(".")[2]
    return function in (record.unit, name, qualified, record.function, short)


def select(records: list[Record], stages: tuple[str, ...], function: str | None) -> list[Record]:
    """The records that `--stage` and `--function` ask for."""
    return [
        record
        for record in records
        if (not stages or any(matches(query, record.stage) for query in stages))
        and (function is None or is_about(record, function))
    ]


def write_json(file: TextIO, records: list[Record], script: str, code: int) -> None:
    """The stream as JSON: one object a line into `*.jsonl`, else one document."""
    rows = [_row(record) for record in records]
    if file.name.endswith(".jsonl"):
        for row in rows:
            file.write(json.dumps(row, default=str) + "\n")
        return
    document = {"script": os.path.basename(script), "exit_code": code, "events": rows}
    file.write(json.dumps(document, default=str, indent=1) + "\n")


def _row(record: Record) -> dict[str, Any]:
    names = ("id", "stage", "unit", "producer", "text", "facts")
    return {name: getattr(record, name) for name in names}
