"""Chains of products and kernels, each unit of the work in one go.

In: the members of a chain and, at each call, what each of them would be given alone. Out: nothing;
the results are written. Values that stay inside have no memory of their own: `room` stands for
them, and each part of a launch has memory for one unit of each. Where the members cannot be cut
alike (sizes, layouts, no native code), they run one after the other.

    room = chains.room((8, 4, 128, 128), numpy.dtype(numpy.float32))
    run = chain([Product("f32", (-1, -1, 0)), Launch(run, compiled, (0, -1))], False)
    run((q, k, room), (4096, (room, result), (), (), 12.8))

In how many units the work is cut depends on the shapes alone, as does the kernel of each product.

Source: kernels/schedule/chains.py decides what is a chain; kernels/runtime/chain_code.py runs it.
"""

import math
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

from minitorch2.backends import blas
from minitorch2.config import config
from minitorch2.kernels.runtime import chain_code, products
from minitorch2.kernels.runtime.chain_code import HEAD, MOST_WORDS, STATUS, TABLE, WORD
from minitorch2.kernels.runtime.compile import CompiledKernel
from minitorch2.kernels.runtime.launcher import Launch as Launcher
from minitorch2.kernels.runtime.launcher import direct, parts_for, thread_count
from minitorch2.kernels.runtime.native_objects import kernel_addresses
from minitorch2.kernels.runtime.product_code import PRODUCT
from minitorch2.kernels.runtime.signature import KernelSignature

