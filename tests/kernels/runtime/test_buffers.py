"""Blocks are aligned, used again only when nobody holds them, and counted."""

import gc
import threading

import numpy as np
import pytest

from minitorch2.kernels.runtime import buffers

pytestmark = pytest.mark.pure
F32 = np.dtype(np.float32)


@pytest.fixture(autouse=True)
def own_pool(monkeypatch):
    monkeypatch.setattr(buffers, "pool", buffers.BufferPool())


@pytest.mark.parametrize("shape", [(), (0,), (3,), (5, 7), (1000, 1000)])
def test_arrays_are_aligned_and_writable(shape):
    array = buffers.empty(shape, F32)
    array[...] = 1
    assert array.shape == shape and array.dtype == F32
    assert array.ctypes.data % 64 == 0 and array.flags.c_contiguous


def test_a_block_returns_when_the_last_view_is_gone():
    array = buffers.empty((100, 100), F32)
    address = array.ctypes.data
    view = array.T[3:]
    del array
    gc.collect()
    other = buffers.empty((100, 100), F32)
    assert other.ctypes.data != address
    del view
    gc.collect()
    assert buffers.empty((100, 100), F32).ctypes.data == address


def test_exports_keep_the_block():
    array = buffers.empty((100, 100), F32)
    address = array.ctypes.data
    exported = np.from_dlpack(array)
    buffer = array.data
    del array, exported
    gc.collect()
    assert buffers.empty((100, 100), F32).ctypes.data != address
    buffer.release()


def test_the_counters_count():
    array = buffers.empty((1 << 20,), F32)
    stats = buffers.memory_stats()
    assert stats["allocated_bytes"] == stats["peak_bytes"] == 4 << 20
    assert (stats["new_blocks"], stats["reused_blocks"]) == (1, 0)
    del array
    gc.collect()
    assert buffers.memory_stats()["kept_bytes"] == 4 << 20
    array = buffers.empty((1 << 20,), F32)
    assert buffers.memory_stats()["reused_blocks"] == 1
    del array
    gc.collect()
    buffers.empty_cache()
    stats = buffers.memory_stats()
    assert (stats["kept_bytes"], stats["allocated_bytes"]) == (0, 0)


def test_threads_never_share_a_block():
    wrong: list[int] = []

    def work(mark: int) -> None:
        for _ in range(500):
            array = buffers.empty((2000,), F32)
            array[:] = mark
            if not (array == mark).all():
                wrong.append(mark)

    workers = [threading.Thread(target=work, args=(mark,)) for mark in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []
