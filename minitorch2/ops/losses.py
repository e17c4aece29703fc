"""Composite rows of losses: nll_loss, cross_entropy, squared, absolute and binary ones.

In: predictions and targets as torch.nn.functional takes them. Out: one number, or one for each
prediction.

Source: torch.nn.functional's documentation.
"""

import math

import numpy

from minitorch2 import dtypes
from minitorch2.backends import primitives
from minitorch2.dispatch import call
from minitorch2.dtypes import can_cast
from minitorch2.errors import ArgumentValueError, DtypeError, OperationError, ShapeError
from minitorch2.ops.infer import describe_value
from minitorch2.ops.neural import neural
from minitorch2.ops.table import POINTWISE, defop, lookup


def _op(name, *args):
    return call(lookup(name), args)


def reduced(loss, reduction):
    """The mean or the sum of single losses, or the losses themselves."""
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    if reduction == "none":
        return loss
    raise ArgumentValueError(
        f"a loss with reduction={reduction!r}",
        f"{reduction} is not a valid value for reduction",
        "use 'mean', 'sum' or 'none'",
    )


def _nll_loss(input, target, weight, ignore_index, reduction):
    if not input.ndim:
        raise ArgumentValueError(
            f"nll_loss({describe_value(input)})",
            "Expected 1 or more dimensions (got 0)",
            "give one score for each class",
        )
    at = 1 if input.ndim > 1 else 0
    expected = tuple(input.shape[:at]) + tuple(input.shape[at + 1 :])
    if tuple(target.shape) != expected:
        batch = input.ndim > 1 and tuple(target.shape[:1]) == tuple(input.shape[:1])
        wrong = f"Expected target size {list(expected)}, got {list(target.shape)}"
        if not batch and target.ndim and input.ndim > 1:
            wrong = (
                f"Expected input batch_size ({input.shape[0]}) to match target batch_size "
                f"({target.shape[0]}): {wrong}"
            )
        raise (ShapeError if batch else ArgumentValueError)(
            f"nll_loss({describe_value(input)}, target {describe_value(target)})",
            wrong,
            "give one class index for each prediction",
        )
    if target.dtype not in (dtypes.int64, dtypes.uint8):
        raise DtypeError(
            f"nll_loss({describe_value(input)}, target {describe_value(target)})",
            f"expected target dtype to be Long or Byte, but got {target.dtype}",
            "convert: target.long()",
        )
    keep = target != ignore_index
    index = _op("where", keep, target, 0).unsqueeze(at).to(dtypes.int64)
    loss = -_op("gather", input, at, index).squeeze(at)
    scale = keep.to(input.dtype)
    if weight is not None:
        scale = scale * _op("index_select", weight, 0, index.reshape((-1,))).reshape(loss.shape)
    loss = (
        _op("where", keep, loss * scale, 0.0)
        if weight is not None
        else _op("where", keep, loss, 0.0)
    )
    if reduction == "mean":
        return loss.sum() / scale.sum()
    return reduced(loss, reduction)


_LOSS = "Tensor? weight=None, int ignore_index=-100, str reduction='mean'"
neural(
    f"nll_loss(Tensor input, Tensor target, {_LOSS}) -> Tensor",
    _nll_loss,
    "Minus the log-probability of the target class.",
    same="input weight",
    precision="full",
)


