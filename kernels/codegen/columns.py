"""Reductions down the slow axis of memory, such as the sum over the rows of a matrix.

In: a parallel loop over columns whose body is one fold down the rows. Out: source lines in which a
block of neighbouring columns is the lanes, so that memory is read along rows:

    for block in ...:                          # 256 columns at a time
        for row in range(rows):                # four rows in each turn
            for lane in range(width): acc[lane] = acc[lane] + x[row*columns + first + lane]

Where a matrix has few columns, all of them are one block and its rows one stream, one at a time.

Within a column the rows are folded one after the other, whatever the blocks are; of an argmax, each
lane keeps the best element and its row. Columns of several matrices are one loop whose variable is
divided; then the blocks are those of each matrix in turn.

Source: loop interchange; the alternative, one column at a time, reads a cache line per element.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import cast

from minitorch2.kernels.codegen.expressions import SIXTEEN, index_text
from minitorch2.kernels.codegen.reductions import (
    WriteStatement,
    domain_loops,
    finds_place,
    rounded,
    start_value,
    write_lane_step,
)
from minitorch2.kernels.codegen.writer import Writer
from minitorch2.kernels.index import Index, Modulo, coefficient, symbol
from minitorch2.kernels.loop_ir import (
    Accumulator,
    Check,
    Let,
    LetIndex,
    Loop,
    Reduce,
    Statement,
    Window,
)
from minitorch2.kernels.schedule.rewrite import every_index, loads_of

COLUMN_LANES = 256  # of a block
ROWS = 4  # at a time: what is apart in memory is read side by side
WHOLE = 128, 1024  # columns of a matrix that are one block, whose rows are one stream of memory


@dataclass(frozen=True, slots=True)
class Columns:
    """A parallel loop over columns whose body is one reduction down the rows.

    `variable` is the column. If there are several matrices, `extent` is how many columns each has,
    and `outer` are the statements that say which matrix a turn belongs to.
    """

    loop: Loop
    reduce: Reduce
    after: tuple[Statement, ...]
    variable: str
    outer: tuple[LetIndex, ...] = ()
    extent: Index | None = None

    @property
    def block(self) -> tuple[int, int]:
        """How many columns are a block, and how many rows of it are read side by side."""
        known = None if self.extent is None else self.extent.as_int()
        if known is not None and WHOLE[0] <= known <= WHOLE[1]:
            return known, 1
        return COLUMN_LANES, ROWS


def column_plan(loop: Loop) -> Columns | None:
    """The loop as Columns if its loads are neighbours along it and not along the reduction."""
    lets = tuple(takewhile(lambda each: isinstance(each, LetIndex), loop.body))
    body = loop.body[len(lets) :]
    if not body or not isinstance(body[0], Reduce):
        return None
    reduce, after = body[0], body[1:]
    if not all(_has_lanes(each, reduce) for each in reduce.accumulators):
        return None
    if any(not isinstance(each, Let | LetIndex | Window) for each in reduce.body):
        return None
    if any(isinstance(each, Reduce | Loop | Check) for each in after):
        return None
    found = _of_matrices(loop, cast(tuple[LetIndex, ...], lets), reduce, after)
    if found is None:
        return None
    strided = False
    for index in _load_indices(reduce):
        along = coefficient(index, found.variable)
        if along is None or along.as_int() not in (0, 1):
            return None
        inner = coefficient(index, reduce.domain[-1][0])
        strided |= along.as_int() == 1 and (inner is None or inner.as_int() not in (0, 1))
    return found if strided else None


def _has_lanes(each: Accumulator, reduce: Reduce) -> bool:
    """Whether a lane can fold a column; a position is that in one loop over the rows."""
    if finds_place(each):
        return len(reduce.domain) == 1 and each.value.dtype.short != "bool"
    return each.reducer in ("sum", "prod", "max", "min")


def _of_matrices(
    loop: Loop, lets: tuple[LetIndex, ...], reduce: Reduce, after: tuple[Statement, ...]
) -> Columns | None:
    """Which variable is the column: the loop's own, or the last that its index is divided into."""
    if not lets:
        return Columns(loop, reduce, after, loop.variable)
    *outer, column = lets
    match column.index.terms:
        case (((Modulo(top, extent),), 1),) if top == symbol(loop.variable):
            names = {loop.variable, column.name}
            if any(loop.variable in each.symbols() for each in every_index((reduce, *after))):
                return None
            if any(names & each.index.symbols() - {loop.variable} for each in outer):
                return None
            return Columns(loop, reduce, after, column.name, tuple(outer), extent)
    return None


