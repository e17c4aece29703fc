"""mt2 count: the table of what was captured, and that of the project's own small programs."""

import fcntl
import json
import time

import pytest

from tests.cli.commands import mt2
from tests.house import ROOT

COUNTED = ROOT / "tests" / "counted"


@pytest.fixture(scope="module")
def rows():
    done = mt2("count", COUNTED, "--call", "case_*", "--json", folder=ROOT, PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_table_of_the_small_programs_is_as_it_was(rows, golden):
    kept = ("name", "ops", "graphs", "breaks", "fallbacks", "recompiles")
    golden("".join(f"{json.dumps({name: row[name] for name in kept})}\n" for row in rows), "jsonl")


def test_only_what_python_forces_breaks(rows):
    assert len(rows) > 25
    for row in rows:
        forced = row["name"].startswith("forced.py")
        assert bool(row["breaks"]) == forced, row
        assert not row["fallbacks"] or row["name"].endswith("share_memory"), row
        assert forced or row["ops"] > 0, row


def test_a_table_of_scripts(tmp_path):
    (tmp_path / "good.py").write_text(
        "import torch\nf = torch.compile(lambda x: x * 2 + 1, backend='eager')\n"
        "for n in range(2, 5): f(torch.ones(n))\n"
    )
    (tmp_path / "stops.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "wrong.py").write_text("import torch\ndef case_a(): assert torch is None\n")
    done = mt2("count", tmp_path)
    head, good, stops, wrong, totals = done.stdout.splitlines()
    assert done.returncode == 1 and head.split()[:3] == ["program", "ops", "graphs"]
    assert good.split() == ["good.py", "4", "2", "0", "0", "1"]
    assert stops.endswith("exited 3") and wrong.split()[0] == "wrong.py"
    assert totals.split() == ["3", "programs", "4", "2", "0", "0", "1"]
    done = mt2("count", tmp_path / "wrong.py", "--call", "case_*")
    assert done.returncode == 1 and "wrong.py:case_a" in done.stdout
    assert "AssertionError" in done.stdout


def test_fallbacks_are_told(tmp_path):
    (tmp_path / "loop.py").write_text(
        "import torch\n@torch.compile(backend='eager')\ndef f(x, n):\n"
        "    for _ in range(n): x = x + 1\n    return x\n"
        "for n in range(12): f(torch.ones(1), n)\n"
    )
    done = mt2("count", tmp_path)
    assert "as Python: recompile_limit" in done.stdout, done.stdout


def test_errors_are_told_with_their_words_and_lines(tmp_path):
    (tmp_path / "syntax.py").write_text("x = 1\nif x\n")
    (tmp_path / "raises.py").write_text("def f():\n    raise ValueError('boom\\nmore')\nf()\n")
    done = mt2("count", tmp_path)
    raises, syntax = done.stdout.splitlines()[1:3]
    assert done.returncode == 1
    assert raises.endswith("raised ValueError: boom (raises.py:2)")
    assert "raised SyntaxError: " in syntax and syntax.endswith("(syntax.py:2)")


def test_nothing_to_count(tmp_path):
    for arguments, says in (
        ((tmp_path,), "no Python file is there"),
        ((tmp_path / "one.py", "--call", "case_*"), "no function fits --call case_*"),
    ):
        done = mt2("count", *arguments)
        assert done.returncode == 2 and says in done.stderr and not done.stdout
        (tmp_path / "one.py").write_text("VALUE = 1\n")


def test_a_script_that_does_not_end_is_stopped_with_what_it_started(tmp_path):
    """What was counted before stays."""
    held = tmp_path / "held"
    (tmp_path / "slow.py").write_text(
        "import fcntl, signal\n"
        "def case_a(): pass\n"
        "def case_b():\n"
        f"    fcntl.flock(open({str(held)!r}, 'w'), fcntl.LOCK_EX)\n"
        "    while True: signal.pause()\n"
    )
    for seconds in (3, 12, 48):  # more where a process is slow to start
        done = mt2("count", tmp_path, "--call", "case_*", "--timeout", seconds)
        assert done.returncode == 1, done.stderr
        assert f"ran longer than {seconds} s" in done.stdout
        if held.exists():
            break
    assert "slow.py:case_a" in done.stdout
    with open(held) as file:
        for _ in range(600):
            try:  # whoever held it is gone
                return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.1)
    raise AssertionError("what the script started goes on")
