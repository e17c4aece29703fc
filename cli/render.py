"""Layout of the report: headings, listings with a column of user lines, tables, boxes.

In: texts and where they belong. Out: lines on a file that fit its width. Long lines are folded
with a hanging indent, colour is used on terminals only (and never under NO_COLOR), and what a
narrow encoding cannot say is written in ASCII.

    page = Page(sys.stdout)
    page.heading("captured graph", "jit/capture/convert.py", "The operations, one a line.")
    page.listing([("  %0: f32[4] = exp(%x)", "digits.py:7")], "graph")

Source: the column of places follows `objdump --source` and Rust's error reports.
"""

import contextlib
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

DEFAULT_WIDTH, WIDEST, NARROWEST = 100, 132, 40
HANG = 4
_GRAPH = (
    (re.compile(r"%\w+"), "cyan"),
    (re.compile(r"(?<== )[a-z_]\w*(?=\()"), "bold"),
    (
        re.compile(r"\b(?:graph|return|writes|where|kernel|for|in|parallel|reduce|into)\b"),
        "magenta",
    ),
    (re.compile(r"\b(?:f|bf|i|u)\d+(?:\[[^\]]*\])?|\bbool\b"), "green"),
)
_PYTHON = Syntax("", "python", theme="ansi_dark", background_color="default")


class _Console(Console):
    """Rich's console, which would end the process when the reader of a pipe goes away."""

    def on_broken_pipe(self) -> None:
        """Let the command decide."""
        raise BrokenPipeError


def many(count: int, word: str) -> str:
    """A count with its noun.

    >>> many(1, "line"), many(0, "line")
    ('1 line', '0 lines')
    """
    return f"{count} {word}{'' if count == 1 else 's'}"


def _behind_pipe() -> int:
    """The width of the terminal on which a pager shows standard output; 0 where none is known."""
    with contextlib.suppress(OSError, ValueError, AttributeError):  # no file
        if not stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode):
            return 0
    for file in (sys.stderr, sys.stdin):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # no terminal
            return os.get_terminal_size(file.fileno()).columns
    return 0


