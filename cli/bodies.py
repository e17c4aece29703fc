"""How the text of each kind of artifact is laid out: bytecode, graphs, diffs, loops, kernels.

In: a Record and the form its stage has. Out: lines on a Page, user lines in the left column.

    write_body(page, record, "graph")

Source: PEP 657 and `dis` for the bytecode page; `git diff` for the passes.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from minitorch2.cli.costs import write_costs, write_launches, write_memory
from minitorch2.cli.diffs import Row, graph_diff
from minitorch2.cli.records import BACKWARD, SAVED, Record
from minitorch2.cli.render import Page, many

_NUMBERED = re.compile(r"^ *(\d+)  ?(.*)$")
_INSTRUCTION = re.compile(r"^ *(?:(\S+):)?(\d+) +(\d+)  ( *)(\S.*)$")
_GUARD = re.compile(r"^ *if .*: return False")
_NOTE = re.compile(r"^ *-> (.*)$")
_QUIET = ("RESUME", "PRECALL", "CACHE", "NOP", "PUSH_NULL", "EXTENDED_ARG", "COPY_FREE_VARS")


@dataclass(slots=True)
class Step:
    """One instruction and what the symbolic machine did at it."""

    place: str
    source: str
    offset: int
    depth: int
    instruction: str
    did: list[str]


NUMBERS = (
    "Removed lines have a -, added ones a +; values keep the numbers they had before the pass."
)


HOST = (
    "What calls them, in order. arrays() looks into the tensors, empty() takes memory from the "
    "pool, del gives it back, tensor() wraps a result; a kernel gets the length of its outer loop, "
    "its arrays, the sizes and numbers it reads, and the microseconds it should take, which decide "
    "about threads:"
)
SAME = "Nothing had to change:"


class Context:
    """What the other records of a unit say: the user's lines by place, user lines of graphs."""

    def __init__(self, records: Sequence[Record]):
        self.sources: dict[str, str] = {}
        self.places: dict[str, list[str]] = {}
        self.told = False  # how to read a diff
        self.graph = ""  # the last one shown
        for record in records:
            rows = [row for row in record.lines() if row[0].strip() != BACKWARD]
            text = "\n".join(code for code, _ in rows)
            self.places.setdefault(text, [origin for _, origin in rows])
            if record.stage == "capture.source":
                for code, _ in rows:
                    numbered = _NUMBERED.match(code)
                    if numbered:
                        place = f"{_file(record)}:{numbered[1]}"
                        self.sources[place] = numbered[2].strip()


def write_body(page: Page, record: Record, form: str, context: Context) -> None:
    """Lay out one artifact."""
    _FORMS.get(form, _text)(page, record, context)


def _file(record: Record) -> str:
    return record.unit.rpartition(":")[0]


def size(record: Record) -> str:
    """How large an artifact is, in its own terms."""
    lines = record.text.rstrip("\n").split("\n")
    nodes = sum(line.startswith("  %") for line in lines)
    kernels = sum(line.startswith(("kernel ", "def kernel")) for line in lines)
    if record.stage == "capture.bytecode":
        return many(len(steps_of(record)), "instruction")
    if record.stage == "capture.guards":
        return many(sum(bool(_GUARD.match(line)) for line in lines), "guard")
    if record.stage in ("capture.break", "capture.recompile", "capture.limit"):
        return lines[0].strip()
    if "before" in record.facts:
        signs = [row.sign for row in _changes(record)]
        return f"{many(signs.count('-'), 'line')} out, {signs.count('+')} in"
    if kernels:
        return many(kernels, "kernel") + f", {many(len(lines), 'line')}"
    if nodes or record.stage == "capture.graph":
        return many(nodes, "node")
    return many(len(lines), "line")


def _text(page: Page, record: Record, context: Context) -> None:
    page.listing(record.lines())


