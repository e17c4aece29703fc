"""Times one training step of the digits tutorial, beside torch's where torch is installed.

    python tests/bench/digits.py [--steps 300] [--rounds 3]

In: tutorials/train_digits.py, whose model and loss are run as they are, with this library and, its
import changed, with torch. Out: for each way of running (eager, compiled loss, whole step compiled)
the median milliseconds of a step, both libraries in turn, with ratios, and the seconds of the first
step with an empty cache and with a filled one.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

TUTORIAL = pathlib.Path(__file__).parents[2] / "tutorials" / "train_digits.py"
WAYS = ("eager", "loss", "step")

WORKER = """
import json, statistics, sys, time, types
library, way, steps = sys.argv[2], sys.argv[3], int(sys.argv[4])
source = open(sys.argv[1]).read()
if library == "torch":
    source = source.replace("import minitorch2 as torch", "import torch")
    source = source.replace("minitorch2", "torch")
module = sys.modules["digits"] = types.ModuleType("digits")
module.__file__ = sys.argv[1]
scope = module.__dict__
exec(compile(source, sys.argv[1], "exec"), scope)
torch, loss_fn = scope["torch"], scope["loss_fn"]
torch.set_num_threads(2)
torch.manual_seed(0)
model = scope["DigitNet"]()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.05)
loss_of = torch.compile(loss_fn) if way == "loss" else loss_fn
x, y = torch.rand(64, 64), torch.arange(64) % 10

def step(x, y):
    optimizer.zero_grad()
    loss = loss_of(model, x, y)
    loss.backward()
    optimizer.step()
    return loss.detach()

if way == "step":
    step = torch.compile(step)
start = time.perf_counter()
step(x, y)
first = time.perf_counter() - start
for _ in range(10):
    step(x, y)
times = []
for _ in range(steps):
    start = time.perf_counter()
    step(x, y)
    times.append(time.perf_counter() - start)
print(json.dumps({"ms": statistics.median(times) * 1e3, "first": first}))
"""


def measure(library: str, way: str, steps: int, folder: str) -> dict:
    """One process: the median step and the first step."""
    environment = dict(os.environ, MT2_CACHE_DIR=folder, TORCHINDUCTOR_CACHE_DIR=folder + "/torch")
    command = [sys.executable, "-c", WORKER, str(TUTORIAL), library, way, str(steps)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Measure in turn and print medians and ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    libraries = ["minitorch2"]
    if importlib.util.find_spec("torch"):
        libraries.append("torch")
    print(f"{'way':8s} {'library':12s} {'ms a step':>10s} {'cold s':>8s} {'warm s':>8s}")
    for way in WAYS:
        found: dict[str, list[dict]] = {library: [] for library in libraries}
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(options.rounds):
                for library in libraries:
                    found[library].append(measure(library, way, options.steps, folder))
        medians = {name: statistics.median(r["ms"] for r in runs) for name, runs in found.items()}
        for library, runs in found.items():
            cold, warm = runs[0]["first"], runs[-1]["first"]
            print(f"{way:8s} {library:12s} {medians[library]:10.3f} {cold:8.2f} {warm:8.2f}")
        if len(libraries) == 2:
            print(f"{way:8s} torch / minitorch2: {medians['torch'] / medians['minitorch2']:.2f}")


if __name__ == "__main__":
    main()
