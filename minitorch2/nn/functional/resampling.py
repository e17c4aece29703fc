"""Resampling: other sizes of the last dimensions, by the nearest element or by lines between two.

In: [N, C, *sizes]. Out: [N, C, *other sizes]. Also pixel_shuffle, which trades channels for size.

Source: torch.nn.functional.interpolate; Shi et al. 2016 (pixel shuffle).
"""

import math
from typing import Any

from minitorch2.creation import tensor
from minitorch2.dtypes import int64
from minitorch2.errors import ArgumentValueError
from minitorch2.nn.functional.windows import per_dimension

_LINEAR = {"linear": 1, "bilinear": 2, "trilinear": 3}


def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """`mode`: 'nearest', 'nearest-exact', 'linear', 'bilinear' or 'trilinear'."""
    dims = input.ndim - 2
    if (size is None) == (scale_factor is None):
        raise ArgumentValueError(
            "interpolate(...)",
            "only one of size or scale_factor should be defined",
            "give the new sizes, or how many times larger they are",
        )
    if mode not in ("nearest", "nearest-exact") and _LINEAR.get(mode) != dims or antialias:
        raise ArgumentValueError(
            f"interpolate(mode={mode!r}, antialias={antialias}) of {dims} dimensions",
            "no such mode for these dimensions",
            "use 'nearest', 'nearest-exact', 'linear' (1), 'bilinear' (2) or 'trilinear' (3)",
        )
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
    for at, (wanted, factor) in enumerate(zip(per_dimension(size, dims), factors, strict=True)):
        dim, have = 2 + at, input.shape[2 + at]
        step = have / wanted if factor is None else 1 / factor
        if mode in _LINEAR:
            input = _linear(input, dim, wanted, step, bool(align_corners))
        else:
            shift = 0.5 if mode == "nearest-exact" else 0.0
            places = [min(int((i + shift) * step), have - 1) for i in range(wanted)]
            input = input.index_select(dim, tensor(places, dtype=int64))
    return input


def _linear(input: Any, dim: int, wanted: int, step: float, corners: bool) -> Any:
    """Each new element lies on the line between its two neighbours."""
    have = input.shape[dim]
    if corners:
        step = (have - 1) / (wanted - 1) if wanted > 1 else 0.0
    positions = [i * step if corners else max((i + 0.5) * step - 0.5, 0.0) for i in range(wanted)]
    lower = [min(int(position), have - 1) for position in positions]
    upper = [min(place + 1, have - 1) for place in lower]
    shares = [position - place for position, place in zip(positions, lower, strict=True)]
    weight = tensor(shares, dtype=input.dtype).reshape((-1,) + (1,) * (input.ndim - dim - 1))
    left = input.index_select(dim, tensor(lower, dtype=int64))
    right = input.index_select(dim, tensor(upper, dtype=int64))
    return left * (1 - weight) + right * weight


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
    """Channels of all groups taken in turn."""
    shape = tuple(input.shape)
    grouped = input.reshape(shape[0], groups, shape[1] // groups, *shape[2:])
    return grouped.transpose(1, 2).reshape(shape)
