"""torch.utils.benchmark: how long a statement takes.

In: a statement as text, its globals and a setup. Out: a Measurement: the times of several runs,
with their median, mean and spread.

    >>> timer = Timer("x + 1", globals={"x": 1})
    >>> timer.timeit(100).number_per_run
    100

Source: torch.utils.benchmark; Python's timeit.
"""

import statistics
import timeit
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from minitorch2.functions import get_num_threads, set_num_threads

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def _text(seconds: float) -> str:
    for size, unit in _UNITS:
        if seconds >= size or unit == "ns":
            return f"{seconds / size:.2f} {unit}"
    raise AssertionError(seconds)


@dataclass
class Measurement:
    """The seconds that `number_per_run` executions took, run by run; properties are of one."""

    number_per_run: int
    raw_times: list[float]
    task: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    num_threads: int = 1
    metadata: dict = field(default_factory=dict)

    @property
    def times(self) -> list[float]:
        """Seconds of one execution, run by run."""
        return [each / self.number_per_run for each in self.raw_times]

    @property
    def median(self) -> float:
        """The middle of the times."""
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        """Their mean."""
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        """The distance from their first to their third quartile."""
        if len(self.times) < 2:
            return 0.0
        first, _, third = statistics.quantiles(self.times, n=4, method="inclusive")
        return third - first

    @property
    def title(self) -> str:
        """The labels, or the statement."""
        return ": ".join(each for each in (self.label or self.task, self.sub_label) if each)

    def __repr__(self) -> str:
        runs, count = len(self.raw_times), self.number_per_run
        threads = f"{self.num_threads} thread{'s' if self.num_threads > 1 else ''}"
        lines = [f"<{type(self).__module__}.Measurement>", self.title]
        if self.description:
            lines.append(self.description)
        lines.append(f"  {_text(self.median)}" + (f"  (IQR {_text(self.iqr)})" if runs > 1 else ""))
        lines.append(f"  {runs} measurement{'s' if runs > 1 else ''}, {count} runs, {threads}")
        return "\n".join(lines)


class Timer:
    """A statement to be timed, after `setup`, with `num_threads` threads."""

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timeit.default_timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Any = None,
    ):
        self.stmt = stmt
        self._timer = timeit.Timer(stmt, setup, timer, dict(globals or {}))
        self._labels = {"task": stmt, "label": label, "sub_label": sub_label}
        self._labels |= {"description": description}
        self._num_threads = num_threads

    def _measured(self, number: int, times: list[float]) -> Measurement:
        named: dict[str, Any] = {**self._labels, "num_threads": self._num_threads}
        return Measurement(number, times, **named)

    def _time(self, number: int) -> float:
        before = get_num_threads()
        set_num_threads(self._num_threads)
        try:
            return self._timer.timeit(number)
        finally:
            set_num_threads(before)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """One run of `number` executions, after a short warm-up."""
        self._time(max(number // 100, 2))
        return self._measured(number, [self._time(number)])

    def _block(self, min_run_time: float) -> int:
        """How many executions take about a thousandth of the time, so that clocks are exact."""
        number = 1
        while True:
            taken = self._time(number)
            if taken >= min_run_time / 1000 or number > 10**9:
                return number
            number *= 10 if taken < min_run_time / 10000 else 2

    def blocked_autorange(
        self, callback: Callable | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Runs of equally many executions until `min_run_time` seconds are over."""
        number = self._block(min_run_time)
        times: list[float] = []
        while sum(times) < min_run_time:
            times.append(self._time(number))
            if callback is not None:
                callback(number, times[-1])
        return self._measured(number, times)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable | None = None,
    ) -> Measurement:
        """Runs until their spread is below `threshold` of the median, or the time is over."""
        number = self._block(min_run_time)
        times: list[float] = []
        while True:
            times.append(self._time(number))
            if callback is not None:
                callback(number, times[-1])
            found = self._measured(number, times)
            steady = len(times) > 3 and found.iqr <= threshold * found.median
            if sum(times) > max_run_time or (sum(times) > min_run_time and steady):
                return found


class Compare:
    """A table of Measurements: a row for each label, a column for each description."""

    def __init__(self, results: Sequence[Measurement]):
        self.results = list(results)

    def extend_results(self, results: Sequence[Measurement]) -> None:
        """Take in more."""
        self.results.extend(results)

    def print(self) -> None:
        """Print the table."""
        print(str(self))

    def __str__(self) -> str:
        columns = list(dict.fromkeys(each.description or "" for each in self.results))
        rows: dict[str, dict[str, str]] = {}
        for each in self.results:
            rows.setdefault(each.title, {})[each.description or ""] = _text(each.median)
        wide = max((len(title) for title in rows), default=0)
        widths = [max(len(c), *(len(r.get(c, "")) for r in rows.values()), 1) for c in columns]
        lines = [[" " * wide, *(c.rjust(w) for c, w in zip(columns, widths, strict=True))]]
        for title, cells in rows.items():
            found = [cells.get(c, "").rjust(w) for c, w in zip(columns, widths, strict=True)]
            lines.append([title.ljust(wide), *found])
        return "\n".join("  ".join(line) for line in lines)
