"""A kernel and a matrix product in turn, beside each of them alone: a measuring script.

In: nothing. Out: milliseconds of gelu over a million floats, of a product of two 512 x 512
matrices, of both in turn, and the last by the sum of the first two: 1 where kernels and products
share their threads, more where idle threads of one spin against the other's.

    python tests/bench/interleave.py            # minitorch2
    python tests/bench/interleave.py torch      # torch.compile, where torch is installed

Source: medians of 200 turns.
"""

import importlib
import statistics
import sys
import time

torch = importlib.import_module("torch" if "torch" in sys.argv[1:] else "minitorch2")
ELEMENTS, SIDE, TURNS = 1 << 20, 512, 200


def median(*calls) -> float:
    """Milliseconds of the calls in turn."""
    times = []
    for _ in range(TURNS):
        start = time.perf_counter()
        for call in calls:
            call()
        times.append(time.perf_counter() - start)
    return statistics.median(times[TURNS // 10 :]) * 1e3


def main() -> None:
    """Measure and print."""
    x, a, b = torch.randn(ELEMENTS), torch.randn(SIDE, SIDE), torch.randn(SIDE, SIDE)
    gelu = torch.compile(lambda x: torch.nn.functional.gelu(x, approximate="tanh"))
    with torch.no_grad():
        kernel, product = (lambda: gelu(x)), (lambda: a @ b)
        alone = median(kernel), median(product)
        both = median(kernel, product)
    print(f"kernel {alone[0]:.3f} ms, product {alone[1]:.3f} ms, in turn {both:.3f} ms: "
          f"{both / sum(alone):.2f} of their sum")  # fmt: skip


if __name__ == "__main__":
    main()
