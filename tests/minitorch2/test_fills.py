"""Methods that fill with random numbers: bounds, moments, reproducibility."""

import pytest

import minitorch2 as torch


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


def test_uniform():
    x = torch.empty(10000)
    assert x.uniform_(2, 4) is x
    assert 2 <= x.min().item() and x.max().item() < 4
    assert x.mean().item() == pytest.approx(3, abs=0.05)


def test_normal_and_exponential():
    x = torch.empty(10000, dtype=torch.float64).normal_(1, 0.5)
    assert x.mean().item() == pytest.approx(1, abs=0.03)
    assert x.std().item() == pytest.approx(0.5, rel=0.05)
    assert torch.empty(10000).exponential_(2).mean().item() == pytest.approx(0.5, rel=0.05)


def test_integers():
    x = torch.zeros(1000, dtype=torch.int64).random_(3, 6)
    assert set(x.tolist()) == {3, 4, 5}
    assert set(torch.zeros(1000, dtype=torch.bool).random_().tolist()) == {True, False}
    with pytest.raises(RuntimeError, match="less than 'to'"):
        x.random_(3, 3)


def test_bernoulli_and_multinomial():
    assert torch.empty(10000).bernoulli_(0.3).mean().item() == pytest.approx(0.3, abs=0.03)
    drawn = torch.multinomial(torch.tensor([0.0, 1.0, 3.0]), 4000, replacement=True)
    assert (drawn == 0).sum().item() == 0
    assert (drawn == 2).float().mean().item() == pytest.approx(0.75, abs=0.03)
    once = torch.multinomial(torch.ones(50, 3), 3)
    assert once.sort(1).values.tolist() == [[0, 1, 2]] * 50


def test_the_generator_decides():
    first = torch.empty(5).normal_(generator=torch.Generator().manual_seed(1))
    second = torch.empty(5).normal_(generator=torch.Generator().manual_seed(1))
    assert torch.equal(first, second)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (0, 1 << 31),
        (-5, 1 << 32),
        (0, 3 << 40),
        (-(1 << 62), 1 << 62),
        (-(1 << 63), (1 << 63) - 1),
        (-(1 << 62), (1 << 63) - 1),
    ],
)
def test_integers_of_wide_ranges_fill_the_range_evenly(low, high):
    for x in (
        torch.randint(low, high, (4000,)),
        torch.empty(4000, dtype=torch.int64).random_(low, high),
    ):
        share = (x.double() - low) / (high - low)
        assert low <= x.min().item() and x.max().item() < high
        assert share.mean().item() == pytest.approx(0.5, abs=0.03)
        assert share.std().item() == pytest.approx(12**-0.5, rel=0.05)


@pytest.mark.parametrize(
    ("dtype", "top"), [(torch.int64, 1 << 63), (torch.int32, 1 << 31), (torch.float64, 1 << 53)]
)
def test_integers_without_bounds_fill_the_dtype(dtype, top):
    x = torch.empty(4000, dtype=dtype).random_()
    assert x.min().item() >= 0
    assert x.double().max().item() > 0.99 * top
    assert x.double().mean().item() == pytest.approx(top / 2, rel=0.05)


def test_wide_integers_use_all_their_bits():
    x = torch.randint(-(1 << 63), (1 << 63) - 1, (4000,))
    for bit in range(64):
        assert ((x >> bit) & 1).double().mean().item() == pytest.approx(0.5, abs=0.05)
