"""Frames: the loops a kernel runs, and where a nest's axes fall in them.

In: the axes of a nest. Out: a Frame, and for other nests their Place in it: which index
expressions of the frame's variables their axes are, and on which level they run: "full" (each
element), "row" (once a row, beside a reduction's result) or None where they do not fit. A nest of
another shape with as many elements fits through its row-major position, if that needs no division.

    frame (i0 in 4, i1 in 6, i1 folded):  f32[24] -> full, at 6*i0 + i1;  f32[4,1] -> row, at i0

Source: loop alignment as in polyhedral fusion, for the one map that deep learning needs.
"""

import functools
from dataclasses import dataclass, replace

from minitorch2.kernels.index import (
    Divide,
    Index,
    Modulo,
    constant,
    product,
    symbol,
)
from minitorch2.kernels.lower.nests import Nest
from minitorch2.kernels.positions import delinearize, linearize


class Refused(Exception):
    """Nests that cannot be one kernel; the text says why."""


OTHER_ROW = "it reads a reduction's result at another row"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a nest runs in a frame: its axes as expressions, and the level."""

    axes: dict[str, Index]
    level: str


@dataclass(frozen=True, slots=True)
class Frame:
    """Loop variables with extents, in the order of the data; `reduced` are positions folded."""

    axes: tuple[tuple[str, Index], ...]
    reduced: frozenset[int] = frozenset()

    def row_axes(self) -> tuple[tuple[str, Index], ...]:
        """The axes that are not folded."""
        return tuple(axis for at, axis in enumerate(self.axes) if at not in self.reduced)

    def column_axes(self) -> tuple[tuple[str, Index], ...]:
        """The axes that are folded."""
        return tuple(axis for at, axis in enumerate(self.axes) if at in self.reduced)

    def row_loops(self) -> tuple[tuple[str, Index], ...]:
        """The rows as loops: axes of one turn need none."""
        return tuple(axis for axis in self.row_axes() if axis[1] != constant(1))

    def column_loops(self) -> tuple[tuple[str, Index], ...]:
        """The columns as loops: those that turn, at least one."""
        turning = tuple(axis for axis in self.column_axes() if axis[1] != constant(1))
        return turning or self.column_axes()[:1]

    def trailing(self) -> bool:
        """Whether the folded axes are the last ones: each row lies in one stretch."""
        first = len(self.axes) - len(self.reduced)
        return all(at >= first for at in self.reduced)

    def count(self) -> Index:
        """The number of points of all loops."""
        return product(extent for _, extent in self.axes)

    def rows(self) -> Index:
        """The number of rows."""
        return product(extent for _, extent in self.row_axes())

    def renamed(self, names: dict[str, str]) -> "Frame":
        """The frame with some variables renamed."""
        return replace(self, axes=tuple((names.get(n, n), extent) for n, extent in self.axes))

    def place(self, nest: Nest) -> Place | None:
        """Where a nest runs in these loops, or None."""
        if nest.reducer:
            return self._place_reduction(nest)
        count = product(nest.extents())
        if count == self.count() and not (self.reduced and count == self.rows()):
            return _aligned(self.axes, nest.axes, "full")
        if self.reduced and count == self.rows():
            return _aligned(self.row_axes(), nest.axes, "row")
        return None

    def _place_reduction(self, nest: Nest) -> Place | None:
        positions = frozenset(at for at, axis in enumerate(nest.axes) if axis[0] in nest.reduced)
        if nest.extents() == tuple(extent for _, extent in self.axes):
            if positions != self.reduced:
                return None
            names = zip(nest.axes, self.axes, strict=True)
            return Place({own: variable(axis) for (own, _), axis in names}, "full")
        own = frame_of(nest)
        if not own.trailing() or not self.trailing() or own.rows() != self.rows():
            return None
        if own.count() != self.count():
            return None
        rows = _aligned(self.row_axes(), nest.rows(), "row")
        folded = tuple(axis for axis in nest.axes if axis[0] in nest.reduced)
        columns = _aligned(self.column_axes(), folded, "full")
        if rows is None or columns is None:
            return None
        return Place(rows.axes | columns.axes, "full")


@functools.lru_cache(maxsize=4096)
def _aligned(
    frame: tuple[tuple[str, Index], ...], axes: tuple[tuple[str, Index], ...], level: str
) -> Place | None:
    """The axes as expressions of the frame's variables, through the row-major position."""
    sizes, wanted = tuple(e for _, e in frame), tuple(e for _, e in axes)
    variables = tuple(variable(axis) for axis in frame)
    if sizes == wanted:
        parts = variables
    else:
        parts = delinearize(linearize(variables, sizes), wanted, dict(frame))
    if any(has_division(part) for part in parts):
        return None
    return Place({name: part for (name, _), part in zip(axes, parts, strict=True)}, level)


def placed(place: Place | None) -> Place:
    """A place in the loops; Refused where there is none."""
    if place is None:
        raise Refused("its shape does not fit the loops")
    return place


def variable(axis: tuple[str, Index]) -> Index:
    """A loop variable as an index; 0 where its loop has one turn only."""
    return constant(0) if axis[1] == constant(1) else symbol(axis[0])


def has_division(index: Index) -> bool:
    """Whether an index has // or % in it."""
    return any(isinstance(atom, Divide | Modulo) for term, _ in index.terms for atom in term)


def frame_of(nest: Nest) -> Frame:
    """The frame a nest has on its own."""
    axes = tuple((f"i{at}", extent) for at, (_, extent) in enumerate(nest.axes))
    reduced = frozenset(at for at, (name, _) in enumerate(nest.axes) if name in nest.reduced)
    return Frame(axes, reduced)
