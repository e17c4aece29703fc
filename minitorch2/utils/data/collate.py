"""Collating: a list of examples becomes a batch of the same structure.

In: a list of tensors, numbers, arrays, strings, or of tuples, lists and dicts of them. Out: tensors
with a new first dimension, inside the same structure.

    >>> default_collate([(1, 2.0), (3, 4.0)])
    [tensor([1, 3]), tensor([2., 4.], dtype=torch.float64)]

Source: torch.utils.data.default_collate.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from minitorch2.creation import as_tensor, tensor
from minitorch2.dtypes import float64
from minitorch2.errors import ArgumentTypeError, OperationError
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor

_stack = lookup("stack").public


def default_collate(batch: Any) -> Any:
    """Stack the examples part by part."""
    first = batch[0]
    if isinstance(first, Tensor):
        return _stack(list(batch), 0)
    if isinstance(first, (numpy.ndarray, numpy.generic)):
        return _stack([as_tensor(numpy.asarray(each)) for each in batch], 0)
    if isinstance(first, float):
        return tensor(list(batch), dtype=float64)
    if isinstance(first, int):
        return tensor(list(batch))
    if isinstance(first, (str, bytes)):
        return list(batch)
    if isinstance(first, Mapping):
        return {key: default_collate([each[key] for each in batch]) for key in first}
    if isinstance(first, Sequence):
        if any(len(each) != len(first) for each in batch):
            raise OperationError(
                "default_collate(examples)",
                "each element in list of batch should be of equal size",
                "pad the examples, or pass a collate_fn of your own",
            )
        columns = [default_collate(list(column)) for column in zip(*batch, strict=True)]
        return type(first)(*columns) if hasattr(first, "_fields") else columns
    raise ArgumentTypeError(
        f"default_collate(examples of type {type(first).__name__})",
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {type(first)}",
        "pass a collate_fn of your own to the DataLoader",
    )


def default_convert(data: Any) -> Any:
    """Arrays become tensors; the structure, and everything else, stays."""
    if isinstance(data, (numpy.ndarray, numpy.generic)):
        return as_tensor(numpy.asarray(data))
    if isinstance(data, Mapping):
        return {key: default_convert(value) for key, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(value) for value in data))
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return [default_convert(value) for value in data]
    return data
