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
