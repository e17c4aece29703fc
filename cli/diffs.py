"""What a pass changed, as a diff in which values keep their numbers.

In: a graph's text before and after. Out: Rows, whose sign is '-', '+', ' ' or '~' for lines left
out. Passes renumber their results, so a plain diff would show every line after the
first change; here each value of the new graph takes the number it had before, and values the pass
made are called %new1, %new2, ...

    >>> before = "  %0 = exp(%x)\\n  %1 = mul(%0, 1)\\n  %2 = add(%1, %x)\\n  return %2"
    >>> after = "  %0 = exp(%x)\\n  %1 = add(%0, %x)\\n  return %1"
    >>> for row in graph_diff(before, after):
    ...     print(row.sign + row.text)
       %0 = exp(%x)
    -  %1 = mul(%0, 1)
    -  %2 = add(%1, %x)
    +  %2 = add(%0, %x)
       return %2

Source: Myers-style alignment by difflib's SequenceMatcher, on lines without their numbers;
what it leaves is aligned once more by operation, then by type.
"""

import difflib
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from minitorch2.cli.render import many

CONTEXT = 2
_VALUE = re.compile(r"%(\d+)\b")


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the diff; `old` and `new` are its line numbers there, from 0, where it has any."""

    sign: str
    text: str
    old: int | None = None
    new: int | None = None


def graph_diff(before: str, after: str, context: int = CONTEXT) -> list[Row]:
    """The rows of the diff, unchanged stretches cut down to `context` lines."""
    return list(_hunks(_aligned(before.split("\n"), after.split("\n")), context))


def _aligned(old: list[str], new: list[str]) -> list[Row]:
    names: dict[str, str] = {}  # number in the new graph -> name in the diff
    fresh = itertools.count(1)
    rows: list[Row] = []
    for before, after in _pairs(old, new):
        if before is not None and after is not None:
            names.update(zip(_defined(new[after]), _defined(old[before]), strict=True))
            rows += _pair(old[before], _renamed(new[after], names), before, after)
        elif before is not None:
            rows.append(Row("-", old[before], before))
        elif after is not None:
            names.update((value, f"new{next(fresh)}") for value in _defined(new[after]))
            rows.append(Row("+", _renamed(new[after], names), None, after))
    return _settled(rows)


Pair = tuple[int | None, int | None]
Key = Callable[[str], str]


def _pairs(old: list[str], new: list[str]) -> Iterator[Pair]:
    """Lines that are each other's, by number: equal ones, then ones that define alike."""
    yield from _match(range(len(old)), range(len(new)), old, new, (_text, _call, _type))


def _match(
    left: range, right: range, old: list[str], new: list[str], keys: tuple[Key, ...]
) -> Iterator[Pair]:
    """Pair lines with equal keys; what lies between is tried with the next, weaker key."""
    if not keys or not left or not right:
        yield from ((number, None) for number in left)
        yield from ((None, number) for number in right)
        return
    first = [keys[0](old[number]) for number in left]
    second = [keys[0](new[number]) for number in right]
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        if kind == "equal":
            yield from zip(left[i:i_end], right[j:j_end], strict=True)
        else:
            yield from _match(left[i:i_end], right[j:j_end], old, new, keys[1:])


def _text(line: str) -> str:
    return _VALUE.sub("%", line)


def _call(line: str) -> str:
    """Types and op: what is left when the arguments are taken away."""
    return _text(line).partition("(")[0] if " = " in line else _text(line)


def _type(line: str) -> str:
    return _text(line).partition(" = ")[0]


def _defined(line: str) -> list[str]:
    """The numbers of the values a line defines: those before its `=`."""
    left, equals, _ = line.partition(" = ")
    return _VALUE.findall(left) if equals else []


def _renamed(line: str, names: dict[str, str]) -> str:
    return _VALUE.sub(lambda found: "%" + names.get(found[1], found[1]), line)


def _pair(before: str, after: str, old: int, new: int) -> list[Row]:
    if before == after:
        return [Row(" ", before, old, new)]
    return [Row("-", before, old), Row("+", after, None, new)]


def _settled(rows: list[Row]) -> list[Row]:
    """Removed lines before added ones within each stretch of changes."""
    done: list[Row] = []
    for changed, stretch in itertools.groupby(rows, key=lambda row: row.sign != " "):
        group = list(stretch)
        done += sorted(group, key=lambda row: "-+".index(row.sign)) if changed else group
    return done


def _hunks(rows: list[Row], context: int) -> Iterator[Row]:
    changed = [number for number, row in enumerate(rows) if row.sign != " "]
    kept = {n for c in changed for n in range(c - context, c + context + 1)}
    skipped = 0
    for number, row in enumerate(rows):
        if number in kept:
            if skipped:
                yield _skipped(skipped)
            skipped = 0
            yield row
        else:
            skipped += 1
    if skipped and changed:
        yield _skipped(skipped)


def _skipped(count: int) -> Row:
    return Row("~", f"{many(count, 'line')} as before")
