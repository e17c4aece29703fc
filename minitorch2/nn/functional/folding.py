"""unfold and fold: windows as columns, and columns added up where their windows were.

In: [N, C, *sizes], or columns [N, C * kernel, places]. Out: the other.

    >>> from minitorch2 import arange
    >>> unfold(arange(9.0).reshape(1, 1, 3, 3), 2)[0, 0]
    tensor([0., 1., 3., 4.])

Source: torch.nn.functional.unfold and fold; fold is a transposed convolution with a weight that is
one at one element of the kernel.
"""

import math
from typing import Any

from minitorch2.errors import OperationError, ShapeError
from minitorch2.nn.functional.rows import row
from minitorch2.nn.functional.windows import padded, per_dimension, views
from minitorch2.ops.convolution import output_size as places_of
from minitorch2.ranges import eye

_stack, _transpose = row("stack"), row("convolution_to_input")


def _check_filled(name: str, input: Any, ndim: int) -> None:
    """A batch of `ndim` dimensions may be empty; each of its samples may not."""
    sizes = list(input.shape)
    if len(sizes) not in (ndim - 1, ndim) or 0 in sizes[len(sizes) + 1 - ndim :]:
        raise ShapeError(
            f"{name}(input of shape {sizes})",
            f"Expected {ndim - 1}D or {ndim}D (batch mode) tensor with possibly 0 batch size and "
            f"other non-zero dimensions for input, but got: {sizes}",
            "only the number of samples may be zero",
        )


def unfold(
    input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """[N, C, H, W] -> [N, C * kernel, places] (or without N)."""
    _check_filled("unfold", input, 4)
    if input.ndim == 3:
        return unfold(input.unsqueeze(0), kernel_size, dilation, padding, stride).squeeze(0)
    kernel, steps = per_dimension(kernel_size, 2), per_dimension(stride, 2)
    wide = padded(input, per_dimension(padding, 2))
    found = _stack(list(views(wide, kernel, steps, per_dimension(dilation, 2))), 2)
    return found.flatten(1, 2).flatten(2)


def fold(
    input: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Any:
    """[N, C * kernel, places] -> [N, C, *output_size] (or without N)."""
    _check_filled("fold", input, 3)
    if input.ndim == 2:
        one = input.unsqueeze(0)
        return fold(one, output_size, kernel_size, dilation, padding, stride).squeeze(0)
    size, kernel = per_dimension(output_size, 2), per_dimension(kernel_size, 2)
    how = [per_dimension(each, 2) for each in (stride, padding, dilation)]
    places = [places_of(*each) for each in zip(size, kernel, *how, strict=True)]
    count = math.prod(kernel)
    if input.shape[1] % count or input.shape[2] != math.prod(places):
        raise OperationError(
            f"fold(input of shape {list(input.shape)}, {list(size)}, {list(kernel)})",
            f"expected {math.prod(places)} columns of a multiple of {count} elements",
            "give the output size that unfold started from",
        )
    channels = input.shape[1] // count
    weight = eye(count, dtype=input.dtype).reshape(count, 1, *kernel).repeat(channels, 1, 1, 1)
    columns = input.reshape(input.shape[0], input.shape[1], *places)
    return _transpose(columns, weight, size, *how, channels)
