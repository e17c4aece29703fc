"""Datasets: combined, split, and their mistakes."""

import pytest

import minitorch2 as torch
from minitorch2.utils import data


def numbers(count):
    return data.TensorDataset(torch.arange(count))


def test_tensor_dataset():
    dataset = data.TensorDataset(torch.arange(3), torch.arange(6).reshape(3, 2))
    assert len(dataset) == 3
    x, y = dataset[-1]
    assert x.item() == 2 and y.tolist() == [4, 5]
    with pytest.raises(AssertionError, match="Size mismatch"):
        data.TensorDataset(torch.zeros(3), torch.zeros(4))


def test_concatenated():
    joined = numbers(2) + numbers(3)
    assert [joined[i][0].item() for i in range(5)] == [0, 1, 0, 1, 2]
    assert joined[-1][0].item() == 2
    with pytest.raises(IndexError, match="out of range"):
        joined[5]


def test_split():
    generator = torch.Generator().manual_seed(0)
    first, second = data.random_split(numbers(10), [0.75, 0.25], generator)
    assert (len(first), len(second)) == (8, 2)
    assert sorted(int(x) for part in (first, second) for (x,) in part) == list(range(10))
    again, _ = data.random_split(numbers(10), [8, 2], torch.Generator().manual_seed(0))
    assert first.indices == again.indices
    with pytest.raises(ValueError, match="does not equal the length"):
        data.random_split(numbers(10), [3, 3])


def test_a_subset_makes_the_batches_its_dataset_would():
    part = data.Subset(data.Subset(numbers(10), [9, 7, 5, 3]), [3, 0])
    assert [x.item() for (x,) in part] == [3, 9]
    assert next(iter(data.DataLoader(part, batch_size=2)))[0].tolist() == [3, 9]


def test_streams():
    class Count(data.IterableDataset):
        def __iter__(self):
            return iter(range(3))

    chained = Count() + Count()
    assert list(chained) == [0, 1, 2, 0, 1, 2]


def test_stacked():
    stacked = data.StackDataset(a=numbers(3), b=numbers(3))
    assert stacked[1]["b"][0].item() == 1
