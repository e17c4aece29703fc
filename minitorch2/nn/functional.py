"""The functions of neural networks, as torch.nn.functional publishes them.

In: tensors. Out: tensors. Most are rows of the op table under torch's name; the others only adapt
torch's argument order to a row (`inplace`, `size_average`, a missing `dim`).

    >>> from minitorch2 import tensor
    >>> from minitorch2.nn import functional as F
    >>> F.relu(tensor([-1.0, 2.0]))
    tensor([0., 2.])

Source: torch.nn.functional.
"""

import warnings
from typing import Any

from minitorch2.errors import ArgumentValueError
from minitorch2.ops.table import lookup


def row(name: str) -> Any:
    """The public function of an op row."""
    return lookup(name).public


_relu, _softmax, _log_softmax = row("relu"), row("softmax"), row("log_softmax")
_dropout, _embedding = row("dropout"), row("embedding")
_nll_loss, _cross_entropy = row("nll_loss"), row("cross_entropy")
_mse_loss, _l1_loss, _smooth_l1_loss = row("mse_loss"), row("l1_loss"), row("smooth_l1_loss")
_bce, _bce_logits = row("binary_cross_entropy"), row("binary_cross_entropy_with_logits")

# ---- layers ----------------------------------------------------------------------------------

linear = row("linear")
layer_norm = row("layer_norm")
rms_norm = row("rms_norm")
one_hot = row("one_hot")
normalize = row("normalize")


def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """The rows of `weight` at the given indices; row `padding_idx` gets no gradient."""
    if max_norm is not None or scale_grad_by_freq or sparse:
        raise ArgumentValueError(
            "embedding(...)",
            "max_norm, scale_grad_by_freq and sparse gradients are not supported",
            "leave them at their defaults",
        )
    return _embedding(input, weight, padding_idx)


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Zero elements with probability `p` and scale the others by 1 / (1 - p)."""
    check_probability(p)
    return _into(input, _dropout(input, p, training), inplace)


def check_probability(p: float) -> None:
    """ArgumentValueError unless `p` is a probability."""
    if p < 0.0 or p > 1.0:
        raise ArgumentValueError(
            f"dropout(p={p})",
            f"dropout probability has to be between 0 and 1, but got {p}",
            "give the share of elements to zero",
        )


def _feature_dropout(name: str, dims: int) -> Any:
    def function(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        check_probability(p)
        channels = input.ndim - dims  # batch and channels, or channels only
        shape = (*input.shape[:channels], *((1,) * dims))
        kept = _dropout(input.new_ones(shape), p, training)
        return _into(input, input * kept if training else input, inplace)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Zero whole channels (over the last {dims} dimensions) at random."
    return function


dropout1d, dropout2d = _feature_dropout("dropout1d", 1), _feature_dropout("dropout2d", 2)
dropout3d = _feature_dropout("dropout3d", 3)


def _into(input: Any, result: Any, inplace: bool) -> Any:
    return input.copy_(result) if inplace else result


# ---- activations -----------------------------------------------------------------------------

gelu = row("gelu")
logsigmoid = row("logsigmoid")
softplus = row("softplus")
tanh, sigmoid = row("tanh"), row("sigmoid")


def relu(input: Any, inplace: bool = False) -> Any:
    """max(input, 0)."""
    return _into(input, _relu(input), inplace)


def _with_inplace(name: str) -> Any:
    """A row whose torch function has a last argument `inplace`."""
    function = row(name)

    def activation(input: Any, *args: Any, inplace: bool = False, **kwargs: Any) -> Any:
        return _into(input, function(input, *args, **kwargs), inplace)

    activation.__name__ = activation.__qualname__ = name
    activation.__doc__ = function.__doc__
    return activation


silu, leaky_relu, elu = _with_inplace("silu"), _with_inplace("leaky_relu"), _with_inplace("elu")
hardtanh, relu6 = _with_inplace("hardtanh"), _with_inplace("relu6")


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


# ---- losses ----------------------------------------------------------------------------------


def reduction_of(reduction: str, size_average: bool | None, reduce: bool | None) -> str:
    """The reduction that torch's two old arguments mean, when they are given."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """nll_loss of log_softmax(input); targets are class indices or probabilities."""
    reduction = reduction_of(reduction, size_average, reduce)
    return _cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)


def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Minus the log-probability that `input` gives to the target class."""
    reduction = reduction_of(reduction, size_average, reduce)
    return _nll_loss(input, target, weight, ignore_index, reduction)


def _warn_broadcast(name: str, input: Any, target: Any) -> None:
    if tuple(input.shape) != tuple(target.shape):
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}) in {name}: broadcasting is rarely what was meant",
            UserWarning,
            stacklevel=3,
        )


def mse_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """The squared difference, optionally weighted."""
    _warn_broadcast("mse_loss", input, target)
    reduction = reduction_of(reduction, size_average, reduce)
    if weight is None:
        return _mse_loss(input, target, reduction)
    loss = _mse_loss(input, target, "none") * weight
    if reduction == "mean":
        return loss.sum() / weight.expand(loss.shape).sum()
    return loss.sum() if reduction == "sum" else loss


def l1_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The absolute difference."""
    _warn_broadcast("l1_loss", input, target)
    return _l1_loss(input, target, reduction_of(reduction, size_average, reduce))


def smooth_l1_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    """Squared below `beta`, absolute above."""
    _warn_broadcast("smooth_l1_loss", input, target)
    return _smooth_l1_loss(input, target, reduction_of(reduction, size_average, reduce), beta)


def binary_cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Cross-entropy of probabilities."""
    return _bce(input, target, weight, reduction_of(reduction, size_average, reduce))


def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    """binary_cross_entropy of sigmoid(input), without overflow."""
    reduction = reduction_of(reduction, size_average, reduce)
    return _bce_logits(input, target, weight, reduction, pos_weight)
