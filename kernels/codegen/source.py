"""Loop IR as Numba-ready source: one serial function over a chunk [lo, hi) of the parallel loop.

In: a Kernel. Out: KernelSource: the text, the runtime's signature, and for each line the Origin it
comes from. The parameters are `lo, hi, buffers..., sizes..., scalars..., status`.

    def example(lo, hi, b0, b1, s0, status):
        for i in range(lo, hi):
            v0 = b0[i]
            v1 = exp(v0)
            b1[i] = v1

Reductions are written by reductions.py. The text runs compiled and as plain Python alike.

Source: the ABI follows what Numba vectorizes: unsigned indices, typed literals, no early branches.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from minitorch2.artifacts import Origin
from minitorch2.dtypes import dtype
from minitorch2.kernels.codegen.columns import column_plan, write_columns
from minitorch2.kernels.codegen.expressions import (
    expression_text,
    index_text,
    load_text,
    stored_text,
)
from minitorch2.kernels.codegen.reductions import write_reduction
from minitorch2.kernels.codegen.row_cache import cached_rows
from minitorch2.kernels.codegen.streams import streamed_buffers, streams, write_streams
from minitorch2.kernels.codegen.tiles import TILE_LANES, tile_plan, write_tiles
from minitorch2.kernels.codegen.writer import Writer
from minitorch2.kernels.interpreter import messages
from minitorch2.kernels.loop_ir import (
    NOWHERE,
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

ELEMENTS = 64  # neighbours that one thread computes: a cache line of the smallest


@dataclass(frozen=True, slots=True)
class KernelSource:
    """A kernel's source text; `lines[k]` is the Origin of line k + 1; `messages` of its checks."""

    name: str
    text: str
    signature: KernelSignature
    lines: tuple[Origin, ...]
    messages: tuple[str, ...]

    def __str__(self) -> str:
        rows = []
        for line, origin in zip(self.text.rstrip("\n").split("\n"), self.lines, strict=True):
            rows.append(f"{line}  # {origin}" if origin.spans else line)
        return "\n".join(rows)


def generate_source(kernel: Kernel) -> KernelSource:
    """The source of a kernel."""
    writer = Writer()
    names = [b.name for b in kernel.buffers] + list(kernel.sizes) + [s.name for s in kernel.scalars]
    parameters = ", ".join(["lo", "hi", *names, "status"])
    grain = _SourceWriter(kernel, writer).function(parameters)
    signature = KernelSignature(
        arrays=tuple(buffer.dtype.short for buffer in kernel.buffers),
        sizes=len(kernel.sizes),
        scalars=tuple(scalar.dtype.short for scalar in kernel.scalars),
        grain=grain,
    )
    lines = with_named_literals(writer.lines)
    text = "\n".join(line for line, _ in lines) + "\n"
    origins = tuple(origin for _, origin in lines)
    return KernelSource(kernel.name, text, signature, origins, messages(kernel))


LITERAL = re.compile(r"\b(u64|i64|f32|f64)\((-?[0-9.e+-]+)\)")


def with_named_literals(lines: list[tuple[str, Origin]]) -> list[tuple[str, Origin]]:
    """Literals used more than once get a name at the top: Numba types every mention anew."""
    counts = Counter(found[0] for line, _ in lines for found in LITERAL.finditer(line))
    names = {}
    for literal, count in counts.items():
        if count > 1:
            kind, _, value = literal[:-1].partition("(")
            stem = "n" if kind == "u64" else kind
            names[literal] = f"{stem}_{re.sub('[^0-9a-z]', '_', value)}"
    head, *body = lines
    named = [(f"    {name} = {literal}", NOWHERE) for literal, name in names.items()]
    renamed = [
        (LITERAL.sub(lambda found: names.get(found[0], found[0]), line), origin)
        for line, origin in body
    ]
    return [head, *named, *renamed]


