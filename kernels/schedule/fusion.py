"""Which nests become one kernel, and why the others do not.

In: a Program. Out: Groups in an order that respects every dependency, and for every pair that was
tried in vain a Refusal with the reason. Each unit starts as a group of its own; in program order,
a unit's group tries to take in the groups of its producers, then groups that read the same values.
Merging is allowed when

    no third group stands between the two,
    all nests find a Place in one Frame (or are cheap enough to be computed where they are read),
    the merged group can be assembled (fusion asks assemble.py), and
    what it must store can be stored where its loops run.

Source: greedy bottom-up fusion as in XLA and Inductor.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from minitorch2.jit.ir.graph import Value
from minitorch2.kernels.functions import EXPENSIVE
from minitorch2.kernels.index import constant, nonnegative, product
from minitorch2.kernels.lower.nests import Nest, functions_in
from minitorch2.kernels.schedule.assemble import Assembled, assemble
from minitorch2.kernels.schedule.dependencies import Dependencies, dependencies_of
from minitorch2.kernels.schedule.frames import Frame, Refused, frame_of
from minitorch2.kernels.schedule.program import Program, Unit, results
from minitorch2.kernels.schedule.recompute import Recomputed, recompute
from minitorch2.kernels.schedule.reinplace import Reinplaced
from minitorch2.kernels.schedule.trial import Trials

MAX_BUFFERS = 24
LONGEST_LINE = 48  # nests that wait for each other in one kernel: assembling it recurses along them
SMALL_ROW = 4096  # a single row of at most so many elements may be stored by one thread


@dataclass(frozen=True, slots=True)
class Group:
    """Units that run as one step; `frame` is None for what is no nest.

    `copies` are nests of other groups whose results it computes again: see recompute.py.
    """

    units: tuple[int, ...]
    frame: Frame | None = None
    copies: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A pair of values whose units stayed in different kernels, and why."""

    producer: str
    consumer: str
    reason: str

    def __str__(self) -> str:
        return f"{self.producer} and {self.consumer} stay apart: {self.reason}"


