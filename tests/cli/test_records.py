"""Events as records: text fixed on arrival, selection, JSON."""

import io
import json
from dataclasses import replace

import pytest

from minitorch2.artifacts import Origin, emit, subscribe
from minitorch2.cli.records import Collector, Record, select, split_origin, write_json
from minitorch2.jit.ir.parser import parse_graph
from tests.cli.samples import UNIT, compiled, record

pytestmark = pytest.mark.pure


class Growing:
    """A payload that changes after it was emitted."""

    text = "early"

    def __str__(self) -> str:
        return self.text


def test_the_text_is_that_of_the_moment():
    collector, payload = Collector(), Growing()
    with subscribe(collector):
        emit("capture.source", UNIT, payload, size=1)
    payload.text = "late"
    [kept] = collector.records
    assert (kept.text, kept.facts, kept.producer) == ("early", {"size": 1}, "tests/cli/" + FILE)


FILE = "test_records.py"


def test_graphs_come_with_their_user_lines():
    collector = Collector()
    graph = parse_graph("graph f(%x: f32[4]) {\n  %0: f32[4] = exp(%x)\n  return %0\n}")
    with subscribe(collector):
        emit("capture.graph", UNIT, graph)
    assert collector.records[0].lines()[1][0] == "  %0: f32[4] = exp(%x)"
    assert collector.records[0].text.count("#") == 1


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("v0 = t0[i]  # my file.py:3", ("v0 = t0[i]", "my file.py:3")),
        ("v0 = x  # a.py:3, b.py:14", ("v0 = x", "a.py:3, b.py:14")),
        ("v3 = x  # fn.scale", ("v3 = x  # fn.scale", "")),
        ("return '# a.py:3'", ("return '# a.py:3'", "")),
        ("", ("", "")),
    ],
)
def test_split_origin(line, parts):
    assert split_origin(line) == parts


@pytest.mark.parametrize("name", ["loss_fn", "loss_fn#0", UNIT, "digits.py:loss_fn"])
def test_a_function_is_named_by_any_of_its_parts(name):
    other = record("capture.source", "", "digits.py:Net.forward#0")
    assert select([*compiled(), other], (), name) == compiled()


def test_a_method_is_named_by_its_own_name():
    method = record("capture.source", "", "digits.py:Net.forward#0")
    assert select([method], (), "forward") == [method]
    assert select([method], (), "Net.forward") == [method]
    assert select([method], (), "Net") == []


def test_stages_and_function_are_asked_together():
    found = select(compiled(), ("graph", "kernel"), "loss_fn")
    assert [each.stage for each in found] == ["capture.graph", "kernel.source"]


def written(name: str) -> str:
    file = io.StringIO()
    file.name = name
    write_json(file, compiled(), "/somewhere/digits.py", 3)
    return file.getvalue()


def test_json_document():
    document = json.loads(written("out.json"))
    assert document["script"] == "digits.py" and document["exit_code"] == 3
    first = document["events"][0]
    assert list(first) == ["id", "stage", "unit", "producer", "text", "facts"]


def test_json_lines():
    rows = [json.loads(line) for line in written("out.jsonl").splitlines()]
    assert [row["stage"] for row in rows] == [each.stage for each in compiled()]


def test_a_joint_graph_says_where_the_backward_begins():
    collector = Collector()
    text = "graph f(%x: f32[4]) {\n  %0: f32[4] = exp(%x)\n  %1: f32[4] = neg(%0)\n  return %1\n}"
    graph = parse_graph(text)
    last = replace(graph.nodes[1], origin=Origin(made_by="vjp of exp"))
    joint = replace(graph, nodes=(graph.nodes[0], last))
    with subscribe(collector):
        emit("autodiff.joint", UNIT, joint)
        emit("passes.optimized", UNIT, joint)
    rows = [code for code, _ in collector.records[0].lines()]
    assert rows[2:4] == ["  # backward", "  %1: f32[4] = neg(%0)"]
    assert "# backward" not in collector.records[1].text


@pytest.mark.parametrize("stage", ["loops.fused", "kernel.cost", "memory.planned", "cuda.source"])
def test_what_each_half_goes_through_says_which(stage):
    for half in ("forward", "backward"):
        assert Record(0, stage, UNIT, "", "text", {"graph": f"f_{half}"}).part == half
    assert Record(0, stage, UNIT, "", "text", {"graph": "f"}).part == ""
    assert Record(0, "passes.optimized", UNIT, "", "text", {"graph": "f_forward"}).part == ""
