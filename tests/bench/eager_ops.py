"""Eager operations on tensors of the sizes that models use, beside torch's, and whole steps.

    python tests/bench/eager_ops.py [--rounds N] [--only NAME,NAME] [--threads N]

For each operation and size: microseconds of a call without gradients, and of a call that records
with its backward. Each round measures both libraries in turn; the ratio is the median of the
rounds' ratios torch / minitorch2 (above 1: minitorch2 is faster). The last lines are training
steps of the models of peak_memory.py. The first call of an operation compiles, and is not measured.
"""

import argparse
import importlib
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

sys.path.insert(0, str(Path(__file__).parent))
peak_memory = importlib.import_module("peak_memory")  # a script beside this one
SIZES = ((128, 64), (128, 256), (1024, 512))
ROUND_SECONDS = 0.01
OPERATIONS = {
    "gelu": "F.gelu(x)", "gelu tanh": "F.gelu(x, approximate='tanh')", "silu": "F.silu(x)",
    "relu": "F.relu(x)", "tanh": "x.tanh()", "sigmoid": "x.sigmoid()",
    "leaky_relu": "F.leaky_relu(x)", "elu": "F.elu(x)", "softplus": "F.softplus(x)",
    "layer_norm": "F.layer_norm(x, (c,), w, b)", "rms_norm": "F.rms_norm(x, (c,), w)",
    "softmax": "F.softmax(x, -1)", "log_softmax": "F.log_softmax(x, -1)",
    "cross_entropy": "F.cross_entropy(x, t)", "mse_loss": "F.mse_loss(x, y)",
    "bce_with_logits": "F.binary_cross_entropy_with_logits(x, m.float())",
    "batch_norm": "F.batch_norm(i, None, None, k, k, True)",
    "group_norm": "F.group_norm(i, 8, k, k)", "dropout": "F.dropout(x, 0.1)",
    "where": "torch.where(m, x, y)",
    "masked_fill": "x.masked_fill(m, 0.0)", "clamp": "x.clamp(-1, 1)", "cube": "x ** 3",
    "sum 0": "x.sum(0)", "sum 1": "x.sum(1)", "mean": "x.mean()", "amax": "x.amax(1)",
    "max": "x.max(1)[0]", "var": "x.var(1)", "std": "x.std(1)", "norm": "x.norm()",
    "logsumexp": "x.logsumexp(1)", "normalize": "F.normalize(x, dim=1)", "cumsum": "x.cumsum(1)",
    "embedding": "F.embedding(r, x)", "index_select": "x.index_select(0, r)",
    "cat": "torch.cat([x, y], 1)", "add": "x + y", "bias": "x + b",
    "transpose": "x.t().contiguous()", "max_pool2d": "F.max_pool2d(i, 2)",
    "topk": "x.topk(5, 1)[0]",
}  # fmt: skip


def operands(lib: ModuleType, rows: int, columns: int, grad: bool) -> dict[str, Any]:
    """What the expressions name: a matrix x, images i of as many elements, weights, indices."""
    draw = numpy.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return lib.from_numpy(draw.standard_normal(shape).astype("float32"))

    images = (max(rows * columns // (32 * 256), 1), 32, 16, 16)
    leaves = {"x": normal(rows, columns), "w": normal(columns), "b": normal(columns)}
    leaves |= {"i": normal(*images), "k": normal(32)}
    for leaf in leaves.values():
        leaf.requires_grad_(grad)
    return leaves | {
        "torch": lib, "F": lib.nn.functional, "c": columns, "y": normal(rows, columns),
        "t": lib.from_numpy(draw.integers(0, columns, rows)),
        "r": lib.from_numpy(draw.integers(0, rows, rows)), "m": normal(rows, columns) > 0,
    }  # fmt: skip


def make_call(lib: ModuleType, text: str, size: tuple[int, int], grad: bool) -> Callable[[], Any]:
    """The expression as a function; with `grad`, and its backward from ones."""
    names = operands(lib, *size, grad)
    forward = eval(f"lambda: {text}", names)
    if not grad:
        return forward
    start, leaves = lib.ones_like(forward()), [names[name] for name in "xwbik"]

    def both() -> None:
        forward().backward(start)
        for leaf in leaves:
            leaf.grad = None

    return both


def compared(calls: dict[str, Callable[[], Any]], rounds: int) -> str:
    """Microseconds of each library's call, and the ratio."""
    times = {}
    for name, call in calls.items():
        for _ in range(3):
            call()
        start = time.perf_counter()
        call()
        times[name] = max(1, min(500, int(ROUND_SECONDS / (time.perf_counter() - start))))
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(times[name]):
                call()
            found[name].append((time.perf_counter() - start) / times[name] * 1e6)
    ratios = [a / b for a, b in zip(found["torch"], found["minitorch2"], strict=True)]
    cells = [f"{statistics.median(each):9.1f}" for each in found.values()]
    return " ".join([*cells, f"{statistics.median(ratios):6.2f}"])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="names of operations or models, with commas")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    only = set(filter(None, given.only.split(",")))
    libraries = {name: importlib.import_module(name) for name in ("torch", "minitorch2")}
    for lib in libraries.values():
        lib.set_num_threads(given.threads)
    print(f"{'':28}  forward: torch, ours, ratio      with backward: torch, ours, ratio")
    for size in SIZES:
        for name, text in OPERATIONS.items():
            if only and name not in only:
                continue
            cells = [
                compared({n: make_call(lib, text, size, grad) for n, lib in libraries.items()},
                         given.rounds)
                for grad in (False, True)
            ]  # fmt: skip
            print(f"{size[0]:5} x {size[1]:4} {name:16} {cells[0]}  {cells[1]}", flush=True)
    for model in peak_memory.MODELS:
        if not only or model in only:
            steps = {
                n: peak_memory.make_step(lib, model, "AdamW", small=False)
                for n, lib in libraries.items()
            }
            print(f"step of {model:20} {compared(steps, given.rounds)}", flush=True)


if __name__ == "__main__":
    main()
