"""One launch for several kernels: unit by unit, what one leaves in the cache the next one reads.

In: nothing. Out: a Module with the kernel `chain(block, i, n)`, whose argument block begins

    total | status | table | what the members take ...

`total` counts matrices, or whatever one part must do alone, each of some units. `table` says how
many, and lists the members: for each its address, its number of words, and where each word of its
own argument block comes from, as the four numbers of WORD. A member is called once a unit, as part
of all units. A word is one of the block here and a number. Memory that the units of a part have in
common begins so much later for each part and, as a member counts from unit 0, so much earlier for
each unit. The member's status row is the one of the chain's part.

    part i:  for unit in its share:  for member:  member(words of this unit, unit, all units)

Source: "loop blocking" or "tiling" of a sequence of loops; M. Wolf and M. Lam, "A Data Locality
Optimizing Algorithm" (1991).
"""

from llvmlite import ir

from minitorch2.kernels.runtime.native import I64, Function, Module
from minitorch2.kernels.runtime.pool_code import KERNEL

WORD = ("slot", "more", "a_part", "a_unit")
TABLE = ("members", "units of each")
HEAD = ("total", "status", "table")
MOST_WORDS = 64  # of a member's argument block
STATUS = 1


class ChainCode(Module):
    """The module: one function."""

    def __init__(self) -> None:
        super().__init__("chain")
        f = self.function("chain", I64, [I64, I64, I64], export=True)
        block, i, n = f.arguments
        words = f.pointer(block)
        total, status, table = (f.get(f.slot(words, at)) for at in range(len(HEAD)))
        row = f.slot(f.pointer(status), f.builder.mul(i, I64(2)))
        mine = f.builder.alloca(I64, MOST_WORDS)
        entries = f.pointer(table)
        members, each = f.get(entries), f.get(f.slot(entries, 1))
        lo = f.builder.udiv(f.builder.mul(total, i), n)
        hi = f.builder.udiv(f.builder.mul(total, f.builder.add(i, I64(1))), n)
        lo, hi, units = (f.builder.mul(number, each) for number in (lo, hi, total))
        with f.count(lo, hi) as unit:
            place = f.variable(len(TABLE))
            with f.count(0, members):
                at = f.get(place)
                address, count = (f.get(f.slot(entries, f.builder.add(at, I64(k)))) for k in (0, 1))
                first = f.builder.add(at, I64(2))
                self.fill(f, (words, f.slot(entries, first), mine), count, i, unit)
                f.put(place, f.builder.add(first, f.builder.mul(count, I64(len(WORD)))))
                rows = f.builder.ptrtoint(row, I64)
                f.put(f.slot(mine, STATUS), f.builder.sub(rows, f.builder.shl(unit, I64(4))))
                code = f.call_at(address, *KERNEL, f.builder.ptrtoint(mine, I64), unit, units)
                with f.when(f.test(code, "!=", 0)):
                    f.ret(code)
        f.ret(0)

    def fill(
        self, f: Function, places: tuple[ir.Value, ir.Value, ir.Value], count: ir.Value,
        part: ir.Value, unit: ir.Value,
    ) -> None:  # fmt: skip
        """Write a member's argument block: from the words here by the entries of the table."""
        words, entries, mine = places
        with f.count(0, count) as number:
            entry = f.slot(entries, f.builder.mul(number, I64(len(WORD))))
            slot, more, a_part, a_unit = (f.get(f.slot(entry, at)) for at in range(len(WORD)))
            value = f.builder.add(f.get(f.slot(words, slot)), more)
            value = f.builder.add(value, f.builder.mul(part, a_part))
            value = f.builder.sub(value, f.builder.mul(unit, a_unit))
            f.put(f.slot(mine, number), value)
