"""The generator: the authors' test vectors, and uniform numbers in [0, 1)."""

import numpy as np
import pytest

from minitorch2.kernels.vecmath.philox import block
from tests.kernels.vecmath.kernels import compiled

pytestmark = pytest.mark.numba


def words_of(seed: int, number: int) -> list[int]:
    with np.errstate(over="ignore"):
        return [int(word) for word in block(np.uint64(seed), np.uint64(number))]


def test_known_blocks():
    """From kat_vectors of Random123: philox4x32 10, counter and key zero."""
    assert words_of(0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


def test_words_are_those_of_their_block():
    counters = np.arange(8, dtype=np.uint64)
    seeds = np.full(8, 1234567890123, np.uint64)
    expected = words_of(1234567890123, 0) + words_of(1234567890123, 1)
    assert compiled("philox", seeds, counters).tolist() == expected
    signed = compiled("random_word", seeds.astype(np.int64), counters.astype(np.int64))
    assert signed.tolist() == expected


def test_uniform_numbers_are_spread_evenly():
    counters = np.arange(100_000, dtype=np.uint64)
    words = compiled("philox", np.zeros_like(counters), counters)
    for numbers in (compiled("uniform_f32", words), compiled("uniform_f64", words, words[::-1])):
        assert 0 <= numbers.min() and numbers.max() < 1
        assert abs(numbers.mean() - 0.5) < 0.005
        assert abs(numbers.var() - 1 / 12) < 0.002
