"""Where the time of compiling goes: every stage runs inside a phase, and a clock adds them up.

In: stages enter `phase(name)`. Out: for whoever is `measuring`, the seconds of each phase without
those of the phases inside it, so that they add up. Otherwise nothing is measured. Unlike a
subscriber to the stages, a clock changes nothing: programs are still looked for on disk.

    >>> with measuring() as seconds:
    ...     with phase("loops.fused"), phase("kernel.source"):
    ...         pass
    >>> sorted(seconds)
    ['kernel.source', 'loops.fused']

Source: -ftime-report of gcc, -ftime-trace of clang.
"""

import contextlib
import threading
import time
from collections.abc import Iterator

_local = threading.local()
_seconds: dict[str, float] | None = None


@contextlib.contextmanager
def measuring() -> Iterator[dict[str, float]]:
    """Add up the phases of all threads from now on; seconds by name, as they are known."""
    global _seconds
    before = _seconds
    _seconds = {}
    try:
        yield _seconds
    finally:
        _seconds = before


@contextlib.contextmanager
def phase(name: str) -> Iterator[None]:
    """What happens inside is this phase, but for the phases that are entered meanwhile."""
    seconds = _seconds
    if seconds is None:
        yield
        return
    inner: list[float] = _local.__dict__.setdefault("inner", [])
    inner.append(0.0)
    start = time.perf_counter()
    try:
        yield
    finally:
        whole = time.perf_counter() - start
        seconds[name] = seconds.get(name, 0.0) + whole - inner.pop()
        if inner:
            inner[-1] += whole
