"""Random numbers: Philox4x32-10, a counter-based generator.

In: a seed and a counter. Out: for each element four words that depend on nothing else, so the same
numbers come out eagerly and compiled, on any device, in any order, for any number of threads.
Element i of a draw that starts at counter c uses word i % 4 of block c + i // 4.

    generator = Generator().manual_seed(0)
    seed, counter = generator.take(10)      # reserves ceil(10 / 4) blocks

Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
"""

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import numpy

from minitorch2 import forks
from minitorch2.backends.primitives import drawer
from minitorch2.tensors import wrap

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_WORD = (1 << 32) - 1
# From so many numbers on, the kernel's loop (the same numbers) pays for being fetched.
MANY = 1 << 15


def philox(counter: numpy.ndarray, seed: int) -> tuple[numpy.ndarray, ...]:
    """The four 32-bit words of each 64-bit counter, as uint32 arrays of its shape."""
    mask = numpy.uint64(_WORD)
    shift = numpy.uint64(32)
    counter = counter.astype(numpy.uint64)
    x0, x1 = counter & mask, counter >> shift
    x2, x3 = numpy.zeros_like(x0), numpy.zeros_like(x0)
    k0, k1 = seed & _WORD, (seed >> 32) & _WORD
    for _ in range(10):
        left = numpy.uint64(_MULTIPLIERS[0]) * x0
        right = numpy.uint64(_MULTIPLIERS[1]) * x2
        x0, x1, x2, x3 = (
            (right >> shift) ^ x1 ^ numpy.uint64(k0),
            right & mask,
            (left >> shift) ^ x3 ^ numpy.uint64(k1),
            left & mask,
        )
        k0, k1 = (k0 + _WEYL[0]) & _WORD, (k1 + _WEYL[1]) & _WORD
    return tuple(word.astype(numpy.uint32) for word in (x0, x1, x2, x3))


def random_words(seed: int, counter: int, count: int) -> numpy.ndarray:
    """`count` 32-bit words from a counter on."""
    if count >= MANY and (draw := drawer("words")) is not None:
        return draw(seed, counter, count)
    blocks = numpy.arange((count + 3) // 4, dtype=numpy.uint64) + numpy.uint64(counter)
    return numpy.stack(philox(blocks, seed), axis=-1).reshape(-1)[:count]


def uniform_floats(seed: int, counter: int, count: int) -> numpy.ndarray:
    """`count` float32 numbers in [0, 1): the upper 24 bits of each word."""
    if count >= MANY and (draw := drawer("floats")) is not None:
        return draw(seed, counter, count)
    words = random_words(seed, counter, count)
    return (words >> numpy.uint32(8)).astype(numpy.float32) * numpy.float32(2.0**-24)


class Generator:
    """A seed and the next unused counter."""

    def __init__(self, device: Any = "cpu"):
        self.device = device
        self.seed_value, self.counter = 67280421310721, 0
        self.lock = forks.lock()

    def manual_seed(self, seed: int) -> "Generator":
        """Start again from a seed (any integer, taken modulo 2**64)."""
        with self.lock:
            self.seed_value, self.counter = int(seed) & ((1 << 64) - 1), 0
        return self

    def initial_seed(self) -> int:
        """The seed last set."""
        return self.seed_value

    def seed(self) -> int:
        """Set and return a seed from the system's entropy."""
        self.manual_seed(int.from_bytes(os.urandom(8), "little"))
        return self.seed_value

    def take(self, count: Any) -> tuple[Any, Any]:
        """Reserve counters for `count` elements: (seed, first counter)."""
        with self.lock:
            first = self.counter
            self.counter = first + (count + 3) // 4
            return self.seed_value, first

    def give_back(self, first: int, count: int) -> None:
        """Undo a `take` of `count` elements that nobody used, if nothing was taken since."""
        with self.lock:
            if self.counter == first + (count + 3) // 4:
                self.counter = first

    def get_state(self) -> Any:
        """The state as a uint8 tensor of 16 bytes."""
        return wrap(numpy.array([self.seed_value, self.counter], numpy.uint64).view(numpy.uint8))

    def set_state(self, state: Any) -> None:
        """Restore what get_state returned."""
        seed, counter = state.array.view(numpy.uint64)
        with self.lock:
            self.seed_value, self.counter = int(seed), int(counter)


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Seed the default generator."""
    return default_generator.manual_seed(seed)


@contextlib.contextmanager
def fork_rng(
    devices: Any = None, enabled: bool = True, device_type: str = "cpu", **names: Any
) -> Iterator[None]:
    """A block after which the default generator goes on as if the block had drawn nothing."""
    before = default_generator.seed_value, default_generator.counter
    try:
        yield
    finally:
        if enabled:
            with default_generator.lock:
                default_generator.seed_value, default_generator.counter = before


def seed() -> int:
    """Seed the default generator from the system's entropy."""
    return default_generator.seed()


def initial_seed() -> int:
    """The default generator's seed."""
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """The default generator's state."""
    return default_generator.get_state()


def set_rng_state(state: Any) -> None:
    """Restore the default generator's state."""
    default_generator.set_state(state)
