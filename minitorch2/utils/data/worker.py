"""Worker processes of a DataLoader: each makes batches and sends them back in order.

In: the dataset, a way to make one batch, and an iterator of tasks. Out: batches, in the tasks'
order, made `prefetch` tasks ahead by each of `count` processes. An exception in a worker is raised
in the main process, with the worker's traceback.

Tasks go round-robin, so batch n comes from worker n % count, and its random numbers depend on
nothing else. Workers are forked where that exists and never touch threads of ours.

Source: torch.utils.data's multiprocessing loader, without shared memory: tensors travel pickled.
"""

import multiprocessing
import queue
import random
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy

from minitorch2.errors import OperationError
from minitorch2.random import manual_seed


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """Which worker this process is."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Inside a worker, which one it is; None in the main process."""
    return _info


class _Failure:
    """An exception on its way to the main process."""

    def __init__(self, worker: int):
        kind, value, _ = sys.exc_info()
        self.kind: Any = kind
        self.worker = worker
        self.stopped = isinstance(value, StopIteration)
        self.text = traceback.format_exc()

    def raise_(self) -> None:
        message = f"Caught {self.kind.__name__} in DataLoader worker process {self.worker}.\n"
        message += self.text
        try:
            raised = self.kind(message)
        except TypeError:
            raised = OperationError("DataLoader", message)
        raise raised


def _work(
    info: WorkerInfo, make_fetch: Callable, init: Callable | None, tasks: Any, results: Any
) -> None:
    """The loop of one worker."""
    global _info
    _info = info
    manual_seed(info.seed)
    random.seed(info.seed)
    numpy.random.seed(numpy.random.SeedSequence((info.seed, info.id)).generate_state(4))
    fetch = None
    while (task := tasks.get()) is not None:
        try:
            if fetch is None:
                if init is not None:
                    init(info.id)
                fetch = make_fetch()
            results.put(fetch(task))
        except KeyboardInterrupt:
            return
        except Exception:
            results.put(_Failure(info.id))


class _Worker:
    """One process with its two queues."""

    def __init__(self, context: Any, info: WorkerInfo, make_fetch: Callable, init: Any):
        self.tasks, self.results = context.SimpleQueue(), context.Queue()
        self.id = info.id
        self.process = context.Process(
            target=_work, args=(info, make_fetch, init, self.tasks, self.results), daemon=True
        )
        self.process.start()

    def receive(self, timeout: float) -> Any:
        """The next result of the worker; raises when it died or took longer than the timeout."""
        waited = 0.0
        while True:
            try:
                return self.results.get(timeout=1.0 if timeout == 0 else min(1.0, timeout))
            except queue.Empty:
                waited += 1.0
            if not self.process.is_alive():
                raise OperationError(
                    "DataLoader",
                    f"worker process {self.id} exited unexpectedly "
                    f"(exit code {self.process.exitcode})",
                    "run with num_workers=0 to see the error",
                )
            if timeout and waited >= timeout:
                raise OperationError(
                    "DataLoader",
                    f"timed out after {timeout} seconds",
                    "give a longer timeout, or look at what the dataset waits for",
                )

    def stop(self) -> None:
        self.results.cancel_join_thread()
        self.tasks.put(None)
        self.process.join(timeout=1.0)
        if self.process.is_alive():
            self.process.terminate()
            self.process.join()
        self.results.close()
        self.tasks.close()
        self.process.close()


def load_in_workers(
    dataset: Any,
    make_fetch: Callable[[], Callable[[Any], Any]],
    tasks: Iterator[Any],
    count: int,
    prefetch: int,
    seed: int,
    init: Callable[[int], None] | None,
    context: Any,
    timeout: float,
) -> Iterator[Any]:
    """The batches of all tasks in order. A stream that has ended in a worker ends its turn."""
    if context is None or isinstance(context, str):
        methods = multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context(context or ("fork" if "fork" in methods else None))
    workers = []
    try:
        for number in range(count):
            info = WorkerInfo(number, count, seed + number, dataset)
            workers.append(_Worker(context, info, make_fetch, init))
        yield from _in_order(workers, tasks, prefetch, timeout)
    finally:
        for worker in workers:
            worker.stop()


def _in_order(
    workers: list[_Worker], tasks: Iterator[Any], prefetch: int, timeout: float
) -> Iterator[Any]:
    """Hand out tasks round-robin, `prefetch` ahead for each worker; collect in the same order."""
    pending: list[_Worker] = []
    active = list(workers)
    turn = 0

    def hand_out() -> None:
        nonlocal turn
        while active and len(pending) < prefetch * len(active):
            task = next(tasks, None)
            if task is None:
                return
            worker = active[turn % len(active)]
            turn += 1
            worker.tasks.put(task)
            pending.append(worker)

    hand_out()
    while pending:
        worker = pending.pop(0)
        found = worker.receive(timeout)
        if isinstance(found, _Failure):
            if not found.stopped:
                found.raise_()
            if worker in active:
                active.remove(worker)
        else:
            yield found
        hand_out()
