"""`mt2 opt`: what a graph becomes, told in text."""

import inspect

import pytest
from click.testing import CliRunner

from minitorch2.cli.main import main
from minitorch2.cli.opt import PASSES, RULE_NAMES
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.passes.pipeline import optimize
from tests.cli.commands import mt2

TEXT = """graph f(%x: f32[4]) {
  %0: f32[4] = mul(%x, 1)
  %1: f32[4] = neg(%0)
  %2: f32[4] = neg(%1)
  %3: f32[4] = add(%2, 0.0)
  return %3
}
"""


# Older versions of click mix the two streams unless told not to; newer ones do not know the word.
APART = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}


def run(*arguments, text=TEXT, code=0):
    found = CliRunner(**APART).invoke(main, ["opt", *arguments], input=text)
    assert found.exit_code == code, found.output
    return found


def test_the_pipeline_runs_on_a_graph_from_stdin():
    assert run().stdout == f"{optimize(parse_graph(TEXT))}\n"


def test_the_output_is_read_again():
    once = run("-p", "apply_rules").stdout
    assert run("-p", "apply_rules", text=once).stdout == once


def test_one_pass_and_one_rule():
    assert "mul" in run("-p", "eliminate_dead_code").stdout
    found = run("-p", "neg_neg", "-p", "eliminate_dead_code").stdout
    assert "neg" not in found and "mul(%x, 1)" in found


def test_fast_numerics_and_what_was_done():
    found = run("--numerics", "fast", "--notes")
    assert "return %x" in found.stdout
    assert "<text>:5: add_zero_fast: add(%x, 0.0) => %x" in found.stderr
    assert "mul_one" in found.stderr


def test_why_not():
    assert "is no neg(...)" in run("--why", "neg_neg:%1").stdout
    assert "it fires" in run("--why", "neg_neg:2").stdout
    assert "takes RULE:VALUE" in run("--why", "nonsense", code=2).stderr


def test_the_list_names_everything():
    found = run("--list").stdout
    assert all(name in found for name in (*PASSES, *RULE_NAMES))


def test_what_is_no_graph_or_no_name_is_refused():
    assert "MT2-" in run(text="graph f( {", code=1).stderr
    assert "mt2 opt --list" in run("-p", "no_such", code=2).stderr


def test_origins_stand_in_their_column():
    assert "# <text>:2" in run("-p", "eliminate_dead_code", "--origins").stdout


def test_names_stand_behind_one_another_and_run_in_order():
    named = run("apply_rules", "dce").stdout
    assert named == run("-p", "apply_rules", "-p", "eliminate_dead_code").stdout
    assert "neg" not in named


def test_a_file_and_names(tmp_path):
    file = tmp_path / "graph.ir"
    file.write_text(TEXT)
    assert run(str(file), "cse", text="").stdout == run("cse").stdout
    assert "one file at a time" in run(str(file), "-", code=2).stderr


def test_several_graphs_stay_several():
    twice = run("dce", text=f"{TEXT}\n{TEXT}").stdout
    assert twice == f"{TEXT.strip()}\n\n{TEXT.strip()}\n"


@pytest.mark.parametrize(
    "arguments, text, said",
    [
        (("csee",), TEXT, "did you mean cse?"),
        (("nowhere.ir",), TEXT, "there is no such file"),
        ((), "", "there is no graph in stdin: pipe one in, as `mt2 explain --ir"),
        (("--numerics", "quick"), TEXT, "'quick' is not one of 'default', 'eager', 'fast'"),
    ],
)
def test_what_cannot_be_done_is_told_with_a_way_out(arguments, text, said):
    assert said in run(*arguments, text=text, code=2).stderr


def test_a_captured_graph_is_refused_by_name():
    text = "graph f(%x: f32[4]) { %0: f32[4] = gelu(%x) return %0 }"
    found = run("cse", text=text, code=1).stderr
    assert "has_only_primitives does not hold" in found and "autodiff.functional" in found
    assert "click" not in found and " at " not in found.splitlines()[-1]


SCRIPT = """import torch

@torch.compile
def f(x, w):
    return (x @ w).exp().sum() + (x @ w).exp().mean()

print("the script speaks")
f(torch.ones(2, 3), torch.ones(3, 4, requires_grad=True)).backward()
"""


@pytest.mark.parametrize("stage, graphs", [("autodiff.functional", 1), ("partition", 2)])
def test_a_script_s_graphs_go_through_a_pipe(tmp_path, stage, graphs):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    printed = mt2("explain", "--ir", "--stage", stage, script)
    assert printed.returncode == 0 and printed.stderr == "the script speaks\n"
    assert printed.stdout.count("graph f") == graphs and "# script.py:5" in printed.stdout
    found = run("cse", "dce", text=printed.stdout).stdout
    assert found.count("graph f") == graphs
    assert stage == "partition" or (found.count("matmul") == 1 and found.count("exp") == 1)


def test_ir_wants_a_stage_that_makes_graphs(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    for arguments, said in (
        ((), "--ir needs --stage NAME"),
        (("--stage", "guards"), "is no graph"),
    ):
        found = mt2("explain", "--ir", *arguments, script)
        assert found.returncode == 2 and said in found.stderr and "autodiff.joint" in found.stderr


def test_nodes_come_from_the_user_lines_that_the_text_names():
    """As `mt2 explain --ir` writes them; from the text's own lines where it names none."""
    text = TEXT.replace("neg(%0)\n", "neg(%0)  # ok.py:3\n").replace(
        "neg(%1)\n", "neg(%1)  # ok.py:4, other.py:17\n"
    )
    found = run("eliminate_dead_code", "--origins", text=text).stdout
    assert [line.rpartition("# ")[2] for line in found.splitlines()[1:5]] == [
        "<text>:2", "ok.py:3", "ok.py:4, other.py:17", "<text>:5"
    ]  # fmt: skip
    assert run("eliminate_dead_code", "--origins", text=found).stdout == found
    notes = run("neg_neg", "--notes", text=text).stderr
    assert "ok.py:4" in notes and "<text>:4" not in notes


def test_a_name_that_is_none_is_no_file_only_where_a_file_may_stand():
    said = run("nosuchthing", code=2).stderr
    assert "no pass or rule is named 'nosuchthing', and there is no such file. See mt2" in said
    said = run("-p", "nosuchthing", code=2).stderr
    assert "no pass or rule is named 'nosuchthing'. See mt2" in said
    assert "no such file; did you mean neg_neg" in run("neg_nog", code=2).stderr
