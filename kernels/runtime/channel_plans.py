"""Tables for convolutions with many channels: what a unit of work copies and which tiles it makes.

In: sizes, settings and how many units are wanted. Out: a Plan, whose tables are those of
channel_code.py. A plane is a channel of the input with zeros around it; a band is a stretch of the
places along their first dimension, with the part of the planes that their windows cover.

    >>> plan = forward_plan((8, 8), (3, 3), (1, 1), (1, 1), (1, 1), 1, 2)
    >>> plan.counts, len(plan.bands), plan.span, plan.tiles[:2].tolist()
    ((8, 8), 2, 60, [[0, 0, 8], [10, 8, 8]])

Source: minitorch2.kernels.runtime.convolutions for the arithmetic of windows.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from minitorch2.kernels.runtime.channel_code import BAND, COPY, PART, TILE
from minitorch2.kernels.runtime.windows import Sizes, input_meets, strides_of

CACHED = 48_000  # numbers of a band's planes, so that they stay in the cache


@dataclass(frozen=True, slots=True)
class Part:
    """Places whose windows have the same shape, of the result or of one remainder of it."""

    taps: Sizes  # which elements of the kernel take part
    moves: tuple[Sizes, ...]  # where each lies, from the first element of the window
    counts: Sizes  # of places
    step: Sizes  # positions between the windows of neighbours
    target: Sizes  # elements between the results of neighbours
    first: int  # where the first result goes


@dataclass(frozen=True, slots=True)
class Plan:
    """Tables of words, and the numbers beside them."""

    parts: tuple[Part, ...]
    counts: Sizes  # places of the first part
    copied: bool  # whether planes are copies; else they are the input's channels
    span: int  # elements of a channel in them
    offsets: np.ndarray
    bands: np.ndarray
    part_table: np.ndarray
    tiles: np.ndarray
    copies: np.ndarray
    pixel_bands: np.ndarray  # bands whose first and last are places of the first part
    pixels: np.ndarray  # where the window of each place lies, for the first part
    most_pixels: int


@dataclass(frozen=True, slots=True)
class _Planes:
    """Sizes of a channel, zeros in front of it, sizes with all zeros."""

    sizes: Sizes
    front: Sizes
    lengths: Sizes

    @property
    def copied(self) -> bool:
        return self.lengths != self.sizes

    def copies(self, first: int, last: int) -> Iterator[list[int]]:
        """(from, to, count) of what lies between two positions of the first dimension."""
        begin, end = max(0, first - self.front[0]), min(self.sizes[0], last - self.front[0])
        strides, inside = strides_of(self.lengths), strides_of(self.sizes)
        start = sum(f * s for f, s in zip(self.front, strides, strict=True)) - first * strides[0]
        if len(self.sizes) == 1:
            yield [begin, begin + start, end - begin]
            return
        outer = (max(end - begin, 0), *self.sizes[1:-1])
        grid = np.indices(outer).reshape(len(outer), -1)
        grid[0] += begin
        froms, tos = np.array(inside[:-1]) @ grid, np.array(strides[:-1]) @ grid + start
        yield from ([int(a), int(b), self.sizes[-1]] for a, b in zip(froms, tos, strict=True))


def _joined(copies: Iterator[list[int]]) -> list[list[int]]:
    """Neighbours as one."""
    found: list[list[int]] = []
    for each in copies:
        last = found[-1] if found else [0, 0, 0]
        if last[2] and [last[0] + last[2], last[1] + last[2]] == each[:2]:
            last[2] += each[2]
        elif each[2] > 0:
            found.append(each)
    return found


def _segments(first: int, last: int, most: int) -> list[tuple[int, int]]:
    """(begin, count): a line cut into even stretches of at most `most` places."""
    number = -(-(last - first) // most)
    bounds = [first + (last - first) * at // number for at in range(number + 1)]
    return [(a, b - a) for a, b in zip(bounds, bounds[1:], strict=False)]


def _places(part: Part, strides: Sizes, first: int, last: int, shift: int) -> np.ndarray:
    """[lines, 2]: where the windows of the lines of a band begin, and where their results go."""
    if len(part.counts) == 1:
        return np.array([[-shift, part.first]])
    outer = (last - first, *part.counts[1:-1])
    grid = np.indices(outer).reshape(len(outer), -1)
    grid[0] += first
    moves = [n * stride for n, stride in zip(part.step, strides, strict=True)]
    lines = np.stack([np.array(moves[:-1]) @ grid, np.array(part.target[:-1]) @ grid], 1)
    return lines + np.array([-shift, part.first])


def _table(rows: Sequence[Sequence[int]], names: Sequence[str]) -> np.ndarray:
    return np.array(rows, np.int64).reshape(-1, len(names))


def _plan(planes: _Planes, parts: tuple[Part, ...], channels: int, units: int, most: int) -> Plan:
    """The tables for planes and parts, in at least so many bands if that many can be."""
    strides, extent = strides_of(planes.lengths), max(part.counts[0] for part in parts)
    volume = channels * math.prod(planes.lengths)
    step = -(-extent // min(extent, max(units, -(-volume // CACHED))))
    if len(planes.sizes) == 1:
        step = -(-step // most) * most
    bands: list[list[int]] = []
    pixel_bands: list[list[int]] = []
    table: list[list[int]] = []
    copies: list[list[int]] = []
    tiles: list[np.ndarray] = []
    pixels: list[np.ndarray] = []
    span = made = 0
    for low in range(0, extent, step):
        live = [(at, part, min(low + step, part.counts[0]))
                for at, part in enumerate(parts) if low < part.counts[0]]  # fmt: skip
        first = min(low * part.step[0] + min(m[0] for m in part.moves) for _, part, _ in live)
        last = max((high - 1) * part.step[0] + max(m[0] for m in part.moves) + 1
                   for _, part, high in live)  # fmt: skip
        first = first if planes.copied else 0
        span = max(span, (last - first) * strides[0])
        before = len(table), len(copies)
        for at, part, high in live:
            lines = _places(part, strides, low, high, first * strides[0])
            inside = (low, high) if len(part.counts) == 1 else (0, part.counts[-1])
            tiles.append(_tiles(part, lines, inside, most))
            table.append([made, made + len(tiles[-1]), channels * len(part.taps), at])
            made += len(tiles[-1])
            if at == 0:
                pixels.append(_windows(part, lines, inside))
        if planes.copied:
            copies += _joined(planes.copies(first, last))
        bands.append([before[0], len(table), before[1], len(copies), 0])
        behind, inner = sum(map(len, pixels)), math.prod(parts[0].counts[1:])
        pixel_bands.append([behind - len(pixels[-1]), behind, before[1], len(copies), low * inner])
    span = span if planes.copied else math.prod(planes.lengths)
    offsets, starts = _offsets(parts, strides, span, channels)
    for row in table:
        row[3] = starts[row[3]]
    return Plan(
        parts=parts, counts=parts[0].counts, copied=planes.copied, span=span, offsets=offsets,
        bands=_table(bands, BAND), part_table=_table(table, PART), tiles=np.concatenate(tiles),
        copies=_table(copies, COPY), pixel_bands=_table(pixel_bands, BAND),
        pixels=np.concatenate(pixels), most_pixels=max(map(len, pixels)),
    )  # fmt: skip


def _tiles(part: Part, lines: np.ndarray, inside: tuple[int, int], most: int) -> np.ndarray:
    """The rows of the table of tiles for stretches of some lines."""
    begins, counts = np.array(_segments(*inside, most), np.int64).T
    found = np.empty((len(lines), len(begins), len(TILE)), np.int64)
    found[..., 0] = lines[:, :1] + begins * part.step[-1]
    found[..., 1] = lines[:, 1:] + begins * part.target[-1]
    found[..., 2] = counts
    return found.reshape(-1, len(TILE))


def _windows(part: Part, lines: np.ndarray, inside: tuple[int, int]) -> np.ndarray:
    """Where the window of each place of some lines begins."""
    places = np.arange(*inside, dtype=np.int64) * part.step[-1]
    return (lines[:, :1] + places).reshape(-1)


def _offsets(
    parts: tuple[Part, ...], strides: Sizes, span: int, channels: int
) -> tuple[np.ndarray, list[int]]:
    """The offsets of all terms of all parts, and how many are before each part."""
    found, starts, before = [], [], 0
    for part in parts:
        inside = np.array(part.moves, np.int64) @ np.array(strides, np.int64)
        grid = np.arange(channels, dtype=np.int64)[:, None] * span
        found.append((grid + inside).reshape(-1))
        starts.append(before)
        before += len(found[-1])
    return np.concatenate(found), starts


@lru_cache(maxsize=128)
def forward_plan(
    sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, channels: int,
    units: int, most: int = 8,
) -> Plan:  # fmt: skip
    """A convolution's plan; tiles have at most `most` places."""
    settings = list(zip(sizes, kernel, stride, padding, dilation, strict=True))
    counts = tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in settings)
    lengths = tuple(max(p + n, (count - 1) * s + d * (k - 1) + 1)
                    for (n, k, s, p, d), count in zip(settings, counts, strict=True))  # fmt: skip
    moves = tuple(
        tuple(int(at) * d for at, d in zip(each, dilation, strict=True))
        for each in np.ndindex(kernel)
    )
    part = Part(tuple(range(len(moves))), moves, counts, stride, strides_of(counts), 0)
    return _plan(_Planes(sizes, padding, lengths), (part,), channels, units, most)


@lru_cache(maxsize=128)
def input_plan(
    places: Sizes, sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes,
    channels: int, units: int, most: int = 8,
) -> Plan | None:  # fmt: skip
    """The plan of the gradient for an input of such sizes; None where nothing reaches it."""
    front, behind, remainders = input_meets(sizes, kernel, stride, padding, dilation)
    lengths = tuple(f + max(n, -(-size // s) + b) for f, n, size, s, b in
                    zip(front, places, sizes, stride, behind, strict=True))  # fmt: skip
    target = tuple(a * s for a, s in zip(strides_of(sizes), stride, strict=True))
    one = (1,) * len(sizes)
    parts = tuple(
        Part(each.taps, each.moves, each.counts, one, target, each.first) for each in remainders
    )
    return _plan(_Planes(places, front, lengths), parts, channels, units, most) if parts else None
