"""The same kernel for a GPU: its loops dealt to blocks, warps and threads, four elements at a time.

In: a kernel of loop IR as the CPU runs it. Out: one with `threads` and the same meaning. Turns
without inner loops are dealt to all threads of the grid; a row with reductions or inner loops goes
to a warp if it is short (at most 512 columns), else to a block; a reduction down columns stays
with the thread of its column, so that neighbours read neighbours, and so do inner loops that may
store to one element twice. Innermost loops whose buffers
are read along them are cut into vectors of 16 bytes, where the bounds and strides are known
multiples; what is left of a loop over all elements is a second, short loop.

    for i in 4*s0 parallel {            =>   for i in s0 threads { for ie in 4 vector {
      y[i] = exp(x[i]) }                       y[4*i + ie] = exp(x[4*i + ie]) } }

    for i in s0 parallel {              =>   for i in s0 warps {
      reduce j in 256 { x[256*i + j] }         reduce j in 64 threads, je in 4 vector { ... }

Vectors need buffers that begin at a multiple of 16 bytes; `schedule_gpu(kernel, vectors=False)` is
for the others.

Source: the schedules of Triton's softmax and layer-norm tutorials, without their padding.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from minitorch2.dtypes import dtype
from minitorch2.kernels.index import (
    Index,
    Ranges,
    coefficient,
    constant,
    evaluate,
    exact_quotient,
    floor_divide,
    modulo,
    recombine,
    substitute,
    symbol,
)
from minitorch2.kernels.loop_ir import (
    Check,
    Kernel,
    LetIndex,
    Loop,
    Reduce,
    Statement,
    Store,
    Window,
)
from minitorch2.kernels.schedule.rewrite import every_index, loads_of, map_indices

ACCESS_BYTES = 16
WARP = 32
POINTWISE_THREADS = 256
ROW_THREADS = (64, 512)  # of a block that has a row: at least, at most
SHORT_ROW = 512  # columns up to which a warp has a row
WARP_ROWS = 4  # rows of a block then


def schedule_gpu(kernel: Kernel, vectors: bool = True) -> Kernel:
    """The kernel with its loops dealt to a GPU's blocks and threads."""
    plan = _Planner(kernel, vectors)
    if kernel.parallel_extent is None:
        loop = Loop("once", constant(1), kernel.body, origin=kernel.body[0].origin)
    else:
        assert isinstance(kernel.body[0], Loop)
        loop = replace(kernel.body[0], parallel=False)
    inner = [each for each in loop.body if isinstance(each, Loop | Reduce)]
    if not inner:
        return plan.elements(loop)
    columns = all(_down_columns(each, loop.variable) for each in inner)
    if columns or any(_collides(each, frozenset()) for each in inner):
        threads = POINTWISE_THREADS
        return replace(kernel, body=(replace(loop, spread="threads"),), threads=threads)
    return plan.rows(loop)


