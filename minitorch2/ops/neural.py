"""Composite rows of neural networks: activations, normalizations, losses, lookups.

In: tensors as torch.nn.functional takes them. Out: tensors. `nn/functional.py` publishes them.

Source: torch.nn.functional's documentation; softmax and log_softmax subtract the (detached)
maximum, which leaves values and gradients unchanged and avoids overflow.
"""

import math

from minitorch2 import dtypes
from minitorch2.dispatch import call, unrecorded
from minitorch2.errors import (
    ArgumentValueError,
    DtypeError,
    OperationError,
    ShapeError,
    UnsupportedDtype,
)
from minitorch2.layouts import normalize_dim
from minitorch2.ops.composites import composite, rounded_together
from minitorch2.ops.elementwise import converted_back
from minitorch2.ops.infer import describe_value, unsupported
from minitorch2.ops.table import lookup


def _op(name, *args):
    return call(lookup(name), args)


def neural(signature, decomp, doc, method=False, precision="", **fields):
    """Add a composite row that nn.functional publishes."""
    name = signature.partition("(")[0]
    return composite(
        signature,
        decomp,
        doc,
        method=method,
        function=method,
        precision=precision,
        torch=f"torch.nn.functional.{name}",
        **fields,
    )


def _linear(input, weight, bias):
    if input.shape[-1:] != weight.shape[-1:]:
        raise ShapeError(
            f"linear({describe_value(input)}, weight {describe_value(weight)})",
            "mat1 and mat2 shapes cannot be multiplied: the input's last size is "
            f"{input.shape[-1] if input.ndim else 'missing'}, the layer expects "
            f"{weight.shape[-1]}",
            "change in_features or the input",
        )
    product = input @ weight.t()
    return product if bias is None else product + _op("expand", bias, tuple(product.shape[-1:]))


neural(
    "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    _linear,
    "input @ weight.T + bias.",
    precision="lower",
    same="input weight bias",
)


def _softmax_input(input, dim, dtype, name):
    """The input in the dtype wanted, row-major as the result is."""
    normalize_dim(dim, input.ndim)
    if dtype is not None:
        input = input.to(dtype)
    if not input.dtype.is_floating_point:
        raise UnsupportedDtype(
            f"{name}({describe_value(input)})",
            unsupported(name, input.dtype),
            "convert it, or pass dtype=",
        )
    return input.contiguous()


def _softmax(input, dim, dtype):
    return _softmax_of(_softmax_input(input, dim, dtype, "softmax"), dim)


@rounded_together
def _softmax_of(input, dim):
    if input.ndim and input.layout.shape[dim] == 0:
        return input.clone()
    shifted = input - input.detach().amax(dim, keepdim=True) if input.ndim else input * 0
    powers = shifted.exp()
    return powers / powers.sum(dim, keepdim=True) if input.ndim else powers


def _log_softmax(input, dim, dtype):
    return _log_softmax_of(_softmax_input(input, dim, dtype, "log_softmax"), dim)


@rounded_together
def _log_softmax_of(input, dim):
    if not input.ndim:
        return input * 0
    if input.layout.shape[dim] == 0:
        return input.clone()
    shifted = input - input.detach().amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


def _softmax_vjp(s, g):
    found = _op("softmax_backward", g.contiguous(), s.result, s.dim)
    return converted_back(found, s.input.dtype)


def _log_softmax_vjp(s, g):
    found = _op("log_softmax_backward", g.contiguous(), s.result, s.dim)
    return converted_back(found, s.input.dtype)


@rounded_together
def _softmax_slope(grad, result, dim):
    return result * (grad - (grad * result).sum(dim, keepdim=True))


@rounded_together
def _log_softmax_slope(grad, result, dim):
    return grad - result.exp() * grad.sum(dim, keepdim=True)


neural(
    "softmax(Tensor input, int dim, dtype? dtype=None) -> Tensor",
    _softmax,
    "exp(input) scaled to sum to 1 along `dim`.",
    method=True,
    vjp=_softmax_vjp,
    saves="result",
    whole=True,
)
neural(
    "log_softmax(Tensor input, int dim, dtype? dtype=None) -> Tensor",
    _log_softmax,
    "The logarithm of softmax, computed without overflow.",
    method=True,
    vjp=_log_softmax_vjp,
    saves="result",
    whole=True,
)
neural(
    "softmax_backward(Tensor grad, Tensor result, int dim) -> Tensor",
    _softmax_slope,
    "The gradient of softmax's input, from its result.",
    whole=True,
)
neural(
    "log_softmax_backward(Tensor grad, Tensor result, int dim) -> Tensor",
    _log_softmax_slope,
    "The gradient of log_softmax's input, from its result.",
    whole=True,
)


@rounded_together
def _gelu(input, approximate):
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (input + 0.044715 * (input * input * input))
        return 0.5 * input * (1 + inner.tanh())
    if approximate != "none":
        raise ArgumentValueError(
            f"gelu(approximate={approximate!r})", "no such approximation", "use 'none' or 'tanh'"
        )
    return 0.5 * input * (1 + (input * math.sqrt(0.5)).erf())


