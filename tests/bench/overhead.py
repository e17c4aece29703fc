"""What minitorch2 costs before any work is done, beside torch: import, eager and compiled calls.

    python tests/bench/overhead.py [--rounds N] [--only TEXT]

Each round measures both libraries in turn, so that whatever else the machine does meets both; the
ratio is the median of the rounds' ratios torch / minitorch2 (above 1: minitorch2 is faster). An
import is measured in a fresh process, warm file cache, bytecode written; a call on tensors of four
elements, with one thread. Without torch (extra "parity") only minitorch2's own times are printed.
"""

import argparse
import importlib
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from types import ModuleType

LIBRARIES = [name for name in ("torch", "minitorch2") if importlib.util.find_spec(name)]
BYTECODE = tempfile.TemporaryDirectory()  # imports find their own bytecode here
ROUND_SECONDS = 0.02


def eager(text: str) -> Callable[[ModuleType], Callable[[], object]]:
    """A maker of calls of one expression over small tensors; `g` and `w` require a gradient."""

    def make(lib: ModuleType) -> Callable[[], object]:
        names = {
            "torch": lib,
            "F": lib.nn.functional,
            "x": lib.ones(4),
            "y": lib.ones(4),
            "m": lib.ones(4, 4),
            "g": lib.ones(4, requires_grad=True),
            "w": lib.ones(4, 4, requires_grad=True),
            "linear": lib.nn.Linear(4, 4),
        }
        return eval(f"lambda: {text}", names)

    return make


def backward(lib: ModuleType) -> Callable[[], object]:
    """Twenty products in a row and their backward."""
    x, y = lib.ones(4, requires_grad=True), lib.ones(4)

    def run() -> None:
        z = x
        for _ in range(20):
            z = z * y
        z.sum().backward()
        x.grad = None

    return run


def optimizer_step(name: str) -> Callable[[ModuleType], Callable[[], object]]:
    """A step of an optimizer over twenty parameters of 16 elements."""

    def make(lib: ModuleType) -> Callable[[], object]:
        parameters = [lib.nn.Parameter(lib.ones(4, 4)) for _ in range(20)]
        for each in parameters:
            each.grad = lib.ones(4, 4)
        return getattr(lib.optim, name)(parameters, lr=1e-3).step

    return make


def compiled_call(lib: ModuleType) -> Callable[[], object]:
    """A compiled function of ten tensors that adds two of them: guards, one kernel, one output."""
    inputs = [lib.ones(4) for _ in range(10)]

    @lib.compile
    def first_two(a, b, c, d, e, f, g, h, i, j):
        return a + b

    return lambda: first_two(*inputs)


EXPRESSIONS = (
    "x + y", "g + y", "x * 2.0", "1 - g", "x / y", "torch.add(x, y, alpha=2)", "x.add_(y)",
    "x > 0", "x.exp()", "F.relu(g)", "x.sum()", "w.sum(1)", "m.mean()", "m.max(1)", "m @ m",
    "w @ m", "m.t()", "w.view(16)", "m[0]", "m[:, 1:3]", "m[0, 0].item()", "torch.cat([x, y])",
    "torch.zeros(4)", "x.clone()", "torch.where(x > 0, x, y)", "x.clamp(0, 1)", "F.softmax(m, 1)",
    "linear(m)", "F.mse_loss(g, y)",
)  # fmt: skip
CALLS = {
    **{text: eager(text) for text in EXPRESSIONS},
    "20 products, backward": backward,
    "SGD step, 20 tensors": optimizer_step("SGD"),
    "Adam step, 20 tensors": optimizer_step("Adam"),
    "compiled call": compiled_call,
}


def seconds_of_import(name: str) -> float:
    """Seconds a fresh process needs for `import name`, the start of Python left out."""
    code = f"import time; t = time.perf_counter(); import {name}; print(time.perf_counter() - t)"
    given = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    given["PYTHONPYCACHEPREFIX"] = BYTECODE.name
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=given
    )
    return float(done.stdout)


def seconds_of_call(call: Callable[[], object], times: int) -> float:
    """Mean seconds of one call over `times` calls."""
    start = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - start) / times


def calls_per_round(call: Callable[[], object]) -> int:
    """How many calls fill a round, after warming up (the first calls compile)."""
    for _ in range(100):
        call()
    return max(1, int(ROUND_SECONDS / seconds_of_call(call, 100)))


def measure_imports(rounds: int) -> list[dict[str, float]]:
    """For each round, the seconds of each library's import."""
    for name in LIBRARIES:
        seconds_of_import(name)  # fills the file cache, writes the .pyc files
    return [{name: seconds_of_import(name) for name in LIBRARIES} for _ in range(rounds)]


def measure_calls(
    make: Callable[[ModuleType], Callable[[], object]], rounds: int
) -> list[dict[str, float]]:
    """For each round, the seconds of one call in each library."""
    calls = {name: make(importlib.import_module(name)) for name in LIBRARIES}
    times = {name: calls_per_round(call) for name, call in calls.items()}
    return [
        {name: seconds_of_call(call, times[name]) for name, call in calls.items()}
        for _ in range(rounds)
    ]


def report(label: str, rounds: list[dict[str, float]]) -> None:
    """Print one line: both medians in microseconds and the ratio with its quartiles."""
    cells = [f"{label:<26}"]
    for name in LIBRARIES:
        median = statistics.median(one[name] for one in rounds)
        cells.append(f"{name} {median * 1e6:10.2f} us")
    if len(LIBRARIES) == 2:
        ratios = [one["torch"] / one["minitorch2"] for one in rounds]
        low, middle, high = statistics.quantiles(ratios, n=4)
        cells.append(f"torch / minitorch2 {middle:6.2f}  [{low:.2f}, {high:.2f}]")
    print("  ".join(cells), flush=True)


def main() -> None:
    """Measure everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="rows whose name has this text in it")
    given = parser.parse_args()
    rounds = given.rounds
    for name in LIBRARIES:
        importlib.import_module(name).set_num_threads(1)
    if given.only in "import":
        numpy = statistics.median(seconds_of_import("numpy") for _ in range(5))
        print(f"{'import of numpy alone':<26}  {numpy * 1e6:10.2f} us")
        report("import", measure_imports(max(5, rounds // 3)))
    for label, make in CALLS.items():
        if given.only in label:
            report(label, measure_calls(make, rounds))


if __name__ == "__main__":
    main()
