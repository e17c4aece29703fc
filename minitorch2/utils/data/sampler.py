"""Samplers: in which order the examples of a dataset are taken.

In: a dataset, or numbers. Out: an iterable of indices, or of lists of indices for a batch sampler.

Source: torch.utils.data's samplers.
"""

import itertools
from collections.abc import Iterator, Sequence, Sized
from typing import Any

from minitorch2.creation import as_tensor, rand, randint
from minitorch2.dtypes import float64
from minitorch2.errors import ArgumentValueError
from minitorch2.ops.table import lookup
from minitorch2.random import Generator

_randperm = lookup("randperm").public


class Sampler:
    """Base class: define `__iter__`, and `__len__` where it is known."""

    def __class_getitem__(cls, item: Any) -> Any:
        return cls

    def __init__(self, data_source: Any = None):
        pass

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


class SequentialSampler(Sampler):
    """0, 1, 2, ..."""

    def __init__(self, data_source: Sized):
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """All examples in random order, or `num_samples` draws, with replacement if wanted."""

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ):
        self.data_source, self.replacement = data_source, replacement
        self._num_samples, self.generator = num_samples, generator
        if self.num_samples <= 0 and num_samples is not None:
            raise ArgumentValueError(
                f"RandomSampler(num_samples={num_samples})",
                "num_samples should be a positive integer value",
            )

    @property
    def num_samples(self) -> int:
        """How many indices one pass gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        count = len(self.data_source)
        if self.replacement:
            drawn: Any = randint(count, (self.num_samples,), generator=self.generator)
            yield from drawn.tolist()
            return
        left = self.num_samples
        while left > 0:
            order = _randperm(count, generator=self.generator).tolist()
            yield from order[:left]
            left -= count

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """Given indices in random order."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None):
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for at in _randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[at]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """`num_samples` indices, each as likely as its weight says."""

    def __init__(
        self,
        weights: Any,
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ):
        self.weights: Any = as_tensor(weights).double()
        self.num_samples, self.replacement = num_samples, replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        count = self.weights.shape[0]
        if self.replacement:
            sums = self.weights.cumsum(0)
            draws: Any = rand(self.num_samples, 1, dtype=float64, generator=self.generator)
            chosen = (draws * sums[-1] >= sums).sum(1).clamp(max=count - 1)
        else:  # exponential races: the index i wins with probability weight i
            races: Any = rand(count, dtype=float64, generator=self.generator)
            chosen = (-(1 - races).log() / self.weights).argsort()[: self.num_samples]
        return iter(chosen.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of `batch_size` indices; the last may be shorter unless `drop_last`."""

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ArgumentValueError(
                f"BatchSampler(batch_size={batch_size})",
                f"batch_size should be a positive integer value, but got batch_size={batch_size}",
            )
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        count = len(self.sampler)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
