"""Tensors handed to, and taken from, other libraries without a copy: torch.utils.dlpack.

In: a tensor, or anything with `__dlpack__`. Out: a DLPack capsule, or a tensor on the same memory.

Source: the DLPack protocol of the Python array API standard.
"""

from typing import Any

from minitorch2 import interchange
from minitorch2.tensors import Tensor


class _Capsule:
    """A bare capsule, dressed as the protocol wants it."""

    def __init__(self, capsule: Any):
        self.capsule = capsule

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # kDLCPU: a capsule does not say, and only the CPU is here


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule with the tensor's memory; it may be taken once."""
    return tensor.__dlpack__()


def from_dlpack(ext_tensor: Any) -> Tensor:
    """A tensor on the memory of another library's array, or of a capsule."""
    giver = ext_tensor if hasattr(ext_tensor, "__dlpack__") else _Capsule(ext_tensor)
    return interchange.from_dlpack(giver)
