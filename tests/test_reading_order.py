"""Each package's docstring lists its files in reading order, one line each: none may be missing."""

import ast
import re

import pytest

from tests.house import ROOT, SourceFile, source_files

PACKAGES = [file for file in source_files() if file.is_package]


def contents(package: SourceFile) -> list[str]:
    """The names a reader meets in the package's folder: modules and sub-packages."""
    folder = (ROOT / package.path).parent
    modules = [path.stem for path in folder.glob("*.py") if path.stem != "__init__"]
    packages = [path.parent.name for path in folder.glob("*/__init__.py")]
    return sorted(modules + packages)


def listed(docstring: str, name: str) -> bool:
    """Whether a line of the docstring starts with the name (`name.py`, `name/` or just `name`)."""
    return (
        re.search(rf"^[\s`*-]*{re.escape(name)}(\.py|/)?[`:,]*(\s|$)", docstring, re.M) is not None
    )


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.module)
def test_the_docstring_lists_every_file(package):
    docstring = ast.get_docstring(package.tree()) or ""
    missing = [name for name in contents(package) if not listed(docstring, name)]
    assert not missing, f"{package.path} must list, in reading order, one line each: {missing}"
