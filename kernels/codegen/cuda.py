"""A kernel scheduled for a GPU as numba-cuda source: what one thread of the grid does.

In: a Kernel with `threads`. Out: KernelSource. The parameters are buffers (pointers), sizes,
scalars and `status` (two i64: a code, 0 while all is well, and an index).

    def total(t0, t1, status):
        thread = lane_index()
        warps = warp_count()
        i0 = warp_index()
        while i0 < u64(64):                     # for i0 in 64 warps
            r0 = f32(0.0)
            i1 = thread
            while i1 < u64(25):                 # reduce i1 in 25 threads, i1e in 4 vector
                v0_0, v0_1, v0_2, v0_3 = load_4(t0, i0*u64(100) + i1*u64(4))
                r0 = r0 + v0_0
                ...
                i1 = i1 + u64(32)
            r0 = warp_sum(r0)
            if thread == u64(0):
                t1[i0] = r0
            i0 = i0 + warps

Loops are `while`: a stepped `range` would divide. `block_sum_8` folds over 8 warps. A check
that fails notes it in `status` and goes on with index 0, so that no thread misses a barrier.

Source: the SIMT mapping is CUDA's; names of the helpers: vecmath/cuda_intrinsics.py.
"""

from collections.abc import Sequence

from minitorch2.artifacts import Origin
from minitorch2.dtypes import dtype
from minitorch2.kernels.codegen.expressions import (
    SIXTEEN,
    cast_text,
    expression_text,
    index_text,
    load_text,
    stored_text,
)
from minitorch2.kernels.codegen.reductions import rounded, start_value, step_text
from minitorch2.kernels.codegen.source import KernelSource, with_named_literals
from minitorch2.kernels.codegen.unroll import Unrolled, VectorLoad, VectorStore, unrolled
from minitorch2.kernels.codegen.writer import Writer
from minitorch2.kernels.index import Index, constant, symbol
from minitorch2.kernels.interpreter import messages
from minitorch2.kernels.loop_ir import (
    Accumulator,
    Check,
    Kernel,
    Let,
    LetIndex,
    Loop,
    Reduce,
    Require,
    Statement,
    Store,
    Window,
)
from minitorch2.kernels.runtime.signature import KernelSignature
from minitorch2.kernels.vecmath.folds import WARP

# spread of an outermost loop -> (own turn, number of turns at once, the thread in its team)
TEAMS = {
    "blocks": ("block_index()", "block_count()", "thread_index()"),
    "warps": ("warp_index()", "warp_count()", "lane_index()"),
    "threads": ("grid_index()", "grid_size()", ""),
}
ONE_BY_ONE = "u64(0)", "u64(1)"


def generate_cuda(kernel: Kernel) -> KernelSource:
    """The source of a scheduled kernel."""
    writer = Writer()
    names = [b.name for b in kernel.buffers] + list(kernel.sizes) + [s.name for s in kernel.scalars]
    writer.line(f"def {kernel.name}({', '.join([*names, 'status'])}):")
    with writer.indented():
        for loop in kernel.body:
            assert isinstance(loop, Loop)
            _CudaWriter(kernel, writer, loop.spread).outermost(loop)
    signature = KernelSignature(
        arrays=tuple(buffer.dtype.short for buffer in kernel.buffers),
        sizes=len(kernel.sizes),
        scalars=tuple(scalar.dtype.short for scalar in kernel.scalars),
    )
    lines = with_named_literals(writer.lines)
    text = "\n".join(line for line, _ in lines) + "\n"
    origins = tuple(origin for _, origin in lines)
    return KernelSource(kernel.name, text, signature, origins, messages(kernel))


