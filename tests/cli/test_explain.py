"""`mt2 explain` on real scripts: the whole report, its options, its exit codes."""

import json

import pytest

from tests.cli.commands import mt2, started

SCRIPT = """\
import sys
import torch


def shifted(x):
    return x + 1.0


@torch.compile(backend="interpreter")
def loss_fn(x, w):
    hidden = torch.tanh(shifted(x @ w))
    return (hidden * hidden).sum()


@torch.compile(backend="interpreter")
def noisy(x):
    y = x * 2
    if y.sum() > 0:
        y = y + 1
    return y


def main():
    print("script says", sys.argv[1:])
    w = torch.ones(4, 3, requires_grad=True)
    loss_fn(torch.ones(2, 4), w).backward()
    loss_fn(torch.ones(5, 4), w)
    noisy(torch.ones(3))
    if "fail" in sys.argv:
        shifted(None)
    sys.exit(3 if "three" in sys.argv else 0)


main()
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("explain") / "train.py"
    path.write_text(SCRIPT)
    return path


@pytest.fixture(scope="module")
def whole(script):
    return mt2("explain", script, "--steps", "3", "three")


def test_the_script_s_output_comes_first_and_its_code_is_ours(whole):
    assert whole.stdout.startswith("script says ['--steps', '3', 'three']\n")
    assert whole.returncode == 3
    assert whole.stderr == ""
    assert "The script ended itself with exit code 3." in whole.stdout


@pytest.mark.parametrize(
    "heading",
    ["SOURCE", "BYTECODE", "GUARDS", "CAPTURED GRAPH", "FUNCTIONAL GRAPH", "JOINT GRAPH",
     "OPTIMIZED GRAPH", "FORWARD AND BACKWARD", "GRAPH BREAK", "RECOMPILATION"],
)  # fmt: skip
def test_every_stage_is_there(whole, heading):
    assert any(line.startswith(heading) for line in whole.stdout.splitlines())


def test_what_a_reader_looks_for(whole):
    text = whole.stdout
    assert "▌ graph break [tensor-branch]" in text
    assert "train.py:10 │" in text and "tanh(" in text
    assert "train.py:noisy#0" in text and "1 graph break" in text
    assert "\x1b[" not in text
    assert max(map(len, text.splitlines())) <= 100


def test_list_shows_names_only(script):
    done = mt2("explain", "--list", script)
    assert "capture.graph" in done.stdout and "BYTECODE" not in done.stdout


def test_one_stage_of_one_function(script):
    done = mt2("explain", "--stage", "graph", "--function", "loss_fn", script)
    headings = [line.split("  ")[0] for line in done.stdout.splitlines() if line[:2].isupper()]
    assert headings == ["CAPTURED GRAPH", "CAPTURED GRAPH"]
    assert "noisy" not in done.stdout


def test_nothing_fits(script):
    done = mt2("explain", "--function", "other", script)
    assert "Nothing here fits" in done.stdout and "train.py:noisy#0" in done.stdout
    assert done.returncode == 2
    failed = mt2("explain", "--function", "other", script, "three")
    assert failed.returncode == 3  # the script's own code comes first
    line = mt2("explain", "--line", "9999", script)
    assert line.returncode == 2 and "train.py:9999 was never captured" in line.stdout


def test_graphs_of_a_stage_that_is_not_there(script):
    """Nothing on stdout, where a reader of graphs waits; what there is on stderr."""
    done = mt2("explain", "--ir", "--stage", "autodiff.joint", "--function", "noisy", script)
    assert done.returncode == 2 and done.stdout == ""
    assert "Nothing here fits" in done.stderr and "capture.graph" in done.stderr


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_json_into_a_pipe_is_json_alone(script, name):
    """What the script prints goes to stderr."""
    done = mt2("explain", "--json", name, script, "three")
    assert done.returncode == 3 and json.loads(done.stdout)["script"] == "train.py"
    assert "script says ['three']" in done.stderr


def test_a_break_that_is_compiled_again_is_one_break(tmp_path):
    path = tmp_path / "prints.py"
    path.write_text(
        "import torch\n"
        "@torch.compile(dynamic=False)\n"
        "def f(x):\n"
        "    print('one')\n"
        "    y = x * 2\n"
        "    print('two')\n"
        "    return y\n"
        "for size in (2, 3, 4):\n"
        "    f(torch.ones(size))\n"
    )
    done = mt2("explain", "--list", path)
    glances = [line for line in done.stdout.splitlines() if "#0" in line and "graph break" in line]
    assert glances and all("1 graph break" in line for line in glances), glances
    done = mt2("explain", "--json", "-", path)
    breaks = [e for e in json.loads(done.stdout)["events"] if e["stage"] == "capture.break"]
    assert len(breaks) > len({e["facts"]["where"] for e in breaks}) == 2


def test_json(script, tmp_path):
    file = tmp_path / "out.json"
    done = mt2("explain", "--json", file, script, "three")
    assert done.returncode == 3 and done.stdout == "script says ['three']\n"
    document = json.loads(file.read_text())
    assert (document["script"], document["exit_code"]) == ("train.py", 3)
    stages = [event["stage"] for event in document["events"]]
    assert stages[0] == "capture.source" and "autodiff.joint" in stages
    assert str(script.parent) not in file.read_text(), "no absolute paths"
    assert f"{len(stages)} events written to" in done.stderr


def test_the_stream_is_the_same_on_every_run(script, tmp_path):
    texts = []
    for name in ("a.jsonl", "b.jsonl"):
        mt2("explain", "--json", tmp_path / name, script)
        texts.append((tmp_path / name).read_text())
    assert texts[0] == texts[1] and len(texts[0].splitlines()) > 20


def test_a_script_that_fails_shows_its_traceback_then_the_stages(script):
    done = mt2("explain", script, "fail")
    assert done.returncode == 1
    assert done.stderr.startswith(f'Traceback (most recent call last):\n  File "{script}"')
    assert "minitorch2/cli" not in done.stderr
    assert "The script ended with TypeError (traceback above)." in done.stdout
    assert "CAPTURED GRAPH" in done.stdout


def test_nothing_compiled(tmp_path):
    path = tmp_path / "plain.py"
    path.write_text("print('hello')")
    done = mt2("explain", path)
    assert done.returncode == 0
    assert "Nothing was compiled" in done.stdout and "@torch.compile" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["missing.py"], "there is no file missing.py"),
        (["plain"], "there is plain.py"),
        (["."], "is a folder"),
        (["--stage", "kernal", "plain.py"], "did you mean kernel"),
        (["--json", "no/such/folder/x.json", "plain.py"], "No such file"),
        ([], "Missing argument 'SCRIPT'"),
    ],
)
def test_wrong_command_lines(tmp_path, arguments, says):
    (tmp_path / "plain.py").write_text("print('ran')")
    done = mt2("explain", *arguments, folder=tmp_path)
    assert done.returncode == 2 and says in done.stderr
    assert "ran" not in done.stdout and "Traceback" not in done.stderr


def test_a_report_into_a_closed_pipe_ends_quietly(script):
    process = started("explain", script, "three")
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=120) == 3
    assert process.stderr.read() == ""
    process.stderr.close()


KERNELS = """\
import torch


