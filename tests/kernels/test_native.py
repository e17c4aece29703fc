"""LLVM and machine code as events: only for those who want them, with the user's lines."""

from minitorch2.artifacts import subscribe
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.backend import KernelOptions, compile_graph

GRAPH = """graph f(%x: f32[s0]) {
  %0: f32[s0] = exp(%x)
  %1: f32[s0] = mul(%0, %x)
  return %1
}"""


def events(*also):
    found = []
    with subscribe(found.append, also=also):
        compile_graph(parse_graph(GRAPH), KernelOptions(executor="loops"))
    return {event.stage: event for event in found}


def test_only_for_those_who_ask():
    assert not {"kernel.llvm", "kernel.asm"} & events().keys()
    assert "kernel.llvm" not in events("kernel.asm")


def test_lines_of_the_user():
    found = events("kernel.llvm", "kernel.asm")
    for stage in ("kernel.llvm", "kernel.asm"):
        event = found[stage]
        assert "  # <text>:2" in event.text and "  # <text>:3" in event.text
        table = event.facts["lines"]["kernel_0"]
        lines = event.text.split("\n")
        for number, places in table.items():
            assert lines[number - 1].endswith(f"  # {', '.join(places)}")
