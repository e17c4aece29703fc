"""Run a CUDA kernel's source as plain Python, with a Python thread for each thread of a block.

In: source as codegen/cuda.py prints it, arrays, sizes, numbers. Out: the arrays, written in place.
Blocks run one after the other; barriers and folds are real meetings of threads, so a thread that
misses one is an error and not a wrong number.

    run_grid(source, kernel.threads, 2, arrays)
"""

import re
import threading
from collections.abc import Sequence
from typing import Any

import numpy

from minitorch2.kernels.codegen.source import KernelSource
from minitorch2.kernels.vecmath.folds import STEPS, WARP, ArrayTeam, fold, takes
from minitorch2.kernels.vecmath.scalars import plain_names

PATIENCE = 20  # seconds that a thread waits for the others


class Meeting:
    """Threads that hand in a value and get one back, all together."""

    def __init__(self, threads: int):
        self.barrier = threading.Barrier(threads)
        self.given: list[Any] = [None] * threads
        self.made: tuple[numpy.ndarray, ...] = ()

    def wait(self) -> None:
        self.barrier.wait(PATIENCE)

    def fold(self, place: int, reducer: str, values: tuple) -> tuple:
        """The fold of everybody's values."""
        self.given[place] = values
        self.wait()
        if place == 0:
            arrays = tuple(numpy.array(part) for part in zip(*self.given, strict=True))
            count = len(self.given)
            team = ArrayTeam(numpy.arange(count), count)
            with numpy.errstate(all="ignore"):
                self.made = fold(team, reducer, arrays, count // WARP)
        self.wait()
        result = tuple(part[place] for part in self.made)
        self.wait()
        return result


class Grid:
    """The helpers of a kernel's source, for the block that runs now."""

    def __init__(self, threads: int, blocks: int):
        self.threads, self.blocks, self.block = threads, blocks, 0
        self.own = threading.local()
        self.lock = threading.Lock()
        self.everybody = Meeting(threads)
        self.warps = [Meeting(WARP) for _ in range(threads // WARP)]

    def names(self) -> dict[str, Any]:
        """The namespace of the source."""
        u64, thread = numpy.uint64, lambda: self.own.thread
        own_warp = lambda: self.warps[thread() // WARP]  # noqa: E731
        found = plain_names() | {
            "thread_index": lambda: u64(thread()),
            "lane_index": lambda: u64(thread() % WARP),
            "block_index": lambda: u64(self.block),
            "block_count": lambda: u64(self.blocks),
            "warp_index": lambda: u64((self.block * self.threads + thread()) // WARP),
            "warp_count": lambda: u64(self.blocks * self.threads // WARP),
            "grid_index": lambda: u64(self.block * self.threads + thread()),
            "grid_size": lambda: u64(self.blocks * self.threads),
            "block_barrier": self.everybody.wait,
            "warp_barrier": lambda: own_warp().wait(),
            "takes_max": lambda old_at, at, old, new: takes(True, (old, old_at), (new, at)),
            "takes_min": lambda old_at, at, old, new: takes(False, (old, old_at), (new, at)),
            "fail": self.fail,
        }
        for width in (2, 4, 8, 16):
            found[f"load_{width}"] = lambda array, at, width=width: array[int(at) :][:width]
            found[f"store_{width}"] = store
        for reducer in STEPS:
            found[f"warp_{reducer}"] = lambda *values, reducer=reducer: single(
                own_warp().fold(thread() % WARP, reducer, values)
            )
            found[f"block_{reducer}"] = lambda *values, reducer=reducer: single(
                self.everybody.fold(thread(), reducer, values)
            )
        return found

    def fail(self, status: numpy.ndarray, code: Any, index: Any) -> None:
        with self.lock:
            if status[0] == 0:
                status[:] = code, index


def single(values: tuple) -> Any:
    """One value as itself."""
    return values[0] if len(values) == 1 else values


def store(array: numpy.ndarray, at: Any, *values: Any) -> None:
    """Neighbours written at once."""
    array[int(at) : int(at) + len(values)] = values


def run_grid(
    source: KernelSource,
    threads: int,
    blocks: int,
    arrays: Sequence[numpy.ndarray],
    sizes: Sequence[int] = (),
    numbers: Sequence[Any] = (),
) -> numpy.ndarray:
    """Run the source in a grid; the status words."""
    grid, status, errors = Grid(threads, blocks), numpy.zeros(2, numpy.int64), []
    names = grid.names()
    exec(re.sub(r"\b(block_[a-z]+)_\d+\(", r"\1(", source.text), names)
    body = names[source.name]
    arguments = [*arrays, *map(numpy.uint64, sizes), *numbers, status]

    def run(thread: int) -> None:
        grid.own.thread = thread
        try:
            with numpy.errstate(all="ignore"):
                body(*arguments)
        except Exception as error:
            errors.append(error)
            grid.everybody.barrier.abort()

    for grid.block in range(blocks):
        team = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
        for each in team:
            each.start()
        for each in team:
            each.join()
        if errors:
            raise errors[0]
    return status
