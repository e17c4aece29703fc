"""Generated functions come from the file beside Python's own bytecode, whatever is in it."""

import os
import subprocess
import sys

import pytest

COUNT = """
import builtins, glob, os, sys
real, made = builtins.compile, []
def counted(source, filename, *rest, **named):
    made.append(str(filename))
    return real(source, filename, *rest, **named)
builtins.compile = counted
import minitorch2 as torch
from minitorch2.ops import code_cache
assert torch.add(torch.ones(2), torch.ones(2), alpha=2).tolist() == [3.0, 3.0]
assert torch.ones(2, 3).sum(1).tolist() == [3.0, 3.0]
print(sum(name.startswith("<minitorch2 ") for name in made), code_cache.FILE)
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
    assert first > 300 and file.startswith(str(tmp_path)) and os.path.getsize(file) > 100_000
    assert imported(tmp_path) == (0, file)


@pytest.mark.parametrize("damage", [b"", b"nonsense", b"\xe3", None], ids=str)
def test_a_damaged_file_is_made_again(tmp_path, damage):
    first, file = imported(tmp_path)
    with open(file, "rb+") as opened:
        whole = opened.read()
        opened.seek(0)
        opened.truncate()
        opened.write(whole[: len(whole) // 2] if damage is None else damage)
    assert imported(tmp_path)[0] == first
    assert imported(tmp_path)[0] == 0


def test_nothing_is_written_where_python_writes_no_bytecode(tmp_path):
    first, file = imported(tmp_path, PYTHONDONTWRITEBYTECODE="1")
    assert first > 300 and not os.path.exists(file)


def test_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("in the way")
    first, _ = imported(tmp_path / "file")
    assert first > 300
