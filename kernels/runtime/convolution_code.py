"""The inner loops of convolutions as native code: tiles of sums that stay in registers.

In: a vector width and how many registers to use. Out: a Module with two kernels `(block, i, n)`
for each float type, whose argument blocks are lists of words, FORWARD and WEIGHT below.

    convolve_f32    sum over k of weight[r, k] * planes[offset[k] + p], for rows r and places p
    correlate_f32   sum over samples and p of grad[r, p] * planes[offset[k] + p], for rows r and k

Both read the input as planes, in which the window of each place is the window of the first one
moved by p: a table of offsets says where its elements lie, and no windows are laid out in memory.
convolutions.py makes planes and tables.

Source: the tiles are those of K. Goto and R. van de Geijn, "Anatomy of High-Performance Matrix
Multiplication" (2008); reading windows in place is an implicit convolution (Chetlur et al., 2014).
"""

import platform
from dataclasses import dataclass
from functools import cache
from typing import Any

from llvmlite import ir

from minitorch2.kernels.runtime.machine import cpu
from minitorch2.kernels.runtime.native import F32, F64, I1, I32, I64, Function, Module

FORWARD = ("total", "status", "planes", "weight", "out", "offsets", "blocks", "rows", "block_count",
           "plane_stride", "out_stride", "row_stride", "k", "places", "row_count", "width",
           "step")  # fmt: skip
WEIGHT = ("total", "status", "planes", "grad", "out", "offsets", "blocks", "block_count",
          "plane_stride", "grad_stride", "grad_row", "samples", "in_block", "k", "places",
          "out_stride")  # fmt: skip
BLOCK = ("rows", "first", "second", "third")  # what a table says of a block of rows
KINDS = {"f32": (F32, 4), "f64": (F64, 8)}


@dataclass(frozen=True, slots=True)
class Shape:
    """What fits this CPU's registers: bytes of a vector, rows, vectors and columns of a tile.

    `places` is for tiles of vectors of channels: so many places by two vectors.
    """

    vector: int
    rows: tuple[int, ...]
    vectors: int
    columns: int
    places: int

    def lanes(self, short: str) -> int:
        """How many numbers a vector holds."""
        return self.vector // KINDS[short][1]


def shape_for(features: str, machine: str) -> Shape | None:
    """The shape for a CPU's features (as LLVM writes them); None if it cannot multiply and add."""
    has = set(features.split(","))
    if "+avx512f" in has:
        return Shape(64, (8, 4, 2, 1), 2, 4, 8)
    if {"+avx2", "+fma"} <= has:
        return Shape(32, (4, 2, 1), 2, 2, 6)
    return Shape(16, (8, 4, 2, 1), 2, 4, 8) if machine in ("aarch64", "arm64") else None


@cache
def shape() -> Shape | None:
    """How this CPU's registers are used; None where there are no such kernels."""
    return shape_for(cpu()[1], platform.machine())


class ConvolutionCode(Module):
    """The module with all kernels."""

    def __init__(self, shape: Shape) -> None:
        super().__init__("convolutions")
        self.shape = shape
        self.allocate = self.outside("malloc", I64, [I64])
        self.free = self.outside("free", ir.VoidType(), [I64])
        for short in KINDS:
            _Forward(self, short).write()
            _Weight(self, short).write()


