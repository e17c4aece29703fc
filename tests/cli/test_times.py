"""`mt2 times`: where the seconds of compiling go, in a first process and in a second one."""

import json
import threading
from types import SimpleNamespace

import pytest

from minitorch2 import phases
from minitorch2.cli.times import OTHERS, place, rows, title
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.passes.pipeline import PIPELINE
from minitorch2.kernels.backend import compile_graph
from minitorch2.kernels.runtime import build, cache
from minitorch2.phases import measuring, phase
from tests.cli.commands import mt2

SCRIPT = """import sys
import torch

@torch.compile
def f(x, w):
    return (x @ w).exp().sum()

f(torch.ones(2, 3), torch.ones(3, 4, requires_grad=True)).backward()
print("the script speaks", sys.argv[1:])
sys.exit(int(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    file = tmp_path_factory.mktemp("times") / "script.py"
    file.write_text(SCRIPT)
    return file


def test_a_script_compiled_twice(script):
    found = mt2("times", "--json", script, 3, "--more")
    assert found.returncode == 3
    cold, warm = (json.loads(found.stdout)[name] for name in ("cold", "warm"))
    passes = {f"passes.{function.__name__}" for function in PIPELINE}
    skipped = passes | {"autodiff.joint", "loops.fused", "kernel.source", "machine code"}
    assert skipped <= cold["phases"].keys()
    assert not skipped & warm["phases"].keys() and {"capture", "disk"} <= warm["phases"].keys()
    assert all(0 < sum(run["phases"].values()) < run["script"] for run in (cold, warm))


@pytest.mark.parametrize("count", (1, 3))
def test_what_llvm_takes_is_machine_code(monkeypatch, count):
    """Whether one thread compiles the kernels or several side by side: on a clock that goes on
    nowhere else, nothing else takes time."""
    taken, lock = [], threading.Lock()
    right = build.build_object

    def timed(*given):
        made = right(*given)
        with lock:
            taken.append(1.0)
        return made

    monkeypatch.setattr(build, "build_object", timed)
    monkeypatch.setattr(phases, "time", SimpleNamespace(perf_counter=lambda: sum(taken)))
    monkeypatch.setattr(cache, "load", lambda key: None)
    kinds = ("f32", "f64", "i64")[:count]
    inputs = ", ".join(f"%x{n}: {kind}[7,{20 + count}]" for n, kind in enumerate(kinds))
    nodes = " ".join(f"%{n}: {kind}[7] = sum(%x{n}, (1,))" for n, kind in enumerate(kinds))
    outputs = ", ".join(f"%{n}" for n in range(count))
    graph = parse_graph(f"graph one({inputs}) {{ {nodes} return {outputs} }}")
    with measuring() as seconds, phase("between stages"):
        compiled = compile_graph(graph)
    assert compiled.kernel_count == len(taken) == count
    assert seconds.pop("machine code") >= count and "between stages" in seconds
    assert set(seconds.values()) == {0.0}


def test_the_table(script):
    found = mt2("times", script, 0)
    assert found.returncode == 0 and found.stdout.count("the script speaks ['0']") == 1
    lines = found.stdout.splitlines()
    titles = [line[2:40].split("  ")[0] for line in lines if line.startswith("  ")]
    assert "capture and guards" in titles and titles.index("joint graph") < titles.index("kernels")
    assert titles[-2:] == ["compiling", "the whole script"]


def test_the_lines_add_up_and_stand_in_order():
    run = {"phases": {"loops.fused": 2.0, "capture": 1.0, "machine code": 1.0}, "script": 5.0}
    warm = {"phases": {"capture": 0.5}, "script": 1.0}
    table = rows(run, warm)
    assert [line[0] for line in table[:3]] == ["capture and guards", "fused loops", "machine code"]
    assert table[1][2:] == ("2.000", "50 %", "")
    assert table[-2] == ("compiling", "", "4.000", "", "0.500")
    assert all(title(name) and place(name)[0] for name in OTHERS)


def test_a_script_that_kills_its_process(tmp_path):
    script = tmp_path / "gone.py"
    script.write_text("import os\nos._exit(7)\n")
    found = mt2("times", script)
    assert found.returncode == 7 and "ended its process (exit code 7)" in found.stderr
