"""The launch of a kernel as a function that Python calls directly: no ctypes, no struct.

In: the pool's code. Out: `launch` in it, a C function as CPython calls built-in functions:

    launch(total, arrays, sizes, scalars, cost)

with three tuples. It reads the addresses out of the array objects, writes the argument block on its
stack, runs the kernel, and raises KernelFailure when a part has failed. Work of less than
GIL_NANOSECONDS keeps the interpreter's lock. `launch_of` makes such a function for one kernel; what
it needs to know about the kernel stands in a bytes object, the function's `self`:

    kernel | how many arrays, sizes, scalars | addresses of Python objects | kinds of the scalars

Source: https://docs.python.org/3/c-api/structures.html#c.METH_FASTCALL; numpy's
PyArrayObject_fields.
"""

from collections.abc import Callable

import numpy as np
from llvmlite import ir

from minitorch2.kernels.runtime.built_in import (
    ARRAY_DATA,
    BYTES_DATA,
    ITEMS,
    SIZE,
    TYPE,
    built_in,
)
from minitorch2.kernels.runtime.native import F32, F64, I32, I64, VOID, Function
from minitorch2.kernels.runtime.pool_code import KERNEL, PoolCode
from minitorch2.kernels.runtime.signature import KernelFailure, KernelSignature

GIL_NANOSECONDS = 5_000.0
LATE_NANOSECONDS = 30_000.0
SERIAL_NANOSECONDS = 20_000.0
CROWDED_NANOSECONDS = 500_000.0  # what runs alone after launches that had to wait for a thread
INTEGER, SINGLE, DOUBLE, BOOLEAN = range(4)
KINDS = {"f32": SINGLE, "f64": DOUBLE, "bool": BOOLEAN}
FIELDS = ("kernel", "arrays", "sizes", "scalars", "ndarray", "none", "failure", "parts_for")


def launch_of(
    function: int, kernel: int, signature: KernelSignature, parts_for: Callable[[float], int],
    keep: object = None,
) -> Callable[..., None]:  # fmt: skip
    """The launch of one kernel; `function` is the address of `launch`, `keep` what owns the kernel.

    `parts_for` says in how many parts to cut so many nanoseconds of work; it must live on.
    """
    counts = len(signature.arrays), signature.sizes, len(signature.scalars)
    objects = map(id, (np.ndarray, None, KernelFailure, parts_for))
    kinds = [KINDS.get(short, INTEGER) for short in signature.scalars]
    words = (kernel, *counts, *objects, *kinds)
    return built_in("launch", function, words, keep)


