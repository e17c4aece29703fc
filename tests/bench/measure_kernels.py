"""How long kernels take to compile and to run: a measuring script, which pytest does not collect.

In: nothing, or names of cases. Out: for each case seconds to compile and milliseconds to run.

    python tests/bench/measure_kernels.py softmax layer_norm

Source: medians of 30 runs after one that warms up.
"""

import sys
import time

import numpy

import minitorch2
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.backend import compile_graph

ROWS, COLUMNS = 1024, 1024
X, V = f"f32[{ROWS},{COLUMNS}]", f"f32[{COLUMNS}]"
R = f"f32[{ROWS},1]"
CASES = {
    "add": (f"%x: {X}, %y: {X}", f"%0: {X} = add(%x, %y)"),
    "gelu": (
        f"%x: {X}",
        f"%1: {X} = mul(%x, 0.7071067811865476)\n%2: {X} = erf(%1)\n%3: {X} = add(%2, 1.0)\n"
        f"%4: {X} = mul(%x, 0.5)\n%0: {X} = mul(%3, %4)",
    ),
    "softmax": (
        f"%x: {X}",
        f"%1: {R} = amax(%x, (1,), True)\n%2: {X} = sub(%x, %1)\n%3: {X} = exp(%2)\n"
        f"%4: {R} = sum(%3, (1,), True)\n%0: {X} = true_divide(%3, %4)",
    ),
    "layer_norm": (
        f"%x: {X}, %w: {V}",
        f"%1: {R} = sum(%x, (1,), True)\n%2: {R} = true_divide(%1, {COLUMNS})\n"
        f"%3: {X} = sub(%x, %2)\n%4: {X} = mul(%3, %3)\n%5: {R} = sum(%4, (1,), True)\n"
        f"%6: {R} = true_divide(%5, {COLUMNS})\n%7: {R} = add(%6, 0.00001)\n"
        f"%8: {R} = rsqrt(%7)\n%9: {X} = mul(%3, %8)\n%0: {X} = mul(%9, %w)",
    ),
    "column_sum": (f"%x: {X}", f"%0: {V} = sum(%x, (0,))"),
    "total": (f"%x: {X}", "%0: f32[] = sum(%x)"),
    "transposed": (f"%x: {X}", f"%1: {X} = transpose(%x, 0, 1)\n%0: {X} = add(%1, 1.0)"),
    "bias_relu": (f"%x: {X}, %b: {V}", f"%1: {X} = add(%x, %b)\n%0: {X} = relu(%1)"),
    "tiny": ("%x: f32[10], %y: f32[10]", "%0: f32[10] = add(%x, %y)"),
}


def measure(name: str) -> str:
    """One line of results."""
    inputs, body = CASES[name]
    graph = parse_graph(f"graph {name}({inputs}) {{\n{body}\nreturn %0\n}}")
    shapes = [tuple(given.value.type.shape) for given in graph.inputs]  # type: ignore[union-attr]
    tensors = [minitorch2.from_numpy(numpy.random.randn(*shape).astype("f4")) for shape in shapes]
    start = time.perf_counter()
    compiled = compile_graph(graph)
    compile_time = time.perf_counter() - start
    times = []
    for _ in range(31):
        start = time.perf_counter()
        compiled(tensors)
        times.append(time.perf_counter() - start)
    run = numpy.median(times[1:]) * 1e3
    kernels = len(compiled.sources.kernels)
    return f"{name:12} {kernels} kernels  compile {compile_time:.2f} s  run {run:.3f} ms"


if __name__ == "__main__":
    for case in sys.argv[1:] or CASES:
        print(measure(case))
