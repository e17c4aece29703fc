"""Convolutions and their gradients without windows laid out in memory, on the pool's threads.

In: float arrays as the rows of minitorch2/ops/convolution.py take them, of up to three dimensions.
Out: the result, or None where numpy has to do it (no such dimension or type, a CPU that cannot
multiply and add at once, or too little work). The order of every sum depends on shapes alone.

Groups with many rows are channel_convolutions.py's. For the others each channel of the padded
input becomes planes, one for each remainder of a position modulo the
stride, in which a step of one place is a step of one element: the window of place p is that of
place 0, p elements further on. A table of offsets says where its elements lie.

    >>> import numpy
    >>> image, weight = numpy.ones((1, 4, 20, 20), "f4"), numpy.ones((8, 4, 3, 3), "f4")
    >>> found = convolution(image, weight, (1, 1), (1, 1), (1, 1), 1)
    >>> found.shape, found[0, 0, 5, 5].item(), found[0, 0, 0, 0].item()
    ((1, 8, 20, 20), 36.0, 16.0)

Source: implicit convolution (Chetlur et al., "cuDNN", 2014); planes by remainder are polyphase
filters (Bellanger, 1976).
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from minitorch2.kernels.runtime import channel_convolutions, convolution_code
from minitorch2.kernels.runtime.channel_convolutions import SAMPLE_BLOCKS, SHORT
from minitorch2.kernels.runtime.compile import compile_kernel
from minitorch2.kernels.runtime.convolution_code import BLOCK, FORWARD, WEIGHT, shape
from minitorch2.kernels.runtime.launcher import Launch, direct
from minitorch2.kernels.runtime.native_objects import kernel_addresses
from minitorch2.kernels.runtime.planes import planes_source
from minitorch2.kernels.runtime.signature import KernelSignature
from minitorch2.kernels.runtime.windows import Sizes, input_meets, strides_of

NANOSECONDS_A_MULTIPLICATION = 0.025
LEAST_WORK = 200  # multiplications at each place
MOST_DIMENSIONS = 3


@cache
def _launches(short: str) -> tuple[Launch, Launch] | None:
    """The launches of the two kernels of a float type."""
    if shape() is None:
        return None
    names = (f"convolve_{short}", f"correlate_{short}")
    signatures = (KernelSignature((short, short, short, "i64", "i64", "i64"),
                                  sizes=len(FORWARD) - FORWARD.index("block_count")),
                  KernelSignature((short, short, short, "i64", "i64"),
                                  sizes=len(WEIGHT) - WEIGHT.index("block_count")))  # fmt: skip
    addresses = _addresses()
    convolve, correlate = (
        direct(addresses[name], signature)
        for name, signature in zip(names, signatures, strict=True)
    )
    return None if convolve is None or correlate is None else (convolve, correlate)


@cache
def _addresses() -> dict[str, int]:
    """Where the kernels are."""
    made = shape()
    assert made is not None
    names = [f"{stem}_{short}" for stem in ("convolve", "correlate") for short in SHORT.values()]
    return kernel_addresses(
        lambda: convolution_code.ConvolutionCode(made),
        [convolution_code],
        f"convolutions of few channels, {made}",
        names,
    )


# Planes.


@dataclass(frozen=True, slots=True)
class Planes:
    """Each channel as planes: for each remainder below `remainders`, every `step`-th position.

    Element j of a dimension of remainder f is position j * step + f - front; zero outside.
    """

    sizes: Sizes
    step: Sizes
    remainders: Sizes
    front: Sizes
    lengths: Sizes

    @property
    def strides(self) -> Sizes:
        """Elements between neighbours of each dimension of a plane."""
        return strides_of(self.lengths)

    @property
    def size(self) -> int:
        """Elements of one plane."""
        return math.prod(self.lengths)

    @property
    def channel(self) -> int:
        """Elements of all planes of one channel."""
        return self.size * math.prod(self.remainders)

    def is_input(self) -> bool:
        """Whether the input's own memory is the planes."""
        plain = set(self.step) == {1} and not any(self.front)
        return plain and self.sizes == self.lengths

    def made(self, array: np.ndarray, slack: int) -> np.ndarray:
        """The planes of an array [N, C, *sizes], with so many zeros behind them."""
        if self.is_input() and not slack and array.flags.c_contiguous:
            return array
        array = np.ascontiguousarray(array)
        count = array.shape[0] * array.shape[1]
        result = np.empty((count * self.channel + slack,), array.dtype)
        result[count * self.channel :] = 0
        short = SHORT[array.dtype.char]
        numbers = (*self.sizes, *self.step, *self.remainders, *self.front, *self.lengths)
        total = count * self.channel // self.lengths[-1]
        launch = _planes_launch(short, len(self.sizes), self.step[-1] == 1)
        launch(total, (array, result), numbers, (), 2.0 + 0.15 * self.lengths[-1])
        return result