class Page:
    """Writes to one file. `width` is its reader's: COLUMNS, the terminal's, or 100."""

    def __init__(self, file: TextIO, width: int | None = None):
        if width is None:
            width = shutil.get_terminal_size((0, 24)).columns or _behind_pipe() or DEFAULT_WIDTH
        self.width = max(NARROWEST, min(width, WIDEST))
        self.console = _Console(
            file=file,
            width=self.width,
            color_system=None if os.environ.get("NO_COLOR") else "auto",
            highlight=False,
            markup=False,
            emoji=False,
        )
        self.coloured = self.console.color_system is not None
        self.encoding = getattr(file, "encoding", None) or "utf-8"
        self.bar, self.rule, self.mark = ("│", "─", "▌") if self._can("│─▌") else ("|", "-", "!")

    def _can(self, text: str) -> bool:
        try:
            text.encode(self.encoding)
        except (UnicodeEncodeError, LookupError):
            return False
        return True

    # ---- single lines

    def put(self, text: Text | str, style: str = "") -> None:
        """One line as it is."""
        text = Text(text, style) if isinstance(text, str) else text
        text.rstrip()
        if not self._can(text.plain):
            safe = text.plain.encode(self.encoding, "backslashreplace").decode(self.encoding)
            text = Text(safe, style)
        self.console.print(text, soft_wrap=True)

    def blank(self) -> None:
        """An empty line."""
        self.put("")

    def write(self, text: Text | str, style: str = "", indent: int = 0, hang: int = 0) -> None:
        """Prose: folded at the width, all lines indented, continuations by `hang` more."""
        text = Text(text, style) if isinstance(text, str) else text
        pad = " " * indent
        for number, line in enumerate(fold(text, self.width - indent, hang)):
            self.put(Text(pad) + line if line.plain or not number else Text())

    def hanging(self, head: str, text: str, style: str = "") -> None:
        """A text beside its head; it is folded inside its own column."""
        lines = fold(Text(text, style), max(self.width - len(head), 20), 2)
        for number, line in enumerate(lines):
            self.put(Text(" " * len(head) if number else head) + line)

    # ---- blocks

    def title(self, text: str, right: str = "") -> None:
        """The start of a unit: its name between two rules."""
        self.blank()
        self.put(self.rule * self.width, "bold blue")
        self._spread(Text(text, "bold"), right)
        self.put(self.rule * self.width, "bold blue")

    def subtitle(self, text: str) -> None:
        """The start of a part of a unit."""
        self.blank()
        self.put(f"{self.rule * 2} {text} ".ljust(self.width, self.rule), "bold blue")

    def heading(self, title: str, right: str, says: str) -> None:
        """The start of a stage: title, the file that made it, one sentence about it."""
        self.blank()
        self._spread(Text(title.upper(), "bold blue"), right)
        if says:
            self.write(says, "dim", indent=2)
        self.blank()

    def _spread(self, left: Text, right: str) -> None:
        gap = self.width - left.cell_len - len(right)
        if gap < 2:
            self.write(left, hang=2)
            self.write(right, "dim", indent=2)
        else:
            self.put(left + Text(" " * gap + right, "dim") if right else left)

    def listing(self, rows: Sequence[tuple[str, str]], language: str = "") -> None:
        """Lines of code, each with its user lines in a column of their own at the left."""
        places = [compact(origin, self.width // 4) for _, origin in rows]
        gutter = max(map(len, places), default=0)
        codes = self._highlighted([code for code, _ in rows], language)
        room = self.width - (gutter + 5 if gutter else 2)
        previous = None
        for place, code in zip(places, codes, strict=True):
            style = "dim" if place == previous else "yellow"
            previous = place
            for number, line in enumerate(fold(code, room, HANG)):
                left = Text("  ")
                if gutter:
                    shown = "" if number else place
                    left += Text(f"{shown:<{gutter}}", style) + Text(f" {self.bar} ", "dim")
                self.put(left + line)

    def _highlighted(self, lines: list[str], language: str) -> list[Text]:
        if not self.coloured:
            return [Text(line) for line in lines]
        if language == "python":
            return list(_PYTHON.highlight("\n".join(lines)).split("\n", allow_blank=True))[
                : len(lines)
            ]
        texts = [Text(line) for line in lines]
        for text in texts:
            if language == "graph":
                for pattern, style in _GRAPH:
                    text.highlight_regex(pattern, style)
            elif language == "diff" and text.plain[:1] in ("+", "-"):
                text.stylize("green" if text.plain[0] == "+" else "red")
        return texts

    def alert(self, text: str, style: str = "yellow") -> None:
        """Something the reader must not miss: every line has a thick bar at its left."""
        for line in text.rstrip("\n").split("\n"):
            body = Text(line, "bold" if line == text.split("\n")[0] else "")
            for part in fold(body, self.width - 4, HANG):
                self.put(Text(f"  {self.mark} ", style) + part)

    def table(
        self, rows: Iterable[Sequence[str]], styles: Sequence[str] = (), gap: int = 2
    ) -> None:
        """Aligned columns; the last one is folded inside its own column."""
        rows = [list(row) for row in rows]
        if not rows:
            return
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
        start = 2 + sum(width + gap for width in widths)
        for row in rows:
            left = Text("  ")
            for cell, width, style in zip(row, widths, [*styles, *[""] * len(row)], strict=False):
                left += Text(f"{cell:<{width}}{' ' * gap}", style)
            last = Text(row[-1], styles[len(row) - 1] if len(styles) >= len(row) else "")
            for number, line in enumerate(fold(last, max(self.width - start, 20), 0)):
                self.put((Text(" " * start) if number else left) + line)


def fold(text: Text, width: int, hang: int) -> list[Text]:
    """The lines of a text at most `width` wide, cut at spaces; continuations hang under the first.

    >>> [line.plain for line in fold(Text("  add(%0, %1)"), 10, 2)]
    ['  add(%0,', '    %1)']
    """
    lines = []
    for line in text.split("\n", allow_blank=True):
        lines += _fold_line(line, max(width, 12), hang)
    return lines


def _fold_line(line: Text, width: int, hang: int) -> list[Text]:
    if line.cell_len <= width:
        return [line]
    indent = len(line.plain) - len(line.plain.lstrip())
    pad = min(indent + hang, width // 2)
    lines, rest = [], line
    while rest.cell_len > width:
        start = len(rest.plain) - len(rest.plain.lstrip())
        cut = rest.plain.rfind(" ", start + 1, width + 1)
        cut = width if cut <= max(start, width // 2) else cut
        lines.append(rest[:cut])
        tail = rest[cut:]
        skip = len(tail.plain) - len(tail.plain.lstrip())
        rest = Text(" " * pad) + tail[skip:]
    return [*lines, rest]


def compact(origin: str, width: int) -> str:
    """User lines in little space: runs become ranges, and what does not fit is counted.

    >>> compact("digits.py:7, digits.py:8, digits.py:9, digits.py:12", 24)
    'digits.py:7-9,12'
    >>> compact("digits.py:7, digits.py:9, digits.py:12", 15)
    'digits.py:7,+2'
    """
    files: dict[str, list[int]] = {}
    for place in origin.split(", "):
        name, _, line = place.rpartition(":")
        if not line.isdigit():
            return origin if len(origin) <= width else origin[: width - 1] + "~"
        files.setdefault(name, []).append(int(line))
    parts: list[tuple[str, int]] = []
    for name, numbers in files.items():
        for text, count in _ranges(sorted(numbers)):
            parts.append((f"{name}:{text}" if name else text, count))
            name = ""
    for kept in range(len(parts), 0, -1):
        left_out = sum(count for _, count in parts[kept:])
        texts = [text for text, _ in parts[:kept]] + ([f"+{left_out}"] if left_out else [])
        shown = ",".join(texts)
        if len(shown) <= width:
            return shown
    return shown


def _ranges(numbers: list[int]) -> list[tuple[str, int]]:
    runs: list[list[int]] = []
    for number in dict.fromkeys(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return [(f"{r[0]}-{r[-1]}" if len(r) > 1 else str(r[0]), len(r)) for r in runs]
