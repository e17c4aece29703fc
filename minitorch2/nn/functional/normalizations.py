"""Normalizations: over features, over a batch, over groups of channels, over single channels.

In: [N, C, *], or [*, features]. Out: the same shape.

Source: Ioffe & Szegedy 2015, Ba et al. 2016, Wu & He 2018; torch.nn.functional.
"""

import math
from typing import Any

from minitorch2.autograd.modes import no_grad
from minitorch2.errors import ArgumentValueError, OperationError, ShapeError
from minitorch2.nn.functional.padding import pad
from minitorch2.nn.functional.rows import row
from minitorch2.ops.neural import check_normalized, check_parameter_dtypes, widened
from minitorch2.ops.normalizations import scaled
from minitorch2.ops.outputs import into

layer_norm, rms_norm = row("layer_norm"), row("rms_norm")
group_norm = row("group_norm")
_normalize, _channel_norm = row("normalize"), row("channel_norm")
_batch_statistics_norm = row("batch_statistics_norm")


def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Any = None) -> Any:
    """input divided by its p-norm along `dim`, or by `eps` where the norm is smaller."""
    found = _normalize(input, p, dim, eps)
    return found if out is None else into("normalize", out, found)


def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Each channel of [N, C, *] to mean 0 and variance 1.

    In training by the batch's own statistics, which also move the running ones; else by the
    running ones. DtypeError unless all have the input's dtype; 16-bit inputs may have parameters
    and statistics that are all float32.
    """
    if training and input.ndim > 1 and input.numel() == input.shape[1] != 0:
        raise ArgumentValueError(
            f"batch_norm of an input of shape {list(input.shape)}",
            "Expected more than 1 value per channel when training",
            "give larger batches, or call eval() on the model",
        )
    given = weight, bias, running_mean, running_var
    return batch_norm_parts(input, *given, training, momentum, eps)[0]


def batch_norm_parts(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool,
    momentum: float, eps: float,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """What batch_norm gives, and the mean and the variance [C] that it used."""
    check_normalized("batch_norm", input)
    scales, statistics = (weight, bias), (running_mean, running_var)
    _check_channels(input, weight, bias, running_mean, running_var, training)
    met = (*statistics, *scales) if training else (*scales, *statistics)
    check_parameter_dtypes("batch_norm", input, met, weight if weight is not None else bias)
    if training and eps <= 0:
        raise ArgumentValueError("batch_norm", f"batch_norm eps must be positive, but got {eps}")
    if training and not input.numel():
        mean, variance = _nothing(input)
        return _channel_norm(input, mean, variance, weight, bias, eps), mean, variance
    if not training:
        result = _channel_norm(input, running_mean, running_var, weight, bias, eps)
        return result, running_mean, running_var
    result, mean, variance = _batch_statistics_norm(input, weight, bias, eps)
    if running_mean is not None:
        count = input.numel() // input.shape[1]
        with no_grad():
            running_mean.lerp_(mean.to(running_mean.dtype), momentum)
            unbiased = variance * (count / (count - 1) if count != 1 else math.inf)
            running_var.lerp_(unbiased.to(running_var.dtype), momentum)
    return result, mean, variance


def _check_channels(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool
) -> None:
    """Statistics, weight and bias have one number for each channel; eval needs statistics."""
    given = {"running_mean": running_mean, "running_var": running_var}
    for name, each in (*given.items(), ("weight", weight), ("bias", bias)):
        if each is None and name in given and not training:
            raise OperationError("batch_norm", f"{name} must be defined in evaluation mode")
        if each is not None and each.numel() != input.shape[1]:
            raise ShapeError(
                f"batch_norm of an input of shape {list(input.shape)}",
                f"{name} should contain {input.shape[1]} elements not {each.numel()}",
                "give one number for each channel",
            )


def _nothing(input: Any) -> tuple[Any, Any]:
    """A mean and a variance for an input without elements; the running ones stay as they are."""
    size = (input.shape[1],)
    return input.new_zeros(size), input.new_ones(size)


def instance_norm(
    input: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Each channel of each sample [N, C, *] to mean 0 and variance 1.

    With use_input_stats=False by the running statistics, which may be of any dtype: they are
    converted to that of the weight. DtypeError unless weight and bias have the input's dtype, or
    float32 with 16-bit inputs.
    """
    if use_input_stats and input.ndim > 2 and math.prod(input.shape[2:]) == 1:
        raise ArgumentValueError(
            f"instance_norm of an input of shape {list(input.shape)}",
            f"Expected more than 1 spatial element when training, got input size {input.shape}",
            "give larger pictures",
        )
    if not use_input_stats and running_mean is None:
        raise OperationError(
            "instance_norm(use_input_stats=False)",
            "Expected running_mean and running_var to be defined when use_input_stats is false",
        )
    check_normalized("batch_norm", input)
    kind, common = input.dtype, (input if weight is None else weight).dtype
    statistics = [each if each is None else each.to(common) for each in (running_mean, running_var)]
    check_parameter_dtypes("batch_norm", input, (weight, bias, *statistics))
    if not use_input_stats:
        return _channel_norm(input, *statistics, weight, bias, eps)
    input = widened(input)
    dims = tuple(range(2, input.ndim))
    mean = input.mean(dims, keepdim=True)
    centred = input - mean
    variance = (centred * centred).mean(dims, keepdim=True)
    if running_mean is not None:
        count = input.numel() // (input.shape[0] * input.shape[1])
        with no_grad():
            seen = mean.detach().mean(0).reshape(-1)
            running_mean.copy_(running_mean.to(seen.dtype).lerp(seen, momentum))
            unbiased = variance.detach().mean(0).reshape(-1) * (count / (count - 1))
            running_var.copy_(running_var.to(seen.dtype).lerp(unbiased, momentum))
    return scaled(centred * (variance + eps).rsqrt(), weight, bias).to(kind)


def local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """Each element divided by the mean square of its neighbours among the channels."""
    if input.ndim < 3:
        raise ArgumentValueError(
            f"local_response_norm of an input of shape {list(input.shape)}",
            f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)",
            "the input is [N, C, *sizes]",
        )
    channels = input.shape[1]
    wide = pad((input * input), [0, 0] * (input.ndim - 2) + [size // 2, (size - 1) // 2])
    total: Any = sum(wide.narrow(1, at, channels) for at in range(size))
    return input / (total * (alpha / size) + k) ** beta
