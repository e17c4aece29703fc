"""The life of one line of the user's source: what became of it, stage by stage, and nothing else.

In: the Records of a run and a Place. Out: Records cut down to what comes from that place: its
instructions and guards, its nodes in every graph, what of it was saved, its statements in loops and
kernels. Provenance decides: every printed line ends with the user lines it comes from.

    >>> place = place_of("digits.py:42")
    >>> cut = Cut(place)
    >>> cut.block(["kernel k(t0: f32[4] in) {", "  v0: f32 = t0[0]  # digits.py:42", "}"])
    ['kernel k', '  v0: f32 = t0[0]  # digits.py:42']

Source: the sections of `objdump --line-numbers`, turned round.
"""

import difflib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from minitorch2.cli import bodies
from minitorch2.cli.records import BACKWARD, SAVED, Record, split_origin
from minitorch2.cli.stages import stage_named

NEAR = 3  # captured lines shown before and after one that was not
LEFT_OUT = ("loops.lowered", "runtime.totals")  # said again by the fused loops; of no line
_PLACE = re.compile(r"^(?:(?P<file>.+):)?(?P<line>[1-9]\d*)$")
_KEY = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+)$")
_LOOP_NOTE = re.compile(r"^\s*[#;] (?:vector|scalar) loop")


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file; files are known by their last name, as everywhere in the report."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def place_of(text: str, script: str = "") -> Place | None:
    """The place that FILE:N names, or N alone in the script; None for anything else."""
    found = _PLACE.match(text)
    if found is None:
        return None
    return Place(os.path.basename(found["file"] or script), int(found["line"]))


def life_of(
    records: Sequence[Record], place: Place, stages: Sequence[str], chosen: Sequence[Record]
) -> list[Record]:
    """The chosen records of a run, cut down to a place; without those in which it has no part.

    `stages` are those asked for by name, which are not left out.
    """
    contexts: dict[str, bodies.Context] = {}
    cut, found = Cut(place), []
    for record in chosen:
        if record.stage in LEFT_OUT and not stages:
            continue
        if record.unit not in contexts:
            own = [each for each in records if each.unit == record.unit]
            contexts[record.unit] = bodies.Context(own)
        found += cut.record(record, contexts[record.unit])
    return found


