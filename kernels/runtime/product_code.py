"""The inner loops of matrix products as native code: tiles of places times vectors of columns.

In: a Shape and a float type. Out: a Module with one kernel `(block, i, n)`, whose argument block
is the list of words PRODUCT below.

    product_f32     c[r, j] = sum over k of a[r, k] * b[k, j], for each of `pieces`

Terms come in stretches of `together`; the sums of a stretch stay in registers and are added to
what the ones before left in c. So the order of a sum depends on the terms alone, and not on how
rows and columns are cut. b is laid out in blocks of columns; a is read where it lies, or, where
neighbours in memory are rows, copied tile by tile.

Source: K. Goto and R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008).
"""

from llvmlite import ir

from minitorch2.kernels.runtime.convolution_code import Shape, Sums
from minitorch2.kernels.runtime.native import I64, VOID, Function, Module
from minitorch2.kernels.runtime.tiles import Tiles

PRODUCT = ("total", "status", "a", "b", "c", "pieces", "together", "a_row", "a_term",
           "b_term", "b_column", "c_row", "most_rows", "most_columns")  # fmt: skip
# Where a piece begins, in bytes; its size; how many terms there were before, that it is added to.
PIECE = ("a", "b", "c", "rows", "columns", "terms", "before")
TILES_TOGETHER = 16  # that share a pass over b, so that their part of a stays in the cache


class ProductCode(Module):
    """The module for one float type."""

    def __init__(self, shape: Shape, short: str) -> None:
        super().__init__(f"product_{short}")
        self.shape = shape
        self.allocate = self.outside("malloc", I64, [I64])
        self.free = self.outside("free", VOID, [I64])
        _Product(self, short).write()


