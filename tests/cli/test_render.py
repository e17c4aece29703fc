"""Layout: folding, the column of user lines, colour, narrow encodings."""

import io

import pytest
from rich.text import Text

from minitorch2.cli.render import NARROWEST, Page, compact, fold

pytestmark = pytest.mark.pure
LONG = "  %0: f32[64,10] = addmm(%bias, %input, %weight, beta=1, alpha=1, out_dtype=f32)"


def page(width: int = 60) -> tuple[Page, io.StringIO]:
    file = io.StringIO()
    return Page(file, width), file


class Terminal(io.StringIO):
    """A file that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_folded_lines_fit_and_say_the_same():
    lines = [line.plain for line in fold(Text(LONG), 40, 4)]
    assert max(map(len, lines)) <= 40 and len(lines) > 1
    assert " ".join(" ".join(lines).split()) == " ".join(LONG.split())
    assert all(line.startswith(" " * 6) for line in lines[1:])


def test_a_word_without_spaces_is_cut():
    lines = [line.plain for line in fold(Text("x" * 100), 30, 4)]
    assert max(map(len, lines)) <= 30 and "".join(map(str.strip, lines)) == "x" * 100


@pytest.mark.parametrize(
    ("origin", "width", "expected"),
    [
        ("a.py:3", 25, "a.py:3"),
        ("a.py:3, a.py:4, a.py:5, a.py:9", 25, "a.py:3-5,9"),
        ("a.py:3, b.py:4", 25, "a.py:3,b.py:4"),
        ("a.py:1, a.py:3, a.py:5, a.py:7", 11, "a.py:1,3,+2"),
        ("<pass fold_constants>", 25, "<pass fold_constants>"),
        ("", 25, ""),
    ],
)
def test_compact(origin, width, expected):
    assert compact(origin, width) == expected


def test_a_listing_has_user_lines_at_its_left():
    paper, file = page()
    paper.listing([("graph f() {", ""), (LONG, "a.py:3"), ("}", "")])
    first, *middle, last = file.getvalue().splitlines()
    assert first == "         │ graph f() {"
    assert middle[0].startswith("  a.py:3 │   %0: f32[64,10] = addmm(")
    assert middle[1].startswith("         │       ")
    assert last == "         │ }"
    assert max(map(len, file.getvalue().splitlines())) <= 60


def test_a_listing_without_user_lines_has_no_column():
    paper, file = page()
    paper.listing([("a", ""), ("b", "")])
    assert file.getvalue() == "  a\n  b\n"


@pytest.mark.parametrize("width", [NARROWEST, 80, 100, 132])
def test_nothing_is_wider_than_the_page(width):
    paper, file = page(width)
    paper.title("digits.py:loss_fn#0", "compiled, 2 recompilations, 1 graph break")
    paper.heading("a stage", "jit/passes/eliminate_common_subexpressions.py", "Says " * 40)
    paper.listing([(LONG, "digits.py:3, digits.py:5, other.py:7")] * 3, "graph")
    paper.alert("graph break " * 20)
    paper.table([("one", LONG), ("three", "x" * 200)])
    paper.hanging("  head  ", LONG * 2)
    assert max(map(len, file.getvalue().splitlines())) <= width


def test_colour_on_terminals_only(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    seen = {}
    for kind in (io.StringIO, Terminal):
        file = kind()
        Page(file, 80).listing([(LONG, "a.py:3"), ("def f(): return 1", "a.py:4")], "python")
        seen[kind] = file.getvalue()
    assert "\x1b[" in seen[Terminal] and "\x1b[" not in seen[io.StringIO]
    monkeypatch.setenv("NO_COLOR", "1")
    file = Terminal()
    Page(file, 80).title("a title")
    assert "\x1b[" not in file.getvalue()


def test_colour_changes_no_text(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    rows = [("def f(x):", ""), ("", ""), (f"    {LONG}", "a.py:3"), ("", "")]
    for language in ("python", "graph", "diff", ""):
        plain, coloured = io.StringIO(), Terminal()
        Page(plain, 60).listing(rows, language)
        Page(coloured, 60).listing(rows, language)
        assert Text.from_ansi(coloured.getvalue()).plain.split() == plain.getvalue().split()


def test_a_narrow_encoding_gets_ascii():
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    paper = Page(file, 60)
    paper.title("größe")
    paper.listing([("x = 'ä'", "a.py:3")])
    file.flush()
    written = file.buffer.getvalue().decode("ascii")
    assert "gr\\xf6\\xdfe" in written and "a.py:3 | x = '\\xe4'" in written
