"""Every module, public class and public function says what it is.

A module says what goes in and what comes out before anything else; a public class or function
starts with one sentence. Methods may speak through their names and types, and so may a function
that a decorator enters in a table under a key (`@handles("BINARY_OP")`): its module explains all.
"""

import ast

import pytest

from tests.house import SourceFile, source_files

FILES = source_files()
Documented = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def entered_in_a_table(node: Documented) -> bool:
    """Whether a decorator with arguments registers a function."""
    registered = any(isinstance(decorator, ast.Call) for decorator in node.decorator_list)
    return registered and not isinstance(node, ast.ClassDef)


def undocumented(file: SourceFile) -> list[str]:
    """The public top-level classes and functions of a file that have no docstring."""
    return [
        node.name
        for node in file.tree().body
        if isinstance(node, Documented)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
        and not entered_in_a_table(node)
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path)
def test_docstrings(file):
    assert ast.get_docstring(file.tree()), "a module starts with its docstring"
    missing = undocumented(file)
    assert not missing, f"no docstring: {missing}"
