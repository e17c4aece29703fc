"""What many random graphs exercised: some seeds of work, and the tally of it.

In: seeds and backends. Out: counts of ops and features, of refusals by reason, and a script for
each failure.
"""

import collections
import os
import warnings
from dataclasses import dataclass, field

from minitorch2.ops.table import lookup
from tests.graphs.making import Case, make
from tests.graphs.running import Refused, judged
from tests.graphs.shrinking import script, smallest

ALWAYS, SOMETIMES = ("aot_eager", "interpreter", "python"), ("numba", "budget")
CHUNK = 50  # seeds that a process takes at a time


@dataclass
class Tally:
    """What some seeds exercised, and the scripts of what failed."""

    ops: collections.Counter[str] = field(default_factory=collections.Counter)
    features: collections.Counter[str] = field(default_factory=collections.Counter)
    reasons: collections.Counter[str] = field(default_factory=collections.Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Add another one's counts."""
        self.ops += other.ops
        self.features += other.features
        self.reasons += other.reasons
        self.failures += other.failures


@dataclass(frozen=True)
class Work:
    """Seeds `first` to `end`, on these backends; on all others too for each `native`-th seed."""

    first: int
    end: int
    backends: tuple[str, ...]
    native: int
    show: bool = False

    def done(self) -> Tally:
        """Run them."""
        warnings.simplefilter("ignore")
        tally = Tally()
        for seed in range(self.first, self.end):
            more = SOMETIMES if self.native and seed % self.native == 0 else ()
            _run(make(seed), tuple(dict.fromkeys((*self.backends, *more))), tally, self.show)
        return tally


def _run(case: Case, backends: tuple[str, ...], tally: Tally, show: bool) -> None:
    """One case into a tally."""
    if show:
        print(case.graph, case.flags)
    try:
        verdict = judged(case, backends)
    except Refused as reason:
        tally.features["refused by eager"] += 1
        if show:
            print(reason)
        return
    nodes = case.graph.nodes
    for node in nodes:
        tally.ops[node.op] += 1
        tally.features[lookup(node.op).kind] += 1
    tally.features["graphs that write into an input or a view"] += any(
        node.op.endswith("_") for node in nodes
    )
    tally.features["graphs with gradients"] += any(case.flags)
    tally.features["graphs"] += 1
    for backend in backends:
        tally.features[f"graphs on {backend}"] += 1
    if len(verdict.refused) == len(backends):
        tally.features["graphs that are not compiled, but run op by op"] += 1
        tally.reasons[verdict.refused[backends[0]]] += 1
    for backend, what in verdict.wrong.items():
        small = smallest(case, backend)
        head = f"--- seed {case.seed}, {backend}: {what}"
        tally.failures.append(f"{head}\n{script(small, backend, what)}")


def lowest_priority() -> None:
    """Leave the processors to everybody else."""
    os.nice(19)
