"""The kernel's own function out of LLVM's texts, each line with its source line, loops marked."""

import re

import pytest

from minitorch2.kernels.runtime.build import build_assembly
from minitorch2.kernels.runtime.native_text import assembly_text, llvm_text, native_texts
from minitorch2.kernels.runtime.signature import KernelSignature

SOURCE = """\
def f(lo, hi, x, y, status):
    for i in range(lo, hi):
        v0 = x[i]
        v1 = v0 * v0
        y[i] = v1 + v0
"""
SIGNATURE = KernelSignature(("f32", "f32"))


@pytest.fixture(scope="module")
def texts():
    return native_texts(SOURCE, SIGNATURE, "kernel_0")


def test_every_instruction_knows_its_line(texts):
    llvm, assembly = texts
    assert {number for text, number in llvm.rows if "fmul" in text} == {4}
    assert {number for text, number in llvm.rows if " load " in text} == {3}
    assert {number for _, number in assembly.rows} == {0, 2, 3, 4, 5} or "vmulps" not in str(
        assembly
    )


def test_only_the_kernel_and_no_metadata(texts):
    llvm, assembly = texts
    assert llvm.rows[0][0].startswith("define") and "@kernel_0(" in llvm.rows[0][0]
    assert "!" not in str(llvm) and str(llvm).endswith("}")
    assert assembly.rows[0] == ("kernel_0:", 0)
    assert not re.search(r"^\s+\.(?!L)", str(assembly), re.M)
    assert "launch" not in str(llvm) + str(assembly)


def test_loops_are_marked(texts):
    for text in map(str, texts):
        assert "vector loop" in text and "scalar loop" in text
        first = next(line for line in text.split("\n") if line.startswith("|"))
        assert first.startswith("|   ")


def test_lines_do_not_change_the_code(texts):
    plain = assembly_text(build_assembly(SOURCE, SIGNATURE, "launch"), "kernel_0")
    assert [text for text, _ in plain.rows] == [text for text, _ in texts[1].rows]


ARM = """\
_kernel:
Lfunc_begin0:
\t.loc\t1 2 0
\tcbz\tx2, LBB0_3
LBB0_2:
\t.loc\t1 3 0 ; kernel:3:0
\tldr\tq0, [x0], #16
\tfmul\tv0.4s, v0.4s, v0.4s
\tb.ne\tLBB0_2
Ltmp1:
LBB0_3:
\tret
Lfunc_end0:
_launch:
\tret
"""


def test_the_assembly_of_a_mac():
    assert list(assembly_text(ARM, "k").rows) == [
        ("k:", 0),
        ("    cbz          x2, LBB0_3", 2),
        ("  # vector loop, 128 bits, 3 instructions", 0),
        ("  LBB0_2:", 0),
        ("|   ldr          q0, [x0], #16", 3),
        ("|   fmul         v0.4s, v0.4s, v0.4s", 3),
        ("|   b.ne         LBB0_2", 3),
        ("  LBB0_3:", 0),
        ("    ret", 3),
    ]


def test_the_wrapper_where_the_kernel_went_into_it():
    text = (
        "define i64 @launch(i64 %0) {\n  ret i64 0, !dbg !3\n}\n\n"
        "!3 = !DILocation(line: 7, scope: !1)"
    )
    assert llvm_text(text, "k").rows == (
        ("define i64 @k(i64 %0) {", 0), ("    ret i64 0", 7), ("  }", 0),
    )  # fmt: skip
