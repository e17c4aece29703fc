"""Blocks are aligned, used again only when nobody holds them, and counted: by both pools."""

import gc
import math
import threading

import ml_dtypes
import numpy as np
import pytest

from minitorch2.kernels.runtime import block_code, buffers, built_in
from minitorch2.kernels.runtime import pool as threads

F32 = np.dtype(np.float32)
NATIVE = threads.supported() and built_in.supported()


class Own:
    """A pool of the test's own, or the process's native one: its counters from here on."""

    def __init__(self, pool):
        self.pool, self.before = pool, pool.counters()

    def empty(self, shape, dtype=F32):
        return self.pool.take(shape, dtype, math.prod(shape) * dtype.itemsize)

    def count(self, name):
        return self.pool.counters()[name] - self.before[name]


@pytest.fixture(params=[
    pytest.param("python", marks=pytest.mark.pure),
    pytest.param("native", marks=[pytest.mark.numba,
                                  pytest.mark.skipif(not NATIVE, reason="no native pool here")]),
])  # fmt: skip
def own(request):
    gc.collect()
    pool = buffers.PythonPool() if request.param == "python" else buffers.NativePool()
    pool.clear()
    return Own(pool)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (5, 7), (1000, 1000)])
def test_arrays_are_aligned_and_writable(own, shape):
    array = own.empty(shape)
    array[...] = 1
    assert array.shape == shape and array.dtype == F32
    assert array.ctypes.data % 64 == 0 and array.flags.c_contiguous


@pytest.mark.parametrize("name", ["bool", "int8", "int64", "complex128", "bfloat16"])
def test_arrays_have_the_dtype(own, name):
    element = np.dtype(getattr(ml_dtypes, name, name))
    array = own.empty((3, 5), element)
    assert array.dtype == element and array.strides == (5 * element.itemsize, element.itemsize)
    assert array.flags.writeable and array.flags.aligned and not array.flags.owndata


def test_a_block_returns_when_the_last_view_is_gone(own):
    array = own.empty((100, 100))
    address = array.ctypes.data
    view = array.T[3:]
    del array
    gc.collect()
    other = own.empty((100, 100))
    assert other.ctypes.data != address
    del view
    gc.collect()
    assert own.empty((100, 100)).ctypes.data == address


def test_exports_keep_the_block(own):
    array = own.empty((100, 100))
    address = array.ctypes.data
    exported = np.from_dlpack(array)
    buffer = array.data
    del array, exported
    gc.collect()
    assert own.empty((100, 100)).ctypes.data != address
    buffer.release()


def test_the_counters_count(own):
    array = own.empty((1 << 20,))
    assert (own.count("allocated"), own.count("made"), own.count("reused")) == (4 << 20, 1, 0)
    assert own.pool.counters()["peak"] >= own.pool.counters()["allocated"]
    own.pool.forget_peak()
    assert own.pool.counters()["peak"] == own.pool.counters()["allocated"]
    del array
    gc.collect()
    assert (own.count("kept"), own.count("allocated")) == (4 << 20, 0)
    array = own.empty((1 << 20,))
    assert own.count("reused") == 1
    del array
    gc.collect()
    own.pool.clear()
    assert (own.count("kept"), own.count("allocated")) == (0, 0)


def test_too_much_is_not_kept(own):
    size = buffers.KEPT_AT_MOST // 2 + 4096
    first, second = own.empty((size,), np.dtype(np.uint8)), own.empty((size,), np.dtype(np.uint8))
    del first, second  # nothing was written: no page of them is in memory
    gc.collect()
    assert own.count("kept") == buffers.rounded_size(size) and own.count("allocated") == 0
    own.pool.clear()


def test_more_sizes_than_the_table_holds(own):
    held = [own.empty((16 * count,)) for count in range(1, block_code.ENTRIES + 50)]
    addresses = {array.ctypes.data for array in held}
    assert len(addresses) == len(held)
    del held
    gc.collect()
    again = [own.empty((16 * count,)) for count in range(1, block_code.ENTRIES + 50)]
    for number, array in enumerate(again):
        array[...] = number
    assert all((array == number).all() for number, array in enumerate(again))
    own.pool.clear()
    assert own.count("kept") == 0


def test_threads_never_share_a_block(own):
    wrong: list[int] = []

    def work(mark: int) -> None:
        for _ in range(500):
            array = own.empty((2000,))
            array[:] = mark
            if not (array == mark).all():
                wrong.append(mark)

    workers = [threading.Thread(target=work, args=(mark,)) for mark in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


def test_the_public_functions():
    array = buffers.empty((30, 40), F32)
    assert buffers.memory_stats()["allocated_bytes"] >= array.nbytes
    del array
    buffers.empty_cache()
    assert buffers.memory_stats()["kept_bytes"] == 0


@pytest.mark.numba
@pytest.mark.skipif(not NATIVE, reason="no native pool here")
@pytest.mark.parametrize(
    "arguments", [(), ((3,), F32), ((3,), F32, "12"), (("3",), F32, 12), ((-1,), F32, 4)]
)
def test_bad_calls_are_refused(arguments):
    with pytest.raises((TypeError, ValueError)):
        buffers.NativePool().take(*arguments)
