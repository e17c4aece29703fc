"""DistributedSampler: each of several processes takes its own part of a dataset.

In: a dataset, the number of processes and one's own number. Out: an iterable of indices; the parts
have equal lengths and together cover the dataset, some examples twice unless `drop_last`.

    >>> list(DistributedSampler(range(5), num_replicas=2, rank=1, shuffle=False))
    [1, 3, 0]

Source: torch.utils.data.distributed.DistributedSampler.
"""

import math
from collections.abc import Iterator, Sized
from typing import Any

from minitorch2.errors import ArgumentValueError
from minitorch2.public import public
from minitorch2.random import Generator
from minitorch2.utils.data.sampler import Sampler


class DistributedSampler(Sampler):
    """Every `num_replicas`-th example from `rank` on, after a shuffle that all agree on."""

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ):
        self.num_replicas = 1 if num_replicas is None else num_replicas
        self.rank = 0 if rank is None else rank
        if not 0 <= self.rank < self.num_replicas:
            raise ArgumentValueError(
                f"DistributedSampler(num_replicas={self.num_replicas}, rank={self.rank})",
                f"Invalid rank {self.rank}, rank should be in the interval "
                f"[0, {self.num_replicas - 1}]",
            )
        self.dataset, self.shuffle, self.seed = dataset, shuffle, seed
        self.drop_last, self.epoch = drop_last, 0
        count = len(dataset)
        if drop_last and count % self.num_replicas:
            self.num_samples = math.ceil((count - self.num_replicas) / self.num_replicas)
        else:
            self.num_samples = math.ceil(count / self.num_replicas)
        self.total_size = self.num_samples * self.num_replicas

    def __iter__(self) -> Iterator[Any]:
        count = len(self.dataset)
        indices = list(range(count))
        if self.shuffle:
            generator = Generator().manual_seed(self.seed + self.epoch)
            indices = public("randperm")(count, generator=generator).tolist()
        if not self.drop_last:
            repeats = math.ceil(self.total_size / max(count, 1))
            indices = (indices * repeats)[: self.total_size]
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Another shuffle for another epoch, the same one in all processes."""
        self.epoch = epoch
