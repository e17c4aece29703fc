"""Tables of numbers: what each kernel must move and compute, what its launches took, memory.

In: the facts of "kernel.cost", "runtime.launches" and "memory.planned". Out: aligned columns on a
Page. Every number was predicted or measured elsewhere; here they are only written short.

    >>> short(1_234_567), short(4096), short("4*s0 + 8")
    ('1.23 M', '4.1 k', '4*s0 + 8')

Source: SI prefixes; the columns of a roofline table (Williams, Waterman, Patterson, CACM 2009).
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from minitorch2.cli.render import Page, compact, many

PREFIXES = (("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3))
NOT_KNOWN = "-"
LINES_WIDTH = 26
Row = Mapping[str, Any]


def short(number: int | str | None, unit: str = "") -> str:
    """A count in three digits; an expression, for sizes that are not known, as it is."""
    if number is None or isinstance(number, str):
        return NOT_KNOWN if number is None else number
    for prefix, size in PREFIXES:
        if number >= 0.9995 * size:  # what rounds to a thousand has the next prefix
            return f"{number / size:.3g} {prefix}{unit}"
    return f"{number} {unit}".rstrip()


def write_costs(page: Page, rows: Sequence[Row]) -> None:
    """What one launch of each step moves and computes."""
    head = ("", "user lines", "reads", "writes", "flops", "flops/byte")
    columns(page, head, [_cost(row) for row in rows])


def _cost(row: Row) -> Sequence[str]:
    read, written, flops = (row.get(name) for name in ("bytes_read", "bytes_written", "flops"))
    ratio = ""
    if isinstance(read, int) and isinstance(written, int) and isinstance(flops, int):
        ratio = f"{flops / max(read + written, 1):.2f}"
    return (
        row["name"], _lines(row), short(read, "B"), short(written, "B"), short(flops), ratio
    )  # fmt: skip


def write_launches(page: Page, rows: Sequence[Row]) -> None:
    """All launches of each step, part by part, and their sum."""
    head = ("", "user lines", "launches", "bytes", "flops", "ms", "first", "GB/s")
    cells: list[Sequence[str]] = []
    for part, group in itertools.groupby(rows, key=lambda row: row["part"]):
        cells += [(part, *[""] * (len(head) - 1))] if part else []
        cells += [_launches(row, "  " if part else "") for row in group]
    columns(page, head, [*cells, _launches(_sum(rows), "")])


def _launches(row: Row, indent: str) -> Sequence[str]:
    moved = row["bytes_read"] + row["bytes_written"] if "flops" in row else None
    speed = row.get("gb_per_s")
    return (
        indent + row["name"], _lines(row), str(row["launches"]), short(moved, "B"),
        short(row.get("flops")), f"{row['ms']:.3f}", f"{row['first_ms']:.3f}",
        "" if speed is None else f"{speed:.2f}",
    )  # fmt: skip


def _sum(rows: Sequence[Row]) -> Row:
    names = ("launches", "bytes_read", "bytes_written", "flops", "ms", "first_ms")
    return {"name": "together", "lines": []} | {
        name: sum(row.get(name, 0) for row in rows) for name in names
    }


def write_memory(page: Page, facts: Row) -> None:
    """From which step to which each value has memory, and the sums where those are told."""
    rows = facts["values"]
    if rows:
        head = ("", "user lines", "bytes", "from", "to", "memory of", "at the peak")
        columns(page, head, [_lifetime(row) for row in rows])
        page.blank()
    if facts["writes"]:
        told = [(each["value"], each["step"], each["copied"] or "") for each in facts["writes"]]
        columns(page, ("inputs written", "by", "a copy of"), told)
        page.blank()
    if "sum" not in facts:
        return
    total, peak, blocks = (short(facts[name], "B") for name in ("sum", "peak", "blocks"))
    sizes = ", ".join(f"{name} = {size}" for name, size in facts["examples"].items())
    page.write(f"{many(len(rows), 'value')} of {total} together; at most {peak} at once"
               f"{', in ' + facts['fullest'] if rows else ''}; {blocks} in blocks"
               f"{f' (with {sizes})' if sizes else ''}.", indent=2)  # fmt: skip


def _lifetime(row: Row) -> Sequence[str]:
    return (
        f"{row['value']}: {row['type']}", _lines(row), short(row["bytes"], "B"), row["born"],
        row["dies"], row["after"] or "", "*" if row["at_peak"] else "",
    )  # fmt: skip


def _lines(row: Row) -> str:
    return compact(", ".join(row["lines"]), LINES_WIDTH) if row["lines"] else ""


def columns(page: Page, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns under their names: the first two to the left, numbers to the right."""
    sized = [head, *(row for row in rows if any(row[1:]))]  # a name alone may be wide
    widths = [max(len(row[at]) for row in sized) for at in range(len(head))]
    for number, row in enumerate([head, *rows]):
        cells = [
            f"{cell:<{width}}" if at < 2 else f"{cell:>{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        page.put("  " + "  ".join(cells), "" if number else "dim")
