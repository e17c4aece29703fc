"""`capture`: one call of a function to a captured program.

In: a function or module and the arguments of one call. Out: a `CapturedProgram` with the graph,
the guards under which it may be used again, and `bind`, which makes the host function from a
compiled graph; or a `GraphBreak`, whose `guards` say for which calls it would break again.

    program = capture(fn, (x,), {}, unit="fn#0", dynamic=None)
    run = program.bind(compile_somehow(program.graph))
    if program.guards.check(x): run(x)

Nothing that the function does has happened when `capture` returns.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from minitorch2.jit.capture.attempt import Attempt
from minitorch2.jit.capture.captured import CapturedProgram
from minitorch2.jit.capture.graph_break import GraphBreak
from minitorch2.jit.capture.resume.place import Place

FreeSizes = Mapping[str, frozenset[int]]


def capture(
    fn: Any,
    args: tuple,
    kwargs: dict[str, Any],
    *,
    unit: str,
    dynamic: bool | None = None,
    free_sizes: FreeSizes | None = None,
    place: Place | None = None,
    resume: bool = False,
    in_place: Mapping[str, Callable[[Any], Any]] | None = None,
) -> CapturedProgram:
    """Capture one call. Raises GraphBreak (with `guards`) where it cannot be captured.

    `free_sizes` names the dimensions that changed before, by source text: they become symbolic.
    `place`: start there, in the middle of a function; `args` are what stands there. `resume`: a
    break ends the program, whose `stop` says how the call goes on, instead of being raised.
    `in_place`: for a trial, what would stand at a source instead, made from what stands there.
    """
    chosen = _chooser(dynamic, free_sizes or {})
    step: int | None = None
    reason: GraphBreak | None = None
    while True:
        attempt = Attempt(fn, args, kwargs, unit, chosen, place, step, reason, resume)
        attempt.machine.in_place = in_place or {}
        try:
            program = attempt.run()
            attempt.tell(program)
            attempt.forget()
            return program
        except Exception as error:
            found = attempt.stopped(error)
            earlier = attempt.earlier_step(error, step) if resume else None
            if earlier is None:
                if reason is not None and found is not reason:
                    reason.detail += f"; and what stands there cannot be kept: {found.detail}"
                    reason.guards = found.guards
                stopped = attempt.told(reason or found)
                attempt.forget()
                raise stopped from (None if found is error else error)
            step, reason = earlier, attempt.reason_at(error, found).forgetful()
        attempt.forget()  # only now: the traceback of what stopped it holds it too


def _chooser(dynamic: bool | None, free: FreeSizes) -> Callable[[str], Any]:
    """Which dimensions of an input are symbolic: all, none, or those that changed before."""
    if dynamic is True:
        return lambda name: True
    if dynamic is False:
        return lambda name: frozenset()
    return lambda name: free.get(name, frozenset())


def is_disabled(fn: Any) -> bool:
    """Whether a function is marked to run as Python."""
    return "_minitorch2_disabled" in getattr(fn, "__dict__", ())


def is_plain_python(fn: Any) -> bool:
    """Whether a function always runs as Python: generators, coroutines, functions so marked."""
    return (
        is_disabled(fn)
        or inspect.isgeneratorfunction(fn)
        or inspect.iscoroutinefunction(fn)
        or inspect.isasyncgenfunction(fn)
    )
