"""The report over hand-made records: what a reader sees, and in which order."""

import io
from dataclasses import replace

import pytest

from minitorch2.cli.records import Record, select
from minitorch2.cli.render import Page
from minitorch2.cli.report import write_contents, write_report
from tests.cli.samples import broken, compiled, numbered

pytestmark = pytest.mark.pure


def report(records: list[Record], *stages: str, width: int = 100) -> str:
    file = io.StringIO()
    write_report(Page(file, width), records, select(records, stages, None))
    return file.getvalue()


def body(stage: str, records: list[Record] | None = None) -> list[str]:
    """The lines of one stage's section, below its heading."""
    lines = report(records or compiled(), stage).rstrip("\n").split("\n")
    start = next(n for n, line in enumerate(lines) if line[:1].isupper()) + 1
    return [line for line in lines[start:] if line]


@pytest.mark.parametrize("width", [80, 100])
def test_the_whole_report(golden, width):
    golden(report(compiled() + broken(), width=width))


def test_source_carries_its_own_lines():
    assert "  digits.py:42 │     return x.exp() * 1 + x" in body("capture.source")


def test_bytecode_stands_under_its_source_line_and_leaves_preparations_out():
    lines = body("bytecode")
    assert "  digits.py:42  return x.exp() * 1 + x" in lines
    assert any(line.split() == ["2", "LOAD_FAST", "x", "x"] for line in lines)
    assert any("guard x: f32[4]" in line for line in lines)
    assert not any("RESUME" in line for line in lines)


def test_bytecode_from_facts():
    row = {
        "place": "other.py:7", "source": "y = f(x)", "offset": 4, "depth": 1,
        "instruction": "CALL", "did": ["%0: f32[4] = exp(%x)"],
    }  # fmt: skip
    [record] = select(compiled(), ("bytecode",), None)
    lines = body("bytecode", [Record(0, record.stage, record.unit, "", "", {"rows": [row]})])
    assert lines[-2].split() == ["other.py:7", "y", "=", "f(x)"]
    assert lines[-1].split() == ["4", "CALL", "%0:", "f32[4]", "=", "exp(%x)"]


def test_a_pass_shows_its_own_file_and_a_diff_with_user_lines():
    text = report(compiled(), "apply_rules")
    assert "jit/passes/rules.py" in text
    assert "  digits.py:41-42 │ -  %2: f32[4] = add(%1, %x)" in text.splitlines()


def test_refusals_stand_apart_with_their_reason():
    lines = body("fused")
    assert lines[-2] == "  Not fused, and why:"
    assert lines[-1] == "  %0 (matmul) and %1 (exp)  matmul is a step of its own"


def test_every_kernel_line_has_its_user_lines():
    lines = body("kernel")
    kernel = [line for line in lines if "│" in line]
    assert len(kernel) == 4 and all(line.startswith("  digits.py:4") for line in kernel)
    assert kernel[0].startswith("  digits.py:41-42,44 │ def kernel_0(")
    assert lines[-1] == "      kernel_0(4, (in_x, v_0), (), (), 1.0)"


def test_only_the_last_totals_count():
    assert body("totals")[-1].split() == ["calls", "3"]


def test_a_graph_break_is_prominent():
    text = report(broken())
    assert "digits.py:step#0" in text.splitlines()[2]
    assert text.splitlines()[2].endswith("1 graph break, 1 recompilation")
    assert "  ▌ graph break [tensor-branch] a tensor used as a condition at digits.py:42" in text


def test_a_recompilation_starts_a_new_round():
    text = report(broken())
    assert text.index("── compilation 1 ") < text.index("── compilation 2 ")
    assert text.index("── compilation 2 ") < text.index("▌ k: was 1; now 2")


def test_with_one_stage_the_glance_is_still_about_the_whole_function():
    assert report(broken(), "source").splitlines()[2].endswith("1 graph break, 1 recompilation")
    assert report(compiled(), "source").splitlines()[2].endswith("compiled")


