"""Sizes a reader can hold: 500 lines a file, 60 a function, 100 columns.

A file that must be longer says why on its first line, `# size: <reason>`, and only its length is
waived. `python -m tests.test_budget` prints files and lines for each room.
"""

import ast
import io
import re
import tokenize

import pytest

from tests.house import SourceFile, other_files, source_files

FILE_LINES = 500
FUNCTION_LINES = 60
COLUMNS = 100
WAIVER = re.compile(r"# size: \S.{9,}")
FILES = source_files() + other_files()
LAYOUT_TOKENS = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def docstring_lines(tree: ast.AST) -> set[int]:
    """The lines that docstrings cover, in the tree and everything inside it."""
    covered: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | Function) or not node.body:
            continue
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            if isinstance(first.value.value, str):
                covered.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return covered


def code_lines(file: SourceFile) -> int:
    """Lines that hold code: no blank lines, comments or docstrings."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(file.text()).readline):
        if token.type not in LAYOUT_TOKENS:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstring_lines(file.tree()))


def function_lines(node: Function) -> int:
    """Lines of a function from `def` to its end, its docstrings left out."""
    lines = set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines - docstring_lines(node))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path)
def test_sizes(file):
    lines = file.text().splitlines()
    wide = [number for number, line in enumerate(lines, 1) if len(line) > COLUMNS]
    assert not wide, f"lines of more than {COLUMNS} columns: {wide}"
    long = [
        f"{node.name}: {function_lines(node)}"
        for node in ast.walk(file.tree())
        if isinstance(node, Function) and function_lines(node) > FUNCTION_LINES
    ]
    assert not long, f"functions of more than {FUNCTION_LINES} lines: {long}"
    if lines and WAIVER.fullmatch(lines[0]):
        assert len(lines) > FILE_LINES, "the size waiver is no longer needed"
        return
    assert len(lines) <= FILE_LINES, "split it by kind of case, or give a `# size:` reason"


def rooms_table() -> str:
    """Files, lines and lines of code of each room, as aligned text."""
    rows: dict[str, list[int]] = {}
    for file in FILES:
        row = rows.setdefault(file.room, [0, 0, 0])
        row[0] += 1
        row[1] += len(file.text().splitlines())
        row[2] += code_lines(file)
    table = [f"{'room':<12}{'files':>7}{'lines':>8}{'code':>8}"]
    table += [f"{room:<12}{row[0]:>7}{row[1]:>8}{row[2]:>8}" for room, row in rows.items()]
    total = [sum(column) for column in zip(*rows.values(), strict=True)]
    return "\n".join([*table, f"{'all':<12}{total[0]:>7}{total[1]:>8}{total[2]:>8}"])


def test_the_table_counts_code_of_each_room():
    assert rooms_table().splitlines()[0].split() == ["room", "files", "lines", "code"]


if __name__ == "__main__":
    print(rooms_table())
