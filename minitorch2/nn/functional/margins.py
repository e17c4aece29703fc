"""Losses with margins between classes: multi_margin_loss and its relatives.

In: scores [N, C] and classes. Out: one number, or one for each sample.

Source: torch.nn.functional.
"""

from typing import Any

from minitorch2.errors import ArgumentValueError, ShapeError
from minitorch2.nn.functional.losses import reduction_of
from minitorch2.nn.functional.rows import row
from minitorch2.ops.losses import reduced

_where, _logsigmoid = row("where"), row("logsigmoid")


def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """max(0, margin - score of the target + score of another class) ** p, averaged over classes."""
    if p not in (1, 2):
        raise ArgumentValueError(f"multi_margin_loss(p={p})", "only p == 1 and p == 2 supported")
    scores = input.unsqueeze(0) if input.ndim == 1 else input
    index = target.reshape(-1, 1)
    if target.ndim > 1 or index.shape[0] != scores.shape[0]:
        raise ShapeError(
            f"multi_margin_loss of scores of shape {list(input.shape)}",
            "target tensor should be 1-D with size equal to the batch: Expected target size "
            f"[{scores.shape[0]}], but got {list(target.shape)}",
            "give one class for each sample",
        )
    gap = (margin - scores.gather(1, index) + scores).clamp(min=0) ** p
    if weight is not None:
        gap = gap * weight[index]
    own = (scores * 0).detach().scatter(1, index, 1.0) == 1
    loss = _where(own, 0.0, gap).sum(1) / scores.shape[1]
    loss = loss.squeeze(0) if input.ndim == 1 else loss
    return reduced(loss, reduction_of(reduction, size_average, reduce))


def multilabel_soft_margin_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Binary cross-entropy of each class, averaged over classes."""
    loss = -(target * _logsigmoid(input) + (1 - target) * _logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return reduced(loss.mean(-1), reduction_of(reduction, size_average, reduce))


def multilabel_margin_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """max(0, 1 - score of a target + score of a class that is none); -1 ends the targets."""
    scores = input.unsqueeze(0) if input.ndim == 1 else input
    if tuple(target.shape) != tuple(input.shape):
        raise ShapeError(
            f"multilabel_margin_loss of scores of shape {list(input.shape)}",
            f"inconsistent target size: {list(target.shape)} for input of size: "
            f"{list(input.shape)}",
            "give as many targets as scores; -1 ends them",
        )
    classes = target.reshape(tuple(scores.shape))
    valid = (classes < 0).cumsum(1) == 0  # up to the first -1
    index = _where(valid, classes, 0)
    hits = (scores * 0).detach().scatter_add(1, index, valid.to(scores.dtype)) > 0
    gap = (1 - scores.gather(1, index).unsqueeze(2) + scores.unsqueeze(1)).clamp(min=0)
    counted = valid.unsqueeze(2) & ~hits.unsqueeze(1)
    loss = _where(counted, gap, 0.0).sum((1, 2)) / scores.shape[1]
    loss = loss.squeeze(0) if input.ndim == 1 else loss
    return reduced(loss, reduction_of(reduction, size_average, reduce))
