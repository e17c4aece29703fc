"""What many random graphs exercised: some seeds of work, and the tally of it.

In: seeds and backends. Out: counts of ops and features, of refusals by reason, and a script for
each failure. A tally is also a line of a log, so that a run can go on where another one ended.
"""

import collections
import json
import math
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from minitorch2.config import config
from minitorch2.kernels.runtime.build import FULL
from minitorch2.ops.table import lookup
from tests.graphs.judging import Refused, judged
from tests.graphs.making import Case, make
from tests.graphs.shrinking import script, smallest

ALWAYS = ("aot_eager", "interpreter")
NATIVE = ("numba",)
THOROUGH = ("python", "loops", "numba", "exact", "budget")
CHUNK = 50  # seeds that a process takes at a time
COUNTERS = ("ops", "derivatives", "features", "reasons")


@dataclass
class Tally:
    """What some seeds exercised, and the scripts of what failed."""

    ops: collections.Counter[str] = field(default_factory=collections.Counter)
    derivatives: collections.Counter[str] = field(default_factory=collections.Counter)
    features: collections.Counter[str] = field(default_factory=collections.Counter)
    reasons: collections.Counter[str] = field(default_factory=collections.Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Add another one's counts."""
        self.ops += other.ops
        self.derivatives += other.derivatives
        self.features += other.features
        self.reasons += other.reasons
        self.failures += other.failures


@dataclass(frozen=True)
class Work:
    """Seeds `first` to `end` on these backends; each `native`-th seed on machine code too, and each
    `thorough`-th on all there is, compiled with LLVM's full effort."""

    first: int
    end: int
    backends: tuple[str, ...]
    native: int
    thorough: int
    show: bool = False

    def done(self) -> tuple["Work", Tally]:
        """Run them."""
        warnings.simplefilter("ignore")
        tally = Tally()
        before = config.kernel_level
        try:
            for seed in range(self.first, self.end):
                backends = list(self.backends)
                config.kernel_level = 0
                if self.native and seed % self.native == 0:
                    backends += NATIVE
                if self.thorough and seed % self.thorough == 0:
                    backends += THOROUGH
                    config.kernel_level = FULL
                _run(make(seed), tuple(dict.fromkeys(backends)), tally, self.show)
        finally:
            config.kernel_level = before
        return self, tally

    def line(self, tally: Tally) -> str:
        """This work and what came of it, as a line of a log."""
        return json.dumps({"work": asdict(self), "tally": vars(tally)})


def logged(path: str, wanted: list[Work]) -> dict[Work, Tally]:
    """What a log tells about the work that is wanted. A log that ends within a line, because its
    run was ended there, gets a line's end."""
    if not os.path.exists(path):
        return {}
    found = dict(lines(path))
    with open(path, "r+b") as file:
        whole = file.read()
        if whole and not whole.endswith(b"\n"):
            file.write(b"\n")
    return {work: found[work] for work in wanted if work in found}


def lines(path: str) -> Iterator[tuple[Work, Tally]]:
    """The lines of a log; a line that is cut off tells nothing."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            try:
                read = json.loads(line)
            except json.JSONDecodeError:
                continue
            work, tally = read["work"], read["tally"]
            counters = {name: collections.Counter(tally[name]) for name in COUNTERS}
            yield (
                Work(**{**work, "backends": tuple(work["backends"])}),
                Tally(**counters, failures=tally["failures"]),
            )


def complaints(paths: Sequence[str]) -> Iterator[tuple[str, Case, str]]:
    """What logs complain of: the first line, the case and its backend, twice for each: what its
    seed draws (not the same if rows came since), and the small one that its script holds."""
    for path in paths:
        for _, tally in lines(path):
            for text in tally.failures:
                head = text.partition("\n")[0]
                seed, backend = re.findall(r"seed (\d+), (\w+):", head)[0]
                yield head, make(int(seed)), backend
                source = text[text.index("\nimport numpy\n") : text.rindex("\nprint(")]
                known: dict[str, Any] = {"inf": math.inf, "nan": math.nan}
                exec(source, known)
                yield head, known["case"], backend


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
    tally.derivatives.update(verdict.derivatives)
    tally.features[f"eager graphs {verdict.eager}"] += 1
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
    config.threads = 1
    os.nice(19 - os.nice(0))
