"""Tensors handed to, and taken from, other libraries without a copy: torch.utils.dlpack.

In: a tensor, or anything with `__dlpack__`. Out: a DLPack capsule, or a tensor on the same memory.

Source: the DLPack protocol of the Python array API standard.
"""

from typing import Any

from minitorch2.interchange import from_dlpack
from minitorch2.tensors import Tensor

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule with the tensor's memory; it may be taken once."""
    return tensor.__dlpack__()
