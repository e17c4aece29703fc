"""The pages of docs/ are true: generated ones are current, files and names in them are there."""

import ast
import doctest
import importlib.util
import re
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest

from tests.house import ROOT, parse

PROSE = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
STOP = re.compile(r"^\d+\. `([\w/]+\.py)(?::(\w+))?` ", re.MULTILINE)
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


@pytest.mark.parametrize("page", [path for path in PROSE if path.exists()], ids=lambda p: p.name)
def test_prose_is_folded(page):
    """What is no table, no example and nothing printed word for word."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    lines = [line for line in prose.splitlines() if not line.startswith(("|", "    "))]
    assert not [line for line in lines if len(line) > 100]


@pytest.mark.parametrize("page", [path for path in PROSE if path.exists()], ids=lambda p: p.name)
def test_examples_in_prose_run(page):
    results = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert results.failed == 0


def test_the_kernel_in_the_readme_is_the_one_that_explain_shows():
    shown = [line for line in (ROOT / "README.md").read_text("utf-8").splitlines() if "│" in line]
    command = [sys.executable, "-m", "minitorch2.cli.main", "explain", "--stage", "kernel.source"]
    done = subprocess.run(
        [*command, "docs/relu.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "\n".join(line[4:] for line in shown) in done.stdout


def lines_of(path: str, name: str) -> int:
    """How many lines a reader reads: the file's, or those of one name or docstring in it."""
    tree = parse(path)
    if not name:
        return len((ROOT / path).read_text(encoding="utf-8").splitlines())
    if name == "docstring":
        return len((ast.get_docstring(tree) or "").splitlines())
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if name in (*names, getattr(node, "name", "")):
            return (node.end_lineno or node.lineno) - node.lineno + 1
    raise AssertionError(f"{path} has no {name}")


def test_the_way_from_relu_to_its_kernel_is_a_short_read():
    stops = STOP.findall((ROOT / "docs" / "index.md").read_text(encoding="utf-8"))
    assert len(stops) == 20
    total = sum(lines_of(path, name) for path, name in stops)
    for page in ("README.md", "CONTRIBUTING.md", "docs/index.md"):
        [said] = re.findall(r"about ([\d,]+) lines", (ROOT / page).read_text(encoding="utf-8"))
        assert abs(total - int(said.replace(",", ""))) < 250, f"{page}: {said}; they are {total}"


def blocks_of(title: str) -> list[str]:
    """The Python blocks of a section of CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def test_the_pass_and_its_test_that_contributors_are_shown_run(monkeypatch):
    """With their own imports and nothing else."""
    [made], [tested] = blocks_of("Add a pass"), blocks_of("Add a test")
    name = "minitorch2.jit.passes.flatten_cats"
    module, found = ModuleType(name), list[str]()
    exec(compile(made, "flatten_cats.py", "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, name, module)
    names: dict[str, Any] = {}
    exec(compile(tested, "test_flatten_cats.py", "exec"), names)
    names["test_both_parts_are_joined"](lambda text, ext: found.append(f"{ext}: {text}"))
    assert found[0].startswith("graph: graph f(") and "cat((%x, %y, %x))" in found[0]
