"""Memory for outputs and temporaries: aligned blocks that are used again once nobody holds them.

In: a shape and a dtype. Out: a NumPy array on a 64-byte aligned block. The block goes back to its
size's free list when the last array on it (views included) is gone, so a loop that makes the same
arrays each time touches the same warm pages.

>>> import numpy as np
>>> array = empty((30, 400), np.dtype(np.float32))
>>> array.shape, array.ctypes.data % 64, memory_stats()["allocated_bytes"] >= 48_000
((30, 400), 0, True)

Source: https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management (the counters).
"""

import math
from collections.abc import Sequence

import numpy as np

ALIGNMENT = 64
KEPT_AT_MOST = 1 << 30


class Memory(np.ndarray):
    """Aligned bytes. A type of its own, or numpy would let arrays skip the block between."""

    __slots__ = ()


class Block(np.ndarray):
    """Memory that is lent: arrays made on a block, and all their views, keep it alive.

    `base` is the memory itself. It returns to the pool when the block dies.
    """

    __slots__ = ()

    def __del__(self) -> None:
        memory = self.base
        if type(memory) is Memory:  # else a view that somebody made of a block
            pool.give_back(memory)


class BufferPool:
    """Free memory by size, and counters of what is in use.

    There is no lock, as a block may die at any time: a list hands out each item once, and the
    interpreter's lock covers the counters.
    """

    def __init__(self) -> None:
        self.free: dict[int, list[Memory]] = {}
        self.kept = self.allocated = self.peak = 0
        self.hits = self.misses = 0

    def take(self, size: int) -> Block:
        """A block of at least `size` bytes, at an address that is a multiple of 64."""
        rounded = rounded_size(size)
        self.allocated += rounded
        if self.allocated > self.peak:
            self.peak = self.allocated
        try:
            memory = self.free[rounded].pop()
        except LookupError:
            self.misses += 1
            return aligned(rounded).view(Block)
        self.hits += 1
        self.kept -= rounded
        return memory.view(Block)

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
    step = ALIGNMENT if size < 1 << 16 else 4096
    return -(-size // step) * step or ALIGNMENT


def aligned(size: int) -> Memory:
    """New memory, aligned."""
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(Memory)


pool = BufferPool()


def empty(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """An uninitialised array of this shape and dtype, contiguous and 64-byte aligned."""
    count = shape[0] if len(shape) == 1 else math.prod(shape)
    return np.ndarray(shape, dtype, pool.take(count * dtype.itemsize))


def memory_stats() -> dict[str, int]:
    """Bytes in use, at most in use, and kept free; how often a block was reused or made."""
    return {
        "allocated_bytes": pool.allocated,
        "peak_bytes": pool.peak,
        "kept_bytes": pool.kept,
        "reused_blocks": pool.hits,
        "new_blocks": pool.misses,
    }


def empty_cache() -> None:
    """Give all free blocks back to the system."""
    pool.clear()


def flat(array: np.ndarray) -> np.ndarray:
    """The memory an array spans as one dimension, from its first element on."""
    if array.ndim == 1 and array.flags.c_contiguous:
        return array
    steps = zip(array.shape, array.strides, strict=True)
    span = sum((size - 1) * stride // array.itemsize for size, stride in steps) + 1
    return np.lib.stride_tricks.as_strided(array, (span,), (array.itemsize,))
