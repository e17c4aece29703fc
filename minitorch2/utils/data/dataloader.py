"""DataLoader: mini-batches of a dataset, in order or shuffled, here or in worker processes.

In: a dataset. Out: an iterable of batches; each pass over it is one epoch.

    loader = DataLoader(dataset, batch_size=64, shuffle=True)
    for x, y in loader:
        ...

Source: torch.utils.data.DataLoader.
"""

from collections.abc import Callable, Iterator
from typing import Any

from minitorch2.dtypes import int64
from minitorch2.errors import ArgumentTypeError, ArgumentValueError, OperationError
from minitorch2.public import public
from minitorch2.random import Generator
from minitorch2.utils.data.collate import default_collate, default_convert
from minitorch2.utils.data.dataset import IterableDataset, can_collate
from minitorch2.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler
from minitorch2.utils.data.worker import load_in_workers

# How torch annotates what is given.
_collate_fn_t = Callable[[list], Any]
_worker_init_fn_t = Callable[[int], None]


# What cannot be changed once a loader is made.
FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class DataLoader:
    """Batches of a dataset. `batch_size=None` gives single examples, uncollated."""

    def __class_getitem__(cls, item: Any) -> Any:
        return cls

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[list], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ):
        self.dataset, self.num_workers, self.generator = dataset, num_workers, generator
        self.pin_memory, self.timeout, self.worker_init_fn = pin_memory, timeout, worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.prefetch_factor = prefetch_factor
        self.persistent_workers = persistent_workers
        self.streaming = isinstance(dataset, IterableDataset)
        self._check(batch_size, shuffle, sampler, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif sampler is None and not self.streaming:
            if shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None and not self.streaming:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler = sampler, batch_sampler
        batched = batch_sampler is not None or batch_size is not None
        self.collate_fn = collate_fn or (default_collate if batched else default_convert)
        self._made = True

    def __setattr__(self, name: str, value: Any) -> None:
        if name in FIXED and "_made" in self.__dict__:
            raise ArgumentValueError(
                f"DataLoader.{name} = ...",
                f"{name} attribute should not be set after DataLoader is initialized",
                "make another DataLoader",
            )
        super().__setattr__(name, value)

    def _check_workers(self) -> None:
        """ArgumentValueError for settings of workers that there are not."""
        wrong = ""
        if self.timeout < 0:
            wrong = "timeout option should be non-negative"
        elif self.num_workers == 0 and self.prefetch_factor is not None:
            wrong = (
                "prefetch_factor option could only be specified in multiprocessing. let "
                "num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
            )
        elif self.prefetch_factor is not None and self.prefetch_factor < 0:
            wrong = "prefetch_factor option should be non-negative"
        elif self.num_workers == 0 and self.persistent_workers:
            wrong = "persistent_workers option needs num_workers > 0"
        if wrong:
            raise ArgumentValueError("DataLoader(...)", wrong)
        if self.num_workers > 0 and self.prefetch_factor is None:
            self.prefetch_factor = 2

    def _check(
        self, batch_size: Any, shuffle: Any, sampler: Any, batch_sampler: Any, drop_last: bool
    ) -> None:
        """ArgumentValueError where arguments contradict each other."""
        if self.num_workers < 0:
            raise ArgumentValueError(
                f"DataLoader(num_workers={self.num_workers})",
                "num_workers option should be non-negative",
                "use num_workers=0 to load in this process",
            )
        self._check_workers()
        if sampler is not None and shuffle:
            raise ArgumentValueError(
                "DataLoader(sampler=..., shuffle=True)",
                "sampler option is mutually exclusive with shuffle",
                "let the sampler decide the order",
            )
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler or drop_last):
            raise ArgumentValueError(
                "DataLoader(batch_sampler=...)",
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, "
                "and drop_last",
                "give only the batch_sampler",
            )
        if batch_size is None and drop_last:
            raise ArgumentValueError(
                "DataLoader(batch_size=None, drop_last=True)",
                "batch_size=None option disables auto-batching and is mutually exclusive with "
                "drop_last",
            )
        if self.streaming and (shuffle or sampler is not None or batch_sampler is not None):
            raise ArgumentValueError(
                "DataLoader(IterableDataset, ...)",
                "DataLoader with IterableDataset: expected no shuffle, sampler or batch_sampler",
                "order the stream in the dataset itself",
            )
        if not self.streaming and not hasattr(self.dataset, "__getitem__"):
            raise ArgumentTypeError(
                f"DataLoader({type(self.dataset).__name__})",
                "the dataset has no __getitem__ and is no IterableDataset",
                "define __getitem__ and __len__, or derive from IterableDataset",
            )

    def __iter__(self) -> Iterator[Any]:
        tasks, make_fetch = self._tasks(), self._fetcher
        # Workers draw their random numbers from seeds of their own; as torch does, a pass without
        # workers takes one too, so that the numbers after it do not depend on their count.
        seed = int(public("empty")((), dtype=int64).random_(generator=self.generator).item())
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self, _load_here(make_fetch(), tasks))
        if not self.prefetch_factor:
            raise OperationError(
                f"iter(DataLoader(num_workers={self.num_workers}, prefetch_factor=0))",
                "prefetch_factor must be greater than 0",
                "leave prefetch_factor out",
            )
        batches = load_in_workers(
            self.dataset,
            make_fetch,
            tasks,
            self.num_workers,
            self.prefetch_factor,
            seed,
            self.worker_init_fn,
            self.multiprocessing_context,
            self.timeout,
        )
        return _MultiProcessingDataLoaderIter(self, batches)

    def _tasks(self) -> Iterator[Any]:
        """What is to be fetched, one batch (or example) after another."""
        if self.streaming:
            while True:
                yield 1 if self.batch_size is None else self.batch_size
        elif self.batch_sampler is not None:
            yield from self.batch_sampler
        else:
            yield from self.sampler

    def _fetcher(self) -> Callable[[Any], Any]:
        """A function that makes the batch of one task."""
        if self.streaming:
            return _StreamFetcher(self.dataset, self.batch_size, self.drop_last, self.collate_fn)
        return _IndexFetcher(self.dataset, self.batch_sampler is not None, self.collate_fn)

    def __len__(self) -> int:
        if self.streaming:
            count = len(self.dataset)
            if self.batch_size is None:
                return count
            return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)


