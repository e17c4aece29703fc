"""What the report says of small scripts agrees with what they did: each fact where it is told."""

import textwrap

import pytest

from tests.cli.commands import mt2

HEAD = "import minitorch2 as torch\n@torch.compile\n"
TWO = (
    HEAD
    + """\
def f(x):
    return (x * 3).sum(), x.sin(), x.cos()
x = torch.ones(4, requires_grad=True)
"""
)
SUM = HEAD + "def f(b, c):\n    s = b + c\n    return s.mean()\nf(torch.ones(4), torch.ones(4))\n"
LOOP = (
    HEAD
    + """\
def f(x):
    for i in range(2):
        b, c = x.chunk(2)
        x = x + i
    return x, b, c
f(torch.ones(4))
"""
)
PRINTS = (
    HEAD
    + """\
def f(x):
    for i in range(2):
        x = x.sin()
        print(i)
    return x
f(torch.ones(4))
"""
)
TYPO = HEAD + "def f(x):\n    return torch.sigmiod(x)\nf(torch.ones(3))\n"
WHOLE = """\
import minitorch2 as torch
@torch.compile(fullgraph=True)
def f(x):
    return x * 2 if x.sum() > 0 else x
f(torch.ones(3))
"""


def said(tmp_path, text, *arguments, command="explain"):
    """What mt2 prints about a script, both streams."""
    script = tmp_path / "small.py"
    script.write_text(textwrap.dedent(text))
    done = mt2(command, *arguments, script, COLUMNS="80")
    return done.stdout + done.stderr


@pytest.mark.parametrize(("used", "missing"), [((0,), "1, 2"), ((1,), "0, 2"), ((0, 2), "1")])
def test_a_backward_without_some_outputs_is_told_apart(tmp_path, used, missing):
    loss = " + ".join(f"found[{place}].sum()" for place in used)
    text = f"{TWO}found = f(x)\n({loss}).backward()\n"
    told = said(tmp_path, text, "--stage", "kernel", "--stage", "totals", "--stage", "launches")
    heading = f"backward without output {missing}"
    assert f"COSTS: {heading.upper()}" in told
    launched = told.partition("LAUNCHES")[2].partition("together")[0]
    assert launched.partition(heading)[2].split("kernel_0")[1].split()[1] == "1"
    kernels = told.count("def kernel_")
    assert f"kernels      {kernels}\n" in told
    assert max(map(len, told.splitlines())) <= 80


def test_lines_inside_a_reduction_are_counted(tmp_path):
    told = said(tmp_path, SUM, "--stage", "kernel.cost", "--stage", "launches")
    assert told.count("small.py:4-5") == 2


def test_a_store_or_jump_shows_no_value_below_it(tmp_path):
    told = said(tmp_path, LOOP, "--stage", "bytecode")
    rows = [line.split() for line in told.splitlines() if "STORE_FAST" in line or "JUMP" in line]
    stores = [row for row in rows if row[1] == "STORE_FAST"]
    assert stores and all(len(row) == 3 for row in stores)
    assert all(len(row) == 4 for row in rows if row[1].startswith("JUMP"))
    assert "range_iterator" in told and "IteratorValue" not in told


def test_the_end_of_a_loop_is_named(tmp_path):
    told = " ".join(said(tmp_path, PRINTS, "--stage", "recompile").replace("▌", "").split())
    assert "was there; now the end of the loop" in told and "nothing can be done" in told


def test_an_exception_is_not_gone_on_behind(tmp_path):
    told = said(tmp_path, TYPO)
    assert "then: Python does this one operation, which raises." in told
    assert "capture.graph     0 nodes" in told and "goes on behind" not in told


def test_an_error_says_once_what_to_do(tmp_path):
    told = said(tmp_path, WHOLE, command="run")
    assert "what to do: Use torch.where" in told
    assert "then:" not in told and "hint:" not in told


def test_what_does_not_fit_is_named(tmp_path):
    assert "Nothing here fits --function nope." in said(tmp_path, SUM, "--function", "nope")
    assert '"numerics": "fast"' in said(tmp_path, SUM, "--stage", "ledger")


def test_bisect_numbers_compilations(tmp_path):
    exact = HEAD + "def f(x):\n    return x.relu()\n"
    told = said(tmp_path, f"{exact}f(torch.ones(3))\nf(torch.ones(3, 3))\n", command="bisect")
    assert "compilation 1" in told and "compilation 2" in told
    assert "there are no differences" in told and "rounding." not in told
