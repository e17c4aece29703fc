"""Updates of several tensors at once: one pass over memory where tensor operations take many.

In: names of the tensors that are written and read, names of numbers, statements that say what
happens to an element. Out: a function of tensors and numbers that does it, or answers False where
tensor operations have to: while something records or captures, for other dtypes and memory in
another order, and with MT2_PRIMITIVES=numpy.

    go = UpdateKernel(("place",), ("grad",), ("rate",), ("place = place - grad * rate",))
    go((parameter, grad), (0.1,)) or parameter.sub_(grad * 0.1)

Each statement is one rounding after the other, so the bits are those of the operations.

Source: torch.optim's `fused` implementations.
"""

import importlib
from collections.abc import Callable
from typing import Any

from minitorch2 import dtypes
from minitorch2.config import config
from minitorch2.dispatch import state
from minitorch2.tensors import PLAIN, row_major_array


class UpdateKernel:
    """One update; its kernels are made at the first use, for float32 and float64."""

    def __init__(
        self,
        written: tuple[str, ...],
        read: tuple[str, ...],
        numbers: tuple[str, ...],
        statements: tuple[str, ...],
    ):
        self.text = written, read, numbers, statements
        self.writes = len(written)
        self.kernels: dict[str, Callable[..., None]] = {}  # by dtype

    def __call__(self, tensors: tuple[Any, ...], numbers: tuple[float, ...]) -> bool:
        """Change the tensors, the written ones first, all of one shape; False if nothing was."""
        arrays = self._arrays(tensors)
        if arrays is None:
            return False
        short = tensors[0].dtype.short
        kernel = self.kernels.get(short)
        if kernel is None:
            make = importlib.import_module("minitorch2.kernels.eager_rows").update
            kernel = self.kernels[short] = make(*self.text, short)
        if arrays[0].size:
            kernel(arrays, numbers, arrays[0].size)
        for tensor in tensors[: self.writes]:
            tensor.storage.version += 1
        return True

    def _arrays(self, tensors: tuple[Any, ...]) -> tuple | None:
        if not state.direct or state.capturing or state.grad_enabled:
            return None
        if config.primitives == "numpy":
            return None
        element, shape = tensors[0].dtype, tensors[0].shape
        if element is not dtypes.float32 and element is not dtypes.float64:
            return None
        arrays = []
        for tensor in tensors:
            plain = type(tensor) in PLAIN and tensor.dtype is element and tensor.shape == shape
            array = row_major_array(tensor) if plain else None
            if array is None or tensor.storage.version != tensor.storage.version:
                return None
            arrays.append(array)
        apart = len({id(tensor.storage) for tensor in tensors}) == len(tensors)
        return tuple(arrays) if apart else None


def blended(name: str, towards: str, weight: str, near: bool) -> str:
    """The statement of `lerp_`: the formula for weights below one half (near), or the other one.

    `weight` is then the weight, or one minus it.
    """
    if near:
        return f"{name} = {name} + ({towards} - {name}) * {weight}"
    return f"{name} = {towards} - ({towards} - {name}) * {weight}"
