"""Programs kept on disk: the next process gets the same results, without the stages."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import minitorch2 as torch
from minitorch2 import dtypes
from minitorch2.artifacts import Origin, Span, subscribe
from minitorch2.config import config
from minitorch2.errors import IndexOutOfRange
from minitorch2.jit.autodiff.pipeline import compile_captured
from minitorch2.jit.autodiff.records import (
    NotRecorded,
    argument_from,
    argument_record,
    node_spans,
    numbered,
    origin_from,
    origin_record,
)
from minitorch2.jit.autodiff.runtime import GraphFailed
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.types import ScalarType, TensorType
from minitorch2.jit.shapes.parser import parse_size
from minitorch2.kernels import programs
from minitorch2.kernels.backend import compile_graph
from minitorch2.kernels.program_parts import part_record
from minitorch2.kernels.programs import LoadedGraph, program_for, program_key
from minitorch2.kernels.runtime import cache as disk

pytestmark = pytest.mark.numba

LATE = (
    "numba", "minitorch2.jit.passes.pipeline", "minitorch2.jit.autodiff.joint",
    "minitorch2.jit.autodiff.partition", "minitorch2.kernels.lower",
    "minitorch2.kernels.schedule", "minitorch2.kernels.codegen", "minitorch2.kernels.backend",
)  # fmt: skip

REPORT = f"""
import json, sys
late = [name for name in {LATE!r} if name in sys.modules]
print(json.dumps(dict(late=late, found=[repr(each) for each in found])))
"""

SCRIPT = """
import minitorch2 as torch
from minitorch2.nn import functional as F

found = []

def show(*tensors):
    found.extend(t.detach().reshape(-1).tolist() if t is not None else None for t in tensors)
    found.extend((tuple(t.shape), tuple(t.stride()), t.requires_grad) for t in tensors)

def data(*shape, grad=False):
    torch.manual_seed(sum(shape))
    return torch.randn(*shape, requires_grad=grad)

@torch.compile
def classify(x, w, b, labels):
    hidden = F.gelu(F.layer_norm(x @ w + b, (8,)))
    return F.cross_entropy(hidden, labels), hidden.mT

w, b = data(4, 8, grad=True), data(8, grad=True)
loss, view = classify(data(16, 4), w, b, torch.arange(16) % 8)
(loss + view[0].sum()).backward()
show(loss, view, w.grad, b.grad)

@torch.compile
def twice(x):
    return (x.exp() * x.sin()).sum()

x = data(7, grad=True)
(first,) = torch.autograd.grad(twice(x), x, create_graph=True)
(second,) = torch.autograd.grad(first.square().sum(), x)
show(first, second)

@torch.compile
def noisy(x, w):
    return F.dropout(x * 2, 0.5) @ w + torch.rand(3)

torch.manual_seed(3)
x, w = data(5, 4, grad=True), data(4, 3)
out = noisy(x, w)
out.sum().backward()
show(out, x.grad, torch.rand(2))

@torch.compile
def writes(x, y):
    x.mul_(2)
    x[0].add_(y)
    return x.view(-1), x.sum(0) + y, x

x, y = data(3, 4), data(4, grad=True)
show(*writes(x + 0, data(4)), *writes(x * 1 + 0 * y, y))

@torch.compile(dynamic=True)
def any_size(x, w):
    y = F.dropout(torch.softmax(x @ w, -1), 0.25)
    return y, y.mT, torch.cat([x, x]).sum(), x.reshape(-1, x.shape[0] * 2)

for n in (6, 10):
    torch.manual_seed(n)
    x, w = data(n, 4, grad=True), data(4, n, grad=True)
    out = any_size(x, w)
    (out[0].square().sum() + out[2]).backward()
    show(*out, x.grad, w.grad)

@torch.compile(dynamic=True)
def counted(x, w):
    return (w * x.shape[0]).exp().sum() * x.shape[1]

for n in (6, 10):
    w = data(3, grad=True)
    out = counted(data(n, n + 1), w)
    out.backward()
    show(out, w.grad)

@torch.compile
def on_the_host(x):
    return x.sort(dim=1, descending=True)[0].cumsum(0)

x = data(5, 5, grad=True)
on_the_host(x).sum().backward()
show(on_the_host(x), x.grad)

@torch.compile
def halves(x, w):
    return (x @ w).float()

show(halves(data(4, 6).bfloat16(), data(6, 3).bfloat16()))

@torch.compile
def pick(table, index):
    return table[index] * 2

show(pick(data(5, 2), torch.tensor([4, 0])))
try:
    pick(data(5, 2), torch.tensor([4, 7]))
except IndexError as error:
    found.append(error.location[1] - pick.original.__code__.co_firstlineno)
    found.append(error.wrong)
