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
import os
import threading
import weakref
from collections.abc import Sequence

import numpy as np

ALIGNMENT = 64
POOLED_FROM = 4096
KEPT_AT_MOST = 1 << 30


class BufferPool:
    """Free blocks by size, and counters of what is in use."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.free: dict[int, list[np.ndarray]] = {}
        self.kept = self.allocated = self.peak = 0
        self.hits = self.misses = 0

    def take(self, size: int) -> np.ndarray:
        """A flat array of `size` bytes, at an address that is a multiple of 64."""
        rounded = rounded_size(size)
        if rounded < POOLED_FROM:
            return aligned(rounded)[:size]
        with self.lock:
            blocks = self.free.get(rounded)
            block = blocks.pop() if blocks else None
            if block is not None:
                self.hits += 1
                self.kept -= rounded
            else:
                self.misses += 1
            self.allocated += rounded
            self.peak = max(self.peak, self.allocated)
        if block is None:
            block = aligned(rounded)
        lent = np.frombuffer(block.data, np.uint8)
        weakref.finalize(lent, self._give_back, block).atexit = False
        return lent[:size]

    def _give_back(self, block: np.ndarray) -> None:
        with self.lock:
            self.allocated -= block.nbytes
            if self.kept + block.nbytes > KEPT_AT_MOST:
                return
            self.kept += block.nbytes
            self.free.setdefault(block.nbytes, []).append(block)

    def clear(self) -> None:
        """Let go of all free blocks."""
        with self.lock:
            self.free.clear()
            self.kept = 0


def rounded_size(size: int) -> int:
    """The block size for `size` bytes: a multiple of 64, coarser for large blocks."""
    step = ALIGNMENT if size < 1 << 16 else 4096
    return max(ALIGNMENT, -(-size // step) * step)


def aligned(size: int) -> np.ndarray:
    """A new block of bytes, aligned."""
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size]


pool = BufferPool()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lambda: pool.lock.acquire(),
        after_in_parent=lambda: pool.lock.release(),
        after_in_child=lambda: pool.lock.release(),
    )


def empty(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """An uninitialised array of this shape and dtype, contiguous and 64-byte aligned."""
    count = math.prod(shape)
    return pool.take(count * dtype.itemsize).view(dtype).reshape(shape)


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
