"""Dropout: elements or whole channels zeroed at random, the others scaled up.

In: a tensor. Out: a tensor of the same shape.

Source: Srivastava et al. 2014; torch.nn.functional.
"""

from typing import Any

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
