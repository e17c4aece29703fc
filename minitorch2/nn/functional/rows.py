"""Access to the op table: `row("gelu")` is the public function of a row.

In: a row's name. Out: its function, or one that can also overwrite its input, as torch's
activations can.

Example: `relu = with_inplace("relu")`, then `relu(x, inplace=True)`.
"""

from typing import Any

from minitorch2.ops.table import lookup


def row(name: str) -> Any:
    """The public function of an op row."""
    return lookup(name).public


def into(input: Any, result: Any, inplace: bool) -> Any:
    """The result, or the input overwritten with it."""
    return input.copy_(result) if inplace else result


def with_inplace(name: str) -> Any:
    """A row whose torch function has a last argument `inplace`."""
    function = row(name)

    def activation(input: Any, *args: Any, inplace: bool = False, **kwargs: Any) -> Any:
        return into(input, function(input, *args, **kwargs), inplace)

    activation.__name__ = activation.__qualname__ = name
    activation.__doc__ = function.__doc__
    return activation
