"""Running sums along lines of memory, eight elements at a time.

In: an element type. Out: a Module with two kernels `(block, i, n)`, whose argument blocks are

    total | status | x | y | c | length | piece | pieces

A line has `length` elements and `pieces` pieces of `piece` elements, the last one of what is left;
`total` counts pieces. c has a number for each piece, in double precision (64 bits for integers).

    sums_f32     y = the running sums of x within each piece, on top of the piece's c
    totals_f32   c = the sum of each piece

A vector is added to itself moved by one, by two and by four lanes: each lane then has the sum of
what comes up to it. What came before is added in double precision and rounded once, so that an
element waits for one addition in eight only, and long sums are as exact as short ones.

Source: W. D. Hillis and G. L. Steele, "Data Parallel Algorithms" (1986).
"""

from llvmlite import ir

from minitorch2.kernels.runtime.native import F32, F64, I32, I64, Function, Module

LANES = 8
WORDS = ("total", "status", "x", "y", "c", "length", "piece", "pieces")
KINDS = {"f32": (F32, F64), "f64": (F64, F64), "i64": (I64, I64)}  # of elements, of sums


class ScanCode(Module):
    """The module for one element type."""

    def __init__(self, short: str) -> None:
        super().__init__(f"scan_{short}")
        self.kind, self.wide = KINDS[short]
        self.bytes = 4 if short == "f32" else 8
        self.vector = ir.VectorType(self.wide, LANES)
        self.zeros = ir.Constant(self.vector, [self.wide(0)] * LANES)
        for name in ("sums", "totals"):
            self._write(f"{name}_{short}", stores=name == "sums")

    def _write(self, name: str, stores: bool) -> None:
        """A kernel: its share of the pieces."""
        f = self.function(name, I64, [I64, I64, I64], export=True)
        block, i, n = f.arguments
        words = f.pointer(block)
        of = {word: f.get(f.slot(words, at)) for at, word in enumerate(WORDS)}
        share = [f.builder.udiv(f.builder.mul(of["total"], at), n)
                 for at in (i, f.builder.add(i, I64(1)))]  # fmt: skip
        with f.count(share[0], share[1]) as unit:
            line = f.builder.udiv(unit, of["pieces"])
            before = f.builder.mul(f.builder.urem(unit, of["pieces"]), of["piece"])
            left = f.builder.sub(of["length"], before)
            count = f.builder.select(f.test(left, "<", of["piece"]), left, of["piece"])
            start = f.builder.add(f.builder.mul(line, of["length"]), before)
            place = f.slot(f.pointer(of["c"]), unit, self.wide)
            source, target = (
                f.builder.gep(f.builder.inttoptr(of[each], self.kind.as_pointer()), [start])
                for each in ("x", "y")
            )
            first = f.get(place) if stores else self.wide(0)
            # Zeros that LLVM does not know: moving lanes beside known ones takes twice as long.
            self.nothing = self._splat(f, f.get(f.slot(f.pointer(of["status"]), 0, self.wide)))
            found = self._piece(f, source, target if stores else None, count, first)
            if not stores:
                f.put(place, found)
        f.ret(0)

    def _piece(
        self, f: Function, source: ir.Value, target: ir.Value | None, count: ir.Value,
        first: ir.Value,
    ) -> ir.Value:  # fmt: skip
        """The sums of one piece; the last of them."""
        carry = f.variable(self._splat(f, first), self.vector)
        whole = f.builder.and_(count, I64(-LANES))
        at = f.variable(0)
        with f.loop():
            place = f.get(at)
            f.leave(f.test(place, ">=", whole))
            read = f.builder.gep(source, [place])
            vector = self._prefix(f, self._wider(f, self._load(f, read)))
            before = f.get(carry)
            if target is not None:
                self._store(f, self._add(f, before, vector), f.builder.gep(target, [place]))
            f.put(carry, self._add(f, before, self._spread(f, vector, LANES - 1)))
            f.put(at, f.builder.add(place, I64(LANES)))
        total = f.variable(f.builder.extract_element(f.get(carry), I32(0)), self.wide)
        with f.count(whole, count) as place:
            value = f.get(f.builder.gep(source, [place]))
            value = self._add(f, f.get(total), self._wider(f, value, self.wide))
            f.put(total, value)
            if target is not None:
                f.put(f.builder.gep(target, [place]), self._narrower(f, value, self.kind))
        return f.get(total)

    def _prefix(self, f: Function, vector: ir.Value) -> ir.Value:
        """In each lane the sum of the lanes up to it."""
        step = 1
        while step < LANES:
            lanes = [LANES + at if at < step else at - step for at in range(LANES)]
            mask = ir.Constant(ir.VectorType(I32, LANES), lanes)
            vector = self._add(f, vector, f.builder.shuffle_vector(vector, self.nothing, mask))
            step *= 2
        return vector

    def _add(self, f: Function, left: ir.Value, right: ir.Value) -> ir.Value:
        return f.builder.add(left, right) if self.wide is I64 else f.builder.fadd(left, right)

    def _wider(self, f: Function, value: ir.Value, to: ir.Type | None = None) -> ir.Value:
        return f.builder.fpext(value, to or self.vector) if self.kind is F32 else value

    def _narrower(self, f: Function, value: ir.Value, to: ir.Type) -> ir.Value:
        return f.builder.fptrunc(value, to) if self.kind is F32 else value

    def _load(self, f: Function, place: ir.Value) -> ir.Value:
        vectors = ir.VectorType(self.kind, LANES).as_pointer()
        return f.builder.load(f.builder.bitcast(place, vectors), align=self.bytes)

    def _store(self, f: Function, vector: ir.Value, place: ir.Value) -> None:
        kind = ir.VectorType(self.kind, LANES)
        place = f.builder.bitcast(place, kind.as_pointer())
        f.builder.store(self._narrower(f, vector, kind), place, align=self.bytes)

    def _spread(self, f: Function, vector: ir.Value, lane: int) -> ir.Value:
        mask = ir.Constant(ir.VectorType(I32, LANES), [lane] * LANES)
        return f.builder.shuffle_vector(vector, self.zeros, mask)

    def _splat(self, f: Function, number: ir.Value) -> ir.Value:
        none = ir.Constant(self.vector, ir.Undefined)
        return self._spread(f, f.builder.insert_element(none, number, I32(0)), 0)
