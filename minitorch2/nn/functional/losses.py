"""Losses: how far predictions are from targets.

In: predictions and targets. Out: one number ('mean', 'sum'), or one for each ('none').

Source: torch.nn.functional.
"""

import math
import warnings
from typing import Any

from minitorch2.batching.batched import physical
from minitorch2.creation import tensor
from minitorch2.dtypes import int64
from minitorch2.errors import ArgumentValueError, DtypeError, OperationError, ShapeError
from minitorch2.nn.functional.rows import row
from minitorch2.ops.infer import can_be_read, describe_value
from minitorch2.ops.losses import reduced

_nll_loss, _cross_entropy = row("nll_loss"), row("cross_entropy")
_mse_loss, _l1_loss, _smooth_l1_loss = row("mse_loss"), row("l1_loss"), row("smooth_l1_loss")
_bce, _bce_logits = row("binary_cross_entropy"), row("binary_cross_entropy_with_logits")
_where, _norm, _logsigmoid = row("where"), row("norm"), row("logsigmoid")
cosine_similarity = row("cosine_similarity")


def reduction_of(reduction: str, size_average: bool | None, reduce: bool | None) -> str:
    """The reduction that torch's two old arguments mean, when they are given."""
    if size_average is None and reduce is None:
        return reduction
    meant = "none" if reduce is False else "sum" if size_average is False else "mean"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{meant}' instead.",
        UserWarning,
        stacklevel=3,
    )
    return meant


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
    seen = physical(input)  # every sample of a batch
    if can_be_read(seen) and not bool(((seen >= 0) & (seen <= 1)).all()):
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
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.'mean' will be changed to behave the same as 'batchmean' in the next major "
            "release.",
            UserWarning,
            stacklevel=2,
        )
    return reduced(loss, reduction_of(reduction, size_average, reduce))


def huber_loss(
    input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Any:
    """Squared below `delta`, absolute above; smooth_l1_loss times delta."""
    if delta <= 0:
        raise OperationError(
            f"huber_loss(delta={delta})",
            "huber_loss does not support non-positive values for delta.",
            "give a distance",
        )
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
    if not input1.ndim == input2.ndim == target.ndim:
        raise ShapeError(
            "margin_ranking_loss",
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} ",
        )
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
    var = _variance_of(input, var)
    if isinstance(eps, float) and not var.dtype.is_floating_point:
        raise DtypeError(
            f"gaussian_nll_loss(var of {var.dtype}, eps={eps})",
            f"result type Float can't be cast to the desired output type {var.dtype}",
            "give variances in floats: var.float()",
        )
    variance = var + (var.detach().clamp(min=eps) - var.detach())  # its gradient passes through
    loss = 0.5 * (variance.log() + (input - target) ** 2 / variance)
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


def _variance_of(input: Any, var: Any) -> Any:
    """One variance for each number, or one for each row of the last dimension."""
    if isinstance(var, float):
        var = input.new_ones(tuple(input.shape)) * var  # in floats, whatever the input
    sizes, given = tuple(input.shape), tuple(var.shape)
    if given == sizes[:-1] != sizes:
        var = var.unsqueeze(-1)
    elif len(given) != len(sizes) or any(
        v not in (n, 1) for n, v in zip(sizes, given, strict=True)
    ):
        raise ArgumentValueError(
            f"gaussian_nll_loss of shapes {list(sizes)} and {list(given)}",
            "var is of incorrect size",
            "give one variance for each number, or for each row of the last dimension",
        )
    seen = physical(var)
    if can_be_read(seen) and bool((seen < 0).any()):
        raise ArgumentValueError(
            "gaussian_nll_loss", "var has negative entry/entries", "give variances of 0 or more"
        )
    return var


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
    if target.ndim > 1 or target.ndim != input1.ndim - 1:
        wrong = "0D or 1D target tensor expected, multi-target not supported"
        if target.ndim <= 1:
            wrong = (
                f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found "
                f"inputs with sizes {list(input1.shape)} and {list(input2.shape)}."
            )
        raise ShapeError(
            f"cosine_embedding_loss of {list(input1.shape)} and target {list(target.shape)}",
            wrong,
            "give one target for each pair of vectors",
        )
    cosine = cosine_similarity(input1, input2, -1)
    loss = _where(target == 1, 1 - cosine, (cosine - margin).clamp(min=0))
    return reduced(loss, reduction_of(reduction, size_average, reduce))


def _check_margin(name: str, margin: float) -> None:
    if margin <= 0:
        raise ArgumentValueError(
            f"{name}(margin={margin})", f"margin must be greater than 0, got {margin}"
        )


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
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise ShapeError(
            "triplet_margin_loss",
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative "
            f"{negative.ndim}D inputs",
        )
    _check_margin("triplet_margin_loss", margin)
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
    _check_margin("triplet_margin_with_distance_loss", margin)
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
