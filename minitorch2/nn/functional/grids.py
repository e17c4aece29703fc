"""Sampling at places that a tensor names: affine_grid, grid_sample.

In: an image [N, C, H, W] (or a volume [N, C, D, H, W]) and places [N, *out, 2 or 3], x first, from
-1 to 1. Out: [N, C, *out].

    >>> from minitorch2 import arange, tensor
    >>> image = arange(4.0).reshape(1, 1, 2, 2)
    >>> grid_sample(image, tensor([[[[0.0, 0.0]]]]), align_corners=True)
    tensor([[[[1.5000]]]])

Source: Jaderberg et al., "Spatial transformer networks" (2015); torch.nn.functional.
"""

import itertools
from typing import Any

from minitorch2.creation import full
from minitorch2.dtypes import int64
from minitorch2.errors import ArgumentValueError, ShapeError
from minitorch2.nn.functional.rows import row
from minitorch2.ranges import arange

_where, _stack = row("where"), row("stack")


def affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Any:
    """The places theta @ (x, y, 1) for the pixels of an image of `size` [N, C, H, W].

    theta [N, 2, 3] gives [N, H, W, 2]; theta [N, 3, 4] with a volume's size gives [N, D, H, W, 3].
    """
    dims = len(size) - 2
    if tuple(theta.shape[1:]) != (dims, dims + 1):
        raise ShapeError(
            f"affine_grid(theta of shape {list(theta.shape)}, {list(size)})",
            f"Expected a batch of {dims}x{dims + 1} affine matrices of shape "
            f"Nx{dims}x{dims + 1} for size {list(size)}",
            "give one matrix for each image",
        )
    sizes = list(size[2:])
    axes = []
    for at, count in enumerate(sizes):
        line = _ends(count, bool(align_corners), theta)
        shape = [1] * dims
        shape[at] = count
        axes.append(line.reshape(shape).expand(sizes))
    ones = full(tuple(sizes), 1.0, dtype=theta.dtype)
    base = _stack([*reversed(axes), ones], -1).reshape(-1, dims + 1)
    return (base @ theta.transpose(1, 2)).reshape((theta.shape[0], *sizes, dims))


def _ends(count: int, corners: bool, like: Any) -> Any:
    """The places of `count` pixels between -1 and 1."""
    if count <= 1:
        return full((count,), 0.0, dtype=like.dtype)
    steps = arange(count, dtype=like.dtype) * (2 / (count - 1)) - 1
    return steps if corners else steps * ((count - 1) / count)


