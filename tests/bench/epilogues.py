"""What a kernel behind a product could gain by running while each part of it is in the cache.

    MT2_THREADS=1 python tests/bench/epilogues.py

In: nothing. Out: for a bias, a bias with an activation, and a bias with a residual behind products
of several shapes, in microseconds: the product alone; the same product in bands of rows small
enough for the cache; what the kernel behind it takes now, with the product in memory; what it takes
over one band that stays in the cache, times their number; and what the product with its kernel
would gain at best, were bands free. One thread, so that all columns are the same work.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import minitorch2 as torch
from minitorch2.nn import functional as F

BAND = 32_768  # elements of a product: 128 kB
SHAPES = (
    ("bias", 1024, 128, 384), ("gelu", 1024, 128, 512), ("residual", 1024, 512, 128),
    ("gelu", 128, 784, 512), ("bias", 1024, 256, 768), ("relu", 1024, 256, 1024),
)  # fmt: skip
HEAD = ("behind it", "rows", "terms", "columns", "product", "in bands", "kernel", "in cache",
        "gain")  # fmt: skip
BEHIND: dict[str, Callable[..., Any]] = {
    "bias": lambda x, b: x + b,
    "gelu": lambda x, b: F.gelu(x + b, approximate="tanh"),
    "relu": lambda x, b: torch.relu(x + b),
    "residual": lambda x, b, before: before + (x + b),
}
Calls = Sequence[tuple[Callable[..., Any], tuple[Any, ...]]]


def microseconds(calls: Calls, rounds: int) -> list[float]:
    """The median time of each call, all called in turn."""
    found: list[list[float]] = [[] for _ in calls]
    for number in range(rounds + 3):
        for times, (run, given) in zip(found, calls, strict=True):
            start = time.perf_counter()
            run(*given)
            if number >= 3:
                times.append(time.perf_counter() - start)
    return [statistics.median(times) * 1e6 for times in found]


def row(name: str, rows: int, terms: int, columns: int) -> tuple[str, ...]:
    """One line of the table."""
    behind, band = BEHIND[name], max(16, BAND // columns)
    x, weight, bias = torch.randn(rows, terms), torch.randn(columns, terms), torch.randn(columns)
    more = (torch.randn(rows, columns),) if name == "residual" else ()
    product = torch.compile(lambda x, w: x @ w.t())
    both = torch.compile(lambda x, w, *given: behind(x @ w.t(), *given))
    alone = torch.compile(behind)
    nothing = torch.compile(lambda x: x + 1)
    part = (x @ weight.t())[:band].clone()
    inside = (part, bias, *(each[:band].clone() for each in more))
    plain, joined = microseconds([(product, (x, weight)), (both, (x, weight, bias, *more))], 25)
    cached, call, short = microseconds(
        [(alone, inside), (nothing, (torch.zeros(4),)), (product, (x[:band].clone(), weight))], 100
    )
    bands = rows / band
    now, best = joined - plain, (cached - call) * bands
    numbers = (plain, short * bands, now, best)
    return (name, str(rows), str(terms), str(columns), *(f"{each:.1f}" for each in numbers),
            f"{(now - best) / joined:.1%}")  # fmt: skip


def main() -> None:
    """Print the table."""
    print("  ".join(f"{each:>9}" for each in HEAD))
    with torch.no_grad():
        for shape in SHAPES:
            print("  ".join(f"{each:>9}" for each in row(*shape)), flush=True)


if __name__ == "__main__":
    main()
