"""Pointwise loops that read one way and write the other, such as a transposed copy.

In: a parallel loop whose body is one inner loop, with loads that are neighbours along the outer
variable. Out: source lines in which four turns of the outer loop go through the inner one
together, so that a loaded cache line is used while it is there:

    for block in ...:                       # 4 rows at a time
        for j in range(columns):
            for lane in range(width): y[(first + lane)*columns + j] = x[j*rows + first + lane]

Source: loop blocking, as in Lam, Rothberg and Wolf (ASPLOS 1991).
"""

from minitorch2.kernels.codegen.expressions import index_text
from minitorch2.kernels.codegen.reductions import WriteStatement
from minitorch2.kernels.codegen.writer import Writer
from minitorch2.kernels.index import coefficient
from minitorch2.kernels.loop_ir import Let, Loop, Store
from minitorch2.kernels.schedule.rewrite import loads_of

TILE_LANES = (
    4  # more streams of writes than this collide in the cache for sizes that are powers of 2
)


def tile_plan(loop: Loop) -> Loop | None:
    """The inner loop, if its loads are neighbours along the outer one and not along it."""
    if len(loop.body) != 1 or not isinstance(loop.body[0], Loop):
        return None
    inner = loop.body[0]
    if any(not isinstance(each, Let | Store) for each in inner.body):
        return None
    crossing = False
    for statement in inner.body:
        for load in loads_of(statement):
            along, across = (coefficient(load.index, v) for v in (loop.variable, inner.variable))
            if along is None or across is None:
                return None
            crossing |= along.as_int() == 1 and across.as_int() not in (0, 1)
    return inner if crossing else None


def write_tiles(write: Writer, loop: Loop, inner: Loop, statement: WriteStatement) -> None:
    """Blocks of four outer turns, which go through the inner loop together."""
    lanes = f"u64({TILE_LANES})"
    write.line(f"for block in range((hi - lo + u64({TILE_LANES - 1})) // {lanes}):", loop.origin)
    with write.indented():
        write.line(f"first = lo + block*{lanes}", loop.origin)
        write.line(f"width = minimum({lanes}, hi - first)", loop.origin)
        write.line(f"for {inner.variable} in range({index_text(inner.extent)}):", inner.origin)
        with write.indented():
            write.line("for lane in range(width):", inner.origin)
            with write.indented():
                write.line(f"{loop.variable} = first + lane", inner.origin)
                for each in inner.body:
                    statement(each)
