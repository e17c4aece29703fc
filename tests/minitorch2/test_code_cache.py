"""Generated functions come from the file beside Python's own bytecode, whatever is in it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

COUNT = """
import builtins, dataclasses, os, sys
real, made = builtins.compile, []
def counted(source, filename, *rest, **named):
    made.append(f"{filename} {source}")
    return real(source, filename, *rest, **named)
builtins.compile = counted
import minitorch2 as torch
from minitorch2.ops import code_cache
assert torch.add(torch.ones(2), torch.ones(2), alpha=2).tolist() == [3.0, 3.0]
assert torch.ones(2, 3).sum(1).tolist() == [3.0, 3.0]
torch.compile  # imports the compiler
assert "exec" not in vars(dataclasses)
functions = [text for text in made if text.startswith(("<minitorch2 ", "<string> def "))]
print(len(functions), code_cache.functions.file)
"""


def imported(folder, **environment):
    """How many functions a fresh process compiles at import, and where it looks for them."""
    given = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    given |= {"PYTHONPYCACHEPREFIX": str(folder), **environment}
    done = subprocess.run(
        [sys.executable, "-c", COUNT], capture_output=True, text=True, check=True, env=given
    )
    count, file = done.stdout.split(maxsplit=1)
    return int(count), file.strip()


def test_the_second_import_compiles_nothing(tmp_path):
    first, file = imported(tmp_path)
    assert first > 600 and file.startswith(str(tmp_path)) and os.path.getsize(file) > 100_000
    assert imported(tmp_path) == (0, file)


@pytest.mark.parametrize("damage", [b"", b"nonsense", b"\xe3", None], ids=str)
def test_damaged_files_are_made_again(tmp_path, damage):
    first, file = imported(tmp_path)
    kept = list(Path(file).parent.glob("*.bin"))
    assert len(kept) == 3
    for each in kept:
        whole = each.read_bytes()
        each.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    assert imported(tmp_path)[0] == first
    assert imported(tmp_path)[0] == 0


CLASSES = """
import dataclasses
from minitorch2.ops.code_cache import kept_dataclasses
with kept_dataclasses("test.classes"):
    kept = dataclasses.exec
    with kept_dataclasses("test.inner"):
        assert dataclasses.exec is kept

    @dataclasses.dataclass(frozen=True, slots=True, order=True)
    class Point:
        x: int
        y: list = dataclasses.field(default_factory=list)

assert Point(1) == Point(1, []) and repr(Point(1)) == "Point(x=1, y=[])" and Point(1) < Point(2)
try:
    Point(1).x = 2
    raise SystemExit("not frozen")
except dataclasses.FrozenInstanceError:
    pass
print(kept.__self__.file)
"""


def test_kept_dataclasses_are_as_others(tmp_path):
    given = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    given |= {"PYTHONPYCACHEPREFIX": str(tmp_path)}
    for _ in range(2):  # made, then from the file
        done = subprocess.run(
            [sys.executable, "-c", CLASSES], capture_output=True, text=True, check=True, env=given
        )
        assert os.path.getsize(done.stdout.strip()) > 1000
        assert not os.path.exists(done.stdout.strip().replace("classes", "inner"))


def test_nothing_is_written_where_python_writes_no_bytecode(tmp_path):
    first, file = imported(tmp_path, PYTHONDONTWRITEBYTECODE="1")
    assert first > 600 and not os.path.exists(file)


def test_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("in the way")
    first, _ = imported(tmp_path / "file")
    assert first > 600