class _CudaWriter:
    """Writes one outermost loop; `team` is what has a turn of it."""

    def __init__(self, kernel: Kernel, writer: Writer, team: str):
        self.kernel, self.writer, self.team = kernel, writer, team
        self.types: dict[str, dtype] = {b.name: b.dtype for b in kernel.buffers}
        self.updated = {b.name for b in kernel.buffers if b.mode == "inout"}
        self.messages = messages(kernel)
        self.dealt = team == "threads"  # whether a statement here belongs to one thread

    def outermost(self, loop: Loop) -> None:
        own, count, thread = TEAMS[self.team]
        write, step = self.writer, f"{self.team}_at_once"
        if thread:
            write.line(f"thread = {thread}", loop.origin)
        write.line(f"{step} = {count}", loop.origin)
        self.strided(loop.variable, loop.extent, (own, step), loop.body, loop.origin)

    def strided(
        self,
        variable: str,
        extent: Index,
        turns: tuple[str, str],
        body: Sequence[Statement],
        origin: Origin,
    ) -> None:
        """A loop from a thread's own turn on, in steps."""
        write, (own, step) = self.writer, turns
        write.line(f"{variable} = {own}", origin)
        write.line(f"while {variable} < {index_text(extent)}:", origin)
        with write.indented():
            self.block(body)
            write.line(f"{variable} = {variable} + {step}", origin)

    def team_step(self) -> str:
        """How many threads share a turn of the outermost loop, as text."""
        return f"u64({WARP if self.team == 'warps' else self.kernel.threads})"

    def block(self, body: Sequence[Statement]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        """Write a statement as CUDA text, loops and reductions whole."""
        write, origin = self.writer, statement.origin
        match statement:
            case Let(name, value):
                write.line(f"{name} = {expression_text(value)}", origin)
            case LetIndex(name, index):
                write.line(f"{name} = {index_text(index)}", origin)
            case Window(name, inside, index, size):
                write.line(f"{name}_at = i64({index_text(index)})", origin)
                self.clamp(name, inside, size, origin)
            case Check(name, value, size, message):
                write.line(f"{name}_at = {expression_text(value)}", origin)
                self.clamp(name, f"{name}_inside", size, origin)
                self.failure(f"{name}_inside", message, f"{name}_at", origin)
            case Require(condition, message):
                self.failure(expression_text(condition), message, "i64(0)", origin)
            case Store():
                self.store(statement)
            case Loop():
                self.loop(statement)
            case Reduce():
                self.reduction(statement)

    def clamp(self, name: str, inside: str, size: Index, origin: Origin) -> None:
        """`inside`: whether name_at is an index below size; name: that index, or 0."""
        below = f"({name}_at < i64({index_text(size)}))"
        self.writer.line(f"{inside} = ({name}_at >= i64(0)) & {below}", origin)
        self.writer.line(f"{name} = u64(select({inside}, {name}_at, i64(0)))", origin)

    def failure(self, fine: str, message: str, index: str, origin: Origin) -> None:
        self.writer.line(f"if logical_not({fine}):", origin)
        with self.writer.indented():
            code = 16 + self.messages.index(message)
            self.writer.line(f"fail(status, i64({code}), {index})", origin)

    def barrier(self, buffers: set[str], origin: Origin) -> None:
        """Wait for the team's reads before an element that was read may be written."""
        if buffers & self.updated and not self.dealt:
            self.writer.line(f"{self.team.removesuffix('s')}_barrier()", origin)

    def store(self, store: Store) -> None:
        """Write a store; one that adds up is a load, the sum, and a store."""
        element, at = self.types[store.buffer], index_text(store.index)
        value = expression_text(store.value)
        if store.accumulate:
            old = load_text(store.buffer, at, element)
            value = f"{old} | {value}" if element.short == "bool" else f"{old} + {value}"
            if not element.is_floating_point and element.short not in ("bool", "i64"):
                value = f"{element.short}({value})"
        text = f"{store.buffer}[{at}] = {stored_text(value, element)}"
        if self.dealt:
            self.writer.line(text, store.origin)
            return
        self.barrier({store.buffer}, store.origin)
        self.writer.line("if thread == u64(0):", store.origin)
        with self.writer.indented():
            self.writer.line(text, store.origin)

    def loop(self, loop: Loop) -> None:
        if loop.spread == "threads":
            self.barrier({s.buffer for s in _stores(loop.body)}, loop.origin)
            self.dealt = True
            turns = "thread", self.team_step()
            self.strided(loop.variable, loop.extent, turns, loop.body, loop.origin)
            self.dealt = False
        elif loop.spread == "vector":
            width = loop.extent.as_int()
            assert width is not None
            self.vector(unrolled(loop.body, loop.variable, width))
        else:
            self.strided(loop.variable, loop.extent, ONE_BY_ONE, loop.body, loop.origin)

    def vector(self, body: Unrolled) -> None:
        """The statements of a vector, written out."""
        write = self.writer
        for each in body.statements:
            if isinstance(each, VectorLoad):
                sixteen = self.types[each.buffer].short in SIXTEEN
                raw = [f"{n}_bits" if sixteen else n for n in each.names]
                left, width = ", ".join(raw), len(each.names)
                call = f"load_{width}({each.buffer}, {index_text(each.first)})"
                write.line(f"{left} = {call}", each.origin)
                if sixteen:
                    for name in each.names:
                        widen = f"widen_{self.types[each.buffer].short}"
                        write.line(f"{name} = {widen}({name}_bits)", each.origin)
            elif isinstance(each, VectorStore):
                element = self.types[each.buffer]
                values = ", ".join(stored_text(expression_text(v), element) for v in each.values)
                call = (
                    f"store_{len(each.values)}({each.buffer}, {index_text(each.first)}, {values})"
                )
                write.line(call, each.origin)
            else:
                self.statement(each)

    # reductions

    def reduction(self, reduce: Reduce) -> None:
        """Write a reduction of one thread: starts, the loops, and what they hand on."""
        write, origin = self.writer, reduce.origin
        for each in reduce.accumulators:
            if each.reducer.startswith("arg"):
                best = start_value(each.reducer[3:], each.value.dtype)
                write.line(f"{each.name}_best = {best}", origin)
                write.line(f"{each.name} = i64({2**63 - 1})", origin)
            else:
                write.line(f"{each.name} = {start_value(each.reducer, each.dtype)}", origin)
        self.domain(reduce, reduce.axes(), constant(0))
        if any(word == "threads" for _, _, word in reduce.axes()):
            for each in reduce.accumulators:
                self.combine(each, origin)
        for each in reduce.accumulators:
            if each.dtype.short in SIXTEEN:
                write.line(f"{each.name} = {rounded(each.name, each.dtype)}", origin)

    def domain(
        self, reduce: Reduce, axes: Sequence[tuple[str, Index, str]], position: Index
    ) -> None:
        """The loops of a reduction's domain, and its steps in the innermost."""
        write, origin = self.writer, reduce.origin
        if not axes:
            self.block(reduce.body)
            for each in reduce.accumulators:
                self.step(each, position, origin)
            return
        (variable, extent, word), *rest = axes
        position = position * extent + symbol(variable)
        if word == "vector":
            width = extent.as_int()
            assert width is not None
            body = unrolled(reduce.body, variable, width)
            self.vector(body)
            for each in reduce.accumulators:
                for lane in range(width):
                    self.step(body.accumulator(each, lane), body.index(position, lane), origin)
            return
        own, step = ("thread", self.team_step()) if word == "threads" else ONE_BY_ONE
        write.line(f"{variable} = {own}", origin)
        write.line(f"while {variable} < {index_text(extent)}:", origin)
        with write.indented():
            self.domain(reduce, rest, position)
            write.line(f"{variable} = {variable} + {step}", origin)

    def step(self, each: Accumulator, position: Index, origin: Origin) -> None:
        """One value folded into a thread's own result."""
        write, value = self.writer, expression_text(each.value)
        if each.reducer in ("any", "all"):
            value = cast_text(value, each.value.dtype, each.dtype)
        if not each.reducer.startswith("arg"):
            step = step_text(each.reducer, each.dtype, each.name, value)
            write.line(f"{each.name} = {step}", origin)
            return
        name, best, new, at = each.name, f"{each.name}_best", f"{each.name}_new", f"{each.name}_at"
        write.line(f"{new} = {value}", origin)
        write.line(f"{at} = i64({index_text(position)})", origin)
        takes = f"takes_{each.reducer[3:]}({name}, {at}, {best}, {new})"
        write.line(f"{name}_wins = {takes}", origin)
        write.line(f"{name} = select({name}_wins, {at}, {name})", origin)
        write.line(f"{best} = select({name}_wins, {new}, {best})", origin)

    def combine(self, each: Accumulator, origin: Origin) -> None:
        """The fold of all threads' results, in every thread."""
        helper = f"warp_{each.reducer}"
        if self.team == "blocks" and self.kernel.threads > WARP:
            helper = f"block_{each.reducer}_{self.kernel.threads // WARP}"
        names = each.name
        if each.reducer.startswith("arg"):
            names = f"{each.name}_best, {each.name}"
        self.writer.line(f"{names} = {helper}({names})", origin)


def _stores(body: Sequence[Statement]) -> list[Store]:
    found: list[Store] = []
    for statement in body:
        if isinstance(statement, Store):
            found.append(statement)
        elif isinstance(statement, Loop):
            found += _stores(statement.body)
    return found
