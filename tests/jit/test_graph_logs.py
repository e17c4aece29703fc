"""Logs of random graphs: summed, gone on from after a cut in a line, complaints judged again."""

import numpy
import pytest

from minitorch2.jit.ir.parser import parse_graph
from tests.graphs import __main__ as command
from tests.graphs.counting import Tally, Work, logged
from tests.graphs.making import Case
from tests.graphs.shrinking import script

GRAPH = "graph f(%x: f32[3]) { %0: f32[3] = exp(%x) return %0 }"


@pytest.fixture(scope="module")
def work():
    return [Work(first, first + 2, ("aot_eager",), 0, 0) for first in (20, 22)]


@pytest.fixture
def log(tmp_path, work):
    path = tmp_path / "graphs.log"
    path.write_text("".join(each.line(each.done()[1]) + "\n" for each in work))
    return path


def run(monkeypatch, capsys, *arguments):
    monkeypatch.setattr("sys.argv", ["tests.graphs", *map(str, arguments)])
    status = command.main()
    return status, capsys.readouterr().out


def test_a_report_counts_the_work_of_several_logs_once(log, monkeypatch, capsys):
    status, once = run(monkeypatch, capsys, "--report", log)
    assert run(monkeypatch, capsys, "--report", log, log) == (0, once) and status == 0
    counted = once.splitlines()[0].split()
    assert int(counted[0]) + int(counted[4]) == 4 and counted[-2:] == ["2", "lines"]
    assert "ops: " in once and "graphs on aot_eager" in once


def test_a_log_that_ends_within_a_line_is_gone_on_from(log, work, monkeypatch, capsys):
    whole = log.read_text()
    _, right = run(monkeypatch, capsys, "--report", log)
    log.write_text(whole[: len(whole) - 30])
    _, shorter = run(monkeypatch, capsys, "--report", log)
    assert "1 lines" in shorter
    (done,) = logged(str(log), work)
    assert done == work[0]
    with open(log, "a") as file:
        file.write(work[1].line(work[1].done()[1]) + "\n")
    assert run(monkeypatch, capsys, "--report", log)[1] == right


@pytest.mark.parametrize("number", [0.5, float("inf"), float("nan")])
def test_complaints_are_judged_again(number, log, work, monkeypatch, capsys):
    case = Case(20, parse_graph(GRAPH), (numpy.array([number, 1, 2], "f4"),), (False,))
    text = script(case, "interpreter", "array 0: 1, not 2")
    failure = f"--- seed 20, interpreter: array 0: 1,\nnot 2\n{text}"
    exec(text.replace("print(", "assert not ("), {})  # it stands alone
    log.write_text(work[0].line(Tally(failures=[failure])) + "\n")
    status, said = run(monkeypatch, capsys, "--report", log)
    assert status == 1 and said.startswith("--- seed 20, interpreter: array 0: 1,\n")
    status, said = run(monkeypatch, capsys, "--again", log)
    assert status == 0 and said in ("right 2\n", "refused by eager 1, right 1\n")
    monkeypatch.setattr(command, "differences", lambda case, backends: {backends[0]: "other"})
    status, said = run(monkeypatch, capsys, "--again", log)
    assert status == 1 and "now: {'interpreter': 'other'}" in said and "wrong 2" in said
