"""Diffs of graphs: values keep their numbers, so that only what changed shows."""

import pytest

from minitorch2.cli.diffs import graph_diff
from tests.cli.samples import AFTER, BEFORE

pytestmark = pytest.mark.pure


def shown(before: str, after: str) -> list[str]:
    return [row.sign + row.text for row in graph_diff(before, after)]


def test_lines_after_a_removal_keep_their_numbers():
    assert shown(BEFORE, AFTER) == [
        " graph loss_fn(%x: f32[4]) {",
        "   %0: f32[4] = exp(%x)",
        "-  %1: f32[4] = mul(%0, 1)",
        "-  %2: f32[4] = add(%1, %x)",
        "+  %2: f32[4] = add(%0, %x)",
        "   return %2",
        " }",
    ]


def test_what_takes_a_line_s_place_keeps_its_number():
    before = "  %0: f32[] = true_divide(%x, 8)\n  %1: f32[] = exp(%0)"
    after = "  %0: f32[] = mul(%x, 0.125)\n  %1: f32[] = exp(%0)"
    assert shown(before, after) == [
        "-  %0: f32[] = true_divide(%x, 8)",
        "+  %0: f32[] = mul(%x, 0.125)",
        "   %1: f32[] = exp(%0)",
    ]


def test_new_values_have_new_names():
    before = "  %0: f32[4] = exp(%x)\n  return %0"
    after = "  %0: i64[] = full((), 1)\n  %1: f32[4] = exp(%x)\n  return %1"
    assert shown(before, after)[0] == "+  %new1: i64[] = full((), 1)"
    assert shown(before, after)[1:] == ["   %0: f32[4] = exp(%x)", "   return %0"]


def test_unchanged_stretches_are_counted():
    lines = [f"  %{n}: f32[] = exp(%x)" for n in range(20)]
    before = "\n".join([*lines, "  return %3"])
    after = "\n".join([*lines, "  return %4"])
    rows = shown(before, after)
    assert rows[0] == "~18 lines as before"
    assert rows[-2:] == ["-  return %3", "+  return %4"]


def test_line_numbers_lead_back_to_both_texts():
    before, after = BEFORE.split("\n"), AFTER.split("\n")
    for row in graph_diff(BEFORE, AFTER):
        assert row.old is None or before[row.old] == row.text
        if row.new is not None:
            assert after[row.new].split(" = ")[-1][:4] == row.text.split(" = ")[-1][:4]


def test_equal_texts_have_no_diff():
    assert graph_diff(BEFORE, BEFORE) == []
