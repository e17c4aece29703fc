"""Normalizations: over features, over a batch, over groups of channels, over single channels.

In: [N, C, *], or [*, features]. Out: the same shape.

Source: Ioffe & Szegedy 2015, Ba et al. 2016, Wu & He 2018; torch.nn.functional.
"""

from typing import Any

from minitorch2.autograd.modes import no_grad
from minitorch2.dtypes import float32
from minitorch2.errors import ArgumentValueError
from minitorch2.nn.functional.padding import pad
from minitorch2.nn.functional.rows import row
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
    running ones.
    """
    if eps <= 0:
        raise ArgumentValueError("batch_norm", f"batch_norm eps must be positive, but got {eps}")
    if training and not input.numel():
        return _channel_norm(input, *_nothing(input), weight, bias, eps)
    if not training:
        return _channel_norm(input, running_mean, running_var, weight, bias, eps)
    count = input.numel() // input.shape[1]
    if count == 1:
        raise ArgumentValueError(
            f"batch_norm of an input of shape {list(input.shape)}",
            "Expected more than 1 value per channel when training",
            "give larger batches, or call eval() on the model",
        )
    result, mean, variance = _batch_statistics_norm(input, weight, bias, eps)
    if running_mean is not None:
        with no_grad():
            running_mean.lerp_(mean.to(running_mean.dtype), momentum)
            unbiased = variance * (count / (count - 1))
            running_var.lerp_(unbiased.to(running_var.dtype), momentum)
    return result


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
    """Each channel of each sample to mean 0 and variance 1."""
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    kind = input.dtype
    input = input.to(float32) if kind.itemsize == 2 else input
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
    return scaled(centred * (variance + eps).rsqrt(), weight, bias).to(kind)


def local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """Each element divided by the mean square of its neighbours among the channels."""
    channels = input.shape[1]
    wide = pad((input * input), [0, 0] * (input.ndim - 2) + [size // 2, (size - 1) // 2])
    total: Any = sum(wide.narrow(1, at, channels) for at in range(size))
    return input / (total * (alpha / size) + k) ** beta
