"""What the structural tests know about the house: its rooms, packages and files.

In: the folders on disk. Out: `source_files()`, the modules a user installs, each with the dotted
name it has once installed (`jit/ir/graph.py` is `minitorch2.jit.ir.graph`); `other_files()`, all
the Python under tests/, tutorials/ and docs/.
"""

import ast
import functools
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = {
    "minitorch2": "minitorch2",
    "jit": "minitorch2.jit",
    "kernels": "minitorch2.kernels",
    "cli": "minitorch2.cli",
}


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One Python file: its path from the root, and the dotted name it is imported by."""

    path: str
    module: str

    @property
    def room(self) -> str:
        """The top-level folder the file lives in."""
        return self.path.split("/")[0]

    @property
    def is_package(self) -> bool:
        """Whether the file is a package's `__init__.py`."""
        return self.path.endswith("/__init__.py")

    def text(self) -> str:
        """The file's source."""
        return (ROOT / self.path).read_text(encoding="utf-8")

    def tree(self) -> ast.Module:
        """The file's syntax tree."""
        return parse(self.path)


@functools.cache
def parse(path: str) -> ast.Module:
    """Parse a file given by its path from the root, once."""
    return ast.parse((ROOT / path).read_text(encoding="utf-8"), filename=path)


def source_files() -> list[SourceFile]:
    """Every module of the four rooms, in a fixed order."""
    found = []
    for folder, package in ROOMS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            if parts[-1] == "__init__":
                parts = parts[:-1]
            relative = path.relative_to(ROOT).as_posix()
            found.append(SourceFile(relative, ".".join((package, *parts))))
    return found


def other_files() -> list[SourceFile]:
    """Every Python file of tests/, tutorials/ and docs/ that people write, in a fixed order."""
    found = []
    for folder in ("tests", "tutorials", "docs"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            relative = path.relative_to(ROOT)
            if relative.is_relative_to("tests/golden"):
                continue
            found.append(SourceFile(relative.as_posix(), ".".join(relative.with_suffix("").parts)))
    return found
