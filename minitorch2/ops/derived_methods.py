"""Tensor methods made of other methods: diagonals filled, functions mapped, predicates.

In: a tensor. Out: what the documentation of the method of that name in torch says.

    >>> from minitorch2 import zeros
    >>> zeros(2, 3).fill_diagonal_(1.0)
    tensor([[1., 0., 0.],
            [0., 1., 0.]])

Source: torch.Tensor's documentation.
"""

from collections.abc import Callable
from typing import Any

import numpy

from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.errors import ArgumentTypeError, DtypeError, OperationError
from minitorch2.ops.creation import number_like
from minitorch2.ops.infer import held
from minitorch2.ops.signature import as_variadic
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor, wrap


def _op(name: str, *args: Any, **kwargs: Any) -> Any:
    return lookup(name).public(*args, **kwargs)


def fill_diagonal_(self: Any, fill_value: float, wrap: bool = False) -> Any:
    """Set the main diagonal; `wrap` starts a new diagonal below a tall matrix, after a row."""
    sizes = tuple(self.shape)
    if len(sizes) < 2:
        raise OperationError(
            f"fill_diagonal_() of a tensor of shape {list(sizes)}",
            "dimensions must larger than 1",
            "give a matrix or a tensor of more dimensions",
        )
    if len(sizes) > 2 and len(set(sizes)) > 1:
        raise OperationError(
            f"fill_diagonal_() of a tensor of shape {list(sizes)}",
            "all dimensions of input must be of equal length",
            "fill the diagonal of one matrix at a time",
        )
    if len(sizes) > 2:
        line = self.as_strided((sizes[0],), (sum(self.stride()),), self.storage_offset())
        line.fill_(fill_value)
        return self
    for first in range(0, sizes[0] if wrap else 1, sizes[1] + 1):
        self[first : first + sizes[1]].diagonal().fill_(fill_value)
    return self


def _on_numbers(name: str, self: Any, function: Callable, *others: Any) -> Any:
    if self.requires_grad:
        raise OperationError(
            f"{name}() on a tensor that requires grad",
            f"Can't call {name}() on Variable that requires grad.",
            f"Use var.detach().{name}() instead.",
        )
    arrays = [each.expand(self.shape).array.reshape(-1).tolist() for each in (self, *others)]
    values = numpy.array([function(*items) for items in zip(*arrays, strict=True)])
    found = wrap(values.astype(self.dtype.numpy).reshape(tuple(self.shape)))
    return call(lookup("copy_"), (self, found, False))


def apply_(self: Any, callable: Callable) -> Any:
    """Replace each element by what a Python function gives for it (slow; in place)."""
    return _on_numbers("apply_", self, callable)


def map_(self: Any, other: Any, callable: Callable) -> Any:
    """Replace each element by function(element, other's element) (slow; in place)."""
    return _on_numbers("map_", self, callable, other)


def map2_(self: Any, x: Any, y: Any, callable: Callable) -> Any:
    """Replace each element by function(element, x's element, y's element) (slow; in place)."""
    return _on_numbers("map2_", self, callable, x, y)


def is_signed(input: Any) -> bool:
    """Whether the dtype has negative numbers."""
    return input.dtype.is_signed


def is_inference(input: Any) -> bool:
    """Whether the tensor was made in inference mode (and so has no version)."""
    version = input.storage.version
    return bool(version != version)


def float_power_(self: Any, exponent: Any) -> Any:
    """self ** exponent in double precision, written into self, which must be a double."""
    found = _op("float_power", self, exponent)
    if found.dtype is not self.dtype:
        raise DtypeError(
            f"float_power_() of a {self.dtype} tensor",
            f"the base given to float_power_ has dtype {self.dtype} but the operation's result "
            f"requires dtype {found.dtype}",
            "use x = x.float_power(e)",
        )
    return self.copy_(found)


def split_with_sizes(self: Any, split_sizes: Any, dim: int = 0) -> tuple:
    """Parts of the sizes given, along a dimension; views."""
    return self.split(list(split_sizes), dim)


def where_method(self: Any, condition: Any, other: Any) -> Any:
    """self where the condition holds, else other."""
    return _op("where", condition, self, other)


def contains(self: Any, element: Any) -> bool:
    """`element in tensor`: whether some element is equal to it."""
    if not isinstance(element, (Tensor, int, float, complex)):
        raise OperationError(
            f"{type(element).__name__} in tensor",
            "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
            f"{type(element)}.",
            "ask for a number or a tensor",
        )
    return bool((self == element).any())


def retains_grad(self: Any) -> bool:
    """Whether retain_grad() was called on a tensor that is no leaf."""
    return bool(self._retains_grad) and not self.is_leaf


def fill_(self: Tensor, value: Any) -> Any:
    """Every element set to one value: a number, or a tensor of no dimensions."""
    if isinstance(value, Tensor):
        if value.ndim:
            raise OperationError(
                "fill_()",
                "fill_ only supports 0-dimension value tensor but got tensor with "
                f"{value.ndim} dimensions.",
                "use copy_",
            )
    else:
        kind = type(value).__name__
        wrong = f"fill_() received an invalid combination of arguments - got ({kind})"
        held(value, self.dtype, single=self.numel() == 1)
        value = number_like(self, value, f"fill_({value!r}) of a tensor", wrong)
        if self.layout.overlaps_itself():  # the same number, however often it is written
            call(lookup("copy_"), (_once(self), value, False))
            return self
    return call(lookup("copy_"), (self, value, False))


def _once(tensor: Tensor) -> Tensor:
    """A view that sees what an expanded tensor repeats once."""
    for dim, (size, stride) in enumerate(
        zip(tensor.layout.shape, tensor.layout.strides, strict=True)
    ):
        if size > 1 and stride == 0:
            tensor = call(lookup("slice"), (tensor, dim, 0, 1, 1))
    return tensor


def view(self: Tensor, *shape_: Any, shape: Any = None, dtype: Any = None) -> Tensor:
    """The same memory with another shape, or as elements of another dtype: `view(torch.int32)`."""
    if shape_ and isinstance(shape_[0], dtypes.dtype):
        dtype = shape_[0]
    if dtype is not None:
        return call(lookup("view_dtype"), (self, dtype, self.dtype.itemsize))
    if not shape_ and shape is None:
        raise ArgumentTypeError(
            "view()", "view() received an invalid combination of arguments", "give a shape"
        )
    return call(lookup("view"), (self, as_variadic(shape_ if shape is None else (shape,), "shape")))


METHODS: dict[str, Callable] = {
    "is_distributed": lambda self: False,
    "fill_": fill_,
    "view": view,
    "__contains__": contains,
    "fill_diagonal_": fill_diagonal_,
    "apply_": apply_,
    "map_": map_,
    "map2_": map2_,
    "is_signed": is_signed,
    "is_inference": is_inference,
    "float_power_": float_power_,
    "split_with_sizes": split_with_sizes,
    "unsafe_split_with_sizes": split_with_sizes,
    "where": where_method,
}

PROPERTIES: dict[str, Callable[[Tensor], Any]] = {
    "retains_grad": retains_grad,
    "is_cpu": lambda self: self.device.type == "cpu",
    "is_quantized": lambda self: False,
    "is_mkldnn": lambda self: False,
    "is_mps": lambda self: self.device.type == "mps",
    "is_nested": lambda self: False,
    "output_nr": lambda self: self._output,
    "name": lambda self: None,
}
