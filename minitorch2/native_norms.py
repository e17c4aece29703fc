"""Normalizations in torch's own form: with the statistics that they computed.

In: what the functions of nn.functional take, in another order. Out: the normalized tensor, the
means and one over the standard deviations; as in torch, only those of groups have a history.

    >>> import minitorch2 as torch
    >>> out, mean, rstd = torch.native_layer_norm(torch.tensor([[1.0, 3.0]]), [2], None, None, 0.0)
    >>> out, mean, rstd
    (tensor([[-1.,  1.]]), tensor([[2.]]), tensor([[1.]]))

Source: torch's native_functions: native_layer_norm, native_group_norm, native_batch_norm.
"""

from typing import Any

from minitorch2.nn import functional as F


def _moments(grouped: Any, eps: float, dims: tuple[int, ...], keepdim: bool) -> tuple[Any, Any]:
    """Means and one over the roots of the variances, computed in float32 for 16-bit floats."""
    wide = grouped.float() if grouped.dtype.itemsize == 2 else grouped
    mean, variance = wide.mean(dims, keepdim), wide.var(dims, False, keepdim)
    return mean.to(grouped.dtype), (variance + eps).rsqrt().to(grouped.dtype)


def native_layer_norm(
    input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float
) -> tuple[Any, Any, Any]:
    """layer_norm, and the statistics of each row: [..., 1, ..., 1]."""
    result = F.layer_norm(input, tuple(normalized_shape), weight, bias, eps)
    dims = tuple(range(-len(normalized_shape), 0))
    return result, *_moments(input.detach(), eps, dims, True)


def native_group_norm(
    input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Any, Any, Any]:
    """group_norm of N samples of C channels of HxW places, and its statistics [N, group]."""
    result = F.group_norm(input, group, weight, bias, eps)
    grouped = input.reshape(N, group, C // group * HxW)
    return result, *_moments(grouped, eps, (2,), False)


def native_batch_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool,
    momentum: float, eps: float,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """batch_norm, and the statistics [C] of a batch it was trained on; else two empty vectors."""
    result = F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    if not training:
        return result, input.new_empty((0,)), input.new_empty((0,))
    return result, *_moments(input.detach(), eps, (0, *range(2, input.ndim)), False)


def constant_pad_nd(input: Any, pad: Any, value: float = 0) -> Any:
    """The tensor with `value` around it: pad(input, pad, "constant", value)."""
    return F.pad(input, list(pad), "constant", value)
