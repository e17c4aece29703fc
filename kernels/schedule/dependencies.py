"""Which units of a program must run before which.

In: a Program. Out: its Dependencies: a unit waits for those whose results it reads; one that writes
into an input waits for everything that reads that input, and for everything that may fail, so that
a call that fails has changed nothing.

Source: true, anti and output dependences (Kuck et al., POPL 1981).
"""

import graphlib
from dataclasses import dataclass

from minitorch2.jit.ir.graph import Value
from minitorch2.kernels.schedule.checks import fragile_units
from minitorch2.kernels.schedule.program import Program, results


@dataclass(frozen=True, slots=True)
class Dependencies:
    """For each unit what it reads and the units it waits for; who makes, reads and writes what."""

    reads: list[set[Value]]
    sources: list[set[int]]
    makers: dict[Value, int]
    readers: dict[Value, list[int]]
    writers: set[int]
    fragile: set[int]

    def have_an_order(self) -> bool:
        """Whether no unit waits for itself."""
        try:
            graphlib.TopologicalSorter(dict(enumerate(self.sources))).prepare()
        except graphlib.CycleError:
            return False
        return True


def dependencies_of(program: Program) -> Dependencies:
    """The dependencies of a program as it is now."""
    makers: dict[Value, int] = {}
    for number, unit in enumerate(program.units):
        makers |= dict.fromkeys(results(unit), number)
    reads = [program.reads(unit) for unit in program.units]
    waits = [read | program.waits(u) for read, u in zip(reads, program.units, strict=True)]
    sources = [{makers[value] for value in each if value in makers} for each in waits]
    readers: dict[Value, list[int]] = {}
    for number, each in enumerate(reads):
        for value in each:
            readers.setdefault(value, []).append(number)
    targets = program.targets
    writers = {targets[value]: number for value, number in makers.items() if value in targets}
    fragile = fragile_units(program)
    for target, writer in writers.items():
        sources[writer] |= set(readers.get(target, ())) - {writer}
        sources[writer] |= fragile - {writer}
    return Dependencies(reads, sources, makers, readers, set(writers.values()), fragile)