def _cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing):
    if label_smoothing > 1:
        raise OperationError(
            f"cross_entropy(label_smoothing={label_smoothing})",
            f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}",
            "give a share",
        )
    if not input.ndim:
        raise ShapeError(
            f"cross_entropy({describe_value(input)})",
            "the predictions have no dimension of classes",
            "give one score for each class",
        )
    at = 1 if input.ndim > 1 else 0
    _check_target(input, target, weight, ignore_index, input.shape[at])
    logs = _op("log_softmax", input, at, None)
    if target.dtype.is_floating_point:  # class probabilities
        if tuple(target.shape) != tuple(input.shape):
            batch = input.ndim == 1 or tuple(target.shape[:1]) == tuple(input.shape[:1])
            raise (ShapeError if batch else ArgumentValueError)(
                f"cross_entropy({describe_value(input)}, target {describe_value(target)})",
                "class probabilities must have the shape of the predictions",
                "give one probability for each class, or class indices",
            )
        return _smooth_loss(logs, target, weight, reduction, label_smoothing, at)
    loss = _op("nll_loss", logs, target, weight, ignore_index, reduction)
    if label_smoothing <= 0:
        return loss
    keep = (target != ignore_index).to(input.dtype)
    weighted = logs if weight is None else logs * _along(weight, at, logs.ndim)
    smooth = -weighted.sum(at) * keep
    if reduction == "mean":
        scale = (
            keep
            if weight is None
            else keep
            * _op(
                "index_select", weight, 0, (target * keep.to(target.dtype)).reshape((-1,))
            ).reshape(keep.shape)
        )
        smooth = smooth.sum() / scale.sum()
    else:
        smooth = reduced(smooth, reduction)
    classes = input.shape[at]
    return loss * (1 - label_smoothing) + smooth * _share(label_smoothing, classes, smooth)


def _check_target(input, target, weight, ignore_index, classes):
    """Refuse targets of the other kind: numbers of classes of a shape of probabilities ..."""
    asked = f"cross_entropy({describe_value(input)}, target {describe_value(target)})"
    if weight is not None and tuple(weight.shape) != (classes,):
        raise ShapeError(
            asked,
            f"weight tensor should be defined either for all {classes} classes or no classes but "
            f"got weight tensor of shape: {list(weight.shape)}",
        )
    if target.dtype.is_floating_point:
        if ignore_index >= 0:
            raise OperationError(asked, "ignore_index is not supported for floating point target")
        if target.ndim == input.ndim - 1:
            raise DtypeError(
                asked,
                "expected target dtype to be Long or Byte for class indices, but got "
                f"{target.dtype}",
                "convert: target.long()",
            )
    elif tuple(target.shape) == tuple(input.shape) and input.ndim > 1:
        raise DtypeError(
            asked,
            f"Expected floating point type for target with class probabilities, got {target.dtype}",
            "convert: target.float()",
        )


def _along(vector, dim, ndim):
    return vector.reshape((1,) * dim + (-1,) + (1,) * (ndim - dim - 1))


def _share(number, size, beside):
    """A number over a size, which a graph for many sizes divides when it runs.

    Beside 16-bit floats a number has more bits than a tensor has, so that the size is looked at.
    """
    if type(size) is int or beside.dtype.itemsize == 2:
        return number / size
    share = _op("full", (), number, dtypes.float64, beside.device) / size
    return _op("convert", share, beside.dtype)


def _smooth_loss(logs, target, weight, reduction, smoothing, at):
    if not logs.shape[at]:  # there are no classes
        return logs.sum() * math.nan
    if smoothing > 0:
        target = target * (1 - smoothing) + _share(smoothing, logs.shape[at], target)
    loss = logs * target
    if weight is not None:
        loss = loss * _along(weight, at, logs.ndim)
    loss = -loss.sum(at)
    if reduction == "mean":
        count = 1
        for size in loss.shape:
            count = count * size
        return loss.sum() / count
    return reduced(loss, reduction)


neural(
    f"cross_entropy(Tensor input, Tensor target, {_LOSS}, float label_smoothing=0.0) -> Tensor",
    _cross_entropy,
    "nll_loss of log_softmax; targets are class indices or probabilities.",
    whole=True,
    unread="input",
    precision="full",
)


def _squared_difference(a, b):
    difference = numpy.asarray(numpy.subtract(a, b))
    return numpy.multiply(difference, difference, out=difference)


def _squared_difference_vjp(s, g):
    a, b = (
        x.to(g.dtype) if getattr(x, "dtype", None) is dtypes.bool else x for x in (s.self, s.other)
    )
    slope = (a - b) * (g * 2)
    return slope, -slope if s.needs[1] else None


defop(
    "squared_difference(Operand self, Operand other) -> Tensor",
    POINTWISE,
    accepts="f",
    numbers="",
    eager=_squared_difference,
    expr="(self - other) * (self - other)",
    saves="self other",
    vjp=_squared_difference_vjp,
    method=False,
    function=False,
    precision="full",
    torch="torch.nn.functional.mse_loss",
    doc="(self - other)^2, of which nothing is kept but the operands.",
)


