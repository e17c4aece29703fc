"""Padding: more elements at the ends of the last dimensions.

In: a tensor and pairs (before, after), the last dimension's first. Out: a larger tensor; negative
amounts cut off.

    >>> from minitorch2 import ones
    >>> pad(ones(2), (1, 0))
    tensor([0., 1., 1.])

Source: torch.nn.functional.pad.
"""

from collections.abc import Sequence
from typing import Any

from minitorch2.creation import full
from minitorch2.errors import ArgumentValueError, OperationError, ShapeError
from minitorch2.nn.functional.rows import row
from minitorch2.ranges import arange

_cat = row("cat")


def pad(input: Any, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Any:
    """`mode`: 'constant' (with `value`), 'reflect', 'replicate' or 'circular'."""
    if len(pad) % 2 or len(pad) // 2 > input.ndim:
        raise ShapeError(
            f"pad({list(input.shape)}, {list(pad)})",
            "Padding length must be even and at most twice the number of dimensions",
            "give one pair (before, after) for each of the last dimensions",
        )
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise ArgumentValueError(
            f"pad(mode={mode!r})",
            "no such mode",
            "use 'constant', 'reflect', 'replicate' or 'circular'",
        )
    if mode != "constant" and value:
        raise OperationError(
            f"pad(mode={mode!r}, value={value})",
            f'Padding mode "{mode}" doesn\'t take in value argument',
        )
    for at in range(len(pad) // 2):
        before, after = pad[2 * at], pad[2 * at + 1]
        if before == 0 and after == 0:
            continue
        dim = input.ndim - 1 - at
        if mode == "constant":
            input = _constant(input, dim, before, after, value or 0)
        else:
            input = _indexed(input, dim, before, after, mode)
    return input


def _constant(input: Any, dim: int, before: int, after: int, value: float) -> Any:
    size = input.shape[dim]
    if before < 0 or after < 0:
        kept = size - max(-before, 0) - max(-after, 0)
        input = input.narrow(dim, max(-before, 0), kept)
    parts = [input]
    for amount, place in ((before, 0), (after, len(parts) + (before > 0))):
        if amount > 0:
            shape = (*input.shape[:dim], amount, *input.shape[dim + 1 :])
            parts.insert(place, full(shape, value, dtype=input.dtype, device=input.device))
    return _cat(parts, dim) if len(parts) > 1 else input


def _indexed(input: Any, dim: int, before: int, after: int, mode: str) -> Any:
    """The other modes repeat elements that are there: they pick indices."""
    size = input.shape[dim]
    if size + before + after < (0 if mode == "circular" else 1):
        raise ShapeError(
            f"pad({list(input.shape)}, mode={mode!r})",
            f"Negative padding value is resulting in an empty dimension: {before} and {after} "
            f"added to {size} in dimension {dim}",
            "cut off less",
        )
    limit = {"reflect": size - 1, "circular": size}.get(mode)
    if limit is not None and (before > limit or after > limit):
        raise ShapeError(
            f"pad({list(input.shape)}, mode={mode!r})",
            f"Padding size should be at most {limit} in dimension {dim}, got {before}, {after}"
            + (": Padding value causes wrapping around more than once" * (mode == "circular")),
            "pad less, or use mode='constant'",
        )
    places: Any = arange(-before, size + after)
    if mode == "replicate":
        places = places.clamp(0, size - 1)
    elif mode == "circular":  # around what is left after the cuts
        cut = max(-before, 0)
        places = (places - cut) % (size - cut - max(-after, 0)) + cut
    else:
        places = (size - 1) - ((size - 1) - places.abs()).abs()
    return input.index_select(dim, places)