def _load_indices(reduce: Reduce) -> Iterator[Index]:
    for each in reduce.body:
        if isinstance(each, Let):
            yield from (load.index for load in loads_of(each.value))
        elif isinstance(each, LetIndex | Window):
            yield each.index
    for accumulator in reduce.accumulators:
        yield from (load.index for load in loads_of(accumulator.value))


def _write_rows(write: Writer, columns: Columns, statement: WriteStatement) -> None:
    """Rows a few at a time, so that a lane is read and written once for all of them."""
    reduce, variable, (_, most) = columns.reduce, columns.variable, columns.block
    (row, extent), origin = reduce.domain[-1], reduce.origin
    size, known = index_text(extent), extent.as_int()
    groups, group = write.fresh("groups"), write.fresh("group")
    write.line(f"{groups} = ({size}) // u64({most})", origin)
    parts = [(f"for {group} in range({groups}):", most)]
    if most > 1 and (known is None or known % most):
        parts.append((f"for {group} in range({groups}*u64({most}), {size}):", 1))
    for head, rows in parts:
        write.line(head, origin)
        with write.indented():
            write.line("for lane in range(width):", origin)
            with write.indented():
                write.line(f"{variable} = first + lane", origin)
                for number in range(rows):
                    text = f"{group}*u64({most}) + u64({number})" if rows > 1 else group
                    write.line(f"{row} = {text}", origin)
                    write_lane_step(write, reduce, "lane", statement)


def write_columns(write: Writer, columns: Columns, statement: WriteStatement) -> None:
    """Blocks of neighbouring columns as lanes; within a column the rows in order."""
    lanes, _ = columns.block
    for each in columns.reduce.accumulators:
        element = each.value.dtype if finds_place(each) else each.dtype
        short = "f32" if element.short in SIXTEEN else element.short
        write.line(f"{each.name}_lanes = local_{short}({lanes})", columns.loop.origin)
        if finds_place(each):
            write.line(f"{each.name}_places = local_i64({lanes})", columns.loop.origin)
    if columns.extent is None:
        _write_blocks(write, columns, ("lo", "hi"), statement)
        return
    size, origin = f"({index_text(columns.extent)})", columns.loop.origin
    write.line(f"for matrix in range(lo // {size}, (hi + {size} - u64(1)) // {size}):", origin)
    with write.indented():
        write.line(f"{columns.loop.variable} = matrix*{size}", origin)
        for each_let in columns.outer:
            statement(each_let)
        start = columns.loop.variable
        write.line(f"low = maximum(lo, {start}) - {start}", origin)
        write.line(f"high = minimum(hi, {start} + {size}) - {start}", origin)
        _write_blocks(write, columns, ("low", "high"), statement)


def _write_blocks(
    write: Writer, columns: Columns, bounds: tuple[str, str], statement: WriteStatement
) -> None:
    """The columns of one matrix between two bounds."""
    reduce, variable, origin = columns.reduce, columns.variable, columns.loop.origin
    most, (low, high) = columns.block[0], bounds
    lanes = f"u64({most})"
    count = f"({high} - {low} + u64({most - 1})) // {lanes}"
    write.line(f"for block in range({count}):", origin)
    with write.indented():
        write.line(f"first = {low} + block*{lanes}", origin)
        write.line(f"width = minimum({lanes}, {high} - first)", origin)
        write.line("for lane in range(width):", origin)
        with write.indented():
            for each in reduce.accumulators:
                element = each.value.dtype if finds_place(each) else each.dtype
                start = start_value(each.reducer.removeprefix("arg"), element)
                write.line(f"{each.name}_lanes[lane] = {start}", reduce.origin)
                if finds_place(each):
                    write.line(f"{each.name}_places[lane] = i64(0)", reduce.origin)
        with domain_loops(write, reduce.domain[:-1], reduce.origin):
            _write_rows(write, columns, statement)
        write.line("for lane in range(width):", origin)
        with write.indented():
            write.line(f"{variable} = first + lane", origin)
            for each in reduce.accumulators:
                text = rounded(f"{each.name}_lanes[lane]", each.dtype)
                if finds_place(each):
                    text = f"{each.name}_places[lane]"
                write.line(f"{each.name} = {text}", reduce.origin)
            for each_statement in columns.after:
                statement(each_statement)
