"""The native half of the thread pool: what runs while no Python lock is held.

In: nothing. Out: `PoolCode`, a module of LLVM code. All state lies in its words; one job at a time:

    work()                      a thread's life: claim a part of the job, run it, spin, sleep
    run(kernel, block, n) -> i  all n parts of a kernel, alone if the pool is busy; part i-1 failed
    hold(), release()           take the pool and BLAS away from everybody; give them back
    wake(stop)                  tell the threads to end (1), or that new ones may live (0)
    alive() -> count            how many threads are inside work()
    reset(buffers)              forget everything: in a forked child there are no threads

A launch writes the job, then swaps `ticket` (generation, parts left). Whoever takes a part does so
by one compare-and-swap on it: a thread that comes late finds nothing left, one that never wakes is
not waited for, and the words of a job change only when all its parts are done. To wait is to spin
for SPIN_NANOSECONDS at most and then to sleep on a futex.

>>> PoolCode(202, ("llvm.x86.sse2.pause", ())).ir.get_global("claim")
<ir.Function 'claim' of type 'i32 ()*'>

Source: https://man7.org/linux/man-pages/man2/futex.2.html; U. Drepper, "Futexes Are Tricky" (2011).
"""

from llvmlite import ir

from minitorch2.kernels.runtime.native import I1, I32, I64, VOID, Function, Module

SPIN_NANOSECONDS = 50_000
PATIENCE_NANOSECONDS = 10_000_000
WAIT, WAKE = 128, 129  # FUTEX_WAIT and FUTEX_WAKE, private to the process
EVERYBODY = 2**31 - 1
KERNEL = (I64, (I64, I64, I64))  # (block, i, n) -> status


