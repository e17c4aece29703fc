"""Whether nests can be one kernel, found out without building the kernel.

In: a Program, a Frame, and the nests that would share its loops. Out: nothing, or Refused with the
reason that assemble.py and hazards.py would give. Fusion asks this for every pair of groups it
tries, so what one question finds is kept for the next: which elements an element is computed from
depends on the loops only, not on the group.

    row i0:  store y[i0, i1]  <-  exp(x[i0, i1] - m[i0])  <-  m folded over row i0: yes
             store z[i0]      <-  m[i0 + 1]               <-  another row's fold:  Refused

Nests with steps (windows, checks) make names as they go; those are assembled to find out.

Source: demand analysis as in Halide's bounds inference, for single elements.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from minitorch2.jit.ir.graph import Value
from minitorch2.jit.ir.types import ScalarType
from minitorch2.kernels.index import Index, substitute, symbol
from minitorch2.kernels.lower.nests import Nest
from minitorch2.kernels.schedule.assemble import assemble
from minitorch2.kernels.schedule.frames import OTHER_ROW, Frame, Place, Refused, placed
from minitorch2.kernels.schedule.hazards import check_places, check_writes
from minitorch2.kernels.schedule.program import Program

Element: TypeAlias = tuple[Value, tuple[Index, ...]]


class Trials:
    """What is known about the elements of a program, loops by loops."""

    def __init__(self, program: Program):
        self.program = program
        self._loops: dict[Frame, Loops] = {}

    def loops(self, frame: Frame) -> "Loops":
        """What is known about the elements in the loops of a frame."""
        found = self._loops.get(frame)
        if found is None:
            found = self._loops[frame] = Loops(self.program, frame)
        return found

    def check(self, frame: Frame, nests: list[Nest], stored: list[Nest]) -> None:
        """Raise Refused unless the nests can share the loops of the frame."""
        writes = any(nest.result in self.program.targets for nest in stored)
        if any(nest.steps for nest in nests):
            made = assemble(self.program, frame, nests, stored, "trial")
            if writes:
                check_writes(made.kernel)
            return
        loops = self.loops(frame)
        loaded = loops.loaded(nests, stored)
        if writes:
            loops.check_writes(stored, loaded)


class Loops:
    """The loops of one frame, and the elements that elements in them are computed from."""

    def __init__(self, program: Program, frame: Frame):
        self.program, self.frame = program, frame
        rows, columns = frame.row_loops(), frame.column_loops()
        again = {name: f"l{number}" for number, (name, _) in enumerate(columns)}
        renamed = [(again[name], extent) for name, extent in columns]
        self.ranges = dict([*rows, *columns, *renamed])
        self.wide = frame.renamed(again)  # the loops that store every element of a row
        self.depths = {name: symbol(f"d{depth}") for depth, (name, _) in enumerate(rows)}
        for number, (name, _) in enumerate(columns):
            self.depths[name] = self.depths[again[name]] = symbol(f"d{len(rows) + number}")
        self.sources: dict[Element, tuple[Element, ...]] = {}
        self.folds: dict[Value, Element] = {}
        self.places: dict[Value, Place | None] = {}

    def place(self, nest: Nest) -> Place | None:
        """Where a nest runs in these loops, or None."""
        if nest.result not in self.places:
            self.places[nest.result] = self.frame.place(nest)
        return self.places[nest.result]

    def loaded(self, nests: Sequence[Nest], stored: Sequence[Nest]) -> set[Element]:
        """The elements that would be loaded; Refused where one is out of reach."""
        made = {nest.result: nest for nest in nests}
        pending: list[Element] = []
        folded: set[Element] = set()
        for nest in nests:
            if nest.reducer and self.frame.reduced:
                fold = self.fold(nest)
                folded.add(fold)
                pending += self.sources[fold]
        pending += self.stores(stored)
        seen: set[Element] = set()
        while pending:
            element = pending.pop()
            if element in seen or element in folded:
                continue
            seen.add(element)
            maker = made.get(element[0])
            if maker is None:
                continue
            if maker.reducer:
                raise Refused(OTHER_ROW)
            pending += self.sources_of(maker, element)
        return {element for element in seen if element[0] not in made}

    def fold(self, nest: Nest) -> Element:
        """The element of a reduction that is folded at each row."""
        found = self.folds.get(nest.result)
        if found is None:
            place = placed(self.place(nest))
            index = tuple(substitute(part, place.axes, self.ranges) for part in nest.output)
            found = self.folds[nest.result] = (nest.result, index)
            self.sources[found] = tuple(self.read(nest, place.axes))
        return found

    def stores(self, stored: Iterable[Nest]) -> Iterator[Element]:
        """The elements that each turn stores."""
        for nest in stored:
            place = placed(self.place(nest))
            if self.frame.reduced and not nest.reducer and place.level == "full":
                place = placed(self.wide.place(nest))
            yield (
                nest.result,
                tuple(substitute(part, place.axes, self.ranges) for part in nest.output),
            )

    def sources_of(self, nest: Nest, element: Element) -> tuple[Element, ...]:
        """The elements that an element of a pointwise nest is computed from."""
        found = self.sources.get(element)
        if found is None:
            place = {name: at for (name, _), at in zip(nest.axes, element[1], strict=True)}
            found = self.sources[element] = tuple(self.read(nest, place))
        return found

    def read(self, nest: Nest, place: dict[str, Index]) -> Iterator[Element]:
        """The elements a nest reads at a place, views resolved."""
        for read in nest.reads():
            if not isinstance(read.value.type, ScalarType):
                index = tuple(substitute(part, place, self.ranges) for part in read.index)
                yield self.program.resolve(read.value, index, self.ranges)

    def check_writes(self, stored: Sequence[Nest], loaded: set[Element]) -> None:
        """Raise Refused if an input is read elsewhere than where it is written."""
        targets = self.program.targets
        stores: dict[Value, set[Index]] = {}
        loads: dict[Value, set[Index]] = {}
        for value, index in self.stores(stored):
            if value in targets:
                stores.setdefault(targets[value], set()).add(self.at(value, index))
        for value, index in loaded:
            target = targets.get(value, value)
            if target in stores:
                loads.setdefault(target, set()).add(self.at(value, index))
        check_places(stores, loads)

    def at(self, value: Value, index: tuple[Index, ...]) -> Index:
        """The place of an element in memory, loop variables named by depth."""
        return substitute(self.program.layout(value).at(index), self.depths, {})
