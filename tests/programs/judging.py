"""A program compiled and not: every difference in words.

In: a seed and a backend. Out: complaints, each with the program's text; none when all is equal.
"""

from random import Random
from typing import Any

import minitorch2
from tests.programs.running import differences, function_of, run
from tests.programs.writing import Program, write

BACKENDS = ("eager", "aot_eager", "interpreter", "numba")
CALLS = (4, 4, 6, 5, 1, 0)  # batch sizes, one call each
LENGTH = 14


def complaints(seed: int, backend: str, length: int = LENGTH) -> list[str]:
    """What a seed's program does otherwise when it is compiled."""
    program = write(seed, length)
    dynamic = Random(seed).choice([None, None, True, False])
    calls = CALLS[:3] if dynamic is False else CALLS  # each size is another program then
    want = run(program, minitorch2, function_of(program, minitorch2), calls)
    function = function_of(program, minitorch2)
    compiled = minitorch2.compile(function, backend=backend, dynamic=dynamic)
    got = run(program, minitorch2, compiled, calls)
    internal = [text for text in map(str, compiled.cache.breaks) if "[internal]" in text]
    if internal:
        return [_report(program, backend, dynamic, 0, internal)]
    bitwise = backend in ("eager", "aot_eager") or program.exact
    for batch, expected, found in zip(calls, want, got, strict=True):
        wrong = differences(expected, found, bitwise)
        if wrong:
            return [_report(program, backend, dynamic, batch, wrong)]
    return []


def torch_complaints(seed: int, torch: Any, length: int = LENGTH) -> list[str]:
    """What a seed's program does otherwise in torch."""
    program = write(seed, length)
    if program.random:
        return []
    want = run(program, torch, function_of(program, torch), CALLS)
    got = run(program, minitorch2, function_of(program, minitorch2), CALLS)
    for batch, expected, found in zip(CALLS, want, got, strict=True):
        wrong = differences(expected, found, False, torch=True)
        if wrong:
            return [_report(program, "torch", None, batch, wrong)]
    return []


def _report(
    program: Program, backend: str, dynamic: bool | None, batch: int, wrong: list[str]
) -> str:
    inputs = "\n".join(map(str, program.inputs))
    what = "\n  ".join(wrong)
    return (
        f"seed {program.seed}, {backend}, dynamic={dynamic}, batch {batch}:\n  {what}\n"
        f"{program.text}{inputs}"
    )