class _Writer:
    """Writes `launch`: one method a step."""

    def __init__(self, pool: PoolCode) -> None:
        self.pool = pool
        self.long = pool.outside("PyLong_AsLongLong", I64, [I64])
        self.double = pool.outside("PyFloat_AsDouble", F64, [I64])
        self.truth = pool.outside("PyObject_IsTrue", I32, [I64])
        self.float = pool.outside("PyFloat_FromDouble", I64, [F64])
        self.occurred = pool.outside("PyErr_Occurred", I64, [])
        self.set_error = pool.outside("PyErr_SetObject", VOID, [I64, I64])
        self.bad_call = pool.outside("PyErr_BadArgument", I32, [])
        self.pair = pool.outside("PyTuple_Pack", I64, [I64], more=True)
        self.from_long = pool.outside("PyLong_FromLongLong", I64, [I64])
        self.call_one = pool.outside("PyObject_CallOneArg", I64, [I64, I64])
        self.keep = pool.outside("Py_IncRef", VOID, [I64])
        self.drop = pool.outside("Py_DecRef", VOID, [I64])
        self.save = pool.outside("PyEval_SaveThread", I64, [])
        self.restore = pool.outside("PyEval_RestoreThread", VOID, [I64])
        self.penalty, self.crowded = pool.word("penalty"), pool.word("crowded")
        self.f = pool.function("launch", I64, [I64, I64.as_pointer(), I64], export=True)
        about, self.given, count = self.f.arguments
        self.kinds = self.f.slot(self.f.pointer(about), BYTES_DATA + len(FIELDS))
        place = [self.f.slot(self.f.pointer(about), BYTES_DATA + i) for i in range(len(FIELDS))]
        self.of = {name: self.f.get(place[i]) for i, name in enumerate(FIELDS)}
        self.check(count)

    def check(self, count: ir.Value) -> None:
        """Five arguments, and as many items in the tuples as the kernel takes."""
        f = self.f
        with f.when(f.test(count, "!=", 5)):
            self.refuse()
        for at, name in enumerate(("arrays", "sizes", "scalars"), 1):
            items = f.get(f.slot(f.pointer(self.argument(at)), SIZE))
            with f.when(f.test(items, "!=", self.of[name])):
                self.refuse()

    def refuse(self) -> None:
        self.f.call(self.bad_call)
        self.f.ret(0)

    def argument(self, at: int) -> ir.Value:
        return self.f.get(self.f.slot(self.given, at))

    def item(self, at: int, index: ir.Value) -> ir.Value:
        """Item `index` of the tuple in argument `at`."""
        f = self.f
        return f.get(f.slot(f.pointer(self.argument(at)), f.builder.add(index, I64(ITEMS))))

    def fill(self, block: ir.Value) -> None:
        """Write the argument block, but for total and status."""
        f, of = self.f, self.of
        with f.count(0, of["arrays"]) as i:
            array = self.item(1, i)
            place = f.slot(block, f.builder.add(i, I64(2)))
            plain = f.test(f.get(f.slot(f.pointer(array), TYPE)), "==", of["ndarray"])
            with f.builder.if_else(plain) as (is_array, is_address):
                with is_array:
                    f.put(place, f.get(f.slot(f.pointer(array), ARRAY_DATA)))
                with is_address:
                    f.put(place, f.call(self.long, array))
        first = f.builder.add(of["arrays"], I64(2))
        with f.count(0, of["sizes"]) as i:
            f.put(f.slot(block, f.builder.add(i, first)), f.call(self.long, self.item(2, i)))
        first = f.builder.add(first, of["sizes"])
        with f.count(0, of["scalars"]) as i:
            place = f.slot(block, f.builder.add(i, first))
            self.scalar(place, self.item(3, i), f.get(f.slot(self.kinds, i)))

    def scalar(self, place: ir.Value, value: ir.Value, kind: ir.Value) -> None:
        """Write one scalar as the kernel reads it."""
        f = self.f
        with f.when(f.test(kind, "==", INTEGER)):
            f.put(place, f.call(self.long, value))
        with f.when(f.test(kind, "==", BOOLEAN)):
            f.put(place, f.builder.sext(f.call(self.truth, value), I64))
        with f.when(f.builder.or_(f.test(kind, "==", SINGLE), f.test(kind, "==", DOUBLE))):
            number = f.call(self.double, value)
            with f.when(f.test(kind, "==", DOUBLE)):
                f.put(f.builder.bitcast(place, F64.as_pointer()), number)
            with f.when(f.test(kind, "==", SINGLE)):
                narrow = f.builder.fptrunc(number, F32)
                f.put(f.builder.bitcast(place, F32.as_pointer()), narrow)

    def parts(self, work: ir.Value) -> ir.Value:
        """In how many parts to run: little work in one, without asking."""
        f, crowded = self.f, self.crowded
        parts, limit = f.variable(1), f.variable(F64(SERIAL_NANOSECONDS), F64)
        with f.when(f.test(f.read(crowded), ">", 0)):
            f.put(limit, F64(CROWDED_NANOSECONDS))
            parallel = f.builder.fcmp_ordered(">", work, F64(SERIAL_NANOSECONDS))
            f.add_to(crowded, f.builder.sext(parallel, I32))
        with f.when(f.builder.fcmp_ordered(">", work, f.get(limit))):
            nanoseconds = f.call(self.float, work)
            answer = f.call(self.call_one, self.of["parts_for"], nanoseconds)
            f.call(self.drop, nanoseconds)
            with f.when(f.test(answer, "==", 0)):
                f.ret(0)
            f.put(parts, f.call(self.long, answer))
            f.call(self.drop, answer)
        return f.get(parts)

    def execute(self, work: ir.Value, block: ir.Value, parts: ir.Value) -> ir.Value:
        """Run the kernel; 0, or which part failed, from 1 on."""
        f, kernel = self.f, self.of["kernel"]
        failed, thread = f.variable(0), f.variable(0)
        address = f.builder.ptrtoint(block, I64)
        long = f.builder.fcmp_ordered(">", work, F64(GIL_NANOSECONDS))
        with f.when(long):
            f.put(thread, f.call(self.save))
        with f.builder.if_else(f.test(parts, "==", 1)) as (alone, together):
            with alone:
                code = f.call_at(kernel, *KERNEL, address, 0, 1)
                f.put(failed, f.builder.zext(f.test(code, "!=", 0), I64))
            with together:
                start = f.call(self.pool.now)
                f.put(failed, f.call(self.pool.run, kernel, address, parts))
                self.judge(work, f.builder.sub(f.call(self.pool.now), start))
        with f.when(long):
            f.call(self.restore, f.get(thread))
        return f.get(failed)

    def judge(self, work: ir.Value, spent: ir.Value) -> None:
        """After a launch that took far too long, small work stays alone for a number of launches.

        Others need the CPUs then, and waking a thread may cost the caller its own. The number
        doubles each time; a launch in time sets it back.
        """
        f = self.f
        allowed = f.builder.fadd(work, F64(LATE_NANOSECONDS))
        late = f.builder.fcmp_ordered(">", f.builder.sitofp(spent, F64), allowed)
        twice = f.builder.shl(f.get(self.penalty), I32(1))
        twice = f.builder.select(f.test(twice, "<", 16), I32(16), twice)
        twice = f.builder.select(f.test(twice, ">", 1024), I32(1024), twice)
        number = f.builder.select(late, twice, I32(0))
        f.put(self.penalty, number)
        f.put(self.crowded, number)

    def write(self) -> None:
        """Write the launch: arguments into a block, then threads woken, or the kernel called."""
        f = self.f
        total, cost = f.call(self.long, self.argument(0)), f.call(self.double, self.argument(4))
        work = f.builder.fmul(f.builder.sitofp(total, F64), cost)
        length = I64(2)
        for name in ("arrays", "sizes", "scalars"):
            length = f.builder.add(length, self.of[name])
        block = f.builder.alloca(I64, length)
        self.fill(block)
        with f.when(f.test(f.call(self.occurred), "!=", 0)):
            f.ret(0)
        parts = self.parts(work)
        rows = f.builder.alloca(I64, f.builder.shl(parts, I64(1)))
        with f.count(0, f.builder.shl(parts, I64(1))) as i:
            f.put(f.slot(rows, i), 0)
        f.put(f.slot(block, 0), total)
        f.put(f.slot(block, 1), f.builder.ptrtoint(rows, I64))
        failed = self.execute(work, block, parts)
        with f.when(f.test(failed, "!=", 0)):
            self.fail(rows, failed)
        f.call(self.keep, self.of["none"])
        f.ret(self.of["none"])

    def fail(self, rows: ir.Value, failed: ir.Value) -> None:
        """Raise KernelFailure(code, index) of the part."""
        f = self.f
        at = f.builder.shl(f.builder.sub(failed, I64(1)), I64(1))
        code = f.call(self.from_long, f.get(f.slot(rows, at)))
        index = f.call(self.from_long, f.get(f.slot(rows, f.builder.add(at, I64(1)))))
        pair = f.call(self.pair, 2, code, index)
        f.call(self.drop, code)
        f.call(self.drop, index)
        f.call(self.set_error, self.of["failure"], pair)
        f.call(self.drop, pair)
        f.ret(0)


def add_launch(pool: PoolCode) -> Function:
    """Write `launch`."""
    writer = _Writer(pool)
    writer.write()
    return writer.f
