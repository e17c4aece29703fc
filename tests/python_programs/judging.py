"""Run a program as it is and compiled, and say what differs.

In: a program, the name of a backend. Out: a Verdict: differences in words, whether compiled kernels
ran, how often the graph broke. Results, arguments, globals and classes are compared after each of
three calls; identity, printed text and exceptions (with the lines they passed) too.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import minitorch2 as torch
from tests.jit.language.judging import described_error, difference, forget, picture
from tests.python_programs.world import arguments, namespace
from tests.python_programs.writing import Program

CALLS = 3


@dataclass
class Verdict:
    """What came of one program."""

    differences: list[str] = field(default_factory=list)
    graphs: int = 0
    nodes: int = 0
    breaks: list[str] = field(default_factory=list)
    raised: bool = False


def judge(program: Program, backend: str = "eager") -> Verdict:
    """Compare both ways of running a program."""
    file = f"<program {program.seed}>"
    linecache.cache[file] = (len(program.text), None, program.text.splitlines(True), file)
    code = compile(program.text, file, "exec")
    kept: list[Any] = []

    def compiling(fn: Any) -> Any:
        kept.append(torch.compile(fn, backend=backend))
        return kept[-1]

    wanted = _run(code, lambda fn: fn)
    got = _run(code, compiling)
    verdict = Verdict(raised=any(one["error"] for one in wanted))
    for number, (want, have) in enumerate(zip(wanted, got, strict=True)):
        verdict.differences += [
            f"call {number}, {what}: {difference(have[what], want[what])}"
            for what in want
            if want[what] != have[what]
        ]
    totals = kept[0].totals()
    verdict.graphs, verdict.nodes = totals["graphs"], totals["nodes"]
    verdict.breaks = [one.row.code for one in kept[0].cache.breaks]
    verdict.differences += [
        f"capture failed: {one.text()}"
        for one in kept[0].cache.breaks
        if one.row.code == "internal"
    ]
    linecache.cache.pop(file, None)
    return verdict


def _run(code: Any, compiling: Callable) -> list[dict[str, Any]]:
    """What each call did, in a world of its own."""
    scope = namespace()
    exec(code, scope)
    fn = compiling(scope["program"])
    return [_call(fn, scope, number) for number in range(CALLS)]


def _call(fn: Callable, scope: dict[str, Any], number: int) -> dict[str, Any]:
    given = arguments(scope, number)
    error: Any = None
    result: Any = None
    out = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(out):
        warnings.simplefilter("ignore")
        try:
            result = fn(*given)
        except Exception as raised:
            error = raised
    seen: dict[int, int] = {}
    forget()
    box, net = scope["Box"], scope["NET"]
    return {
        "error": described_error(error, seen, True),
        "arguments": picture(given, seen),
        "result": picture(result, seen),
        "globals": picture([scope[name] for name in ("COUNT", "LOG", "TABLE")], seen),
        "class": picture([box.made, box.kind, scope["Crate"].kind], seen),
        "module": picture(
            [net.calls, net.seen, net.weight, net.training, vars(net).get("last")], seen
        ),
        "printed": out.getvalue(),
        "grad mode": torch.is_grad_enabled(),
    }
