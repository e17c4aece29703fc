"""Windows: every place a kernel can take over the last dimensions of a tensor.

In: [N, C, *sizes], kernel sizes, strides, padding, dilation. Out: for each element of the kernel
the view of what it meets, which convolutions multiply and pooling compares.

Source: Dumoulin & Visin 2016, "A guide to convolution arithmetic".
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from minitorch2.errors import ShapeError
from minitorch2.nn.functional.padding import pad
from minitorch2.ops.convolution import output_size


def per_dimension(value: Any, count: int) -> tuple[int, ...]:
    """One number for each dimension, from one for all or from a sequence."""
    if hasattr(value, "__index__"):
        return (value,) * count
    values = tuple(value)
    if len(values) not in (1, count):
        raise ShapeError(
            f"{list(values)} for {count} dimensions",
            f"expected a single integer value or a list of {count} values",
            "give one number for all dimensions, or one for each",
        )
    return values * count if len(values) == 1 else values


def require_images(name: str, input: Any, count: int, sized: int | None = None) -> None:
    """ShapeError unless a pooling over `count` dimensions has [N, C, *sizes] or [C, *sizes].

    The last `sized` of the sizes may not be 0; if not given, only N may be.
    """
    asked = f"{name}(input of shape {list(input.shape)})"
    fix = "the input is [N, C, *sizes] or [C, *sizes]"
    if input.ndim not in (count + 1, count + 2):
        raise ShapeError(
            asked,
            f"{name}(): non-empty {count + 1}D or {count + 2}D (batch mode) tensor expected for "
            f"input, but got: {list(input.shape)}",
            fix,
        )
    sized = count + 1 if sized is None else sized
    if any(isinstance(size, int) and size == 0 for size in input.shape[-sized:]):
        raise ShapeError(
            asked,
            f"{name}(): Expected {count + 1}D or {count + 2}D (batch mode) tensor with optional 0 "
            f"dim batch size for input, but got: {list(input.shape)}",
            fix,
        )


def padded(input: Any, amounts: Sequence[int], value: float = 0) -> Any:
    """The last dimensions padded at both ends alike."""
    flat = [amount for each in reversed(amounts) for amount in (each, each)]
    return pad(input, flat, "constant", value)


def views(
    input: Any, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> Iterator[Any]:
    """For each element of the kernel, in order: [N, C, *places] of what it meets."""
    count = len(kernel)
    sizes = input.shape[-count:]
    places = [
        output_size(size, k, s, 0, d)
        for size, k, s, d in zip(sizes, kernel, stride, dilation, strict=True)
    ]
    if min(places) <= 0:
        raise ShapeError(
            f"a kernel of sizes {list(kernel)} on an input of shape {list(input.shape)}",
            "Kernel size can't be greater than actual input size",
            "use a smaller kernel or more padding",
        )
    for offsets in itertools.product(*[range(k) for k in kernel]):
        index: list[Any] = [...]
        for offset, place, s, d in zip(offsets, places, stride, dilation, strict=True):
            index.append(slice(offset * d, offset * d + (place - 1) * s + 1, s))
        yield input[tuple(index)]
