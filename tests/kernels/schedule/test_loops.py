"""Collapsing and parallel loops keep what a kernel computes."""

import numpy

from minitorch2.kernels.interpreter import interpret_kernel
from minitorch2.kernels.parser import parse_kernel
from minitorch2.kernels.printer import print_kernel
from minitorch2.kernels.schedule.loops import collapse, interchange, parallelize

NEST = """\
kernel nest(a: f32[24*s0] in, b: f32[4] in, y: f32[24*s0] out, s0: size) {{
  for i in s0 {{
    for j in 6 {{
      for k in 4 {{
        v: f32 = add(a[24*i + 4*j + k], b[{index}])
        y[24*i + 4*j + k] = v
      }}
    }}
  }}
}}"""


def run(kernel):
    """The result of a kernel for s0 = 3."""
    result = numpy.zeros(72, "f4")
    interpret_kernel(
        kernel, [numpy.arange(72, dtype="f4"), numpy.arange(4, dtype="f4"), result], [3]
    )
    return result.tolist()


def test_contiguous_loops_become_one():
    kernel = parse_kernel(NEST.format(index="0"))
    better = parallelize(collapse(kernel))
    assert "for i in 24*s0 parallel {" in print_kernel(better)
    assert print_kernel(better).count("for ") == 1
    assert run(better) == run(kernel)


def test_a_broadcast_operand_keeps_its_loop():
    kernel = parse_kernel(NEST.format(index="k"))
    better = parallelize(collapse(kernel))
    text = print_kernel(better)
    assert "for i in 6*s0 parallel {" in text and "for k in 4 {" in text
    assert run(better) == run(kernel)


def test_outer_loops_that_cannot_collapse_share_one_parallel_variable():
    kernel = parse_kernel(NEST.format(index="k").replace("for j in 6", "for j in 3"))
    better = parallelize(collapse(kernel))
    text = print_kernel(better)
    assert "for p in 3*s0 parallel {" in text and "index j = (p % 3)" in text
    assert run(better) == run(kernel)


TURNED = """\
kernel turned(a: f32[72] in, b: f32[12] in, y: f32[72] out) {
  for i in 6 {
    v0: f32 = b[i]
    for j in 12 {
      v: f32 = add(a[i + 6*j], v0)
      y[i + 6*j] = v
    }
  }
}"""


def test_loops_follow_memory():
    """Both loops in the order of memory are one loop, where nothing else is read."""
    kernel = parse_kernel(TURNED)
    better = interchange(kernel)
    assert [line.strip() for line in print_kernel(better).splitlines() if "for " in line] == [
        "for j in 12 {", "for i in 6 {"]  # fmt: skip
    results = []
    for each in (kernel, better):
        result = numpy.zeros(72, "f4")
        interpret_kernel(each, [numpy.arange(72, dtype="f4"), numpy.ones(12, "f4"), result], [])
        results.append(result.tobytes())
    assert results[0] == results[1]
    whole = parse_kernel(TURNED.replace("v0: f32 = b[i]", "").replace("v0)", "a[i + 6*j])"))
    assert print_kernel(collapse(interchange(whole))).count("for ") == 1


def test_loops_that_follow_memory_stay():
    kernel = parse_kernel(NEST.format(index="0"))
    assert interchange(kernel) == kernel
    crossed = parse_kernel(TURNED.replace("y[i + 6*j]", "y[12*i + j]"))
    assert interchange(crossed) == crossed  # what is written counts twice