neural(
    "mse_loss(Tensor input, Tensor target, str reduction='mean') -> Tensor",
    lambda x, y, reduction: reduced(_op("squared_difference", x, y), reduction),
    "The squared difference.",
    precision="full",
    accepts="bif",
    whole=True,
)
neural(
    "l1_loss(Tensor input, Tensor target, str reduction='mean') -> Tensor",
    lambda x, y, reduction: reduced((x - y).abs(), reduction),
    "The absolute difference.",
    precision="full",
    whole=True,
    unread="input target",
)


def _smooth_l1(input, target, reduction, beta):
    if beta < 0:
        raise OperationError(
            f"smooth_l1_loss(beta={beta})",
            "smooth_l1_loss does not support negative values for beta.",
            "give a distance",
        )
    gap = input - target
    if beta == 0:
        return reduced(gap.abs(), reduction)
    near, far = gap * gap * (0.5 / beta), gap.abs() - 0.5 * beta
    return reduced(_op("where", gap.abs() < beta, near, far), reduction)


neural(
    "smooth_l1_loss(Tensor input, Tensor target, str reduction='mean', float beta=1.0) -> Tensor",
    _smooth_l1,
    "Squared below beta, absolute above.",
    precision="full",
    whole=True,
)


_log, _log1p = primitives.function("log"), primitives.function("log1p")


def _bce_vjp(s, g):
    """Finite also where a probability is exactly 0 or 1."""
    x, y = s.self, s.target
    slope = _op("maximum", (1 - x) * x, 1e-12)
    return g * (x - y) / slope, g * ((-x).log1p() - x.log())


defop(
    "bit_entropy(Operand self, Operand target) -> Tensor",
    POINTWISE,
    eager=lambda x, y: (
        (y - 1) * numpy.maximum(_log1p(numpy.asarray(-x)), -100) - y * numpy.maximum(_log(x), -100)
    ),
    expr="(target - 1) * maximum(log1p(-self), -100.0) - target * maximum(log(self), -100.0)",
    promote="float",
    saves="self target",
    vjp=_bce_vjp,
    method=False,
    function=False,
    torch="torch.nn.functional.binary_cross_entropy",
    doc="Bits wasted (in nats) on coding a bit with a wrong probability; logs stop at -100.",
)


def _same_shape(input, target, name):
    if tuple(input.shape) != tuple(target.shape):
        raise ArgumentValueError(
            f"{name}({describe_value(input)}, target {describe_value(target)})",
            f"Target size ({list(target.shape)}) must be the same as input size "
            f"({list(input.shape)})",
            "reshape one of them",
        )


def _bce(input, target, weight, reduction):
    _same_shape(input, target, "binary_cross_entropy")
    loss = _op("bit_entropy", input, target)
    return reduced(loss if weight is None else loss * weight, reduction)


def _bce_logits(input, target, weight, reduction, pos_weight):
    _same_shape(input, target, "binary_cross_entropy_with_logits")
    soft = _op("logsigmoid", input)
    if pos_weight is None:
        loss = (1 - target) * input - soft
    else:
        loss = (1 - target) * input - (1 + (pos_weight - 1) * target) * soft
    if not can_cast(loss.dtype, target.dtype):
        raise DtypeError(
            f"binary_cross_entropy_with_logits({describe_value(input)}, {describe_value(target)})",
            f"result type {loss.dtype} can't be cast to the desired output type {target.dtype}",
            "convert the target: target.float()",
        )
    loss = loss if weight is None else loss * weight
    return reduced(loss.to(target.dtype), reduction)  # torch computes in the target's memory


neural(
    "binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, "
    "str reduction='mean') -> Tensor",
    _bce,
    "Cross-entropy of probabilities; logarithms are limited to -100.",
    precision="full",
    same="input target",
    whole=True,
)
neural(
    "binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, "
    "str reduction='mean', Tensor? pos_weight=None) -> Tensor",
    _bce_logits,
    "binary_cross_entropy of sigmoid(input), without overflow.",
    precision="full",
    whole=True,
)
