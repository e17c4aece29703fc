"""Philox against Random123's known answers, and the numbers built on it."""

import numpy
import pytest

import minitorch2
import minitorch2 as torch
from minitorch2.random import MANY, Generator, philox, random_words, uniform_floats

# Random123's kat_vectors, philox4x32-10: (counter, key, output). Ours has a 64-bit counter in the
# low two words and the upper two zero, so the vectors with other upper words are left to `full`.
VECTORS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    (
        (0xFFFFFFFF,) * 4,
        (0xFFFFFFFF,) * 2,
        (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    ),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


def full(counter: tuple, key: tuple) -> tuple:
    """The paper's philox4x32-10 in plain integers."""
    x, k = list(counter), list(key)
    for _ in range(10):
        left, right = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [
            (right >> 32) ^ x[1] ^ k[0],
            right & 0xFFFFFFFF,
            (left >> 32) ^ x[3] ^ k[1],
            left & 0xFFFFFFFF,
        ]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return tuple(x)


@pytest.mark.parametrize(("counter", "key", "expected"), VECTORS)
def test_known_answers(counter: tuple, key: tuple, expected: tuple) -> None:
    """The published vectors."""
    assert full(counter, key) == expected


@pytest.mark.parametrize("counter", [0, 1, 7, 2**32 - 1, 2**32, 2**63 + 5])
@pytest.mark.parametrize("seed", [0, 1, 0xDEADBEEF, 2**64 - 1])
def test_ours_is_the_papers(counter: int, seed: int) -> None:
    """The vectorized version, whose upper counter words are zero."""
    words = philox(numpy.array([counter], numpy.uint64), seed)
    plain = full((counter & 0xFFFFFFFF, counter >> 32, 0, 0), (seed & 0xFFFFFFFF, seed >> 32))
    assert tuple(int(word[0]) for word in words) == plain


def test_draws_do_not_depend_on_how_they_are_cut() -> None:
    """Words of blocks 3.. are the tail of the words of blocks 0.."""
    whole = random_words(5, 0, 40)
    assert (random_words(5, 3, 20) == whole[12:32]).all()
    floats = uniform_floats(5, 0, 1000)
    assert floats.dtype == numpy.float32 and 0 <= floats.min() and floats.max() < 1


def test_seeds_and_states() -> None:
    """The same seed gives the same numbers; a state can be put back."""
    torch.manual_seed(3)
    first = torch.rand(5)
    state = torch.get_rng_state()
    second = torch.rand(5)
    torch.set_rng_state(state)
    assert torch.rand(5).tolist() == second.tolist() != first.tolist()
    torch.manual_seed(3)
    assert torch.rand(5).tolist() == first.tolist()
    own = Generator().manual_seed(3)
    assert torch.rand(5, generator=own).tolist() == first.tolist()


def test_distributions() -> None:
    """Means, spreads and ranges of a hundred thousand draws."""
    torch.manual_seed(0)
    uniform, normal = torch.rand(100_000), torch.randn(100_000)
    assert abs(uniform.mean().item() - 0.5) < 0.005
    assert abs(normal.mean().item()) < 0.01 and abs(normal.std().item() - 1) < 0.01
    integers = torch.randint(-3, 4, (10_000,))
    assert sorted(set(integers.tolist())) == [-3, -2, -1, 0, 1, 2, 3]
    assert sorted(torch.randperm(100).tolist()) == list(range(100))
    kept = torch.bernoulli(torch.full((10_000,), 0.3)).mean().item()
    assert abs(kept - 0.3) < 0.02


def test_many_numbers_are_those_of_few(monkeypatch):
    def drawn():
        return [
            (random_words(seed, 3, count), uniform_floats(seed, 7, count))
            for seed in (0, 2**64 - 5)
            for count in (MANY, MANY + 5)
        ]

    many = drawn()
    monkeypatch.setattr(minitorch2.random, "MANY", 1 << 60)
    for (words, floats), (other_words, other_floats) in zip(many, drawn(), strict=True):
        assert (words == other_words).all()
        assert floats.dtype == other_floats.dtype
        assert (floats == other_floats).all()
