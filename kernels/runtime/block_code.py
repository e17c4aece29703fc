"""Memory for arrays, native: taken from lists of free blocks, given back when an array dies.

In: the pool's code. Out: three functions in it, which run while the interpreter's lock is held:

    take(shape, dtype, nbytes)   a built-in function: an uninitialised row-major array
    blocks_clear()               give all free blocks back to the system
    blocks_state() -> address    of five words: allocated, peak, kept, reused, made

The owner of an array's memory is a capsule, whose destructor puts the block on the list of its
size; a free block's first word is the address of the next one. Sizes are found in a table by
hashing; a table that is full is emptied, with all free blocks.

Source: https://docs.python.org/3/c-api/capsule.html; the free lists are those of any allocator.
"""

from llvmlite import ir

from minitorch2.kernels.runtime.built_in import BYTES_DATA, ITEMS, SIZE
from minitorch2.kernels.runtime.native import I32, I64, VOID, Function
from minitorch2.kernels.runtime.pool_code import PoolCode

ALIGNMENT = 64
FINE, COARSE = 64, 4096  # sizes are multiples of the one below LARGE, of the other from there on
LARGE = 1 << 16
HUGE, HUGE_PAGES = 4 << 20, 14  # from this size on, MADV_HUGEPAGE
KEPT_AT_MOST = 1 << 30
ENTRIES_LOG = 10
ENTRIES = 1 << ENTRIES_LOG
GOLDEN = 0x9E3779B97F4A7C15  # multiplicative hashing, as Knuth has it
WRITEABLE_ROWS = 0x501  # numpy's flags: row-major, aligned, writeable
STATE = ("allocated", "peak", "kept", "reused", "made")
TAKE_FIELDS = ("ndarray", "new", "set_base")