"""
SMALL = """
import minitorch2 as torch
found = [torch.compile(lambda x: (x * 3).sin(), options=OPTIONS)(torch.ones(3)).tolist()]
"""


def start(folder: Path, script: str, name: str = "user.py") -> subprocess.Popen:
    """A process that runs a script over a cache folder of the test's own."""
    (folder / name).write_text(script + REPORT)
    environment = os.environ | {"MT2_CACHE_DIR": str(folder / "cache")}
    environment.pop("MT2_CHECK", None)
    return subprocess.Popen(
        [sys.executable, "-W", "error", str(folder / name)],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def report(process: subprocess.Popen) -> dict:
    """What the script printed."""
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return json.loads(out.splitlines()[-1])


def entries(folder: Path) -> list[Path]:
    """The programs on disk."""
    return sorted((folder / "cache" / "kernels").glob("*.json"))


@pytest.mark.slow
def test_the_next_process_gets_the_same_without_the_stages(tmp_path):
    cold = report(start(tmp_path, SCRIPT))
    before = [(file.name, file.stat().st_mtime_ns) for file in entries(tmp_path)]
    warm = report(start(tmp_path, "# a line\n\n" + SCRIPT, "moved.py"))
    assert warm["found"] == cold["found"]
    assert set(cold["late"]) == set(LATE) - {"numba"} and warm["late"] == []
    assert [(file.name, file.stat().st_mtime_ns) for file in entries(tmp_path)] == before
    assert len(before) >= 9


@pytest.mark.slow
def test_damage_and_other_options(tmp_path):
    small = SMALL.replace("OPTIONS", "{}")
    first = report(start(tmp_path, small))
    (entry,) = entries(tmp_path)
    whole = entry.read_bytes()
    head, _, body = whole.partition(b"\n")
    for broken in (b"", whole[:-5], head + b"\n" + body.replace(b"kernel", b"kernal"), b"\xff"):
        entry.write_bytes(broken)
        again = report(start(tmp_path, small))
        assert again["found"] == first["found"] and again["late"]
        assert entry.read_bytes() == whole
    other = report(start(tmp_path, SMALL.replace("OPTIONS", "dict(fuse=False)")))
    assert other["late"] and other["found"] == first["found"] and len(entries(tmp_path)) == 2


@pytest.mark.slow
def test_two_processes_at_once(tmp_path):
    small = SMALL.replace("OPTIONS", "{}")
    both = [start(tmp_path, small, f"user{number}.py") for number in range(2)]
    first, second = map(report, both)
    assert first["found"] == second["found"] and len(entries(tmp_path)) == 1
    assert report(start(tmp_path, small))["late"] == []


# One process: the functions.

TAKE = """graph take(%x: f32[s0,4], %i: i64[3]) {
  %0: f32[3,4] = index_select(%x, 0, %i)
  %1: f32[3,4] = mul(%0, 2)
  return %1
}"""
FLAGS = (True, False)


def at_lines(text: str, *lines: int):
    """A graph whose nodes stand at these lines of the user's program."""
    graph = parse_graph(text)
    pairs = zip(graph.nodes, lines, strict=True)
    nodes = [type(n)(n.op, n.args, n.results, n.grad, Origin((Span("user.py", at),)))
             for n, at in pairs]  # fmt: skip
    return type(graph)(graph.name, graph.inputs, tuple(nodes), graph.outputs)


@pytest.fixture
def builds(monkeypatch, tmp_path):
    """`get(graph)` -> program, over an empty folder; `get.builds` counts what was compiled."""
    monkeypatch.setenv("MT2_CACHE_DIR", str(tmp_path / "cache"))

    def build(graph):
        get.builds += 1
        return compile_captured(graph, FLAGS, lambda graph, unit: compile_graph(graph))

    def get(graph, options="options"):
        return program_for(graph, FLAGS, options, build, part_record)

    get.builds = 0
    return get


def failure_line(program) -> int:
    """The line that a bad index is blamed on."""
    with pytest.raises(GraphFailed) as caught:
        program([torch.ones(5, 4), torch.tensor([0, 9, 1])])
    error = caught.value.__cause__
    assert isinstance(error, IndexOutOfRange) and error.location is not None
    assert error.location[0] == "user.py"
    return error.location[1]


def test_errors_name_the_lines_of_the_graph_at_hand(builds):
    assert failure_line(builds(at_lines(TAKE, 10, 11))) == 10
    found = builds(at_lines(TAKE, 30, 40))
    assert builds.builds == 1 and isinstance(found.forward, LoadedGraph)
    assert failure_line(found) == 30
    functional = found.functional.graph
    assert [node.origin.spans[0].line for node in functional.nodes] == [30, 40]


def test_a_loaded_program_says_what_a_built_one_does(builds):
    graph = at_lines(TAKE, 1, 2)
    built, found = builds(graph), builds(graph)
    assert found.functional.graph == built.functional.graph
    assert found.saved_bytes() == built.saved_bytes()
    assert found.forward.kernel_count == built.forward.kernel_count > 0
    assert found.partition.saved == built.partition.saved


def test_whoever_listens_sees_everything_built(builds, monkeypatch):
    graph, events = at_lines(TAKE, 1, 2), []
    builds(graph)
    with subscribe(events.append):
        builds(graph)
    assert builds.builds == 2
    assert {"autodiff.functional", "kernel.source"} <= {event.stage for event in events}
    monkeypatch.setattr(config, "check", True)
    builds(graph)
    assert builds.builds == 3


def test_what_is_named_but_no_longer_there_is_built_anew(builds):
    graph = at_lines(TAKE, 1, 2)
    builds(graph)
    key = program_key(graph, FLAGS, "options")
    record = disk.load_program(key)
    del record["parts"][0]["kernels"]
    disk.store_program(key, record)
    builds(graph)
    assert builds.builds == 2 and "kernels" in disk.load_program(key)["parts"][0]


def test_what_keys_tell_apart(monkeypatch):
    graph = at_lines(TAKE, 1, 2)
    key = program_key(graph, FLAGS, "options")
    assert key == program_key(at_lines(TAKE, 7, 8), FLAGS, "options")
    changed = [
        program_key(parse_graph(TAKE.replace("s0", "s1")), FLAGS, "options"),
        program_key(parse_graph(TAKE.replace("4],", "4] strides(1,s0),")), FLAGS, "options"),
        program_key(parse_graph(TAKE.replace("{\n", "{\n  where s0>=2\n")), FLAGS, "options"),
        program_key(graph, (False, False), "options"),
        program_key(graph, FLAGS, "other options"),
    ]
    monkeypatch.setattr(dtypes, "_default", dtypes.float64)
    changed.append(program_key(graph, FLAGS, "options"))
    monkeypatch.setattr(programs, "environment", lambda: "another machine")
    changed.append(program_key(graph, FLAGS, "options"))
    assert len({key, *changed}) == 1 + len(changed)


def test_records_of_arguments():
    size = parse_size("s0*4+1")
    type = TensorType(dtypes.bfloat16, (size, 3))
    scalar = ScalarType("int", parse_size("s0"))
    plain = (1, True, None, "a", -0.0, float("inf"), size, dtypes.int8, (), ((2,),))
    x, y = parse_graph(f"graph f(%x: {type}, %n: {scalar}) {{ return %x }}").inputs
    arguments = (*plain, x.value, y.value)
    record = json.loads(json.dumps(argument_record(arguments)))
    assert repr(argument_from(record)) == repr(arguments)
    for odd in (object(), [1], parse_graph("graph f() { return 1 }")):
        with pytest.raises(NotRecorded):
            argument_record(odd)


def test_records_of_origins():
    graph = at_lines(TAKE, 5, 6)
    origins = [node.origin for node in numbered(graph).nodes]
    union = Origin.union(origins, "fusion")
    assert str(union) == "user.py:5, user.py:6"
    assert origin_record(union) == [[0, 0], [1, 0]]
    moved = node_spans(at_lines(TAKE, 8, 8))
    assert str(origin_from(origin_record(union), moved)) == "user.py:8"
    assert origin_record(None) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions of files")
def test_a_folder_that_others_may_write_is_not_read(builds, tmp_path):
    graph = at_lines(TAKE, 1, 2)
    builds(graph)
    (tmp_path / "cache" / "kernels").chmod(0o777)
    builds(graph)
    assert builds.builds == 2
    builds(graph)  # storing made it private
    assert builds.builds == 2


def test_programs_know_the_files_they_were_made_with(tmp_path):
    """A file that is edited, renamed, moved, new or gone is another environment."""
    (tmp_path / "inner").mkdir()
    for name in ("a.py", "inner/b.py", "notes.txt"):
        (tmp_path / name).write_text("x = 1\n")

    def seen() -> list[str]:
        return sorted(programs._sources(str(tmp_path)))

    found = [seen()]
    assert len(found[0]) == 2 and seen() == found[0]
    (tmp_path / "notes.txt").write_text("other")
    assert seen() == found[0]
    changes = (
        lambda: (tmp_path / "a.py").write_text("x = 12\n"),
        lambda: os.utime(tmp_path / "a.py", ns=(1, 1)),
        lambda: (tmp_path / "inner/b.py").rename(tmp_path / "inner/c.py"),
        lambda: (tmp_path / "inner/c.py").rename(tmp_path / "c.py"),
        lambda: (tmp_path / "d.py").write_text(""),
        lambda: (tmp_path / "d.py").unlink(),
    )
    for change in changes:
        change()
        found.append(seen())
    assert all(a != b for a, b in zip(found, found[1:], strict=False))
