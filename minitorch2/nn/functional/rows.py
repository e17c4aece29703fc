"""Access to the op table: `row("gelu")` is the public function of a row.

In: a row's name. Out: its function, or one that can also overwrite its input, as torch's
activations can.

Example: `relu = with_inplace("relu")`, then `relu(x, inplace=True)`.
"""

from typing import Any

from minitorch2.dispatch import state
from minitorch2.ops.table import lookup


def row(name: str) -> Any:
    """The public function of an op row."""
    return lookup(name).public


def into(input: Any, result: Any, inplace: bool) -> Any:
    """The result, or the input overwritten with it."""
    return input.copy_(result) if inplace else result


def read(input: Any, inplace: bool) -> Any:
    """The input, or a copy where the backward will read what the result overwrites."""
    return input.clone() if inplace and input.requires_grad and state.grad_enabled else input


def with_inplace(name: str, by_result: bool = False) -> Any:
    """A row whose torch function has a last argument `inplace`. `by_result`: its backward reads
    nothing of the input, so that none of it has to be kept."""
    function = row(name)

    def activation(input: Any, *args: Any, inplace: bool = False, **kwargs: Any) -> Any:
        given = read(input, inplace and not by_result)
        return into(input, function(given, *args, **kwargs), inplace)

    activation.__name__ = activation.__qualname__ = name
    activation.__doc__ = function.__doc__
    return activation
