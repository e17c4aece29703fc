"""Tensor.__getitem__ and __setitem__: what Python's brackets mean in terms of ops.

In: a tensor and an index: integers, slices, None, Ellipsis, boolean and integer tensors, lists,
numpy arrays, in any mix. Out: a view where every part is basic, else the picked elements.

Source: torch's "Tensor indexing" and numpy's advanced-indexing rules.
"""

import warnings
from typing import Any

import numpy

from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.errors import ArgumentTypeError, IndexOutOfRange
from minitorch2.ops.creation import number_like
from minitorch2.ops.infer import can_be_read
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor, wrap


def _op(name: str, *args: Any) -> Any:
    return call(lookup(name), args)


def _is_integer(part: Any) -> bool:
    return hasattr(part, "__index__") and not isinstance(part, (bool, Tensor, numpy.ndarray))


def _as_index_tensor(part: Any) -> Tensor:
    """A list or array used as an index."""
    if isinstance(part, Tensor):
        return part
    array = numpy.asarray(part if not isinstance(part, range) else list(part))
    if array.size == 0:
        array = array.astype(numpy.int64)
    if isinstance(part, str):
        raise ArgumentTypeError("indexing with a text", "new(): invalid data type 'str'")
    if array.dtype.kind not in "iub":
        raise IndexOutOfRange(
            f"indexing with {type(part).__name__}",
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
            f"valid indices (got {type(part).__name__})",
            "convert it to an integer tensor first",
        )
    return wrap(array)


def _parts(index: Any) -> list[Any]:
    if isinstance(index, tuple):
        return list(index)
    kinds = (slice, type(None), type(...), list, tuple, range, Tensor)
    if isinstance(index, list) and any(isinstance(part, kinds) for part in index):
        return list(index)  # as torch, and numpy before 1.23: a list of indices is a tuple of them
    return [index]


def _consumed(part: Any) -> int:
    """How many dimensions of the tensor a part of the index uses up."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    if isinstance(part, Tensor):
        return part.ndim if part.dtype in (dtypes.bool, dtypes.uint8) else 1
    return 1


def basic_view(tensor: Tensor, index: Any) -> tuple[Tensor, list[Any]]:
    """The view that the basic parts select, and the tensor indices left for its dimensions."""
    parts = [
        part
        if _is_integer(part) or part is None or part is Ellipsis or isinstance(part, (slice, bool))
        else _as_index_tensor(part)
        for part in _parts(index)
    ]
    used = sum(_consumed(part) for part in parts)
    if used > tensor.ndim == 0:
        raise IndexOutOfRange(
            "indexing a tensor without dimensions",
            "invalid index of a 0-dim tensor",
            "use .item() to convert it to a number",
        )
    if used > tensor.ndim:
        raise IndexOutOfRange(
            f"{used} indices for a tensor of shape {list(tensor.shape)}",
            f"too many indices for tensor of dimension {tensor.ndim}",
            "index at most that many dimensions",
        )
    parts = [_as_number(part) for part in parts]
    gap = tensor.ndim - used
    at, dim = 0, 0  # where we are in the view, and in the tensor the user indexes
    left: list[Any] = []
    for part in parts:
        if part is Ellipsis:  # a second one stands for no dimensions
            left.extend([None] * gap)
            at += gap
            dim += gap
            gap = 0
            continue
        if part is None or isinstance(part, bool) or _is_truth(part):
            tensor = _op("unsqueeze", tensor, at)
            if part is not None:
                part = wrap(numpy.asarray([part])) if isinstance(part, bool) else part.reshape(1)
            left.append(part)
            at += 1
            continue
        if isinstance(part, slice):
            if part != slice(None):
                step = 1 if part.step is None else part.step
                tensor = _op("slice", tensor, at, _bound(part.start), _bound(part.stop), step)
            left.append(None)
            at += 1
        elif isinstance(part, Tensor):
            left.append(part)
            at += _consumed(part)
        else:
            tensor = _op("select", tensor, at, _checked(part.__index__(), tensor, at, dim))
        dim += _consumed(part)
    return tensor, left


def _as_number(part: Any) -> Any:
    """An integer tensor without dimensions selects a view, as a number does, if it can be read.

    Where it cannot (a traced call) the part is copied: the same values, in memory of its own.
    """
    if isinstance(part, Tensor) and part.ndim == 0 and can_be_read(part):
        if part.dtype not in (dtypes.bool, dtypes.uint8) and not part.dtype.is_floating_point:
            return int(part.item())
    return part


def _is_truth(part: Any) -> bool:
    return isinstance(part, Tensor) and part.ndim == 0 and part.dtype is dtypes.bool


def _checked(index: Any, tensor: Tensor, at: int, dim: int) -> Any:
    """The index, if dimension `dim` of the user's tensor (`at` of the view) has it."""
    size = tensor.layout.shape[at]
    if not -size <= index < size:
        raise IndexOutOfRange(
            f"index {index} of dimension {dim}",
            f"index {index} is out of bounds for dimension {dim} with size {size}",
            f"use an index from {-size} to {size - 1}",
        )
    return index


