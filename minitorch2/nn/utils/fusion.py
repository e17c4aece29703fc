"""Batch normalization folded into the layer before it, for inference; layers left unset.

In: a convolution or linear layer and the batch normalization behind it, both in eval mode. Out: one
layer that computes the same.

With s = gamma / sqrt(running_var + eps) per output channel, bn(W x + b) is
(s W) x + (s (b - running_mean) + beta).

Source: Markus, "Fusing batch normalization and convolution in runtime" (2018).
"""

import copy
from typing import Any

from minitorch2.autograd.modes import no_grad
from minitorch2.creation import ones_like, zeros_like
from minitorch2.errors import OperationError
from minitorch2.nn.module import Module
from minitorch2.nn.parameter import Parameter


def _folded(
    weight: Any, bias: Any, norm: tuple[Any, Any, float, Any, Any], output_dim: int
) -> tuple[Parameter, Parameter]:
    mean, variance, eps, gamma, beta = norm
    bias = zeros_like(mean) if bias is None else bias
    gamma = ones_like(mean) if gamma is None else gamma
    beta = zeros_like(mean) if beta is None else beta
    scale = gamma * (variance + eps).rsqrt()
    shape = [1] * weight.dim()
    shape[output_dim] = -1
    new_weight = (weight * scale.reshape(shape)).to(weight.dtype)
    new_bias = ((bias - mean) * scale + beta).to(bias.dtype)
    return (
        Parameter(new_weight.detach(), weight.requires_grad),
        Parameter(new_bias.detach(), weight.requires_grad),
    )


def fuse_conv_bn_weights(
    conv_w: Any,
    conv_b: Any,
    bn_rm: Any,
    bn_rv: Any,
    bn_eps: float,
    bn_w: Any,
    bn_b: Any,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the one convolution; `transpose` where channels out stand second."""
    return _folded(conv_w, conv_b, (bn_rm, bn_rv, bn_eps, bn_w, bn_b), 1 if transpose else 0)


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the one linear layer."""
    return _folded(linear_w, linear_b, (bn_rm, bn_rv, bn_eps, bn_w, bn_b), 0)


def _check(name: str, layer: Module, norm: Module) -> None:
    if layer.training or norm.training:
        raise OperationError(
            f"{name}()", "Fusion only for eval!", "call .eval() on both layers first"
        )


def _norm(bn: Any) -> tuple:
    return bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A copy of `conv` that does the work of both; both must be in eval mode."""
    _check("fuse_conv_bn_eval", conv, bn)
    fused = copy.deepcopy(conv)
    settings = (*_norm(bn), transpose)
    fused.weight, fused.bias = fuse_conv_bn_weights(fused.weight, fused.bias, *settings)
    return fused


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A copy of `linear` that does the work of both; both must be in eval mode."""
    _check("fuse_linear_bn_eval", linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise OperationError(
            "fuse_linear_bn_eval()",
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1",
        )
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(fused.weight, fused.bias, *_norm(bn))
    return fused


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A module whose parameters hold zeros instead of the usual random numbers."""
    if not issubclass(module_cls, Module):
        raise OperationError(
            f"skip_init({module_cls})", "Expected a Module", "give a subclass of nn.Module"
        )
    with no_grad():
        made = module_cls(*args, **kwargs)
        for each in made.parameters():
            each.zero_()
    return made
