"""Datasets: examples by number, or examples in a stream, and ways to combine and split them.

In: tensors, other datasets, or a class of the user's with `__getitem__` and `__len__`. Out:
examples.

    >>> from minitorch2 import arange
    >>> TensorDataset(arange(3), arange(3) * 10)[1]
    (tensor(1), tensor(10))

Source: torch.utils.data.
"""

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from minitorch2.creation import tensor
from minitorch2.dtypes import int64
from minitorch2.errors import ArgumentValueError
from minitorch2.ops.table import lookup
from minitorch2.random import Generator

_randperm = lookup("randperm").public


class Dataset:
    """Base class of datasets whose examples have numbers: define `__getitem__` and `__len__`."""

    def __class_getitem__(cls, item: Any) -> Any:
        return cls

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: "Dataset") -> "ConcatDataset":
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """Base class of datasets that are streams: define `__iter__`."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Dataset) -> "ChainDataset":  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset):
    """Example i is the tuple of the tensors' i-th parts."""

    def __init__(self, *tensors: Any):
        sizes = [tensor.shape[0] for tensor in tensors]
        assert len(set(sizes)) < 2, f"Size mismatch between tensors: their first sizes are {sizes}"
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple:
        return tuple(tensor[index] for tensor in self.tensors)

    def collated(self, indices: Sequence[int]) -> list[Any]:
        """What default_collate makes of the examples, by one gather for each tensor."""
        places: Any = tensor(list(indices), dtype=int64)
        return [each[places] for each in self.tensors]

    def __len__(self) -> int:
        return self.tensors[0].shape[0]


class StackDataset(Dataset):
    """Example i is the tuple (or dict) of the datasets' i-th examples."""

    def __init__(self, *args: Any, **kwargs: Any):
        self.datasets: Any = kwargs if kwargs else args
        parts = list(kwargs.values()) if kwargs else list(args)
        if not parts or (args and kwargs):
            raise ArgumentValueError("StackDataset(...)", "give datasets, or named datasets")
        self._length = len(parts[0])
        if any(len(part) != self._length for part in parts):
            raise ArgumentValueError("StackDataset(...)", "Size mismatch between datasets")

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset):
    """The examples of one dataset after those of another."""

    def __init__(self, datasets: Iterable[Any]):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        self.cumulative_sizes = list(itertools.accumulate(len(each) for each in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            if index < 0:
                raise ArgumentValueError(
                    f"ConcatDataset[{index}]",
                    "absolute value of index should not exceed dataset length",
                )
            raise IndexError(f"index {index} is out of range for {len(self)} examples")
        which = bisect.bisect_right(self.cumulative_sizes, at)
        before = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][at - before]


class ChainDataset(IterableDataset):
    """One stream after another."""

    def __init__(self, datasets: Iterable[Any]):
        self.datasets = list(datasets)

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)


class Subset(Dataset):
    """The examples of a dataset at given indices."""

    def __init__(self, dataset: Any, indices: Sequence[int]):
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[each] for each in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """Several examples, through the dataset's own way if it has one."""
        chosen = [self.indices[index] for index in indices]
        several = getattr(self.dataset, "__getitems__", None)
        return several(chosen) if several else [self.dataset[index] for index in chosen]

    def collated(self, indices: Sequence[int]) -> Any:
        """As the dataset's own `collated`, which it must have."""
        return self.dataset.collated([self.indices[index] for index in indices])

    def __len__(self) -> int:
        return len(self.indices)


def can_collate(dataset: Any) -> bool:
    """Whether a dataset makes batches by itself, equal to default_collate's but quicker."""
    if type(dataset) is Subset:
        return can_collate(dataset.dataset)
    return type(dataset) is TensorDataset


def random_split(
    dataset: Any, lengths: Sequence[Any], generator: Generator | None = None
) -> list[Subset]:
    """Split into random parts of the given lengths, or of the given shares that add up to 1."""
    counts = list(lengths)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1 + 1e-9:
        counts = [math.floor(len(dataset) * share) for share in lengths]
        for extra in range(len(dataset) - sum(counts)):
            counts[extra % len(counts)] += 1
    if sum(counts) != len(dataset):
        raise ArgumentValueError(
            f"random_split({len(dataset)} examples, {list(lengths)})",
            "Sum of input lengths does not equal the length of the input dataset!",
            "give lengths that add up, or shares like [0.75, 0.25]",
        )
    order = _randperm(len(dataset), generator=generator).tolist()
    ends = itertools.accumulate(counts)
    return [
        Subset(dataset, order[end - count : end]) for end, count in zip(ends, counts, strict=True)
    ]
