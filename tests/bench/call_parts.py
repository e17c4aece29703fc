"""Where the microseconds of a compiled call on small tensors go: ten inputs, one result.

    python tests/bench/call_parts.py [--rounds N]

Each line is the smallest mean of many rounds of a part, called by itself; the empty call is what a
line costs that does nothing.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import minitorch2 as torch
from minitorch2.jit.autodiff.runtime import CompiledProgram
from minitorch2.layouts import row_major

CALLS = 2000


def microseconds(call: Callable[[], Any], rounds: int) -> float:
    """The smallest mean of a round."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        best = min(best, (time.perf_counter() - start) / CALLS)
    return best * 1e6


def parts(inputs: list[Any]) -> dict[str, Callable[[], Any]]:
    """Name and call of each part."""

    @torch.compile
    def function(a, b, c, d, e, f, g, h, i, j):
        return a * b + c * d + e * f + g * h + i * j

    function(*inputs)
    [entry] = function.cache.all_entries()
    program: Any = entry.compiled.run
    assert isinstance(program, CompiledProgram)
    host = program.forward.run  # type: ignore[attr-defined]
    names = host.__globals__
    single, result = np.dtype(np.float32), np.empty(8, np.float32)
    arrays = (*(each.array for each in inputs), result)
    layout, kinds = row_major((8,)), b"r" * len(inputs)
    return {
        "an empty call": lambda: None,
        "the whole call": lambda: function(*inputs),
        "its guards": lambda: entry.check(*inputs),
        "the captured function": lambda: entry.run(*inputs),
        "of it the host function": lambda: host(inputs),
        "  arrays of the inputs": lambda: names["arrays"](inputs, kinds),
        "  memory for the result": lambda: names["empty"]((8,), single, 32),
        "  the launch": lambda: names["kernel_0"](8, arrays, (), (), 1.0),
        "  the result's tensor": lambda: names["tensor"](result, layout, torch.float32, 32),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=40)
    given = parser.parse_args()
    torch.set_num_threads(1)
    for name, call in parts([torch.rand(8) for _ in range(10)]).items():
        print(f"{name:<26} {microseconds(call, given.rounds):7.3f} us")


if __name__ == "__main__":
    main()
