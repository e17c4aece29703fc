"""Loop IR: text round trip, the verifier's rules, and the interpreter."""

import numpy
import pytest

from minitorch2.kernels.backend import KernelOptions, compile_graph
from minitorch2.kernels.interpreter import interpret_kernel, messages
from minitorch2.kernels.parser import LoopSyntaxError, parse_kernel
from minitorch2.kernels.printer import print_kernel
from minitorch2.kernels.runtime.signature import KernelFailure
from minitorch2.kernels.schedule.plan import KernelStep
from minitorch2.kernels.verify import LoopVerifyError, verify_kernel
from tests.kernels.graphs import random_graph

EVERYTHING = """\
kernel all(a: f32[4*s0] in, g: i64[s0] in, y: f32[4*s0] out, z: f32[4] inout, s0: size, c: f64) {
  for p in 4*s0 parallel {
    index i = (p // 4)
    window w, inside = i - 1 in s0
    v0: f32 = a[(p % 4) + 4*w]
    v1: i64 = g[i]
    check q = select(less(v1, i64(0)), add(v1, index(s0)), v1) in s0 else "IndexOutOfRange: g"
    require not_equal(v1, i64(7)) else "ZeroDivisionError: seven"
    reduce j in 2, k in s0 {
      v2: f32 = a[j + 4*k]
    } into m: f32 = max(v2), n: i64 = argmax(v2)
    for l in 2 {
      v3: f32 = add(mul(v0, m), cast_f32(c))
      y[p] = select(inside, v3, f32(-inf))
    }
  }
}"""


def test_every_statement_round_trips():
    kernel = parse_kernel(EVERYTHING)
    verify_kernel(kernel)
    assert print_kernel(kernel) == EVERYTHING
    assert parse_kernel(print_kernel(kernel)) == kernel
    assert messages(kernel) == ("IndexOutOfRange: g", "ZeroDivisionError: seven")


@pytest.mark.parametrize("number", range(40))
@pytest.mark.parametrize("fuse", [True, False])
def test_generated_kernels_round_trip(number, fuse):
    compiled = compile_graph(random_graph(number), KernelOptions(fuse, "loops"))
    for step in compiled.plan.steps:
        if isinstance(step, KernelStep):
            assert parse_kernel(print_kernel(step.kernel)) == step.kernel


def kernel_of(*lines: str) -> str:
    """A kernel with these statements."""
    body = "\n".join(f"  {line}" for line in lines)
    return f"kernel k(a: f32[4] in, h: bf16[4] in, y: f32[4] out) {{\n{body}\n}}"


@pytest.mark.parametrize(
    "lines, complaint",
    [
        (("a[0] = f32(1.0)",), "no output"),
        (("y[i] = f32(1.0)",), "unknown i"),
        (("y[0] = f64(1.0)",), "a store of"),
        (("y[0] += f32(1.0)",), "elements are not given"),
        (("y[0] = cast_f32(add(h[0], h[1]))",), "16 bits"),
        (("v: f32 = a[0]", "v: f32 = a[1]"), "defined twice"),
        (("y[0] = add(a[0], cast_f32(a[0]))", "for i in 4 parallel {", "}"), "outer statement"),
    ],
)
def test_the_verifier_refuses(lines, complaint):
    with pytest.raises(LoopVerifyError, match=complaint):
        verify_kernel(parse_kernel(kernel_of(*lines)))


def test_syntax_errors_name_the_line():
    with pytest.raises(LoopSyntaxError, match="line 2 of a kernel: nonsense"):
        parse_kernel(kernel_of("nonsense"))


def test_a_failed_check_keeps_what_was_written():
    kernel = parse_kernel(
        "kernel k(g: i64[3] in, y: i64[3] out) {\n"
        "  for i in 3 {\n"
        "    v: i64 = g[i]\n"
        '    check q = v in 2 else "bad"\n'
        "    y[i] = index(q)\n"
        "  }\n"
        "}"
    )
    result = numpy.full(3, 9)
    with pytest.raises(KernelFailure) as failure:
        interpret_kernel(kernel, [numpy.array([1, 5, 0]), result])
    assert (failure.value.code, failure.value.index) == (16, 5)
    assert result.tolist() == [1, 9, 9]
