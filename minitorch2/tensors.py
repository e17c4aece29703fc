"""Tensor: a storage seen through a layout and a dtype, with the fields autograd needs.

In: the parts. Out: the object users hold. Nothing here computes: operations reach tensors through
`dispatch`, and `ops.bind` hangs them on this class as methods.

`key` is an interned tuple of what compiled code may depend on (class, dtype, shape, strides,
device, requires_grad). It is made when first asked for; whatever changes one of the fields sets
it back to None, so comparing it by identity is a valid fast check.

Source: field layout measured for cheap guards; the semantics are those of torch.Tensor.
"""

import warnings
import weakref
from typing import TYPE_CHECKING, Any

import numpy

from minitorch2 import dtypes
from minitorch2.devices import CPU, META, device
from minitorch2.errors import AutogradError
from minitorch2.layouts import Layout, contiguous, element_count, row_major
from minitorch2.storages import (
    Births,
    Storage,
    births,
    first_version,
    meta_storage,
    storage_of_array,
)


class Size(tuple):
    """A shape: a tuple that prints as torch.Size and counts its elements."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(str(size) for size in self)}])"

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        return element_count(self)

    def __add__(self, other: tuple) -> "Size":
        return Size(tuple(self) + tuple(other))

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __reduce__(self) -> tuple:
        return Size, (tuple(self),)


class Tensor:
    """An n-dimensional array of one dtype on one device, which may take part in autograd."""

    __slots__ = (
        "storage",
        "layout",
        "dtype",
        "_array",
        "_requires_grad",
        "_grad",
        "_node",
        "_output",
        "_view",
        "_hooks",
        "_retains_grad",
        "key",
        "__dict__",
        "__weakref__",
    )

    storage: Storage
    layout: Layout
    dtype: dtypes.dtype
    has_elements = True  # False for what stands for many tensors (batching.Batched)

    def __init__(self, *parts: Any, **given: Any):
        """From (storage, layout, dtype[, array]); or, as torch.Tensor: from sizes or from data."""
        if not (parts and type(parts[0]) is Storage):
            parts = _legacy_parts(parts, **given)
        self.storage, self.layout, self.dtype = parts[0], parts[1], parts[2]
        self._array: numpy.ndarray | None = parts[3] if len(parts) > 3 else None
        self._requires_grad = False
        self._grad: Tensor | None = None
        self._node: Any = None  # the autograd node that made this tensor; None for a leaf
        self._output = 0  # which of the node's outputs it is
        self._view: Any = None  # autograd.views.View when it is a differentiable view
        self._hooks: Any = None
        self._retains_grad = False
        self.key: Any = None

    # ---- fields ------------------------------------------------------------------------------

    @property
    def array(self) -> numpy.ndarray:
        """The elements as a numpy array that shares the memory."""
        if self._array is None:
            self._array = self.storage.array(self.dtype, self.layout)
        return self._array

    @property
    def shape(self) -> Size:
        """The sizes of the dimensions."""
        return Size(self.layout.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.layout.shape)

    @property
    def device(self) -> device:
        """Where the memory lives."""
        return self.storage.device

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded for the backward."""
        view = self._view
        if view is None:
            return self._requires_grad or self._node is not None
        if view.kind and view.is_stale():
            known = self._requires_grad or self._node is not None
            return known or view.base.requires_grad  # a history nobody may use
        return self._requires_grad or self.grad_fn is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise AutogradError(f"requires_grad = {value!r}", "requires_grad must be a bool")
        if not value and self.grad_fn is not None:
            raise AutogradError(
                "requires_grad = False on a tensor with a history",
                "you can only change requires_grad flags of leaf variables",
                "use x.detach() to get a tensor without history",
            )
        if value and not self.dtype.differentiable:
            raise AutogradError(
                f"requires_grad = True on a tensor of dtype {self.dtype}",
                "only Tensors of floating point and complex dtype can require gradients",
                "convert it first: x.float()",
            )
        version = self.storage.version
        if value and version != version and not births.inference:
            raise AutogradError(
                "requires_grad = True",
                "Setting requires_grad=True on inference tensor outside InferenceMode is not "
                "allowed.",
                "clone() it first",
            )
        self._requires_grad = value
        self.key = None

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise AutogradError("del x.requires_grad", "requires_grad must be a bool")

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made this tensor."""
        return self.grad_fn is None

    @property
    def grad_fn(self) -> Any:
        """The autograd node that made this tensor, or None for a leaf."""
        view = self._view
        if view is not None and view.is_stale():
            view.rederive(self)
        return self._node

    @property
    def output_nr(self) -> int:
        """Which of its node's outputs this tensor is."""
        return self._output

    @property
    def _base(self) -> "Tensor | None":
        return None if self._view is None else self._view.base

    def _is_view(self) -> bool:
        return self._view is not None

    @property
    def grad(self) -> "Tensor | None":
        """The gradient accumulated by backward passes, or None."""
        if self._grad is None and self._node is not None and not self._retains_grad:
            warn_of_missing_grad()
        return self._grad

    @grad.setter
    def grad(self, value: "Tensor | None") -> None:
        if value is not None:
            _check_grad(self, value)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def grad_dtype(self) -> "dtypes.dtype | None":
        """The dtype that a leaf's gradient is converted to; None where it stays as it comes."""
        if self.grad_fn is not None:
            raise AutogradError("x.grad_dtype", "grad_dtype can only be accessed on leaf tensors.")
        return self.__dict__.get("_grad_dtype", self.dtype)

    @grad_dtype.setter
    def grad_dtype(self, value: "dtypes.dtype | None") -> None:
        if self.grad_fn is not None:
            raise AutogradError("x.grad_dtype", "grad_dtype can only be set on leaf tensors.")
        if self._grad is not None and value is not None and self._grad.dtype is not value:
            raise AutogradError(
                f"x.grad_dtype = {value}",
                f"Cannot set grad_dtype to {value} because there is already a gradient of dtype "
                f"{self._grad.dtype}",
                "set x.grad = None first",
            )
        self.__dict__["_grad_dtype"] = value

    @property
    def data(self) -> "Tensor":
        """The same memory without history; writes to it are not seen by autograd."""
        storage = Storage(self.device, self.storage.nbytes, self.storage.block)
        return Tensor(storage, self.layout, self.dtype, self._array)

    @data.setter
    def data(self, value: "Tensor") -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self.requires_grad and not value.dtype.differentiable:
            raise AutogradError(
                f"x.data = tensor of dtype {value.dtype}",
                "data set to a tensor that requires gradients must be floating point or complex "
                "dtype",
            )
        self.storage, self.layout = value.storage, value.layout
        self.dtype, self._array, self.key = value.dtype, value._array, None

    @data.deleter
    def data(self) -> None:
        raise AutogradError(
            "del x.data", "Deleting tensor data is not allowed. Delete tensor instead!"
        )

    @property
    def _version(self) -> int:
        """How often the storage was written."""
        version = self.storage.version
        if version != version:
            raise AutogradError("x._version", "Inference tensors do not track version counter.")
        return version

    def set_history(self, node: Any, output: int = 0) -> None:
        """Make this tensor the `output`-th result of an autograd node."""
        if self._retains_grad:
            self.move_retained(self._node, self._output, node, output)
        self._node, self._output, self.key = node, output, None

    def move_retained(self, old: Any, at: int, node: Any, output: int) -> None:
        """Let the gradient that retain_grad() keeps be that of what the tensor now is."""
        kept = old.hooks.retained.pop(at, None) if old is not None and old.hooks else None
        if kept is not None and node is not None:
            node.with_hooks().retained[output] = kept

    def __class_getitem__(cls, item: Any) -> Any:
        return cls

    if TYPE_CHECKING:  # what ops/bind.py hangs on the class

        def __getattr__(self, name: str) -> Any: ...

        __add__: Any
        __radd__: Any
        __sub__: Any
        __rsub__: Any
        __mul__: Any
        __rmul__: Any
        __truediv__: Any
        __rtruediv__: Any
        __floordiv__: Any
        __rfloordiv__: Any
        __mod__: Any
        __rmod__: Any
        __pow__: Any
        __rpow__: Any
        __matmul__: Any
        __rmatmul__: Any
        __and__: Any
        __rand__: Any
        __or__: Any
        __ror__: Any
        __xor__: Any
        __rxor__: Any
        __lshift__: Any
        __rshift__: Any
        __lt__: Any
        __le__: Any
        __gt__: Any
        __ge__: Any
        __neg__: Any
        __invert__: Any
        __abs__: Any
        __getitem__: Any
        __setitem__: Any
        __len__: Any
        __iter__: Any
        __float__: Any
        __int__: Any
        __bool__: Any
        __index__: Any


