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

from minitorch2.errors import OperationError
from minitorch2.nn import functional as F
from minitorch2.nn.functional.normalizations import batch_norm_parts
from minitorch2.ops.neural import widened


def _moments(grouped: Any, eps: float, dims: tuple[int, ...], keepdim: bool) -> tuple[Any, Any]:
    """Means and one over the roots of the variances, computed in float32 for 16-bit floats."""
    wide = widened(grouped)
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
    given = weight, bias, running_mean, running_var
    if training and not input.numel():
        raise OperationError(
            f"native_batch_norm of an input of shape {list(input.shape)}",
            "input tensor must have at least one element, but got input_sizes = "
            f"{list(input.shape)}",
        )
    result, mean, variance = batch_norm_parts(input, *given, training, momentum, eps)
    kept = next((each.dtype for each in given if each is not None), input.dtype)
    if not training:
        return result, input.new_empty((0,), dtype=kept), input.new_empty((0,), dtype=kept)
    return result, mean.to(kept), (variance + eps).rsqrt().to(kept)


def constant_pad_nd(input: Any, pad: Any, value: float = 0) -> Any:
    """The tensor with `value` around it: pad(input, pad, "constant", value)."""
    return F.pad(input, list(pad), "constant", value)
