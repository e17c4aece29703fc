"""Hand-made records of one compiled function, with all that the report must lay out."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from minitorch2.cli.records import Record

UNIT = "digits.py:loss_fn#0"
BEFORE = """\
graph loss_fn(%x: f32[4]) {
  %0: f32[4] = exp(%x)
  %1: f32[4] = mul(%0, 1)
  %2: f32[4] = add(%1, %x)
  return %2
}"""
AFTER = """\
graph loss_fn(%x: f32[4]) {
  %0: f32[4] = exp(%x)
  %1: f32[4] = add(%0, %x)
  return %1
}"""
FACTS = {"before": BEFORE, "after": AFTER}
SOURCE = """\
   41  def loss_fn(x):
   42      return x.exp() * 1 + x"""
BYTECODE = """\
   41     0  RESUME
   42     2  LOAD_FAST x
               -> x
   42     4  BINARY_OP *
               -> %1: f32[4] = mul(%0, 1); guard x: f32[4]
   42     8  RETURN_VALUE"""
GRAPH = BEFORE.replace("(%x)\n", "(%x)         # digits.py:42\n").replace(
    "%x)\n  return", "%x)  # digits.py:41, digits.py:42\n  return"
)
KERNEL = """\
def kernel_0(lo, hi, t0, t1, status):
    for i0 in range(lo, hi):  # digits.py:42
        v0 = t0[i0]  # digits.py:41, digits.py:42
        t1[i0] = v0  # digits.py:44

def run_loss_fn_forward(inputs):
    kernel_0(4, (in_x, v_0), (), (), 1.0)"""
REFUSAL = "%0 (matmul) and %1 (exp) stay apart: matmul is a step of its own"
LOOPS = "kernel kernel_0(t0: f32[4] in) {\n  v0: f32 = t0[0]  # digits.py:42\n}\n\n" + REFUSAL
BREAK = "graph break [tensor-branch] a tensor used as a condition at digits.py:42\n  why: ..."


def record(stage: str, text: str, unit: str = UNIT, **facts: Any) -> Record:
    """One record."""
    return Record(0, stage, unit, "jit/capture/program.py", text, facts)


def numbered(records: Iterable[Record], first: int = 0) -> list[Record]:
    """Records with an id each, as events have."""
    return [replace(each, id=number) for number, each in enumerate(records, first)]


def compiled() -> list[Record]:
    """A function that went through every stage."""
    records = [
        record("capture.source", SOURCE),
        record("capture.bytecode", BYTECODE),
        record("capture.guards", "def guard(x, /):\n    return True", host="def call(x, /): ..."),
        record("capture.graph", GRAPH),
        record("passes.apply_rules", AFTER, **FACTS),
        record("passes.optimized", AFTER),
        record("loops.fused", LOOPS, refusals=[REFUSAL], kernels=1),
        record("kernel.source", KERNEL),
        record("runtime.totals", "calls: 1", calls=1),
        record("runtime.totals", "calls: 3", calls=3),
    ]
    return numbered(records)


def broken() -> list[Record]:
    """A function that capture could not follow, after one recompilation."""
    unit = "digits.py:step#0"
    records = [
        record("capture.source", SOURCE, unit),
        record("capture.recompile", "k: was 1; now 2 (read at digits.py:42)", unit),
        record("capture.source", SOURCE, unit),
        record("capture.break", BREAK, unit),
    ]
    return numbered(records, first=100)
