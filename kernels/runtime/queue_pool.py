"""A thread pool in Python alone, for systems where the native one does not run.

In: a native kernel, its argument block and a number of parts. Out: nothing; the parts have run.
The threads wait on a queue and call native code without the interpreter lock: a launch takes tens
of microseconds. BLAS keeps its own threads.

Source: the interface is that of pool.py.
"""

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

Native = Callable[[bytes, int, int], int]


class Job:
    """One launch: the parts that threads have finished, and a bell for the one who waits."""

    __slots__ = ("native", "block", "parts", "finished", "bell")

    def __init__(self, native: Native, block: bytes, parts: int):
        self.native, self.block, self.parts = native, block, parts
        self.finished: list[int] = []
        self.bell: SimpleQueue[None] = SimpleQueue()

    def work(self, i: int) -> None:
        """Run part i."""
        self.native(self.block, i, self.parts)
        self.finished.append(i)
        self.bell.put(None)

    def wait(self, count: int) -> None:
        """Wait for `count` parts, even when Ctrl-C arrives: they use the caller's memory."""
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


class QueuePool:
    """A few threads that run the parts of one launch at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.threads: list[threading.Thread] = []
        self.queue: SimpleQueue[tuple[Job, int] | None] = SimpleQueue()

    @property
    def size(self) -> int:
        """How many threads there are, the caller's among them."""
        return 1 + len(self.threads)

    def run(self, native: Native, block: bytes, parts: int) -> None:
        """Run all parts, on the calling thread alone if the pool is busy."""
        if parts > self.size or not self.lock.acquire(blocking=False):
            for i in range(parts):
                native(block, i, parts)
            return
        job, sent = Job(native, block, parts), 0
        try:
            for i in range(1, parts):
                self.queue.put((job, i))
                sent += 1
            native(block, 0, parts)
        finally:
            try:
                job.wait(sent)
            finally:
                self.lock.release()

    def grow(self, size: int) -> None:
        """Have `size` threads; fewer when Python starts none any more because it is exiting."""
        with self.lock:
            for number in range(self.size, size):
                name = f"minitorch2-{number}"
                thread = threading.Thread(
                    target=self._work, args=(self.queue,), name=name, daemon=True
                )
                try:
                    thread.start()
                except RuntimeError:
                    return
                self.threads.append(thread)

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