def _python(page: Page, record: Record, context: Context) -> None:
    """Python text; when its lines carry numbers, those become user lines."""
    rows = []
    for code, origin in record.lines():
        place = source_place(record, code)
        rows.append((_NUMBERED.sub(r"\2", code), place) if place else (code, origin))
    _guards_in_words(page, record)
    page.listing(rows, "python")
    host = record.facts.get("host")
    if host:
        page.blank()
        page.write("What runs in place of the function when the guards hold:", "dim", indent=2)
        page.blank()
        page.listing([(line, "") for line in str(host).rstrip("\n").split("\n")], "python")


def source_place(record: Record, line: str) -> str:
    """The place of a line of the function's own source, which carries its number; else ''."""
    numbered = _NUMBERED.match(line) if record.stage == "capture.source" else None
    return f"{_file(record)}:{numbered[1]}" if numbered else ""


def _guards_in_words(page: Page, record: Record) -> None:
    """Each guard as a sentence, beside the user line that read the value."""
    guards = record.facts.get("guards")
    if guards:
        page.listing([(f"{g['what']}: {g['must']}", g["place"]) for g in guards])
        page.blank()
        page.write("The same as the function that tests it:", "dim", indent=2)
        page.blank()


def _graph(page: Page, record: Record, context: Context) -> None:
    if context.graph == record.text:
        page.write(SAME, "dim", indent=2)
        page.blank()
    context.graph = record.text
    page.listing(record.lines(), "graph")


def _partition(page: Page, record: Record, context: Context) -> None:
    """The forward, the saved values and those computed again as tables, the backward."""
    if "peak" in record.facts:
        return _kept(page, record.facts)
    _rule(page, record.facts, "bytes saved")
    page.blank()
    parts = record.text.split("\n\n")
    graphs = [Record(0, "", "", "", part).lines() for part in parts if not part.startswith(SAVED)]
    made = [{code.split(":")[0].strip(): (code, o) for code, o in rows} for rows in graphs]
    reasons = {(row["value"], row["saved"]): row for row in record.facts.get("reasons", ())}
    for number, part in enumerate(parts):
        if number:
            page.blank()
        if part.startswith(SAVED):
            total = record.facts.get("bytes")
            what = "Saved by the forward, read by the backward"
            page.write(what + (f" ({bytes_text(total)}):" if total else ":"), "bold", indent=2)
            page.table([("", *_saved(line, made[0], reasons)) for line in part.split("\n")])
            continue
        if number == len(parts) - 1:
            _again(page, made[-1], reasons)
        page.listing(Record(0, "", "", "", part).lines(), "graph")


def _rule(page: Page, facts: Mapping[str, Any], what: str) -> None:
    """By which rule it was chosen what is kept."""
    if "budget" not in facts:
        return
    if facts["budget"] >= 1:
        rule = ("No memory budget: only what fuses into the kernels around it is computed again, "
                "and that where it takes less time than to write and read it.")  # fmt: skip
    else:
        rule = (f"A memory budget of {facts['budget']} times the {what} without one. Kept is what "
                "takes longest to compute again for its bytes.")  # fmt: skip
    page.write(rule, indent=2)


def _again(page: Page, made: dict, reasons: dict[tuple[str, bool], dict]) -> None:
    """What the backward computes again, because that is cheaper than to keep it."""
    rows = [row for (_, saved), row in reasons.items() if not saved and row["bytes"]]
    if not rows:
        return
    what = "Computed again by the backward instead of being saved"
    page.write(f"{what} ({_spared(rows)}):", "bold", indent=2)
    table = []
    for row in rows:
        code, origin = made.get(row["value"], ("", ""))
        price = f"{bytes_text(row['bytes'])} for {row['microseconds']} us"
        table.append(("", row["value"], row["type"], price, origin, code.partition(" = ")[2]))
    page.table(table)
    page.blank()