def _bound(value: Any) -> Any:
    if isinstance(value, Tensor):
        return int(value.item())
    if value is not None and not hasattr(value, "__index__"):
        raise ArgumentTypeError(
            f"a slice with {value!r}",
            "slice indices must be integers or None or have an __index__ method",
        )
    if value is None or hasattr(value, "scalar_kind"):  # a symbolic size stays one
        return value
    return value.__index__()


def _integer_indices(tensor: Tensor, left: list[Any]) -> tuple:
    """Boolean masks become integer indices; None where a dimension is taken whole."""
    indices: list[Any] = []
    for part in left:
        if part is None:
            indices.append(None)
        elif part.dtype in (dtypes.bool, dtypes.uint8):
            _check_mask(part, tensor, len(indices))
            if part.dtype is dtypes.uint8:
                _warn_bytes()
            places = _op("nonzero", part)
            indices.extend(places.unbind(1))
        elif part.dtype not in (dtypes.int64, dtypes.int32):
            raise IndexOutOfRange(
                f"indexing with a tensor of dtype {part.dtype}",
                "tensors used as indices must be long, int, byte or bool tensors",
                "use index.long()",
            )
        else:
            indices.append(part.to(dtypes.int64) if part.dtype is not dtypes.int64 else part)
    return tuple(indices)


def _warn_bytes() -> None:
    warnings.warn(
        "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.",
        UserWarning,
        stacklevel=2,
    )


def _check_mask(mask: Tensor, tensor: Tensor, at: int) -> None:
    """IndexOutOfRange unless a mask has the sizes of the dimensions it indexes, from `at` on."""
    expected = tuple(tensor.shape[at : at + mask.ndim])
    for dim, (size, wanted) in enumerate(zip(mask.shape, expected, strict=True)):
        if size != wanted:
            raise IndexOutOfRange(
                f"a mask of shape {list(mask.shape)} for dimensions of {list(expected)}",
                f"The shape of the mask {list(mask.shape)} at index {dim} does not match the "
                f"shape of the indexed tensor {list(tensor.shape)} at index {at + dim}",
                "give a mask of the indexed dimensions' shape",
            )


def get_item(tensor: Tensor, index: Any) -> Tensor:
    """`tensor[index]`."""
    if type(index) is int and tensor.layout.shape:  # the most usual index, without the search
        return _op("select", tensor, 0, _checked(index, tensor, 0, 0))
    viewed, left = basic_view(tensor, index)
    if all(part is None for part in left):
        return _op("alias", viewed) if viewed is tensor else viewed
    return _op("index", viewed, _integer_indices(viewed, left))


def _as_value(tensor: Tensor, value: Any) -> Tensor:
    wrong = f"can't assign a {type(value).__name__} to a tensor of dtype {tensor.dtype}"
    return number_like(tensor, value, f"assigning {value!r} to elements of a tensor", wrong)


def set_item(tensor: Tensor, index: Any, value: Any) -> None:
    """`tensor[index] = value`."""
    if not isinstance(value, Tensor):
        value = _as_value(tensor, value)
    if (
        isinstance(index, Tensor)
        and index.dtype is dtypes.bool
        and value.ndim == 0
        and index.ndim == tensor.ndim
    ):
        _check_mask(index, tensor, 0)
        _op("copy_", tensor, _op("where", index, value.to(tensor.dtype), tensor), False)
        return
    viewed, left = basic_view(tensor, index)
    if all(part is None for part in left):
        while value.ndim > viewed.ndim and value.shape[0] == 1:
            value = value.squeeze(0)
        if value.ndim == 0 and value.storage is viewed.storage:
            value = value.clone()  # one element of what is written: read before, as a number is
        _op("copy_", viewed, value, False)
        return
    indices = _integer_indices(viewed, left)
    _op("copy_", viewed, _op("index_put", viewed, indices, value, False), False)
