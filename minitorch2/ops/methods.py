"""Tensor methods that are not rows of the op table: conversions to Python, autograd, printing.

In: a tensor. Out: numbers, lists, numpy arrays, tensors of another dtype. `ops/bind.py` hangs these
functions on the class beside the methods made from rows.

Source: torch.Tensor's documentation.
"""

import weakref
from typing import Any

import numpy

from minitorch2 import dtypes, return_types
from minitorch2.autograd import public
from minitorch2.autograd.graph import RemovableHandle, leaf_hooks
from minitorch2.batching.batched import batched_as
from minitorch2.devices import as_device, device, require_available
from minitorch2.dispatch import call, state
from minitorch2.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    AutogradError,
    DimensionError,
    InPlaceError,
    OperationError,
)
from minitorch2.formats import laid_out_as
from minitorch2.layouts import normalize_dim
from minitorch2.ops.creation import number_like
from minitorch2.ops.ordering import ordered
from minitorch2.ops.signature import an_int, as_variadic
from minitorch2.ops.table import lookup
from minitorch2.printing import tensor_text
from minitorch2.tensors import Size, Tensor, fake_tensor, wrap


def _op(name: str, *args: Any) -> Any:
    return call(lookup(name), args)


def _concrete(self: Tensor, asked: str) -> numpy.ndarray:
    for mode in reversed(state.modes):
        handler = getattr(mode, "concrete", None)
        if handler is not None:
            return handler(self, asked)
    if self.storage.block is None:
        raise OperationError(
            asked,
            "the tensor has no data (it lives on the meta device)",
            "make it on a real device",
        )
    return self.array


def item(self: Tensor) -> Any:
    """The only element as a Python number."""
    array = _concrete(self, "item()")
    if array.size != 1:
        raise OperationError(
            f"item() of a tensor of shape {list(self.shape)}",
            f"a Tensor with {array.size} elements cannot be converted to Scalar",
            "reduce it first, or use tolist()",
        )
    value = array.reshape(()).item()
    return float(value) if self.dtype.is_floating_point else value


def tolist(self: Tensor) -> Any:
    """The elements as (nested lists of) Python numbers."""
    array = _concrete(self, "tolist()")
    if self.dtype.itemsize <= 2 and self.dtype.is_floating_point:
        array = array.astype(numpy.float32)
    return array.tolist()


def to_numpy(self: Tensor, *, force: bool = False) -> numpy.ndarray:
    """The elements as a numpy array that shares the memory."""
    if state.grad_enabled and self.requires_grad and not force:
        raise AutogradError(
            "numpy() of a tensor that requires grad",
            "Can't call numpy() on Tensor that requires grad",
            "Use tensor.detach().numpy() instead",
        )
    return _concrete(self, "numpy()")


def array_protocol(self: Tensor, dtype: Any = None, copy: Any = None) -> numpy.ndarray:
    """numpy.asarray(tensor)."""
    array = to_numpy(self)
    if dtype is not None and array.dtype != dtype:
        return array.astype(dtype)
    return array.copy() if copy else array


def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Another dtype or device: `to(dtype)`, `to(device)`, `to(other)`, with copy=True to copy."""
    wanted, where = dtypes.as_dtype(kwargs.get("dtype")), kwargs.get("device")
    copy = kwargs.get("copy", False)
    for value in args:
        if isinstance(value, dtypes.dtype):
            wanted = value
        elif isinstance(value, (str, device)):
            where = value
        elif isinstance(value, type):
            wanted = dtypes.as_dtype(value)
        elif isinstance(value, Tensor):
            wanted, where = value.dtype, value.device
    if where is not None and as_device(where).type != self.device.type:
        if as_device(where).type == "meta":
            return fake_tensor(tuple(self.shape), wanted or self.dtype)
        if self.device.type == "meta":
            raise OperationError(
                f"to({where})",
                "Cannot copy out of meta tensor; no data!",
                "make the tensor on the device instead",
            )
        require_available(as_device(where))
    if "memory_format" in kwargs:
        self = ordered(self, kwargs["memory_format"])
    if wanted is not None and wanted is not self.dtype:
        return _op("convert", self, wanted)
    return _op("clone", self) if copy else self


def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The type's name, or the tensor in another dtype."""
    if dtype is None:
        return f"torch.{self.dtype.title}Tensor"
    if not isinstance(dtype, (str, dtypes.dtype)):  # torch.LongTensor
        dtype = getattr(dtype, "__name__", "")
    if isinstance(dtype, str):
        name = dtype.rsplit(".", 1)[-1].removesuffix("Tensor")
        found = next((each for each in dtypes.EVERY if each.title == name), None)
        if found is None:
            raise ArgumentValueError(f"type({dtype!r})", f"invalid type: '{dtype}'")
        dtype = found
    return to(self, dtype)