class Fusion:
    """The state of grouping: `owner` maps each unit to its group's number."""

    def __init__(self, program: Program, enabled: bool = True):
        self.program, self.enabled = program, enabled
        self.trials = Trials(program)
        self.groups: dict[int, Group] = {}
        self.owner: list[int] = []
        self.refusals: list[Refusal] = []
        self.recomputed: list[Recomputed] = []
        self.reinplaced: list[Reinplaced] = []
        self.copied: dict[int, set[int]] = {}  # unit -> groups that compute it again
        self.value_readers: dict[Value, set[int]] = {}  # of what units make
        self.users: list[set[int]] = []
        self.reach: dict[int, int] = {}
        for number, unit in enumerate(program.units):
            frame = frame_of(unit) if isinstance(unit, Nest) else None
            self.groups[number] = Group((number,), frame)
            self.owner.append(number)
        self._connect(dependencies_of(program))

    def _connect(self, found: Dependencies) -> None:
        """Edges between units, in both directions."""
        self.reads, self.sources, self.makers = found.reads, found.sources, found.makers
        self.readers, self.writers, self.fragile = found.readers, found.writers, found.fragile
        self.value_readers = {value: set() for value in self.makers}
        for number, reads in enumerate(self.reads):
            for value in reads & self.value_readers.keys():
                self.value_readers[value].add(number)
        self.users = [set() for _ in self.reads]
        for number, sources in enumerate(self.sources):
            for source in sources:
                self.users[source].add(number)
        self.reach = self._reachable()

    def _reachable(self) -> dict[int, int]:
        """For each unit, the units that wait for it, directly or not, as bits of one number."""
        reach: dict[int, int] = {}
        for root in range(len(self.users)):
            pending = [root]
            while pending:
                number = pending[-1]
                missing = [user for user in self.users[number] if user not in reach]
                if number not in reach and missing:
                    pending.extend(missing)
                    continue
                pending.pop()
                found = 0
                for user in self.users[number]:
                    found |= 1 << user | reach[user]
                reach[number] = found
        return reach

    def run(self) -> list[Group]:
        """The groups, in an order in which they can run."""
        if self.enabled:
            for number in range(len(self.program.units)):
                self.grow(number)
            self.recomputed = recompute(self)
        return self.ordered()

    def grow(self, number: int) -> None:
        """Let a unit's group take in its producers' groups, then its siblings'."""
        tried: set[int] = set()
        for other in sorted(self.sources[number], reverse=True):
            tried |= self.attempt(other, number, tried)
        for other in self.siblings(number):
            tried |= self.attempt(other, number, tried)

    def siblings(self, number: int) -> Iterator[int]:
        """Reductions before this one whose groups read a value that its group reads."""
        unit = self.program.units[number]
        if not isinstance(unit, Nest) or not unit.reducer:
            return
        groups = {
            self.owner[reader]
            for value in self.group_reads(number)
            for reader in self.readers.get(value, ())
        }
        others = [unit for group in groups for unit in self.groups[group].units if unit < number]
        for other in sorted(others, reverse=True):
            sibling = self.program.units[other]
            if isinstance(sibling, Nest) and sibling.reducer:
                yield other

    def group_reads(self, number: int) -> set[Value]:
        """What the group of a unit reads from memory."""
        units = self.groups[self.owner[number]].units
        read = {value for unit in units for value in self.reads[unit]}
        return read - {value for unit in units for value in results(self.program.units[unit])}

    def attempt(self, first: int, second: int, tried: set[int]) -> set[int]:
        """Merge the groups of two units, or write down why not."""
        a, b = self.owner[first], self.owner[second]
        if a == b or a in tried:
            return set()
        try:
            merged = self.merged(self.groups[a], self.groups[b], a, b)
        except Refused as reason:
            self.refusals.append(Refusal(self.name(first), self.name(second), str(reason)))
            return {a}
        del self.groups[a]
        self.groups[b] = merged
        self._join(a, b)
        for unit in merged.units:
            self.owner[unit] = b
        return set()

    def name(self, number: int) -> str:
        """A unit as refusals name it: its value and op."""
        unit = self.program.units[number]
        node = unit.node
        return f"%{results(unit)[0].id} ({node.op})"

    # legality

    def merged(self, first: Group, second: Group, a: int, b: int) -> Group:
        """The merged group; Refused with the reason where it may not be."""
        if first.frame is None or second.frame is None:
            group = first if first.frame is None else second
            unit = self.program.units[group.units[0]]
            raise Refused(f"{unit.node.op} is a step of its own")
        both = set(first.units) | set(second.units)
        if both & self.writers and both & self.fragile:
            raise Refused("writes wait until nothing can fail any more")
        if self.between(a, b):
            raise Refused("another step stands between them")
        units = tuple(sorted(first.units + second.units))
        reasons = []
        frames = [first.frame, second.frame]
        if not first.frame.reduced:
            frames.reverse()
        if first.frame.reduced and not second.frame.reduced:
            frames = [first.frame]
        if second.frame.reduced and not first.frame.reduced:
            frames = [second.frame]
        for frame in frames:
            try:
                self.check(units, frame)
                return Group(units, frame)
            except Refused as reason:
                reasons.append(str(reason))
        raise Refused(reasons[0])

    def between(self, a: int, b: int) -> bool:
        """Whether a path leads from one group to the other through a third."""
        return self._path(a, b) or self._path(b, a)

    def _path(self, start: int, end: int) -> bool:
        for unit in self.groups[start].units:
            for user in self.users[unit]:
                owner = self.owner[user]
                if owner not in (start, end) and self.reach[owner] >> end & 1:
                    return True
        return False

    def _join(self, a: int, b: int) -> None:
        """Group `a` is part of group `b` from now on: bring what is reachable up to date."""
        both = 1 << a | 1 << b
        found = (self.reach.pop(a) | self.reach[b]) & ~both
        self.reach[b] = found
        for group, reachable in self.reach.items():
            if reachable & both:
                self.reach[group] = reachable & ~both | 1 << b | found

    def check(self, units: tuple[int, ...], frame: Frame) -> None:
        """Raise Refused unless the units can run in the frame."""
        self._check_line(units)
        nests = [self.nest(unit) for unit in units]
        stored = self.stored(units)
        kept = {nest.result for nest in stored}
        loops = self.trials.loops(frame)
        for nest in nests:
            place = loops.place(nest)
            if nest.reducer and place is None:
                raise Refused("their reductions run over different loops")
            if place is None:
                self._check_floating(nest, nest.result in kept, frame)
            elif (
                nest.result in kept and not nest.reducer and frame.reduced and place.level == "full"
            ):
                self._check_wide(frame)
        memory = {value for unit in units for value in self.reads[unit]} - {
            nest.result for nest in nests
        }
        if len(memory) + len(stored) > MAX_BUFFERS:
            raise Refused(f"one kernel would touch more than {MAX_BUFFERS} buffers")
        writes = any(nest.result in self.program.targets for nest in nests)
        if frame.reduced or writes:
            self.trials.check(frame, nests, stored)

    def _check_line(self, units: tuple[int, ...]) -> None:
        """Raise Refused when too many of the units stand in one line, each reading the last."""
        if len(units) <= LONGEST_LINE:
            return
        place: dict[int, int] = {}
        for unit in sorted(units):
            place[unit] = 1 + max((place.get(s, 0) for s in self.sources[unit]), default=0)
        if max(place.values()) > LONGEST_LINE:
            raise Refused(f"more than {LONGEST_LINE} operations would wait for each other")

    def _check_floating(self, nest: Nest, is_stored: bool, frame: Frame) -> None:
        """A nest of another shape is computed where it is read, if that is cheap."""
        if is_stored:
            raise Refused("it needs memory, and its shape is not that of the loops")
        if nest.may_fail():
            raise Refused("a check would run more than once")
        more = not nonnegative(product(nest.extents()) - frame.count(), {})
        if more and EXPENSIVE & set(functions_in(nest.value)):
            raise Refused("it would compute a slow function again for every element")

    def _check_wide(self, frame: Frame) -> None:
        """Storing every element of a row needs rows that lie in one stretch, and many of them."""
        if not frame.trailing():
            raise Refused("its rows do not lie in one stretch of memory")
        if frame.rows() == constant(1):
            count = frame.count().as_int()
            if count is None or count > SMALL_ROW:
                raise Refused("a single row would be stored by one thread")

    def nest(self, unit: int) -> Nest:
        """A unit that is known to be a nest."""
        found = self.program.units[unit]
        assert isinstance(found, Nest)
        return found

    def stored(self, units: tuple[int, ...]) -> list[Nest]:
        """The nests whose results something outside the group reads."""
        inside, needed = set(units), []
        for unit in units:
            nest = self.nest(unit)
            kept = nest.result in self.program.kept or nest.result in self.program.targets
            readers = self.value_readers[nest.result]
            checks = nest.may_fail() and not readers  # what may fail runs, used or not
            elsewhere = self.reading_groups(nest.result) if self.copied else readers - inside
            if kept or checks or elsewhere:
                needed.append(nest)
        return needed

    # what recompute.py asks and changes

    def reading_groups(self, value: Value) -> set[int]:
        """The groups that read a value from memory."""
        unit, readers = self.makers[value], self.value_readers[value]
        groups = {self.owner[u] for u in readers}
        groups |= {group for u in readers for group in self.copied.get(u, ())}
        return groups - self.copied.get(unit, set()) - {self.owner[unit]}

    def is_kept(self, value: Value) -> bool:
        """Whether a value needs memory whoever reads it."""
        return value in self.program.kept or value in self.program.targets

    def writers_of(self, values: Iterable[Value]) -> set[int]:
        """The groups that write into these inputs at the end."""
        targets, wanted = self.program.targets, set(values)
        return {self.owner[unit] for value, unit in self.makers.items()
                if targets.get(value) in wanted}  # fmt: skip

    def waits(self, group: int, other: int) -> bool:
        """Whether a group runs with or after another one."""
        return group == other or bool(self.reach[other] >> group & 1)

    def put_before(self, first: int, second: int) -> None:
        """Have a group wait for another one that did not wait for it."""
        unit, later = self.groups[first].units[0], self.groups[second].units[0]
        self.sources[later].add(unit)
        self.users[unit].add(later)
        found = 1 << second | self.reach[second]
        for group, reachable in self.reach.items():
            if group == first or reachable >> first & 1:
                self.reach[group] = reachable | found

    def check_copies(self, group: Group, reads: set[Value]) -> None:
        """Raise Refused unless a group can be one kernel with its copies, reading these values."""
        stored = self.stored(group.units)
        if len(reads) + len(stored) > MAX_BUFFERS:
            raise Refused(f"one kernel would touch more than {MAX_BUFFERS} buffers")
        nests = [self.nest(unit) for unit in sorted(group.units + group.copies)]
        self._check_line(group.units + group.copies)
        assert group.frame is not None
        self.trials.check(group.frame, nests, stored)

    def ordered(self) -> list[Group]:
        """Groups after their producers; among those that are ready, program order.

        A group counts as early as the earliest one that waits for it: what a small late step, such
        as a learning rate's correction, would hold up keeps no memory longer than it must.
        """
        sources = {
            number: {self.owner[s] for unit in group.units for s in self.sources[unit]} - {number}
            for number, group in self.groups.items()
        }
        place = {number: min(group.units) for number, group in self.groups.items()}
        for number in reversed(_in_order(sources, place)):
            for source in sources[number]:
                place[source] = min(place[source], place[number])
        return [self.groups[number] for number in _in_order(sources, place)]

    def assembled(self, group: Group, name: str) -> Assembled:
        """The kernel of a group of nests."""
        assert group.frame is not None
        nests = [self.nest(unit) for unit in sorted(group.units + group.copies)]
        return assemble(self.program, group.frame, nests, self.stored(group.units), name)


def _in_order(sources: dict[int, set[int]], place: dict[int, int]) -> list[int]:
    """All numbers after their sources; among those that are ready, by place."""
    left = {number: len(before) for number, before in sources.items()}
    users: dict[int, list[int]] = {number: [] for number in sources}
    for number, before in sources.items():
        for source in before:
            users[source].append(number)
    ready = [(place[number], number) for number, count in left.items() if not count]
    heapify(ready)
    done = []
    while ready:
        _, number = heappop(ready)
        done.append(number)
        for user in users[number]:
            left[user] -= 1
            if not left[user]:
                heappush(ready, (place[user], user))
    assert len(done) == len(sources), "groups wait for each other"
    return done


def unit_of(program: Program, group: Group) -> Unit:
    """The only unit of a group that is no nest."""
    return program.units[group.units[0]]
