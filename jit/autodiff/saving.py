"""What to save and what to compute again: the choice behind every cut of a graph in two.

In: the nodes before the cut, the values that what comes after it reads, and a budget. Out: the
values that are kept across the cut, and the nodes that run again behind it.

For each node there are two vertices in a network, "runs behind the cut" and, for each result, "is
there behind the cut". A result that is there was saved (capacity: its bytes, at a price in
nanoseconds) or its node runs again (capacity: the node's time, and all its operands must be there).
The cheapest set of both is the minimum cut, exactly.

At a budget of 1.0 a byte costs what it takes to write and read it, and only cheap nodes may run
again: no product, no reduction over much, nothing whose second run could differ. The exception are
products much larger than both of their operands, such as the scores of an attention over long rows,
and what is computed from them element by element: a byte of those costs more, and they may run
again, as chains of kernels/schedule/chains.py do without memory for them. Below 1.0 all that
is repeatable may run again, and the price of a byte rises until what is saved fits into that
fraction of the bytes saved at 1.0. What then is left of the budget goes to the values that take
longest to compute again.

    problem = Problem(costs, nodes, demanded, {x: 0})
    choice = choose(problem, 0.5)
    choice.saved, choice.again

Source: PyTorch's min-cut partitioner and activation memory budget (AOTAutograd); the network is
that of J. Rhys, "A Selection Problem of Shared Fixed Costs and Network Flows".
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from minitorch2.jit.autodiff.costs import Costs, is_repeatable
from minitorch2.jit.autodiff.min_cut import INFINITE, Network
from minitorch2.jit.ir.graph import Node, Value, values_in
from minitorch2.ops.table import VIEW, lookup

BYTE = 0.5  # ns: written once, read once, and memory that is touched for the first time
OUTGROWN = 4.0  # how much more a byte costs of memory that grows with the square of a length
VIEW_COPY = 1.5  # to save a view is to copy it
SCALE = 1000  # capacities are whole numbers: picoseconds
ROUNDS = 24  # of the search for a price
STEP, OFFERS = 2.0, 14  # from one offer's price to the next, and how many prices are asked
LIKENESS = 4.0  # groups to a factor of e in the time for a byte
PARTS = 4  # between offers that are further apart than this part of what was saved at first


@dataclass(frozen=True, slots=True)
class Problem:
    """`nodes` run before the cut, in order; what stands behind it reads `demanded`.

    `given` are values that no node makes, and the bytes that it takes to have them behind the cut
    (0: they are there anyway). `always` are nodes' results that are there anyway, too. The nodes of
    `first_runs` (by their first result) do not run before the cut unless a result is saved.
    Those of `only_once` never run again. `chains`: products may run again without memory for their
    results, which are then preferred to saved ones where they are large.
    """

    costs: Costs
    nodes: tuple[Node, ...]
    demanded: frozenset[Value]
    given: Mapping[Value, int]
    always: frozenset[Value] = frozenset()
    first_runs: frozenset[Value] = frozenset()
    only_once: frozenset[Value] = frozenset()
    chains: bool = False
    makers: dict[Value, Node] = field(default_factory=dict)
    outgrown: set[Value] = field(default_factory=set)

    def __post_init__(self) -> None:
        for node in self.nodes:
            self.makers.update((result, node) for result in node.results)
            if self.chains and self.costs.outgrows(node, self.outgrown):
                self.outgrown.update(node.results)

    def weight(self, value: Value) -> float:
        """What keeping a value weighs in the choice."""
        return self.save_bytes(value) * (OUTGROWN if value in self.outgrown else 1.0)

    def save_bytes(self, value: Value) -> int:
        """What keeping a value takes."""
        if value in self.always:
            return 0
        if value in self.given:
            return self.given[value]
        return self.costs.bytes_of(value)


@dataclass(frozen=True, slots=True)
class Choice:
    """`saved` values, and `again`: the nodes that run again, both in order."""

    saved: tuple[Value, ...]
    again: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one value is saved or computed again: bytes, microseconds, and whose line it is.

    What runs `once` cannot be computed again: it might differ, fail, or run a third time.
    """

    value: Value
    bytes: int
    microseconds: float
    maker: Node | None  # none: an input
    saved: bool
    once: bool = False

    def __str__(self) -> str:
        time = f"{self.microseconds:.1f} us"
        if not self.saved:
            return f"{self.value}: {self.value.type} takes {time}, spares {self.bytes} bytes"
        again = f"{time} to compute again" if self.microseconds else "an input"
        again = "never computed again" if self.once else again
        return f"{self.value}: {self.value.type} {self.bytes} bytes, {again}"

    def facts(self) -> dict[str, object]:
        """The reason as plain data."""
        origin = self.maker.origin if self.maker is not None else None
        return {
            "value": str(self.value), "type": str(self.value.type), "bytes": self.bytes,
            "microseconds": round(self.microseconds, 1), "saved": self.saved,
            "once": self.once,
            "lines": [str(span) for span in origin.spans] if origin is not None else [],
            "made_by": str(self.maker).partition(" = ")[2] if self.maker else "an input",
        }  # fmt: skip


