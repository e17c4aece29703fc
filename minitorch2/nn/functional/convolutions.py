"""Convolutions of one, two and three dimensions, and their transposes.

In: input [N, C, *sizes], weight [out, C / groups, *kernel]. Out: [N, out, *places]. Each is one
matrix product: the windows of the input, side by side, times the weight.

    >>> from minitorch2 import ones
    >>> conv1d(ones(1, 1, 4), ones(1, 1, 2))
    tensor([[[2., 2., 2.]]])

Source: torch.nn.functional; Chellapilla et al. 2006 (convolution as matrix product).
"""

from typing import Any

from minitorch2.errors import ArgumentValueError, ShapeError
from minitorch2.nn.functional.padding import pad
from minitorch2.nn.functional.rows import row
from minitorch2.nn.functional.windows import padded, per_dimension, views

_stack = row("stack")


def _convolve(
    input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    count = weight.ndim - 2
    if input.ndim == count + 1:  # one sample without a batch dimension
        one = _convolve(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups)
        return one.squeeze(0)
    _check(input, weight, groups)
    stride, dilation = per_dimension(stride, count), per_dimension(dilation, count)
    kernel = tuple(weight.shape[2:])
    if isinstance(padding, str):
        input, padding = _padded_by_name(input, padding, kernel, stride, dilation)
    input = padded(input, per_dimension(padding, count))
    # [N, C, *places, K], with the kernel's elements last
    windows = _stack(list(views(input, kernel, stride, dilation)), -1)
    places = tuple(windows.shape[2:-1])
    n, out, each = input.shape[0], weight.shape[0], weight.shape[1]
    # [groups, N * places, C / groups * K] @ [groups, C / groups * K, out / groups]
    windows = windows.reshape(n, groups, each, -1, windows.shape[-1]).permute(1, 0, 3, 2, 4)
    rows = windows.reshape(groups, -1, each * windows.shape[-1])
    columns = weight.reshape(groups, out // groups, -1).mT
    product = (rows @ columns).reshape(groups, n, -1, out // groups)
    result = product.permute(1, 0, 3, 2).reshape((n, out, *places))
    return result if bias is None else result + bias.reshape((-1,) + (1,) * count)


def _check(input: Any, weight: Any, groups: int) -> None:
    if input.ndim != weight.ndim or input.shape[1] != weight.shape[1] * groups:
        raise ShapeError(
            f"a convolution of input {list(input.shape)} with weight {list(weight.shape)}, "
            f"groups={groups}",
            f"expected input to have {weight.shape[1] * groups} channels and "
            f"{weight.ndim} dimensions",
            "the input is [N, C, *sizes], the weight [out, C / groups, *kernel]",
        )


def _padded_by_name(
    input: Any, padding: str, kernel: tuple, stride: tuple, dilation: tuple
) -> tuple[Any, int]:
    """'valid' is no padding, 'same' as much as keeps the sizes (the odd element at the end)."""
    if padding == "valid":
        return input, 0
    if padding != "same" or set(stride) != {1}:
        raise ArgumentValueError(
            f"a convolution with padding={padding!r}, stride={stride}",
            "padding is a number, 'valid', or 'same' (which needs stride 1)",
            "give numbers",
        )
    amounts = []
    for k, d in reversed(list(zip(kernel, dilation, strict=True))):
        total = d * (k - 1)
        amounts += [total // 2, total - total // 2]
    return pad(input, amounts), 0


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
    """A convolution of the input, spread out by the stride, with the mirrored kernel."""
    count = weight.ndim - 2
    if input.ndim == count + 1:
        one = _transposed(
            input.unsqueeze(0), weight, bias, stride, padding, output_padding, groups, dilation
        )
        return one.squeeze(0)
    stride, padding = per_dimension(stride, count), per_dimension(padding, count)
    extra, dilation = per_dimension(output_padding, count), per_dimension(dilation, count)
    for at, step in enumerate(stride):
        input = _spread(input, 2 + at, step)
    amounts = []
    for at in reversed(range(count)):
        edge = dilation[at] * (weight.shape[2 + at] - 1) - padding[at]
        amounts += [edge, edge + extra[at]]
    into, each = weight.shape[0], weight.shape[1]
    mirrored = weight.flip(tuple(range(2, weight.ndim)))
    mirrored = mirrored.reshape((groups, into // groups, each, *weight.shape[2:])).transpose(1, 2)
    mirrored = mirrored.reshape((groups * each, into // groups, *weight.shape[2:]))
    return _convolve(pad(input, amounts), mirrored, bias, 1, 0, dilation, groups)


def _spread(input: Any, dim: int, step: int) -> Any:
    """`step - 1` zeros between the elements of a dimension."""
    if step == 1:
        return input
    size = input.shape[dim]
    wide = pad(input.unsqueeze(dim + 1), [0, 0] * (input.ndim - dim - 1) + [0, step - 1])
    return wide.flatten(dim, dim + 1).narrow(dim, 0, (size - 1) * step + 1)


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
