"""The command line: `python -m tests.graphs N`."""

import argparse
import collections
import sys
import time
import warnings

from minitorch2.ops.table import lookup
from tests.graphs.making import make
from tests.graphs.running import Refused, differences
from tests.graphs.shrinking import script, smallest

BACKENDS = ("aot_eager", "interpreter", "budget", "python", "numba")


def main() -> int:
    """Run N graphs; print failures as scripts, then what was exercised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backends", nargs="+", default=["aot_eager", "interpreter", "numba"])
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--most", type=int, default=10, help="failures to print")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    ops: collections.Counter[str] = collections.Counter()
    features: collections.Counter[str] = collections.Counter()
    failures, refused, start = 0, 0, time.monotonic()
    for seed in range(given.seed, given.seed + given.count):
        if time.monotonic() - start > given.seconds:
            break
        case = make(seed)
        if given.show:
            print(case.graph, case.flags)
        try:
            wrong = differences(case, given.backends)
        except Refused as reason:
            refused += 1
            features["refused by eager"] += 1
            if given.show:
                print(reason)
            continue
        for node in case.graph.nodes:
            ops[node.op] += 1
            features[lookup(node.op).kind] += 1
        features["graphs that write into an input or a view"] += any(
            node.op.endswith("_") for node in case.graph.nodes
        )
        features["graphs with gradients"] += any(case.flags)
        features["graphs"] += 1
        for backend, what in wrong.items():
            failures += 1
            if failures <= given.most:
                small = smallest(case, backend)
                print(f"--- seed {seed}, {backend}: {what}", flush=True)
                print(script(small, backend, what), flush=True)
    print(f"{features['graphs']} graphs, {failures} wrong, {refused} refused by eager, "
          f"{time.monotonic() - start:.0f} s")  # fmt: skip
    print("features:", ", ".join(f"{n} {c}" for n, c in features.most_common()))
    print("ops:", ", ".join(f"{name} {count}" for name, count in ops.most_common()))
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