class _SourceWriter:
    """Writes the statements of one kernel, in order."""

    def __init__(self, kernel: Kernel, writer: Writer):
        self.kernel, self.writer = kernel, writer
        self.types: dict[str, dtype] = {b.name: b.dtype for b in kernel.buffers}
        self.messages = messages(kernel)
        self.streamed = streamed_buffers(kernel)

    def function(self, parameters: str) -> int:
        """Write the function: its head, the constants, and the loop over this thread's part.

        Returns what a part is a multiple of: a row, a block of rows, or a stretch of elements.
        """
        write, kernel = self.writer, self.kernel
        write.line(f"def {kernel.name}({parameters}):")
        with write.indented():
            if kernel.parallel_extent is None:
                write.line("for once in range(lo, hi):")
                with write.indented():
                    self.block(kernel.body)
                return ELEMENTS
            loop = kernel.body[0]
            assert isinstance(loop, Loop)
            columns = column_plan(loop)
            if columns is not None:
                write_columns(write, columns, self.statement)
                return ELEMENTS
            inner = tile_plan(loop)
            if inner is not None:
                write_tiles(write, loop, inner, self.statement)
                return TILE_LANES
            grain = 1 if any(isinstance(each, Loop | Reduce) for each in loop.body) else ELEMENTS
            stores = streams(loop, self.streamed)
            if stores:
                write_streams(write, loop, ("lo", "hi"), stores, self.types, self.statement)
                return grain
            write.line(f"for {loop.variable} in range(lo, hi):", loop.origin)
            with write.indented():
                self.block(loop.body)
            return grain

    def block(self, body: Sequence[Statement]) -> None:
        if not body:
            self.writer.line("pass")
        cached = cached_rows(body)
        for name, element, length in cached.arrays:
            self.types[name] = element
            self.writer.line(f"{name} = local_{element.short}({length})")
        for statement in cached.body:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        """Write a statement as Python text, loops and reductions whole."""
        write, origin = self.writer, statement.origin
        match statement:
            case Let(name, value):
                write.line(f"{name} = {expression_text(value)}", origin)
            case LetIndex(name, index):
                write.line(f"{name} = {index_text(index)}", origin)
            case Window(name, inside, index, size):
                write.line(f"{name}_at = i64({index_text(index)})", origin)
                below = f"({name}_at < i64({index_text(size)}))"
                write.line(f"{inside} = ({name}_at >= i64(0)) & {below}", origin)
                write.line(f"{name} = u64(select({inside}, {name}_at, i64(0)))", origin)
            case Check(name, value, size, message):
                write.line(f"{name}_at = {expression_text(value)}", origin)
                over = f"({name}_at >= i64({index_text(size)}))"
                self.failure(f"({name}_at < i64(0)) | {over}", message, f"{name}_at", origin)
                write.line(f"{name} = u64({name}_at)", origin)
            case Require(condition, message):
                wrong = f"logical_not({expression_text(condition)})"
                self.failure(wrong, message, "i64(0)", origin)
            case Store():
                self.store(statement)
            case Loop() if stores := streams(statement, self.streamed):
                bounds = "u64(0)", index_text(statement.extent)
                write_streams(write, statement, bounds, stores, self.types, self.statement)
            case Loop(variable, extent, body):
                write.line(f"for {variable} in range({index_text(extent)}):", origin)
                with write.indented():
                    self.block(body)
            case Reduce():
                write_reduction(write, statement, self.statement)

    def store(self, store: Store) -> None:
        element, at = self.types[store.buffer], index_text(store.index)
        value = expression_text(store.value)
        if store.accumulate:
            old = load_text(store.buffer, at, element)
            if element.short == "bool":
                value = f"{old} | {value}"
            else:
                value = f"{old} + {value}"
            if not element.is_floating_point and element.short not in ("bool", "i64"):
                value = f"{element.short}({value})"
        text = f"{store.buffer}[{at}] = {stored_text(value, element)}"
        self.writer.line(text, store.origin)

    def failure(self, wrong: str, message: str, index: str, origin: Origin) -> None:
        write = self.writer
        write.line(f"if {wrong}:", origin)
        with write.indented():
            write.line(f"status[u64(0)] = i64({16 + self.messages.index(message)})", origin)
            write.line(f"status[u64(1)] = {index}", origin)
            write.line("return", origin)
