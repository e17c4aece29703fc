"""Memory for outputs and temporaries: aligned blocks that are used again once nobody holds them.

In: a shape and a dtype. Out: a NumPy array on a 64-byte aligned block. The block goes back to its
size's free list when the last array on it (views included) is gone, so a loop that makes the same
arrays each time touches the same warm pages. Native code does it (block_code.py); where that does
not run, a pool in Python.

>>> import numpy as np
>>> array = empty((30, 400), np.dtype(np.float32))
>>> array.shape, array.ctypes.data % 64, memory_stats()["allocated_bytes"] >= 48_000
((30, 400), 0, True)

Source: https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management (the counters).
"""

import ctypes
import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from minitorch2.kernels.runtime import block_code, built_in
from minitorch2.kernels.runtime import pool as threads
from minitorch2.kernels.runtime.block_code import ALIGNMENT, COARSE, FINE, KEPT_AT_MOST, LARGE

Take = Callable[[Sequence[int], np.dtype, int], np.ndarray]


class NativePool:
    """The native lists of free blocks, and their counters.

    `take(shape, dtype, nbytes)` is an uninitialised row-major array.
    """

    def __init__(self) -> None:
        code, functions = threads.code(), built_in.numpy_functions()
        assert functions is not None
        # Blocks may die after everything else, so the code that takes them back never goes away.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))
        words = (id(np.ndarray), *functions)
        self.take: Take = built_in.built_in("take", code.address["take"], words)
        self.clear = code.blocks_clear
        count = len(block_code.STATE)
        self._state = (ctypes.c_int64 * count).from_address(code.blocks_state())

    def counters(self) -> dict[str, int]:
        """The numbers by name: allocated, peak, kept, reused, made."""
        return dict(zip(block_code.STATE, self._state, strict=True))

    def forget_peak(self) -> None:
        """The peak is what is in use now."""
        names = block_code.STATE
        self._state[names.index("peak")] = self._state[names.index("allocated")]


class Memory(np.ndarray):
    """Aligned bytes. A type of its own, or numpy would let arrays skip the block between."""

    pool: "PythonPool"


class Block(np.ndarray):
    """Memory that is lent: arrays made on a block, and all their views, keep it alive.

    `base` is the memory itself. It returns to the pool when the block dies.
    """

    __slots__ = ()

    def __del__(self) -> None:
        memory = self.base
        if type(memory) is Memory:  # else a view that somebody made of a block
            memory.pool.give_back(memory)


class PythonPool:
    """Free memory by size, and counters of what is in use.

    There is no lock, as a block may die at any time: a list hands out each item once, and the
    interpreter's lock covers the counters.
    """

    def __init__(self) -> None:
        self.free: dict[int, list[Memory]] = {}
        self.allocated = self.peak = self.kept = self.reused = self.made = 0

    def take(self, shape: Sequence[int], dtype: np.dtype, nbytes: int) -> np.ndarray:
        """An uninitialised row-major array."""
        return np.ndarray(shape, dtype, self.block(rounded_size(nbytes)))

    def block(self, size: int) -> Block:
        """A block of a rounded size."""
        self.allocated += size
        if self.allocated > self.peak:
            self.peak = self.allocated
        try:
            memory = self.free[size].pop()
        except LookupError:
            self.made += 1
            memory = aligned(size)
            memory.pool = self
            return memory.view(Block)
        self.reused += 1
        self.kept -= size
        return memory.view(Block)

    def counters(self) -> dict[str, int]:
        """The numbers by name."""
        return {name: getattr(self, name) for name in block_code.STATE}

    def forget_peak(self) -> None:
        """The peak is what is in use now."""
        self.peak = self.allocated

    def give_back(self, memory: Memory) -> None:
        """Keep memory that nobody uses any more, unless there is too much of it."""
        size = memory.nbytes
        self.allocated -= size
        if self.kept + size > KEPT_AT_MOST:
            return
        self.kept += size
        try:
            self.free[size].append(memory)
        except LookupError:
            self.free.setdefault(size, []).append(memory)

    def clear(self) -> None:
        """Let go of all free memory."""
        for size, memories in list(self.free.items()):
            self.kept -= size * len(memories)
            memories.clear()


def rounded_size(size: int) -> int:
    """The block size for `size` bytes: a multiple of 64, coarser for large blocks."""
    step = FINE if size < LARGE else COARSE
    return -(-size // step) * step or FINE


def aligned(size: int) -> Memory:
    """New memory, aligned."""
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(Memory)


@cache
def pool() -> NativePool | PythonPool:
    """The pool of this process."""
    native = threads.supported() and built_in.supported()
    return NativePool() if native else PythonPool()


def empty(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """An uninitialised array of this shape and dtype, contiguous and 64-byte aligned."""
    return pool().take(tuple(shape), dtype, math.prod(shape) * dtype.itemsize)


def memory_stats() -> dict[str, int]:
    """Bytes in use, at most in use, and kept free; how often a block was reused or made."""
    found = pool().counters()
    return {
        "allocated_bytes": found["allocated"],
        "peak_bytes": found["peak"],
        "kept_bytes": found["kept"],
        "reused_blocks": found["reused"],
        "new_blocks": found["made"],
    }


def empty_cache() -> None:
    """Give all free blocks back to the system."""
    pool().clear()


def flat(array: np.ndarray) -> np.ndarray:
    """The memory an array spans as one dimension, from its first element on."""
    if array.ndim == 1 and array.flags.c_contiguous:
        return array
    steps = zip(array.shape, array.strides, strict=True)
    span = sum((size - 1) * stride // array.itemsize for size, stride in steps) + 1
    return np.lib.stride_tricks.as_strided(array, (span,), (array.itemsize,))
