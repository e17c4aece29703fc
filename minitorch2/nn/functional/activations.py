"""Activations: functions of each element, and those that scale along a dimension.

In: a tensor. Out: a tensor of the same shape (glu halves a dimension).

Source: torch.nn.functional.
"""

import warnings
from typing import Any

from minitorch2.dtypes import FLOATING
from minitorch2.errors import DtypeError, OperationError, ShapeError, UnsupportedDtype
from minitorch2.layouts import normalize_dim
from minitorch2.nn.functional.rows import into, read, row, with_inplace
from minitorch2.ops.composites import rounded_together
from minitorch2.ops.infer import unsupported

_relu, _softmax, _log_softmax = row("relu"), row("softmax"), row("log_softmax")
_elu, _softplus, _where = row("elu"), row("softplus"), row("where")
_rand = row("rand")

gelu = row("gelu")
logsigmoid = row("logsigmoid")
softplus = row("softplus")
tanh, sigmoid = row("tanh"), row("sigmoid")


def relu(input: Any, inplace: bool = False) -> Any:
    """max(input, 0)."""
    return into(input, _relu(input), inplace)


silu, leaky_relu, elu = with_inplace("silu"), with_inplace("leaky_relu"), with_inplace("elu")
hardtanh, relu6 = with_inplace("hardtanh", by_result=True), with_inplace("relu6", by_result=True)


def softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """exp(input) scaled to sum to 1 along `dim`."""
    return _softmax(input, _implicit_dim("softmax", dim, input.ndim), dtype)


def softmin(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """softmax of -input."""
    return _softmax(-input, _implicit_dim("softmin", dim, input.ndim), dtype)


def log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """The logarithm of softmax, computed without overflow."""
    return _log_softmax(input, _implicit_dim("log_softmax", dim, input.ndim), dtype)


def _implicit_dim(name: str, dim: int | None, ndim: int) -> int:
    """torch's choice for a call without `dim`, with its warning."""
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. "
        "Change the call to include dim=X as an argument.",
        UserWarning,
        stacklevel=3,
    )
    return 0 if ndim in (0, 1, 3) else 1


# The constants for which normally distributed activations stay so through many layers.
_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def selu(input: Any, inplace: bool = False) -> Any:
    """elu with the constants that keep mean 0 and variance 1 (Klambauer et al. 2017)."""
    return into(input, _selu(read(input, inplace)), inplace)


@rounded_together
def _selu(given: Any) -> Any:
    return _elu(given, _SELU_ALPHA) * _SELU_SCALE


def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """elu that is continuously differentiable for every alpha but 0."""
    if alpha == 0:
        raise OperationError("celu(alpha=0)", "ZeroDivisionError: alpha cannot be 0 for CELU")
    _floats("celu", input)
    return into(input, _celu(input, alpha), inplace)


@rounded_together
def _celu(given: Any, alpha: float) -> Any:
    return _elu(given / alpha, 1.0) * alpha


def _floats(name: str, input: Any) -> None:
    """UnsupportedDtype for tensors of integers and bools."""
    if input.dtype.category < FLOATING:
        wrong = unsupported(name, input.dtype)
        raise UnsupportedDtype(f"{name}() of a tensor of dtype {input.dtype}", wrong)


def mish(input: Any, inplace: bool = False) -> Any:
    """input * tanh(softplus(input))."""
    return into(input, _mish(read(input, inplace)), inplace)


@rounded_together
def _mish(given: Any) -> Any:
    return given * _softplus(given).tanh()


def hardswish(input: Any, inplace: bool = False) -> Any:
    """silu with straight lines: input * clamp(input + 3, 0, 6) / 6; its slope is 0 up to -3."""
    _floats("hardswish", input)
    return into(input, _hardswish(read(input, inplace)), inplace)


@rounded_together
def _hardswish(given: Any) -> Any:
    rising = _where(given <= -3, 0.0, given)  # no slope comes from where the line is flat
    risen = rising * _where(rising < 3, rising + 3, 6.0) / 6
    return _where(given <= -3, (given * 0).detach(), risen)


def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    """sigmoid with straight lines: clamp(input + 3, 0, 6) / 6; flat from -3 and 3 on."""
    _floats("hardsigmoid", input)
    return into(input, _hardsigmoid(input), inplace)


