"""The inner loops of convolutions with many channels: vectors of channels, places one by one.

In: a Shape and a float type. Out: Modules with one kernel `(block, i, n)` each, whose argument
blocks are lists of words, FORWARD and WEIGHT below.

    channels_f32    sum over k of weight[k, r] * plane[offset[k] + p], for places p and rows r
    weights_f32     sum over samples and p of grad[p, r] * plane[offset[k] + p], for k and rows r

A tile is some places (or some k) by one or two vectors of rows: each number of a plane is read
once and meets whole vectors, wherever it lies, so that strides, dilations and narrow images cost
nothing. A unit of work first copies its part of the planes, zeros around them, into memory of its
own that stays in the cache, and the first kernel turns each tile before it writes it.
channel_convolutions.py makes the tables.

Source: the tiles are those of K. Goto and R. van de Geijn, "Anatomy of High-Performance Matrix
Multiplication" (2008); vectors of channels: Georganas et al., "Anatomy of High-Performance Deep
Learning Convolutions on SIMD Architectures" (2018).
"""

from llvmlite import ir

from minitorch2.kernels.runtime.convolution_code import Shape, Sums
from minitorch2.kernels.runtime.native import I64, VOID, Function, Module
from minitorch2.kernels.runtime.tiles import Tiles

COPIED = ("channels", "source_channel", "span", "copied", "groups")
FORWARD = ("total", "status", "source", "weight", "out", "offsets", "bands", "parts", "tiles",
           "copies", *COPIED, "band_count", "slices", "in_slice", "rows", "padded", "area",
           "in_step", "out_step")  # fmt: skip
WEIGHT = ("total", "status", "grad", "source", "out", "offsets", "bands", "pixels", "copies",
          *COPIED, "band_count", "slices", "in_slice", "rows", "padded", "area", "samples",
          "in_block", "taps", "most_pixels")  # fmt: skip
BAND = ("first", "last", "first_copy", "last_copy", "grad")  # parts or pixels; copies; first of g
PART = ("first", "last", "k", "before")  # tiles; terms of a sum; terms of the parts before
TILE = ("place", "target", "count")
COPY = ("from", "to", "count")
TURNED = 8  # places of a turned tile


class ChannelCode(Module):
    """A module with one of the kernels, for one float type."""

    def __init__(self, shape: Shape, kernel: str, short: str) -> None:
        super().__init__(f"{kernel}_{short}")
        self.shape = shape
        self.allocate = self.outside("malloc", I64, [I64])
        self.free = self.outside("free", VOID, [I64])
        (_Channels if kernel == "channels" else _Weights)(self, short).write()


class _Planes(Tiles):
    """What both kernels need: planes in memory of their own."""

    code: ChannelCode

    def clear(self, f: Function, pointer: ir.Value, elements: ir.Value) -> None:
        """Write zeros."""
        byte = ir.IntType(8).as_pointer()
        fill = self.code.ir.declare_intrinsic("llvm.memset", [byte, I64])
        size = f.builder.mul(elements, I64(self.size))
        f.builder.call(fill, [f.builder.bitcast(pointer, byte), ir.IntType(8)(0), size,
                              ir.IntType(1)(0)])  # fmt: skip

    def planes(
        self, f: Function, of: dict[str, ir.Value], copying: Function, band: dict[str, ir.Value],
        source: ir.Value, channels: ir.Value, memory: ir.Value,
    ) -> ir.Value:  # fmt: skip
        """Where the planes of so many channels are: copied, or the input itself."""
        place = f.variable(source, self.array)
        with f.when(f.test(of["copied"], "!=", 0)):
            self.clear(f, memory, f.builder.mul(channels, of["span"]))
            f.call(copying, source, memory, channels, of["source_channel"], of["span"],
                   of["copies"], band["first_copy"], band["last_copy"])  # fmt: skip
            f.put(place, memory)
        return f.get(place)

    def copying(self) -> Function:
        """Copies lines of each channel to their place in a plane."""
        f = self.code.function(f"copy_{self.short}", VOID, [self.array] * 2 + [I64] * 6)
        source, memory, channels, from_step, to_step, table, first, last = f.arguments
        with f.count(0, channels) as channel:
            here = self.past(f, source, f.builder.mul(channel, from_step))
            there = self.past(f, memory, f.builder.mul(channel, to_step))
            with f.count(first, last) as number:
                line = self.entry(f, table, COPY, number)
                self.copy(f, self.past(f, here, line["from"]), self.past(f, there, line["to"]),
                          line["count"])  # fmt: skip
        f.ret()
        return f

    def copy(self, f: Function, here: ir.Value, there: ir.Value, count: ir.Value) -> None:
        """Copy elements: vectors, the last one overlapping; one by one where they are few."""
        lanes, end = I64(self.lanes), f.builder.sub(count, I64(self.lanes))
        with f.builder.if_else(f.test(count, "<", lanes)) as (few, many):
            with few, f.count(0, count) as at:
                f.builder.store(f.get(self.past(f, here, at)), self.past(f, there, at))
            with many:
                place = f.variable(0)
                with f.loop():
                    at = self.least(f, f.get(place), end)
                    self.store(f, self.load(f, here, at), there, at)
                    f.leave(f.test(at, ">=", end))
                    f.put(place, f.builder.add(at, lanes))