def _kept(page: Page, facts: dict[str, Any]) -> None:
    """What one graph that holds its backward keeps for it, and what it computes again there."""
    low, high = bytes_text(facts["bytes"]), bytes_text(facts["peak"])
    _rule(page, facts, "bytes alive at the fullest point")
    page.write(f"At its fullest point the graph held {high}; now {low} at most.", indent=2)
    titles = {True: "Kept for the backward:", False: "Computed again instead of being kept:"}
    for saved, title in titles.items():
        rows = [row for row in facts["reasons"] if row["saved"] == saved and row["bytes"]]
        if not rows:
            continue
        total = bytes_text(sum(row["bytes"] for row in rows)) if saved else _spared(rows)
        page.blank()
        page.write(f"{title[:-1]} ({total}):", "bold", indent=2)
        page.table(
            ("", row["value"], row["type"], _price(row), ", ".join(row["lines"]), row["made_by"])
            for row in rows
        )


def _price(row: dict) -> str:
    again = "never again" if row.get("once") else f"again in {row['microseconds']} us"
    return f"{bytes_text(row['bytes'])}, {again}"


def _spared(rows: Sequence[dict]) -> str:
    """What all these values weigh, and how long it takes to compute them."""
    total = bytes_text(sum(row["bytes"] for row in rows))
    return f"{total} for {sum(row['microseconds'] for row in rows):.1f} us"


