"""A trial says what assembling says: yes, or the same reason why not."""

import pytest

from minitorch2.errors import Mt2Error
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.backend import plan_graph
from minitorch2.kernels.lower.lowering import lower_graph
from minitorch2.kernels.schedule.assemble import Refused, assemble
from minitorch2.kernels.schedule.hazards import check_writes
from minitorch2.kernels.schedule.trial import Trials
from tests.graphs.making import make
from tests.graphs.running import compiled

REDUCED, ROW, WRITTEN = "reduces", "another row", "other iterations"
GRAPHS = {
    REDUCED: """graph f(%x: f32[64,32]) {
  %0: f32[64,1] = amax(%x, (1,), True)
  %1: f32[64,32] = sub(%x, %0)
  %2: f32[64,32] = exp(%1)
  %3: f32[64,1] = sum(%2, (1,), True)
  %4: f32[64,32] = true_divide(%2, %3)
  %5: f32[64,1] = mul(%3, 2.0)
  return %4, %5
}""",
    ROW: """graph f(%x: f32[64,32]) {
  %0: f32[64,1] = sum(%x, (1,), True)
  %1: f32[64,1] = flip(%0, (0,))
  %2: f32[64,32] = mul(%x, %1)
  return %2
}""",
    WRITTEN: """graph f(%x: f32[64,32], %y: f32[64,32]) {
  %0: f32[64,1] = sum(%x, (1,), True)
  %1: f32[64,32] = mul(%y, %0)
  %2: f32[64,32] = flip(%x, (0,))
  %3: f32[64,32] = add(%1, %2)
  return
  writes (%x <- %3, %y <- %1)
}""",
}


def said(question, *arguments):
    """The reason of a refusal, or an empty text."""
    try:
        question(*arguments)
    except Refused as reason:
        return str(reason)
    return ""


@pytest.fixture
def answers(monkeypatch):
    """What was answered to each question, all of them compared with a kernel's assembly."""
    check, found = Trials.check, []

    def both(trials, frame, nests, stored):
        built = said(_built, trials.program, frame, nests, stored)
        assert said(check, trials, frame, nests, stored) == built
        found.append(built)
        return check(trials, frame, nests, stored)

    monkeypatch.setattr(Trials, "check", both)
    return found


def _built(program, frame, nests, stored):
    check_writes(assemble(program, frame, nests, stored, "trial").kernel)


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_written_for_each_reason(name, answers):
    graph = parse_graph(GRAPHS[name])
    plan_graph(graph, lower_graph(graph), fuse=True)
    assert "" in answers or name != REDUCED
    assert name == REDUCED or any(name in reason for reason in answers)


def test_random_graphs(answers):
    for seed in range(120):
        try:
            compiled(make(seed), "python")
        except Mt2Error:
            continue
    assert len(answers) > 100 and "" in answers
