"""Normalizations: over features, over a batch, over groups of channels, over single channels.

In: [N, C, *], or [*, features]. Out: the same shape.

Source: Ioffe & Szegedy 2015, Ba et al. 2016, Wu & He 2018; torch.nn.functional.
"""

from typing import Any

from minitorch2.autograd.modes import no_grad
from minitorch2.dtypes import float32
from minitorch2.errors import ArgumentValueError, OperationError
from minitorch2.nn.functional.padding import pad
from minitorch2.nn.functional.rows import row
from minitorch2.ops.outputs import into

layer_norm, rms_norm = row("layer_norm"), row("rms_norm")
_normalize, _squared_difference = row("normalize"), row("squared_difference")


def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Any = None) -> Any:
    """input divided by its p-norm along `dim`, or by `eps` where the norm is smaller."""
    found = _normalize(input, p, dim, eps)
    return found if out is None else into("normalize", out, found)


def _along_channels(vector: Any, ndim: int) -> Any:
    """A vector [C] as [1, C, 1, ...]."""
    return vector.reshape((1, -1) + (1,) * (ndim - 2))


def _wide(x: Any) -> Any:
    """16-bit floats are normalized in float32."""
    return x.to(float32) if x.dtype.itemsize == 2 else x


def _scaled(x: Any, weight: Any, bias: Any) -> Any:
    if weight is not None:
        x = x * _along_channels(weight, x.ndim)
    return x if bias is None else x + _along_channels(bias, x.ndim)


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
    running ones.
    """
    if eps <= 0:
        raise ArgumentValueError("batch_norm", f"batch_norm eps must be positive, but got {eps}")
    kind, input = input.dtype, _wide(input)
    if training and not input.numel():
        return _normalized(input, *_nothing(input), weight, bias, eps).to(kind)
    if not training:
        return _normalized(input, running_mean, running_var, weight, bias, eps).to(kind)
    dims = (0, *range(2, input.ndim))
    count = input.numel() // input.shape[1]
    if count == 1:
        raise ArgumentValueError(
            f"batch_norm of an input of shape {list(input.shape)}",
            "Expected more than 1 value per channel when training",
            "give larger batches, or call eval() on the model",
        )
    mean = input.mean(dims)
    # Around any constant c the mean square is the variance plus (mean - c) squared. With c = mean
    # that is zero, and only vectors [C] take the way back through it.
    centre = mean.detach()
    gap = mean - centre
    around = _squared_difference(input, _along_channels(centre, input.ndim)).mean(dims)
    variance = around - gap * gap
    if running_mean is not None:
        with no_grad():
            running_mean.lerp_(mean.detach().to(running_mean.dtype), momentum)
            unbiased = variance.detach() * (count / (count - 1))
            running_var.lerp_(unbiased.to(running_var.dtype), momentum)
    return _normalized(input, mean, variance, weight, bias, eps).to(kind)


def _nothing(input: Any) -> tuple[Any, Any]:
    """A mean and a variance for an input without elements; the running ones stay as they are."""
    size = (input.shape[1],)
    return input.new_zeros(size), input.new_ones(size)


def _normalized(input: Any, mean: Any, variance: Any, weight: Any, bias: Any, eps: float) -> Any:
    """(input - mean) / sqrt(variance + eps) * weight + bias, with [C] of everything but the input.

    Computed as input * scale + shift: two passes over the input, and nothing but it is saved.
    """
    scale = (variance + eps).rsqrt()
    scale = scale if weight is None else scale * weight
    shift = -mean * scale if bias is None else bias - mean * scale
    return input * _along_channels(scale, input.ndim) + _along_channels(shift, input.ndim)


def group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Each sample's groups of channels to mean 0 and variance 1."""
    if input.shape[1] % num_groups:
        raise OperationError(
            f"group_norm of {input.shape[1]} channels in {num_groups} groups",
            "Expected number of channels in input to be divisible by num_groups",
            "choose num_groups as a divisor of the channels",
        )
    grouped = _wide(input).unflatten(1, (num_groups, input.shape[1] // num_groups)).flatten(2)
    centred = grouped - grouped.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    normal = (centred * (variance + eps).rsqrt()).reshape(input.shape)
    return _scaled(normal, weight, bias).to(input.dtype)


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
    """Each channel of each sample to mean 0 and variance 1."""
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    kind, input = input.dtype, _wide(input)
    dims = tuple(range(2, input.ndim))
    mean = input.mean(dims, keepdim=True)
    centred = input - mean
    variance = (centred * centred).mean(dims, keepdim=True)
    if running_mean is not None:
        count = input.numel() // (input.shape[0] * input.shape[1])
        with no_grad():
            running_mean.lerp_(mean.detach().mean(0).reshape(-1), momentum)
            unbiased = variance.detach().mean(0).reshape(-1) * (count / (count - 1))
            running_var.lerp_(unbiased, momentum)
    return _scaled(centred * (variance + eps).rsqrt(), weight, bias).to(kind)


def local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """Each element divided by the mean square of its neighbours among the channels."""
    channels = input.shape[1]
    wide = pad((input * input), [0, 0] * (input.ndim - 2) + [size // 2, (size - 1) // 2])
    total: Any = sum(wide.narrow(1, at, channels) for at in range(size))
    return input / (total * (alpha / size) + k) ** beta
