"""Tensor methods about a tensor's memory: where it lies, who shares it, another size.

In: a tensor. Out: facts about its storage, or the same tensor on other memory. Nothing is computed,
so these are no rows of the op table.

Source: torch.Tensor's documentation.
"""

from typing import Any

from minitorch2 import dtypes
from minitorch2.autograd.modes import is_grad_enabled
from minitorch2.devices import as_device, require_available
from minitorch2.errors import DeviceError, OperationError, ShapeError
from minitorch2.layouts import Layout, contiguous, contiguous_strides
from minitorch2.storages import Storage
from minitorch2.tensors import Tensor, fake_tensor
from minitorch2.untyped_storage import UntypedStorage, resize


def untyped_storage(self: Tensor) -> UntypedStorage:
    """The memory behind the tensor, as bytes."""
    return UntypedStorage(self.storage)


def _needed(layout: Layout) -> int:
    """How many elements of memory a layout reaches."""
    if 0 in layout.shape:
        return 0
    pairs = zip(layout.shape, layout.strides, strict=True)
    return layout.offset + sum((size - 1) * stride for size, stride in pairs) + 1


def _seen_through(self: Tensor, layout: Layout) -> Tensor:
    self.layout, self._array, self.key = layout, None, None
    return self


def _refuse_history(self: Tensor, name: str) -> None:
    if self.requires_grad and is_grad_enabled():
        raise OperationError(
            f"{name}() of a tensor that requires grad",
            f"cannot {name.rstrip('_')} variables that require grad",
            "work on x.detach(), or make a new tensor",
        )


def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Another shape for the same memory, which grows when it is too small (new elements: zeros)."""
    shape = tuple(sizes[0]) if len(sizes) == 1 and not hasattr(sizes[0], "__index__") else sizes
    _refuse_history(self, "resize_")
    if tuple(self.layout.shape) == tuple(shape):
        return self
    offset = self.layout.offset
    layout = Layout(tuple(shape), contiguous_strides(tuple(shape)), offset)
    wanted = _needed(layout) * self.dtype.itemsize
    if wanted > self.storage.nbytes:
        resize(self.storage, wanted)
    return _seen_through(self, layout)


def resize_as_(self: Tensor, the_template: Tensor, memory_format: Any = None) -> Tensor:
    """resize_ to another tensor's shape."""
    return resize_(self, tuple(the_template.shape))


def set_(
    self: Tensor,
    source: Any = None,
    storage_offset: int = 0,
    size: Any = None,
    stride: Any = None,
) -> Tensor:
    """Look at another memory: a tensor's, or a storage's from an offset on with a layout."""
    _refuse_history(self, "set_")
    if isinstance(source, Tensor):
        if source.dtype is not self.dtype:
            raise OperationError(
                f"set_() of a {self.dtype} tensor to a {source.dtype} one",
                "the dtypes differ",
                "convert the source first",
            )
        self.storage = source.storage
        if size is None:
            return _seen_through(self, source.layout)
    elif source is None:
        self.storage = UntypedStorage(0)._memory
        return _seen_through(self, contiguous((0,)))
    else:
        self.storage = source if isinstance(source, Storage) else source._memory
        if size is None:
            size = (self.storage.nbytes // self.dtype.itemsize,)
    shape = tuple(size)
    strides = contiguous_strides(shape) if stride is None else tuple(stride)
    layout = Layout(shape, strides, storage_offset)
    wanted = _needed(layout) * self.dtype.itemsize
    if wanted > self.storage.nbytes:
        resize(self.storage, wanted)
    return _seen_through(self, layout)


def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether both are the same memory seen in the same way."""
    return self.storage is tensor.storage and self.layout.same_places(tensor.layout)


def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether the shapes are equal."""
    return tuple(self.shape) == tuple(other.shape)


def share_memory_(self: Tensor) -> Tensor:
    """The tensor itself: other processes get copies (see minitorch2.multiprocessing)."""
    return self


def cuda(
    self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None
) -> Tensor:
    """DeviceError, as there is no GPU backend."""
    raise DeviceError("cuda()", "no CUDA device is available", "leave the tensor on the CPU")


def get_device(self: Tensor) -> int:
    """The number of the GPU; -1 on the CPU."""
    return -1 if self.device.index is None else self.device.index


def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions from the one with the largest stride to the one with the smallest."""
    strides = self.layout.strides
    return tuple(sorted(range(len(strides)), key=lambda at: (-strides[at], at)))


def dlpack(
    self: Tensor,
    *,
    stream: Any = None,
    max_version: Any = None,
    dl_device: Any = None,
    copy: bool | None = None,
) -> Any:
    """A DLPack capsule: other libraries read the memory without a copy."""
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    array = self.array
    return array.copy().__dlpack__() if copy else array.__dlpack__()


def dlpack_device(self: Tensor) -> tuple[int, int]:
    """(1, 0): the CPU, in DLPack's numbers."""
    return (1, 0)


def new_empty_strided(
    self: Tensor, size: Any, stride: Any, dtype: Any = None, device: Any = None, **flags: Any
) -> Tensor:
    """A tensor of zeros with the strides asked for, in this one's dtype unless another is given."""
    return empty_strided(size, stride, dtype=dtype or self.dtype, **flags)


def empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of zeros with the strides asked for (in elements)."""
    shape, strides = tuple(size), tuple(stride)
    asked = f"empty_strided({list(shape)}, {list(strides)})"
    if len(shape) != len(strides):
        raise ShapeError(
            asked,
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides "
            f"({len(strides)})",
            "give a stride for each dimension",
        )
    for each, values in (("dimension", shape), ("stride", strides)):
        if any(value < 0 for value in values):
            raise ShapeError(
                asked,
                f"Trying to create tensor with negative {each} {min(values)}: {list(values)}",
                "give 0 or more",
            )
    wanted = dtypes.as_dtype(dtype) or dtypes.get_default_dtype()
    if as_device(device).type == "meta":
        return fake_tensor(shape, wanted, Layout(shape, strides))
    require_available(as_device(device))
    made = Tensor(0).to(wanted)
    set_(made, UntypedStorage(0), 0, shape, strides)
    made.requires_grad = requires_grad
    return made


def empty_permuted(size: Any, physical_layout: Any, **options: Any) -> Tensor:
    """A tensor whose dimensions lie in memory in the given order, slowest first."""
    shape, order = tuple(size), tuple(physical_layout)
    if sorted(order) != list(range(len(shape))):
        raise ShapeError(
            f"empty_permuted({list(shape)}, {list(order)})",
            "Number of dimensions in size does not match the length of the physical_layout, or "
            "there are duplicate dims",
            "name each dimension once",
        )
    strides, step = [0] * len(shape), 1
    for dim in reversed(order):
        strides[dim], step = step, step * max(shape[dim], 1)
    return empty_strided(shape, strides, **options)


METHODS = {
    "untyped_storage": untyped_storage,
    "resize_": resize_,
    "resize_as_": resize_as_,
    "set_": set_,
    "is_set_to": is_set_to,
    "is_same_size": is_same_size,
    "share_memory_": share_memory_,
    "is_shared": lambda self: False,
    "pin_memory": lambda self, device=None: self,
    "is_pinned": lambda self, device=None: False,
    "cuda": cuda,
    "get_device": get_device,
    "dim_order": dim_order,
    "const_data_ptr": lambda self: self.data_ptr(),
    "new_empty_strided": new_empty_strided,
    "__dlpack__": dlpack,
    "__dlpack_device__": dlpack_device,
}