neural(
    "gelu(Tensor input, *, str approximate='none') -> Tensor",
    _gelu,
    "input times the normal distribution's cumulative function.",
    whole=True,
    accepts="f",
)
neural(
    "silu(Tensor input) -> Tensor",
    rounded_together(lambda x: x * x.sigmoid()),
    "input * sigmoid(input).",
    whole=True,
    accepts="fc",
)
neural(
    "leaky_relu(Tensor input, float negative_slope=0.01) -> Tensor",
    rounded_together(lambda x, slope: _op("where", x > 0, x, x * slope)),
    "input where positive, else input * negative_slope.",
    whole=True,
    accepts="f",
)
neural(
    "elu(Tensor input, float alpha=1.0) -> Tensor",
    rounded_together(
        lambda x, alpha: _op("where", x <= 0, _op("where", x <= 0, x, 0.0).expm1() * alpha, x)
    ),
    "input where positive, else alpha * (exp(input) - 1).",
    whole=True,
    accepts="f",
)


@rounded_together
def _softplus(x, beta, limit):
    large = x * beta > limit
    return _op("where", large, x, _op("where", large, 0.0, x * beta).exp().log1p() / beta)


neural(
    "softplus(Tensor input, float beta=1.0, float threshold=20.0) -> Tensor",
    _softplus,
    "log(1 + exp(beta * input)) / beta, linear above the threshold.",
    whole=True,
    accepts="f",
)


@rounded_together
def _logsigmoid(x):
    x = x.contiguous()
    size = _op("where", x >= 0, -x, x)
    return _op("where", x >= 0, 0.0, x) - size.exp().log1p()


neural(
    "logsigmoid(Tensor input) -> Tensor",
    _logsigmoid,
    "log(sigmoid(input)).",
    whole=True,
    accepts="f",
)


def _between(x, low, high):
    """Limited to [low, high]; unlike clamp, the bounds themselves get no gradient."""
    if x.dtype is dtypes.bool:
        raise DtypeError(
            f"hardtanh({describe_value(x)})",
            "Bool inputs not supported for hardtanh",
            "convert it first: x.float()",
        )
    if not x.dtype.is_floating_point:
        low, high = int(low), int(high)
        if low < 0 and not x.dtype.is_signed:
            raise DtypeError(
                f"hardtanh({describe_value(x)}, {low}, {high})",
                "cannot do hardtanh on an unsigned type with negative limits",
                "convert it first: x.int()",
            )
    limited = x.detach().clamp(low, high)
    if not x.dtype.is_floating_point:
        return limited
    return _op("where", _op("logical_or", x <= low, x >= high), limited, x)


def _hardtanh(x, low, high):
    if low > high:
        raise ArgumentValueError(
            f"hardtanh(min_val={low}, max_val={high})",
            "min_val cannot be greater than max_val",
            "exchange them",
        )
    return _between(x, low, high)


neural(
    "hardtanh(Tensor input, float min_val=-1.0, float max_val=1.0) -> Tensor",
    _hardtanh,
    "input limited to [min_val, max_val].",
    whole=True,
)
neural(
    "relu6(Tensor input) -> Tensor",
    lambda x: _between(x, 0.0, 6.0),
    "input limited to [0, 6].",
    whole=True,
)


def _normalized_dims(input, normalized_shape, name):
    """The last dimensions, over which a normalization goes."""
    count = len(normalized_shape)
    if tuple(input.shape[-count:]) != tuple(normalized_shape):
        raise ShapeError(
            f"{name}({describe_value(input)}, {list(normalized_shape)})",
            f"given normalized_shape={list(normalized_shape)}, expected input with "
            f"shape [*, {', '.join(map(str, normalized_shape))}]",
            "normalize over the input's last sizes",
        )
    return tuple(range(-count, 0))


def _check_scale(input, normalized_shape, op, **scales):
    for name, scale in scales.items():
        if scale is not None and tuple(scale.shape) != tuple(normalized_shape):
            raise ShapeError(
                f"{op}({describe_value(input)}, {name} {describe_value(scale)})",
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of "
                f"shape {list(scale.shape)} and normalized_shape = {list(normalized_shape)}",
                f"reshape the {name}",
            )


def check_normalized(kernel, input):
    """UnsupportedDtype for an input that is not of floats."""
    if not input.dtype.is_floating_point or input.dtype.is_stored_only:
        raise UnsupportedDtype(
            describe_value(input), unsupported(kernel, input.dtype), "convert it: x.float()"
        )


