"""What capture does not follow runs as Python, correctly, and says why."""

import asyncio

import pytest

import minitorch2 as torch
from minitorch2.artifacts import subscribe
from minitorch2.errors import GraphBreakError
from minitorch2.jit.capture.graph_break import ROWS, GraphBreak
from minitorch2.jit.capture.program import capture
from tests.jit.capture.capturing import compiled, ones

X = ones(2)


def item(x):
    return x + x.sum().item()


def branch(x):
    return x + 1 if x.sum() > 0 else x - 1


def talk(x):
    print("hello")
    return x + 1


def history(x):
    y = x * ones(2, requires_grad=True)
    y.retain_grad()
    return y.detach()


def divide(x):
    try:
        return 12 // x.to(torch.int64)
    except RuntimeError:
        return x


class Stands:
    def __mro_entries__(self, bases):
        return (Scaled,)


class Scaled:
    scale = 2


def class_statement(x):
    class Local(Stands()):
        pass

    return x * Local.scale


@pytest.mark.parametrize(
    "fn, code",
    [
        (item, "data-dependent"),
        (branch, "tensor-branch"),
        (talk, "input-output"),
        (divide, "may-fail"),
        (class_statement, "class-statement"),
        (history, "gradient-machinery"),
    ],
)
def test_a_break_runs_as_python_once_and_again(fn, code, capsys):
    run = compiled(fn, fullgraph=False)
    expected = fn(X).tolist()
    assert run(X).tolist() == expected and run(X).tolist() == expected
    assert {stopped.row.code for stopped in run.breaks} == {code}
    with pytest.raises(GraphBreakError, match=code):
        compiled(fn)(X)


def test_the_text_names_the_line_and_the_operation():
    with pytest.raises(GraphBreak) as caught:
        capture(item, (X,), {}, unit="t:item#0")
    text = caught.value.text()
    assert "test_graph_breaks.py" in text and "return x + x.sum().item()" in text
    assert "^^^^^^^^^^^^^^" in text and "hint:" in text


def test_an_exception_that_escapes_is_the_real_one():
    def fn(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine") as caught:
        compiled(fn, fullgraph=False)(X)
    assert caught.traceback[-1].name == "fn"


def test_generators_and_coroutines_run_as_python():
    def steps(x):
        for i in range(3):
            yield x + i

    async def later(x):
        await asyncio.sleep(0)
        return x + 1

    assert [y.tolist()[0] for y in compiled(steps, fullgraph=False)(X)] == [1, 2, 3]
    assert asyncio.run(compiled(later, fullgraph=False)(X)).tolist() == [2, 2]


def test_every_row_says_what_is_the_matter():
    codes = [row.code for row in ROWS]
    assert len(set(codes)) == len(codes)
    assert all(row.explanation.endswith(".") for row in ROWS)


def test_events_of_a_capture_and_of_a_break():
    events = []
    with subscribe(events.append):
        capture(lambda x: x * 2, (X,), {}, unit="t:f#0")
        with pytest.raises(GraphBreak):
            capture(item, (X,), {}, unit="t:item#0")
    stages = [event.stage for event in events]
    assert stages == [
        "capture.source", "capture.bytecode", "capture.guards", "capture.graph",
        "capture.source", "capture.bytecode", "capture.break",
    ]  # fmt: skip
    bytecode = events[1].text
    assert "BINARY_OP" in bytecode and "-> %0: f32[2] = mul(%x, 2)" in bytecode
    assert "0x" not in "".join(event.text for event in events)


def test_origins_carry_the_users_columns_offset_and_step():
    program = capture(lambda x: (x * 2).relu() + 1, (X,), {}, unit="t:f#0")
    spans = [node.origin.spans[0] for node in program.graph.nodes]
    assert all(span.file == __file__ for span in spans)
    assert len({(span.column, span.end_column) for span in spans}) == 3
    assert all(node.origin.offset is not None for node in program.graph.nodes)
    steps = [node.origin.step for node in program.graph.nodes]
    assert steps == sorted(steps) and program.graph.nodes[0].origin.made_by == "capture"
