"""Counts and times every launch of a compiled graph, while somebody wants to know.

In: the steps of a plan and the functions that run them. Out: the same functions, counted; and a
Tally for each step: launches, bytes and flops (predicted, so the same on every run) and the time
they took. A graph compiled while nobody asks has no Meter and costs nothing.

    meter = Meter()
    run = meter.counted("kernel_0", step, run)
    meter.tallies[0].launches

Source: the columns are those of a roofline table (Williams, Waterman, Patterson, CACM 2009).
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

from minitorch2 import forks
from minitorch2.artifacts import Origin
from minitorch2.kernels.executors import Run
from minitorch2.kernels.schedule.cost import step_cost
from minitorch2.kernels.schedule.plan import (
    ChainStep,
    EagerStep,
    KernelStep,
    PlanStep,
    step_origins,
)

MILLISECOND = 1_000_000


@dataclass(slots=True)
class Tally:
    """The launches of one step so far; `counted` is False where bytes and flops are not known.

    The first launch is kept apart: it wakes the threads and touches memory for the first time.
    """

    name: str
    origin: Origin
    counted: bool
    launches: int = 0
    read: int = 0
    written: int = 0
    flops: int = 0
    nanoseconds: int = 0
    first_moved: int = 0
    first_nanoseconds: int = 0

    def __str__(self) -> str:
        numbers = f", bytes read {self.read}, written {self.written}, flops {self.flops}"
        return f"{self.name}: launches {self.launches}{numbers if self.counted else ''}"

    def facts(self) -> dict[str, Any]:
        """The row as an event's fact; times and `gb_per_s` are measured, the others predicted."""
        known = {"bytes_read": self.read, "bytes_written": self.written, "flops": self.flops}
        return {
            "name": self.name,
            "lines": list(dict.fromkeys(map(str, self.origin.spans))),
            "launches": self.launches,
            **(known if self.counted else {}),
            "ms": self.nanoseconds / MILLISECOND,
            "first_ms": self.first_nanoseconds / MILLISECOND,
            "gb_per_s": self.speed(),
        }

    def speed(self) -> float | None:
        """Bytes a nanosecond, without the first launch if there are others."""
        moved, elapsed = self.read + self.written, self.nanoseconds
        if self.launches > 1:
            moved, elapsed = moved - self.first_moved, elapsed - self.first_nanoseconds
        return moved / elapsed if self.counted and elapsed else None


@dataclass(frozen=True, slots=True)
class Tallies:
    """All steps of all graphs compiled for one function: an event's payload, without times."""

    rows: tuple[tuple[str, Tally], ...]

    def __str__(self) -> str:
        return "\n".join(
            " ".join(filter(None, (part, str(tally)))) + f"  # {tally.origin}"
            for part, tally in self.rows
        )

    def facts(self) -> list[dict[str, Any]]:
        """The rows as an event's fact."""
        return [{"part": part, **tally.facts()} for part, tally in self.rows]


class Meter:
    """The tallies of one compiled graph, in the order of its steps."""

    def __init__(self) -> None:
        self.tallies: list[Tally] = []
        self.lock = forks.lock()

    def counted(self, name: str, step: PlanStep, run: Callable[..., Any]) -> Callable[..., Any]:
        """The function that runs a step, counted and timed."""
        tally = Tally(name, step_origins(step), not isinstance(step, EagerStep))
        self.tallies.append(tally)
        if isinstance(step, ChainStep):
            return self._chain(tally, step, run)
        if isinstance(step, KernelStep):
            return self._kernel(tally, step, run)
        return self._call(tally, run)

    def _kernel(self, tally: Tally, step: KernelStep, run: Run) -> Run:
        cost, names = step_cost(step), step.kernel.sizes
        assert cost is not None

        def launch(total: int, arrays: Any, sizes: Any, numbers: Any, nanoseconds: float) -> None:
            start = perf_counter_ns()
            run(total, arrays, sizes, numbers, nanoseconds)
            elapsed = perf_counter_ns() - start
            self._add(tally, cost.at(dict(zip(names, sizes, strict=True))), elapsed)

        return launch

    def _chain(self, tally: Tally, step: ChainStep, run: Callable[..., None]) -> Callable:
        """A chain: what each member is given."""
        cost = step_cost(step)
        assert cost is not None
        kernels = [at for at, each in enumerate(step.members) if isinstance(each, KernelStep)]
        names = [step.members[at].kernel.sizes for at in kernels]  # type: ignore[union-attr]
        known = set().union(*names)
        tally.counted = all(
            each.symbols() <= known for each in (cost.read, cost.written, cost.flops)
        )

        def launch(*given: Any) -> None:
            start = perf_counter_ns()
            run(*given)
            elapsed = perf_counter_ns() - start
            sizes: dict[str, int] = {}
            for at, own in zip(kernels, names, strict=True):
                sizes.update(zip(own, given[at][2], strict=True))
            self._add(tally, cost.at(sizes) if tally.counted else (0, 0, 0), elapsed)

        return launch

    def _call(self, tally: Tally, run: Callable[..., Any]) -> Callable[..., Any]:
        """A product (left, right, result), or an eager step, of which only the time is known."""

        def launch(*given: Any) -> Any:
            start = perf_counter_ns()
            found = run(*given)
            elapsed = perf_counter_ns() - start
            self._add(tally, _product_cost(*given) if tally.counted else (0, 0, 0), elapsed)
            return found

        return launch

    def _add(self, tally: Tally, cost: tuple[int, int, int], elapsed: int) -> None:
        with self.lock:
            if not tally.launches:
                tally.first_moved, tally.first_nanoseconds = cost[0] + cost[1], elapsed
            tally.launches += 1
            tally.read += cost[0]
            tally.written += cost[1]
            tally.flops += cost[2]
            tally.nanoseconds += elapsed


def _product_cost(left: Any, right: Any, result: Any) -> tuple[int, int, int]:
    return left.nbytes + right.nbytes, result.nbytes, 2 * result.size * left.shape[-1]