class _BaseDataLoaderIter:
    """One pass over a loader; its length is the loader's."""

    def __init__(self, loader: DataLoader, batches: Iterator[Any]):
        self._loader, self._batches = loader, batches
        self._dataset, self._num_workers = loader.dataset, loader.num_workers

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._batches)

    def __len__(self) -> int:
        return len(self._loader)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """A pass whose batches are made here."""


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """A pass whose batches come from workers."""


def _load_here(fetch: Callable[[Any], Any], tasks: Iterator[Any]) -> Iterator[Any]:
    for task in tasks:
        try:
            batch = fetch(task)
        except _StreamEnded:
            return
        yield batch


class _StreamEnded(StopIteration):
    """The stream of an IterableDataset has no more examples."""


class _IndexFetcher:
    """Batches by index."""

    def __init__(self, dataset: Any, batched: bool, collate: Callable):
        self.dataset, self.batched, self.collate = dataset, batched, collate

    def __call__(self, task: Any) -> Any:
        if not self.batched:
            return self.collate(self.dataset[task])
        if self.collate is default_collate and can_collate(self.dataset):
            return self.dataset.collated(task)
        several = getattr(self.dataset, "__getitems__", None)
        examples = several(task) if several else [self.dataset[index] for index in task]
        return self.collate(examples)


class _StreamFetcher:
    """Batches from a stream; raises _StreamEnded after the last."""

    def __init__(self, dataset: Any, batch_size: int | None, drop_last: bool, collate: Callable):
        self.examples = iter(dataset)
        self.batch_size, self.drop_last, self.collate = batch_size, drop_last, collate

    def __call__(self, task: Any) -> Any:
        found = []
        for _ in range(self.batch_size or 1):
            try:
                found.append(next(self.examples))
            except StopIteration:
                break
        if not found or (self.drop_last and len(found) < (self.batch_size or 1)):
            raise _StreamEnded
        return self.collate(found[0] if self.batch_size is None else found)
