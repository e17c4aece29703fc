"""What a call of a compiled function costs around its kernels: guards, dispatch, capture.

    python tests/bench/guards.py

Prints processor time, medians: guards and dispatch of a function with ten tensor inputs, a
builtin called plainly, capture of a transformer of 12 layers and of Python loops, by length.
"""

import statistics
import time

import minitorch2 as torch
from minitorch2 import compiling, nn
from minitorch2.jit.capture.program import capture


def median(step, repeats, rounds=15):
    """Seconds of one step: the median of some rounds."""
    found = []
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(repeats):
            step()
        found.append((time.process_time() - start) / repeats)
    return statistics.median(found)


def guards_and_dispatch():
    """A call of ten tensors in which the compiled graph does nothing."""

    def ten(a, b, c, d, e, f, g, h, i, j):
        return a + b + c + d + e + f + g + h + i + j

    tensors = [torch.ones(4, 4) for _ in range(10)]
    compiling.backends["nothing"] = lambda: lambda program, options: lambda inputs: [inputs[0]]
    run = torch.compile(ten, backend="nothing")
    run(*tensors)
    (entry,) = next(iter(run.cache.entries.values()))
    check = median(lambda: entry.check(*tensors), 2000)
    whole = median(lambda: run(*tensors), 2000)
    plain = median(lambda: max(*tensors, key=id), 2000)
    print(f"ten tensors: guards {check * 1e6:.2f} us, whole call {whole * 1e6:.2f} us "
          f"(a plain builtin call with a key: {plain * 1e6:.2f} us)")  # fmt: skip


def transformer():
    """Capture of 12 encoder layers."""
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    model = nn.TransformerEncoder(layer, 12)
    x = torch.ones(2, 8, 64)
    model(x)
    found = [_capture(model, x) for _ in range(5)]
    print(f"12 layers: {min(found):.3f} s to capture (median {statistics.median(found):.3f})")


def _capture(fn, *args):
    start = time.process_time()
    capture(fn, args, {}, unit="bench:fn#0")
    return time.process_time() - start


def loops():
    """Capture of a loop, by its length."""

    def loop(x, n):
        for i in range(n):
            x = x * 2 + i
        return x

    for count in (250, 500, 1000, 2000):
        seconds = min(_capture(loop, torch.ones(3), count) for _ in range(3))
        print(f"{2 * count} operations: {seconds:.3f} s, {seconds / count / 2 * 1e6:.0f} us each")


if __name__ == "__main__":
    guards_and_dispatch()
    transformer()
    loops()
