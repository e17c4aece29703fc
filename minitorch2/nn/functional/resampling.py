"""Resampling: other sizes of the last dimensions, by the nearest element or by lines between two.

In: [N, C, *sizes]. Out: [N, C, *other sizes]. Also pixel_shuffle, which trades channels for size.

Source: torch.nn.functional.interpolate; Shi et al. 2016 (pixel shuffle).
"""

import math
import warnings
from typing import Any

from minitorch2.creation import tensor
from minitorch2.dtypes import int64
from minitorch2.errors import ArgumentValueError, OperationError, ShapeError
from minitorch2.nn.functional.grids import cubic_weights
from minitorch2.nn.functional.pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
)
from minitorch2.nn.functional.windows import per_dimension

_SMOOTH = {"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2}
_MEANS = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}


def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """`mode`: 'nearest', 'nearest-exact', 'linear', 'bilinear', 'trilinear', 'bicubic' or 'area'.

    `antialias` widens the weights of 'bilinear' and 'bicubic' when an image becomes smaller.
    """
    dims = input.ndim - 2
    if (size is None) == (scale_factor is None):
        raise ArgumentValueError(
            "interpolate(...)",
            "only one of size or scale_factor should be defined",
            "give the new sizes, or how many times larger they are",
        )
    _check(mode, dims, align_corners, antialias)
    factors: tuple[Any, ...] = (None,) * dims
    if scale_factor is not None:
        factors = (
            per_dimension(scale_factor, dims)
            if not isinstance(scale_factor, float)
            else ((scale_factor,) * dims)
        )
        size = [math.floor(n * f) for n, f in zip(input.shape[2:], factors, strict=True)]
        if recompute_scale_factor:
            factors = (None,) * dims
    if mode == "area":
        return _MEANS[dims](input, size)
    for at, (wanted, factor) in enumerate(zip(per_dimension(size, dims), factors, strict=True)):
        dim, have = 2 + at, input.shape[2 + at]
        step = have / wanted if factor is None else 1 / factor
        if mode in ("nearest", "nearest-exact"):
            shift = 0.5 if mode == "nearest-exact" else 0.0
            places = [min(int((i + shift) * step), have - 1) for i in range(wanted)]
            input = input.index_select(dim, tensor(places, dtype=int64))
            continue
        corners = bool(align_corners)
        if corners:
            step = (have - 1) / (wanted - 1) if wanted > 1 else 0.0
        if antialias:
            input = _smoothed(input, dim, wanted, step, mode == "bicubic")
        elif mode == "bicubic":
            input = _cubic(input, dim, wanted, step, corners)
        else:
            input = _linear(input, dim, wanted, step, corners)
    return input


def _check(mode: str, dims: int, align_corners: Any, antialias: bool) -> None:
    asked = f"interpolate(mode={mode!r}, antialias={antialias}) of {dims} dimensions"
    known = mode in ("nearest", "nearest-exact", "area") or _SMOOTH.get(mode) == dims
    if not known or (antialias and mode not in ("bilinear", "bicubic")):
        raise ArgumentValueError(
            asked,
            "no such mode for these dimensions",
            "use 'nearest', 'nearest-exact', 'area', 'linear' (1), 'bilinear', 'bicubic' (2) or "
            "'trilinear' (3); antialias with 'bilinear' and 'bicubic'",
        )
    if align_corners is not None and mode not in _SMOOTH:
        raise ArgumentValueError(
            asked,
            "align_corners option can only be set with the interpolating modes: linear | bilinear "
            "| bicubic | trilinear",
            "leave align_corners out",
        )


def _positions(wanted: int, step: float, corners: bool) -> list[float]:
    return [i * step if corners else (i + 0.5) * step - 0.5 for i in range(wanted)]


def _column(values: list[float], input: Any, dim: int) -> Any:
    """One weight for each index of a dimension."""
    return tensor(values, dtype=input.dtype).reshape((-1,) + (1,) * (input.ndim - dim - 1))


