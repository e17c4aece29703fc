"""Samplers: in which order the examples of a dataset are taken.

In: a dataset, or numbers. Out: an iterable of indices, or of lists of indices for a batch sampler.

Source: torch.utils.data's samplers.
"""

import itertools
from collections.abc import Iterator, Sequence, Sized
from typing import Any

from minitorch2.creation import as_tensor
from minitorch2.dtypes import int64
from minitorch2.errors import ArgumentTypeError, ArgumentValueError, Mt2Error
from minitorch2.public import public
from minitorch2.random import Generator

_AT_ONCE = 32  # indices drawn in one call, with replacement


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


def _check_count(asked: str, name: str, value: Any, truth: bool = False) -> None:
    """Refuse what is no number above zero; True is one where `truth` is."""
    if not isinstance(value, int) or isinstance(value, bool) and not truth or value <= 0:
        raise ArgumentValueError(
            f"{asked}({name}={value})",
            f"{name} should be a positive integer value, but got {name}={value}",
        )


def _check_flag(
    asked: str, name: str, value: Any, kind: type[Mt2Error] = ArgumentValueError
) -> None:
    if not isinstance(value, bool):
        raise kind(
            f"{asked}({name}={value})",
            f"{name} should be a boolean value, but got {name}={value}",
        )


def _own_generator() -> Generator:
    """A stream for one pass, seeded by a number of the default one."""
    seed = public("empty")((), dtype=int64).random_().item()
    return Generator().manual_seed(int(seed))


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
        _check_flag("RandomSampler", "replacement", replacement, ArgumentTypeError)
        _check_count("RandomSampler", "num_samples", self.num_samples, truth=True)

    @property
    def num_samples(self) -> int:
        """How many indices one pass gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        count = len(self.data_source)
        generator = self.generator or _own_generator()
        if self.replacement:
            whole, rest = divmod(self.num_samples, _AT_ONCE)
            for size in (*[_AT_ONCE] * whole, rest):
                drawn = public("randint")(
                    high=count, size=(size,), dtype=int64, generator=generator
                )
                yield from drawn.tolist()
            return
        # The last order is drawn even where nothing is taken from it: as often as torch draws.
        whole, rest = divmod(self.num_samples, count)
        for length in (*[count] * whole, rest):
            yield from public("randperm")(count, generator=generator).tolist()[:length]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """Given indices in random order."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None):
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for at in public("randperm")(len(self.indices), generator=self.generator).tolist():
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
        _check_count("WeightedRandomSampler", "num_samples", num_samples)
        _check_flag("WeightedRandomSampler", "replacement", replacement)
        self.weights: Any = as_tensor(weights).double()
        if self.weights.ndim != 1:
            shape = tuple(self.weights.shape)
            raise ArgumentValueError(
                f"WeightedRandomSampler(weights={list(shape)})",
                f"weights should be a 1d sequence but given weights have shape {shape}",
            )
        self.num_samples, self.replacement = num_samples, replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = public("multinomial")(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of `batch_size` indices; the last may be shorter unless `drop_last`."""

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool):
        _check_count("BatchSampler", "batch_size", batch_size)
        _check_flag("BatchSampler", "drop_last", drop_last)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        count = len(self.sampler)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