def bytes_text(count: int) -> str:
    """A number of bytes, in the largest unit that leaves it above one.

    >>> bytes_text(512), bytes_text(29_692_416)
    ('512 B', '29.7 MB')
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"


def _saved(line: str, made: dict, reasons: dict[tuple[str, bool], dict]) -> tuple[str, ...]:
    """One saved value: its name, type, name in the backward, price, user line, what made it."""
    name, _, rest = line.removeprefix(SAVED).partition(": ")
    kind, _, inside = rest.partition(" as ")
    code, origin = made.get(name, ("", ""))
    how = code.partition(" = ")[2] if code else "an input"
    row = reasons.get((name, True))
    price = ""
    if row is not None and row["bytes"]:
        price = _price(row)
    return name, kind, f"as {inside}" if inside not in ("", name) else "", price, origin, how


def _changes(record: Record) -> list[Row]:
    return graph_diff(str(record.facts.get("before", "")), str(record.facts.get("after", "")))


def _diff(page: Page, record: Record, context: Context) -> None:
    """What a pass changed; values keep the numbers they had before it."""
    if "before" not in record.facts:  # chosen lines of a diff
        return page.listing(record.lines(), "diff")
    if not context.told:
        page.write(NUMBERS, "dim", indent=2)
        page.blank()
        context.told = True
    rows = [
        (f"   ({row.text})" if row.sign == "~" else row.sign + row.text, place)
        for row, place in diff_rows(record, context)
    ]
    page.listing(rows, "diff")


def diff_rows(record: Record, context: Context) -> list[tuple[Row, str]]:
    """What a pass changed, each line with its user lines."""
    old = context.places.get(str(record.facts.get("before", "")), [])
    new = [origin for _, origin in record.lines()]
    rows = []
    for row in _changes(record):
        places, number = (old, row.old) if row.new is None else (new, row.new)
        known = number is not None and number < len(places)
        rows.append((row, places[number or 0] if known else ""))
    return rows


def _loops(page: Page, record: Record, context: Context) -> None:
    """Kernels and host steps; after them, why fusion kept steps apart."""
    refusals = [str(each) for each in record.facts.get("refusals", ())]
    rows = [(code, origin) for code, origin in record.lines() if code not in refusals]
    while rows and not rows[-1][0].strip():
        rows.pop()
    page.listing(rows, "graph")
    if refusals:
        page.blank()
        page.write("Not fused, and why:", "bold", indent=2)
        page.table([_refusal(text) for text in refusals], ("", "yellow"))


def _refusal(text: str) -> tuple[str, str]:
    pair, found, reason = text.partition(" stay apart: ")
    return (pair, reason) if found else ("", text)


def _kernel(page: Page, record: Record, context: Context) -> None:
    """Generated source. A line without user lines of its own has those of its whole kernel."""
    parts = record.text.rstrip("\n").split("\n\n")
    for number, part in enumerate(parts):
        rows = Record(0, "", "", "", part).lines()
        places = [place for _, origin in rows if origin for place in origin.split(", ")]
        whole = ", ".join(dict.fromkeys(places))
        if number:
            page.blank()
        if "def run_" in part:
            page.write(HOST, "dim", indent=2)
            page.blank()
        page.listing([(code, origin or whole) for code, origin in rows], "python")


def _native(page: Page, record: Record, context: Context) -> None:
    """LLVM or assembly; what LLVM added by itself has no user line."""
    page.listing(record.lines(), "native")


def _costs(page: Page, record: Record, context: Context) -> None:
    write_costs(page, record.facts["costs"])


def _memory(page: Page, record: Record, context: Context) -> None:
    write_memory(page, record.facts)


def _launches(page: Page, record: Record, context: Context) -> None:
    write_launches(page, record.facts["kernels"])


def _alert(page: Page, record: Record, context: Context) -> None:
    page.alert(record.text, "bold red" if record.stage == "capture.break" else "bold yellow")


def _table(page: Page, record: Record, context: Context) -> None:
    rows = [line.split(None, 1) for line in record.text.strip().split("\n")]
    if record.facts:
        page.table([(key.replace("_", " "), str(value)) for key, value in record.facts.items()])
    elif all(len(row) == 2 for row in rows):
        page.table(rows)
    else:
        _text(page, record, context)


def steps_of(record: Record) -> list[Step]:
    """The instructions of a bytecode record, from its facts or else from its text."""
    if "rows" in record.facts:
        return [Step(**row) for row in record.facts["rows"]]
    steps: list[Step] = []
    for line in record.text.split("\n"):
        note, found = _NOTE.match(line), _INSTRUCTION.match(line)
        if note and steps:
            steps[-1].did += note[1].split("; ")
        elif found:
            place = f"{found[1] or _file(record)}:{found[2]}"
            steps.append(Step(place, "", int(found[3]), len(found[4]) // 2, found[5], []))
    return steps


def _bytecode(page: Page, record: Record, context: Context) -> None:
    """Instructions under their source line, beside what came of each."""
    steps = [step for step in steps_of(record) if not _is_quiet(step)]
    if not steps:
        return _text(page, record, context)
    gutter = max(len(step.place) for step in steps) + 2
    widest = max(len(step.instruction) + 2 * step.depth for step in steps)
    column = min(widest, max(28, (page.width - gutter) // 3))
    previous = ""
    for step in steps:
        if step.place != previous:
            if previous:
                page.blank()
            source = step.source or context.sources.get(step.place, "")
            page.write(f"  {step.place}  {'  ' * step.depth}{source}".rstrip(), "yellow")
        previous = step.place
        _step(page, step, column)


def _is_quiet(step: Step) -> bool:
    """Whether an instruction only prepares the next one."""
    told = any(note.startswith(("%", "guard")) for note in step.did)
    return step.instruction.split()[0] in _QUIET and not told


def _step(page: Page, step: Step, column: int) -> None:
    left = f"  {step.offset:>6}  {'  ' * step.depth}{step.instruction}"
    start = 10 + column + 2
    pad = " " * start
    if len(left) > start - 2:
        page.write(left)
        left = ""
    notes: Sequence[str] = step.did or ([""] if left else [])
    for number, note in enumerate(notes):
        head = f"{left:<{start}}" if not number else pad
        page.hanging(head, note, "bold" if note.startswith("%") else "")


_FORMS: dict[str, Callable[[Page, Record, Context], None]] = {
    "python": _python,
    "graph": _graph,
    "partition": _partition,
    "diff": _diff,
    "loops": _loops,
    "kernel": _kernel,
    "native": _native,
    "costs": _costs,
    "launches": _launches,
    "memory": _memory,
    "alert": _alert,
    "table": _table,
    "bytecode": _bytecode,
}