@cache
def _planes_launch(short: str, dimensions: int, near: bool) -> Launch:
    signature = KernelSignature((short, short), sizes=5 * dimensions, grain=1)
    kernel = compile_kernel(planes_source(short, dimensions, near), signature)
    return kernel.direct()


# One pass: rows of weights over planes.


@dataclass(frozen=True, slots=True)
class Pass:
    """One launch of `convolve`: its tables and where its results go."""

    taps: tuple[int, ...]  # which elements of the kernel take part
    offsets: np.ndarray  # of each channel of a group and each tap, in the planes
    lines: np.ndarray  # [lines, 2]: first place of a line, and where it goes
    counts: Sizes  # of places
    places: int  # from the first one to the last, in a plane
    step: int  # between the results of neighbouring places
    slack: int  # how far a vector may read behind the planes


def _pass(
    taps: Sequence[int], offsets: np.ndarray, counts: Sizes, strides: Sizes, target: Sizes,
    first: int,
) -> Pass:  # fmt: skip
    """The pass of `counts` places; `target` are elements between the results, from `first` on."""
    made = shape()
    lanes = made.lanes("f32") if made is not None else 1
    count = math.prod(counts[:-1])
    grid = np.indices(counts[:-1]).reshape(len(counts) - 1, count)
    lines = np.zeros((count, 2), np.int64)
    lines[:, 0] = np.array(strides[:-1], np.int64) @ grid
    lines[:, 1] = np.array(target[:-1], np.int64) @ grid + first
    span = sum((count - 1) * stride for count, stride in zip(counts, strides, strict=True)) + 1
    slack = lanes if span < lanes else 0
    return Pass(tuple(taps), offsets, lines, counts, max(span, lanes), target[-1], slack)


def _offsets(planes: Planes, channels: int, moves: Sequence[tuple[Sizes, Sizes]]) -> np.ndarray:
    """Where each element of a window lies: (remainder, shift) of each tap, for each channel."""
    found = []
    for remainder, shift in moves:
        plane = 0
        for count, number in zip(planes.remainders, remainder, strict=True):
            plane = plane * count + number
        inside = sum(s * stride for s, stride in zip(shift, planes.strides, strict=True))
        found.append(plane * planes.size + inside)
    grid = np.arange(channels, dtype=np.int64)[:, None] * planes.channel
    return np.ascontiguousarray((grid + np.array(found, np.int64)).reshape(-1))