@rounded_together
def _hardsigmoid(given: Any) -> Any:
    sloped = (given + 3) / 6
    flat = sloped.detach().clamp(0.0, 1.0)
    return _where((given > -3) & (given < 3), sloped, flat)


def softsign(input: Any) -> Any:
    """input / (1 + |input|)."""
    return input / (1 + input.abs())


def tanhshrink(input: Any) -> Any:
    """input - tanh(input)."""
    return input - input.tanh()


def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """input moved towards zero by `lambd`, zero nearer to it than that."""
    _floats("softshrink", input)
    return _where(input > lambd, input - lambd, _where(input < -lambd, input + lambd, input * 0))


def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """input, zero where it is nearer to zero than `lambd`."""
    _floats("hardshrink", input)
    return _where((input >= -lambd) & (input <= lambd), 0.0, input)


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """input where it is above the threshold, else `value`."""
    return into(input, _where(input <= threshold, float(value), input), inplace)


def prelu(input: Any, weight: Any) -> Any:
    """input where positive, else input * weight; one weight, or one for each channel."""
    return _where(input > 0, input, input * _slopes(input, weight))


def _slopes(input: Any, weight: Any) -> Any:
    """The weight of prelu as [], or as [1, C, 1, ...]."""
    asked = f"prelu(input of shape {list(input.shape)}, weight of shape {list(weight.shape)})"
    if weight.ndim > 1:
        raise ShapeError(
            asked,
            f"Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}",
            "give one weight, or one for each channel",
        )
    if weight.dtype is not input.dtype:
        raise DtypeError(
            asked,
            f"Type promoting not supported. Got {input.dtype} and {weight.dtype}",
            "convert one of them",
        )
    if weight.numel() == 1:
        return weight.reshape(())
    channels = input.shape[1] if input.ndim > 1 else 1
    if weight.shape[0] != channels:
        raise ShapeError(
            asked,
            f"Mismatch of parameter numbers and input channel size. Found parameter numbers = "
            f"{weight.shape[0]} and channel size = {channels}",
            "give one weight, or one for each channel",
        )
    return weight.reshape((1, -1) + (1,) * (input.ndim - 2))


def glu(input: Any, dim: int = -1) -> Any:
    """The first half of a dimension times sigmoid of the second."""
    if not input.ndim:
        raise OperationError(
            "glu()", "glu does not support scalars because halving size must be even"
        )
    _floats("glu", input)
    at = normalize_dim(dim, input.ndim)
    if input.shape[at] % 2:
        raise ShapeError(
            f"glu() of a tensor of shape {list(input.shape)}",
            f"Halving dimension must be even, but dimension {at} is size {input.shape[at]}",
        )
    first, second = input.chunk(2, dim)
    return first * second.sigmoid()


def rrelu(
    input: Any,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Any:
    """input where positive, else times a slope: drawn in training, else the mean of the bounds."""
    if training:
        slope = _rand(*input.shape, dtype=input.dtype) * (upper - lower) + lower
    else:
        slope = (lower + upper) / 2
    return into(input, _where(input >= 0, input, input * slope), inplace)


def gumbel_softmax(
    logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Any:
    """A random choice by `logits` that gradients can flow through (Jang et al. 2017)."""
    noise = -(-_rand(*logits.shape, dtype=logits.dtype).clamp(min=1e-20).log()).log()
    soft = _softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    index = soft.argmax(dim, keepdim=True)
    chosen = (soft * 0).detach().scatter(dim, index, 1.0)
    return chosen - soft.detach() + soft


def _written(function: Any) -> Any:
    """An activation that overwrites its input."""

    def activation(input: Any, *args: Any, **kwargs: Any) -> Any:
        return function(input, *args, inplace=True, **kwargs)

    activation.__name__ = activation.__qualname__ = f"{function.__name__}_"
    activation.__doc__ = f"{function.__name__}, written into the input."
    return activation


relu_, elu_, celu_, selu_ = _written(relu), _written(elu), _written(celu), _written(selu)
leaky_relu_, hardtanh_ = _written(leaky_relu), _written(hardtanh)
rrelu_, threshold_ = _written(rrelu), _written(threshold)
