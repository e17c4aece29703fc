"""What limits a kernel: the bus, or the arithmetic, measured by the same code on arrays in cache.

In: nothing, or names. Out: a table. For each kernel the bytes that must move and their time at this
machine's better triad; the nanoseconds of an element where all arrays lie in the cache of one core,
and what they come to on all threads; the time measured on 8M elements in warm memory; and which
part of it the larger of the two limits is. What is near 100 % can get no quicker by moving data in
another way; where the arithmetic is the larger one, only fewer instructions help.

    python tests/bench/limits.py softmax gelu

Source: the roofline model (Williams, Waterman, Patterson, CACM 2009), with the flat part measured.
"""

import statistics
import sys
import time
from collections.abc import Callable

import numpy

import minitorch2 as torch
from minitorch2.kernels.runtime.roofline import measured

F = torch.nn.functional
WIDTH = 512
LARGE, SMALL = 1 << 14, 1 << 6  # rows
FLOAT = 4
CASES: dict[str, tuple[Callable, int, int]] = {  # function, inputs, results of the inputs' size
    "add": (lambda x, y: x + y, 2, 1),
    "sum": (lambda x: x.sum(), 1, 0),
    "column_sum": (lambda x, y: (x * y).sum(0), 2, 0),
    "swiglu": (lambda x, y: F.silu(x) * y, 2, 1),
    "softmax": (lambda x: torch.softmax(x, -1), 1, 1),
    "log_softmax": (lambda x: torch.log_softmax(x, -1), 1, 1),
    "layer_norm": (lambda x: F.layer_norm(x, (WIDTH,)), 1, 1),
    "gelu": (lambda x: F.gelu(x), 1, 1),
    "gelu tanh": (lambda x: F.gelu(x, approximate="tanh"), 1, 1),
}


def seconds(call: Callable[[], object], rounds: int, inner: int) -> float:
    """Of one call, from rounds of so many calls: of short ones the least, else the median."""
    found = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        for _ in range(inner):
            call()
        found.append((time.perf_counter() - start) / inner)
    return min(found[1:]) if inner > 10 else statistics.median(found[1:])


def inputs(rows: int, count: int) -> list:
    draw = numpy.random.default_rng(0)
    single = [draw.standard_normal((rows, WIDTH)).astype("f4") for _ in range(count)]
    return [torch.from_numpy(each) + 0 for each in single]  # in memory of the pool


def in_cache(function: Callable, count: int) -> float:
    """Nanoseconds of an element on one thread: what more rows take than fewer."""
    compiled = torch.compile(function, dynamic=False)
    torch.set_num_threads(1)
    try:
        few, many = inputs(SMALL // 4, count), inputs(SMALL, count)
        times = [seconds(lambda: compiled(*few), 30, 60), seconds(lambda: compiled(*many), 30, 60)]
    finally:
        torch.set_num_threads(THREADS)
    return (times[1] - times[0]) / (WIDTH * (SMALL - SMALL // 4)) * 1e9


THREADS = torch.get_num_threads()


def row(name: str) -> str:
    """A line of the table."""
    function, count, results = CASES[name]
    element = in_cache(function, count)
    given = inputs(LARGE, count)
    compiled = torch.compile(function, dynamic=False)
    with torch.no_grad():
        before = measured().bandwidth
        whole = seconds(lambda: compiled(*given), 9, 3)
        bandwidth = max(before, measured().bandwidth)
    size = LARGE * WIDTH
    moved = (count + results) * FLOAT * size
    bus, arithmetic = moved / bandwidth / 1e6, element * size / THREADS / 1e6
    limit = max(bus, arithmetic)
    return (f"| {name} | {moved / 1e6:.0f} | {bus:.2f} | {element:.3f} | {arithmetic:.2f} | "
            f"{whole * 1e3:.2f} | {100 * bus / whole / 1e3:.0f} % | "
            f"{100 * limit / whole / 1e3:.0f} % |")  # fmt: skip


if __name__ == "__main__":
    print("| kernel | MB | bus, ms | ns an element | arithmetic, ms | measured, ms | of the bus "
          "| of the limit |\n|---|---|---|---|---|---|---|---|")  # fmt: skip
    for case in sys.argv[1:] or CASES:
        print(row(case), flush=True)
