"""`mt2 bench`: how near kernels come to what the machine can do.

In: nothing, or a part of a workload's name. Out: one row for each workload: the time of a call, the
bytes and flops that it must move and compute, and how much of the machine's bandwidth or of its
arithmetic that is. Bandwidth is that of the better of two triads, arithmetic that of a large
product, measured in the same run on the same threads.

    mt2 bench                     all workloads
    mt2 bench softmax bf16        those whose name has one of the words in it
    mt2 bench --threads 1

Source: the roofline model (Williams, Waterman, Patterson, CACM 2009).
"""

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click

import minitorch2
from minitorch2.artifacts import Event, subscribe
from minitorch2.cli.bench_workloads import WORKLOADS, Workload
from minitorch2.cli.costs import short
from minitorch2.cli.render import Page
from minitorch2.config import config
from minitorch2.kernels.runtime.roofline import Limits, measured

HEAD = ("", "kernels", "ms", "bytes", "flops", "GB/s", "of bandwidth", "GFLOP/s", "of flops")


@dataclass(frozen=True, slots=True)
class Measured:
    """One workload: steps launched, seconds of a call, and what a call must move and compute.

    `whole`: every step's cost is known; what runs eagerly between kernels has none.
    """

    name: str
    steps: int
    seconds: float
    moved: int
    flops: int
    whole: bool

    def cells(self, limits: Limits) -> Sequence[str]:
        """The row of the table."""
        speed, rate = self.moved / self.seconds / 1e9, self.flops / self.seconds / 1e9
        known = [
            short(self.moved, "B"), short(self.flops), f"{speed:.1f}",
            f"{speed / limits.bandwidth:.0%}", f"{rate:.1f}", f"{rate / limits.flops:.0%}",
        ]  # fmt: skip
        return (self.name, str(self.steps), f"{self.seconds * 1e3:.3f}",
                *(known if self.whole else ["-"] * len(known)))  # fmt: skip


SECONDS = click.FloatRange(0.0, min_open=True)


@click.command()
@click.argument("words", nargs=-1)
@click.option(
    "--threads", type=click.IntRange(0), default=0, help="0: all that this process may use."
)
@click.option("--seconds", type=SECONDS, default=0.3, help="At most so long a workload.")
@click.option("--list", "show", is_flag=True, help="The names of the workloads.")
def bench(words: tuple[str, ...], threads: int, seconds: float, show: bool) -> None:
    """Measure kernels against the machine's bandwidth and arithmetic."""
    chosen = named(words)
    page = Page(sys.stdout)
    if show:
        for each in chosen:
            page.put(each.name)
        return
    config.threads = threads or config.threads
    limits = measured()
    page.put(
        f"triad {limits.plain:.1f} GB/s, non-temporal {limits.nontemporal:.1f} GB/s; "
        f"product {limits.flops:.0f} GFLOP/s"
    )
    width = max((len(each.name) for each in chosen), default=0)
    page.put(_line(HEAD, width), "dim")
    for each in chosen:
        page.put(_line(measure(each, seconds).cells(limits), width))


def named(words: Sequence[str]) -> list[Workload]:
    """The workloads whose name has one of the words in it; all of them if there are no words.

    Raises click.UsageError with the kinds there are if a word is in no name.
    """
    for word in words:
        if not any(word in each.name for each in WORKLOADS):
            kinds = sorted({each.name.partition(f" {each.dtype} ")[0] for each in WORKLOADS})
            raise click.UsageError(
                f"no workload has {word!r} in its name. There are: {', '.join(kinds)}; each with a "
                "type and a shape, such as 'softmax bf16' (`mt2 bench --list` shows all)."
            )
    return [each for each in WORKLOADS if not words or any(word in each.name for word in words)]


def _line(cells: Sequence[str], width: int) -> str:
    """Cells under their names."""
    name, *rest = cells
    columns = [f"{cell:>{max(len(head), 8)}}" for head, cell in zip(HEAD[1:], rest, strict=True)]
    return "  ".join([f"{name:<{width}}", *columns])


def measure(workload: Workload, seconds: float) -> Measured:
    """Compile a workload, add up what its steps cost, and take the median of many calls."""
    function, arguments = workload.make()
    compiled: Callable[..., Any] = minitorch2.compile(function)
    events: list[Event] = []
    with minitorch2.no_grad():
        with subscribe(events.append):
            compiled(*arguments)
        compiled(*arguments)
        times: list[float] = []
        end = time.perf_counter() + seconds
        while len(times) < 5 or time.perf_counter() < end:
            start = time.perf_counter()
            compiled(*arguments)
            times.append(time.perf_counter() - start)
    rows = [row for event in events if event.stage == "kernel.cost" for row in event.facts["costs"]]
    numbers = [[row.get(name) for name in ("bytes_read", "bytes_written", "flops")] for row in rows]
    whole = all(isinstance(number, int) for row in numbers for number in row)
    totals = [sum(row[at] for row in numbers) for at in range(3)] if whole else [0, 0, 0]
    return Measured(workload.name, len(rows), statistics.median(times), totals[0] + totals[1],
                    totals[2], whole)  # fmt: skip
