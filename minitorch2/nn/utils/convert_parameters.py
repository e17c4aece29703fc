"""All parameters as one vector, and a vector written back into parameters.

In: parameters. Out: a tensor of all their elements, in order.

Source: torch.nn.utils.convert_parameters.
"""

from collections.abc import Iterable
from typing import Any

from minitorch2.errors import ArgumentTypeError
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor

_cat = lookup("cat").public


def parameters_to_vector(parameters: Iterable[Any]) -> Any:
    """A vector of all elements of all parameters."""
    return _cat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """Give each parameter its part of the vector as data."""
    if not isinstance(vec, Tensor):
        raise ArgumentTypeError(
            f"vector_to_parameters({type(vec).__name__}, ...)",
            f"expected torch.Tensor, but got: {type(vec).__name__}",
        )
    start = 0
    for parameter in parameters:
        count = parameter.numel()
        part: Any = vec[start : start + count]
        parameter.data = part.view_as(parameter).data
        start += count
