"""Composite rows that normalize channels: of a batch, by given statistics, in groups.

In: a tensor [N, C, *], and a scale and a shift [C], or None. Out: a tensor of the input's shape;
16-bit floats are normalized in float32. `nn/functional/normalizations.py` publishes them.

Source: Ioffe & Szegedy 2015, Wu & He 2018.
"""

from typing import Any

from minitorch2.dispatch import call
from minitorch2.errors import ArgumentValueError, OperationError, ShapeError
from minitorch2.formats import channels_last, channels_last_3d, laid_out_as
from minitorch2.layouts import element_count
from minitorch2.ops.infer import describe_value
from minitorch2.ops.neural import check_parameter_dtypes, neural, widened
from minitorch2.ops.table import lookup


def along_channels(vector: Any, ndim: int) -> Any:
    """A vector [C] as [1, C, 1, ...]."""
    return vector.reshape((1, -1) + (1,) * (ndim - 2))


def scaled(x: Any, weight: Any, bias: Any) -> Any:
    """x * weight + bias, with [C] of each."""
    if weight is not None:
        x = x * along_channels(weight, x.ndim)
    return x if bias is None else x + along_channels(bias, x.ndim)


def _channel_norm(input: Any, mean: Any, variance: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Computed as input * scale + shift: two passes over the input, and only it is saved."""
    wide, mean = widened(input), widened(mean)
    scale = (widened(variance) + eps).rsqrt()
    scale = scale if weight is None else scale * widened(weight)
    shift = -mean * scale if bias is None else widened(bias) - mean * scale
    result = wide * along_channels(scale, wide.ndim) + along_channels(shift, wide.ndim)
    return result.to(input.dtype)


neural(
    "channel_norm(Tensor input, Tensor mean, Tensor variance, Tensor? weight, Tensor? bias,"
    " float eps) -> Tensor",
    _channel_norm,
    "(input - mean) / sqrt(variance + eps) * weight + bias, with [C] of everything but the input.",
    whole=True,
)


def _batch_statistics_norm(input: Any, weight: Any, bias: Any, eps: float) -> tuple:
    if not any(laid_out_as(input.layout, each) for each in (channels_last, channels_last_3d)):
        input = input.contiguous()
    wide = widened(input)
    dims = (0, *range(2, wide.ndim))
    mean = wide.mean(dims)
    # Around any constant c the mean square is the variance plus (mean - c) squared. With c = mean
    # that is zero, and only vectors [C] take the way back through it.
    centre = mean.detach()
    gap = mean - centre
    square = lookup("squared_difference")
    around = call(square, (wide, along_channels(centre, wide.ndim))).mean(dims)
    variance = around - gap * gap
    result = _channel_norm(wide, mean, variance, weight, bias, eps).to(input.dtype)
    return result, mean.detach(), variance.detach()


neural(
    "batch_statistics_norm(Tensor input, Tensor? weight, Tensor? bias, float eps)"
    " -> (Tensor, Tensor, Tensor)",
    _batch_statistics_norm,
    "channel_norm by the batch's own mean and variance, and these two, without history.",
    whole=True,
)


def _check_groups(input: Any, num_groups: int, weight: Any, bias: Any) -> None:
    asked = f"group_norm({describe_value(input)}, num_groups={num_groups})"
    if input.ndim < 2:
        raise OperationError(
            asked,
            f"Expected at least 2 dimensions for input tensor but received {input.ndim}",
            "give [N, C, *]",
        )
    samples, channels, *rest = input.shape
    if element_count((samples * channels // num_groups, *rest)) == 1:
        raise ArgumentValueError(
            asked, "Expected more than 1 value per channel when training", "give larger inputs"
        )
    if channels % num_groups:
        raise OperationError(
            asked,
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"{channels} channels",
            "choose num_groups as a divisor of the channels",
        )
    for name, scale in (("weight", weight), ("bias", bias)):
        if scale is None:
            continue
        if tuple(scale.shape) != (channels,):
            raise ShapeError(
                f"{asked} with {name} {describe_value(scale)}",
                f"Expected {name} to be a vector of size equal to the number of channels in input",
                f"give {channels} numbers",
            )
    check_parameter_dtypes("GroupNormKernelImpl", input, (weight, bias))


def _group_norm(input: Any, num_groups: int, weight: Any, bias: Any, eps: float) -> Any:
    _check_groups(input, num_groups, weight, bias)
    grouped = (
        widened(input.contiguous())
        .unflatten(1, (num_groups, input.shape[1] // num_groups))
        .flatten(2)
    )
    centred = grouped - grouped.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    normal = (centred * (variance + eps).rsqrt()).reshape(input.shape)
    return scaled(normal, weight, bias).to(input.dtype)


neural(
    "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None,"
    " float eps=1e-05) -> Tensor",
    _group_norm,
    "Each sample's groups of channels to mean 0 and variance 1, then scale and shift.",
    whole=True,
)