def choose(problem: Problem, budget: float) -> Choice:
    """The cheapest choice whose saved bytes fit the budget, or the smallest there is."""
    best = cheapest(problem, BYTE, cheap_only=True)
    if budget >= 1.0:
        return best
    limit = budget * saved_bytes(problem, best.saved)
    low, high = BYTE, BYTE * 2.0**20
    smallest = cheapest(problem, high, cheap_only=False)
    if saved_bytes(problem, smallest.saved) >= limit:
        return smallest
    fits, over = smallest, best
    for _ in range(ROUNDS):
        middle = (low * high) ** 0.5
        found = cheapest(problem, middle, cheap_only=False)
        if saved_bytes(problem, found.saved) <= limit:
            fits, high = found, middle
        else:
            over, low = found, middle
        if high / low < 1.01:
            break
    return _filled(problem, fits, over, limit)


def offers(problem: Problem) -> Iterator[Choice]:
    """Choices that keep less and less, the first as at a budget of 1.0.

    Layers that are alike would all change at one price: between two choices that are far apart
    stand others, for which a part of the layers is kept.
    """
    last = cheapest(problem, BYTE, cheap_only=True)
    yield last
    whole = above = saved_bytes(problem, last.saved)
    for number in range(1, OFFERS + 1):
        found = cheapest(problem, BYTE * STEP**number, cheap_only=False)
        below = saved_bytes(problem, found.saved)
        if below >= above:
            continue
        if above - below > whole / PARTS:
            for part in range(PARTS - 1, 0, -1):
                yield _filled(problem, found, last, below + (above - below) * part / PARTS)
        yield found
        last, above = found, below


def saved_bytes(problem: Problem, saved: Iterable[Value]) -> int:
    """The memory that a choice keeps."""
    return sum(map(problem.save_bytes, saved))


def cheapest(problem: Problem, price: float, cheap_only: bool) -> Choice:
    """The minimum cut at a price for each byte."""
    there = {value: number for number, value in enumerate(problem.given, 2)}
    runs: dict[int, int] = {}
    for node in problem.nodes:
        runs[id(node)] = len(there) + len(runs) + 2
        for result in node.results:
            there[result] = len(there) + len(runs) + 2
    network = Network(len(there) + len(runs) + 2)
    for value in problem.given:
        network.edge(0, there[value], int(problem.given[value] * price * SCALE))
    for node in problem.nodes:
        number = runs[id(node)]
        network.edge(0, number, _capacity(problem, node, cheap_only))
        for value in dict.fromkeys(values_in(node.args)):
            network.edge(there[value], number, INFINITE)
        copied = VIEW_COPY if lookup(node.op).kind == VIEW else 1.0
        for result in node.results:
            weight = problem.weight(result) * copied * price
            network.edge(number, there[result], int(weight * SCALE))
    for value in problem.demanded:
        network.edge(there[value], 1, INFINITE)
    behind = network.sink_side(0, 1)
    again = tuple(node for node in problem.nodes if runs[id(node)] in behind)
    rerun = {result for node in again for result in node.results}
    return _tidy(problem, [v for v in there if there[v] in behind and v not in rerun])


def _capacity(problem: Problem, node: Node, cheap_only: bool) -> int:
    """What running a node again costs, in picoseconds."""
    if node.results[0] in problem.first_runs:
        return 0
    if node.results[0] in problem.only_once:
        return INFINITE
    cheap = not cheap_only or node.results[0] in problem.outgrown or problem.costs.is_cheap(node)
    if not is_repeatable(node) or not cheap:
        return INFINITE
    return int(problem.costs.time_of(node) * SCALE)