def _in_range(self: Tensor, dim: int) -> int:
    if not self.ndim:
        raise DimensionError(
            f"dimension {dim} of a 0-d tensor",
            f"Dimension specified as {dim} but tensor has no dimensions",
        )
    return normalize_dim(dim, self.ndim)


def size(self: Tensor, dim: int | None = None) -> Any:
    """The shape, or the size of one dimension."""
    return self.shape if dim is None else self.shape[_in_range(self, an_int(dim, "dim"))]


def stride(self: Tensor, dim: int | None = None) -> Any:
    """The strides in elements, or that of one dimension."""
    strides = self.layout.strides
    return strides if dim is None else strides[_in_range(self, an_int(dim, "dim"))]


def numel(self: Tensor) -> int:
    """The number of elements."""
    return Size(self.layout.shape).numel()


def length(self: Tensor) -> int:
    """The size of the first dimension."""
    if self.ndim == 0:
        raise ArgumentTypeError("len() of a 0-d tensor", "it has no first dimension", "use numel()")
    return self.layout.shape[0]


def is_contiguous(self: Tensor, memory_format: Any = None) -> bool:
    """Whether the elements lie in row-major order without gaps."""
    if memory_format is None:
        return self.layout.is_contiguous()
    return laid_out_as(self.layout, memory_format)


def truth(self: Tensor) -> bool:
    """The truth of the only element."""
    if self.numel() != 1:
        what = "no values" if self.numel() == 0 else "more than one value"
        raise OperationError(
            f"bool() of a tensor of shape {list(self.shape)}",
            f"Boolean value of Tensor with {what} is ambiguous",
            "use .any() or .all()",
        )
    return bool(item(self))


def is_nonzero(self: Tensor) -> bool:
    """The truth of the only element, by its own name for who takes functions over."""
    return truth(self)


