"""The machine's two limits: bytes a second through memory, multiplications a second in registers.

In: a number of elements. Out: GB/s of a triad y = a + s*b over arrays far larger than any cache, by
plain and by non-temporal stores, and GFLOP/s of a large product; on all threads, in warm memory of
the pool. A non-temporal store does not read what it overwrites, so that it moves a quarter less;
the bytes counted are the same, those that must move.

    limits = measured()
    limits.bandwidth, limits.flops          # the better triad in GB/s, the product in GFLOP/s

Source: J. McCalpin's STREAM; the roofline model (Williams, Waterman, Patterson, CACM 2009).
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from llvmlite import ir

from minitorch2.backends import blas
from minitorch2.kernels.runtime.buffers import empty
from minitorch2.kernels.runtime.compile import compile_kernel
from minitorch2.kernels.runtime.launcher import Launch, direct
from minitorch2.kernels.runtime.machine import load_symbols
from minitorch2.kernels.runtime.native import F32, I32, I64, Module, compile_module
from minitorch2.kernels.runtime.signature import KernelSignature

PLAIN = """\
def triad(lo, hi, a, b, y, status):
    for i in range(lo, hi):
        y[i] = a[i] + f32(3.0) * b[i]
"""
ELEMENTS, SIDE = 1 << 24, 1024
LANES = 16  # elements that one non-temporal store writes: a cache line
NANOSECONDS = 0.5  # of an element
BYTES = 12  # of an element: two read, one written
SIGNATURE = KernelSignature(("f32", "f32", "f32"))
_loaded: list[object] = []


@dataclass(frozen=True, slots=True)
class Limits:
    """GB/s of both triads, GFLOP/s of a product of single floats."""

    plain: float
    nontemporal: float
    flops: float

    @property
    def bandwidth(self) -> float:
        """GB/s of the better triad."""
        return max(self.plain, self.nontemporal)


@cache
def plain_triad() -> Launch:
    """The triad as a kernel."""
    return compile_kernel(PLAIN, SIGNATURE).direct()


@cache
def nontemporal_triad() -> Launch | None:
    """The triad with stores that pass the caches by; None where launches are not native."""
    module = Module("roofline")
    f = module.function("triad", I64, [I64] * 3, export=True)
    block, i, n = f.arguments
    words = f.pointer(block)
    total, a, b, y = (f.get(f.slot(words, at)) for at in (0, 2, 3, 4))
    lines = f.builder.udiv(total, I64(LANES))
    lo = f.builder.udiv(f.builder.mul(lines, i), n)
    hi = f.builder.udiv(f.builder.mul(lines, f.builder.add(i, I64(1))), n)
    vector = ir.VectorType(F32, LANES)
    scale = ir.Constant(vector, [3.0] * LANES)
    mark = module.ir.add_metadata([I32(1)])
    with f.count(lo, hi) as line:
        left, right, place = (
            f.builder.gep(f.builder.inttoptr(each, vector.as_pointer()), [line])
            for each in (a, b, y)
        )
        values = [f.builder.load(each, align=4) for each in (left, right)]
        result = f.builder.fadd(values[0], f.builder.fmul(scale, values[1]))
        store = f.builder.store(result, place, align=4 * LANES)
        store.set_metadata("nontemporal", mark)
    f.ret(0)
    addresses, loaded = load_symbols(compile_module(module), ["triad"])
    _loaded.append(loaded)
    return direct(addresses["triad"], SIGNATURE)


def measured(elements: int = ELEMENTS, rounds: int = 7, side: int = SIDE) -> Limits:
    """Measure all three, in turn; medians."""
    single = np.dtype(np.float32)
    a, b, y = (empty((elements,), single) for _ in range(3))
    a[...], b[...], y[...] = 1.0, 2.0, 0.0
    left, right, result = (empty((side, side), single) for _ in range(3))
    left[...], right[...] = 1.0, 2.0
    calls: list[Callable[[], object]] = [
        lambda: plain_triad()(elements, (a, b, y), (), (), NANOSECONDS),
        lambda: blas.product(left, right, result),
    ]
    streamed = nontemporal_triad()
    if streamed is not None:
        calls.append(lambda: streamed(elements, (a, b, y), (), (), NANOSECONDS))
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds + 1):
        for call, found in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            found.append(time.perf_counter() - start)
    seconds = [statistics.median(found[1:]) for found in times]
    speeds = [BYTES * elements / each / 1e9 for each in (seconds[0], seconds[-1])]
    return Limits(speeds[0], speeds[1] if streamed is not None else 0.0,
                  2 * side**3 / seconds[1] / 1e9)  # fmt: skip
