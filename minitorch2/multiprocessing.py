"""torch.multiprocessing: Python's own, and `spawn`.

In: functions and tensors. Out: processes. Tensors travel by pickling, as a copy: a child that
writes into one changes its own, unless the tensor stands on memory that the program shares itself
(`multiprocessing.shared_memory` with `torch.frombuffer`).

    from minitorch2 import multiprocessing as mp
    mp.spawn(work, args=(2,), nprocs=2)      # work(0, 2) and work(1, 2), each in its process

Source: Python's multiprocessing; torch.multiprocessing.
"""

import multiprocessing
import traceback
from collections.abc import Callable, Iterable
from multiprocessing import *  # noqa: F403  (torch's module offers all of Python's names)
from multiprocessing import connection, get_context
from typing import Any

from minitorch2.errors import ArgumentValueError

__all__ = [  # noqa: PLE0604  (the names of Python's module, and ours)
    *multiprocessing.__all__,
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]


class ProcessException(Exception):
    """A child failed; `error_index` is its number, `pid` its process."""

    def __init__(self, message: str, error_index: int, pid: int):
        super().__init__(message)
        self.msg, self.error_index, self.pid = message, error_index, pid


class ProcessRaisedException(ProcessException):
    """A child raised an exception; the message holds its traceback."""


class ProcessExitedException(ProcessException):
    """A child ended by a signal or with an exit status other than 0."""

    def __init__(self, message: str, error_index: int, error_pid: int, exit_code: int):
        super().__init__(message, error_index, error_pid)
        self.exit_code = exit_code


def _work(fn: Callable, index: int, args: tuple, errors: Any) -> None:
    try:
        fn(index, *args)
    except KeyboardInterrupt:
        pass  # the parent got it too, and says so
    except Exception:
        errors.put(traceback.format_exc())
        raise SystemExit(1) from None


class SpawnContext:
    """The processes that `spawn(join=False)` started."""

    def __init__(self, processes: list[Any], errors: list[Any]):
        self.processes, self.error_queues = processes, errors
        self._left = {process.sentinel: at for at, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """The numbers of the processes."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait for one process (or `timeout` seconds); True when all have ended.

        The first failure ends the others and is raised here.
        """
        for sentinel in connection.wait(list(self._left), timeout=timeout):
            at = self._left.pop(sentinel)
            process = self.processes[at]
            process.join()
            if process.exitcode:
                self._stop_others(grace_period)
                raise self._failure(at)
        return not self._left

    def _stop_others(self, grace_period: float | None) -> None:
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        for process in self.processes:
            process.join(grace_period if grace_period is not None else 30)
            if process.is_alive():
                process.kill()
                process.join()

    def _failure(self, at: int) -> ProcessException:
        process = self.processes[at]
        if not self.error_queues[at].empty():
            text = self.error_queues[at].get()
            message = f"\n\n-- Process {at} terminated with the following error:\n{text}"
            return ProcessRaisedException(message, at, process.pid)
        status = process.exitcode
        how = f"exit code {status}" if status > 0 else f"signal {-status}"
        return ProcessExitedException(
            f"process {at} terminated with {how}", at, process.pid, status
        )


ProcessContext = SpawnContext


def start_processes(
    fn: Callable,
    args: Iterable[Any] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> SpawnContext | None:
    """Run fn(i, *args) for i in range(nprocs), each in a process of its own.

    With `join`, waits for all of them and raises the first failure; else returns a SpawnContext.
    """
    if nprocs < 0:
        raise ArgumentValueError(f"spawn(nprocs={nprocs})", "nprocs must not be negative")
    context: Any = get_context(start_method)
    processes, errors = [], []
    for index in range(nprocs):
        queue = context.SimpleQueue()
        process = context.Process(target=_work, args=(fn, index, tuple(args), queue), daemon=daemon)
        process.start()
        processes.append(process)
        errors.append(queue)
    started = SpawnContext(processes, errors)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(
    fn: Callable,
    args: Iterable[Any] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> SpawnContext | None:
    """start_processes with fresh interpreters."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)


def get_all_sharing_strategies() -> set[str]:
    """The ways tensors reach another process: by pickling, as a copy."""
    return {"file_system"}


def get_sharing_strategy() -> str:
    """The way in use."""
    return "file_system"


def set_sharing_strategy(new_strategy: str) -> None:
    """Accepts every name that torch has; copies are made in any case."""
    if new_strategy not in ("file_system", "file_descriptor"):
        raise ArgumentValueError(
            f"set_sharing_strategy({new_strategy!r})", "no such strategy", "use 'file_system'"
        )
