"""Batches of small matrix products, spread over the pool's threads: each product on one thread.

In: two arrays of at least three dimensions and the array for the result. Out: whether it was done.
What this file does not do (broadcast operands, vectors, a product with itself, element types and
layouts that BLAS does not take) is left to numpy.matmul; what it does gives the same bits, as it
makes the same cblas calls.

    >>> import numpy
    >>> a = numpy.ones((4, 2, 3)); b = numpy.ones((4, 3, 2)); out = numpy.empty((4, 2, 2))
    >>> spread(a, b, out), out[3, 1, 1].item()
    (True, 3.0)

Source: numpy's matmul (numpy/_core/src/umath/matmul.c.src), for when it calls BLAS and how.
"""

import ctypes
import struct
from functools import cache, lru_cache

import numpy as np

from minitorch2.backends import blas
from minitorch2.kernels.runtime import pool as threads
from minitorch2.kernels.runtime.launcher import parts_for
from minitorch2.kernels.runtime.pool_blas import PRODUCT_SLOTS

NANOSECONDS_A_MULTIPLICATION = 0.025
PLAIN, TRANSPOSED = 111, 112
GEMM = {"f": ("cblas_sgemm", "gemm_f32"), "d": ("cblas_dgemm", "gemm_f64")}
NAMES = ("scipy_{}64_", "{}64_")  # the names of functions that take 64-bit sizes
BLOCK = struct.Struct(f"={len(PRODUCT_SLOTS)}Q")


@cache
def _functions(kind: str) -> tuple[int, int] | None:
    """The addresses of cblas_?gemm and of our kernel that calls it."""
    outside, inside = GEMM[kind]
    gemm = blas.find(outside, NAMES)
    if gemm is None or not threads.supported():
        return None
    address = ctypes.cast(gemm, ctypes.c_void_p).value  # type: ignore[arg-type]
    return (address, threads.code().address[inside]) if address else None


def _rows(strides: tuple[int, ...], columns: int, size: int) -> int:
    """Elements between two rows of a matrix whose rows have no holes; 0 if BLAS cannot take it."""
    step = strides[-2]
    fits = strides[-1] == size and step % size == 0 and step // size >= max(columns, 1)
    return step // size if fits and step // size < 2**31 else 0


@lru_cache(maxsize=1024)
def _plan(
    shapes: tuple[tuple[int, ...], ...], strides: tuple[tuple[int, ...], ...], size: int
) -> tuple[np.ndarray, tuple[int, ...]] | None:
    """Where each product's matrices begin, and the numbers of the argument block after them."""
    (*batch, m, k), n = shapes[0], shapes[1][-1]
    same = shapes[1] == (*batch, k, n) and shapes[2] == (*batch, m, n)
    if not same or min(m, n, k) < 2:
        return None
    flags, rows = [], []
    for (height, width), step in zip(((m, k), (k, n)), strides, strict=False):
        plain = _rows(step, width, size)
        turned = _rows((step[-1], step[-2]), height, size)
        flags.append(PLAIN if plain else TRANSPOSED)
        rows.append(plain or turned)
    rows.append(_rows(strides[2], n, size))
    if not all(rows):
        return None
    offsets = np.zeros((*batch, 3), np.int64)
    for axis, extent in enumerate(batch):
        index = np.arange(extent).reshape(-1, *[1] * (len(batch) - axis))
        offsets += index * np.array([step[axis] for step in strides])
    return offsets.reshape(-1, 3), (m, n, k, *rows, *flags)


def spread(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> bool:
    """Write a @ b into `out` and return True; False, and nothing written, if it must be numpy."""
    kind = a.dtype.char
    if kind not in GEMM or b.dtype.char != kind or out.dtype.char != kind:
        return False
    functions = _functions(kind)
    shapes, strides = (a.shape, b.shape, out.shape), (a.strides, b.strides, out.strides)
    plan = _plan(shapes, strides, a.itemsize) if functions else None
    places = [each.__array_interface__["data"][0] for each in (a, b, out)]
    if functions is None or plan is None or places[0] == places[1]:
        return False
    offsets, numbers = plan
    total, (gemm, kernel) = len(offsets), functions
    parts = min(total, parts_for(a.size * b.shape[-1] * NANOSECONDS_A_MULTIPLICATION))
    status = (ctypes.c_int64 * (2 * parts))()
    table = offsets.ctypes.data
    block = BLOCK.pack(total, ctypes.addressof(status), *places, table, gemm, *numbers)
    with blas.one_thread():
        threads.code().run(kernel, block, parts)
    return True
