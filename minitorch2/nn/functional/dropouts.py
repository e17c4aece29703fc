"""Dropout: elements or whole channels zeroed at random, the others scaled up.

In: a tensor. Out: a tensor of the same shape.

Source: Srivastava et al. 2014; torch.nn.functional.
"""

from typing import Any

from minitorch2.creation import rand
from minitorch2.errors import ArgumentValueError
from minitorch2.nn.functional.rows import into, row

_dropout = row("dropout")


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Zero elements with probability `p` and scale the others by 1 / (1 - p)."""
    check_probability(p)
    return into(input, _dropout(input, p, training), inplace)


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
        return into(input, input * kept if training else input, inplace)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Zero whole channels (over the last {dims} dimensions) at random."
    return function


dropout1d, dropout2d = _feature_dropout("dropout1d", 1), _feature_dropout("dropout2d", 2)
dropout3d = _feature_dropout("dropout3d", 3)


def _alpha(name: str, doc: str, of_channels: bool) -> Any:
    def function(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
        check_probability(p)
        if not training or p == 0:
            return input
        if p == 1:
            return into(input, input * 0, inplace)
        shape = (*input.shape[:2], *((1,) * (input.ndim - 2))) if of_channels else input.shape
        kept = (rand(tuple(shape)) >= p).to(input.dtype)
        # selu(-inf) takes the place of zero; a and b keep mean 0 and variance 1.
        a = ((1 - p) * (1 + p * _SATURATED**2)) ** -0.5
        b = -a * _SATURATED * p
        return into(input, input * (kept * a) + ((1 - kept) * (_SATURATED * a) + b), inplace)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


_SATURATED = -1.7580993408473766
alpha_dropout = _alpha(
    "alpha_dropout", "Elements set to selu's limit at random; mean and variance stay.", False
)
feature_alpha_dropout = _alpha(
    "feature_alpha_dropout", "Whole channels set to selu's limit at random.", True
)
