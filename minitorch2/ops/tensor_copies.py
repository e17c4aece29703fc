"""Copies of tensors: copy.copy, copy.deepcopy and pickle.

In: a tensor. Out: another one. A copy shares the memory; a deep copy has its own, which deep copies
of tensors that shared it share; a pickle holds the part of the memory that the tensor sees.

    >>> import copy
    >>> from minitorch2 import arange
    >>> x = arange(4)
    >>> whole, part = copy.deepcopy((x, x[1:]))
    >>> whole[1] = 7
    >>> part, x
    (tensor([7, 2, 3]), tensor([0, 1, 2, 3]))

Source: torch.Tensor's __deepcopy__ and __reduce_ex__.
"""

import copy

import numpy

from minitorch2 import dtypes
from minitorch2.devices import device
from minitorch2.dispatch import call, state
from minitorch2.errors import OperationError
from minitorch2.layouts import Layout
from minitorch2.ops.table import lookup
from minitorch2.storages import Storage
from minitorch2.tensors import Tensor


def deep_copy(self: Tensor, memo: dict) -> Tensor:
    """A leaf with its own memory, which copies of tensors that shared it share."""
    if id(self) in memo:
        return memo[id(self)]
    if self.grad_fn is not None:
        raise OperationError(
            "deepcopy of a tensor with history",
            "Only Tensors created explicitly by the user (graph leaves) support "
            "the deepcopy protocol",
            "detach() it first",
        )
    if state.modes or self.storage.block is None:
        before = state.grad_enabled
        state.grad_enabled = False
        try:
            fresh = call(lookup("clone"), (self,))
        finally:
            state.grad_enabled = before
    else:
        fresh = Tensor(_copied_storage(self.storage, memo), self.layout, self.dtype)
    fresh.__class__ = type(self)
    fresh._requires_grad = self._requires_grad
    memo[id(self)] = fresh
    if self._grad is not None:
        fresh._grad = deep_copy(self._grad, memo)
    fresh.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return fresh


def _copied_storage(storage: Storage, memo: dict) -> Storage:
    """The one copy of a storage that a deepcopy makes; x and x.data have two, of one block."""
    made, block = ("storage", id(storage)), ("block", id(storage.block))
    if made not in memo:
        if block not in memo:
            memo[block] = storage.bytes().copy()
        memo[made] = Storage(storage.device, storage.nbytes, memo[block])
    return memo[made]


class _Memory:
    """A tensor's storage on its way into a copy (as it is) or a pickle (the part that is seen)."""

    def __init__(self, storage: Storage, start: int, end: int):
        self.storage, self.start, self.end = storage, start, end

    def __reduce__(self) -> tuple:
        where, block = str(self.storage.device), self.storage.block
        seen = None if block is None else self.storage.bytes()[self.start : self.end].tobytes()
        return _remembered, (where, seen, self.start, self.end)


def _remembered(where: str, seen: "bytes | None", start: int, end: int) -> _Memory:
    """The memory in a pickle, which begins `start` bytes into what it was part of."""
    block = None if seen is None else numpy.frombuffer(bytearray(seen), numpy.uint8)
    return _Memory(Storage(device(where), 0 if seen is None else len(seen), block), -start, end)


def reduced(self: Tensor) -> tuple:
    """What copy.copy and pickle make another tensor from: memory, layout, flags, attributes."""
    layout, size = self.layout, self.dtype.itemsize
    start = layout.offset * size
    memory = _Memory(self.storage, start, max(start, layout.extent() * size))
    facts = (self.dtype.name, tuple(layout.shape), tuple(layout.strides), layout.offset)
    return rebuild, (type(self), memory, *facts, self.requires_grad, dict(self.__dict__))


def rebuild(
    cls: type,
    memory: _Memory,
    name: str,
    shape: tuple,
    strides: tuple,
    offset: int,
    requires_grad: bool,
    extra: dict,
) -> Tensor:
    """A leaf from what `reduced` returned."""
    element = getattr(dtypes, name)
    if memory.start < 0:  # from a pickle: what lay before is not there
        offset += memory.start // element.itemsize
    tensor = Tensor(memory.storage, Layout(shape, strides, offset), element)
    tensor.__class__ = cls
    tensor._requires_grad = requires_grad
    tensor.__dict__.update(extra)
    return tensor
