"""torch.profiler: which operations ran, how often and how long.

In: a `with profile():` block. Out: its events: `key_averages().table()` sums them up by name, and
`export_chrome_trace` writes them for chrome://tracing. An operation's time includes those it is
made of; `self` time does not. While a profiler records, compiled functions run as they were
written, operation by operation; what their kernels take is in the report of `mt2 explain`.

    >>> import minitorch2 as torch
    >>> with profile() as found:
    ...     _ = torch.ones(3) + 1
    >>> [event.count for event in found.key_averages() if event.key == "add"]
    [1]

Source: torch.profiler.
"""

import contextlib
import enum
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from minitorch2.dispatch import Mode, below_modes, call, state, stays_whole


class ProfilerActivity(enum.Enum):
    """What is watched: only the CPU is there."""

    CPU = 0
    CUDA = 2
    XPU = 3


class ProfilerAction(enum.Enum):
    """What a schedule says of a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


@dataclass
class Event:
    """One operation or record_function block: microseconds since the profiler began."""

    name: str
    start: float
    end: float
    thread: int
    shapes: list
    inside: float = 0.0  # microseconds of the operations it called

    @property
    def cpu_time_total(self) -> float:
        """Microseconds it took."""
        return self.end - self.start


@dataclass
class Averages:
    """All events of one name."""

    key: str
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0

    @property
    def cpu_time(self) -> float:
        """Microseconds of one event, on average."""
        return self.cpu_time_total / self.count


class EventAverages(list):
    """Averages, one for each name."""

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        """The averages as text, the largest `sort_by` first ('cpu_time_total', 'count' ...)."""
        rows = list(self)
        if sort_by is not None:
            name = sort_by.replace("cuda", "cpu").replace("device", "cpu")
            rows.sort(key=lambda each: getattr(each, name), reverse=True)
        whole = sum(each.self_cpu_time_total for each in self) or 1.0
        head = ("Name", "Self CPU %", "Self CPU", "CPU total", "CPU time avg", "# of Calls")
        lines = [head]
        for each in rows[: row_limit if row_limit > 0 else None]:
            share = f"{100 * each.self_cpu_time_total / whole:.2f}%"
            times = (each.self_cpu_time_total, each.cpu_time_total, each.cpu_time)
            lines.append((each.key, share, *(f"{t:.3f}us" for t in times), str(each.count)))
        widths = [max(len(line[at]) for line in lines) for at in range(len(head))]
        texts = ["  ".join(c.rjust(w) for c, w in zip(li, widths, strict=True)) for li in lines]
        rule = "  ".join("-" * width for width in widths)
        return "\n".join(
            [rule, texts[0], rule, *texts[1:], rule, f"Self CPU time total: {whole:.3f}us"]
        )

    def total_average(self) -> Averages:
        """All of them together."""
        found = Averages("Total")
        for each in self:
            found.count += each.count
            found.cpu_time_total += each.cpu_time_total
            found.self_cpu_time_total += each.self_cpu_time_total
        return found


_active: list["profile"] = []


class _Watch(Mode):
    """Sees every operation of the thread while a profiler records."""

    def __init__(self, owner: "profile"):
        self.owner = owner

    def handle(self, op: Any, args: tuple) -> Any:
        """Run the operation, the ones it is made of under watch too, and note its time."""
        shapes = [list(a.shape) for a in args if hasattr(a, "shape")] if self.owner.shapes else []
        with self.owner.event(op.name, shapes):
            before = state.modes
            if op.decomp is None or before and stays_whole(op, args):
                return call(op, args)
            state.modes = (*before, self)
            try:
                return below_modes(op, args)
            finally:
                state.modes = before


class profile:
    """Records the operations of its block; with a `schedule`, of the steps that it names.

    `on_trace_ready(profile)` is called after each cycle of the schedule, and at the end of a block
    without one.
    """

    def __init__(
        self,
        enabled: Any = True,
        *,
        activities: Iterable | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable | None = None,
        record_shapes: bool = False,
        **options: Any,
    ):
        self.enabled = enabled if isinstance(enabled, bool) else True
        self.schedule, self.on_trace_ready, self.shapes = schedule, on_trace_ready, record_shapes
        self.recorded: list[Event] = []
        self.step_num = 0
        self._open: list[Event] = []
        self._began = 0.0
        self._watch: _Watch | None = None

    def __enter__(self) -> "profile":
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin."""
        self._began = time.perf_counter()
        if self.enabled:
            self._follow(self._action())

    def stop(self) -> None:
        """End, and hand the events to `on_trace_ready`."""
        was_recording = self._watch is not None
        self._unwatch()
        if self.on_trace_ready is not None and (was_recording or self.schedule is None):
            self.on_trace_ready(self)

    def step(self) -> None:
        """The next step of the schedule begins."""
        done = self._action()
        self.step_num += 1
        if done is ProfilerAction.RECORD_AND_SAVE:
            self._unwatch()
            if self.on_trace_ready is not None:
                self.on_trace_ready(self)
        self._follow(self._action())

    def _action(self) -> ProfilerAction:
        return self.schedule(self.step_num) if self.schedule else ProfilerAction.RECORD

    def _follow(self, action: ProfilerAction) -> None:
        recording = action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if recording and self._watch is None:
            self._watch = _Watch(self)
            state.modes = (*state.modes, self._watch)
            _active.append(self)
        elif not recording:
            self._unwatch()

    def _unwatch(self) -> None:
        if self._watch is not None:
            state.modes = tuple(each for each in state.modes if each is not self._watch)
            _active.remove(self)
            self._watch = None

    @contextlib.contextmanager
    def event(self, name: str, shapes: list) -> Iterator[None]:
        """Note what the block takes, as an event of that name."""
        found = Event(name, self._now(), 0.0, threading.get_ident(), shapes)
        self._open.append(found)
        try:
            yield
        finally:
            self._open.pop()
            found.end = self._now()
            if self._open:
                self._open[-1].inside += found.cpu_time_total
            self.recorded.append(found)

    def _now(self) -> float:
        return (time.perf_counter() - self._began) * 1e6

    def events(self) -> list[Event]:
        """Everything recorded, in the order in which it ended."""
        return list(self.recorded)

    function_events = property(events)

    def key_averages(self, *args: Any, **options: Any) -> EventAverages:
        """The events summed up by name."""
        found: dict[str, Averages] = {}
        for event in self.recorded:
            each = found.setdefault(event.name, Averages(event.name))
            each.count += 1
            each.cpu_time_total += event.cpu_time_total
            each.self_cpu_time_total += event.cpu_time_total - event.inside
        return EventAverages(found.values())

    def table(self, **options: Any) -> str:
        """key_averages() as text."""
        return self.key_averages().table(**options)

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events, each counted once."""
        return sum(event.cpu_time_total - event.inside for event in self.recorded)

    def export_chrome_trace(self, path: str) -> None:
        """Write the events as chrome://tracing reads them."""
        events = [
            {"ph": "X", "name": e.name, "ts": e.start, "dur": e.cpu_time_total, "pid": 0,
             "tid": e.thread, "args": {"Input Dims": e.shapes}}
            for e in self.recorded
        ]  # fmt: skip
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events}, file)


class record_function(contextlib.ContextDecorator):
    """A block of its own name among the events of the profilers that record."""

    def __init__(self, name: str, args: str | None = None):
        self.name = name
        self._blocks = contextlib.ExitStack()

    def __enter__(self) -> "record_function":
        for each in _active:
            self._blocks.enter_context(each.event(self.name, []))
        return self

    def __exit__(self, *exc: object) -> None:
        self._blocks.close()


def kineto_available() -> bool:
    """Whether torch's tracer is there: no, profile() watches operations here."""
    return False


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0
) -> Callable[[int], ProfilerAction]:
    """Cycles of steps: `wait` unwatched, `warmup` unwatched, `active` recorded; `repeat` times."""

    def action(step: int) -> ProfilerAction:
        step -= skip_first
        cycle = wait + warmup + active
        if step < 0 or (repeat and step >= repeat * cycle):
            return ProfilerAction.NONE
        place = step % cycle
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(dir_name: str, worker_name: str | None = None) -> Callable:
    """An on_trace_ready that writes chrome traces into a folder."""

    def handle(found: profile) -> None:
        found.export_chrome_trace(
            f"{dir_name}/{worker_name or 'worker'}.{found.step_num}.pt.trace.json"
        )

    return handle
