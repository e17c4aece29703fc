"""`mt2 opt`: what a graph becomes, told in text."""

import inspect

from click.testing import CliRunner

from minitorch2.cli.opt import PASSES, RULE_NAMES, opt
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.passes.pipeline import optimize

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
    found = CliRunner(**APART).invoke(opt, arguments, input=text)
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