class _Channels(_Planes):
    """Units are (sample, group, band of places, slice of the blocks of rows)."""

    def write(self) -> None:
        """Write the kernel: for each unit the planes, then the tiles that read them."""
        tiles = {size: self.tile(*size) for size in self.sizes()}
        copying = self.copying()
        f = self.code.function(f"channels_{self.short}", I64, [I64] * 3, export=True)
        of = self.words(f, FORWARD)
        size = f.builder.mul(f.builder.mul(of["channels"], of["span"]), of["copied"])
        address = f.call(self.code.allocate, f.builder.add(f.builder.mul(
            size, I64(self.size)), I64(64)))  # fmt: skip
        lo, hi = self.share(f, of["total"])
        with f.count(lo, hi) as unit:
            rest, part = f.builder.udiv(unit, of["slices"]), f.builder.urem(unit, of["slices"])
            both = f.builder.udiv(rest, of["band_count"])
            group = f.builder.urem(both, of["groups"])
            band = self.entry(f, of["bands"], BAND, f.builder.urem(rest, of["band_count"]))
            first = f.builder.mul(f.builder.mul(both, of["channels"]), of["source_channel"])
            source = self.past(f, self.elements(f, of["source"]), first)
            planes = self.planes(f, of, copying, band, source, of["channels"],
                                 self.elements(f, address))  # fmt: skip
            out = self.past(f, self.elements(f, of["out"]),
                            f.builder.mul(f.builder.mul(both, of["rows"]), of["area"]))  # fmt: skip
            with f.count(band["first"], band["last"]) as number:
                here = self.entry(f, of["parts"], PART, number)
                terms = f.builder.add(f.builder.mul(of["groups"], here["before"]),
                                      f.builder.mul(group, here["k"]))  # fmt: skip
                weight = self.past(f, self.elements(f, of["weight"]),
                                   f.builder.mul(terms, of["padded"]))  # fmt: skip
                self.blocks(f, of, tiles, part, (here, planes, weight, out))
        f.call(self.code.free, address)
        f.ret(0)

    def blocks(
        self, f: Function, of: dict[str, ir.Value], tiles: dict, part: ir.Value, given: tuple
    ) -> None:
        """All tiles of a slice of the blocks of rows."""
        here, planes, weight, out = given
        wide = I64(2 * self.lanes)
        offsets = f.builder.gep(f.pointer(of["offsets"]), [here["before"]])
        first = f.builder.mul(part, of["in_slice"])
        behind = self.least(f, f.builder.add(first, of["in_slice"]),
                            f.builder.udiv(f.builder.add(of["rows"], I64(2 * self.lanes - 1)),
                                           wide))  # fmt: skip
        with f.count(first, behind) as block:
            row = f.builder.mul(block, wide)
            rows = self.least(f, f.builder.sub(of["rows"], row), wide)
            vectors = f.builder.select(f.test(rows, ">", self.lanes), I64(2), I64(1))
            mine = self.past(f, weight, f.builder.mul(row, here["k"]))
            there = self.past(f, out, f.builder.mul(row, of["area"]))
            with f.count(here["first"], here["last"]) as number:
                tile = self.entry(f, of["tiles"], TILE, number)
                self.chosen(f, tiles, vectors, tile["count"], [
                    self.past(f, planes, tile["place"]), mine, offsets, here["k"], of["in_step"],
                    self.past(f, there, tile["target"]), rows, of["area"], of["out_step"],
                ])  # fmt: skip

    def tile(self, vectors: int, count: int) -> Function:
        """Sums for so many vectors of rows and places, turned and written."""
        kinds = [self.array] * 2 + [I64.as_pointer(), I64, I64, self.array] + [I64] * 3
        f = self.code.function(f"tile_{self.short}_{vectors}_{count}", VOID, kinds)
        planes, weight, offsets, k, in_step, out, rows, area, out_step = f.arguments
        turned = f.builder.alloca(self.kind, TURNED * vectors * self.lanes)
        places = [self.past(f, planes, f.builder.mul(in_step, I64(at))) for at in range(count)]
        sums = Sums(self, f, k, count * vectors)
        number, values = sums.begin()
        offset = f.get(f.builder.gep(offsets, [number]))
        first = f.builder.mul(number, I64(vectors * self.lanes))
        lines = [self.load(f, weight, f.builder.add(first, I64(at * self.lanes)))
                 for at in range(vectors)]  # fmt: skip
        numbers = [self.past(f, place, offset) for place in places]
        totals = sums.end(self.products(f, values, lines, numbers))
        for which in range(vectors):
            mine = totals[which::vectors] + [self.zero()] * (TURNED - count)
            for at, vector in enumerate(self.interleaved(f, mine, TURNED.bit_length() - 1)):
                place = I64(which * TURNED * self.lanes + at * self.lanes)
                self.store(f, vector, turned, place)
        with f.count(0, rows) as row:
            here = self.past(f, turned, f.builder.mul(row, I64(TURNED)))
            there = self.past(f, out, f.builder.mul(row, area))
            self.places(f, here, there, count, out_step)
        f.ret()
        return f

    def places(
        self, f: Function, here: ir.Value, there: ir.Value, count: int, step: ir.Value
    ) -> None:
        """Write a row of places: together where they are neighbours, else one by one."""
        with f.builder.if_else(f.test(step, "==", 1)) as (together, apart):
            with together:
                at = 0
                for width in (8, 4, 2, 1):
                    if count - at >= width:
                        kind = ir.VectorType(self.kind, width).as_pointer()
                        pair = [f.builder.bitcast(self.past(f, each, I64(at)), kind)
                                for each in (here, there)]  # fmt: skip
                        moved = f.builder.load(pair[0], align=self.size)
                        f.builder.store(moved, pair[1], align=self.size)
                        at += width
            with apart:
                for at in range(count):
                    number = f.get(self.past(f, here, I64(at)))
                    target = self.past(f, there, f.builder.mul(step, I64(at)))
                    f.builder.store(number, target)


