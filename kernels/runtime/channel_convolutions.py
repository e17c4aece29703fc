"""Convolutions whose groups have many rows: whole vectors of channels at every place.

In: float arrays as convolutions.py takes them. Out: the result; `pays` says for which numbers of
rows (channels of the result, in a group) these kernels are the quicker ones.

    >>> import numpy
    >>> image, weight = numpy.ones((1, 4, 20, 20), "f4"), numpy.ones((16, 4, 3, 3), "f4")
    >>> found = convolution(image, weight, (1, 1), (1, 1), (1, 1), 1)
    >>> found.shape, found[0, 0, 5, 5].item(), found[0, 0, 0, 0].item()
    ((1, 16, 20, 20), 36.0, 16.0)

How work is cut depends on shapes alone, and so do the bits.

Source: minitorch2.kernels.runtime.channel_code says what the kernels are.
"""

import math
from functools import cache

import numpy as np

from minitorch2.kernels.runtime import channel_code, convolution_code, tiles
from minitorch2.kernels.runtime.channel_code import FORWARD, WEIGHT, ChannelCode
from minitorch2.kernels.runtime.channel_plans import Plan, forward_plan, input_plan
from minitorch2.kernels.runtime.convolution_code import shape
from minitorch2.kernels.runtime.launcher import Launch, direct
from minitorch2.kernels.runtime.native_objects import kernel_addresses
from minitorch2.kernels.runtime.signature import KernelSignature
from minitorch2.kernels.runtime.windows import Sizes

NANOSECONDS_A_MULTIPLICATION = 0.02
UNITS = 16  # wanted for the threads, whatever their number
SAMPLE_BLOCKS = 8  # sums over samples are cut into at most so many
SHORT = {"f": "f32", "d": "f64"}


@cache
def _launch(kernel: str, short: str) -> Launch | None:
    """The launch of one kernel, compiled or from the disk."""
    made = shape()
    if made is None:
        return None
    names, arrays = (FORWARD, 3) if kernel == "channels" else (WEIGHT, 3)
    words = names[2 + arrays :]
    tables = words.index("channels")
    signature = KernelSignature((short,) * arrays + ("i64",) * tables, sizes=len(words) - tables)
    name = f"{kernel}_{short}"
    addresses = kernel_addresses(
        lambda: ChannelCode(made, kernel, short),
        [convolution_code, tiles, channel_code],
        f"{name}, {made}",
        [name],
    )
    return direct(addresses[name], signature)


def _lanes(dtype: np.dtype) -> int:
    made = shape()
    return made.lanes(SHORT[dtype.char]) if made is not None else 1


