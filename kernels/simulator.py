"""Run a kernel scheduled for a GPU, with blocks and threads, on the CPU: what its schedule means.

In: a Kernel with `threads`, flat numpy arrays, sizes, numbers, a number of blocks. Out: the arrays,
written in place; KernelFailure for a check that failed. All threads take the same step together:
a value is an array with one element a thread, and a mask says who takes part. It is no toy
arithmetic: the functions are vecmath's, reductions run the shuffles of vecmath/folds.py. A load
outside a buffer, and two threads that store to one element, raise SimulatorError.

    >>> from minitorch2.kernels.parser import parse_kernel
    >>> kernel = parse_kernel('''kernel total(a: f32[100] in, b: f32[1] out) threads 64 {
    ...   for row in 1 blocks {
    ...     reduce i in 25 threads, e in 4 vector {
    ...       v: f32 = a[4*i + e]
    ...     } into r: f32 = sum(v)
    ...     b[0] = r
    ...   }
    ... }''')
    >>> result = numpy.zeros(1, "f4")
    >>> simulate_kernel(kernel, [numpy.ones(100, "f4"), result], blocks=2)
    >>> result
    array([100.], dtype=float32)

Source: the SIMT model of NVIDIA's programming guide, without independent thread scheduling.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy

from minitorch2.dtypes import dtype
from minitorch2.kernels.index import Index, evaluate
from minitorch2.kernels.interpreter import function_named, messages
from minitorch2.kernels.loop_ir import (
    Accumulator,
    Call,
    Cast,
    Check,
    Constant,
    Expression,
    IndexValue,
    Kernel,
    Let,
    LetIndex,
    Load,
    Loop,
    Name,
    Reduce,
    Require,
    Statement,
    Store,
    Window,
)
from minitorch2.kernels.runtime.signature import KernelFailure
from minitorch2.kernels.vecmath.folds import STEPS, WARP, ArrayTeam, fold, start

WAVE = 1 << 16  # threads simulated together


class SimulatorError(AssertionError):
    """A schedule that would read outside a buffer, or write an element twice.

    It is a mistake in schedule/gpu.py and no Mt2Error, after which a call would run eagerly.
    """

    def __init__(self, access: str, wrong: str):
        super().__init__(f"{access}: {wrong}; print the kernel and follow the index")


def simulate_kernel(
    kernel: Kernel,
    buffers: Sequence[numpy.ndarray],
    sizes: Sequence[int] = (),
    numbers: Sequence[Any] = (),
    blocks: int = 1,
) -> None:
    """Run a kernel in a grid of `blocks` blocks."""
    at_once = max(WAVE // kernel.threads, 1)
    with numpy.errstate(all="ignore"):
        for first in range(0, blocks, at_once):
            some = range(first, min(first + at_once, blocks))
            wave = _Wave(kernel, buffers, sizes, numbers, some, blocks)
            wave.block(kernel.body)


class _Wave:
    """Some blocks of the grid: what every name stands for in each of their threads."""

    def __init__(
        self,
        kernel: Kernel,
        buffers: Sequence[numpy.ndarray],
        sizes: Sequence[int],
        numbers: Sequence[Any],
        some: range,
        blocks: int,
    ):
        self.messages, self.threads, self.blocks = messages(kernel), kernel.threads, blocks
        self.count = len(some) * kernel.threads
        numbers_here = numpy.arange(self.count)
        self.team = ArrayTeam(numbers_here, kernel.threads)
        self.global_thread = numbers_here + some.start * kernel.threads
        self.active = numpy.ones(self.count, bool)
        self.inside: tuple[str, ...] = ()
        self.buffers = {b.name: a for b, a in zip(kernel.buffers, buffers, strict=True)}
        self.indices: dict[str, Any] = dict(zip(kernel.sizes, map(int, sizes), strict=True))
        pairs = zip(kernel.scalars, numbers, strict=True)
        self.values: dict[str, Any] = {s.name: self.whole(v, s.dtype) for s, v in pairs}

    def whole(self, value: Any, element: dtype) -> numpy.ndarray:
        """The value as one element a thread."""
        return numpy.broadcast_to(numpy.asarray(value).astype(element.numpy), (self.count,))

    def at(self, index: Index) -> numpy.ndarray:
        """An index in each thread; 0 where the thread takes no part."""
        return numpy.where(self.active, evaluate(index, self.indices), 0)

    def uniform(self, index: Index) -> int:
        """An index that is the same everywhere, such as an extent."""
        return int(numpy.max(evaluate(index, self.indices)))

    def dealt(self, word: str) -> tuple[numpy.ndarray, int]:
        """Each thread's first turn of a loop with this spread, and the step to its next one."""
        total = self.blocks * self.threads
        if word == "blocks":
            return self.global_thread // self.threads, self.blocks
        if word == "warps":
            return self.global_thread // WARP, total // WARP
        if not self.inside:
            return self.global_thread, total
        size = self.team_size()
        return self.global_thread % size, size

    def team_size(self) -> int:
        """The threads that share a turn of the outermost loop."""
        return WARP if self.inside[0] == "warps" else self.threads

    @contextmanager
    def turns(self, word: str) -> Iterator[None]:
        """Inside a loop with this spread; the mask is put back afterwards."""
        active, inside = self.active, self.inside
        self.inside = (*inside, word) if word else inside
        yield
        self.active, self.inside = active, inside

    def axis(self, variable: str, extent: Index, word: str) -> Iterator[None]:
        """The turns of a loop, one for each step of the machine."""
        size = self.uniform(extent)
        if word in ("", "vector"):
            for at in range(size):
                self.indices[variable] = at
                yield
            return
        own, step = self.dealt(word)
        with self.turns(word):
            outer = self.active
            for first in range(0, size, step):
                self.indices[variable] = own + first
                self.active = outer & (own + first < size)
                yield

    def block(self, body: Sequence[Statement]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        """Carry out a statement for all threads of the wave that are active."""
        match statement:
            case Let(name, value):
                self.values[name] = self.value(value)
            case LetIndex(name, index):
                self.indices[name] = self.at(index)
            case Window(name, inside, index, size):
                at, limit = self.at(index), evaluate(size, self.indices)
                fits = (at >= 0) & (at < limit)
                self.indices[name], self.values[inside] = numpy.where(fits, at, 0), fits
            case Check(name, value, size, message):
                at = self.value(value)
                self.require((at >= 0) & (at < evaluate(size, self.indices)), message, at)
                self.indices[name] = at
            case Require(condition, message):
                self.require(self.value(condition), message, numpy.zeros(self.count, int))
            case Store():
                self.store(statement)
            case Loop(variable, extent, body):
                for _ in self.axis(variable, extent, statement.spread):
                    self.block(body)
            case Reduce():
                self.reduction(statement)

    def require(self, fine: numpy.ndarray, message: str, at: numpy.ndarray) -> None:
        wrong = numpy.flatnonzero(self.active & ~fine)
        if wrong.size:
            raise KernelFailure(16 + self.messages.index(message), int(at[wrong[0]]))

    def store(self, store: Store) -> None:
        array, at, value = self.buffers[store.buffer], self.at(store.index), self.value(store.value)
        who = self.active
        if "threads" not in self.inside:
            who = who & (self.global_thread % self.team_size() == 0)
        at, value = at[who], value[who]
        self.bounds(store.buffer, store.index, at)
        if numpy.unique(at).size < at.size:
            raise SimulatorError(f"{store.buffer}[{store.index}]", "two threads store to it")
        array[at] = array[at] + value if store.accumulate else value

    def bounds(self, buffer: str, index: Index, at: numpy.ndarray) -> None:
        size = self.buffers[buffer].size
        if at.size and not (0 <= at.min() and at.max() < size):
            asked = f"{buffer}[{index}]"
            raise SimulatorError(asked, f"{at.min()} to {at.max()} of {size} elements")

    def reduction(self, reduce: Reduce) -> None:
        """Carry out a reduction: each thread's part, then what the threads hand to each other."""
        wide = [_wide(each) for each in reduce.accumulators]
        names = [each.reducer for each in reduce.accumulators]
        partial = [
            tuple(numpy.full(self.count, part) for part in start(name, kind))
            for name, kind in zip(names, wide, strict=True)
        ]
        for position in self.domain(reduce.axes()):
            self.block(reduce.body)
            for number, each in enumerate(reduce.accumulators):
                value = self.value(each.value)
                value = value != 0 if each.reducer in ("any", "all") else value.astype(wide[number])
                new = (value, position) if each.reducer.startswith("arg") else (value,)
                stepped = STEPS[each.reducer](partial[number], new)
                partial[number] = tuple(
                    numpy.where(self.active, b, a)
                    for a, b in zip(partial[number], stepped, strict=True)
                )
        together = any(word == "threads" for _, _, word in reduce.axes())
        for each, values in zip(reduce.accumulators, partial, strict=True):
            if together:
                warps = self.team_size() // WARP
                values = fold(self.team, each.reducer, values, warps)
            self.values[each.name] = values[-1].astype(each.dtype.numpy)

    def domain(self, axes: Sequence[tuple[str, Index, str]]) -> Iterator[numpy.ndarray]:
        """Every point of a domain, as its position in each thread."""
        if not axes:
            yield numpy.zeros(self.count, numpy.int64)
            return
        (variable, extent, word), *rest = axes
        inner = 1
        for _, size, _ in rest:
            inner *= self.uniform(size)
        for _ in self.axis(variable, extent, word):
            here = numpy.asarray(self.indices[variable]) * inner
            for position in self.domain(rest):
                yield here + position

    def value(self, expression: Expression) -> Any:
        """The numbers that an expression gives, one a thread."""
        match expression:
            case Name(name):
                return self.values[name]
            case Constant(value, element):
                return self.whole(value, element)
            case Load(buffer, index):
                at = self.at(index)
                self.bounds(buffer, index, at)
                return self.buffers[buffer][at]
            case IndexValue(index):
                return self.at(index).astype(numpy.int64)
            case Cast(value, element):
                return self.value(value).astype(element.numpy)
            case Call(function, args, element):
                call = numpy.where if function == "select" else function_named(function)
                return numpy.asarray(call(*map(self.value, args))).astype(element.numpy)


def _wide(accumulator: Accumulator) -> numpy.dtype:
    """The type a partial result is kept in: f32 for 16-bit floats, bool for any and all."""
    element = accumulator.value.dtype
    if accumulator.reducer in ("any", "all"):
        return numpy.dtype(bool)
    return numpy.dtype("f4") if element.short in ("f16", "bf16") else numpy.dtype(element.numpy)