class Writer:
    """What both kernels need: typed pointers, vectors, tables."""

    def __init__(self, code: Any, short: str) -> None:
        self.code, self.short, self.shape = code, short, code.shape
        self.kind, self.size = KINDS[short]
        self.lanes = self.shape.lanes(short)
        self.vector = ir.VectorType(self.kind, self.lanes)
        self.array = self.kind.as_pointer()
        fused = ir.FunctionType(self.vector, [self.vector] * 3)
        name = f"llvm.fma.v{self.lanes}f{8 * self.size}"
        found = code.ir.globals.get(name)
        self.fma = found if found is not None else ir.Function(code.ir, fused, name)

    def load(self, f: Function, pointer: ir.Value, index: ir.Value) -> ir.Value:
        """A vector from an element on, wherever that lies."""
        place = f.builder.bitcast(f.builder.gep(pointer, [index]), self.vector.as_pointer())
        return f.builder.load(place, align=self.size)

    def store(self, f: Function, vector: ir.Value, pointer: ir.Value, index: ir.Value) -> None:
        """Write a vector from an element on."""
        place = f.builder.bitcast(f.builder.gep(pointer, [index]), self.vector.as_pointer())
        f.builder.store(vector, place, align=self.size)

    def splat(self, f: Function, number: ir.Value) -> ir.Value:
        """A vector of equal numbers."""
        none = ir.Constant(self.vector, ir.Undefined)
        first = f.builder.insert_element(none, number, I32(0))
        mask = ir.Constant(ir.VectorType(I32, self.lanes), [0] * self.lanes)
        return f.builder.shuffle_vector(first, none, mask)

    def zero(self) -> ir.Constant:
        """A vector of zeros."""
        return ir.Constant(self.vector, None)

    def add(self, f: Function, *numbers: ir.Value) -> ir.Value:
        """The sum of integers."""
        total = numbers[0]
        for number in numbers[1:]:
            total = f.builder.add(total, number)
        return total

    def words(self, f: Function, names: tuple[str, ...]) -> dict[str, ir.Value]:
        """The words of the argument block by name."""
        block = f.pointer(f.arguments[0])
        return {name: f.get(f.slot(block, at)) for at, name in enumerate(names)}

    def elements(self, f: Function, address: ir.Value) -> ir.Value:
        """An address, an integer, as a pointer to elements."""
        return f.builder.inttoptr(address, self.array)

    def share(self, f: Function, total: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The bounds of part i of n."""
        _, i, n = f.arguments
        lo = f.builder.udiv(f.builder.mul(total, i), n)
        hi = f.builder.udiv(f.builder.mul(total, f.builder.add(i, I64(1))), n)
        return lo, hi

    def block(self, f: Function, of: dict[str, ir.Value], unit: ir.Value) -> dict[str, ir.Value]:
        """The table's entry for a unit of work, and in which sample (or samples) it is."""
        sample = f.builder.udiv(unit, of["block_count"])
        number = f.builder.urem(unit, of["block_count"])
        entry = f.slot(f.pointer(of["blocks"]), f.builder.mul(number, I64(len(BLOCK))))
        found = {name: f.get(f.slot(entry, at)) for at, name in enumerate(BLOCK)}
        return found | {"sample": sample}

    def repeat(self, f: Function, count: ir.Value, sums: int) -> "Sums":
        """A loop of `count` rounds that carries `sums` vectors, all of them zero at first."""
        return Sums(self, f, count, sums)


class Sums:
    """A loop over 0 .. count with sums in registers: `begin`, a turn's instructions, `end`."""

    def __init__(self, writer: Writer, f: Function, count: ir.Value, sums: int) -> None:
        self.writer, self.f, self.count = writer, f, count
        self.body = f.ir.append_basic_block()
        self.after = f.ir.append_basic_block()
        self.first = [writer.zero()] * sums

    def begin(self, first: list[ir.Value] | None = None) -> tuple[ir.Value, list[ir.Value]]:
        """Enter the loop; the number of this turn and the sums so far."""
        builder = self.f.builder
        before = builder.block
        builder.branch(self.body)
        builder.position_at_end(self.body)
        self.number = builder.phi(I64)
        self.number.add_incoming(I64(0), before)
        self.phis = [builder.phi(self.writer.vector) for _ in self.first]
        for phi, value in zip(self.phis, first or self.first, strict=True):
            phi.add_incoming(value, before)
        return self.number, list(self.phis)

    def end(self, values: list[ir.Value], step: int = 1) -> list[ir.Value]:
        """The sums after this turn; leaves the loop when it was the last one."""
        builder = self.f.builder
        following = builder.add(self.number, I64(step))
        self.number.add_incoming(following, builder.block)
        for phi, value in zip(self.phis, values, strict=True):
            phi.add_incoming(value, builder.block)
        more = builder.icmp_unsigned("<", following, self.count)
        builder.cbranch(more, self.body, self.after)
        builder.position_at_end(self.after)
        return values


class _Forward(Writer):
    """convolve: units are (sample, block of rows); a unit's sums go to scratch, then to rows."""

    def write(self) -> None:
        """Write the kernel: for each unit the tiles over its places."""
        tiles = {(rows, count): self.tile(rows, count)
                 for rows in self.shape.rows for count in {1, self.shape.vectors}}  # fmt: skip
        f = self.code.function(f"convolve_{self.short}", I64, [I64] * 3, export=True)
        of = self.words(f, FORWARD)
        size = f.builder.mul(of["places"], I64(self.shape.rows[0] * self.size))
        scratch_address = f.call(self.code.allocate, size)
        scratch = self.elements(f, scratch_address)
        lo, hi = self.share(f, of["total"])
        with f.count(lo, hi) as unit:
            here = self.block(f, of, unit)
            moved = f.builder.mul(here["sample"], of["plane_stride"])
            planes = f.builder.gep(self.elements(f, of["planes"]),
                                   [f.builder.add(moved, here["second"])])  # fmt: skip
            weight = f.builder.gep(self.elements(f, of["weight"]), [here["first"]])
            for rows in self.shape.rows:
                with f.when(f.test(here["rows"], "==", rows)):
                    self.places(f, of, tiles, rows, (planes, weight, scratch))
            start = f.builder.mul(here["sample"], of["out_stride"])
            out = f.builder.gep(self.elements(f, of["out"]),
                                [f.builder.add(start, here["third"])])  # fmt: skip
            self.spread(f, of, here["rows"], scratch, out)
        f.call(self.code.free, scratch_address)
        f.ret(0)

    def tile(self, rows: int, count: int) -> Function:
        """Sums for so many rows and vectors of places, from place 0 of the given pointers."""
        kinds = [self.array] * 2 + [I64.as_pointer(), I64, self.array, I64]
        f = self.code.function(f"tile_{self.short}_{rows}_{count}", ir.VoidType(), kinds)
        planes, weight, offsets, k, scratch, places = f.arguments
        sums = self.repeat(f, k, rows * count)
        number, values = sums.begin()
        offset = f.get(f.builder.gep(offsets, [number]))
        loaded = [self.load(f, planes, f.builder.add(offset, I64(at * self.lanes)))
                  for at in range(count)]  # fmt: skip
        first = f.builder.mul(number, I64(rows))
        new = []
        for row in range(rows):
            number_here = f.get(f.builder.gep(weight, [f.builder.add(first, I64(row))]))
            factor = self.splat(f, number_here)
            for at in range(count):
                new.append(f.builder.call(self.fma, [factor, loaded[at], values[row * count + at]]))
        totals = sums.end(new)
        for row in range(rows):
            for at in range(count):
                place = f.builder.add(f.builder.mul(places, I64(row)), I64(at * self.lanes))
                self.store(f, totals[row * count + at], scratch, place)
        f.ret()
        return f

    def places(
        self, f: Function, of: dict[str, ir.Value], tiles: dict, rows: int, pointers: tuple
    ) -> None:
        """All places of a block: wide tiles, then single vectors, the last one overlapping."""
        planes, weight, scratch = pointers
        offsets = f.pointer(of["offsets"])
        place = f.variable(0)
        wide = self.lanes * self.shape.vectors

        def step(count: int, at: ir.Value) -> None:
            f.call(tiles[rows, count], f.builder.gep(planes, [at]), weight, offsets, of["k"],
                   f.builder.gep(scratch, [at]), of["places"])  # fmt: skip

        with f.loop():
            at = f.get(place)
            f.leave(f.test(f.builder.add(at, I64(wide)), ">", of["places"]))
            step(self.shape.vectors, at)
            f.put(place, f.builder.add(at, I64(wide)))
        last = f.builder.sub(of["places"], I64(self.lanes))
        with f.loop():
            at = f.get(place)
            f.leave(f.test(at, ">=", of["places"]))
            inside = f.builder.select(f.test(at, "<", last), at, last)
            step(1, inside)
            f.put(place, f.builder.add(at, I64(self.lanes)))

    def spread(
        self, f: Function, of: dict[str, ir.Value], rows: ir.Value, scratch: ir.Value, out: ir.Value
    ) -> None:
        """Copy the lines of places from scratch to where they belong."""
        lines = f.pointer(of["rows"])
        copy = self.code.ir.declare_intrinsic(
            "llvm.memcpy", [ir.IntType(8).as_pointer()] * 2 + [I64])  # fmt: skip
        near = f.test(of["step"], "==", 1)
        with f.count(0, rows) as row:
            source = f.builder.mul(row, of["places"])
            target = f.builder.mul(row, of["row_stride"])
            with f.count(0, of["row_count"]) as line:
                entry = f.slot(lines, f.builder.mul(line, I64(2)))
                here = f.builder.gep(
                    scratch, [f.builder.add(source, f.get(f.slot(entry, 0)))])  # fmt: skip
                there = f.builder.gep(
                    out, [f.builder.add(target, f.get(f.slot(entry, 1)))])  # fmt: skip
                with f.builder.if_else(near) as (together, apart):
                    with together:
                        byte = ir.IntType(8).as_pointer()
                        f.builder.call(copy, [
                            f.builder.bitcast(there, byte), f.builder.bitcast(here, byte),
                            f.builder.mul(of["width"], I64(self.size)), I1(0)])  # fmt: skip
                    with apart, f.count(0, of["width"]) as x:
                        moved = f.builder.mul(x, of["step"])
                        number = f.get(f.builder.gep(here, [x]))
                        f.builder.store(number, f.builder.gep(there, [moved]))


class _Weight(Writer):
    """correlate: units are (samples, block of rows); each makes all its columns."""

    def write(self) -> None:
        """Write the kernel: for each unit the tiles over the weights it makes."""
        tiles = {rows: self.tile(rows) for rows in self.shape.rows if rows <= 4}
        f = self.code.function(f"correlate_{self.short}", I64, [I64] * 3, export=True)
        of = self.words(f, WEIGHT)
        columns = I64(self.shape.columns)
        lo, hi = self.share(f, of["total"])
        with f.count(lo, hi) as unit:
            here = self.block(f, of, unit)
            first = f.builder.mul(here["sample"], of["in_block"])
            left = f.builder.sub(of["samples"], first)
            count = f.builder.select(f.test(left, "<", of["in_block"]), left, of["in_block"])
            planes = f.builder.gep(self.elements(f, of["planes"]), [f.builder.add(
                f.builder.mul(first, of["plane_stride"]), here["second"])])  # fmt: skip
            grad = f.builder.gep(self.elements(f, of["grad"]), [f.builder.add(
                f.builder.mul(first, of["grad_stride"]), here["first"])])  # fmt: skip
            out = f.builder.gep(self.elements(f, of["out"]), [f.builder.add(
                f.builder.mul(here["sample"], of["out_stride"]), here["third"])])  # fmt: skip
            block = f.variable(0)
            with f.loop():
                column = f.get(block)
                f.leave(f.test(column, ">=", of["k"]))
                offsets = f.builder.gep(f.pointer(of["offsets"]), [column])
                for rows, tile in tiles.items():
                    with f.when(f.test(here["rows"], "==", rows)):
                        f.call(tile, planes, grad, offsets, count, f.builder.gep(out, [column]),
                               of["plane_stride"], of["grad_stride"], of["grad_row"], of["places"],
                               of["k"])  # fmt: skip
                f.put(block, f.builder.add(column, columns))
        f.ret(0)

    def tile(self, rows: int) -> Function:
        """Sums for so many rows and `columns` offsets over some samples."""
        columns = self.shape.columns
        kinds = [self.array] * 2 + [I64.as_pointer(), I64, self.array] + [I64] * 5
        f = self.code.function(f"columns_{self.short}_{rows}", ir.VoidType(), kinds)
        planes, grad, offsets, count, out, plane_stride, grad_stride, grad_row, places, k = (
            f.arguments
        )
        moves = [f.get(f.builder.gep(offsets, [I64(at)])) for at in range(columns)]
        samples = self.repeat(f, count, rows * columns)
        sample, values = samples.begin()
        plane = f.builder.gep(planes, [f.builder.mul(sample, plane_stride)])
        mine = f.builder.gep(grad, [f.builder.mul(sample, grad_stride)])
        inner = self.repeat(f, places, rows * columns)
        place, sums = inner.begin(values)
        lines = [self.load(f, mine, self.add(f, place, f.builder.mul(grad_row, I64(row))))
                 for row in range(rows)]  # fmt: skip
        new = list(sums)
        for at in range(columns):
            window = self.load(f, plane, f.builder.add(place, moves[at]))
            for row in range(rows):
                slot = row * columns + at
                new[slot] = f.builder.call(self.fma, [lines[row], window, sums[slot]])
        totals = samples.end(inner.end(new, self.lanes))
        for row in range(rows):
            for at in range(columns):
                target = f.builder.gep(
                    out, [f.builder.add(f.builder.mul(k, I64(row)), I64(at))])  # fmt: skip
                f.builder.store(self.folded(f, totals[row * columns + at]), target)
        f.ret()
        return f

    def folded(self, f: Function, vector: ir.Value) -> ir.Value:
        """The sum of a vector's numbers, halves first."""
        width = self.lanes
        none = ir.Constant(self.vector, ir.Undefined)
        while width > 1:
            width //= 2
            order = [*range(width, 2 * width), *range(self.lanes - width)]
            mask = ir.Constant(ir.VectorType(I32, self.lanes), order[: self.lanes])
            vector = f.builder.fadd(vector, f.builder.shuffle_vector(vector, none, mask))
        return f.builder.extract_element(vector, I32(0))