def _check_grad(self: Tensor, value: Tensor) -> None:
    """Refuse a gradient that is not one of this tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(
            "assigned grad expected to be a Tensor or None but got grad of type "
            f"{type(value).__name__}"
        )
    if value is self:
        raise AutogradError("x.grad = x", "can't assign Variable as its own grad")
    if value.shape != self.shape:
        raise AutogradError(
            f"x.grad = tensor of shape {list(value.shape)}",
            f"assigned grad has data of a different size: attempting to assign a gradient of "
            f"size {list(value.shape)} to a tensor of size {list(self.shape)}",
            "assign a gradient of x's own shape",
        )
    wanted = self.grad_dtype if self._node is None else self.dtype
    if wanted is not None and value.dtype is not wanted:
        raise AutogradError(
            f"x.grad = tensor of dtype {value.dtype}",
            f"attempting to assign a gradient with dtype '{_NAMES.get(value.dtype.name)}' to a "
            f"tensor with grad_dtype '{_NAMES.get(wanted.name)}'",
            "convert the gradient, or set x.grad_dtype",
        )


_NAMES = {
    "float32": "Float", "float64": "double", "float16": "Half", "bfloat16": "BFloat16",
    "complex64": "ComplexFloat", "complex128": "ComplexDouble", "int64": "Long", "int32": "Int",
}  # fmt: skip


def warn_of_missing_grad() -> None:
    """What torch says where the gradient of a tensor that is no leaf is asked for."""
    warnings.warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
        "attribute won't be populated during autograd.backward(). If you indeed want the .grad "
        "field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor.",
        UserWarning,
        stacklevel=3,
    )


def _legacy_parts(parts: tuple, device: Any = None) -> tuple:
    """The fields for `torch.Tensor(2, 3)` (uninitialized, so zeros) or `torch.Tensor([1, 2])`."""
    element = dtypes.get_default_dtype()
    if len(parts) == 1 and isinstance(parts[0], Tensor):
        given = parts[0]
        return given.storage, given.layout, given.dtype
    data = len(parts) == 1 and (
        isinstance(parts[0], numpy.ndarray) or not hasattr(parts[0], "__index__")
    )
    if data and not isinstance(parts[0], Size):
        array = numpy.array(parts[0], element.numpy)
    else:
        sizes = parts[0] if len(parts) == 1 and isinstance(parts[0], Size) else parts
        array = numpy.zeros(tuple(sizes) if parts else (0,), element.numpy)
    return storage_of_array(array, CPU), contiguous(array.shape), element, array


class Interned:
    """The fields of a `key`. Holding one keeps it interned; nothing else does."""

    __slots__ = ("fields", "__weakref__")

    def __init__(self, fields: tuple):
        self.fields = fields


_keys: "weakref.WeakValueDictionary[tuple, Interned]" = weakref.WeakValueDictionary()


def key_of(tensor: Tensor) -> Interned:
    """The tensor's key, made and interned when it is not there yet."""
    key = tensor.key
    if key is None:
        layout, version = tensor.layout, tensor.storage.version
        fields = (
            type(tensor),
            tensor.dtype,
            layout.shape,
            layout.strides,
            tensor.device,
            tensor.requires_grad,
            version != version,  # Note [Inference tensors]
        )
        key = _keys.get(fields)
        if key is None:
            key = Interned(fields)
            key = _keys.setdefault(fields, key)
        tensor.key = key
    return key