@torch.compile
def scaled(x, w):
    hidden = x * 2.0
    return (hidden @ w).exp()


for _ in range(3):
    scaled(torch.ones(4, 8), torch.ones(8, 2))
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    path = tmp_path_factory.mktemp("kernels") / "scaled.py"
    path.write_text(KERNELS)
    return path


@pytest.mark.numba
def test_bytes_flops_and_launches(kernels):
    done = mt2("explain", "--stage", "cost", "--stage", "runtime.launches", kernels)
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line.strip()}
    assert rows["matmul_0"][2:6] == ["3", "672", "B", "384"]  # 3 * (4*8 + 8*2 + 4*2) * 4 bytes
    assert rows["kernel_1"][1] == "scaled.py:7"
    assert "GB/s" in done.stdout and "flops/byte" in done.stdout


@pytest.mark.numba
def test_the_stream_has_times_in_facts_only(kernels, tmp_path):
    texts = []
    for name in ("a.jsonl", "b.jsonl"):
        mt2("explain", "--json", tmp_path / name, kernels)
        rows = [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
        texts.append([(row["stage"], row["text"]) for row in rows])
    assert texts[0] == texts[1]
    launches = next(row for row in rows if row["stage"] == "runtime.launches")
    assert launches["facts"]["kernels"][0]["ms"] > 0 and "ms" not in launches["text"]


@pytest.mark.numba
def test_llvm_and_machine_code_for_those_who_ask(kernels):
    plain = mt2("explain", "--stage", "kernel", kernels).stdout
    assert "MACHINE CODE" not in plain and "LLVM" not in plain
    asked = mt2("explain", "--asm", "--llvm", "--stage", "kernel", kernels).stdout
    assert "MACHINE CODE" in asked and "define internal" in asked and "kernel_0:" in asked
    assert "MACHINE CODE" in mt2("explain", "--stage", "asm", kernels).stdout


@pytest.mark.numba
def test_the_life_of_a_line(kernels):
    done = mt2("explain", "--asm", "--line", "7", kernels)
    lines = done.stdout.splitlines()
    assert any(line.startswith("scaled.py:7") and "in scaled.py:scaled#0" in line for line in lines)
    for heading in ("BYTECODE", "CAPTURED GRAPH", "OPTIMIZED GRAPH", "FUSED LOOPS", "KERNELS",
                    "MACHINE CODE", "COSTS", "LAUNCHES"):  # fmt: skip
        assert any(line.startswith(heading) for line in lines), heading
    assert "scaled.py:6" not in done.stdout and "mul(%x" not in done.stdout


@pytest.mark.numba
def test_a_line_that_nobody_captured(kernels):
    done = mt2("explain", "--line", "scaled.py:10", kernels)
    assert "scaled.py:10 was never captured" in done.stdout
    assert "  scaled.py:7  return (hidden @ w).exp()" in done.stdout
    wrong = mt2("explain", "--line", "scaled.py", kernels)
    assert wrong.returncode == 2 and "write FILE:N, such as scaled.py:12" in wrong.stderr
