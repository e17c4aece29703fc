"""Every module, public class and public function says what it is.

A module says what goes in and what comes out before anything else; a public class or function
starts with one sentence. Methods may speak through their names and types.
"""

import ast

import pytest

from tests.house import SourceFile, source_files

FILES = source_files()
Documented = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def undocumented(file: SourceFile) -> list[str]:
    """The public top-level classes and functions of a file that have no docstring."""
    return [
        node.name
        for node in file.tree().body
        if isinstance(node, Documented)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path)
def test_docstrings(file):
    assert ast.get_docstring(file.tree()), "a module starts with its docstring"
    missing = undocumented(file)
    assert not missing, f"no docstring: {missing}"