def _whole(rows: int, lanes: int) -> int:
    return -(-rows // lanes) * lanes


def pays(rows: int, dtype: np.dtype) -> bool:
    """Whether vectors of so many rows are full enough."""
    if dtype.char not in SHORT:
        return False
    lanes = _lanes(dtype)
    return lanes > 1 and rows * 8 >= _whole(rows, lanes) * 5


def _packed(matrix: np.ndarray, lanes: int) -> np.ndarray:
    """[groups, rows, k] as blocks of two vectors of rows (the last may be one), k by k."""
    groups, rows, k = matrix.shape
    padded, full = _whole(rows, lanes), rows // (2 * lanes)
    packed = np.empty((groups, padded * k), matrix.dtype)
    split = full * 2 * lanes
    packed[:, : split * k].reshape(groups, full, k, 2 * lanes)[...] = (
        matrix[:, :split].reshape(groups, full, 2 * lanes, k).swapaxes(2, 3)
    )
    if split < rows:
        rest = packed[:, split * k :].reshape(groups, k, padded - split)
        rest[..., rows - split :] = 0
        rest[..., : rows - split] = matrix[:, split:].swapaxes(1, 2)
    return packed


def _apply(
    plan: Plan, matrices: list[np.ndarray], source: np.ndarray, result: np.ndarray, slices: int
) -> None:
    """All parts of a plan; matrices [groups, rows, terms], one for each."""
    groups, rows, _ = matrices[0].shape
    lanes = _lanes(source.dtype)
    padded, blocks = _whole(rows, lanes), -(-rows // (2 * lanes))
    channels = source.shape[1] // groups
    area = math.prod(result.shape[2:])
    part = plan.parts[0]
    in_slice = -(-blocks // slices)
    slices = -(-blocks // in_slice)
    numbers = (
        channels, math.prod(source.shape[2:]), plan.span, plan.copied, groups, len(plan.bands),
        slices, in_slice, rows, padded, area, part.step[-1], part.target[-1],
    )  # fmt: skip
    packed = [_packed(matrix, lanes).reshape(-1) for matrix in matrices]
    weight = packed[0] if len(packed) == 1 else np.concatenate(packed)
    units = len(plan.bands) * slices
    work = sum(len(each.taps) * math.prod(each.counts) for each in plan.parts)
    cost = channels * padded * work / units * NANOSECONDS_A_MULTIPLICATION
    arrays = (source, weight, result, plan.offsets, plan.bands, plan.part_table, plan.tiles,
              plan.copies)  # fmt: skip
    launch = _launch("channels", SHORT[source.dtype.char])
    assert launch is not None
    launch(source.shape[0] * groups * units, arrays, numbers, (), cost)


def _cuts(samples: int, groups: int, rows: int, dtype: np.dtype) -> tuple[int, int]:
    """(slices of the rows, bands) that make enough units."""
    blocks, wanted = -(-rows // (2 * _lanes(dtype))), -(-UNITS // (samples * groups))
    slices = min(blocks, wanted)
    return slices, -(-wanted // slices)


def _most() -> int:
    made = shape()
    return made.places if made is not None else 1


def convolution(
    input: np.ndarray, weight: np.ndarray, stride: Sizes, padding: Sizes, dilation: Sizes,
    groups: int,
) -> np.ndarray:  # fmt: skip
    """[N, C, *sizes] and [out, C / groups, *kernel] to [N, out, *places]."""
    kernel, out = weight.shape[2:], weight.shape[0]
    slices, bands = _cuts(input.shape[0], groups, out // groups, input.dtype)
    plan = forward_plan(
        input.shape[2:], kernel, stride, padding, dilation, weight.shape[1], bands, _most()
    )
    result = np.empty((input.shape[0], out, *plan.counts), input.dtype)
    matrix = weight.reshape(groups, out // groups, -1)
    _apply(plan, [matrix], np.ascontiguousarray(input), result, slices)
    return result


def to_input(
    grad: np.ndarray, weight: np.ndarray, size: Sizes, stride: Sizes, padding: Sizes,
    dilation: Sizes, groups: int,
) -> np.ndarray:  # fmt: skip
    """[N, out, *places] and [out, C / groups, *kernel] to [N, C, *size]."""
    kernel, out, channels = weight.shape[2:], weight.shape[0], weight.shape[1]
    slices, bands = _cuts(grad.shape[0], groups, channels, grad.dtype)
    plan = input_plan(grad.shape[2:], tuple(size), kernel, stride, padding, dilation,
                      out // groups, bands, _most())  # fmt: skip
    result = np.empty((grad.shape[0], channels * groups, *size), grad.dtype)
    parts = plan.parts if plan is not None else ()
    if sum(math.prod(part.counts) for part in parts) < math.prod(size):
        result[...] = 0
    if plan is None:
        return result
    elements = weight.reshape(groups, out // groups, channels, -1)
    matrices = [
        elements[..., list(part.taps)].swapaxes(1, 2).reshape(groups, channels, -1)
        for part in parts
    ]
    _apply(plan, matrices, np.ascontiguousarray(grad), result, slices)
    return result


def to_weight(
    grad: np.ndarray, input: np.ndarray, size: Sizes, stride: Sizes, padding: Sizes,
    dilation: Sizes, groups: int,
) -> np.ndarray:  # fmt: skip
    """[N, out, *places] and [N, C, *sizes] to [out, C / groups, *size]."""
    samples, out, channels = grad.shape[0], grad.shape[1], input.shape[1] // groups
    rows, taps = out // groups, math.prod(size)
    plan = forward_plan(
        input.shape[2:], tuple(size), stride, padding, dilation, channels, 1, _most()
    )
    padded = _whole(rows, _lanes(grad.dtype))
    in_block = -(-samples // SAMPLE_BLOCKS)
    blocks = -(-samples // in_block)
    in_slice = -(-channels // min(channels, -(-UNITS // (blocks * groups))))
    slices = -(-channels // in_slice)
    partial = np.empty((blocks, groups, channels * taps, padded), grad.dtype)
    area = math.prod(grad.shape[2:])
    numbers = (
        channels, math.prod(input.shape[2:]), plan.span, plan.copied, groups, len(plan.bands),
        slices, in_slice, rows, padded, area, samples, in_block, taps, plan.most_pixels,
    )  # fmt: skip
    cost = in_block * in_slice * taps * padded * area * NANOSECONDS_A_MULTIPLICATION
    arrays = (np.ascontiguousarray(grad), np.ascontiguousarray(input), partial, plan.offsets,
              plan.pixel_bands, plan.pixels, plan.copies)  # fmt: skip
    launch = _launch("weights", SHORT[grad.dtype.char])
    assert launch is not None
    launch(blocks * groups * slices, arrays, numbers, (), cost)
    total = partial.sum(0) if blocks > 1 else partial[0]
    return np.ascontiguousarray(total[..., :rows].swapaxes(1, 2)).reshape(out, channels, *size)
