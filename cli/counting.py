"""Counts what the compiler made of one script, or of each function in it: the child of `mt2 count`.

In: events, while something runs. Out: `Counts`: functions compiled, graphs, ops captured, breaks by
their code, what ran as Python without being captured, recompilations.

    python -m minitorch2.cli.counting train.py '' 1     # prints one JSON object a line

Source: torch._dynamo.utils.counters.
"""

import contextlib
import fnmatch
import io
import json
import os
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from minitorch2.artifacts import Event, subscribe
from minitorch2.cli.runner import run_script

AS_PYTHON = "runs as Python"  # how a break says that nothing more of the call is captured


@dataclass
class Counts:
    """What one script, or one function of it, made of the compiler. `ended`: '' or the error."""

    name: str
    ops: int = 0
    graphs: int = 0
    breaks: Counter[str] = field(default_factory=Counter)
    fallbacks: Counter[str] = field(default_factory=Counter)
    recompiles: int = 0
    units: set[str] = field(default_factory=set)
    ended: str = ""

    def __call__(self, event: Event) -> None:
        """Count one event."""
        if event.stage.startswith("capture."):
            self.units.add(event.unit.partition("#")[0])
        if event.stage == "capture.graph":
            self.graphs += 1
            self.ops += len(event.payload.nodes)
        elif event.stage == "capture.break":
            self.breaks[event.facts["code"]] += 1
            if AS_PYTHON in event.text:
                self.fallbacks[f"{event.facts['code']} at {event.facts['where']}"] += 1
        elif event.stage == "capture.recompile":
            self.recompiles += 1
        elif event.stage == "capture.limit":
            self.fallbacks["recompile_limit"] += 1
        elif event.stage == "autodiff.refused":
            self.fallbacks["op by op"] += 1

    def row(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "name": self.name, "ops": self.ops, "graphs": self.graphs, "breaks": dict(self.breaks),
            "fallbacks": dict(self.fallbacks), "recompiles": self.recompiles,
            "units": sorted(self.units), "ended": self.ended,
        }  # fmt: skip


def count_script(script: str, pattern: str, as_torch: bool) -> Iterator[dict[str, Any]]:
    """Run a script; with a pattern, then each function without arguments whose name fits it, in a
    process of its own that begins where the script ended."""
    whole = Counts(os.path.basename(script))
    with subscribe(whole), contextlib.redirect_stdout(io.StringIO()):
        outcome = run_script(script, (), as_torch)
    whole.ended = "" if outcome.ending == "finished" else (
        f"{outcome.ending} {outcome.said or outcome.detail}")  # fmt: skip
    if not pattern or whole.graphs or whole.ended:
        yield whole.row()
    scope = vars(sys.modules["__main__"])
    for name, function in list(scope.items()) if pattern else ():
        if callable(function) and fnmatch.fnmatch(name, pattern):
            yield in_child(f"{whole.name}:{name}", function)


def in_child(name: str, function: Callable[[], Any]) -> dict[str, Any]:
    """Call one function in a process that is left behind, as it changes what others would meet."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(json.dumps(count_call(name, function).row()).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return json.loads(told) if told else Counts(name, ended="its process ended").row()


def count_call(name: str, function: Callable[[], Any]) -> Counts:
    """Call one function."""
    counts = Counts(name)
    with subscribe(counts), contextlib.redirect_stdout(io.StringIO()):
        try:
            function()
        except Exception as error:
            counts.ended = traceback.format_exception_only(error)[-1].strip().partition("\n")[0]
    return counts


def main() -> None:
    """Count the script that the command line names."""
    script, pattern, as_torch = sys.argv[1:]
    for row in count_script(script, pattern, as_torch == "1"):
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
