"""What the inner loops of convolutions and products share: tiles of numbers times vectors.

In: a Shape and a float type. Out: Tiles, a Writer whose methods write LLVM code. A tile has some
numbers by one or two vectors of rows; each number meets whole vectors. Rows come in blocks of two
vectors (the last block may be one), laid out so that what a term needs lies together.

Source: K. Goto and R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008).
"""

from llvmlite import ir

from minitorch2.kernels.runtime.convolution_code import Writer
from minitorch2.kernels.runtime.native import I32, I64, VOID, Function


class Tiles(Writer):
    """Tables, blocks of rows, the arithmetic of tiles."""

    def entry(
        self, f: Function, table: ir.Value, names: tuple[str, ...], number: ir.Value
    ) -> dict[str, ir.Value]:
        """Row `number` of a table."""
        row = f.slot(f.pointer(table), f.builder.mul(number, I64(len(names))))
        return {name: f.get(f.slot(row, at)) for at, name in enumerate(names)}

    def past(self, f: Function, pointer: ir.Value, elements: ir.Value) -> ir.Value:
        """A pointer so many elements further on."""
        return f.builder.gep(pointer, [elements])

    def least(self, f: Function, a: ir.Value, b: ir.Value) -> ir.Value:
        """The smaller of two integers."""
        return f.builder.select(f.test(a, "<", b), a, b)

    def chosen(
        self, f: Function, tiles: dict[tuple[int, int], Function], vectors: ir.Value,
        count: ir.Value, arguments: list[ir.Value],
    ) -> None:  # fmt: skip
        """Call the tile for so many vectors and places."""
        most = self.shape.places
        key = f.builder.add(f.builder.mul(vectors, I64(most)), count)
        after = f.ir.append_basic_block()
        switch = f.builder.switch(key, after)
        for (number, places), tile in tiles.items():
            tile.ir.attributes.add("noinline")  # one loop each: LLVM takes its time over their sum
            block = f.ir.append_basic_block()
            switch.add_case(I64(number * most + places), block)
            f.builder.position_at_end(block)
            f.call(tile, *arguments)
            f.builder.branch(after)
        f.builder.position_at_end(after)

    def sizes(self) -> list[tuple[int, int]]:
        """Tiles to write: vectors and places."""
        return [(v, count) for v in (1, 2) for count in range(1, self.shape.places + 1)]

    def products(
        self, f: Function, values: list[ir.Value], rows: list[ir.Value], numbers: list[ir.Value]
    ) -> list[ir.Value]:
        """The sums of a tile after one more term: each number times each vector of rows."""
        new = []
        for at, number in enumerate(numbers):
            factor = self.splat(f, f.get(number))
            for which, row in enumerate(rows):
                before = values[at * len(rows) + which]
                new.append(f.builder.call(self.fma, [factor, row, before]))
        return new

    def interleaved(self, f: Function, vectors: list[ir.Value], rounds: int) -> list[ir.Value]:
        """A matrix turned: each round interleaves its first half with its second one."""
        half, lanes = len(vectors) // 2, self.lanes
        low = [at // 2 + lanes * (at % 2) for at in range(lanes)]
        for _ in range(rounds):
            vectors = [
                f.builder.shuffle_vector(vectors[at], vectors[half + at],
                                         ir.Constant(ir.VectorType(I32, lanes), mask))
                for at in range(half) for mask in (low, [n + lanes // 2 for n in low])
            ]  # fmt: skip
        return vectors

    def turning(self) -> Function:
        """Turns [rows, places] to [blocks of rows, places, rows of a block], zeros behind them."""
        kinds = [self.array, I64, I64, I64, self.array]
        f = self.code.function(f"turn_{self.short}", VOID, kinds)
        lines, rows, area, places, turned = f.arguments
        lanes, wide = I64(self.lanes), I64(2 * self.lanes)
        zeros = f.builder.alloca(self.kind, self.lanes)
        self.store(f, self.zero(), zeros, I64(0))
        nothing = self.past(f, zeros, I64(0))
        row_place = f.variable(0)
        with f.loop():
            row = f.get(row_place)
            f.leave(f.test(row, ">=", rows))
            inside = f.builder.urem(row, wide)
            start = f.builder.sub(row, inside)
            single = f.test(f.builder.add(start, lanes), ">=", rows)
            step = f.builder.select(single, lanes, wide)
            there = self.past(f, turned, f.builder.add(f.builder.mul(start, places), inside))
            here = self.past(f, lines, f.builder.mul(row, area))
            left = f.builder.sub(rows, row)
            with f.builder.if_else(f.test(places, "<", self.lanes)) as (few, many):
                with few, f.count(0, places) as place:
                    vector = self.zero()
                    for at in range(self.lanes):
                        inner = self.line(f, (here, area, left, nothing), at, place)
                        vector = f.builder.insert_element(vector, f.get(inner), I32(at))
                    self.store(f, vector, there, f.builder.mul(place, step))
                with many:
                    self.squares(f, (here, area, left, nothing), places, there, step)
            f.put(row_place, f.builder.add(row, lanes))
        f.ret()
        return f

    def line(self, f: Function, source: tuple, at: int, place: ir.Value) -> ir.Value:
        """Where row `at` is at a place: a row behind the last one is zeros."""
        here, area, left, nothing = source
        pointer = self.past(f, here, f.builder.add(f.builder.mul(area, I64(at)), place))
        return f.builder.select(f.test(left, ">", at), pointer, nothing)

    def squares(
        self, f: Function, source: tuple, places: ir.Value, there: ir.Value, step: ir.Value
    ) -> None:
        """Turn squares of as many places as rows, the last one overlapping."""
        end = f.builder.sub(places, I64(self.lanes))
        next_place = f.variable(0)
        with f.loop():
            place = self.least(f, f.get(next_place), end)
            vectors = [self.load(f, self.line(f, source, at, place), I64(0))
                       for at in range(self.lanes)]  # fmt: skip
            turned = self.interleaved(f, vectors, self.lanes.bit_length() - 1)
            for at, vector in enumerate(turned):
                target = f.builder.mul(f.builder.add(place, I64(at)), step)
                self.store(f, vector, there, target)
            f.leave(f.test(place, ">=", end))
            f.put(next_place, f.builder.add(place, I64(self.lanes)))
