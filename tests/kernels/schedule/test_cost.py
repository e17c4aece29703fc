"""Predicted bytes and flops: counted by hand for kernels where that is easy."""

import pytest

from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.backend import plan_graph
from minitorch2.kernels.lower.lowering import lower_graph
from minitorch2.kernels.parser import parse_kernel
from minitorch2.kernels.schedule.cost import kernel_cost, plan_costs

KERNELS = {
    "each element once, however often it is read": (
        """kernel f(a: f32[64] in, b: f64[64] out) {
             for i in 64 parallel {
               v0: f32 = add(a[i], a[i])
               b[i] = cast_f64(exp(v0))
             }
           }""",
        (256, 512, 128),
    ),
    "what is read for every row counts once": (
        """kernel f(a: f32[8] in, b: f32[32] out) {
             for i in 4 parallel {
               for j in 8 {
                 b[8*i + j] = mul(a[j], a[j])
               }
             }
           }""",
        (32, 128, 32),
    ),
    "two loops over the same elements": (
        """kernel f(a: f32[s0] in, b: f32[1] out, s0: size) {
             reduce i in s0 {
               v0: f32 = a[i]
             } into r0: f32 = sum(v0)
             reduce j in s0 {
               v1: f32 = sub(a[j], r0)
             } into r1: f32 = max(v1)
             b[0] = r1
           }""",
        ("4*s0", "4", "3*s0"),
    ),
    "rows looked up in a table": (
        """kernel f(a: f32[1000] in, b: i64[4] in, c: f32[40] out) {
             for i in 4 parallel {
               check g = b[i] in 100 else "IndexOutOfRange: x"
               for j in 10 {
                 c[10*i + j] = a[10*g + j]
               }
             }
           }""",
        (4 * 40 + 8 * 4, 160, 0),
    ),
    "adding reads what is there": (
        """kernel f(a: f32[4] inout, b: bool[4] in, c: i64[4] in) {
             for i in 4 {
               a[i] += select(b[i], cast_f32(add(c[i], c[i])), f32(0.0))
             }
           }""",
        (16 + 4 + 32, 16, 4),
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name):
    text, expected = KERNELS[name]
    cost = kernel_cost(parse_kernel(text))
    assert tuple(map(str, (cost.read, cost.written, cost.flops))) == tuple(map(str, expected))


def test_a_cost_at_known_sizes():
    cost = kernel_cost(parse_kernel(KERNELS["two loops over the same elements"][0]))
    assert cost.at({"s0": 10}) == (40, 4, 30)


def test_a_plan_names_every_step():
    graph = parse_graph(
        "graph f(%x: f32[6,4], %w: f32[4,2]) {\n"
        "  %0: f32[6,2] = matmul(%x, %w)\n"
        "  %1: f32[6,2] = exp(%0)\n"
        "  %2: f32[6,2] = cumsum(%1, 0)\n"
        "  return %2\n"
        "}"
    )
    plan, _ = plan_graph(graph, lower_graph(graph), fuse=True)
    costs = plan_costs(plan)
    assert str(costs).split("\n")[:2] == [
        "matmul_0 reads 128 bytes, writes 48 bytes, computes 96 flops  # <text>:2",
        "kernel_0 reads 48 bytes, writes 48 bytes, computes 12 flops  # <text>:3",
    ]
    assert costs.facts()[0] == {
        "name": "matmul_0", "lines": ["<text>:2"],
        "bytes_read": 128, "bytes_written": 48, "flops": 96,
    }  # fmt: skip