class Cut:
    """Cuts records down to one place."""

    def __init__(self, place: Place):
        self.place = str(place)

    def record(self, record: Record, context: bodies.Context) -> list[Record]:
        """The record with what belongs to the place; none if nothing does."""
        form = stage_named(record.stage).form
        by_form: dict[str, Callable[[Record, bodies.Context], Record]] = {
            "bytecode": self.bytecode,
            "python": self.python,
            "partition": self.partition,
            "diff": self.diff,
            "alert": self.alert,
            "costs": self.rows,
            "launches": self.rows,
            "memory": self.memory,
        }
        cut = by_form.get(form, self.blocks)(record, context)
        return [cut] if cut.text.strip() else []

    def is_here(self, line: str) -> bool:
        """Whether a printed line comes from the place."""
        return self.place in split_origin(line)[1].split(", ")

    def bytecode(self, record: Record, context: bodies.Context) -> Record:
        steps = [step for step in bodies.steps_of(record) if step.place == self.place]
        text = [f"{s.place}  {s.offset}  {s.instruction}  {'; '.join(s.did)}" for s in steps]
        rows = [{name: getattr(step, name) for name in bodies.Step.__slots__} for step in steps]
        return replace(record, text="\n".join(text), facts={"rows": rows})

    def python(self, record: Record, context: bodies.Context) -> Record:
        """The line itself, or the guards it caused."""
        lines = [
            line
            for line in record.text.split("\n")
            if self.is_here(line) or bodies.source_place(record, line) == self.place
        ]
        guards = [g for g in record.facts.get("guards", ()) if g["place"] == self.place]
        return replace(record, text="\n".join(lines), facts={"guards": guards} if guards else {})

    def diff(self, record: Record, context: bodies.Context) -> Record:
        lines = [
            f"{row.sign}{row.text}  # {places}"
            for row, places in bodies.diff_rows(record, context)
            if row.sign in "+-" and self.place in places.split(", ")
        ]
        return replace(record, text="\n".join(lines), facts={})

    def alert(self, record: Record, context: bodies.Context) -> Record:
        named = re.search(rf"(?<![\w.]){re.escape(self.place)}(?!\d)", record.text)
        return record if named else replace(record, text="")

    def rows(self, record: Record, context: bodies.Context) -> Record:
        lines = [line for line in record.text.split("\n") if self.is_here(line)]
        facts: dict[str, Any] = {
            name: [row for row in rows if self.place in row["lines"]]
            for name, rows in record.facts.items()
            if name in ("costs", "kernels")
        }
        return replace(record, text="\n".join(lines), facts=facts | _graph_of(record))

    def memory(self, record: Record, context: bodies.Context) -> Record:
        """The values that the place makes; the sums are those of all values and left out."""
        rows = [row for row in record.facts["values"] if self.place in row["lines"]]
        lines = [line for line in record.text.split("\n") if self.is_here(line)]
        return replace(record, text="\n".join(lines), facts={"values": rows, "writes": []})

    def partition(self, record: Record, context: bodies.Context) -> Record:
        """The nodes of each half, and the saved values that they made."""
        parts = [part.split("\n") for part in record.text.split("\n\n")]
        graphs = [part for part in parts if not part[0].startswith(SAVED)]
        here = {line.split(":")[0].strip() for line in graphs[0] if self.is_here(line)}
        kept = []
        for part in parts:
            if part[0].startswith(SAVED):
                names = [line.removeprefix(SAVED).partition(": ")[0] for line in part]
                kept.append([x for x, name in zip(part, names, strict=True) if name in here])
            else:
                kept.append(self.block(part))
        return replace(record, text=_joined(kept), facts={})

    def blocks(self, record: Record, context: bodies.Context) -> Record:
        """Graphs, loops, kernels, assembly: blocks with a head, apart by an empty line."""
        kept = [self.block(part.split("\n")) for part in record.text.split("\n\n")]
        return replace(record, text=_joined(kept), facts=_graph_of(record))

    def block(self, lines: Sequence[str]) -> list[str]:
        """The lines from the place under the head's name; of loops, their end with the head."""
        if len(lines) == 1:
            return [line for line in lines if self.is_here(line)]
        kept: list[str] = []
        ends: list[int] = []  # indents of loops whose head was kept
        note = ""  # a heading, kept with the first line under it
        for line in lines[1:]:
            indent = len(line) - len(line.lstrip())
            if _LOOP_NOTE.match(line) or line.strip() == BACKWARD:
                note = line
            elif self.is_here(line):
                kept += [note, line] if note else [line]
                note = ""
                ends += [indent] if split_origin(line)[0].endswith("{") else []
            elif line.lstrip().startswith("}") and ends and ends[-1] == indent:
                ends.pop()
                kept += [line] if " into " in line else []
        return [split_origin(lines[0])[0].partition("(")[0], *kept] if kept else []


def _joined(blocks: Iterable[Sequence[str]]) -> str:
    return "\n\n".join("\n".join(lines) for lines in blocks if lines)


def _graph_of(record: Record) -> dict[str, Any]:
    """What tells the half of the joint graph that a record belongs to."""
    part = record.part
    return {"graph": f"{record.function}_{part}"} if part else {}


def captured_places(records: Sequence[Record]) -> dict[Place, str]:
    """Every place that has a part in the compiler's work, with its source where that is known."""
    found: dict[str, str] = {}
    for record in records:
        if record.stage == "capture.bytecode":
            for step in bodies.steps_of(record):
                found[step.place] = found.get(step.place) or step.source
        elif record.stage != "capture.source":
            for _, origin in record.lines():
                found |= {place: found.get(place, "") for place in origin.split(", ") if origin}
    sources = bodies.Context(records).sources
    keys = {key: _KEY.match(key) for key in found}
    return {
        Place(key["file"], int(key["line"])): found[text] or sources.get(text, "")
        for text, key in keys.items()
        if key is not None
    }


def nearest_places(places: dict[Place, str], wanted: Place) -> list[Place]:
    """The captured lines of the file just before and just after a line that was not."""
    lines = sorted(place.line for place in places if place.file == wanted.file)
    before = [line for line in lines if line < wanted.line][-NEAR:]
    after = [line for line in lines if line > wanted.line][:NEAR]
    return [Place(wanted.file, line) for line in before + after]


def never_captured(records: Sequence[Record], place: Place) -> tuple[str, list[tuple[str, str]]]:
    """What to say of a place without a life, and the captured lines to try instead."""
    places = captured_places(records)
    near = nearest_places(places, place)
    if near:
        said = f"{place} was never captured: no compiled function ran it. The nearest that were:"
        return said, [(str(each), places[each]) for each in near]
    files = sorted({each.file for each in places})
    close = difflib.get_close_matches(place.file, files, 1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    said = f"No line of {place.file} was captured{hint}. Captured lines are in:"
    counts = {file: sum(each.file == file for each in places) for file in files}
    return said, [(file, f"{count} lines") for file, count in counts.items()]
