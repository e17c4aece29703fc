"""The generated pages of docs/ are current, and every file that a page or README names is there."""

import importlib.util
import re
from types import ModuleType

import pytest

from tests.house import ROOT

PROSE = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
NAMED = re.compile(
    r"`((?:minitorch2|jit|kernels|cli|tests|tutorials|docs|\.ci)/[\w./-]*)(?::\w+)?`"
)
LINKED = re.compile(r"\]\((?!https?:|#)([^)#]+)")


def generator() -> ModuleType:
    """docs/generate.py as a module."""
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_current():
    for name, page in generator().PAGES.items():
        written = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert written == page(), f"docs/{name} is not current: python docs/generate.py"


def test_every_error_has_a_code_of_its_own():
    codes = [error.code for error in generator().error_classes()]
    assert len(codes) == len(set(codes)), codes


@pytest.mark.parametrize("page", [path for path in PROSE if path.exists()], ids=lambda p: p.name)
def test_files_named_in_prose_are_there(page):
    text = page.read_text(encoding="utf-8")
    missing = [name for name in NAMED.findall(text) if not (ROOT / name).exists()]
    missing += [link for link in LINKED.findall(text) if not (page.parent / link).exists()]
    assert not missing, missing
