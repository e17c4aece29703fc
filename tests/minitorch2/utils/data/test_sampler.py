"""Samplers: every index once, the generator decides, weights count."""

import minitorch2 as torch
from minitorch2.utils import data


def test_random_order_is_a_permutation_that_the_seed_decides():
    def order(seed):
        return list(data.RandomSampler(range(20), generator=torch.Generator().manual_seed(seed)))

    assert sorted(order(0)) == list(range(20))
    assert order(0) == order(0) != order(1)


def test_draws():
    torch.manual_seed(0)
    assert len(list(data.RandomSampler(range(3), num_samples=7))) == 7
    assert set(data.RandomSampler(range(3), replacement=True, num_samples=50)) == {0, 1, 2}
    assert sorted(data.SubsetRandomSampler([5, 7])) == [5, 7]


def test_weights():
    torch.manual_seed(0)
    drawn = list(data.WeightedRandomSampler([0.0, 1.0, 3.0], 4000))
    assert drawn.count(0) == 0
    assert 0.7 < drawn.count(2) / 4000 < 0.8
    once = list(data.WeightedRandomSampler([1.0, 2.0, 3.0], 3, replacement=False))
    assert sorted(once) == [0, 1, 2]


def test_batches():
    sampler = data.SequentialSampler(range(5))
    assert list(data.BatchSampler(sampler, 2, False)) == [[0, 1], [2, 3], [4]]
    assert list(data.BatchSampler(sampler, 2, True)) == [[0, 1], [2, 3]]
    assert len(data.BatchSampler(sampler, 2, True)) == 2
