"""What the user says of a tensor's sizes: this one varies, that one never does.

In: a tensor and a dimension. Out: a note on the tensor, which capture reads: a size marked dynamic
is symbolic from the first call on, within the range that was given; one marked static never is. A
mark that the program does not allow is an error that names the line.

    mark_dynamic(x, 0, min=2, max=512)

Source: torch._dynamo.mark_dynamic and mark_static.
"""

from collections.abc import Iterable

from minitorch2.errors import ArgumentValueError
from minitorch2.tensors import Tensor

DYNAMIC, STATIC = "_dynamo_dynamic_range", "_dynamo_static_indices"
Bounds = tuple[int, int | None]


def mark_dynamic(
    tensor: Tensor, index: int | Iterable[int], *, min: int | None = None, max: int | None = None
) -> None:
    """The sizes of these dimensions vary from call to call, between `min` and `max`.

    Sizes 0 and 1 are numbers all the same, and so is one that is marked static too. Raises
    ArgumentValueError where `min` is more than `max`.
    """
    if min is not None and max is not None and min > max:
        raise ArgumentValueError(
            f"mark_dynamic(tensor, {index}, min={min}, max={max})", "min is more than max"
        )
    marks = tensor.__dict__.setdefault(DYNAMIC, {})
    for place in _places(tensor, index):
        marks[place] = (2 if min is None or min < 2 else min, max)


def mark_static(tensor: Tensor, index: int | Iterable[int] | None = None) -> None:
    """The sizes of these dimensions (all: None) are never symbolic."""
    whole = range(tensor.dim()) if index is None else index
    tensor.__dict__.setdefault(STATIC, set()).update(_places(tensor, whole))


def _places(tensor: Tensor, index: int | Iterable[int]) -> list[int]:
    count = len(tensor.layout.shape)
    given = [index] if isinstance(index, int) else list(index)
    return [place + count if place < 0 else place for place in given]


def dynamic_sizes(tensor: Tensor) -> dict[int, Bounds]:
    """The dimensions that are marked as varying, with their bounds."""
    return tensor.__dict__.get(DYNAMIC, {})


def static_sizes(tensor: Tensor) -> set[int]:
    """The dimensions that are marked as fixed."""
    return tensor.__dict__.get(STATIC, set())