class PoolCode(Module):
    """The words that threads share, and the functions on them; a method writes each function."""

    def __init__(self, futex: int, pause: tuple[str, tuple[int, ...]]) -> None:
        super().__init__("pool")
        self.futex, self.pause_operands = futex, pause[1]
        self.ticket = self.word("ticket", I64)
        self.wakes, self.sleepers = self.word("wakes"), self.word("sleepers")
        self.stopping, self.workers = self.word("stopping"), self.word("workers")
        self.done, self.waiting = self.word("done"), self.word("waiting")
        self.pool_lock, self.blas_lock = self.word("pool_lock"), self.word("blas_lock")
        self.parts, self.is_blas = self.word("parts"), self.word("is_blas")
        self.target, self.block = self.word("target", I64), self.word("block", I64)
        self.stride, self.extra = self.word("stride", I64), self.word("extra")
        self.buffers = self.word("buffers")
        self.words = list(self.ir.global_values)
        self.syscall = self.outside("syscall", I64, [I64], more=True)
        self.clock = self.outside("clock_gettime", I32, [I32, I64.as_pointer()])
        self.pause = self.outside(pause[0], VOID, [I32] * len(pause[1]))
        self.now = self._now()
        self.spin = self._spin()
        self.unlock = self._unlock()
        self.lock = self._lock()
        self.claim = self._claim()
        self.call_job = self._call_job()
        self.finish = self._finish()
        self.everything = self._everything()
        self._work()
        self.run = self._run()
        self._hold_and_release()
        self._wake_and_reset()

    def sleep(self, f: Function, word: ir.Value, value: ir.Value, timeout: ir.Value) -> None:
        """Write: sleep while the word holds `value`. It may end early."""
        f.call(self.syscall, self.futex, word, WAIT, value, timeout)

    def wake(self, f: Function, word: ir.Value, count: int) -> None:
        """Write: wake threads that sleep on the word."""
        f.call(self.syscall, self.futex, word, WAKE, count)

    def left(self, f: Function) -> ir.Value:
        """Write: how many parts of the job nobody has taken."""
        return f.builder.trunc(f.read(self.ticket), I32)

    def tick(self, f: Function, turns: ir.Value, start: ir.Value) -> ir.Value:
        """Write: one turn of spinning; whether SPIN_NANOSECONDS have passed since `start`."""
        f.call(self.pause, *self.pause_operands)
        count = f.builder.add(f.get(turns), I64(1))
        f.put(turns, count)
        late = f.variable(0, I1)
        with f.when(f.test(f.builder.and_(count, I64(31)), "==", 0)):
            spent = f.builder.sub(f.call(self.now), start)
            f.put(late, f.test(spent, ">", SPIN_NANOSECONDS))
        return f.get(late)

    def _now(self) -> Function:
        f = self.function("now", I64, [])
        time = f.builder.alloca(I64, 2)
        f.call(self.clock, 1, time)  # CLOCK_MONOTONIC
        seconds = f.builder.mul(f.get(time), I64(1_000_000_000))
        f.ret(f.builder.add(seconds, f.get(f.slot(time, 1))))
        return f

    def _spin(self) -> Function:
        """Until the word is `value` (1) or time is up (0)."""
        f = self.function("spin", I1, [I32.as_pointer(), I32])
        word, value = f.arguments
        start, turns = f.call(self.now), f.variable(0)
        with f.loop():
            with f.when(f.test(f.read(word), "==", value)):
                f.ret(1)
            f.leave(self.tick(f, turns, start))
        f.ret(0)
        return f

    def _lock(self) -> Function:
        """Take a lock (0 free, 1 taken, 2 and waited for); 0 if patience was limited and ended."""
        f = self.function("lock", I1, [I32.as_pointer(), I1])
        word, limited = f.arguments
        with f.when(f.replace(word, 0, 1)):
            f.ret(1)
        with f.when(f.call(self.spin, word, 0)), f.when(f.replace(word, 0, 1)):
            f.ret(1)
        timeout = f.builder.alloca(I64, 2)
        f.put(f.slot(timeout, 0), 0)
        f.put(f.slot(timeout, 1), PATIENCE_NANOSECONDS)
        forever = I64.as_pointer()(None)
        start = f.call(self.now)
        with f.loop():
            with f.when(f.test(f.swap(word, 2), "==", 0)):
                f.ret(1)
            spent = f.builder.sub(f.call(self.now), start)
            late = f.test(spent, ">", PATIENCE_NANOSECONDS)
            f.leave(f.builder.and_(limited, late))
            self.sleep(f, word, I32(2), f.builder.select(limited, timeout, forever))
        f.ret(0)
        return f

    def _unlock(self) -> Function:
        f = self.function("unlock", VOID, [I32.as_pointer()])
        (word,) = f.arguments
        with f.when(f.test(f.swap(word, 0), "==", 2)):
            self.wake(f, word, 1)
        f.ret()
        return f

    def _claim(self) -> Function:
        """Take a part of the job: its number, or -1."""
        f = self.function("claim", I32, [])
        with f.loop():
            ticket = f.read(self.ticket)
            left = f.builder.trunc(ticket, I32)
            f.leave(f.test(left, "==", 0))
            with f.when(f.replace(self.ticket, ticket, f.builder.sub(ticket, I64(1)))):
                f.ret(f.builder.sub(left, I32(1)))
        f.ret(-1)
        return f

    def _call_job(self) -> Function:
        """Run part i: a kernel's (block, i, parts), or OpenBLAS's (buffer, job i, extra)."""
        f = self.function("call_job", VOID, [I32])
        (i,) = f.arguments
        wide, parts, target = f.builder.sext(i, I64), f.get(self.parts), f.get(self.target)
        with f.when(f.test(f.get(self.is_blas), "==", 0)):
            count = f.builder.sext(parts, I64)
            f.call_at(target, *KERNEL, f.get(self.block), wide, count)
            f.ret()
        number = f.builder.add(self.first_buffer(f, parts), i)
        job = f.builder.add(f.get(self.block), f.builder.mul(wide, f.get(self.stride)))
        f.call_at(target, VOID, (I32, I64, I32), number, job, f.get(self.extra))
        f.ret()
        return f

    def first_buffer(self, f: Function, jobs: ir.Value) -> ir.Value:
        """Write: the first of OpenBLAS's buffers to use; its own threads take theirs from 0 on."""
        free = f.builder.sub(f.get(self.buffers), jobs)
        return f.builder.select(f.test(free, ">", 0), free, I32(0))

    def _finish(self) -> Function:
        """Count a finished part; the last one wakes the launcher."""
        f = self.function("finish", VOID, [])
        parts = f.get(self.parts)  # before the count: the next job may write it right after
        before = f.add_to(self.done, 1)
        with f.when(f.test(f.builder.add(before, I32(1)), "==", parts)):
            with f.when(f.test(f.read(self.waiting), "!=", 0)):
                self.wake(f, self.done, 1)
        f.ret()
        return f

    def _everything(self) -> Function:
        """Publish the job that the caller has written, take part in it, wait for its end."""
        f = self.function("everything", VOID, [I32])
        (parts,) = f.arguments
        f.put(self.parts, parts)
        f.swap(self.done, 0)
        generation = f.builder.lshr(f.read(self.ticket), I64(32))
        generation = f.builder.shl(f.builder.add(generation, I64(1)), I64(32))
        f.swap(self.ticket, f.builder.or_(generation, f.builder.zext(parts, I64)))
        with f.when(f.test(f.read(self.sleepers), ">", 0)):
            f.add_to(self.wakes, 1)
            self.wake(f, self.wakes, EVERYBODY)
        with f.loop():
            i = f.call(self.claim)
            f.leave(f.test(i, "<", 0))
            f.call(self.call_job, i)
            f.add_to(self.done, 1)
        with f.when(f.call(self.spin, self.done, parts)):
            f.ret()
        with f.loop():
            f.swap(self.waiting, 1)
            done = f.read(self.done)
            f.leave(f.test(done, "==", parts))
            self.sleep(f, self.done, done, I64.as_pointer()(None))
        f.swap(self.waiting, 0)
        f.ret()
        return f

    def _work(self) -> None:
        f = self.function("work", VOID, [], export=True)
        f.add_to(self.workers, 1)
        turns = f.variable(0)
        with f.loop():
            start = f.variable(f.call(self.now))
            with f.loop():
                with f.when(f.test(self.left(f), "!=", 0)):
                    i = f.call(self.claim)
                    with f.when(f.test(i, ">=", 0)):
                        f.call(self.call_job, i)
                        f.call(self.finish)
                        f.put(start, f.call(self.now))
                with f.when(f.test(f.read(self.stopping), "!=", 0)):
                    f.add_to(self.workers, -1)
                    f.ret()
                f.leave(self.tick(f, turns, f.get(start)))
            wakes = f.read(self.wakes)  # before the last look: what is published later changes it
            f.add_to(self.sleepers, 1)
            busy = f.builder.or_(self.left(f), f.read(self.stopping))
            with f.when(f.test(busy, "==", 0)):
                self.sleep(f, self.wakes, wakes, I64.as_pointer()(None))
            f.add_to(self.sleepers, -1)
        f.builder.unreachable()

    def _run(self) -> Function:
        f = self.function("run", I64, [I64, I64, I64], export=True)
        kernel, block, count = f.arguments
        shared = f.variable(0, I1)
        several = f.test(count, ">", 1)
        with f.when(f.builder.and_(several, f.test(f.read(self.workers), ">", 0))):
            f.put(shared, f.replace(self.pool_lock, 0, 1))
        with f.builder.if_else(f.get(shared)) as (together, alone):
            with together:
                f.put(self.is_blas, 0)
                f.put(self.target, kernel)
                f.put(self.block, block)
                f.call(self.everything, f.builder.trunc(count, I32))
                f.call(self.unlock, self.pool_lock)
            with alone, f.count(0, count) as i:
                f.call_at(kernel, *KERNEL, block, i, count)
        rows = f.builder.inttoptr(f.get(f.slot(f.pointer(block), 1)), I64.as_pointer())
        with f.count(0, count) as i:
            code = f.get(f.slot(rows, f.builder.shl(i, I64(1))))
            with f.when(f.test(code, "!=", 0)):
                f.ret(f.builder.add(i, I64(1)))
        f.ret(0)
        return f

    def _hold_and_release(self) -> None:
        # The pool first: a BLAS call that waits for it gives up after a while; see
        # Note [Serial, shared, or on threads of its own].
        f = self.function("hold", VOID, [], export=True)
        f.call(self.lock, self.pool_lock, 0)
        f.call(self.lock, self.blas_lock, 0)
        f.ret()
        f = self.function("release", VOID, [], export=True)
        f.call(self.unlock, self.blas_lock)
        f.call(self.unlock, self.pool_lock)
        f.ret()

    def _wake_and_reset(self) -> None:
        f = self.function("wake", VOID, [I32], export=True)
        f.swap(self.stopping, f.arguments[0])
        f.add_to(self.wakes, 1)
        self.wake(f, self.wakes, EVERYBODY)
        f.ret()
        f = self.function("reset", VOID, [I32], export=True)
        for word in self.words:
            f.put(word, 0)
        f.put(self.buffers, f.arguments[0])
        f.ret()
        f = self.function("alive", I32, [], export=True)
        f.ret(f.read(self.workers))
