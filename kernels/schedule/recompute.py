"""Cheap values are computed again where they are read, if that moves fewer bytes than storing them.

In: a Fusion whose groups are made. Out: the same groups, some with copies of nests of others; for
each a Recomputed with the predicted bytes. A kernel that reads a*a, a+1 and a/2 of another kernel
may as well read `a`, and the other one need not store the three:

    kernel_0 { ...; store a+1; store a*a; store y }      kernel_0 { ...; store a; store y }
    kernel_9 { g = load; p = load a+1; q = load a*a }    kernel_9 { g = load; a = load; ... }

Only pointwise nests without slow functions and without checks are copied; the same operations on
the same numbers give the same bits.

Source: rematerialization (Briggs, Cooper, Torczon, PLDI 1992), for memory traffic.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from minitorch2.jit.ir.graph import Value
from minitorch2.kernels.functions import EXPENSIVE
from minitorch2.kernels.index import evaluate, product
from minitorch2.kernels.lower.nests import Nest, functions_in, shape_of, tensor_type
from minitorch2.kernels.schedule.frames import Refused

if TYPE_CHECKING:
    from minitorch2.kernels.schedule.fusion import Fusion

MOST_COPIES = 32  # nests in one group
SMALLEST = 1 << 14  # bytes: below, nothing is gained
UNKNOWN_SIZE = 64  # what a size that is not known is taken for


@dataclass(frozen=True, slots=True)
class Recomputed:
    """Values that a group computes again, and the bytes it touches for it and without it."""

    values: tuple[str, ...]
    before: int
    after: int

    def __str__(self) -> str:
        names = ", ".join(self.values)
        return f"{names} computed again: {self.after} bytes instead of {self.before}"


def recompute(fusion: "Fusion") -> list[Recomputed]:
    """Copy nests into the groups that read their results, wherever that moves fewer bytes."""
    found = []
    for number in sorted(fusion.groups):
        group = fusion.groups[number]
        if group.frame is None:
            continue
        made = _Choice(fusion, number).apply()
        if made is not None:
            found.append(made)
    return found


class _Choice:
    """Which of the values that one group reads it computes again."""

    def __init__(self, fusion: "Fusion", group: int):
        self.fusion, self.number, self.group = fusion, group, fusion.groups[group]
        own = {fusion.nest(unit).result for unit in self.group.units}
        self.reads = {
            value for unit in self.group.units for value in fusion.reads[unit]
        } - own  # fmt: skip
        self.candidates = sorted(filter(self.is_cheap, self.reads), key=lambda value: value.id)

    def is_cheap(self, value: Value) -> bool:
        """Whether the value's nest may be computed again here."""
        nest = self.nest(value)
        if nest is None or nest.reducer or nest.may_fail() or EXPENSIVE & set(
            functions_in(nest.value)
        ):  # fmt: skip
            return False
        frame = self.group.frame
        return frame is not None and frame.place(nest) is not None

    def nest(self, value: Value) -> Nest | None:
        """The nest that makes a value in another kernel."""
        unit = self.fusion.makers.get(value)
        if unit is None or self.fusion.owner[unit] == self.number:
            return None
        made = self.fusion.program.units[unit]
        return made if isinstance(made, Nest) else None

    def expanded(self, replaced: frozenset[Value]) -> tuple[set[Value], set[Value]] | None:
        """The values to copy for these, and the values read then; None if it is too much."""
        copied: set[Value] = set()
        reads = self.reads - replaced
        pending = list(replaced)
        while pending:
            value = pending.pop()
            if value in copied:
                continue
            copied.add(value)
            if len(copied) > MOST_COPIES:
                return None
            for source in self.fusion.reads[self.fusion.makers[value]]:
                kept = source in self.reads and source not in replaced
                own = self.fusion.makers.get(source)
                if own is not None and self.fusion.owner[own] == self.number:
                    continue
                stored = source not in replaced and self.is_stored(source)
                if kept or stored or not self.is_cheap(source):
                    reads.add(source)
                else:
                    pending.append(source)
        return copied, reads

    def is_stored(self, value: Value) -> bool:
        """Whether somebody else has a value stored."""
        return value in self.fusion.makers and (
            self.fusion.is_kept(value) or bool(self.fusion.reading_groups(value) - {self.number})
        )

    def cost(self, reads: set[Value]) -> Fraction:
        """The bytes the group reads, and its part of what is stored for it."""
        return sum((size_of(value) * (1 + self.share(value)) for value in reads), Fraction())

    def share(self, value: Value) -> Fraction:
        """This group's part of storing a value; none where it is stored in any case."""
        if self.nest(value) is None or self.fusion.is_kept(value):
            return Fraction(0)
        others = self.fusion.reading_groups(value) - {self.number}
        library = any(self.fusion.groups[other].frame is None for other in others)
        return Fraction(0) if library else Fraction(1, 1 + len(others))

    def apply(self) -> Recomputed | None:
        """Choose, and put the copies into the group."""
        if not self.candidates:
            return None
        chosen = frozenset(self.candidates)
        plain = self.cost(self.reads)
        best = self.bytes_of(chosen)
        for value in self.candidates:
            fewer = chosen - {value}
            cost = self.bytes_of(fewer)
            if best is None or (cost is not None and cost <= best):
                chosen, best = fewer, cost
        found = self.expanded(chosen)
        if not chosen or found is None or best is None or plain - best < SMALLEST:
            return None
        return self.accepted(*found, int(plain), int(best))

    def bytes_of(self, replaced: frozenset[Value]) -> Fraction | None:
        """The cost with these values computed again; None where that is too much to do."""
        found = self.expanded(replaced)
        return None if found is None else self.cost(found[1])

    def accepted(
        self, copied: set[Value], reads: set[Value], before: int, after: int
    ) -> Recomputed | None:
        """Make the change, unless the group cannot be a kernel with it."""
        fusion = self.fusion
        writers = fusion.writers_of(reads - self.reads)
        if any(fusion.waits(self.number, writer) for writer in writers):
            return None
        copies = tuple(sorted(fusion.makers[value] for value in copied))
        changed = replace(self.group, copies=copies)
        try:
            fusion.check_copies(changed, reads)
        except Refused:
            return None
        fusion.groups[self.number] = changed
        for unit in copies:
            fusion.copied.setdefault(unit, set()).add(self.number)
        if not self.can_be_read(reads - self.reads):
            fusion.groups[self.number] = self.group
            for unit in copies:
                fusion.copied[unit].discard(self.number)
            return None
        for writer in writers:
            fusion.put_before(self.number, writer)
        names = tuple(f"%{value.id}" for value in sorted(copied, key=lambda value: value.id))
        return Recomputed(names, before, after)

    def can_be_read(self, values: set[Value]) -> bool:
        """Whether the groups that make these values can be kernels that store them too."""
        fusion = self.fusion
        makers = {fusion.owner[fusion.makers[v]] for v in values if self.nest(v) is not None}
        try:
            for maker in makers:
                group = fusion.groups[maker]
                assert group.frame is not None
                fusion.check(group.units, group.frame)
                fusion.assembled(group, "trial")
        except Refused:
            return False
        return True


def size_of(value: Value) -> int:
    """Bytes of a value; sizes that are not known count as UNKNOWN_SIZE."""
    element = tensor_type(value).dtype.itemsize
    return product_of(shape_of(value)) * element


def product_of(sizes: Iterable) -> int:
    """The product of sizes as a number."""
    total = product(sizes)
    return evaluate(total, dict.fromkeys(total.symbols(), UNKNOWN_SIZE))
