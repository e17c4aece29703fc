"""Peak memory of a training step beside torch's: how far VmHWM grows, in separate processes.

    python tests/bench/peak_memory.py [--rounds N] [--only TEXT]

Each figure is the growth of the process's peak from just before the first step to after ten steps,
in MiB: the model, its inputs and the optimizer are made before, a small step of the same kind has
run, so that code, and libraries loaded at the first use, do not count. Both libraries run in turn,
in fresh processes, with one thread; the median of the rounds is shown. Without torch only
minitorch2's figures are printed.
"""

import argparse
import importlib
import importlib.util
import statistics
import subprocess
import sys
from collections.abc import Callable
from types import ModuleType

LIBRARIES = [name for name in ("torch", "minitorch2") if importlib.util.find_spec(name)]
STEPS = 10


def peak_kibibytes() -> int:
    """The peak of this process's memory so far."""
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1])


def mlp(lib: ModuleType, size: int) -> tuple:
    """Three layers with ReLU and dropout on rows of 784; `size` rows."""
    nn = lib.nn
    net = nn.Sequential(
        nn.Linear(784, 1024), nn.ReLU(), nn.Dropout(0.1), nn.Linear(1024, 1024), nn.ReLU(),
        nn.Linear(1024, 10),
    )  # fmt: skip
    return net, lib.zeros(size, 784), lib.zeros(size, dtype=lib.int64)


def tanh_mlp(lib: ModuleType, size: int) -> tuple:
    """Six layers with sigmoid, tanh and GELU in turn; `size` rows of 512."""
    nn = lib.nn
    kinds = [nn.Sigmoid, nn.Tanh, nn.GELU] * 2
    layers = [layer for kind in kinds for layer in (nn.Linear(512, 512), kind())]
    return nn.Sequential(*layers), lib.zeros(size, 512), lib.zeros(size, dtype=lib.int64)


def cnn(lib: ModuleType, size: int) -> tuple:
    """Convolutions with batch normalization, ReLU and pooling; `size` images of 3 x 32 x 32."""
    nn = lib.nn
    net = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(64 * 16 * 16, 10),
    )  # fmt: skip
    return net, lib.zeros(size, 3, 32, 32), lib.zeros(size, dtype=lib.int64)


def attention(lib: ModuleType, size: int) -> tuple:
    """Two layers of a transformer encoder over `size` sequences of 128 vectors of 128."""
    nn = lib.nn
    layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, 2), lib.zeros(size, 128, 128), None


MODELS: dict[str, tuple[Callable[[ModuleType, int], tuple], int]] = {
    "mlp": (mlp, 2048),
    "tanh mlp": (tanh_mlp, 4096),
    "cnn": (cnn, 64),
    "transformer": (attention, 16),
}
OPTIMIZERS = ("SGD", "AdamW")


def make_step(lib: ModuleType, model: str, optimizer: str, small: bool) -> Callable[[], None]:
    """A whole training step of a model."""
    make, size = MODELS[model]
    net, inputs, target = make(lib, 2 if small else size)
    rule = getattr(lib.optim, optimizer)(net.parameters(), lr=1e-3)

    def step() -> None:
        rule.zero_grad()
        out = net(inputs)
        loss = (
            out.square().mean() if target is None else lib.nn.functional.cross_entropy(out, target)
        )
        loss.backward()
        rule.step()

    return step


def growth(library: str, model: str, optimizer: str) -> None:
    """Print the growth of the peak, in KiB: the whole work of one process."""
    lib = importlib.import_module(library)
    lib.set_num_threads(1)
    make_step(lib, model, optimizer, small=True)()
    step = make_step(lib, model, optimizer, small=False)
    before = peak_kibibytes()
    for _ in range(STEPS):
        step()
    print(peak_kibibytes() - before)


def measured(library: str, model: str, optimizer: str) -> float:
    """The growth in a fresh process, in MiB."""
    command = [sys.executable, __file__, "--one", library, model, optimizer]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="models whose name has this text in it")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        growth(*given.one)
        return
    print(f"{'growth of the peak, MiB':<26}" + "".join(f"{name:>12}" for name in LIBRARIES))
    for model in MODELS:
        for optimizer in OPTIMIZERS if given.only in model else ():
            rounds = [[measured(lib, model, optimizer) for lib in LIBRARIES]
                      for _ in range(given.rounds)]  # fmt: skip
            cells = [f"{statistics.median(column):12.1f}" for column in zip(*rounds, strict=True)]
            print(f"{model + ', ' + optimizer:<26}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
