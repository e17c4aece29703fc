"""DataLoader: batches in order, shuffled, from streams, from worker processes."""

from collections import namedtuple

import numpy
import pytest

import minitorch2 as torch
from minitorch2.utils import data

Pair = namedtuple("Pair", "x y")


class Squares(data.Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, index):
        if index == 13:
            raise KeyError("no square of 13")
        return {"n": index, "square": torch.tensor(index**2)}


class Stream(data.IterableDataset):
    def __iter__(self):
        info = data.get_worker_info()
        start, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(start, 7, step))


def test_batches_of_tensors():
    dataset = data.TensorDataset(torch.arange(5), torch.arange(5) * 1.5)
    batches = list(data.DataLoader(dataset, batch_size=2))
    assert [x.tolist() for x, _ in batches] == [[0, 1], [2, 3], [4]]
    assert batches[1][1].tolist() == [3.0, 4.5]
    assert len(data.DataLoader(dataset, batch_size=2, drop_last=True)) == 2


def test_shuffling_takes_another_order_in_each_epoch():
    torch.manual_seed(0)
    loader = data.DataLoader(Squares(), batch_size=10, shuffle=True)
    first, second = (next(iter(loader))["n"].tolist() for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(10)) and first != second


def test_batches_keep_the_structure_of_examples():
    found = data.default_collate([Pair(1, "a"), Pair(2, "b")])
    assert type(found) is Pair and found.x.tolist() == [1, 2] and found.y == ["a", "b"]
    assert data.default_collate([numpy.ones(2), numpy.zeros(2)]).dtype is torch.float64
    with pytest.raises(TypeError, match="batch must contain tensors"):
        data.default_collate([object()])
    with pytest.raises(RuntimeError, match="equal size"):
        data.default_collate([[1, 2], [1]])


def test_single_examples_and_own_collate():
    assert [each["n"] for each in data.DataLoader(Squares(), batch_size=None)] == list(range(10))
    loader = data.DataLoader(Squares(), batch_size=4, collate_fn=len)
    assert list(loader) == [4, 4, 2]


def test_streams():
    batches = list(data.DataLoader(Stream(), batch_size=3))
    assert [batch.tolist() for batch in batches] == [[0, 1, 2], [3, 4, 5], [6]]


def test_workers_give_the_batches_of_one_process_in_the_same_order():
    def batches(workers):
        loader = data.DataLoader(Squares(), batch_size=3, num_workers=workers)
        return [batch["square"].tolist() for batch in loader]

    assert batches(2) == batches(0)


def test_workers_share_a_stream():
    loader = data.DataLoader(Stream(), batch_size=2, num_workers=2)
    assert [b.tolist() for b in loader] == [[0, 2], [1, 3], [4, 6], [5]]


def test_an_error_in_a_worker_is_raised_here():
    loader = data.DataLoader(Squares(), sampler=[1, 13], num_workers=1)
    with pytest.raises(KeyError, match="Caught KeyError in DataLoader worker process 0"):
        list(loader)


def test_leaving_a_loop_early_stops_the_workers():
    for _ in data.DataLoader(Squares(), num_workers=2):
        break


def test_arguments_that_contradict_each_other():
    with pytest.raises(ValueError, match="mutually exclusive with shuffle"):
        data.DataLoader(Squares(), sampler=[0], shuffle=True)
    with pytest.raises(ValueError, match="IterableDataset"):
        data.DataLoader(Stream(), shuffle=True)
    with pytest.raises(TypeError, match="no __getitem__"):
        data.DataLoader({1, 2})
