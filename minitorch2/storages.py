"""Storage: the block of memory behind one or more tensors, with a version counter.

In: a device, a size in bytes and an owner block (on the CPU a numpy array, which keeps the memory
alive; None on the meta device). Out: numpy views on it, one for each layout asked for.

Each write bumps `version`. Autograd compares it with the version it saw when it saved a tensor.

# Note [Inference tensors]
Memory made inside inference_mode has no version: it is nan, which no write changes and which equals
nothing, itself included. A tensor over it cannot be saved for a backward, nor written outside of
inference mode. `Births.threads` counts the threads that are inside, so that making a tensor costs
one look at a number where none is.

Source: PyTorch's Storage/version-counter split (its "Autograd mechanics" notes).
"""

import threading
from typing import Any

import numpy

from minitorch2 import forks
from minitorch2.devices import META, device
from minitorch2.dtypes import dtype
from minitorch2.layouts import Layout


class Births(threading.local):
    """Whether this thread makes inference tensors; on the class, how many threads do."""

    threads = 0
    inference = False


births = Births()
NO_VERSION: Any = float("nan")


def first_version() -> int:
    """The version of memory made now."""
    return NO_VERSION if births.inference else 0


class Storage:
    """`nbytes` bytes on `device`; `version` counts the writes since it was made.

    `graph_version` counts the writes that autograd recorded: a view whose history is older
    than its storage's derives it again from its base.
    """

    __slots__ = ("device", "nbytes", "block", "version", "graph_version", "_bytes", "__weakref__")

    def __init__(self, where: device, nbytes: int, block: "numpy.ndarray | None"):
        self.device, self.nbytes, self.block = where, nbytes, block
        self.version: int = 0
        self.graph_version = 0
        self._bytes: numpy.ndarray | None = None

    @property
    def address(self) -> int:
        """The address of the first byte; 0 where there is no memory."""
        return 0 if self.block is None else self.block.ctypes.data

    def bytes(self) -> numpy.ndarray:
        """The whole block as a one-dimensional array of bytes (shared, not copied)."""
        if self._bytes is None:
            block = self.block
            assert block is not None, "a meta storage has no memory"
            if block.flags.c_contiguous:
                self._bytes = block.reshape(-1).view(numpy.uint8)
            elif block.flags.f_contiguous:
                self._bytes = block.T.reshape(-1).view(numpy.uint8)
            else:  # a strided array handed in by the user: its memory span, kept alive by it
                count = self.nbytes // block.itemsize
                flat = numpy.lib.stride_tricks.as_strided(block, (count,), (block.itemsize,))
                self._bytes = flat.view(numpy.uint8)
        return self._bytes

    def array(self, element: dtype, layout: Layout) -> numpy.ndarray:
        """A numpy view of the storage with a layout; writes through it are shared."""
        size = element.itemsize
        if 0 in layout.shape:
            return numpy.ndarray(layout.shape, element.numpy)
        return numpy.ndarray(
            layout.shape,
            element.numpy,
            self.bytes(),
            layout.offset * size,
            tuple(stride * size for stride in layout.strides),
        )


def meta_storage(where: device = META) -> Storage:
    """A storage without memory: of the meta device, or a fake one of another device."""
    return Storage(where, 0, None)


def storage_of_array(array: numpy.ndarray, where: device) -> Storage:
    """A storage that shares the memory of a numpy array (its span from the first element on)."""
    span = array.nbytes
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        pairs = zip(array.shape, array.strides, strict=True)
        span = sum((size - 1) * stride for size, stride in pairs) + array.itemsize
    storage = Storage(where, span, array)
    if Births.threads:
        storage.version = first_version()
    return storage


def count_births(inference: bool) -> bool:
    """Say whether this thread makes inference tensors from now on; what it did before."""
    before = births.inference
    births.inference = inference
    with _lock:
        Births.threads += inference - before
    return before


_lock = forks.lock()
