"""The table of stages: it knows every event that is emitted, and finds what users type."""

import ast

import pytest

from minitorch2.cli.stages import STAGES, matching, nearest, order, stage_named
from tests.house import ROOT, source_files

pytestmark = pytest.mark.pure


def emitted() -> set[str]:
    """Every stage that some file emits under a literal name."""
    found = set()
    for file in source_files():
        for node in ast.walk(file.tree()):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else ""
            name = function.id if isinstance(function, ast.Name) else name
            first = node.args[0]
            if name == "emit" and isinstance(first, ast.Constant) and "." in str(first.value):
                found.add(str(first.value))
    return found


def test_every_emitted_stage_has_its_row():
    names = {stage.name for stage in STAGES}
    assert emitted() <= names
    assert names <= emitted() | {name for name in names if name.startswith("passes.")}


def test_rows_name_files_that_are_there_and_say_something():
    for stage in STAGES:
        assert stage.says.endswith("."), stage
        assert not stage.file or (ROOT / stage.file).is_file(), stage


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("kernel.source", ["kernel.source"]),
        ("launches", ["runtime.launches"]),
        ("asm", ["kernel.asm"]),
        ("loops", ["loops.lowered", "loops.fused"]),
        ("joint", ["autodiff.joint"]),
        ("fold_constants", ["passes.fold_constants"]),
        ("BREAKS", ["capture.break"]),
        ("nothing", []),
    ],
)
def test_matching(query, names):
    assert [stage.name for stage in matching(query)] == names


def test_a_prefix_takes_all_passes():
    found = [stage.name for stage in matching("passes")]
    assert found[-1] == "passes.optimized" and len(found) > 5
    assert all(name.startswith("passes.") for name in found)


def test_a_room_takes_all_of_its_stages():
    found = {stage.name for stage in matching("kernel")}
    assert found == {"kernel.source", "kernel.llvm", "kernel.asm", "kernel.cost"}


def test_nearest():
    assert "passes.fold_constants" in nearest("fold_constant_s")
    assert nearest("zzz") == []


def test_a_stage_the_table_does_not_know_is_shown_last():
    assert stage_named("learn.quiz_one").title == "learn: quiz one"
    assert order("learn.quiz_one") > order("runtime.totals")
