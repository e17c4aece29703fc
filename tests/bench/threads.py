"""What the shared threads cost and give: launches, kernel and product in turn, batches.

    python tests/bench/threads.py [--threads N] [--seconds S]

Prints medians and minima in microseconds. "in turn" is a kernel and a large product one after the
other, beside the sum of both measured alone: the quotient is 1 where they do not disturb each
other. The product is our own, in pieces; numpy's, whose jobs run on our threads; and numpy's with
OpenBLAS's threads beside ours. Other processes on the
machine meet all lines alike, but not at the same time: run it on a quiet one, or several times.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from minitorch2.backends import blas
from minitorch2.config import config
from minitorch2.kernels.runtime import pool
from minitorch2.kernels.runtime.compile import compile_kernel
from minitorch2.kernels.runtime.launcher import direct
from minitorch2.kernels.runtime.products import multiply
from minitorch2.kernels.runtime.signature import KernelSignature

NOTHING = "def nothing(lo, hi, y, status):\n    y[lo] = f32(1.0)\n"
TANH = "def body(lo, hi, x, y, status):\n    for i in range(lo, hi):\n        y[i] = tanh(x[i])\n"


def measure(label: str, seconds: float, *calls: Callable[[], object]) -> float:
    """Time the calls, one after the other, again and again; the median of a round in seconds."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        for call in calls:
            call()
        times.append(time.perf_counter() - start)
    median = statistics.median(times)
    print(f"{label:<42}{median * 1e6:12.2f} us   at least {min(times) * 1e6:10.2f}", flush=True)
    return median


def launches(seconds: float) -> None:
    """An empty kernel, launched in every way there is."""
    kernel = compile_kernel(NOTHING, KernelSignature(("f32",)))
    launch = direct(kernel.address, kernel.signature, kernel)
    y = np.zeros(128, np.float32)
    measure("nothing at all", seconds, lambda: None)
    if launch is not None:
        measure("empty launch", seconds, lambda: launch(1, (y,), (), (), 1.0))
        measure("empty launch, all threads", seconds, lambda: launch(128, (y,), (), (), 1e6))
    measure("empty launch by ctypes", seconds, lambda: kernel.launch(1, (y,)))


def in_turn(seconds: float) -> None:
    """A kernel and a product, alone and in turn."""
    kernel = compile_kernel(TANH, KernelSignature(("f32", "f32")))
    launch = kernel.direct()
    x = np.linspace(-3, 3, 1 << 19, dtype=np.float32)
    y = np.empty_like(x)
    a = np.random.default_rng(0).normal(size=(640, 640)).astype(np.float32)
    b, c = a.copy(), np.empty_like(a)
    ours, numpys = (lambda: blas.product(a, b, c)), (lambda: np.matmul(a, b, out=c))
    for owner, multiplied in (("pieces", ours), ("numpy", numpys), ("numpy, own threads", numpys)):
        if "own" in owner:
            blas.set_callback(None)
        calls = (lambda: launch(x.size, (x, y), (), (), 1.0)), multiplied
        alone = [
            measure(f"{name}, {owner}", seconds, call)
            for name, call in zip(("kernel", "product"), calls, strict=True)
        ]
        both = measure(f"in turn, {owner}", seconds, *calls)
        print(f"{'in turn / sum':<42}{both / sum(alone):12.2f}")


def batches(seconds: float) -> None:
    """The products of an attention: numpy on several threads, on one, spread."""
    random = np.random.default_rng(0).normal(size=(2, 8, 128, 8, 64)).astype(np.float32)
    q, k = random[0].swapaxes(1, 2), random[1].transpose(0, 2, 3, 1)
    out = np.empty((8, 8, 128, 128), np.float32)

    def one() -> None:
        with blas.one_thread():
            np.matmul(q, k, out=out)

    measure("batch, BLAS on all threads", seconds, lambda: np.matmul(q, k, out=out))
    measure("batch, BLAS on one thread", seconds, one)
    measure("batch, in pieces", seconds, lambda: multiply(q, k, out))


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1.0)
    given = parser.parse_args()
    config.threads = given.threads
    pool.pool.grow(given.threads or blas.threads())
    launches(given.seconds)
    batches(given.seconds)
    in_turn(given.seconds)


if __name__ == "__main__":
    main()
