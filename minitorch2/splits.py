"""torch.tensor_split and its like: parts of a dimension, as views.

In: a tensor, and how many parts or the indices between them. Out: a tuple of views.

    >>> from minitorch2 import tensor
    >>> tensor_split(tensor([1, 2, 3]), 2)
    (tensor([1, 2]), tensor([3]))

Source: torch's documentation of each function.
"""

import itertools
from typing import Any

from minitorch2 import dtypes
from minitorch2.errors import OperationError
from minitorch2.layouts import normalize_dim
from minitorch2.tensors import Tensor


def _split_numbers(given: Tensor) -> Any:
    """Indices or a count that are given as a tensor."""
    wrong = ""
    if given.dtype is not dtypes.int64:
        wrong = f"to have dtype of long, but got {given.dtype}"
    elif given.ndim > 1:
        wrong = (
            "to be a zero-dimensional or one-dimensional tensor, but got a tensor with "
            f"{given.ndim} dims"
        )
    if wrong:
        raise OperationError(
            "tensor_split()", f"tensor_split expected tensor_indices_or_sections {wrong}"
        )
    return given.tolist()


def tensor_split(
    input: Any,
    indices_or_sections: Any = None,
    dim: int = 0,
    *,
    indices: Any = None,
    sections: Any = None,
) -> tuple:
    """Parts between indices, or so many parts of almost equal size."""
    for named in (indices, sections):
        indices_or_sections = named if named is not None else indices_or_sections
    if not input.ndim:
        raise OperationError(
            "tensor_split()",
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims",
        )
    size = input.shape[normalize_dim(dim, input.ndim)]
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = _split_numbers(indices_or_sections)
    if isinstance(indices_or_sections, int):
        count = indices_or_sections
        if count <= 0:
            raise OperationError(
                f"tensor_split({count})", f"number of sections must be larger than 0, got {count}"
            )
        each, rest = divmod(size, count)
        ends = list(itertools.accumulate([each + (at < rest) for at in range(count)]))[:-1]
    else:
        ends = list(indices_or_sections)
    bounds = [0, *[slice(None, end).indices(size)[1] for end in ends], size]
    pairs = zip(bounds, bounds[1:], strict=False)
    return tuple(input.narrow(dim, a, max(b - a, 0)) for a, b in pairs)


def _even_split(name: str, input: Any, parts: Any, dim: int, least: int) -> tuple:
    """tensor_split of tensors of enough dimensions, into equal parts where a count is given."""
    wrong = ""
    if input.ndim < least:
        wrong = (
            f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor "
            f"with {input.ndim} dimensions!"
        )
    elif isinstance(parts, int) and (parts <= 0 or input.shape[dim] % parts):
        wrong = (
            f"torch.{name} attempted to split along dimension {dim}, but the size of the "
            f"dimension {input.shape[dim]} is not divisible by the split_size {parts}!"
        )
    if wrong:
        raise OperationError(f"{name}({list(input.shape)}, {parts})", wrong)
    return tensor_split(input, parts, dim)


def hsplit(input: Any, indices_or_sections: Any) -> tuple:
    """Equal parts along dimension 1 (0 for vectors), or parts between indices."""
    return _even_split("hsplit", input, indices_or_sections, 0 if input.ndim == 1 else 1, 1)


def vsplit(input: Any, indices_or_sections: Any) -> tuple:
    """Equal parts along dimension 0, or parts between indices."""
    return _even_split("vsplit", input, indices_or_sections, 0, 2)


def dsplit(input: Any, indices_or_sections: Any) -> tuple:
    """Equal parts along dimension 2, or parts between indices."""
    return _even_split("dsplit", input, indices_or_sections, 2, 3)
