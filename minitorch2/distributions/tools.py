"""What the distributions are written with: rows as functions, parameters of one shape, lazy fields.

In: numbers and tensors. Out: tensors of one shape and dtype; probabilities from scores and back.

    >>> [tuple(each.shape) for each in broadcast_all(0.0, zeros(2))]
    [(2,), (2,)]

Source: torch.distributions.utils.
"""

from collections.abc import Callable
from typing import Any

from minitorch2 import creation, functions, ranges
from minitorch2.dtypes import finfo, get_default_dtype
from minitorch2.ops.table import lookup
from minitorch2.public import public
from minitorch2.tensors import Size, Tensor


def row(name: str) -> Callable:
    """The public function of a row."""
    return lookup(name).public


where, cat, stack = row("where"), row("cat"), row("stack")
xlogy, softplus, logaddexp = row("xlogy"), row("softplus"), row("logaddexp")
gather, polygamma, matmul = row("gather"), row("polygamma"), row("matmul")
broadcast_tensors = functions.broadcast_tensors
zeros, ones, full, arange = creation.zeros, creation.ones, creation.full, ranges.arange
zeros_like, ones_like = creation.zeros_like, creation.ones_like
full_like, eye, tensor = creation.full_like, ranges.eye, creation.tensor


def broadcast_all(*values: Any) -> tuple:
    """Numbers and tensors as tensors of one shape; numbers take the tensors' dtype."""
    given = [each for each in values if isinstance(each, Tensor)]
    for each in values:
        if not isinstance(each, (Tensor, int, float, bool)):
            raise ValueError(
                "Input arguments must all be instances of Number, torch.Tensor or objects "
                f"implementing __torch_function__, got {type(each).__name__}"
            )
    dtype = given[0].dtype if given else get_default_dtype()
    tensors = [each if isinstance(each, Tensor) else tensor(each, dtype=dtype) for each in values]
    if all(each.shape == tensors[0].shape for each in tensors):
        return tuple(tensors)
    return tuple(broadcast_tensors(*tensors))


def shape_of(*numbers: Any, like: Any) -> Size:
    """() when all arguments are numbers, else the tensor's shape."""
    return Size(()) if all(isinstance(n, (int, float)) for n in numbers) else like.shape


def uniform(shape: Any, like: Any) -> Any:
    """Numbers in [tiny, 1): their logarithm is finite."""
    return public("rand")(tuple(shape), dtype=like.dtype).clamp(min=finfo(like.dtype).tiny)


def normal(shape: Any, like: Any) -> Any:
    """Standard normal numbers."""
    return like.new_empty(tuple(shape)).normal_()


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Any:
    """Standard normal numbers, for distributions outside the library."""
    return public("empty")(tuple(shape), dtype=dtype, device=device).normal_()


def clamp_probs(probs: Any) -> Any:
    """Probabilities kept away from 0 and 1 by the dtype's epsilon."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """log(p), or log(p / (1 - p)) when there are two outcomes."""
    inside = clamp_probs(probs)
    return inside.log() - (-inside).log1p() if is_binary else inside.log()


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """softmax, or sigmoid when there are two outcomes."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def sum_rightmost(value: Any, count: int) -> Any:
    """The sum over the last `count` dimensions."""
    if count == 0:
        return value
    return value.reshape((*value.shape[: value.dim() - count], -1)).sum(-1)


_sum_rightmost = sum_rightmost  # torch's name


def padded_last(value: Any, before: int, after: int, fill: float) -> Any:
    """More elements at the ends of the last dimension."""
    parts = [value]
    if before:
        parts.insert(0, value.new_full((*value.shape[:-1], before), fill))
    if after:
        parts.append(value.new_full((*value.shape[:-1], after), fill))
    return cat(parts, -1)


class lazy_property:
    """A field computed when first asked for, and kept."""

    def __init__(self, wrapped: Callable):
        self.wrapped, self.__doc__ = wrapped, wrapped.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        found = instance.__dict__[self.name] = self.wrapped(instance)
        return found
