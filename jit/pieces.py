"""The calls that go on after a break: graph, operation, graph, operation ... in one flat loop.

In: the objects that a program handed over at its break. Out: what the function returns. Each place
has a cache of its own, with guards, found through the operation that leads there; a loop that
breaks in its body comes back to the same places and uses what was compiled for them.

    values = program(x, y)              # the graph so far, and the side effects in order
    turn, values = stop.perform(values) # Python does the one operation
    values = turn.cache ... (values)    # what was compiled from there on

When an operation inside a graph fails, nothing of that piece has happened: the rest of the function
runs as Python from where the piece began. When a piece cannot be compiled, the error is raised
where it would begin: the with blocks that are open there end, what stands in finally is done.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import CodeType
from typing import Any, Protocol

from minitorch2 import artifacts
from minitorch2.artifacts import Span
from minitorch2.jit.autodiff.runtime import GraphFailed
from minitorch2.jit.capture.graph_break import GraphBreak
from minitorch2.jit.capture.resume.frames import of_program
from minitorch2.jit.capture.resume.place import Place
from minitorch2.jit.capture.resume.splice import Rest
from minitorch2.jit.capture.resume.stop import Stop, way_to_handler

MAX_DEPTH = 25  # calls that go on inside one another; Python's own stack is needed for each
_depth = threading.local()


class PlaceCache(Protocol):
    """What was compiled for one place."""

    fn: Callable[..., Any]  # the rest of the function, as Python

    def entry_for(self, values: tuple) -> Any:
        """The entry whose guards hold, compiled if need be; None when Python is to run."""


class Family(Protocol):
    """The caches of one compiled function: its places, and the functions it calls at breaks."""

    def at(self, place: Place) -> PlaceCache:
        """The cache of a place."""

    def called(self, code: CodeType, callee: Any) -> Any:
        """A function that is called at a break, compiled by itself."""


class Piece:
    """A program that ends at a break, and all that comes after it: called like the function."""

    __slots__ = ("family", "host", "stop", "rest")

    def __init__(self, family: Family, host: Callable[..., tuple], stop: Stop):
        self.family, self.host, self.stop = family, host, stop
        self.rest: Rest | None = None if stop.operation is not None else Rest(stop.place)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return go_on(self, self.host(*args, **kwargs))


def go_on(piece: Piece, values: tuple) -> Any:
    """From a break to the end of the function."""
    family = piece.family
    depth = getattr(_depth, "count", 0)
    compiled = family.called if depth < MAX_DEPTH else _as_it_is
    _depth.count = depth + 1
    try:
        while True:
            if piece.rest is not None:
                return piece.rest(*values)
            turn, values = piece.stop.perform(values, compiled)
            cache = turn.cache
            if cache is None:
                cache = turn.cache = family.at(turn.place)
            failure: Exception | None = None
            try:
                entry = cache.entry_for(values)
                run = None if entry is None else entry.run
                if run is not None and type(run) is not Piece:
                    return run(*values)
                values = values if run is None else run.host(*values)
            except GraphFailed:
                run = None  # left before Python runs, which would see the exception as active
            except Exception as error:
                caught = way_to_handler(turn.place, turn.place.index)
                if caught is None:
                    raise
                failure = error
            if failure is not None:
                assert caught is not None
                values = caught.values(values, (failure,))
                failure = None  # its traceback holds this frame: a circle
                return family.at(caught.place).fn(*values)
            if run is None:
                return cache.fn(*values)
            piece = run
    except BaseException as error:
        error.__traceback__ = of_program(error.__traceback__)
        raise
    finally:
        _depth.count = depth
        values = ()  # an exception among them holds this frame: a circle


def _as_it_is(code: CodeType, callee: Any) -> Any:
    detail = f"{code.co_qualname}() is called at a break, {MAX_DEPTH} such calls deep"
    stopped = GraphBreak("too-long", detail, Span(code.co_filename, code.co_firstlineno))
    artifacts.emit("capture.break", code.co_qualname, stopped.text(), code=stopped.row.code,
                   detail=detail, where=str(stopped.span))  # fmt: skip
    return callee