ROOM = 1 << 21  # bytes that a unit's values should have at most: they are to stay in the caches
LEAST_UNITS, LEAST_ROWS = 8, 32
ALIGNMENT = 64
BYTES = np.dtype(np.uint8)
PIECES = PRODUCT.index("pieces")  # its place in the argument block of either kernel of products
Take = Callable[[Sequence[int], np.dtype, int], np.ndarray]
Given = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Product:
    """A batch of products, given (left, right, result). `places` says for each array which value
    of the chain it is, -1 for others. `in_sums`: a unit has some terms of each sum."""

    short: str
    places: tuple[int, ...]
    run: Callable[..., None]
    in_sums: bool = False


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel, given (total, arrays, sizes, numbers, cost)."""

    run: Callable[..., None]
    kernel: CompiledKernel | None  # None: `run` is no machine code
    places: tuple[int, ...]


Member = Product | Launch
Word = tuple[int, ...]  # WORD


@dataclass(frozen=True, slots=True)
class Cut:
    """A chain for some shapes: how many parts there can be, the driver's table, nanoseconds for
    one, bytes of each value inside for a unit, whether a product is BLAS's, and whether the members
    in turn give the same bits."""

    total: int
    table: np.ndarray
    cost: float
    inside: tuple[int, ...]
    by_blas: bool
    same: bool


@lru_cache(maxsize=256)
def room(shape: tuple[int, ...], element: np.dtype, nbytes: int = 0) -> np.ndarray:
    """A stand-in for a value that stays inside: its shape and strides, and no memory behind."""
    steps = np.cumprod((element.itemsize, *shape[:0:-1]), dtype=np.int64)[::-1]
    found = np.lib.stride_tricks.as_strided(np.empty(1, element), shape, tuple(map(int, steps)))
    found.flags.writeable = False
    return found


@cache
def driver() -> int | None:
    """The address of the native loop over units; None where there is no native code."""
    if products.gemm("f") is None:
        return None
    return kernel_addresses(chain_code.ChainCode, [chain_code], "chain", ["chain"])["chain"]


def chain(members: Sequence[Member], whole: bool, take: Take) -> Callable[..., None]:
    """The function that runs a chain. `whole`: a unit is one matrix or more. `take` makes memory.

    It is called with a tuple of arguments for each member.
    """
    return _Chain(tuple(members), whole, take).run


class Asked(threading.local):
    """In how many parts a Python thread's launch is cut: asked once, before memory is made for so
    many; another thread may change the number of threads meanwhile."""

    parts = 1

    def again(self, nanoseconds: float) -> int:
        return self.parts


class _Chain:
    def __init__(self, members: tuple[Member, ...], whole: bool, take: Take) -> None:
        self.members, self.whole, self.take = members, whole, take
        self.in_sums = any(isinstance(each, Product) and each.in_sums for each in members)
        self.count = 1 + max(place for each in members for place in each.places)
        self.cuts: dict[tuple, Cut | None] = {}
        self.asked = Asked()
        self.parts = self.asked.again  # as long as the launch, which asks it
        self.launch = self._launch()

    def _launch(self) -> Launcher | None:
        """The driver as a function of arrays and numbers; None if a member is no machine code."""
        address, arrays, sizes = driver(), 1 + self.count, 1
        scalars: list[str] = []
        if address is None:
            return None
        for each in self.members:
            arrays += len(each.places) + isinstance(each, Product)
            if isinstance(each, Launch):
                if each.kernel is None or _words(each.kernel.signature) > MOST_WORDS:
                    return None
                sizes += each.kernel.signature.sizes
                scalars += each.kernel.signature.scalars
        signature = KernelSignature(("i64",) * arrays, sizes, tuple(scalars))
        return direct(address, signature, parts=self.parts)

    def run(self, *given: Given) -> None:
        """Run all members on what each is given."""
        key = tuple(map(_key, self.members, given))
        if key not in self.cuts:
            if len(self.cuts) > 64:
                self.cuts.clear()
            self.cuts[key] = self._cut(given) if self.launch is not None else None
        cut = self.cuts[key]
        if cut is None or cut.same and cut.total < thread_count():
            self._one_by_one(given)
            return
        assert self.launch is not None
        parts = self.asked.parts = parts_for(cut.total * cut.cost)
        rooms = [self.take((parts * size,), BYTES, parts * size) for size in cut.inside]
        arrays: list[Any] = [cut.table, *rooms]
        sizes: list[int] = [0]
        numbers: list[Any] = []
        for each, item in zip(self.members, given, strict=True):
            if isinstance(each, Product):
                arrays += [*item, cut.table]
            else:
                arrays += item[1]
                sizes += item[2]
                numbers += item[3]
        with blas.one_thread() if cut.by_blas else nullcontext():
            self.launch(cut.total, tuple(arrays), tuple(sizes), tuple(numbers), cut.cost)

    def _one_by_one(self, given: Sequence[Given]) -> None:
        """The members in turn, the values inside in memory of their own."""
        memory: dict[int, tuple[np.ndarray, int]] = {}

        def real(array: np.ndarray, place: int) -> np.ndarray:
            if place < 0:
                return array
            if place not in memory:  # its first appearance is whole: who makes it
                memory[place] = (self.take(array.shape, array.dtype, array.nbytes), _address(array))
            own, start = memory[place]
            offset = _address(array) - start
            return np.ndarray(array.shape, array.dtype, own, offset, array.strides)

        for each, item in zip(self.members, given, strict=True):
            if isinstance(each, Product):
                each.run(*map(real, item, each.places))
            else:
                total, arrays, *rest = item
                each.run(total, tuple(map(real, arrays, each.places)), *rest)

    def _cut(self, given: Sequence[Given]) -> Cut | None:
        """How to cut a call with these shapes; None if its members cannot be cut alike."""
        sizes, starts = [0] * self.count, [0] * self.count
        for each, item in zip(self.members, given, strict=True):
            for array, place in zip(_arrays(each, item), each.places, strict=True):
                if place >= 0 and not sizes[place]:
                    sizes[place], starts[place] = array.nbytes, _address(array)
        units = self._units(given, sum(sizes))
        if not units or any(size % units for size in sizes):
            return None
        inside = tuple(size // units for size in sizes)
        writer = _Table(units, inside, starts, self.members)
        cost, by_blas = 0.0, False
        for each, item in zip(self.members, given, strict=True):
            if isinstance(each, Launch):
                assert each.kernel is not None
                signature = each.kernel.signature
                if item[0] % units or (item[0] // units) % signature.grain:
                    return None
                cost += item[0] * item[4] / units
                writer.kernel(each, item)
                continue
            left, right, result = item
            in_sums = each.in_sums and not self.whole
            found = products.piecewise(left, right, result, units, in_sums)
            if found is None:
                return None
            cost += left.size * right.shape[-1] / units * products.NANOSECONDS_A_MULTIPLICATION
            by_blas = by_blas or found.by_blas
            writer.product(each, item, found)
        alone = units // self._matrices(given) if self.in_sums else 1
        same = not by_blas and alone == 1 and config.primitives != "numpy"
        return Cut(units // alone, writer.table(alone), cost * alone, writer.rooms, by_blas, same)

    def _units(self, given: Sequence[Given], nbytes: int) -> int:
        """In how many units to cut: a power of two of each matrix, or whole ones; 0: not at all."""
        batch, cuts = self._matrices(given), 1
        rows = math.gcd(*[
            item[0].shape[-1 if each.in_sums else -2]
            for each, item in zip(self.members, given, strict=True)
            if isinstance(each, Product)
        ])  # fmt: skip
        while not self.whole and rows % (2 * cuts) == 0 and rows // (2 * cuts) >= LEAST_ROWS and (
            nbytes > ROOM * batch * cuts or batch * cuts < LEAST_UNITS
        ):  # fmt: skip
            cuts *= 2
        parts = batch if self.in_sums else batch * cuts
        return batch * cuts if parts >= LEAST_UNITS else 0

    def _matrices(self, given: Sequence[Given]) -> int:
        """How many matrices each value of the chain has."""
        first = next(at for at, each in enumerate(self.members) if isinstance(each, Product))
        return math.prod(given[first][0].shape[:-2])


class _Table:
    """Writes the driver's table. The slots of the chain's own argument block, from `table` on: the
    table, the values inside, the arrays of the members, the number 0, sizes, scalars."""

    def __init__(
        self, units: int, inside: tuple[int, ...], starts: list[int], members: Sequence[Member]
    ) -> None:
        self.units, self.inside, self.starts = units, inside, starts
        self.rooms = tuple(-(-size // ALIGNMENT) * ALIGNMENT for size in inside)
        self.next = len(HEAD) + len(inside)  # the slot of the next array
        self.zero = self.next + sum(
            len(each.places) + isinstance(each, Product) for each in members
        )
        self.size = self.zero + 1  # the slot of the next size
        signatures = [m.kernel.signature for m in members if isinstance(m, Launch) and m.kernel]
        self.scalar = self.size + sum(each.sizes for each in signatures)
        self.members: list[tuple[int, list[Word]]] = []
        self.pieces: list[tuple[list[Word], np.ndarray]] = []

    def array(self, array: np.ndarray, place: int) -> Word:
        """The word of the next array."""
        slot, self.next = self.next, self.next + 1
        if place < 0:
            return slot, 0, 0, 0
        offset = _address(array) - self.starts[place]
        return len(HEAD) + place, offset, self.rooms[place], self.inside[place]

    def number(self, value: int) -> Word:
        """The word of a constant."""
        return self.zero, value, 0, 0

    def kernel(self, member: Launch, item: Given) -> None:
        """Add a kernel."""
        assert member.kernel is not None
        signature = member.kernel.signature
        words = [self.number(item[0]), self.number(0), *map(self.array, item[1], member.places)]
        words += [(self.size + at, 0, 0, 0) for at in range(signature.sizes)]
        words += [(self.scalar + at, 0, 0, 0) for at in range(len(signature.scalars))]
        self.size += signature.sizes
        self.scalar += len(signature.scalars)
        self.members.append((member.kernel.address, words))

    def product(self, member: Product, item: Given, found: "products.Piecewise") -> None:
        """Add a product; the list of its pieces comes behind the table."""
        words = [self.number(len(found.pieces)), self.number(0)]
        words += map(self.array, item, member.places)
        self.pieces.append((words, found.pieces))
        words += [self.array(found.pieces, -1), *map(self.number, found.numbers)]
        self.members.append((found.address, words))

    def table(self, units: int) -> np.ndarray:
        """All of it as one array; a part does so many units at least."""
        at = len(TABLE) + sum(2 + len(WORD) * len(words) for _, words in self.members)
        for words, pieces in self.pieces:
            slot, *_ = words[PIECES]
            words[PIECES] = (slot, at * pieces.itemsize, 0, 0)
            at += pieces.size
        numbers = [len(self.members), units]
        for address, words in self.members:
            numbers += [address, len(words), *(each for word in words for each in word)]
        parts = [np.array(numbers, np.int64), *(pieces.ravel() for _, pieces in self.pieces)]
        return np.concatenate(parts)


def _words(signature: KernelSignature) -> int:
    return STATUS + 1 + len(signature.arrays) + signature.sizes + len(signature.scalars)


def _arrays(member: Member, item: Given) -> Sequence[np.ndarray]:
    return item if isinstance(member, Product) else item[1]


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def _key(member: Member, item: Given) -> tuple:
    """What the cut of a call depends on."""
    if isinstance(member, Product):
        return tuple((each.shape, each.strides) for each in item)
    return item[0], item[4]
