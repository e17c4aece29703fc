"""The row of max pooling: the largest element of each window, and where it is.

In: [..., *sizes]. Out: [..., *places] values, and their flat indices among the input's sizes. The
gradient goes to those indices.

Source: torch.nn.functional.max_pool2d.
"""

import itertools
import math
from typing import Any

import numpy

from minitorch2 import dtypes
from minitorch2.backends import primitives
from minitorch2.dispatch import call
from minitorch2.errors import OperationError, ShapeError
from minitorch2.ops.infer import describe_value
from minitorch2.ops.table import LIBRARY, Meta, defop, lookup


def _op(name, *args):
    return call(lookup(name), args)


def places_of(size, kernel, stride, padding, dilation, ceil_mode):
    """How many windows there are; `ceil_mode` counts a last one that ends outside."""
    rest = size + 2 * padding - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return rest // stride + 1
    places = -(-rest // stride) + 1
    return places - 1 if (places - 1) * stride >= size + padding else places


def _places(shape, kernel, stride, padding, dilation, ceil_mode):
    sizes = zip(shape[-len(kernel) :], kernel, stride, padding, dilation, strict=True)
    return tuple(places_of(*each, ceil_mode) for each in sizes)


def _infer(self, kernel, stride, padding, dilation, ceil_mode):
    count = len(kernel)
    asked = (
        f"max_pool({describe_value(self)}, kernel_size={list(kernel)}, stride={list(stride)}, "
        f"padding={list(padding)}, dilation={list(dilation)})"
    )
    if self.ndim not in (count + 1, count + 2):
        raise OperationError(
            asked,
            f"non-empty {count + 1}D or {count + 2}D (batch mode) tensor expected for input, got "
            f"{list(self.shape)}",
            "the input is [N, C, *sizes] or [C, *sizes]",
        )
    if any(2 * p > k for p, k in zip(padding, kernel, strict=True)):
        raise OperationError(
            asked, "pad should be at most half of effective kernel size", "pad less"
        )
    if any(s <= 0 for s in stride):
        raise OperationError(asked, "stride should not be zero", "give a stride of at least 1")
    places = _places(self.shape, kernel, stride, padding, dilation, ceil_mode)
    if any(isinstance(place, int) and place <= 0 for place in places):
        raise ShapeError(
            asked,
            f"Given input size {list(self.shape)}, the output size would be too small",
            "use a smaller kernel, or more padding",
        )
    shape = (*self.shape[:-count], *places)
    return Meta(shape, self.dtype), Meta(shape, dtypes.int64)


def _max_pool(a, kernel, stride, padding, dilation, ceil_mode):
    """One pass for each element of the kernel; the first of equal ones wins, nan over all."""
    count = len(kernel)
    places = _places(a.shape, kernel, stride, padding, dilation, ceil_mode)
    kernels = primitives.pooler()
    if kernels is not None and kernels.takes(a, kernel):
        return kernels.max_pool(a, kernel, stride, padding, dilation, places)
    wide, least = _widened(a, kernel, stride, padding, dilation, places)
    where = _flat_indices(a.shape[-count:], kernel, stride, padding, dilation, places)
    values = numpy.full((*a.shape[:-count], *places), least, a.dtype)
    indices = numpy.broadcast_to(next(iter(where))[1], values.shape).copy()
    for offsets, flat in where:
        window = tuple(
            slice(o * d, o * d + (p - 1) * s + 1, s)
            for o, d, p, s in zip(offsets, dilation, places, stride, strict=True)
        )
        seen = wide[(..., *window)]
        better = numpy.logical_or(seen > values, seen != seen)
        numpy.copyto(values, seen, where=better)
        numpy.copyto(indices, numpy.broadcast_to(flat, values.shape), where=better)
    return values, indices


def _widened(a, kernel, stride, padding, dilation, places):
    """The input inside as much padding as the windows reach, and the value of the padding."""
    least = -math.inf if a.dtype.kind not in "iub" else numpy.iinfo(a.dtype).min
    count = len(kernel)
    sizes = []
    for n, k, s, p, d, place in zip(
        a.shape[-count:], kernel, stride, padding, dilation, places, strict=True
    ):
        sizes.append(max((place - 1) * s + d * (k - 1) + 1, n + p))
    if tuple(sizes) == a.shape[-count:]:
        return a, least
    wide = numpy.full((*a.shape[:-count], *sizes), least, a.dtype)
    inside: Any = [slice(p, p + n) for n, p in zip(a.shape[-count:], padding, strict=True)]
    wide[(..., *inside)] = a
    return wide, least


def _flat_indices(sizes, kernel, stride, padding, dilation, places):
    """For each element of the kernel: its offsets and the flat index of what each place meets.

    The first entry stands for the first index inside the input, torch's answer where nothing is
    larger than minus infinity.
    """
    found: list[Any] = []
    for offsets in itertools.product(*map(range, kernel)):
        flat = numpy.zeros((), numpy.int64)
        for at, size in enumerate(sizes):
            start = numpy.arange(places[at]) * stride[at] - padding[at]
            if not found and not any(offsets):
                steps = -(-numpy.maximum(-start, 0) // dilation[at])
                start = start + steps * dilation[at]
            line = start + offsets[at] * dilation[at]
            line = line.reshape((-1,) + (1,) * (len(sizes) - at - 1))
            flat = flat * size + line
        found.append((offsets, flat))
    return found


def _vjp(s, g, _):
    count = len(s.kernel)
    shape = tuple(s.self.shape)
    lead = shape[: len(shape) - count]
    zeros = _op("full", (*lead, math.prod(shape[len(lead) :])), 0, g.dtype, g.device)
    index = s.result1.reshape((*lead, -1))
    return _op("scatter_add", zeros, -1, index, g.reshape((*lead, -1))).reshape(shape)


defop(
    "max_pool(Tensor self, int[] kernel, int[] stride, int[] padding, int[] dilation, "
    "bool ceil_mode) -> (Tensor values, Tensor indices)",
    LIBRARY,
    eager=_max_pool,
    infer=_infer,
    saves="result1",
    vjp=_vjp,
    method=False,
    function=False,
    host="the largest of overlapping windows, with its place, has no loop nest yet",
    torch="torch.nn.functional.max_pool2d",
    doc="The largest element of each window, and its flat index.",
    accepts="bif",
)
