"""Batched tensors: samples that share one hidden tensor, whose first dimension is the batch.

In: a hidden tensor [B, ...] and the level of the vmap it belongs to. Out: a tensor of shape [...]
for the function that is mapped. Levels nest: the hidden tensor of level 2 may be Batched at level
1. Taking off all wrappers leaves a plain tensor whose first dimensions are the levels' batches in
ascending order:

    Batched(Batched(plain [B1, B2, 3], level 1) of shape [B2, 3], level 2) of shape [3]

Autograd records plain tensors only. Requiring a gradient, the history and the gradient of a Batched
tensor are its hidden tensor's.

Source: torch.func's BatchedTensor; JAX's BatchTracer.
"""

from typing import Any

from minitorch2.dispatch import call, state
from minitorch2.errors import OperationError
from minitorch2.layouts import Layout
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor


def op(name: str, *args: Any) -> Any:
    """Run an op by its name."""
    return call(lookup(name), args)


class Batched(Tensor):
    """The samples along the first dimension of `value`, seen as one tensor without it."""

    __slots__ = ("value", "level")
    has_elements = False

    def __init__(self, value: Tensor, level: int):
        seen = value.layout
        layout = Layout(seen.shape[1:], seen.strides[1:], seen.offset)
        Tensor.__init__(self, value.storage, layout, value.dtype)
        self.value, self.level = value, level

    @property
    def array(self) -> Any:
        """There is no array of one sample: OperationError."""
        raise OperationError(
            "the elements of a tensor inside vmap",
            "the tensor stands for all samples of the batch, or vmap has already returned",
            "use tensor operations, and return the tensor from the mapped function",
        )

    @property
    def requires_grad(self) -> bool:
        """Whether the hidden tensor requires a gradient."""
        return self.value.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.value.requires_grad = value

    @property
    def is_leaf(self) -> bool:
        """Whether the hidden tensor is a leaf."""
        return self.value.is_leaf

    @property
    def grad_fn(self) -> Any:
        """The hidden tensor's node."""
        return self.value.grad_fn

    @property
    def grad(self) -> Any:
        """The hidden tensor's gradient, Batched as this tensor is."""
        found = self.value.grad
        return None if found is None else Batched(found, self.level)

    @grad.setter
    def grad(self, value: Any) -> None:
        self.value.grad = value.value if isinstance(value, Batched) else value

    @property
    def data(self) -> Tensor:
        """The same memory without history."""
        return Batched(self.value.data, self.level)

    @data.setter
    def data(self, value: Any) -> None:
        self.value.data = value.value
        fresh = Batched(value.value, self.level)
        self.storage, self.layout, self.dtype = fresh.storage, fresh.layout, fresh.dtype

    def __repr__(self) -> str:
        inner = repr(self.value).replace("\n", "\n    ")
        return f"BatchedTensor(lvl={self.level}, bdim=0, value=\n    {inner}\n)"

    def __hash__(self) -> int:
        return id(self)


def levels_of(tensor: Any) -> tuple[int, ...]:
    """The levels a tensor is Batched at, ascending."""
    found = []
    while isinstance(tensor, Batched):
        found.append(tensor.level)
        tensor = tensor.value
    return tuple(reversed(found))


def physical(tensor: Any) -> Any:
    """The plain tensor under all wrappers."""
    while isinstance(tensor, Batched):
        tensor = tensor.value
    return tensor


def batched(plain: Tensor, levels: tuple[int, ...]) -> Tensor:
    """A plain tensor whose first dimensions are the batches of `levels` (ascending), wrapped."""
    for level in levels:
        plain = Batched(plain, level)
    return plain


class plain_tensors:
    """Inside the block, no vmap is on the mode stack: hidden tensors are worked on directly."""

    def __init__(self, without: "frozenset[int] | None" = None):
        self.without = without  # the levels to leave out; None for all

    def __enter__(self) -> None:
        self.before = state.modes
        state.modes = tuple(mode for mode in self.before if not self._leaves_out(mode))

    def _leaves_out(self, mode: Any) -> bool:
        level = getattr(mode, "level", None)
        return level is not None and (self.without is None or level in self.without)

    def __exit__(self, *exc: object) -> None:
        state.modes = self.before


def batched_at(tensor: Tensor, wanted: dict[int, int]) -> Tensor:
    """The tensor made Batched at all levels of `wanted` (level -> size), expanded where it is not.

    Levels that it has and `wanted` has not stay.
    """
    own = levels_of(tensor)
    missing = [level for level in wanted if level not in own]
    if not missing:
        return tensor
    plain = physical(tensor)
    both = sorted({*own, *missing})
    with plain_tensors():
        for level in sorted(missing):  # lower levels are in place when one is inserted
            plain = op("unsqueeze", plain, both.index(level))
        shape = list(plain.layout.shape)
        for level in missing:
            shape[both.index(level)] = wanted[level]
        plain = op("expand", plain, tuple(shape))
    return batched(plain, tuple(both))


def split_levels(tensor: Tensor, inner: dict[int, int]) -> Tensor:
    """The levels of `inner` made ordinary first dimensions (ascending), the others kept wrapped."""
    tensor = batched_at(tensor, inner)
    own = levels_of(tensor)
    outer = tuple(level for level in own if level not in inner)
    plain = physical(tensor)
    order = [own.index(level) for level in (*outer, *sorted(inner))]
    if order != list(range(len(order))):
        with plain_tensors():
            rest = range(len(own), plain.ndim)
            plain = op("permute", plain, (*order, *rest))
    return batched(plain, outer)


def join_levels(tensor: Tensor, inner: tuple[int, ...]) -> Tensor:
    """The first dimensions of a tensor wrapped again as the levels of `inner` (ascending)."""
    outer = levels_of(tensor)
    plain = physical(tensor)
    own = (*outer, *inner)
    both = tuple(sorted(own))
    if own != both:
        with plain_tensors():
            order = [own.index(level) for level in both]
            plain = op("permute", plain, (*order, *range(len(own), plain.ndim)))
    return batched(plain, both)


def batched_as(made: Tensor, given: Tensor) -> Tensor:
    """A fresh tensor as a batch with memory for every sample of `given`, to be written in place."""
    own = levels_of(given)
    sizes = dict(zip(own, physical(given).layout.shape, strict=False))
    wide = batched_at(made, sizes)
    with plain_tensors():
        plain = op("contiguous_copy", physical(wide))
    return batched(plain, levels_of(wide))