def test_several_functions_are_listed_first():
    assert report(compiled() + broken()).splitlines()[1] == "2 compiled functions"


def test_contents():
    file = io.StringIO()
    write_contents(Page(file, 100), compiled(), compiled())
    rows = [line.split(None, 1) for line in file.getvalue().splitlines()[4:]]
    sizes = {row[0]: row[1] for row in rows}
    assert sizes["capture.bytecode"] == "4 instructions"
    assert sizes["capture.graph"] == "3 nodes"
    assert sizes["passes.apply_rules"] == "2 lines out, 1 in"
    assert sizes["kernel.source"].startswith("forward") and "1 kernel" in sizes["kernel.source"]


def test_guards_stand_there_in_words_too():
    facts = {"guards": [{"what": "x", "must": "Tensor f32[4]", "place": "digits.py:42"}]}
    text = "def guard(x, /):\n    if x: return False\n    return True"
    records = [Record(0, "capture.guards", "digits.py:f#0", "", text, facts)]
    assert body("guards", records)[1] == "  digits.py:42 │ x: Tensor f32[4]"


def test_saved_values_say_where_they_were_made():
    text = (
        "graph f_forward(%x: f32[4]) {\n  %0: f32[4] = exp(%x)  # digits.py:42\n  return %0\n}\n\n"
        "saved for the backward: %x: f32[4] as %x\n"
        "saved for the backward: %0: f32[4] as %saved0\n\n"
        "graph f_backward(%x: f32[4]) {\n  return %x\n}"
    )
    lines = body("partition", [Record(0, "autodiff.partition", "digits.py:f#0", "", text)])
    start = lines.index("  Saved by the forward, read by the backward:")
    assert lines[start + 1].split() == ["%x", "f32[4]", "an", "input"]
    assert lines[start + 2].split() == "%0 f32[4] as %saved0 digits.py:42 exp(%x)".split()


def test_a_whole_step_says_what_is_kept_and_what_is_computed_again():
    def reason(value, saved, once=False):
        return {"value": value, "type": "f32[4]", "bytes": 2000, "microseconds": 0.5, "once": once,
                "saved": saved, "lines": ["digits.py:42"], "made_by": "exp(%x)"}  # fmt: skip

    why = [reason("%0", True), reason("%2", True, once=True), reason("%1", False)]
    facts = {"peak": 5000, "bytes": 4000, "budget": 0.5, "reasons": why}
    step = Record(0, "autodiff.partition", "digits.py:f#0", "", "said elsewhere", facts)
    row = "f32[4] 2.0 kB, again in 0.5 us digits.py:42 exp(%x)".split()
    lines = [line.split() for line in body("partition", [step]) if line]
    never = "f32[4] 2.0 kB, never again digits.py:42 exp(%x)".split()
    assert " ".join(word for line in lines for word in line).count("A memory budget of 0.5") == 1
    assert lines[-6:] == [
        "At its fullest point the graph held 5.0 kB; now 4.0 kB at most.".split(),
        "Kept for the backward (4.0 kB):".split(),
        ["%0", *row],
        ["%2", *never],
        "Computed again instead of being kept (2.0 kB for 0.5 us):".split(),
        ["%1", *row],
    ]


def test_loops_belong_to_the_half_whose_kernels_follow():
    rows = [row for row in compiled() if row.stage in ("loops.fused", "kernel.source")]
    backward = replace(rows[1], text=rows[1].text.replace("_forward", "_backward"))
    text = report(numbered([rows[0], rows[1], rows[0], backward]))
    headings = [line.split("  ")[0] for line in text.splitlines() if line[:2].isupper()]
    halves = ["FORWARD", "FORWARD", "BACKWARD", "BACKWARD"]
    assert [heading.rpartition(": ")[2] for heading in headings] == halves
