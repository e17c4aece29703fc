"""Losses: how far predictions are from targets.

In: predictions and targets. Out: one number ('mean', 'sum'), or one for each ('none').

Source: torch.nn.functional.
"""

import math
import warnings
from typing import Any

from minitorch2.creation import tensor
from minitorch2.dispatch import state
from minitorch2.dtypes import int64
from minitorch2.errors import OperationError, ShapeError
from minitorch2.nn.functional.rows import row
from minitorch2.ops.infer import describe_value
from minitorch2.ops.losses import reduced
from minitorch2.tensors import Tensor

_nll_loss, _cross_entropy = row("nll_loss"), row("cross_entropy")
_mse_loss, _l1_loss, _smooth_l1_loss = row("mse_loss"), row("l1_loss"), row("smooth_l1_loss")
_bce, _bce_logits = row("binary_cross_entropy"), row("binary_cross_entropy_with_logits")
_where, _norm, _logsigmoid = row("where"), row("norm"), row("logsigmoid")
cosine_similarity = row("cosine_similarity")


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
    return _weighted(_mse_loss(input, target, "none"), weight, reduction)


def _weighted(loss: Any, weight: Any, reduction: str) -> Any:
    """Single losses times weights; the mean is that of the weights."""
    if reduction == "mean":
        return (loss * weight).sum() / weight.expand(loss.shape).sum()
    return reduced(loss * weight, reduction)


def l1_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """The absolute difference, optionally weighted."""
    _warn_broadcast("l1_loss", input, target)
    reduction = reduction_of(reduction, size_average, reduce)
    if weight is None:
        return _l1_loss(input, target, reduction)
    return _weighted(_l1_loss(input, target, "none"), weight, reduction)


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
    readable = isinstance(input, Tensor) and input.has_elements and not state.modes
    if (
        readable
        and input.storage.block is not None
        and not bool(((input >= 0) & (input <= 1)).all())
    ):
        raise OperationError(
            f"binary_cross_entropy({describe_value(input)}, ...)",
            "all elements of input should be between 0 and 1",
            "pass probabilities, or use binary_cross_entropy_with_logits",
        )
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


def kl_div(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """target * (log target - input), for log-probabilities `input`; 0 where target is 0."""
    if log_target:
        loss = target.exp() * (target - input)
    else:
        safe = _where(target == 0, 1.0, target)
        loss = _where(target == 0, target * 0, target * safe.log()) - target * input
    if reduction == "batchmean":
        return loss.sum() / input.shape[0] if input.ndim else loss
    return reduced(loss, reduction_of(reduction, size_average, reduce))


def huber_loss(
    input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Any:
    """Squared below `delta`, absolute above; smooth_l1_loss times delta."""
    loss = _smooth_l1_loss(input, target, "none", delta) * delta
    return reduced(loss if weight is None else loss * weight, reduction)


def soft_margin_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """log(1 + exp(-target * input)) for targets 1 and -1."""
    loss = -_logsigmoid(target * input)
    return reduced(loss, reduction_of(reduction, size_average, reduce))


def hinge_embedding_loss(
    input: Any,
    target: Any,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """input where the target is 1, max(0, margin - input) where it is -1."""
    near = _where(target != -1, input, 0.0)
    loss = near + _where(target != 1, (margin - input).clamp(min=0), 0.0)
    return reduced(loss, reduction_of(reduction, size_average, reduce))


def margin_ranking_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """max(0, margin - target * (input1 - input2)): input1 is to be larger where target is 1."""
    loss = (margin - target * (input1 - input2)).clamp(min=0)
    return reduced(loss, reduction_of(reduction, size_average, reduce))


def gaussian_nll_loss(
    input: Any,
    target: Any,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """Minus the log-density of the target under normal distributions N(input, var)."""
    variance = var + (var.detach().clamp(min=eps) - var.detach())  # its gradient passes through
    loss = 0.5 * (variance.log() + (input - target) ** 2 / variance)
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Minus the log-likelihood of counts; `full` adds Stirling's approximation of log(target!)."""
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss = loss + _where(target > 1, stirling, 0.0)
    return reduced(loss, reduction_of(reduction, size_average, reduce))


def pairwise_distance(
    x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    """The p-norm of x1 - x2 (+ eps) along the last dimension."""
    return _norm(x1 - x2 + eps, p, (-1,), keepdim)


def cosine_embedding_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """1 - cosine where the target is 1, max(0, cosine - margin) where it is -1."""
    cosine = cosine_similarity(input1, input2, -1)
    loss = _where(target == 1, 1 - cosine, (cosine - margin).clamp(min=0))
    return reduced(loss, reduction_of(reduction, size_average, reduce))


def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """max(0, margin + distance to the positive - distance to the negative)."""
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = far.minimum(pairwise_distance(positive, negative, p, eps))
    return reduced(
        (margin + near - far).clamp(min=0), reduction_of(reduction, size_average, reduce)
    )


def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Any = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """max(0, margin + distance to the positive - distance to the negative), for any distance."""
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return reduced((margin + near - far).clamp(min=0), reduction_of(reduction, None, None))


def pdist(input: Any, p: float = 2.0) -> Any:
    """The distances of all pairs of rows, as a vector: (0, 1), (0, 2), ... (1, 2), ..."""
    if input.ndim != 2:
        raise ShapeError(
            f"pdist() of a tensor of shape {list(input.shape)}",
            "pdist only supports 2D tensors",
            "give one row for each point",
        )
    count = input.shape[0]
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    first = tensor([i for i, _ in pairs], dtype=int64)
    second = tensor([j for _, j in pairs], dtype=int64)
    return (input.index_select(0, first) - input.index_select(0, second)).norm(p, -1)


def linear_cross_entropy(
    input: Any,
    linear_weight: Any,
    target: Any,
    *,
    linear_bias: Any = None,
    weight: Any = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Any:
    """cross_entropy of linear(input, linear_weight, linear_bias).

    `input` [N, features] or [features], `linear_weight` [classes, features], or with further
    dimensions of the loss [classes, *sizes, features]. `options` choose how torch cuts the
    computation into pieces, which changes no result; they are not read.
    """
    sizes = tuple(linear_weight.shape[:-1])
    flat = linear_weight.reshape((-1, linear_weight.shape[-1]))
    logits = input @ flat.mT
    if linear_bias is not None:
        logits = logits + linear_bias.reshape((-1,))
    logits = logits.reshape((*input.shape[:-1], *sizes))
    ignored = -100 if ignore_index is None else ignore_index
    return _cross_entropy(logits, target, weight, ignored, reduction, label_smoothing)
