"""Convolutions of one, two and three dimensions, and their transposes.

In: input [N, C, *sizes], weight [out, C / groups, *kernel]. Out: [N, out, *places]. The work is
done by the rows of `ops/convolution.py`.

    >>> from minitorch2 import ones
    >>> conv1d(ones(1, 1, 4), ones(1, 1, 2))
    tensor([[[2., 2., 2.]]])

Source: torch.nn.functional; Dumoulin & Visin 2016, "A guide to convolution arithmetic".
"""

from typing import Any

from minitorch2.errors import ArgumentValueError, OperationError, ShapeError
from minitorch2.nn.functional.padding import pad
from minitorch2.nn.functional.rows import row
from minitorch2.nn.functional.windows import per_dimension

_product, _transpose = row("convolution"), row("convolution_to_input")


def _convolve(
    input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    count = weight.ndim - 2
    if input.ndim == count + 1:  # one sample without a batch dimension
        one = _convolve(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups)
        return one.squeeze(0)
    stride, dilation = per_dimension(stride, count), per_dimension(dilation, count)
    if isinstance(padding, str):
        input, padding = _padded_by_name(input, padding, weight.shape[2:], stride, dilation)
    padding = per_dimension(padding, count)
    return _biased(_product(input, weight, stride, padding, dilation, groups), weight, bias)


def _biased(result: Any, weight: Any, bias: Any) -> Any:
    if bias is None:
        return result
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
        raise ArgumentValueError(
            f"a convolution with padding={padding!r}, stride={stride}",
            "padding is a number, 'valid', or 'same' (which needs stride 1)",
            "give numbers",
        )
    totals = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    odd = [amount for total in reversed(totals) for amount in (0, total % 2)]
    return pad(input, odd) if any(odd) else input, [total // 2 for total in totals]


def _transposed(
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
    count = weight.ndim - 2
    if input.ndim == count + 1:
        one = _transposed(
            input.unsqueeze(0), weight, bias, stride, padding, output_padding, groups, dilation
        )
        return one.squeeze(0)
    stride, padding = per_dimension(stride, count), per_dimension(padding, count)
    extra, dilation = per_dimension(output_padding, count), per_dimension(dilation, count)
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
        return _convolve(input, weight, bias, stride, padding, dilation, groups)

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
        return _transposed(input, weight, bias, stride, padding, output_padding, groups, dilation)

    function.__name__ = function.__qualname__ = f"conv_transpose{dims}d"
    function.__doc__ = f"The transpose of conv{dims}d; weight [C, out / groups, *kernel]."
    return function


conv1d, conv2d, conv3d = _convolution(1), _convolution(2), _convolution(3)
conv_transpose1d = _transposed_convolution(1)
conv_transpose2d = _transposed_convolution(2)
conv_transpose3d = _transposed_convolution(3)
