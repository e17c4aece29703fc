"""The pipeline as a whole: events, options, checks, and the same numbers."""

import dataclasses

import pytest

from minitorch2.artifacts import subscribe
from minitorch2.config import config
from minitorch2.errors import VerificationError
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.verify import verify
from minitorch2.jit.passes import pipeline
from minitorch2.jit.passes.options import DEFAULT, PassOptions
from minitorch2.jit.passes.pipeline import PIPELINE, optimize, run_pass
from tests.jit.passes.checking import same_numbers

TEXT = """graph step(%x: f32[s0,4], %y: f32[s0,4], %n: int(s1)) {
  %0: f32[s0,4] = full((s0, 4), 2.0, dtype=f32)
  %1: f32[s0,4] = mul(%x, %0)
  %2: f32[4,s0] = permute(%1, (1, 0))
  %3: f32[s0,4] = transpose(%2, 0, 1)
  %4: f32[s0,4] = neg(%y)
  %5: f32[s0,4] = add(%3, %4)
  %6: f32[s0,4] = mul(2.0, %x)
  %7: f32[s0,4] = sub(%6, %5)
  %8: f32[s0,4] = true_divide(%7, s1)
  %9: f32[s0] = sum(%8, -1)
  %10: f32[s0,4] = uniform(%n, s1, (s0, 4), f32)
  return %9: strides(1), %8: strides(4,1)
  writes (%x <- %5)
}"""


@pytest.fixture
def checked(monkeypatch):
    monkeypatch.setattr(config, "check", True)


def test_what_it_makes_of_a_graph(checked):
    graph = parse_graph(TEXT)
    after = optimize(graph)
    verify(after)
    same_numbers(graph, after)
    assert (
        str(after)
        == """graph step(%x: f32[s0,4], %y: f32[s0,4], %n: int(s1)) {
  %0: f32[s0,4] = mul(%x, 2.0)
  %1: f32[s0,4] = sub(%0, %y)
  %2: f32[s0,4] = sub(%0, %1)
  %3: f32[s0,4] = true_divide(%2, s1)
  %4: f32[s0] = sum(%3, (1,))
  return %4: strides(1), %3: strides(4,1)
  writes (%x <- %1)
}"""
    )
    assert optimize(after) == after


def events_of(graph, options=DEFAULT):
    events = []
    with subscribe(events.append):
        optimize(graph, options, unit="train.py:step#0")
    return events


def test_each_pass_that_changed_something_says_so():
    events = events_of(parse_graph(TEXT))
    stages = [event.stage for event in events]
    told = (  # the graph has nothing for the others, which are silent
        "canonicalize",
        "simplify_views",
        "fold_constants",
        "apply_rules",
        "eliminate_common_subexpressions",
        "eliminate_dead_code",
    )
    names = [function.__name__ for function in PIPELINE if function.__name__ in told]
    assert len(names) == len(told)
    assert stages == [f"passes.{name}" for name in names] + ["passes.optimized"]
    assert {event.unit for event in events} == {"train.py:step#0"}
    assert all(event.producer.endswith("passes/pipeline.py") for event in events)
    for before, after in zip(events, events[1:-1], strict=False):
        assert before.facts["after"] == after.facts["before"] != after.facts["after"]
    assert events[-1].text == events[-2].text


def test_passes_that_change_nothing_are_silent():
    graph = parse_graph("graph f(%x: f32[4]) { %0: f32[4] = exp(%x) return %0 }")
    assert [event.stage for event in events_of(graph)] == ["passes.optimized"]


@pytest.mark.parametrize("function", PIPELINE, ids=lambda function: function.__name__)
def test_every_pass_can_be_left_out(function):
    options = PassOptions(disabled=(function.__name__,))
    graph = parse_graph(TEXT)
    events = events_of(graph, options)
    assert f"passes.{function.__name__}" not in [event.stage for event in events]
    same_numbers(graph, events[-1].payload)


def test_a_pass_that_breaks_the_rules_is_caught(checked, monkeypatch):
    def break_types(graph, options):
        node = graph.nodes[0]
        return dataclasses.replace(graph, nodes=(dataclasses.replace(node, origin=None),))

    graph = parse_graph("graph f(%x: f32[4]) { %0: f32[4] = exp(%x) return %0 }")
    with pytest.raises(VerificationError, match="no Origin"):
        run_pass(break_types, graph, DEFAULT)
    monkeypatch.setattr(pipeline, "PIPELINE", (break_types,))
    with pytest.raises(VerificationError, match="no Origin"):
        optimize(graph)


@pytest.mark.parametrize("op, name", [("relu_", "is_functional"), ("gelu", "has_only_primitives")])
def test_graphs_that_are_not_for_passes_are_refused(checked, op, name):
    graph = parse_graph(f"graph f(%x: f32[4]) {{ %0: f32[4] = {op}(%x) return %0 }}")
    with pytest.raises(VerificationError, match=f"{name} does not hold"):
        optimize(graph)


def test_without_the_check_nothing_is_verified(monkeypatch):
    monkeypatch.setattr(config, "check", False)
    graph = parse_graph("graph f(%x: f32[4]) { %0: f64[4] = exp(%x) return %0 }")
    assert optimize(graph) == graph