def check_parameter_dtypes(kernel, input, parameters, first=None):
    """DtypeError unless a normalization takes parameters (or None) of such dtypes.

    The dtype of `first`, else that of the first there is, says which they must have: the input's,
    or float32 where the input has 16 bits.
    """
    given = [each for each in (first, *parameters) if each is not None]
    mixed = bool(given) and given[0].dtype is not input.dtype
    if not mixed:
        check_normalized(kernel, input)
    wanted = dtypes.float32 if mixed else input.dtype
    for each in given:
        if each.dtype is not wanted:
            raise _mixed_dtypes(
                input,
                each,
                "mixed dtype (CPU): expect parameter to have scalar type of Float"
                if mixed
                else f"expected scalar type {wanted.title} but found {each.dtype.title}",
            )
    if mixed and input.dtype.itemsize != 2:
        raise _mixed_dtypes(
            input, given[0], "mixed dtype (CPU): all inputs must share same datatype."
        )


def _mixed_dtypes(input, parameter, wrong):
    return DtypeError(
        f"a normalization of {describe_value(input)} by {describe_value(parameter)}",
        wrong,
        "convert them: only 16-bit inputs may have float32 parameters, and then all must",
    )


def _layer_norm(input, normalized_shape, weight, bias, eps):
    dims = _normalized_dims(input, normalized_shape, "layer_norm")
    _check_scale(input, normalized_shape, "layer_norm", weight=weight, bias=bias)
    check_parameter_dtypes("LayerNormKernelImpl", input, (weight, bias))
    wide = widened(input.contiguous())
    centred = wide - wide.mean(dims, keepdim=True)
    variance = (centred * centred).mean(dims, keepdim=True)
    result = centred * (variance + eps).rsqrt()
    if weight is not None:
        result = result * weight
    result = result if bias is None else result + bias
    return result.to(input.dtype)


def widened(input):
    """A tensor of 16-bit floats in float32, which normalizations compute in; others as they are."""
    return input.to(dtypes.float32) if input.dtype.itemsize == 2 else input


neural(
    "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None,"
    " float eps=1e-05) -> Tensor",
    _layer_norm,
    "Zero mean and unit variance over the last dimensions, then scale and shift.",
    whole=True,
)


def _rms_norm(input, normalized_shape, weight, eps):
    _check_scale(input, normalized_shape, "rms_norm", weight=weight)
    if not input.ndim:
        raise ArgumentValueError(
            "rms_norm() of a 0-d tensor",
            "Input tensor must have at least 1 dimensions, but got 0",
            "reshape it",
        )
    dims = _normalized_dims(input, normalized_shape, "rms_norm")
    if not input.dtype.differentiable:
        raise UnsupportedDtype(
            f"rms_norm({describe_value(input)})",
            unsupported("rms_norm", input.dtype),
            "convert it: x.float()",
        )
    wide = widened(input.contiguous())
    eps = _EPSILON[wide.dtype.to_real().name] if eps is None else eps
    result = wide * ((wide * wide).mean(dims, keepdim=True) + eps).rsqrt()
    return (result if weight is None else result * weight).to(input.dtype)


_EPSILON = {"float32": 2.0**-23, "float64": 2.0**-52}  # what squares are added up in
neural(
    "rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None)"
    " -> Tensor",
    _rms_norm,
    "Unit mean square over the last dimensions, then scale.",
    whole=True,
)


def _embedding(input, weight, padding_idx):
    if weight.ndim != 2:
        raise OperationError(
            f"embedding({describe_value(input)}, weight {describe_value(weight)})",
            "'weight' must be 2-D",
            "give one row for each index",
        )
    rows = _op("index_select", weight, 0, input.reshape((-1,)))
    if padding_idx is not None:  # the padding row gets no gradient
        padding = (input.reshape((-1,)) == padding_idx % weight.shape[0]).unsqueeze(1)
        with unrecorded():  # which, other than detach, leaves a tangent
            fixed = _op("alias", rows)
        rows = _op("where", padding, fixed, rows)
    return rows.reshape((*input.shape, weight.shape[1]))


neural(
    "embedding(Tensor input, Tensor weight, int? padding_idx=None) -> Tensor",
    _embedding,
    "The rows of `weight` at the given indices.",
    whole=True,
)


def _one_hot(input, num_classes):
    if num_classes < 0:
        num_classes = int(input.max().item()) + 1
    if input.storage.block is not None and input.numel():  # while tracing, scatter must find out
        low, high = int(input.min().item()), int(input.max().item())
        if low < 0 or high >= num_classes:
            raise OperationError(
                f"one_hot(num_classes={num_classes})",
                f"Class values must be from 0 to num_classes - 1, but go from {low} to {high}",
                "raise num_classes, or check the class numbers",
            )
    zeros = _op("full", (*input.shape, num_classes), 0, dtypes.int64, input.device)
    return _op("scatter", zeros, -1, input.unsqueeze(-1), 1)


neural(
    "one_hot(Tensor input, int num_classes=-1) -> Tensor",
    _one_hot,
    "1 at the index's place, else 0, along a new last dimension.",
)


def _normalize(input, p, dim, eps):
    normalize_dim(dim, input.ndim)
    size = _op("norm", input, p, (dim,), True, None).clamp_min(eps)
    return input / size.expand(input.shape)


neural(
    "normalize(Tensor input, float p=2.0, int dim=1, float eps=1e-12) -> Tensor",
    _normalize,
    "input divided by its p-norm along `dim`.",
    whole=True,
)
