"""Whole training steps as one graph: what each model becomes, and whether it trains as eager does.

    python tests/bench/whole_steps.py [FILE] [--models mlp cnn] [--steps 50]

In: nothing, for the models of peak_memory.py; or a Python file with `train_step(name, mode)` that
gives a step function (compiled whole if `mode` is "step"), its inputs and its model, and with the
names as MODELS. Out: a line for each model: graph breaks, recompilations after
the second call, captured operations, nodes of the optimized graph, kernels before and after fusion,
launches in one step (kernels, products, eager calls), seconds of the two calls that compile, and
the largest relative difference of a loss to eager's, all in float64.
"""

import argparse
import importlib.util
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import minitorch2 as torch
from minitorch2.artifacts import Event, subscribe
from minitorch2.compat import install_as_torch
from minitorch2.compiling import emit_totals

sys.path.insert(0, str(Path(__file__).parent))
peak_memory = importlib.import_module("peak_memory")  # a script beside this one
SIZE = 8  # rows, images or sequences of its models
HEAD = ("model", "breaks", "again", "ops", "nodes", "loops", "kernels", "launches", "compile, s",
        "loss differs")  # fmt: skip


def train_step(name: str, mode: str) -> tuple[Any, tuple[Any, ...], Any]:
    """A model of peak_memory.py: its step with AdamW, its inputs, and the model."""
    torch.manual_seed(0)
    model, inputs, target = peak_memory.MODELS[name][0](torch, SIZE)
    rows = torch.randn(*inputs.shape)
    given = (rows,) if target is None else (rows, torch.arange(SIZE))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step(rows: Any, *target: Any) -> Any:
        optimizer.zero_grad()
        out = model(rows)
        loss = torch.nn.functional.cross_entropy(out, *target) if target else out.square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return (torch.compile(step, fullgraph=True) if mode == "step" else step), given, model


def workloads(file: str) -> Any:
    """The file as a module, for which `torch` is minitorch2."""
    install_as_torch()
    spec = importlib.util.spec_from_file_location("workloads", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def losses(made: Any, steps: int) -> tuple[list[float], list[float]]:
    """The losses of some steps in float64, and the seconds of each."""
    step, inputs, model = made
    model.double()
    given = [each.double() if each.is_floating_point() else each for each in inputs]
    found, seconds = [], []
    for _ in range(steps):
        start = time.perf_counter()
        found.append(step(*given).item())
        seconds.append(time.perf_counter() - start)
    return found, seconds


def row(module: Any, name: str, steps: int) -> tuple[str, ...]:
    """One line of the table."""
    expected, _ = losses(module.train_step(name, "eager"), steps)
    found, seconds = losses(module.train_step(name, "step"), steps)
    events: list[Event] = []
    step, inputs, _ = module.train_step(name, "step")
    with subscribe(events.append, also=["runtime.launches"]):
        for _ in range(3):
            step(*inputs)
        emit_totals()
    last = {event.stage: event for event in events if event.unit == events[0].unit}
    counts = last["runtime.totals"].facts
    plan = last["loops.fused"].payload
    apart = max(abs(a - b) / abs(a) for a, b in zip(expected, found, strict=True))
    return (
        name, str(counts["breaks"]), str(counts["recompiles"] - 1),
        str(len(last["capture.graph"].payload.nodes)),
        str(len(last["passes.optimized"].payload.nodes)),
        str(last["loops.lowered"].facts["kernels"]), str(last["loops.fused"].facts["kernels"]),
        str(len(plan.steps)), f"{seconds[0]:.1f} + {seconds[1]:.1f}", f"{apart:.1e}",
    )  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", nargs="?", help="default: the models of peak_memory.py")
    parser.add_argument("--models", nargs="+")
    parser.add_argument("--steps", type=int, default=50)
    given = parser.parse_args()
    own = SimpleNamespace(train_step=train_step, MODELS=tuple(peak_memory.MODELS))
    module = workloads(given.file) if given.file else own
    print("  ".join(f"{each:>10}" for each in HEAD))
    for name in given.models or module.MODELS:
        torch.manual_seed(0)
        cells = row(module, name, given.steps)
        print("  ".join(f"{each:>10}" for each in cells), flush=True)


if __name__ == "__main__":
    main()
