"""Attention over long sequences beside torch's: milliseconds, and how far the peak of memory grows.

    python tests/bench/attention.py [--rounds N] [--lengths 512 2048]

8 heads of 64 numbers, one sequence. Each figure is of a process of its own: the median of five
calls of scaled_dot_product_attention, without gradients and with a backward, and the growth of
VmHWM in MiB from before the first call to the end, eagerly and, for minitorch2, compiled. Both
libraries run in turn with two threads; the medians of the rounds are shown. Without torch only
minitorch2's figures are printed.
"""

import argparse
import functools
import importlib
import importlib.util
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

LIBRARIES = [name for name in ("torch", "minitorch2") if importlib.util.find_spec(name)]
WAYS = [*LIBRARIES, "minitorch2 compiled"]
HEADS, WIDTH, CALLS, THREADS = 8, 64, 5, 2


def peak_kibibytes() -> int:
    """The peak of this process's memory so far."""
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1])


def median_milliseconds(call: Callable[[], object]) -> float:
    """Of a few calls, after one that is not counted."""
    call()
    taken = []
    for _ in range(CALLS):
        start = time.perf_counter()
        call()
        taken.append((time.perf_counter() - start) * 1e3)
    return statistics.median(taken)


def measure(way: str, length: int, causal: bool) -> None:
    """Print milliseconds forward, forward and backward, and the growth of the peak in MiB."""
    library, *compiled = way.split()
    lib = importlib.import_module(library)
    lib.set_num_threads(THREADS)
    compute = lib.nn.functional.scaled_dot_product_attention
    if compiled:
        compute = lib.compile(compute, dynamic=False)

    def inputs(length: int) -> list:
        shape = (1, length, HEADS, WIDTH)
        return [lib.rand(shape).transpose(1, 2).requires_grad_() for _ in range(3)]

    def forward(given: list) -> None:
        with lib.no_grad():
            compute(*given, is_causal=causal)

    def both(given: list) -> None:
        compute(*given, is_causal=causal).sum().backward()

    both(inputs(64))  # what is loaded at the first use
    given = inputs(length)
    before = peak_kibibytes()
    times = [median_milliseconds(functools.partial(call, given)) for call in (forward, both)]
    print(*times, (peak_kibibytes() - before) / 1024)


def main() -> None:
    """Run both libraries in turn and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lengths", type=int, nargs="+", default=[512, 2048])
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        way, length, causal = options.measure
        measure(way, int(length), causal == "causal")
        return
    print(f"{'':32}{'forward ms':>14}{'and backward ms':>18}{'MiB':>8}")
    for length in options.lengths:
        for kind in ("plain", "causal"):
            found: dict[str, list[list[float]]] = {name: [] for name in WAYS}
            for _ in range(options.rounds):
                for name in WAYS:
                    command = [sys.executable, __file__, "--measure", name, str(length), kind]
                    done = subprocess.run(command, capture_output=True, text=True, check=True)
                    found[name].append([float(word) for word in done.stdout.split()])
            for name in WAYS:
                one, two, memory = map(statistics.median, zip(*found[name], strict=True))
                title = f"{length} {kind} {name}"
                print(f"{title:32}{one:14.1f}{two:18.1f}{memory:8.0f}", flush=True)


if __name__ == "__main__":
    main()
