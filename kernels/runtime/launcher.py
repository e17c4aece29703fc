"""Runs a compiled kernel, cut into parts for the threads when the work is worth it.

In: a native kernel `(block, i, n) -> status` and its arguments. Out: nothing, or KernelFailure of
the first part that failed. Little work, a launch inside a launch, and a launch while another
Python thread holds the pool all run on the calling thread; results are the same either way,
because iterations of a kernel's outer loop are independent.

Example: `run(kernel.native, layout, (total, addresses, sizes, scalars), cost=1.0)`.

Source: the limits were measured (tests/bench/threads.py).
"""

import ctypes
import os
import struct
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from minitorch2.config import config
from minitorch2.kernels.runtime import built_in, pool_launch
from minitorch2.kernels.runtime import pool as threads
from minitorch2.kernels.runtime.pool import pool
from minitorch2.kernels.runtime.pool_launch import SERIAL_NANOSECONDS
from minitorch2.kernels.runtime.signature import KernelFailure, KernelSignature

PART_NANOSECONDS = 25_000.0
PARTS_OF_A_THREAD = 4
Native = Callable[[bytes, int, int], int]
Launch = Callable[[int, Any, Any, Any, float], None]
Arguments = tuple[int, Sequence[int], Sequence[int], Sequence[float]]


def thread_count() -> int:
    """How many threads a launch may use."""
    return config.threads or _usable_cpus()


@cache
def _usable_cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def parts_for(nanoseconds: float) -> int:
    """In how many parts to cut work; more than threads, so that a late thread holds up little."""
    if nanoseconds <= SERIAL_NANOSECONDS:
        return 1
    threads = thread_count()
    if threads == 1:
        return 1
    if pool.size < threads:
        pool.grow(threads)
    fine = int(nanoseconds / PART_NANOSECONDS)
    return max(threads, min(fine, PARTS_OF_A_THREAD * threads))


def run(native: Native, layout: struct.Struct, arguments: Arguments, cost: float) -> None:
    """Run the kernel over `range(total)`; a step is worth `cost` nanoseconds."""
    total, addresses, sizes, scalars = arguments
    parts = parts_for(total * cost)
    if parts == 1:
        row = _own.row
        block = layout.pack(total, _own.address, *addresses, *sizes, *scalars)
        if native(block, 0, 1):
            code, index = row
            row[:] = [0, 0]
            raise KernelFailure(code, index)
        return
    rows = (ctypes.c_int64 * (2 * parts))()
    block = layout.pack(total, ctypes.addressof(rows), *addresses, *sizes, *scalars)
    pool.run(native, block, parts)
    for i in range(parts):
        if rows[2 * i]:
            raise KernelFailure(rows[2 * i], rows[2 * i + 1])


def direct(
    address: int, signature: KernelSignature, keep: object = None,
    parts: Callable[[float], int] = parts_for,
) -> Launch | None:  # fmt: skip
    """The launch of a kernel as a built-in function; None where there is no such thing.

    Its arguments: total, a tuple of arrays (or addresses), one of sizes, one of scalars, cost.
    `keep`: what owns the machine code; it lives as long as the function. `parts` says in how many
    parts work is cut; it must live on.
    """
    if not (threads.supported() and built_in.supported()):
        return None
    function = threads.code().address["launch"]
    return pool_launch.launch_of(function, address, signature, parts, keep)


class StatusRow(threading.local):
    """The status row of a Python thread, for launches in one chunk; zero between launches."""

    def __init__(self) -> None:
        self.row = (ctypes.c_int64 * 2)()
        self.address = ctypes.addressof(self.row)


_own = StatusRow()