# The classes whose tensors behave as Tensor's do in every operation. Only they may take the short
# ways (ops/short_ways.py); a tensor of any other class meets the dispatcher's door.
PLAIN: set[type] = {Tensor}

_new_tensor, _new_storage = Tensor.__new__, Storage.__new__


def fresh(array: numpy.ndarray, element: dtypes.dtype, where: device) -> Tensor:
    """A tensor that owns a row-major array just made: every field set here, no call in between."""
    storage = _new_storage(Storage)
    storage.device, storage.nbytes, storage.block = where, array.nbytes, array
    storage.version = first_version() if Births.threads else 0
    storage.graph_version = 0
    storage._bytes = None
    tensor = _new_tensor(Tensor)
    tensor.storage, tensor.layout, tensor.dtype = storage, row_major(array.shape), element
    tensor._array = array
    tensor._requires_grad = tensor._retains_grad = False
    tensor._grad = tensor._node = tensor._view = tensor._hooks = tensor.key = None
    tensor._output = 0
    return tensor


def row_major_array(tensor: Tensor) -> "numpy.ndarray | None":
    """The tensor's array if it has memory and lies in row-major order, else None."""
    if tensor.storage.block is None:
        return None
    array = tensor.array
    return array if array.flags.c_contiguous else None


def wrap(array: numpy.ndarray, where: device = CPU) -> Tensor:
    """A tensor over a numpy array's memory (not copied)."""
    if not isinstance(array, numpy.ndarray):
        array = numpy.asarray(array)
    element = dtypes.from_numpy_dtype(array.dtype)
    if array.flags.c_contiguous:
        return fresh(array, element, where)
    size = array.itemsize
    layout = Layout(array.shape, tuple(stride // size for stride in array.strides), 0)
    return Tensor(storage_of_array(array, where), layout, element, array)


def fake_tensor(
    shape: tuple[int, ...],
    element: dtypes.dtype,
    layout: Layout | None = None,
    where: device = META,
) -> Tensor:
    """A tensor without memory: contiguous unless a layout is given.

    Its device is what it stands for: tracing uses fakes whose device is the CPU.
    """
    return Tensor(meta_storage(where), layout or contiguous(tuple(shape)), element)


def is_fake(tensor: Tensor) -> bool:
    """Whether the tensor has no memory."""
    return tensor.storage.block is None