def new(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """A tensor of this dtype from sizes (its elements are zeros), or from data."""
    if len(args) == 1 and not hasattr(args[0], "__index__") and not isinstance(args[0], Size):
        if isinstance(args[0], Tensor):
            return _op("alias", args[0]).detach()
        return wrap(numpy.array(args[0], self.dtype.numpy))
    sizes = args[0] if len(args) == 1 and isinstance(args[0], Size) else args
    return _op("full", tuple(sizes) or (0,), 0, self.dtype, self.device)


def array_wrap(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
    """What numpy's functions of a tensor give: a tensor; bools stay bytes, as in torch."""
    return wrap(numpy.asarray(array).astype(numpy.uint8) if array.dtype == bool else array)


def index_number(self: Tensor) -> int:
    """An integer tensor of one element used as an index."""
    if self.dtype.differentiable or self.numel() != 1:
        raise ArgumentTypeError(
            "a tensor used as an index",
            "only integer tensors of a single element can be converted to an index",
            "use .long()",
        )
    return int(item(self))


def iterate(self: Tensor) -> Any:
    """The parts along the first dimension."""
    if self.ndim == 0:
        raise ArgumentTypeError(
            "iteration over a 0-d tensor", "it has no dimension to go along", "use item()"
        )
    return iter(_op("unbind", self, 0))


def text(self: Tensor) -> str:
    """The tensor as torch prints it."""
    return tensor_text(self)


def formatted(self: Tensor, spec: str) -> str:
    """A 0-d tensor formats as its number."""
    if self.ndim == 0 and not isinstance(self, _parameter_class()):
        return format(item(self), spec)
    if spec:
        raise ArgumentTypeError(
            f"format(tensor, {spec!r})", "unsupported format string passed to Tensor.__format__"
        )
    return repr(self)


def _parameter_class() -> Any:
    return ()


def backward(
    self: Tensor,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Accumulate the gradients of this tensor into the leaves it was computed from."""
    public.backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Set `requires_grad` and return the tensor."""
    self.requires_grad = requires_grad
    return self


def detach_(self: Tensor) -> Tensor:
    """Drop the history of this tensor itself; views have none of their own, and refuse."""
    if self._view is not None:
        raise InPlaceError(
            "detach_()", "Can't detach views in-place. Use detach() instead", "use x.detach()"
        )
    self._requires_grad = False
    self.set_history(None)
    return self


def register_hook(self: Tensor, hook: Any) -> RemovableHandle:
    """Call `hook(grad)` when the gradient is known; what it returns replaces it."""
    if not self.requires_grad:
        raise AutogradError(
            "register_hook", "cannot register a hook on a tensor that doesn't require gradient"
        )
    node = self.grad_fn
    if node is not None:
        return RemovableHandle(node.with_hooks().tensor.setdefault(self._output, {}), hook)
    return RemovableHandle(leaf_hooks(self).grad, hook)


def register_post_accumulate_grad_hook(self: Tensor, hook: Any) -> RemovableHandle:
    """Call `hook(tensor)` after a backward has added to this leaf's gradient."""
    asked = "register_post_accumulate_grad_hook"
    if not self.requires_grad:
        raise AutogradError(
            asked, "cannot register a hook on a tensor that doesn't require gradient"
        )
    if self.grad_fn is not None:
        raise AutogradError(
            asked,
            "post accumulate grad hooks cannot be registered on non-leaf tensors",
            "use register_hook",
        )
    return RemovableHandle(leaf_hooks(self).after, hook)


def retain_grad(self: Tensor) -> None:
    """Keep the gradient of a tensor that is no leaf."""
    node = self.grad_fn
    if not self.requires_grad:
        raise AutogradError(
            "retain_grad", "can't retain_grad on Tensor that has requires_grad=False"
        )
    if node is not None:
        node.with_hooks().retained[self._output] = weakref.ref(self)
        self._retains_grad = True


def new_tensor_method(name: str) -> Any:
    """new_zeros, new_ones, new_full, new_empty: same dtype and device unless given."""

    def method(
        self: Tensor, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False
    ) -> Tensor:
        value = {"zeros": 0, "ones": 1, "empty": 0}.get(name)
        if value is None:
            *size, value = size  # type: ignore[assignment]
        sizes = as_variadic(tuple(size), "size")
        result = _op("full", sizes, value, dtype or self.dtype, device or self.device)
        result = result if self.has_elements else batched_as(result, self)
        return result.requires_grad_() if requires_grad else result

    method.__doc__ = f"A tensor like this one in dtype and device: {name}."
    return method


def extremum_method(reduce: str, pick: str, binary: str) -> Any:
    """max and min: over everything, over a dimension, or of two tensors."""

    named = return_types.of(reduce[1:])

    def method(self: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        if isinstance(dim, Tensor) or other is not None:
            return _op(binary, self, dim if other is None else other)
        if dim is None:
            return _op(reduce, self, (), False)
        return named(_op(pick, self, an_int(dim, "dim"), keepdim))

    method.__doc__ = f"All elements' {reduce[1:]}imum, a dimension's with indices, or of two."
    return method


def reversed_(self: Tensor) -> Tensor:
    """What reversed() gives: the elements of all dimensions in reverse order."""
    return _op("flip", self, tuple(range(self.ndim))) if self.ndim else self


def element_size(self: Tensor) -> int:
    """Bytes of one element."""
    return self.dtype.itemsize


def data_ptr(self: Tensor) -> int:
    """The address of the first element."""
    return self.storage.address + self.layout.offset * self.dtype.itemsize


def storage_offset(self: Tensor) -> int:
    """Where the first element lies in the storage, in elements."""
    return self.layout.offset


def permute_property(self: Tensor) -> Tensor:
    """`x.T`: all dimensions reversed."""
    return _op("permute", self, tuple(range(self.ndim - 1, -1, -1)))


def hermitian(self: Tensor) -> Tensor:
    """`x.mH`: the last two dimensions exchanged, conjugated; a single number is its conjugate."""
    if self.ndim == 1:
        raise OperationError(
            "mH", "tensor.mH is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return _op("adjoint", self) if self.ndim else _op("conj", self)


def matrix_hermitian(self: Tensor) -> Tensor:
    """`x.H`: mH of a matrix, and of nothing else but a single number."""
    if self.ndim not in (0, 2):
        raise OperationError(
            "H",
            "tensor.H is only supported on matrices (2-D tensors). Got "
            f"{self.ndim}-D tensor."
            + " For batches of matrices, consider using tensor.mH"
            * (self.ndim > 2),
        )
    return hermitian(self)


def part_of(name: str) -> tuple[Any, Any]:
    """How `x.real` (or `x.imag`) is read, and how it is written."""

    def read(self: Tensor) -> Tensor:
        return _op(name, self)

    def write(self: Tensor, value: Any) -> None:
        part = _op(name, self)
        if not isinstance(value, Tensor):
            wrong = f"a tensor or a number is expected, not {type(value).__name__}"
            value = number_like(part, value, f"writing {value!r} into x.{name} of a tensor", wrong)
        _op("copy_", part, value, False)

    read.__doc__ = lookup(name).doc
    return read, write


def matrix_transpose(self: Tensor) -> Tensor:
    """`x.mT`: the last two dimensions exchanged; a single number is itself."""
    if not self.ndim:
        return _op("alias", self)
    if self.ndim < 2:
        raise OperationError(
            "mT",
            "tensor.mT is only supported on matrices or batches of matrices. Got "
            f"{self.ndim}-D tensor",
        )
    return _op("transpose", self, -2, -1)
