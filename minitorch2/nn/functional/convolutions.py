"""Convolutions of one, two and three dimensions, and their transposes.

In: input [N, C, *sizes], weight [out, C / groups, *kernel]. Out: [N, out, *places]. The work is
done by the rows of `ops/convolution.py`.

    >>> from minitorch2 import ones
    >>> conv1d(ones(1, 1, 4), ones(1, 1, 2))
    tensor([[[2., 2., 2.]]])

Source: torch.nn.functional; Dumoulin & Visin 2016, "A guide to convolution arithmetic".
"""

from typing import Any

from minitorch2.errors import ArgumentTypeError, OperationError, ShapeError
from minitorch2.nn.functional.padding import pad
from minitorch2.nn.functional.rows import row
from minitorch2.nn.functional.windows import per_dimension

_product, _transpose = row("convolution"), row("convolution_to_input")


def _convolve(
    count: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Any:
    _check_sizes(f"conv{count}d", count, input, weight, groups)
    if input.ndim == count + 1:  # one sample without a batch dimension
        one = _convolve(count, input.unsqueeze(0), weight, bias, stride, padding, dilation, groups)
        return one.squeeze(0)
    stride, dilation = _steps("stride", stride, count), _steps("dilation", dilation, count)
    if isinstance(padding, str):
        input, padding = _padded_by_name(input, padding, weight.shape[2:], stride, dilation)
    padding = _steps("padding", padding, count, 0)
    return _biased(_product(input, weight, stride, padding, dilation, groups), weight, bias)


def _steps(name: str, value: Any, count: int, least: int = 1) -> tuple:
    """One number for each dimension, none of them below `least`."""
    if not hasattr(value, "__index__") and len(tuple(value)) not in (1, count):
        raise ShapeError(
            f"a convolution of {count} dimensions with {name}={list(value)}",
            f"expected {name} to be a single integer value or a list of {count} values to match "
            f"the convolution dimensions, but got {name}={list(value)}",
            "give one number for all dimensions, or one for each",
        )
    found = per_dimension(value, count)
    if any(isinstance(each, int) and each < least for each in found):
        wrong = (
            f"non-positive {name} is not supported"
            if least
            else f"negative {name} is not supported"
        )
        if name == "dilation":
            wrong = f"dilation should be greater than zero, but got {list(found)}"
        raise OperationError(f"a convolution with {name}={list(found)}", wrong)
    return found


def _check_sizes(name: str, count: int, input: Any, weight: Any, groups: Any) -> None:
    """ShapeError where the numbers of dimensions differ, or the weight is of no channels."""
    asked = f"{name} of an input {list(input.shape)} with a weight {list(weight.shape)}"
    if input.ndim not in (count + 1, count + 2):
        raise ShapeError(
            asked,
            f"Expected {count + 1}D (unbatched) or {count + 2}D (batched) input to {name}, but got "
            f"input of size: {list(input.shape)}",
            "the input is [N, C, *sizes], or [C, *sizes] for one sample",
        )
    if weight.ndim != count + 2:
        raise ShapeError(
            asked,
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight "
            f"{list(weight.shape)}, but got {input.ndim}-dimensional input of size "
            f"{list(input.shape)} instead",
            f"the weight has {count} sizes of the kernel, after the channels",
        )
    if not hasattr(groups, "__index__"):
        kind = type(groups).__name__
        raise ArgumentTypeError(asked, f"argument 'groups' must be int, not {kind}", "give an int")
    if weight.shape[0] < groups:
        raise ShapeError(
            asked,
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but "
            f"got weight of size {list(weight.shape)} instead",
        )


def _biased(result: Any, weight: Any, bias: Any) -> Any:
    if bias is None:
        return result
    if tuple(bias.shape) != (result.shape[1],):
        raise ShapeError(
            f"a convolution with a bias of shape {list(bias.shape)}",
            f"Given weight of size {list(weight.shape)}, expected bias to be 1-dimensional with "
            f"{result.shape[1]} elements, but got bias of size {list(bias.shape)} instead",
        )
    if bias.dtype is not weight.dtype:
        raise OperationError(
            f"a convolution with a bias of dtype {bias.dtype}",
            f"Input type ({weight.dtype}) and bias type ({bias.dtype}) should be the same",
            "convert the bias",
        )
    return result + bias.to(result.dtype).reshape((-1,) + (1,) * (result.ndim - 2))


def _padded_by_name(
    input: Any, padding: str, kernel: tuple, stride: tuple, dilation: tuple
) -> tuple[Any, Any]:
    """'valid' is no padding, 'same' as much as keeps the sizes (the odd element at the end)."""
    if padding == "valid":
        return input, 0
    if padding != "same" or set(stride) != {1}:
        known = padding == "same"
        raise OperationError(
            f"a convolution with padding={padding!r}, stride={stride}",
            "padding='same' is not supported for strided convolutions"
            if known
            else f"Invalid padding string: {padding!r}",
            "give numbers",
        )
    totals = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    odd = [amount for total in reversed(totals) for amount in (0, total % 2)]
    return pad(input, odd) if any(odd) else input, [total // 2 for total in totals]


def _check_transposed(count: int, input: Any, weight: Any, padding: Any, groups: int) -> None:
    """What a transposed convolution asks besides: no size of 0 but the samples'."""
    name = f"conv_transpose{count}d"
    asked = f"{name} of an input {list(input.shape)} with a weight {list(weight.shape)}"
    if isinstance(padding, str):
        raise ArgumentTypeError(
            asked, f"{name}(): argument 'padding' must be tuple of ints, not str", "give numbers"
        )
    _check_sizes(name, count, input, weight, groups)
    wrong = ""
    if _has_zero(input.shape[-count:]):
        wrong = f"Only zero batch or zero channel inputs are supported, got {list(input.shape)}"
    if _has_zero(weight.shape[2:]):
        wrong = f"kernel size should be greater than zero, but got {list(weight.shape[2:])}"
    if _has_zero(weight.shape[1:2]):
        wrong = f"non-empty weight tensor expected, but got: {list(weight.shape)}"
    if wrong:
        raise ShapeError(asked, wrong)


def _has_zero(sizes: Any) -> bool:
    return any(isinstance(each, int) and each == 0 for each in sizes)


def _transposed(
    count: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Any:
    """What a convolution with this weight would pass back to an input of the larger size."""
    _check_transposed(count, input, weight, padding, groups)
    if input.ndim == count + 1:
        how = (stride, padding, output_padding, groups, dilation)
        return _transposed(count, input.unsqueeze(0), weight, bias, *how).squeeze(0)
    stride, padding = _steps("stride", stride, count), _steps("padding", padding, count, 0)
    extra = _steps("output_padding", output_padding, count, 0)
    dilation = _steps("dilation", dilation, count)
    if any(e >= s and e >= d for e, s, d in zip(extra, stride, dilation, strict=True)):
        raise OperationError(
            f"a transposed convolution with output_padding={extra}",
            "output padding must be smaller than either stride or dilation",
            "give a smaller output_padding",
        )
    reached = [
        (n - 1) * s + d * (k - 1) + 1
        for n, k, s, d in zip(input.shape[2:], weight.shape[2:], stride, dilation, strict=True)
    ]
    size = tuple(r - 2 * p + e for r, p, e in zip(reached, padding, extra, strict=True))
    if any(isinstance(each, int) and each <= 0 for each in size):
        raise ShapeError(
            f"a transposed convolution with padding={padding}",
            f"Calculated output size per channel: {list(size)}. Output size is too small",
            "pad less",
        )
    if any(e >= s for e, s in zip(extra, stride, strict=True)):
        # A convolution of that size would have more places than the input has: what no element
        # reaches is added afterwards.
        none = (0,) * count
        full = _transpose(input, weight, tuple(reached), stride, none, dilation, groups)
        ends = reversed(list(zip(padding, extra, strict=True)))
        return _biased(pad(full, [at for p, e in ends for at in (-p, e - p)]), weight, bias)
    return _biased(_transpose(input, weight, size, stride, padding, dilation, groups), weight, bias)


def _convolution(dims: int) -> Any:
    def function(
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        return _convolve(dims, input, weight, bias, stride, padding, dilation, groups)

    function.__name__ = function.__qualname__ = f"conv{dims}d"
    function.__doc__ = f"Convolution over the last {dims} dimensions of [N, C, *sizes]."
    return function


def _transposed_convolution(dims: int) -> Any:
    def function(
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Any:
        how = (stride, padding, output_padding, groups, dilation)
        return _transposed(dims, input, weight, bias, *how)

    function.__name__ = function.__qualname__ = f"conv_transpose{dims}d"
    function.__doc__ = f"The transpose of conv{dims}d; weight [C, out / groups, *kernel]."
    return function


conv1d, conv2d, conv3d = _convolution(1), _convolution(2), _convolution(3)
conv_transpose1d = _transposed_convolution(1)
conv_transpose2d = _transposed_convolution(2)
conv_transpose3d = _transposed_convolution(3)
