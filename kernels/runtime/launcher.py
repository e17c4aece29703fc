"""Runs a compiled kernel, cut into chunks for the threads when the work is worth it.

In: a native kernel `(block, i, n) -> status` and its arguments. Out: nothing, or KernelFailure of
the first chunk that failed. Little work, a launch inside a launch, and a launch while another
Python thread holds the pool all run on the calling thread; results are the same either way,
because iterations of a kernel's outer loop are independent.

The threads are plain Python threads that wait on a queue and call native code without the GIL.
They start at the first large launch, stop before a fork, and stop at exit.

Example: `run(kernel.native, layout, (total, addresses, sizes, scalars), cost=1.0)`.

Source: https://docs.python.org/3/library/os.html#os.register_at_fork
"""

import atexit
import ctypes
import os
import struct
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from minitorch2.config import config
from minitorch2.kernels.runtime.signature import KernelFailure

SERIAL_NANOSECONDS = 40_000.0
Native = Callable[[bytes, int, int], int]
Arguments = tuple[int, Sequence[int], Sequence[int], Sequence[float]]


def thread_count() -> int:
    """How many threads a launch may use."""
    return config.threads or _usable_cpus()


def _usable_cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run(
    native: Native,
    layout: struct.Struct,
    arguments: Arguments,
    cost: float,
    memory: object = None,
) -> None:
    """Run the kernel over `range(total)`; a step is worth `cost` nanoseconds.

    `memory` is whatever must stay alive while the kernel runs.
    """
    total, addresses, sizes, scalars = arguments
    chunks = thread_count() if total * cost > SERIAL_NANOSECONDS else 1
    if chunks == 1:
        row = _own.row
        block = layout.pack(total, _own.address, *addresses, *sizes, *scalars)
        if native(block, 0, 1):
            code, index = row
            row[:] = [0, 0]
            raise KernelFailure(code, index)
        return
    rows = (ctypes.c_int64 * (2 * chunks))()
    block = layout.pack(total, ctypes.addressof(rows), *addresses, *sizes, *scalars)
    if not pool.run(Job(native, block, chunks, (rows, memory))):
        for i in range(chunks):
            native(block, i, chunks)
    for i in range(chunks):
        if rows[2 * i]:
            raise KernelFailure(rows[2 * i], rows[2 * i + 1])


class StatusRow(threading.local):
    """The status row of a Python thread, for launches in one chunk; zero between launches."""

    def __init__(self) -> None:
        self.row = (ctypes.c_int64 * 2)()
        self.address = ctypes.addressof(self.row)


_own = StatusRow()


class Job:
    """One launch: the chunks that its threads have finished, and a bell for the one who waits."""

    __slots__ = ("native", "block", "chunks", "memory", "finished", "bell")

    def __init__(self, native: Native, block: bytes, chunks: int, memory: object):
        self.native, self.block, self.chunks = native, block, chunks
        self.memory = memory  # what the block points to lives as long as a thread has the job
        self.finished: list[int] = []
        self.bell: SimpleQueue[None] = SimpleQueue()

    def work(self, i: int) -> None:
        """Run chunk i."""
        self.native(self.block, i, self.chunks)
        self.finished.append(i)
        self.bell.put(None)

    def wait(self, count: int) -> None:
        """Wait for `count` chunks, even when Ctrl-C arrives: they use the caller's memory."""
        interrupt: KeyboardInterrupt | None = None
        while len(self.finished) < count:
            try:
                self.bell.get(timeout=1.0)
            except Empty:
                continue  # an interrupt may have swallowed a ring: count again
            except KeyboardInterrupt as caught:
                interrupt = caught
        if interrupt is not None:
            raise interrupt


class ThreadPool:
    """A few threads that run the chunks of one launch at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.threads: list[threading.Thread] = []
        self.queue: SimpleQueue[tuple[Job, int] | None] = SimpleQueue()

    def run(self, job: Job) -> bool:
        """Run all chunks and return True; False (and nothing run) when the pool is busy."""
        if not self.lock.acquire(blocking=False):
            return False
        sent = 0
        try:
            if not self._start(job.chunks - 1):
                return False
            for i in range(1, job.chunks):
                self.queue.put((job, i))
                sent += 1
            job.native(job.block, 0, job.chunks)
        finally:
            try:
                job.wait(sent)
            finally:
                self.lock.release()
        return True

    def _start(self, count: int) -> bool:
        """Have `count` threads; False when Python starts none any more because it is exiting."""
        for number in range(len(self.threads), count):
            name = f"minitorch2-kernel-{number + 1}"
            thread = threading.Thread(target=self._work, args=(self.queue,), name=name, daemon=True)
            try:
                thread.start()
            except RuntimeError:
                return False
            self.threads.append(thread)
        return True

    def _work(self, queue: "SimpleQueue[tuple[Job, int] | None]") -> None:
        while (item := queue.get()) is not None:
            job, i = item
            job.work(i)
            del item, job

    def stop(self) -> None:
        """Take the pool, end its threads and wait for them; the next launch starts new ones."""
        self.lock.acquire()
        for _ in self.threads:
            self.queue.put(None)
        for thread in self.threads:
            thread.join()
        self.threads.clear()

    def resume(self) -> None:
        """Give the pool back after `stop`."""
        self.lock.release()

    def reset(self) -> None:
        """In a forked child: a pool with no threads and a lock of its own."""
        self.__init__()  # type: ignore[misc]

    def close(self) -> None:
        """At exit: end the threads."""
        self.stop()
        self.resume()


pool = ThreadPool()
atexit.register(pool.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=pool.stop, after_in_parent=pool.resume, after_in_child=pool.reset)