def grid_sample(
    input: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:
    """The image at the places of a grid.

    `mode`: 'bilinear', 'nearest' or (images only) 'bicubic'. Outside the image `padding_mode` finds
    'zeros', the nearest pixel ('border'), or the mirrored image ('reflection').
    """
    dims = input.ndim - 2
    _check(input, grid, mode, padding_mode, dims)
    corners = bool(align_corners)
    sizes = list(input.shape[2:])
    places = []
    for at, count in enumerate(reversed(sizes)):  # x runs along the last dimension
        x = grid[..., at]
        x = (x + 1) * ((count - 1) / 2) if corners else ((x + 1) * count - 1) / 2
        if mode != "bicubic":
            x = _outside(x, count, padding_mode, corners)
        places.append(x)
    places.reverse()
    if mode == "nearest":
        whole = [
            each.clamp(-1, count).nan_to_num(-1.0).round()
            for each, count in zip(places, sizes, strict=True)
        ]
        # The slope of round is zero: the grid has a gradient, of zeros.
        still: Any = sum((each - each.detach() for each in whole), 1.0)
        return _pixels(input, whole, sizes) * still.unsqueeze(1)
    if mode == "bicubic":
        return _bicubic(input, places, padding_mode, corners, sizes)
    lower = [each.detach().floor() for each in places]
    shares = [each - low for each, low in zip(places, lower, strict=True)]
    found = 0
    for offsets in itertools.product((0, 1), repeat=dims):
        weight: Any = 1
        for offset, share in zip(offsets, shares, strict=True):
            weight = weight * (share if offset else 1 - share)
        corner = [low + offset for low, offset in zip(lower, offsets, strict=True)]
        found = found + _pixels(input, corner, sizes) * weight.unsqueeze(1)
    return found


def _check(input: Any, grid: Any, mode: str, padding_mode: str, dims: int) -> None:
    asked = f"grid_sample({list(input.shape)}, {list(grid.shape)}, {mode!r}, {padding_mode!r})"
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ArgumentValueError(
            asked,
            "expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: " + repr(mode),
            "use one of the three",
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ArgumentValueError(
            asked,
            "expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            + repr(padding_mode),
            "use one of the three",
        )
    if dims not in (2, 3) or grid.ndim != input.ndim or grid.shape[-1] != dims:
        raise ShapeError(
            asked,
            f"expected grid to have size {dims} in last dimension, and as many dimensions as the "
            "input",
            "give a place of two numbers for images, of three for volumes",
        )
    if grid.shape[0] != input.shape[0]:
        raise ShapeError(
            asked,
            "expected grid and input to have same batch size",
            "expand one of them",
        )
    if mode == "bicubic" and dims != 2:
        raise ArgumentValueError(
            asked, "bicubic interpolation only supports 4D input", "use 'bilinear'"
        )


def _outside(x: Any, count: int, padding_mode: str, corners: bool) -> Any:
    """Places brought inside the image, as the padding mode says."""
    if padding_mode == "zeros":
        return x
    if padding_mode == "reflection":
        low, high = (0.0, float(count - 1)) if corners else (-0.5, count - 0.5)
        x = _reflected(x, low, high)
    return x.clamp(0, count - 1)


def _reflected(x: Any, low: float, high: float) -> Any:
    """Places mirrored at both ends until they are inside."""
    span = high - low
    if span == 0:
        return x * 0
    away = (x - low).abs()
    flips = (away.detach() / span).floor()
    rest = away - flips * span
    return _where(flips % 2 == 0, rest + low, span - rest + low)


def _pixels(input: Any, places: list[Any], sizes: list[int]) -> Any:
    """The pixels at whole places [N, *out] as [N, C, *out]; 0 outside."""
    inside: Any = True
    index: Any = 0
    for place, count in zip(places, sizes, strict=True):
        inside = ((place >= 0) & (place <= count - 1)) & inside
        index = index * count + place.clamp(0, count - 1).nan_to_num(0.0)
    flat = index.to(int64).reshape(input.shape[0], 1, -1).expand(-1, input.shape[1], -1)
    found = input.flatten(2).gather(2, flat)
    found = found.reshape((*input.shape[:2], *places[0].shape[1:]))
    return _where(inside.unsqueeze(1), found, 0.0)


def _bicubic(
    input: Any, places: list[Any], padding_mode: str, corners: bool, sizes: list[int]
) -> Any:
    """Four by four pixels, weighted by the cubic of -0.75."""
    (y, x), (height, width) = places, sizes
    low_y, low_x = y.detach().floor(), x.detach().floor()
    weights_y, weights_x = cubic_weights(y - low_y), cubic_weights(x - low_x)
    found: Any = 0
    for row_at in range(4):
        at_y = _outside(low_y + (row_at - 1), height, padding_mode, corners)
        line: Any = 0
        for column in range(4):
            at_x = _outside(low_x + (column - 1), width, padding_mode, corners)
            pixels = _pixels(input, [at_y, at_x], sizes)
            line = line + pixels * weights_x[column].unsqueeze(1)
        found = found + line * weights_y[row_at].unsqueeze(1)
    return found


def cubic_weights(t: Any, a: float = -0.75) -> list[Any]:
    """The weights of the four neighbours of a place t in [0, 1) behind the second."""

    def near(d: Any) -> Any:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d: Any) -> Any:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]
