"""UntypedStorage: the bytes behind a tensor, as torch shows them.

In: a tensor. Out: its memory's address, size and bytes; two tensors share memory exactly when
their storages are equal.

    >>> from minitorch2 import arange
    >>> x = arange(4)
    >>> x.untyped_storage().nbytes(), x[1:].untyped_storage() == x.untyped_storage()
    (32, True)

Source: torch.UntypedStorage.
"""

import os
from collections.abc import Iterator
from typing import Any

import numpy

from minitorch2.devices import device
from minitorch2.errors import OperationError
from minitorch2.storages import Storage


class UntypedStorage:
    """A window on the memory of a tensor; without a tensor, `nbytes` new zero bytes."""

    __slots__ = ("_memory",)

    def __init__(self, memory: "Storage | int" = 0):
        if isinstance(memory, int):
            block = numpy.zeros(memory, numpy.uint8)
            memory = Storage(device("cpu"), memory, block)
        self._memory = memory

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> "UntypedStorage":
        """A file's first `nbytes` bytes, mapped; what is written reaches the file where shared.

        A shared file is made, or made longer, where that is needed; OSError where a file that is
        not shared has fewer bytes.
        """
        if shared:
            with open(filename, "ab") as file:
                file.truncate(max(file.tell(), nbytes))
        elif os.path.getsize(filename) < nbytes:
            raise OSError(f"{filename} has fewer than {nbytes} bytes")
        mode: Any = "r+" if shared else "c"
        block = numpy.memmap(filename, numpy.uint8, mode, shape=(nbytes,)) if nbytes else None
        return cls(0 if block is None else Storage(device("cpu"), nbytes, block))

    @property
    def device(self) -> device:
        """Where the memory lives."""
        return self._memory.device

    @property
    def is_cuda(self) -> bool:
        """Whether it lives on a GPU."""
        return self.device.type == "cuda"

    def untyped(self) -> "UntypedStorage":
        """Itself: it has no dtype already."""
        return self

    _untyped = untyped  # the name that safetensors calls

    def data_ptr(self) -> int:
        """The address of the first byte; 0 where there is no memory."""
        return self._memory.address

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._memory.nbytes

    def size(self) -> int:
        """The number of bytes."""
        return self._memory.nbytes

    def __len__(self) -> int:
        return self._memory.nbytes

    def element_size(self) -> int:
        """1: a byte."""
        return 1

    def tolist(self) -> list[int]:
        """The bytes as numbers."""
        return self._memory.bytes().tolist()

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def __getitem__(self, index: Any) -> Any:
        found = self._memory.bytes()[index]
        return int(found) if found.ndim == 0 else UntypedStorage(_owner(found.copy()))

    def __setitem__(self, index: Any, value: int) -> None:
        self._memory.bytes()[index] = value
        self._memory.version += 1

    def fill_(self, value: int) -> "UntypedStorage":
        """Every byte becomes `value`."""
        self[:] = value
        return self

    def copy_(self, source: "UntypedStorage", non_blocking: bool | None = None) -> "UntypedStorage":
        """Take the bytes of another storage of the same size."""
        if len(source) != len(self):
            raise OperationError(
                f"UntypedStorage.copy_ of {len(source)} bytes into {len(self)}",
                "the sizes of the storages differ",
                "make one of the same size, or resize_() first",
            )
        self._memory.bytes()[:] = source._memory.bytes()
        self._memory.version += 1
        return self

    def clone(self) -> "UntypedStorage":
        """A copy of the memory."""
        return UntypedStorage(_owner(self._memory.bytes().copy()))

    def cpu(self) -> "UntypedStorage":
        """Itself, as it lives on the CPU."""
        return self

    def resize_(self, nbytes: int) -> "UntypedStorage":
        """Give the storage another size; tensors on it keep their bytes as far as they fit."""
        resize(self._memory, nbytes)
        return self

    def is_shared(self) -> bool:
        """Whether other processes see the memory: never, tensors travel as copies."""
        return False

    def share_memory_(self) -> "UntypedStorage":
        """Nothing to do: see minitorch2.multiprocessing."""
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self._memory is other._memory

    def __hash__(self) -> int:
        return id(self._memory)

    def __repr__(self) -> str:
        return f"UntypedStorage({self.nbytes()} bytes, device={self.device})"


def _owner(block: numpy.ndarray) -> Storage:
    return Storage(device("cpu"), block.nbytes, block)


def resize(memory: Storage, nbytes: int) -> None:
    """Give a storage another block of `nbytes` bytes that starts with its old bytes."""
    block = numpy.zeros(nbytes, numpy.uint8)
    kept = min(nbytes, memory.nbytes)
    block[:kept] = memory.bytes()[:kept]
    memory.block, memory.nbytes, memory._bytes = block, nbytes, None
    memory.version += 1