class _Weights(_Planes):
    """Units are (some samples, group, slice of the channels); each makes all its columns."""

    def write(self) -> None:
        """Write the kernel: for each unit planes and turned gradients, then the tiles' sums."""
        tiles = {size: self.tile(*size) for size in self.sizes()}
        copying, turning = self.copying(), self.turning()
        f = self.code.function(f"weights_{self.short}", I64, [I64] * 3, export=True)
        of = self.words(f, WEIGHT)
        size = f.builder.mul(f.builder.mul(of["in_slice"], of["span"]), of["copied"])
        turned = f.builder.mul(of["padded"], of["most_pixels"])
        address = f.call(self.code.allocate, f.builder.add(f.builder.mul(
            f.builder.add(size, turned), I64(self.size)), I64(64)))  # fmt: skip
        memory = self.elements(f, address)
        lo, hi = self.share(f, of["total"])
        with f.count(lo, hi) as unit:
            part, both = f.builder.urem(unit, of["slices"]), f.builder.udiv(unit, of["slices"])
            group, block = (do(both, of["groups"]) for do in (f.builder.urem, f.builder.udiv))
            channel = f.builder.mul(part, of["in_slice"])
            channels = self.least(f, f.builder.sub(of["channels"], channel), of["in_slice"])
            k = f.builder.mul(channels, of["taps"])
            row = f.builder.add(f.builder.mul(both, of["channels"]), channel)
            out = self.past(f, self.elements(f, of["out"]), f.builder.mul(
                f.builder.mul(row, of["taps"]), of["padded"]))  # fmt: skip
            self.clear(f, out, f.builder.mul(k, of["padded"]))
            first = f.builder.mul(block, of["in_block"])
            last = self.least(f, f.builder.add(first, of["in_block"]), of["samples"])
            with f.count(first, last) as sample:
                here = f.builder.add(f.builder.mul(sample, of["groups"]), group)
                lines = self.past(f, self.elements(f, of["grad"]), f.builder.mul(
                    f.builder.mul(here, of["rows"]), of["area"]))  # fmt: skip
                row = f.builder.add(f.builder.mul(here, of["channels"]), channel)
                source = self.past(f, self.elements(f, of["source"]),
                                   f.builder.mul(row, of["source_channel"]))  # fmt: skip
                with f.count(0, of["band_count"]) as number:
                    band = self.entry(f, of["bands"], BAND, number)
                    planes = self.planes(f, of, copying, band, source, channels,
                                         self.past(f, memory, turned))  # fmt: skip
                    count = f.builder.sub(band["last"], band["first"])
                    f.call(turning, self.past(f, lines, band["grad"]), of["rows"], of["area"],
                           count, memory)  # fmt: skip
                    self.blocks(f, of, tiles, (band["first"], count, k), (planes, memory, out))
        f.call(self.code.free, address)
        f.ret(0)

    def blocks(
        self, f: Function, of: dict[str, ir.Value], tiles: dict, numbers: tuple, given: tuple
    ) -> None:
        """All columns of all blocks of rows, for one band of one sample."""
        (first, count, k), (planes, lines, out) = numbers, given
        wide, most = I64(2 * self.lanes), I64(self.shape.places)
        pixels = f.builder.gep(f.pointer(of["pixels"]), [first])
        with f.count(0, f.builder.udiv(f.builder.add(of["padded"], I64(2 * self.lanes - 1)),
                                       wide)) as block:  # fmt: skip
            row = f.builder.mul(block, wide)
            left = f.builder.sub(of["padded"], row)
            vectors = f.builder.select(f.test(left, ">", self.lanes), I64(2), I64(1))
            mine = self.past(f, lines, f.builder.mul(row, count))
            column = f.variable(0)
            with f.loop():
                at = f.get(column)
                f.leave(f.test(at, ">=", k))
                together = self.least(f, f.builder.sub(k, at), most)
                there = f.builder.add(f.builder.mul(at, of["padded"]), row)
                offsets = f.builder.gep(f.pointer(of["offsets"]), [at])
                self.chosen(f, tiles, vectors, together, [
                    planes, mine, offsets, pixels, count, self.past(f, out, there), of["padded"],
                ])  # fmt: skip
                f.put(column, f.builder.add(at, most))

    def tile(self, vectors: int, count: int) -> Function:
        """Sums for so many vectors of rows and columns, over some places, added to `out`."""
        kinds = [self.array] * 2 + [I64.as_pointer()] * 2 + [I64, self.array, I64]
        f = self.code.function(f"tile_{self.short}_{vectors}_{count}", VOID, kinds)
        planes, lines, offsets, pixels, places, out, padded = f.arguments
        columns = [self.past(f, planes, f.get(f.builder.gep(offsets, [I64(at)])))
                   for at in range(count)]  # fmt: skip
        targets = [self.past(f, out, f.builder.mul(padded, I64(at))) for at in range(count)]
        begin = [self.load(f, target, I64(which * self.lanes))
                 for target in targets for which in range(vectors)]  # fmt: skip
        sums = Sums(self, f, places, count * vectors)
        number, values = sums.begin(begin)
        pixel = f.get(f.builder.gep(pixels, [number]))
        first = f.builder.mul(number, I64(vectors * self.lanes))
        rows = [self.load(f, lines, f.builder.add(first, I64(at * self.lanes)))
                for at in range(vectors)]  # fmt: skip
        numbers = [self.past(f, column, pixel) for column in columns]
        totals = sums.end(self.products(f, values, rows, numbers))
        for at, total in enumerate(totals):
            self.store(f, total, targets[at // vectors], I64(at % vectors * self.lanes))
        f.ret()
        return f