def _tidy(problem: Problem, saved: Iterable[Value]) -> Choice:
    """The choice that keeps `saved`: only what is read, and only the nodes that must run."""
    kept, read, again = set(saved), set(problem.demanded), []
    for node in reversed(problem.nodes):
        if any(result in read and result not in kept for result in node.results):
            again.append(node)
            read.update(values_in(node.args))
    order = [*problem.given, *problem.makers]
    rerun = {result for node in again for result in node.results}
    used = [v for v in order if v in read and (v in kept or v in problem.given)]
    return Choice(tuple(v for v in used if v not in rerun), tuple(reversed(again)))


def _filled(problem: Problem, fits: Choice, over: Choice, limit: float) -> Choice:
    """`fits` with values of `over` saved too, within the limit: the slowest for its bytes first,
    given the others. Of those that are alike, as in layers, some from everywhere, so that what runs
    again between them is short."""
    room = limit - saved_bytes(problem, fits.saved)
    kept, there = list(fits.saved), set(over.saved)
    rerun = {result for node in fits.again for result in node.results}
    alike: dict[int, list[Value]] = {}
    for value in over.saved:
        bytes = problem.save_bytes(value)
        if value in rerun and bytes:
            worth = again_time(problem, value, there - {value}) / bytes
            alike.setdefault(round(LIKENESS * math.log(max(worth, 1e-9))), []).append(value)
    for _, values in sorted(alike.items(), reverse=True):
        total = sum(map(problem.save_bytes, values))
        part, seen, used = min(1.0, room / total), 0.0, 0.0
        for value in values:
            seen += part * problem.save_bytes(value)
            if used + problem.save_bytes(value) <= seen + 0.5:
                used += problem.save_bytes(value)
                kept.append(value)
        room -= used
    return _tidy(problem, kept)


def again_time(problem: Problem, value: Value, there: set[Value]) -> float:
    """Nanoseconds to compute a value from those that are there (itself not counted)."""
    total, pending, seen = 0.0, [value], set()
    while pending:
        node = problem.makers.get(pending.pop())
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        total += problem.costs.time_of(node)
        pending += [v for v in values_in(node.args) if v not in there]
    return total


def late(
    again: Iterable[Node], behind: Iterable[Node], outputs: Iterable[Value] = ()
) -> Iterator[tuple[list[Node], Node | None]]:
    """Each node behind the cut, after those that run again for it, as late as they can; at last
    those that only the outputs read, with None."""
    makers = {result: node for node in again for result in node.results}
    done: set[int] = set()
    for node in behind:
        yield _again_for(values_in(node.args), makers, done), node
    yield _again_for(outputs, makers, done), None


def _again_for(values: Iterable[Value], makers: Mapping[Value, Node], done: set[int]) -> list[Node]:
    """What these values need again and nobody before them needed, operands first."""
    found: list[Node] = []
    pending = [makers[value] for value in values if value in makers]
    while pending:
        node = pending[-1]
        missing = [
            makers[value]
            for value in values_in(node.args)
            if value in makers and id(makers[value]) not in done
        ]
        if missing and id(node) not in done:
            pending += missing
            continue
        pending.pop()
        if id(node) not in done:
            done.add(id(node))
            found.append(node)
    return found


def reasons(problem: Problem, choice: Choice) -> tuple[Reason, ...]:
    """Each value of a choice with what it weighs and takes."""
    found, there = [], set(choice.saved)
    for value in choice.saved:
        maker = problem.makers.get(value)
        time = again_time(problem, value, there - {value}) if maker is not None else 0.0
        once = maker is not None and _capacity(problem, maker, cheap_only=False) >= INFINITE
        found.append(Reason(value, problem.save_bytes(value), time / 1000, maker, True, once))
    for node in choice.again:
        if node.results[0] in problem.first_runs:
            continue
        time = problem.costs.time_of(node) / 1000
        for result in node.results:
            spared = 0 if lookup(node.op).kind == VIEW else problem.save_bytes(result)
            found.append(Reason(result, spared, time, node, False))
    return tuple(found)
