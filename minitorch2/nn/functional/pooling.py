"""Pooling: the largest, or the mean, of each window.

In: [N, C, *sizes] (or without N). Out: [N, C, *places].

    >>> from minitorch2 import arange
    >>> max_pool1d(arange(6.0).reshape(1, 1, 6), 2)
    tensor([[[1., 3., 5.]]])

Source: torch.nn.functional.
"""

import math
from typing import Any

from minitorch2.dtypes import dtype, int64
from minitorch2.errors import OperationError, ShapeError, UnsupportedDtype
from minitorch2.nn.functional.padding import pad
from minitorch2.nn.functional.rows import row
from minitorch2.nn.functional.windows import padded, per_dimension, require_images, views
from minitorch2.ops.infer import unsupported
from minitorch2.ranges import arange

_max_pool_row, _cat = row("max_pool"), row("cat")


def _extra(input: Any, kernel: tuple, stride: tuple, padding: tuple, dilation: tuple) -> list[int]:
    """Padding at the ends that gives `ceil_mode` its last, partial windows."""
    amounts = []
    settings = list(zip(kernel, stride, padding, dilation, strict=True))
    for size, (k, s, p, d) in reversed(
        list(zip(input.shape[-len(kernel) :], settings, strict=True))
    ):
        places = -(-(size + 2 * p - d * (k - 1) - 1) // s) + 1
        if (places - 1) * s >= size + p:  # the last window must start inside the input
            places -= 1
        needed = (places - 1) * s + d * (k - 1) + 1 - (size + 2 * p)
        amounts += [0, max(needed, 0)]
    return amounts


def _check_windows(**settings: tuple) -> None:
    """OperationError unless windows have a size, and steps between them and their elements.

    Padding may be 0.
    """
    if any(isinstance(each, int) and each < 0 for each in settings.pop("padding")):
        raise OperationError(
            "a pooling with a negative padding", "pad must be non-negative", "slice the input"
        )
    for name, values in settings.items():
        if any(isinstance(each, int) and each <= 0 for each in values):
            wrong = f"{name.replace('_', ' ')} should be greater than zero, but got {list(values)}"
            if name == "stride" and 0 in values:
                wrong = "stride should not be zero"
            raise OperationError(
                f"a pooling with {name}={list(values)}", wrong, "give numbers from 1 on"
            )


def _max_pool(dims: int) -> Any:
    def function(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        kernel = per_dimension(kernel_size, dims)
        steps = kernel if stride in (None, [], ()) else per_dimension(stride, dims)
        amounts, dilations = per_dimension(padding, dims), per_dimension(dilation, dims)
        _check_windows(padding=amounts, stride=steps, kernel_size=kernel, dilation=dilations)
        require_images(f"max_pool{dims}d", input, dims)
        alone = dims == 1 and not return_indices
        takes = input.dtype.letter in ("f" if alone else "if")
        row_name = "max_pool1d_impl" if alone else f"max_pool{max(dims, 2)}d"
        _check_dtype(f"max_pool{dims}d", row_name, input.dtype, takes)
        found = _max_pool_row(input, kernel, steps, amounts, dilations, ceil_mode)
        return found if return_indices else found[0]

    function.__name__ = function.__qualname__ = f"max_pool{dims}d"
    function.__doc__ = f"The largest element of each window over the last {dims} dimensions."
    return function


def _check_dtype(name: str, kernel: str, element: dtype, takes: bool) -> None:
    """UnsupportedDtype, with the name of torch's kernel, unless the pooling takes the dtype."""
    if not takes:
        raise UnsupportedDtype(
            f"{name} of a tensor of dtype {element}", unsupported(kernel, element), "use x.float()"
        )


def _check_averaged(dims: int, input: Any, kernel: tuple) -> None:
    """An error for what avg_pool does not take: dtypes without a mean, windows over everything."""
    name, element = f"avg_pool{dims}d", input.dtype
    takes = element.letter == "f" and (dims < 3 or element.itemsize >= 4) or element is int64
    _check_dtype(name, "avg_pool3d_out_frame" if dims == 3 else "avg_pool2d", element, takes)
    require_images(name, input, dims)
    sizes = input.shape[-dims:]
    if dims == 3 and any(isinstance(n, int) and k > n for n, k in zip(sizes, kernel, strict=True)):
        raise ShapeError(
            f"{name}(input of shape {list(input.shape)}, kernel_size={list(kernel)})",
            f"input image {list(sizes)} smaller than kernel size {list(kernel)}",
        )


def _avg_pool(dims: int) -> Any:
    def function(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Any:
        kernel = per_dimension(kernel_size, dims)
        steps = kernel if stride in (None, [], ()) else per_dimension(stride, dims)
        amounts, ones = per_dimension(padding, dims), (1,) * dims
        _check_windows(padding=amounts, stride=steps, kernel_size=kernel)
        _check_averaged(dims, input, kernel)
        if any(2 * p > k for p, k in zip(amounts, kernel, strict=True)):
            raise OperationError(
                f"avg_pool(kernel_size={list(kernel)}, padding={list(amounts)})",
                "pad should be at most half of effective kernel size",
                "pad less",
            )
        if divisor_override == 0:
            raise OperationError("avg_pool(divisor_override=0)", "divisor must be not zero")
        wide = padded(input, amounts)
        ends = _extra(input, kernel, steps, amounts, ones) if ceil_mode else [0, 0] * dims
        total = _summed(pad(wide, ends), kernel, steps)
        rounding = None if input.dtype.is_floating_point else "trunc"
        if divisor_override is not None:
            return total.div(divisor_override, rounding_mode=rounding)
        if not any(ends) and (count_include_pad or not any(amounts)):
            return total.div(math.prod(kernel), rounding_mode=rounding)
        # Near the ends windows hold fewer elements that count.
        flags = input.detach().new_ones(tuple(input.shape[-dims:]))
        flags = pad(padded(flags, amounts, 1.0 if count_include_pad else 0.0), ends)
        return total.div(_summed(flags, kernel, steps), rounding_mode=rounding)

    function.__name__ = function.__qualname__ = f"avg_pool{dims}d"
    function.__doc__ = f"The mean of each window over the last {dims} dimensions."
    return function


def _summed(input: Any, kernel: tuple, stride: tuple) -> Any:
    total = None
    for view in views(input, kernel, stride, (1,) * len(kernel)):
        total = view if total is None else total + view
    return total


def _adaptive(dims: int, name: str, reduce: Any) -> Any:
    def function(input: Any, output_size: Any) -> Any:
        pool = f"adaptive_{name}_pool{dims}d"
        sized = input.ndim - 1 if dims == 3 else dims
        sizes = _wanted_sizes(pool, input, output_size, dims, sized)
        for at, wanted in enumerate(sizes):
            dim = input.ndim - dims + at
            if wanted is not None:
                input = _reduced_to(input, dim, wanted, reduce)
        return input

    function.__name__ = function.__qualname__ = f"adaptive_{name}_pool{dims}d"
    function.__doc__ = f"Pooling of the last {dims} dimensions to the given sizes."
    return function


def _wanted_sizes(name: str, input: Any, output_size: Any, dims: int, sized: int) -> tuple:
    """The sizes of the result, None for those that stay; errors where they cannot be.

    The last `sized` sizes of the input may not be 0.
    """
    found = per_dimension(output_size, dims)
    if any(isinstance(each, int) and each < 0 for each in found):
        raise OperationError(
            f"{name}(output_size={list(found)})",
            "elements of output_size must be greater than or equal to 0",
        )
    require_images(name, input, dims, sized)
    kernel = name.replace("1d", "2d").replace("3d", "3d_cpu")
    _check_dtype(name, kernel, input.dtype, input.dtype.letter == "f")
    return found


def _reduced_to(input: Any, dim: int, wanted: int, reduce: Any) -> Any:
    """One dimension split into `wanted` windows, which overlap where it does not divide."""
    size = input.shape[dim]
    if isinstance(wanted, int) and wanted == 0:
        return input.narrow(dim, 0, 0)
    if size % wanted == 0:
        shape = (*input.shape[:dim], wanted, size // wanted, *input.shape[dim + 1 :])
        return reduce(input.reshape(shape), dim + 1)
    parts = []
    for place in range(wanted):
        start, end = place * size // wanted, -(-(place + 1) * size // wanted)
        parts.append(reduce(input.narrow(dim, start, end - start), dim).unsqueeze(dim))
    return _cat(parts, dim)


max_pool1d, max_pool2d, max_pool3d = _max_pool(1), _max_pool(2), _max_pool(3)
avg_pool1d, avg_pool2d, avg_pool3d = _avg_pool(1), _avg_pool(2), _avg_pool(3)
adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = (
    _adaptive(dims, "avg", lambda x, dim: x.mean(dim)) for dims in (1, 2, 3)
)


def _adaptive_max(dims: int) -> Any:
    def function(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        """Dimension after dimension, with the flat place of each maximum carried along."""
        name = f"adaptive_max_pool{dims}d"
        given = _wanted_sizes(name, input, output_size, dims, input.ndim - 1)
        sizes = tuple(input.shape[input.ndim - dims :])
        places = arange(math.prod(sizes)).reshape(sizes).expand(input.shape).contiguous()
        for at, wanted in enumerate(given):
            if wanted is not None:
                input, places = _largest(input, places, input.ndim - dims + at, wanted)
        return (input, places) if return_indices else input

    function.__name__ = function.__qualname__ = f"adaptive_max_pool{dims}d"
    function.__doc__ = f"The largest elements of the last {dims} dimensions, to the given sizes."
    return function


def _largest(input: Any, places: Any, dim: int, wanted: int) -> tuple[Any, Any]:
    size, values, found = input.shape[dim], [], []
    if isinstance(wanted, int) and wanted == 0:
        return input.narrow(dim, 0, 0), places.narrow(dim, 0, 0)
    for place in range(wanted):
        start, end = place * size // wanted, -(-(place + 1) * size // wanted)
        largest, at = input.narrow(dim, start, end - start).max(dim, True)
        values.append(largest)
        found.append(places.narrow(dim, start, end - start).gather(dim, at))
    return _cat(values, dim), _cat(found, dim)


adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = (
    _adaptive_max(dims) for dims in (1, 2, 3)
)
