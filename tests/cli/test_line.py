"""The life of one line: only what comes from it, and something to try when nothing does."""

import pytest

from minitorch2.cli.line import Cut, Place, life_of, never_captured, place_of
from minitorch2.cli.render import Page
from minitorch2.cli.report import write_life
from tests.cli.samples import compiled, record

PLACE = Place("digits.py", 42)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("digits.py:42", PLACE),
        ("some/folder/digits.py:42", PLACE),
        ("42", PLACE),
        ("digits.py", None),
        ("digits.py:0", None),
        ("digits.py:x", None),
    ],
)
def test_places(text, place):
    assert place_of(text, "folder/digits.py") == place


def life(records, place=PLACE, stages=()):
    return {each.stage: each for each in life_of(records, place, stages, records)}


def test_every_stage_is_cut_to_the_line():
    found = life(compiled())
    assert found["capture.source"].text == "   42      return x.exp() * 1 + x"
    assert [row["offset"] for row in found["capture.bytecode"].facts["rows"]] == [2, 4, 8]
    assert found["capture.graph"].text.split("\n")[0] == "graph loss_fn"
    assert "%0: f32[4] = exp(%x)" in found["capture.graph"].text
    assert "%1" not in found["capture.graph"].text.replace("add(%1", "")
    assert found["loops.fused"].text.startswith("kernel kernel_0\n")
    assert found["kernel.source"].text == (
        "def kernel_0\n"
        "    for i0 in range(lo, hi):  # digits.py:42\n"
        "        v0 = t0[i0]  # digits.py:41, digits.py:42"
    )
    assert "capture.guards" not in found and "runtime.totals" not in found


def test_guards_of_the_line():
    guards = [
        {"what": "x", "must": "was f32", "place": "digits.py:42"},
        {"what": "y", "must": "was i64", "place": "digits.py:44"},
    ]
    text = "    if a: return False  # digits.py:42\n    if b: return False  # digits.py:44"
    cut = life([record("capture.guards", text, guards=guards, host="...")])["capture.guards"]
    assert cut.text == "    if a: return False  # digits.py:42"
    assert cut.facts == {"guards": guards[:1]}


PARTITION = """\
graph f_forward(%x: f32[4]) {
  %0: f32[4] = exp(%x)  # digits.py:42
  %1: f32[4] = sin(%0)  # digits.py:43
  return %1, %0
}

saved for the backward: %0: f32[4] as %saved0
saved for the backward: %1: f32[4] as %1

graph f_backward(%saved0: f32[4]) {
  %2: f32[4] = mul(%saved0, %t)  # digits.py:42
  return %2
}"""


def test_halves_and_what_was_saved():
    cut = life([record("autodiff.partition", PARTITION)])["autodiff.partition"]
    assert cut.text == (
        "graph f_forward\n  %0: f32[4] = exp(%x)  # digits.py:42\n\n"
        "saved for the backward: %0: f32[4] as %saved0\n\n"
        "graph f_backward\n  %2: f32[4] = mul(%saved0, %t)  # digits.py:42"
    )


def test_a_pass_shows_what_it_changed_of_the_line():
    before = "  %0 = exp(%x)  # digits.py:42\n  %1 = mul(%0, 1)  # digits.py:42\n  return %1"
    after = "  %0 = exp(%x)  # digits.py:42\n  return %0"
    plain = [
        "\n".join(line.split("  #")[0] for line in text.split("\n")) for text in (before, after)
    ]
    records = [
        record("capture.graph", before),
        record("passes.apply_rules", after, before=plain[0], after=plain[1]),
    ]
    cut = life(records)["passes.apply_rules"]
    assert cut.text == "-  %1 = mul(%0, 1)  # digits.py:42" and not cut.facts


LOOPS = """\
kernel kernel_3(t0: f32[4] in) {
  for i in 4 parallel {  # digits.py:41
    reduce j in 4 {  # digits.py:42
      v0: f32 = t0[j]  # digits.py:41
    } into r0: f32 = sum(v0)
    reduce k in 4 {  # digits.py:41
    } into r1: f32 = sum(v0)
  }
}"""


def test_a_reduction_keeps_its_end():
    assert Cut(PLACE).block(LOOPS.split("\n")) == [
        "kernel kernel_3",
        "    reduce j in 4 {  # digits.py:42",
        "    } into r0: f32 = sum(v0)",
    ]


def test_lowered_loops_only_when_asked_for():
    records = [record("loops.lowered", LOOPS)]
    assert not life(records)
    assert life(records, stages=("loops.lowered",))


def test_rows_of_numbers():
    rows = [{"name": "kernel_0", "lines": ["digits.py:42"]}, {"name": "kernel_1", "lines": []}]
    cut = life([record("kernel.cost", "kernel_0 reads  # digits.py:42\nkernel_1", costs=rows)])
    assert cut["kernel.cost"].facts["costs"] == rows[:1]


def test_a_graph_break_at_the_line():
    said = "graph break [tensor-branch] at digits.py:42\n  why: ..."
    assert life([record("capture.break", said)]) and not life(
        [record("capture.break", said.replace(":42", ":420"))]
    )


def test_a_line_that_was_never_captured():
    said, near = never_captured(compiled(), Place("digits.py", 43))
    assert said.startswith("digits.py:43 was never captured")
    assert near == [
        ("digits.py:41", "def loss_fn(x):"),
        ("digits.py:42", "return x.exp() * 1 + x"),
        ("digits.py:44", ""),
    ]


def test_a_file_without_captured_lines():
    said, files = never_captured(compiled(), Place("digit.py", 3))
    assert said.startswith("No line of digit.py was captured (did you mean digits.py?)")
    assert files == [("digits.py", "3 lines")]


def test_the_page(tmp_path, golden):
    path = tmp_path / "page.txt"
    with path.open("w", encoding="utf-8") as file:
        records = compiled()
        write_life(Page(file, 100), records, life_of(records, PLACE, (), records), PLACE)
        write_life(Page(file, 100), records, [], Place("digits.py", 43))
    golden(path.read_text(encoding="utf-8"))
