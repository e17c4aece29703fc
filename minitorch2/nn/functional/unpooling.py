"""Pooling by other rules: power averages, random regions; and max pooling undone.

In: [N, C, *sizes] (or without N). Out: [N, C, *other sizes].

    >>> from minitorch2 import tensor
    >>> lp_pool1d(tensor([[[3.0, 4.0]]]), 2, 2)
    tensor([[[5.]]])

Source: torch.nn.functional; Graham, "Fractional max-pooling" (2014).
"""

import math
from typing import Any

from minitorch2.creation import rand, tensor
from minitorch2.dtypes import int64
from minitorch2.errors import ArgumentValueError, ShapeError
from minitorch2.nn.functional.pooling import (
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from minitorch2.nn.functional.rows import row
from minitorch2.nn.functional.windows import per_dimension

_stack, _relu = row("stack"), row("relu")
_MEANS = {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}


def _lp_pool(dims: int) -> Any:
    def function(
        input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> Any:
        kernel = per_dimension(kernel_size, dims)
        stride = None if stride in (None, []) else per_dimension(stride, dims)
        mean = _MEANS[dims](input.pow(norm_type), kernel, stride, 0, ceil_mode)
        # The sign lets a sum below zero, of an odd power, have its root.
        return (mean.sign() * _relu(mean.abs())).mul(math.prod(kernel)).pow(1.0 / norm_type)

    function.__name__ = function.__qualname__ = f"lp_pool{dims}d"
    function.__doc__ = f"(sum x ** p) ** (1 / p) of each window over the last {dims} dimensions."
    return function


def _max_unpool(dims: int) -> Any:
    def function(
        input: Any,
        indices: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        output_size: Any = None,
    ) -> Any:
        kernel = per_dimension(kernel_size, dims)
        steps = kernel if stride in (None, []) else per_dimension(stride, dims)
        amounts = per_dimension(padding, dims)
        sizes = _sizes(input, (kernel, steps, amounts), output_size, dims)
        if tuple(indices.shape) != tuple(input.shape):
            raise ShapeError(
                f"max_unpool{dims}d()",
                "Expected shape of indices to be same as that of the input tensor: "
                f"{list(input.shape)} and {list(indices.shape)}",
                "give the indices that max pooling returned",
            )
        lead = tuple(input.shape[: input.ndim - dims])
        flat = input.new_zeros((*lead, math.prod(sizes)))
        places = indices.reshape((*lead, -1))
        return flat.scatter(-1, places, input.reshape((*lead, -1))).reshape((*lead, *sizes))

    function.__name__ = function.__qualname__ = f"max_unpool{dims}d"
    function.__doc__ = f"Zeros, and each element at its index, over the last {dims} dimensions."
    return function


def _sizes(input: Any, settings: tuple, output_size: Any, dims: int) -> list[int]:
    """The sizes before pooling: the smallest that fit, unless given."""
    usual = [
        (size - 1) * s + k - 2 * p
        for size, k, s, p in zip(input.shape[-dims:], *settings, strict=True)
    ]
    if output_size is None:
        return usual
    sizes = list(output_size)[-dims:]
    for wanted, size, step in zip(sizes, usual, settings[1], strict=True):
        if not size - step < wanted < size + step:
            raise ArgumentValueError(
                f"max_unpool{dims}d(output_size={list(output_size)})",
                f"invalid output_size {sizes} (sizes must be within the stride of {usual})",
                "give the size of what was pooled",
            )
    return sizes


def _fractional(dims: int) -> Any:
    def function(
        input: Any,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> Any:
        kernel, name = per_dimension(kernel_size, dims), f"fractional_max_pool{dims}d"
        sizes = tuple(input.shape[-dims:])
        if (output_size is None) == (output_ratio is None):
            raise ArgumentValueError(
                f"{name}()",
                f"{name} requires specifying either an output_size or an output_ratio",
                "give one of the two",
            )
        if output_size is None:
            several = isinstance(output_ratio, tuple | list)
            ratios = output_ratio if several else [output_ratio] * dims
            output_size = [int(size * ratio) for size, ratio in zip(sizes, ratios, strict=True)]
        wanted = per_dimension(output_size, dims)
        single = input.ndim == dims + 1
        batch = input.unsqueeze(0) if single else input
        samples = _random_samples
        if samples is None:
            samples = rand(*batch.shape[:2], dims, dtype=batch.dtype)
        found = _regions(batch, samples, kernel, wanted)
        found = tuple(each[0] for each in found) if single else found
        return found if return_indices else found[0]

    function.__name__ = function.__qualname__ = f"fractional_max_pool{dims}d"
    function.__doc__ = f"The largest of regions at random places, over the last {dims} dimensions."
    return function


def _regions(input: Any, samples: Any, kernel: tuple, wanted: tuple) -> tuple[Any, Any]:
    """Maxima and their places; one sequence of regions for each image and channel."""
    dims, sizes = len(kernel), tuple(input.shape[2:])
    shape = (*input.shape[:2], *wanted)
    if 0 in shape[:2]:
        return input.new_zeros(shape), tensor([], dtype=int64).reshape(shape)
    shares = samples.detach()[: input.shape[0]].tolist()
    values, places = [], []
    for image, rows in enumerate(shares):
        for channel, share in enumerate(rows):
            if dims == 2:  # as torch has it: here the last dimension takes the first number
                share = share[::-1]
            starts = [_starts(share[at], sizes[at], wanted[at], kernel[at]) for at in range(dims)]
            index = _window_places(starts, kernel, sizes)
            flat = input[image, channel].reshape(-1)
            largest, at = flat[index].max(-1)
            values.append(largest.reshape(wanted))
            places.append(index.gather(-1, at.unsqueeze(-1)).reshape(wanted))
    return _stack(values, 0).reshape(shape), _stack(places, 0).reshape(shape)


def _starts(share: float, size: int, wanted: int, kernel: int) -> list[int]:
    if wanted == 1:
        return [size - kernel]
    alpha = (size - kernel) / (wanted - 1)
    found = [int((at + share) * alpha) - int(share * alpha) for at in range(wanted - 1)]
    return [*found, size - kernel]


def _window_places(starts: list[list[int]], kernel: tuple, sizes: tuple) -> Any:
    """For each region the flat places of its elements: [*wanted, elements]."""
    rows: list[list[int]] = [[0]]
    for start, count, size in zip(starts, kernel, sizes, strict=True):
        rows = [
            [place * size + first + offset for place in row for offset in range(count)]
            for row in rows
            for first in start
        ]
    return tensor(rows, dtype=int64)


lp_pool1d, lp_pool2d, lp_pool3d = _lp_pool(1), _lp_pool(2), _lp_pool(3)
max_unpool1d, max_unpool2d, max_unpool3d = _max_unpool(1), _max_unpool(2), _max_unpool(3)
fractional_max_pool2d, fractional_max_pool3d = _fractional(2), _fractional(3)


def _with_indices(function: Any) -> Any:
    """A pooling that returns the places of its maxima beside them."""

    def pooling(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{**kwargs, "return_indices": True})

    pooling.__name__ = pooling.__qualname__ = f"{function.__name__}_with_indices"
    pooling.__doc__ = f"{function.__name__}, and where the maxima were."
    return pooling


max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = map(
    _with_indices, (max_pool1d, max_pool2d, max_pool3d)
)
(
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d_with_indices,
) = map(_with_indices, (adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d))
fractional_max_pool2d_with_indices, fractional_max_pool3d_with_indices = map(
    _with_indices, (fractional_max_pool2d, fractional_max_pool3d)
)