def grid_blocks(kernel: Kernel, sizes: Mapping[str, int], most: int = 65536) -> int:
    """How many blocks to launch a scheduled kernel in; loops stride over what is more."""
    blocks = 1
    for loop in kernel.body:
        assert isinstance(loop, Loop)
        each = {"blocks": 1, "warps": kernel.threads // WARP, "threads": kernel.threads}
        blocks = max(blocks, -(-evaluate(loop.extent, sizes) // each[loop.spread]))
    return min(blocks, most)


def _down_columns(statement: Statement, row: str) -> bool:
    """Whether a reduction's loads are neighbours along the outer loop, and not along its own."""
    if not isinstance(statement, Reduce):
        return False
    crossing = False
    for index in every_index((statement,)):
        outer, own = coefficient(index, row), coefficient(index, statement.domain[-1][0])
        if outer is None or own is None or outer.as_int() not in (0, 1):
            return False
        crossing |= outer.as_int() == 1 and own.as_int() not in (0, 1)
    return crossing


def _collides(statement: Statement, placed: frozenset[str]) -> bool:
    """Whether turns of a loop may store to one element; `placed` are indices found in data."""
    if isinstance(statement, Store):
        return statement.accumulate or bool(statement.index.symbols() & placed)
    if not isinstance(statement, Loop):
        return False
    found = {each.name for each in statement.body if isinstance(each, Check | Window)}
    return any(_collides(each, placed | found) for each in statement.body)


@dataclass(frozen=True, slots=True)
class _Planner:
    """Deals the loops of one kernel."""

    kernel: Kernel
    vectors: bool

    def elements(self, loop: Loop) -> Kernel:
        """Every turn of a loop without inner loops to a thread of the grid."""
        loops = self.split(loop, {})
        body = tuple(replace(each, spread="threads") for each in loops)
        return replace(self.kernel, body=body, threads=POINTWISE_THREADS)

    def rows(self, loop: Loop) -> Kernel:
        """Every turn of a loop with inner loops to a warp or a block."""
        ranges = {loop.variable: loop.extent}
        body = tuple(self.inner(each, ranges) for each in loop.body)
        columns = max(_longest(loop.body))
        short = columns is not None and columns <= SHORT_ROW and loop.extent != constant(1)
        threads = WARP * WARP_ROWS if short else _row_threads(_turns(body))
        row = replace(loop, body=body, spread="warps" if short else "blocks")
        return replace(self.kernel, body=(row,), threads=threads)

    def inner(self, statement: Statement, ranges: Ranges) -> Statement:
        """A statement of a row, with its innermost loop dealt to the row's threads."""
        if isinstance(statement, Reduce):
            return self.reduction(statement, ranges)
        if not isinstance(statement, Loop):
            return statement
        ranges = {**ranges, statement.variable: statement.extent}
        if any(isinstance(each, Loop | Reduce) for each in statement.body):
            body = tuple(self.inner(each, ranges) for each in statement.body)
            return replace(statement, body=body)
        split = self.split(statement, ranges)
        return replace(split[0] if len(split) == 1 else statement, spread="threads")

    def reduction(self, reduce: Reduce, ranges: Ranges) -> Reduce:
        """A reduction of a row: its last loop dealt to the row's threads."""
        *outer, (variable, extent) = reduce.domain
        plain = ("",) * len(outer)
        group = self.group(variable, extent, (reduce,), {**ranges, **dict(outer)})
        if group is None or group.rest is not None:
            return replace(reduce, spread=(*plain, "threads"))
        (moved,) = group.body
        assert isinstance(moved, Reduce)
        domain = (*outer, (variable, group.turns), (group.element, constant(group.width)))
        return replace(moved, domain=domain, spread=(*plain, "threads", "vector"))

    def split(self, loop: Loop, ranges: Ranges) -> tuple[Loop, ...]:
        """The loop in vectors, and what is left over; the loop as it is where that is no use."""
        group = self.group(loop.variable, loop.extent, loop.body, ranges)
        if group is None:
            return (loop,)
        width = constant(group.width)
        vector = Loop(group.element, width, group.body, origin=loop.origin, spread="vector")
        main = replace(loop, extent=group.turns, body=(vector,))
        return (main,) if group.rest is None else (main, group.rest(loop))

    def group(
        self, variable: str, extent: Index, body: tuple[Statement, ...], ranges: Ranges
    ) -> "_Group | None":
        """How a loop is cut into vectors, or None."""
        sizes = self._sizes(body, variable)
        if not self.vectors or not sizes:
            return None
        width = min(max(ACCESS_BYTES // max(sizes), 2), 8)
        turns, rest = exact_quotient(extent, constant(width)), None
        if turns is None:
            if ranges:  # rows of such a length do not begin at multiples of the vector
                return None
            turns, rest = floor_divide(extent, constant(width), {}), _rest(width)
        element = f"{variable}e"
        inside = {**ranges, variable: turns, element: constant(width)}
        index = symbol(variable) * width + symbol(element)
        moved = _moved(body, {variable: index}, inside)
        accesses = list(_accesses(moved))
        if not any(aligned(index, element, width) for _, index in accesses):
            return None
        return _Group(element, width, turns, moved, rest)

    def _sizes(self, body: tuple[Statement, ...], variable: str) -> list[int]:
        """Item sizes of the buffers that are used along a loop."""
        types: dict[str, dtype] = {b.name: b.dtype for b in self.kernel.buffers}
        named = {s.name for s in body if isinstance(s, LetIndex) if variable in s.index.symbols()}
        moving = {variable, *named}
        return [types[name].itemsize for name, index in _accesses(body) if index.symbols() & moving]


@dataclass(frozen=True, slots=True)
class _Group:
    """A loop in vectors: the element's variable, turns of the outer loop, the rewritten body."""

    element: str
    width: int
    turns: Index
    body: tuple[Statement, ...]
    rest: Callable[[Loop], Loop] | None


def _rest(width: int) -> Callable[[Loop], Loop]:
    """Makes the loop over the elements after the last whole vector."""

    def rest(loop: Loop) -> Loop:
        whole = floor_divide(loop.extent, constant(width), {}) * width
        name = f"{loop.variable}r"
        extent = modulo(loop.extent, constant(width), {})
        body = _moved(loop.body, {loop.variable: whole + symbol(name)}, {})
        return Loop(name, extent, body, origin=loop.origin)

    return rest


def aligned(index: Index, element: str, width: int) -> bool:
    """Whether the elements of a vector are neighbours that begin at a multiple of its width."""
    step = coefficient(index, element)
    if step is None or step != constant(1):
        return False
    return all(factor % width == 0 for _, factor in (index - symbol(element)).terms)


def _moved(
    body: tuple[Statement, ...], values: dict[str, Index], ranges: Ranges
) -> tuple[Statement, ...]:
    """The body with a variable replaced in every index; index names are written out."""
    known, result = dict(values), []
    for statement in body:

        def move(index: Index) -> Index:
            return recombine(substitute(index, known, ranges))

        if isinstance(statement, LetIndex):
            known[statement.name] = move(statement.index)
        elif isinstance(statement, Reduce):
            result.append(_moved_reduce(statement, known, ranges))
        else:
            result.append(map_indices(statement, move))
    return tuple(result)


def _moved_reduce(reduce: Reduce, known: dict[str, Index], ranges: Ranges) -> Statement:
    body = _moved(reduce.body, known, ranges)
    for each in reduce.body:
        if isinstance(each, LetIndex):
            known[each.name] = substitute(each.index, known, ranges)
    bare = replace(reduce, body=())
    moved = map_indices(bare, lambda index: recombine(substitute(index, known, ranges)))
    assert isinstance(moved, Reduce)
    return replace(moved, body=body, domain=reduce.domain)


def _accesses(body: tuple[Statement, ...]) -> Iterator[tuple[str, Index]]:
    """Buffers and indices of all loads and stores."""
    for statement in body:
        for load in loads_of(statement):
            yield load.buffer, load.index
        if isinstance(statement, Store):
            yield statement.buffer, statement.index
        elif isinstance(statement, Reduce | Loop):
            yield from _accesses(statement.body)
        if isinstance(statement, Reduce):
            for each in statement.accumulators:
                yield from ((load.buffer, load.index) for load in loads_of(each.value))


def _longest(body: tuple[Statement, ...]) -> list[float]:
    """The extents of the innermost loops; infinity for one that is not known."""
    found: list[float] = [0]
    for statement in body:
        if isinstance(statement, Reduce):
            known = statement.domain[-1][1].as_int()
            found.append(float("inf") if known is None else known)
        elif isinstance(statement, Loop):
            known = statement.extent.as_int()
            found += _longest(statement.body)
            found.append(float("inf") if known is None else known)
    return found


def _turns(body: tuple[Statement, ...]) -> list[int]:
    """How many turns of each dealt loop there are, where it is known."""
    found: list[int | None] = []
    for statement in body:
        if isinstance(statement, Reduce):
            found += [extent.as_int() for _, extent, word in statement.axes() if word == "threads"]
        elif isinstance(statement, Loop):
            found += [statement.extent.as_int()] if statement.spread else _turns(statement.body)
    return [POINTWISE_THREADS if turns is None else turns for turns in found]


def _row_threads(turns: list[int]) -> int:
    """A power of two that gives every thread a turn."""
    least, most = ROW_THREADS
    threads = least
    while threads < min(max(turns, default=least), most):
        threads *= 2
    return threads