@lru_cache(maxsize=512)
def _forward_plan(
    sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, channels: int
) -> tuple[Planes, Pass]:
    """The planes of a convolution's input, and its one pass."""
    settings = list(zip(sizes, kernel, stride, padding, dilation, strict=True))
    counts = tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in settings)
    steps = [[(k * d % s, k * d // s) for k in range(size)]
             for _, size, s, _, d in settings]  # fmt: skip
    remainders = tuple(max(f for f, _ in each) + 1 for each in steps)
    lengths = tuple(count + max(shift for _, shift in each)
                    for count, each in zip(counts, steps, strict=True))  # fmt: skip
    planes = Planes(sizes, stride, remainders, padding, lengths)
    moves = [_turned(each) for each in itertools.product(*steps)]
    offsets = _offsets(planes, channels, moves)
    taps = range(len(moves))
    return planes, _pass(taps, offsets, counts, planes.strides, strides_of(counts), 0)


def _turned(pairs: Sequence[tuple[int, int]]) -> tuple[Sizes, Sizes]:
    return tuple(f for f, _ in pairs), tuple(shift for _, shift in pairs)


@lru_cache(maxsize=512)
def _input_plan(
    places: Sizes, sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes,
    channels: int,
) -> tuple[Planes, tuple[Pass, ...]]:  # fmt: skip
    """The planes of the gradient, and a pass for each remainder of the input's positions."""
    front, behind, remainders = input_meets(sizes, kernel, stride, padding, dilation)
    lengths = tuple(f - (-n // s) + b for f, n, s, b in
                    zip(front, sizes, stride, behind, strict=True))  # fmt: skip
    one = (1,) * len(sizes)
    planes = Planes(places, one, one, front, lengths)
    target = tuple(a * s for a, s in zip(strides_of(sizes), stride, strict=True))
    passes = []
    for each in remainders:
        offsets = _offsets(planes, channels, [((0,) * len(sizes), move) for move in each.moves])
        passes.append(_pass(each.taps, offsets, each.counts, planes.strides, target, each.first))
    return planes, tuple(passes)


@lru_cache(maxsize=512)
def _row_blocks(rows: int, most: int) -> tuple[tuple[int, int], ...]:
    """(first row, rows) of blocks that tiles exist for, largest first."""
    found, at = [], 0
    made = shape()
    assert made is not None
    for size in made.rows:
        while size <= most and rows - at >= size:
            found.append((at, size))
            at += size
    return tuple(found)


def _packed(matrix: np.ndarray) -> np.ndarray:
    """[groups, rows, k] with each block of rows transposed, in one dimension."""
    groups, rows, _ = matrix.shape
    made = shape()
    assert made is not None
    blocks = _row_blocks(rows, made.rows[0])
    if len({size for _, size in blocks}) == 1:
        return np.ascontiguousarray(
            matrix.reshape(groups, len(blocks), blocks[0][1], -1).swapaxes(2, 3)
        ).reshape(-1)
    parts = [matrix[group, at : at + size].T.reshape(-1)
             for group in range(groups) for at, size in blocks]  # fmt: skip
    return np.concatenate(parts)


@lru_cache(maxsize=512)
def _block_table(
    groups: int, rows: int, most: int, weight: int, planes: int, out: int
) -> np.ndarray:
    """The table of blocks; the last three are elements: of a row of weights, of a group's planes,
    between two rows of the result."""
    table = [
        (size, (group * rows + at) * weight, group * planes, (group * rows + at) * out)
        for group in range(groups)
        for at, size in _row_blocks(rows, most)
    ]
    return np.array(table, np.int64).reshape(-1, len(BLOCK))


def _apply(
    launch: Launch, part: Pass, planes: Planes, data: np.ndarray, matrix: np.ndarray,
    result: np.ndarray,
) -> None:  # fmt: skip
    """One pass: matrix [groups, rows, channels of a group * taps] over the planes."""
    groups, rows, k = matrix.shape
    made = shape()
    assert made is not None
    area = math.prod(result.shape[2:])
    channels = k // len(part.taps)
    table = _block_table(groups, rows, made.rows[0], k, channels * planes.channel, area)
    numbers = (
        len(table), groups * channels * planes.channel, groups * rows * area, area, k, part.places,
        len(part.lines), part.counts[-1], part.step,
    )  # fmt: skip
    cost = made.rows[0] * k * part.places * NANOSECONDS_A_MULTIPLICATION
    arrays = (data, _packed(matrix), result, part.offsets, table, part.lines)
    launch(result.shape[0] * len(table), arrays, numbers, (), cost)


def _supported(array: np.ndarray, dimensions: int, work: int) -> tuple[Launch, Launch] | None:
    """The launches, if they exist for such an array and there is enough to do."""
    short = SHORT.get(array.dtype.char)
    if short is None or not 1 <= dimensions <= MOST_DIMENSIONS or work < LEAST_WORK:
        return None
    return _launches(short)


# The three rows. They return None where numpy has to do it.


def convolution(
    input: np.ndarray, weight: np.ndarray, stride: Sizes, padding: Sizes, dilation: Sizes,
    groups: int,
) -> np.ndarray | None:  # fmt: skip
    """[N, C, *sizes] and [out, C / groups, *kernel] to [N, out, *places]."""
    kernel, out = weight.shape[2:], weight.shape[0]
    how = tuple(stride), tuple(padding), tuple(dilation)
    launches = _supported(input, len(kernel), input.shape[0] * weight.size)
    if launches is None:
        return None
    if channel_convolutions.pays(out // groups, input.dtype):
        return channel_convolutions.convolution(input, weight, *how, groups)
    planes, part = _forward_plan(input.shape[2:], kernel, *how, weight.shape[1])
    data = planes.made(input, part.slack)
    result = np.empty((input.shape[0], out, *part.counts), input.dtype)
    _apply(launches[0], part, planes, data, weight.reshape(groups, out // groups, -1), result)
    return result


def to_input(
    grad: np.ndarray, weight: np.ndarray, size: Sizes, stride: Sizes, padding: Sizes,
    dilation: Sizes, groups: int,
) -> np.ndarray | None:  # fmt: skip
    """[N, out, *places] and [out, C / groups, *kernel] to [N, C, *size]."""
    kernel, out, channels = weight.shape[2:], weight.shape[0], weight.shape[1]
    how = tuple(stride), tuple(padding), tuple(dilation)
    launches = _supported(grad, len(kernel), grad.shape[0] * weight.size)
    if launches is None:
        return None
    if channel_convolutions.pays(channels, grad.dtype):
        return channel_convolutions.to_input(grad, weight, size, *how, groups)
    planes, passes = _input_plan(grad.shape[2:], tuple(size), kernel, *how, out // groups)
    data = planes.made(grad, max((part.slack for part in passes), default=0))
    result = np.empty((grad.shape[0], channels * groups, *size), grad.dtype)
    if sum(math.prod(part.counts) for part in passes) < math.prod(size):
        result[...] = 0
    elements = weight.reshape(groups, out // groups, channels, -1)
    for part in passes:
        matrix = elements[..., list(part.taps)].swapaxes(1, 2).reshape(groups, channels, -1)
        _apply(launches[0], part, planes, data, matrix, result)
    return result


def to_weight(
    grad: np.ndarray, input: np.ndarray, size: Sizes, stride: Sizes, padding: Sizes,
    dilation: Sizes, groups: int,
) -> np.ndarray | None:  # fmt: skip
    """[N, out, *places] and [N, C, *sizes] to [out, C / groups, *size]."""
    samples, out, channels = grad.shape[0], grad.shape[1], input.shape[1] // groups
    how = tuple(stride), tuple(padding), tuple(dilation)
    work = samples * out * channels * math.prod(size)
    launches, made = _supported(input, len(size), work), shape()
    if launches is None or made is None:
        return None
    if channel_convolutions.pays(out // groups, grad.dtype):
        return channel_convolutions.to_weight(grad, input, size, *how, groups)
    planes, part = _forward_plan(input.shape[2:], tuple(size), *how, channels)
    lanes = made.lanes("f32")
    inner = planes.lengths[1:]
    rows = -(-(-(-part.places // lanes) * lanes) // math.prod(inner))
    one = (1,) * len(size)
    spread = Planes(grad.shape[2:], one, one, (0,) * len(size), (rows, *inner))
    data, lines = planes.made(input, lanes), spread.made(grad, 0)
    k = len(part.offsets)
    wide = -(-k // made.columns) * made.columns
    offsets = np.concatenate([part.offsets, np.repeat(part.offsets[-1:], wide - k)])
    table = _block_table(groups, out // groups, 4, spread.size, channels * planes.channel, wide)
    together = -(-samples // SAMPLE_BLOCKS)
    blocks = -(-samples // together)
    partial = np.empty((blocks, out, wide), grad.dtype)
    numbers = (
        len(table), input.shape[1] * planes.channel, out * spread.size, spread.size, samples,
        together, wide, part.places, out * wide,
    )  # fmt: skip
    cost = 4 * wide * part.places * together * NANOSECONDS_A_MULTIPLICATION
    arrays = (data, lines, partial, offsets, table)
    launches[1](blocks * len(table), arrays, numbers, (), cost)
    result = partial.sum(0)[:, :k].reshape(out, channels, *size)
    # Between two lines a place's window is none of the convolution's: there grad is 0, and 0 * inf
    # is no number.
    return result if np.isfinite(result).all() else None
