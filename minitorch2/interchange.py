"""Tensors on other people's memory: buffers, DLPack, arrays.

In: bytes, or arrays of other libraries. Out: tensors that share their memory where they can.

    >>> from minitorch2 import int16
    >>> frombuffer(bytearray([1, 0, 2, 0]), dtype=int16)
    tensor([1, 2], dtype=torch.int16)

Source: torch's "Creation Ops"; the DLPack protocol of the Python array API standard.
"""

from typing import Any

import numpy

from minitorch2.creation import as_tensor, from_numpy, tensor
from minitorch2.dtypes import get_default_dtype
from minitorch2.errors import ArgumentValueError
from minitorch2.tensors import Tensor, wrap


def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Any:
    """A one-dimensional tensor on the memory of a bytes-like object, from `offset` bytes on."""
    try:
        size = memoryview(buffer).nbytes
    except TypeError:
        raise ArgumentValueError(
            f"frombuffer({type(buffer).__name__})",
            "object does not implement Python buffer protocol.",
        ) from None
    if count == 0 or not size:
        raise ArgumentValueError(
            f"frombuffer(count={count}) of {size} bytes",
            f"both buffer length ({size}) and count ({count}) must not be 0",
        )
    if offset >= size or offset < 0:
        raise ArgumentValueError(
            f"frombuffer(offset={offset}) of {size} bytes",
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({size} bytes) minus 1",
        )
    if count < 0 and (size - offset) % dtype.itemsize:
        raise ArgumentValueError(
            f"frombuffer() of {size - offset} bytes as {dtype}",
            f"buffer length ({size - offset} bytes) after offset must be a multiple of element "
            f"size ({dtype.itemsize})",
        )
    array = numpy.frombuffer(buffer, dtype.numpy, count, offset)
    if not array.flags.writeable:  # torch warns, as writing would be undefined; ours is a copy
        array = array.copy()
    return wrap(array).requires_grad_(requires_grad)


class _Capsule:
    """A bare capsule, dressed as the protocol wants it."""

    def __init__(self, capsule: Any):
        self.capsule = capsule

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # kDLCPU: a capsule does not say, and only the CPU is here


def from_dlpack(ext_tensor: Any) -> Any:
    """A tensor on the memory of another library's array (with `__dlpack__`), or of a capsule."""
    giver = ext_tensor if hasattr(ext_tensor, "__dlpack__") else _Capsule(ext_tensor)
    return from_numpy(numpy.from_dlpack(giver))


def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Any:
    """A tensor of anything: shares memory where it can, unless `copy` is True."""
    if isinstance(obj, Tensor):
        if copy is False and dtype is not None and dtype is not obj.dtype:
            raise ArgumentValueError(
                f"asarray({obj.dtype}, dtype={dtype}, copy=False)",
                f"can't alias tensor with dtype '{obj.dtype}' into dtype '{dtype}'.",
            )
        found = obj if dtype is None else obj.to(dtype)
        found = found.clone() if copy and found is obj else found
        found = found if requires_grad or not found.requires_grad else found.detach()
    elif hasattr(obj, "__dlpack__") or isinstance(obj, numpy.ndarray):
        found = as_tensor(numpy.asarray(obj), dtype=dtype)
        found = found.clone() if copy else found
    elif isinstance(obj, (bytes, bytearray, memoryview)):
        found = frombuffer(obj, dtype=dtype or get_default_dtype())
        found = found.clone() if copy else found
    else:
        if copy is False:
            raise ArgumentValueError(
                f"asarray({type(obj).__name__}, copy=False)",
                "can't alias arbitrary sequence into a tensor",
            )
        found = tensor(obj, dtype=dtype, device=device)
    return found.requires_grad_() if requires_grad and not found.requires_grad else found


def scalar_tensor(s: Any, *, dtype: Any = None, device: Any = None, **flags: Any) -> Any:
    """A number as a tensor of no dimensions, in the default dtype unless another is given."""
    return tensor(s, dtype=dtype or get_default_dtype(), device=device, **flags)
