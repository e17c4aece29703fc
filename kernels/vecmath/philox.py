"""Random bits by counter: the word for a position depends on nothing but seed and position.

In: a u64 seed and a u64 counter. Out: word `counter & 3` of the Philox4x32-10 block number
`counter >> 2` under that key. Any order of evaluation, any number of threads and any device give
the same numbers.

>>> import numpy as np
>>> word = philox(np.uint64(0), np.uint64(0))
>>> hex(word), uniform_f32(word)
('0x6627e8d5', np.float32(0.39904642))

Source: J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
"""

from typing import Any

from minitorch2.kernels.vecmath import primitives as p
from minitorch2.kernels.vecmath.helpers import helper

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10


def _halves(word: Any) -> tuple[Any, Any]:
    """The low and the high 32 bits of a u64."""
    return p.cast(word, "u32"), p.cast(word >> 32, "u32")


def block(seed: Any, counter: Any) -> tuple[Any, Any, Any, Any]:
    """The four u32 words of one block."""
    key0, key1 = _halves(seed)
    x0, x1 = _halves(counter)
    x2 = x3 = p.cast(counter ^ counter, "u32")
    for _ in range(ROUNDS):
        low0, high0 = _halves(p.cast(x0, "u64") * MULTIPLIERS[0])
        low1, high1 = _halves(p.cast(x2, "u64") * MULTIPLIERS[1])
        x0, x1, x2, x3 = high1 ^ x1 ^ key0, low1, high0 ^ x3 ^ key1, low0
        key0, key1 = key0 + WEYL[0], key1 + WEYL[1]
    return x0, x1, x2, x3


@helper(accepts=("u64",), returns="u32")
def philox(seed: Any, counter: Any) -> Any:
    """Random word number `counter`."""
    x0, x1, x2, x3 = block(seed, counter >> 2)
    odd = (counter & 1) != 0
    return p.select((counter & 2) == 0, p.select(odd, x1, x0), p.select(odd, x3, x2))


@helper(accepts=("i64",))
def random_word(seed: Any, number: Any) -> Any:
    """As `philox`, in i64: a word from 0 to 2^32 - 1."""
    word = philox(p.cast(seed, "u64"), p.cast(number, "u64"))
    return p.cast(word, "i64")


@helper(accepts=("u32",), returns="f32")
def uniform_f32(word: Any) -> Any:
    """A float in [0, 1) from the word's high 24 bits."""
    return p.cast(word >> 8, "f32") * 2.0**-24


@helper(accepts=("u32",), returns="f64")
def uniform_f64(high: Any, low: Any) -> Any:
    """A double in [0, 1) from 53 bits of two words."""
    word = (p.cast(high, "u64") << 21) | p.cast(low >> 11, "u64")
    return p.cast(word, "f64") * 2.0**-53
