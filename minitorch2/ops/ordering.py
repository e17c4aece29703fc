"""Tensor methods that take `memory_format`: copies, and the tensor itself where it is so already.

In: a tensor and torch.contiguous_format, preserve_format, channels_last or channels_last_3d. Out: a
tensor of the same shape whose elements lie in that order.

Source: torch's "Channels Last Memory Format".
"""

from typing import Any

from minitorch2 import formats
from minitorch2.dispatch import call
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor


def _op(name: str, *args: Any) -> Any:
    return call(lookup(name), args)


def ordered(self: Tensor, memory_format: Any) -> Tensor:
    """The tensor in the wanted order: itself where it is so already."""
    if memory_format is None or memory_format is formats.preserve_format:
        return self
    if formats.laid_out_as(self.layout, memory_format):
        return self
    if not memory_format.order:
        return _op("contiguous_copy", self)
    order = formats.order_of(self.ndim, memory_format)
    inside = _op("contiguous", _op("permute", self, order))
    return _op("permute", inside, tuple(order.index(dim) for dim in range(len(order))))


def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor with its elements in row-major order, or in another; itself where they are."""
    if memory_format is None or memory_format is formats.contiguous_format:
        return _op("contiguous", self)
    if memory_format is formats.preserve_format:
        raise ValueError("preserve memory format is unsupported by the contiguous operator")
    return ordered(self, memory_format)


def clone(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy, with the strides of the tensor unless `memory_format` says otherwise."""
    if memory_format is None or memory_format is formats.preserve_format:
        return _op("clone", self)
    if not memory_format.order:
        return _op("contiguous_copy", self)
    found = ordered(self, memory_format)
    return _op("clone", self) if found is self else found


METHODS = {"contiguous": contiguous, "clone": clone}