class BlockCode:
    """Writes the functions, the later ones with the earlier ones."""

    def __init__(self, pool: PoolCode) -> None:
        self.pool = pool
        self.table = pool.row("block_table", 2 * ENTRIES)  # of each size: the size, a free block
        self.state = pool.row("block_state", len(STATE))
        self.allocate = pool.outside("aligned_alloc", I64, [I64, I64])
        self.free = pool.outside("free", VOID, [I64])
        self.advise = pool.outside("madvise", I32, [I64, I64, I32])
        self.no_memory = pool.outside("PyErr_NoMemory", I64, [])
        self.bad_call = pool.outside("PyErr_BadArgument", I32, [])
        self.occurred = pool.outside("PyErr_Occurred", I64, [])
        self.long = pool.outside("PyLong_AsLongLong", I64, [I64])
        self.keep = pool.outside("Py_IncRef", VOID, [I64])
        self.drop = pool.outside("Py_DecRef", VOID, [I64])
        self.capsule = pool.outside("PyCapsule_New", I64, [I64, I64, I64])
        self.set_context = pool.outside("PyCapsule_SetContext", I32, [I64, I64])
        self.pointer = pool.outside("PyCapsule_GetPointer", I64, [I64, I64])
        self.context = pool.outside("PyCapsule_GetContext", I64, [I64])
        self.clear = self._clear()
        self.entry = self._entry()
        self.give = self._give()
        self.make = self._make()
        self._take()
        f = pool.function("blocks_state", I64, [], export=True)
        f.ret(f.builder.ptrtoint(self.state, I64))

    def count(self, f: Function, name: str, change: ir.Value) -> ir.Value:
        """Write: change a counter; its new value."""
        place = f.slot(self.state, STATE.index(name))
        value = f.builder.add(f.get(place), change)
        f.put(place, value)
        return value

    def _clear(self) -> Function:
        """Free all free blocks, and forget the sizes."""
        f = self.pool.function("blocks_clear", VOID, [], export=True)
        with f.count(0, I64(ENTRIES)) as i:
            size = f.slot(self.table, f.builder.shl(i, I64(1)))
            head = f.slot(size, 1)
            with f.loop():
                block = f.get(head)
                f.leave(f.test(block, "==", 0))
                f.put(head, f.get(f.pointer(block)))
                f.call(self.free, block)
            f.put(size, 0)
        f.put(f.slot(self.state, STATE.index("kept")), 0)
        f.ret()
        return f

    def _entry(self) -> Function:
        """The address of the table's entry for a size."""
        f = self.pool.function("block_entry", I64, [I64])
        (size,) = f.arguments
        hashed = f.builder.mul(f.builder.lshr(size, I64(6)), I64(GOLDEN))
        first = f.builder.lshr(hashed, I64(64 - ENTRIES_LOG))
        with f.loop():
            with f.count(0, I64(ENTRIES)) as turn:
                at = f.builder.and_(f.builder.add(first, turn), I64(ENTRIES - 1))
                place = f.slot(self.table, f.builder.shl(at, I64(1)))
                found = f.get(place)
                with f.when(f.test(found, "==", size)):
                    f.ret(f.builder.ptrtoint(place, I64))
                with f.when(f.test(found, "==", 0)):
                    f.put(place, size)
                    f.ret(f.builder.ptrtoint(place, I64))
            f.call(self.clear)
        f.builder.unreachable()
        return f

    def _give(self) -> Function:
        """The capsule's destructor: keep the block, unless there are too many."""
        f = self.pool.function("block_give", VOID, [I64])
        (capsule,) = f.arguments
        block, size = f.call(self.pointer, capsule, 0), f.call(self.context, capsule)
        self.count(f, "allocated", f.builder.neg(size))
        kept = f.builder.add(f.get(f.slot(self.state, STATE.index("kept"))), size)
        with f.when(f.test(kept, ">", KEPT_AT_MOST)):
            f.call(self.free, block)
            f.ret()
        head = f.slot(f.pointer(f.call(self.entry, size)), 1)
        f.put(f.pointer(block), f.get(head))
        f.put(head, block)
        self.count(f, "kept", size)
        f.ret()
        return f

    def _make(self) -> Function:
        """A new block, of large pages where it is large; 0 when there is no memory."""
        f = self.pool.function("block_make", I64, [I64])
        (size,) = f.arguments
        block = f.call(self.allocate, ALIGNMENT, size)
        large = f.builder.and_(f.test(size, ">=", HUGE), f.test(block, "!=", 0))
        with f.when(large):
            end = f.builder.and_(f.builder.add(block, size), I64(-4096))
            start = f.builder.and_(f.builder.add(block, I64(4095)), I64(-4096))
            f.call(self.advise, start, f.builder.sub(end, start), HUGE_PAGES)
        f.ret(block)
        return f

    def _taken(self, f: Function, size: ir.Value) -> ir.Value:
        """Write: a block of a size, reused or new."""
        head = f.slot(f.pointer(f.call(self.entry, size)), 1)
        block = f.variable(f.get(head))
        with f.builder.if_else(f.test(f.get(block), "!=", 0)) as (free, none):
            with free:
                f.put(head, f.get(f.pointer(f.get(block))))
                self.count(f, "kept", f.builder.neg(size))
                self.count(f, "reused", I64(1))
            with none:
                f.put(block, f.call(self.make, size))
                with f.when(f.test(f.get(block), "==", 0)):
                    f.ret(f.call(self.no_memory))
                self.count(f, "made", I64(1))
        allocated = self.count(f, "allocated", size)
        peak = f.slot(self.state, STATE.index("peak"))
        with f.when(f.test(allocated, ">", f.get(peak))):
            f.put(peak, allocated)
        return f.get(block)

    def _take(self) -> None:
        f = self.pool.function("take", I64, [I64, I64.as_pointer(), I64], export=True)
        about, given, count = f.arguments
        with f.when(f.test(count, "!=", 3)):
            f.call(self.bad_call)
            f.ret(0)
        fields = [f.get(f.slot(f.pointer(about), BYTES_DATA + i)) for i in range(3)]
        ndarray, new, set_base = fields
        shape, dtype = f.get(f.slot(given, 0)), f.get(f.slot(given, 1))
        dimensions = f.get(f.slot(f.pointer(shape), SIZE))
        sizes = f.builder.alloca(I64, f.builder.add(dimensions, I64(1)))
        with f.count(0, dimensions) as i:
            item = f.get(f.slot(f.pointer(shape), f.builder.add(i, I64(ITEMS))))
            f.put(f.slot(sizes, i), f.call(self.long, item))
        size = self._rounded(f, f.call(self.long, f.get(f.slot(given, 2))))
        with f.when(f.test(f.call(self.occurred), "!=", 0)):
            f.ret(0)
        block = self._taken(f, size)
        f.call(self.keep, dtype)  # the array takes it over
        kinds = [I64, I64, I32, I64, I64, I64, I32, I64]
        array = f.call_at(new, I64, kinds, ndarray, dtype, f.builder.trunc(dimensions, I32),
                          f.builder.ptrtoint(sizes, I64), 0, block, WRITEABLE_ROWS, 0)  # fmt: skip
        with f.when(f.test(array, "==", 0)):
            f.call(self.free, block)
            self.count(f, "allocated", f.builder.neg(size))
            f.ret(0)
        owner = f.call(self.capsule, block, 0, f.builder.ptrtoint(self.give.ir, I64))
        with f.when(f.test(owner, "==", 0)):
            f.call(self.drop, array)
            f.ret(0)
        f.call(self.set_context, owner, size)
        f.call_at(set_base, I32, [I64, I64], array, owner)  # the array takes it over
        f.ret(array)

    def _rounded(self, f: Function, nbytes: ir.Value) -> ir.Value:
        step = f.builder.select(f.test(nbytes, "<", LARGE), I64(FINE), I64(COARSE))
        size = f.builder.add(nbytes, f.builder.sub(step, I64(1)))
        size = f.builder.and_(size, f.builder.neg(step))
        return f.builder.select(f.test(size, "==", 0), I64(FINE), size)