class _Product(Tiles):
    """Units are pieces; each lays out b (and a, if need be) in memory of its own."""

    def write(self) -> None:
        """Write the kernel: for each piece the panels of b, then the tiles that read them."""
        stretch = self.stretch()
        f = self.code.function(f"product_{self.short}", I64, [I64] * 3, export=True)
        of = self.words(f, PRODUCT)
        wide = I64(2 * self.lanes)
        columns = f.builder.mul(f.builder.udiv(f.builder.add(
            of["most_columns"], I64(2 * self.lanes - 1)), wide), wide)  # fmt: skip
        size = f.builder.mul(of["together"], f.builder.add(columns, of["most_rows"]))
        address = f.call(self.code.allocate, f.builder.add(
            f.builder.mul(size, I64(self.size)), I64(64)))  # fmt: skip
        aligned = f.builder.and_(f.builder.add(address, I64(63)), I64(-64))
        memory = self.elements(f, aligned)
        behind = self.past(f, memory, f.builder.mul(of["together"], columns))
        lo, hi = self.share(f, of["total"])
        with f.count(lo, hi) as unit:
            piece = self.entry(f, of["pieces"], PIECE, unit)
            a, b, c = (self.elements(f, f.builder.add(of[name], piece[name])) for name in "abc")
            term = f.variable(0)
            with f.loop():
                at = f.get(term)
                left = f.builder.sub(piece["terms"], at)
                f.leave(f.test(left, "<=", 0))
                count = self.least(f, left, of["together"])
                f.call(stretch, self.past(f, a, f.builder.mul(at, of["a_term"])),
                       self.past(f, b, f.builder.mul(at, of["b_term"])), c, memory, behind,
                       of["a_row"], of["a_term"], of["b_term"], of["b_column"], of["c_row"],
                       piece["rows"], piece["columns"], count,
                       f.builder.add(at, piece["before"]))  # fmt: skip
                f.put(term, f.builder.add(at, count))
        f.call(self.code.free, address)
        f.ret(0)

    def stretch(self) -> Function:
        """All tiles of a piece, for some of the terms."""
        tiles = {size: self.tile(*size) for size in self.sizes()}
        turning, panels, lines = self.turning(), self.panels(), self.lines()
        kinds = [self.array] * 5 + [I64] * 9
        f = self.code.function(f"stretch_{self.short}", VOID, kinds)
        (a, b, c, packed, behind, a_row, a_term, b_term, b_column, c_row, rows, columns, count,
         before) = f.arguments  # fmt: skip
        with f.builder.if_else(f.test(b_term, "==", 1)) as (turned, straight):
            with turned:
                f.call(turning, b, columns, b_column, count, packed)
            with straight:
                f.call(panels, b, columns, b_term, count, packed)
        copied = f.test(a_term, "!=", 1)
        number = self.tiles_of(f, rows)
        with f.when(copied):
            f.call(lines, a, rows, a_term, count, behind)
        wide, group = I64(2 * self.lanes), I64(TILES_TOGETHER)
        groups = f.builder.udiv(f.builder.add(number, I64(TILES_TOGETHER - 1)), group)
        blocks = f.builder.udiv(f.builder.add(columns, I64(2 * self.lanes - 1)), wide)
        with f.count(0, groups) as many, f.count(0, blocks) as block:
            column = f.builder.mul(block, wide)
            left = self.least(f, f.builder.sub(columns, column), wide)
            vectors = f.builder.select(f.test(left, ">", self.lanes), I64(2), I64(1))
            start = f.builder.mul(many, group)
            last = self.least(f, f.builder.add(start, group), number)
            mine = self.past(f, packed, f.builder.mul(column, count))
            with f.count(start, last) as tile:
                first, size = self.bounds(f, rows, number, tile)
                here = f.builder.select(
                    copied, self.past(f, behind, f.builder.mul(first, count)),
                    self.past(f, a, f.builder.mul(first, a_row)))  # fmt: skip
                there = f.builder.add(f.builder.mul(first, c_row), column)
                self.chosen(f, tiles, vectors, size, [
                    here, f.builder.select(copied, I64(1), a_row),
                    f.builder.select(copied, size, I64(1)), mine, count,
                    self.past(f, c, there), c_row, left, before,
                ])  # fmt: skip
        f.ret()
        return f

    def tiles_of(self, f: Function, rows: ir.Value) -> ir.Value:
        most = self.shape.places
        return f.builder.udiv(f.builder.add(rows, I64(most - 1)), I64(most))

    def bounds(
        self, f: Function, rows: ir.Value, number: ir.Value, tile: ir.Value
    ) -> tuple[ir.Value, ir.Value]:
        """The first row of a tile, and how many: rows are dealt evenly."""
        first, last = (f.builder.udiv(f.builder.mul(rows, at), number)
                       for at in (tile, f.builder.add(tile, I64(1))))  # fmt: skip
        return first, f.builder.sub(last, first)

    def tile(self, vectors: int, count: int) -> Function:
        """Sums for so many rows and vectors of columns, over one stretch of terms."""
        kinds = [self.array, I64, I64, self.array, I64, self.array, I64, I64, I64]
        f = self.code.function(f"tile_{self.short}_{vectors}_{count}", VOID, kinds)
        a, a_row, a_term, b, terms, c, c_row, columns, before = f.arguments
        width = vectors * self.lanes
        part = f.builder.alloca(self.kind, count * width)
        places = [self.past(f, a, f.builder.mul(a_row, I64(at))) for at in range(count)]
        sums = Sums(self, f, terms, count * vectors)
        number, values = sums.begin()
        moved, first = f.builder.mul(number, a_term), f.builder.mul(number, I64(width))
        columns_here = [self.load(f, b, f.builder.add(first, I64(at * self.lanes)))
                        for at in range(vectors)]  # fmt: skip
        numbers = [self.past(f, place, moved) for place in places]
        totals = sums.end(self.products(f, values, columns_here, numbers))
        more = f.test(before, ">", 0)
        with f.builder.if_else(f.test(columns, "==", width)) as (whole, partly):
            with whole:
                for row in range(count):
                    there = self.past(f, c, f.builder.mul(c_row, I64(row)))
                    self.written(f, totals[row * vectors :][:vectors], more, there)
            with partly:
                for at, total in enumerate(totals):
                    self.store(f, total, part, I64(at * self.lanes))
                with f.count(0, I64(count)) as row, f.count(0, columns) as at:
                    place = self.past(f, c, f.builder.add(f.builder.mul(c_row, row), at))
                    inside = f.builder.add(f.builder.mul(row, I64(width)), at)
                    new = f.get(self.past(f, part, inside))
                    added = f.builder.fadd(f.get(place), new)
                    f.builder.store(f.builder.select(more, added, new), place)
        f.ret()
        return f

    def written(self, f: Function, totals: list[ir.Value], more: ir.Value, there: ir.Value) -> None:
        """Write whole vectors, or add them to what is there."""
        for at, total in enumerate(totals):
            place = I64(at * self.lanes)
            added = f.builder.fadd(self.load(f, there, place), total)
            self.store(f, f.builder.select(more, added, total), there, place)

    def panels(self) -> Function:
        """Copies [terms, columns] to [blocks of columns, terms, columns of a block]."""
        kinds = [self.array, I64, I64, I64, self.array]
        f = self.code.function(f"panels_{self.short}", VOID, kinds)
        b, columns, step, terms, packed = f.arguments
        lanes, wide = I64(self.lanes), I64(2 * self.lanes)
        place = f.variable(0)
        with f.loop():
            column = f.get(place)
            f.leave(f.test(column, ">=", columns))
            inside = f.builder.urem(column, wide)
            start = f.builder.sub(column, inside)
            single = f.test(f.builder.add(start, lanes), ">=", columns)
            width = f.builder.select(single, lanes, wide)
            there = self.past(f, packed, f.builder.add(f.builder.mul(start, terms), inside))
            here = self.past(f, b, column)
            left = f.builder.sub(columns, column)
            with f.count(0, terms) as term:
                line = self.past(f, here, f.builder.mul(term, step))
                target = self.past(f, there, f.builder.mul(term, width))
                with f.builder.if_else(f.test(left, ">=", self.lanes)) as (whole, partly):
                    with whole:
                        self.store(f, self.load(f, line, I64(0)), target, I64(0))
                    with partly:
                        self.store(f, self.zero(), target, I64(0))
                        with f.count(0, left) as at:
                            f.builder.store(f.get(self.past(f, line, at)),
                                            self.past(f, target, at))  # fmt: skip
            f.put(place, f.builder.add(column, lanes))
        f.ret()
        return f

    def lines(self) -> Function:
        """Copies [terms, rows], whose rows are neighbours, to [tiles, terms, rows of a tile].

        Some tiles at a time, so that each line of memory is read once.
        """
        kinds = [self.array, I64, I64, I64, self.array]
        f = self.code.function(f"lines_{self.short}", VOID, kinds)
        a, rows, step, terms, packed = f.arguments
        most, number = self.shape.places, self.tiles_of(f, rows)
        kind = ir.VectorType(self.kind, most).as_pointer()
        even = f.test(f.builder.urem(rows, I64(most)), "==", 0)
        with f.builder.if_else(even) as (whole, partly):
            with whole:
                groups = f.builder.udiv(f.builder.add(number, I64(3)), I64(4))
                with f.count(0, groups) as group, f.count(0, terms) as term:
                    start = f.builder.mul(group, I64(4))
                    last = self.least(f, f.builder.add(start, I64(4)), number)
                    line = self.past(f, a, f.builder.mul(term, step))
                    with f.count(start, last) as tile:
                        row = f.builder.mul(tile, I64(most))
                        target = f.builder.mul(
                            f.builder.add(f.builder.mul(tile, terms), term), I64(most))  # fmt: skip
                        here, there = self.past(f, line, row), self.past(f, packed, target)
                        moved = f.builder.load(f.builder.bitcast(here, kind), align=self.size)
                        place = f.builder.bitcast(there, kind)
                        f.builder.store(moved, place, align=self.size)
            with partly, f.count(0, number) as tile:
                first, size = self.bounds(f, rows, number, tile)
                begin = f.builder.mul(first, terms)
                with f.count(0, terms) as term:
                    line = self.past(f, a, f.builder.add(f.builder.mul(term, step), first))
                    target = f.builder.add(begin, f.builder.mul(term, size))
                    there = self.past(f, packed, target)
                    with f.count(0, size) as row:
                        f.builder.store(f.get(self.past(f, line, row)), self.past(f, there, row))
        f.ret()
        return f