def _linear(input: Any, dim: int, wanted: int, step: float, corners: bool) -> Any:
    """Each new element lies on the line between its two neighbours."""
    have = input.shape[dim]
    positions = [max(position, 0.0) for position in _positions(wanted, step, corners)]
    lower = [min(int(position), have - 1) for position in positions]
    upper = [min(place + 1, have - 1) for place in lower]
    shares = [position - place for position, place in zip(positions, lower, strict=True)]
    weight = _column(shares, input, dim)
    left = input.index_select(dim, tensor(lower, dtype=int64))
    right = input.index_select(dim, tensor(upper, dtype=int64))
    return left * (1 - weight) + right * weight


def _cubic(input: Any, dim: int, wanted: int, step: float, corners: bool) -> Any:
    """Each new element lies on the cubic through its four neighbours."""
    have, found = input.shape[dim], 0
    positions = _positions(wanted, step, corners)
    lower = [math.floor(position) for position in positions]
    weights = [cubic_weights(p - low) for p, low in zip(positions, lower, strict=True)]
    for at in range(4):
        places = [min(max(low + at - 1, 0), have - 1) for low in lower]
        taken = input.index_select(dim, tensor(places, dtype=int64))
        found = found + taken * _column([each[at] for each in weights], input, dim)
    return found


def _smoothed(input: Any, dim: int, wanted: int, step: float, cubic: bool) -> Any:
    """Each new element is the mean of all pixels below it, weighted by a triangle or a cubic."""
    have, scale = input.shape[dim], max(step, 1.0)
    reach = (2.0 if cubic else 1.0) * scale
    table = []
    for i in range(wanted):
        center = step * (i + 0.5)
        first = max(int(center - reach + 0.5), 0)
        last = min(int(center + reach + 0.5), have)
        weights = [0.0] * have
        for place in range(first, last):
            weights[place] = _filter((place + 0.5 - center) / scale, cubic)
        total = sum(weights)
        table.append([weight / total for weight in weights])
    matrix = tensor(table, dtype=input.dtype)
    return (input.movedim(dim, -1) @ matrix.T).movedim(-1, dim)


def _filter(x: float, cubic: bool) -> float:
    x = abs(x)
    if not cubic:
        return max(1.0 - x, 0.0)
    if x < 1:
        return ((-0.5 + 2) * x - (-0.5 + 3)) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * -0.5 if x < 2 else 0.0


def upsample(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Any:
    """The old name of interpolate."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """[*, C * r * r, H, W] as [*, C, H * r, W * r]."""
    r = upscale_factor
    *rest, channels, height, width = input.shape
    split = input.reshape((*rest, channels // (r * r), r, r, height, width))
    at = len(rest)
    order = (*range(at), at, at + 3, at + 1, at + 4, at + 2)
    return split.permute(order).reshape((*rest, channels // (r * r), height * r, width * r))


def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """[*, C, H * r, W * r] as [*, C * r * r, H, W]."""
    r = downscale_factor
    *rest, channels, height, width = input.shape
    split = input.reshape((*rest, channels, height // r, r, width // r, r))
    at = len(rest)
    order = (*range(at), at, at + 2, at + 4, at + 1, at + 3)
    return split.permute(order).reshape((*rest, channels * r * r, height // r, width // r))


def channel_shuffle(input: Any, groups: int) -> Any:
    """Channels of all groups taken in turn: [N, C, *sizes], C a multiple of `groups`."""
    shape = tuple(input.shape)
    asked = f"channel_shuffle(input of shape {list(shape)}, {groups})"
    if len(shape) < 3:
        raise ShapeError(
            asked,
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}",
            "the input is [N, C, *sizes]",
        )
    if groups <= 0:
        raise OperationError(
            asked,
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}",
        )
    if shape[1] % groups:
        raise ShapeError(
            asked,
            f"Number of channels must be divisible by groups. Got {shape[1]} channels and {groups} "
            "groups.",
        )
    grouped = input.reshape(shape[0], groups, shape[1] // groups, *shape[2:])
    return grouped.transpose(1, 2).reshape(shape)


native_channel_shuffle = channel_shuffle  # torch's name for its quicker kernel


def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """interpolate(mode='nearest'), which took its place."""
    _warn_of_older("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """interpolate(mode='bilinear', align_corners=True), which took its place."""
    _warn_of_older("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def _warn_of_older(name: str) -> None:
    warnings.warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=3,
    )
