"""Matrix products on the pool's threads: OpenBLAS's own jobs, and products cut into pieces.

In: the pool's code. Out: more functions in it.

    blas(...)            what OpenBLAS calls (its "threads callback") to have the jobs of a call run
    gemm_f32, gemm_f64   kernels (block, i, n): part i of n of many pieces, one cblas_?gemm a piece

Source: OpenBLAS's cblas.h, openblas_set_threads_callback_function; its driver/level3 for the jobs.

# Note [Serial, shared, or on threads of its own]
The parts of a kernel are independent, so a kernel that finds the pool busy runs them one by one.
The jobs of a BLAS call wait for each other and must run at the same time. They use the pool's
threads if these are enough and free within PATIENCE_NANOSECONDS; otherwise (more jobs than
threads, a call from inside a job, a pool that has stopped for a fork) each job gets a thread of its
own: slow, but never stuck. BLAS calls run one after the other, because OpenBLAS keeps one buffer
for each job number. When a fork stops the pool, it takes the pool's lock before that of BLAS.

# Note [Why one set of threads]
OpenBLAS's idle threads spin for about a tenth of a second, OpenMP's likewise. Two such sets on one
machine keep each other from running: a 0.03 ms kernel and a 0.70 ms product in turn took 8 ms.
"""

from llvmlite import ir

from minitorch2.kernels.runtime.native import F32, F64, I32, I64, VOID, Function
from minitorch2.kernels.runtime.pool_code import PoolCode

DO_JOB = (VOID, (I32, I64, I32))
PRODUCT_SLOTS = ("total", "status", "a", "b", "c", "pieces", "gemm",
                 "row_a", "row_b", "row_c", "transposed_a", "transposed_b")  # fmt: skip
PIECE = ("a", "b", "c", "m", "n", "k", "before")
ROW_MAJOR = 101


def add_blas(pool: PoolCode) -> None:
    """Write `blas(sync, job, count, stride, data, extra)`."""
    alone = _alone(pool)
    f = pool.function("blas", VOID, [I32, I64, I32, I64, I64, I32], export=True)
    _, target, jobs, stride, data, extra = f.arguments
    f.call(pool.lock, pool.blas_lock, 0)
    others = f.builder.sub(jobs, I32(1))
    enough = f.test(f.builder.sub(f.read(pool.workers), others), ">=", 0)
    with f.when(f.builder.and_(enough, f.test(others, ">", 0))):
        with f.when(f.call(pool.lock, pool.pool_lock, 1)):
            still = f.test(f.builder.sub(f.read(pool.workers), others), ">=", 0)
            with f.when(still):
                f.put(pool.is_blas, 1)
                f.put(pool.target, target)
                f.put(pool.block, data)
                f.put(pool.stride, stride)
                f.put(pool.extra, extra)
                f.call(pool.everything, jobs)
                f.call(pool.unlock, pool.pool_lock)
                f.call(pool.unlock, pool.blas_lock)
                f.ret()
            f.call(pool.unlock, pool.pool_lock)
    f.call(alone, target, jobs, stride, data, extra)
    f.call(pool.unlock, pool.blas_lock)
    f.ret()


def _alone(pool: PoolCode) -> Function:
    """A thread for each job but the first."""
    create = pool.outside("pthread_create", I32, [I64.as_pointer()] * 4)
    join = pool.outside("pthread_join", I32, [I64, I64.as_pointer()])
    yield_cpu = pool.outside("sched_yield", I32, [])
    one = pool.function("one_job", I64.as_pointer(), [I64.as_pointer()])
    (record,) = one.arguments
    target, number, job, extra = [one.get(one.slot(record, i)) for i in range(4)]
    short = one.builder.trunc(number, I32), one.builder.trunc(extra, I32)
    one.call_at(target, *DO_JOB, short[0], job, short[1])
    one.ret(I64.as_pointer()(None))

    f = pool.function("alone", VOID, [I64, I32, I64, I64, I32])
    target, jobs, stride, data, extra = f.arguments
    count = f.builder.sext(jobs, I64)
    handles = f.builder.alloca(I64, count)
    records = f.builder.alloca(I64, f.builder.mul(count, I64(4)))
    nothing = I64.as_pointer()(None)
    entry = f.builder.bitcast(one.ir, I64.as_pointer())
    first = f.builder.sext(pool.first_buffer(f, jobs), I64)
    with f.count(0, count) as i:
        mine = f.slot(records, f.builder.mul(i, I64(4)))
        job = f.builder.add(data, f.builder.mul(i, stride))
        fields = (target, f.builder.add(first, i), job, f.builder.sext(extra, I64))
        for index, field in enumerate(fields):
            f.put(f.slot(mine, index), field)
        with f.when(f.test(i, ">", 0)), f.loop():
            f.leave(f.test(f.call(create, f.slot(handles, i), nothing, entry, mine), "==", 0))
            f.call(yield_cpu)
    f.call(one, records)
    with f.count(1, count) as i:
        f.call(join, f.get(f.slot(handles, i)), nothing)
    f.ret()
    return f


def add_products(pool: PoolCode, name: str, kind: ir.Type) -> None:
    """Write the kernel `name`: pieces lo .. hi of products, with OpenBLAS's 64-bit cblas.

    `pieces` is the address of seven numbers for each piece: how many bytes after a, b and c its
    matrices begin; its rows, columns and terms; whether it is added to what is there.
    """
    f = pool.function(name, I64, [I64, I64, I64], export=True)
    block, i, n = f.arguments
    words = f.pointer(block)
    of = {slot: f.get(f.slot(words, at)) for at, slot in enumerate(PRODUCT_SLOTS)}
    lo = f.builder.udiv(f.builder.mul(of["total"], i), n)
    hi = f.builder.udiv(f.builder.mul(of["total"], f.builder.add(i, I64(1))), n)
    pieces = f.pointer(of["pieces"])
    kinds = (I32, I32, I32, I64, I64, I64, kind, I64, I64, I64, I64, kind, I64, I64)
    flags = [f.builder.trunc(of[f"transposed_{x}"], I32) for x in "ab"]
    with f.count(lo, hi) as number:
        piece = f.slot(pieces, f.builder.mul(number, I64(len(PIECE))))
        numbers = {each: f.get(f.slot(piece, at)) for at, each in enumerate(PIECE)}
        a, b, c = (f.builder.add(of[x], numbers[x]) for x in "abc")
        more = f.builder.select(f.test(numbers["before"], ">", 0), kind(1.0), kind(0.0))
        f.call_at(of["gemm"], VOID, kinds, ROW_MAJOR, *flags, numbers["m"], numbers["n"],
                  numbers["k"], kind(1.0), a, of["row_a"], b, of["row_b"], more, c,
                  of["row_c"])  # fmt: skip
    f.ret(0)


def add_all(pool: PoolCode) -> None:
    """Write every function of this file."""
    add_blas(pool)
    add_products(pool, "gemm_f32", F32)
    add_products(pool, "gemm_f64", F64)
