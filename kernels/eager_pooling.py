"""max_pool as a kernel of its own, for eager: each window is read once, nothing is copied.

In: a float array [..., *sizes] and the windows' numbers. Out: the largest element of each window
and its flat index among *sizes; the first of equal ones, the last nan.

    values, indices = max_pool(array, (2, 2), (2, 2), (0, 0), (1, 1), (16, 16))

The kernel's source is made for the sizes of a window; a line of places is three loops: those whose
windows begin in front of the line, those that lie inside, and those that end behind it.

Source: torch.nn.functional.max_pool2d for what a window's largest element is.
"""

import itertools
import math
from functools import cache

import numpy

from minitorch2.kernels.runtime.compile import compile_kernel
from minitorch2.kernels.runtime.launcher import Launch
from minitorch2.kernels.runtime.signature import KernelSignature

Sizes = tuple[int, ...]
MOST = 32  # elements of a window; their comparisons are written out
NANOSECONDS = 0.3  # an element
SHORT = {"f": "f32", "d": "f64"}
LITERAL = 4  # strides and dilations up to this are written into the source


def takes(array: numpy.ndarray, kernel: Sizes) -> bool:
    """Whether there is a kernel for such windows."""
    few = math.prod(kernel) <= MOST and math.prod(array.shape[-len(kernel) :]) < 1 << 31
    return few and array.dtype.char in SHORT


def max_pool(
    array: numpy.ndarray, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes,
    places: Sizes,
) -> tuple[numpy.ndarray, numpy.ndarray]:  # fmt: skip
    """The largest elements [..., *places] and their indices, as i64."""
    count = len(kernel)
    array = numpy.ascontiguousarray(array)
    sizes = array.shape[-count:]
    shape = (*array.shape[:-count], *places)
    values, indices = numpy.empty(shape, array.dtype), numpy.empty(shape, numpy.int64)
    if values.size:
        near = tuple(n if n <= LITERAL else 0 for n in (stride[-1], dilation[-1]))
        launch = _launch(tuple(kernel), near, SHORT[array.dtype.char])
        lines = values.size // places[-1]
        numbers = (*sizes, *stride, *dilation, *padding, *places)
        cost = NANOSECONDS * places[-1] * math.prod(kernel)
        launch(lines, (array, values, indices), numbers, (), cost)
    return values, indices


@cache
def _launch(kernel: Sizes, near: Sizes, short: str) -> Launch:
    signature = KernelSignature((short, short, "i64"), sizes=5 * len(kernel), grain=1)
    return compile_kernel(source(kernel, near, short), signature).direct()


def source(kernel: Sizes, near: Sizes, short: str) -> str:
    """The kernel's text; `near`: the last stride and dilation, 0 where they are arguments.

    Sizes are, for each dimension, n of the input, s stride, d dilation, f zeros in front, m places.
    """
    last = len(kernel) - 1
    names = ", ".join(f"{name}{at}" for name in "nsdfm" for at in range(last + 1))
    lines = [f"def max_pool(lo, hi, x, y, z, {names}, status):",
             "    for line in range(lo, hi):", "        rest = u64(line)"]  # fmt: skip
    for at in reversed(range(last)):
        lines += [f"        j{at} = umod(rest, m{at})", f"        rest = udiv(rest, m{at})"]
    lines += [f"        {each}" for each in (
        f"out = line * m{last}", f"plane = rest * {' * '.join(f'n{at}' for at in range(last + 1))}",
        *_outer(kernel[:-1]), *_bounds(kernel[-1] - 1, last),
    )]  # fmt: skip
    for bounds, edge in (("low", True), ("low, high", False), (f"high, m{last}", True)):
        lines.append(f"        for j in range({bounds}):")
        lines += [f"            {each}" for each in _place(kernel, near, short, edge)]
    return "\n".join(lines) + "\n"


def _first(at: int, name: str) -> list[str]:
    """The first position of a window that is not in front of the input."""
    start = f"i64({name} * s{at}) - i64(f{at})"
    return [f"start{at} = {start}", f"ahead{at} = select(start{at} < i64(0), -start{at}, i64(0))",
            f"steps{at} = udiv(u64(ahead{at}) + d{at} - u64(1), d{at}) * d{at}",
            f"first{at} = start{at} + i64(steps{at})"]  # fmt: skip


def _outer(kernel: Sizes) -> list[str]:
    """For each offset in all dimensions but the last: the index of its line, if that is inside."""
    lines = [each for at in range(len(kernel)) for each in _first(at, f"j{at}")]
    first = "i64(0)"
    for at in range(len(kernel)):
        first = f"({first} * i64(n{at}) + first{at})"
    lines.append(f"first_line = {first} * i64(n{len(kernel)})")
    for number, offsets in enumerate(itertools.product(*map(range, kernel))):
        inside, line = "b1(u64(1))", "i64(0)"
        for at, offset in enumerate(offsets):
            here = f"h{number}_{at}"
            lines.append(f"{here} = i64(j{at} * s{at} + u64({offset}) * d{at}) - i64(f{at})")
            inside += f" & ({here} >= i64(0)) & ({here} < i64(n{at}))"
            line = f"({line} * i64(n{at}) + {here})"
        lines.append(f"in{number} = {inside}")
        lines.append(f"line{number} = select(in{number}, {line}, i64(0)) * i64(n{len(kernel)})")
    return lines


def _bounds(reach: int, last: int) -> list[str]:
    """The places whose windows lie inside, along the last dimension: from low to before high."""
    return [
        f"low = minimum(udiv(f{last} + s{last} - u64(1), s{last}), m{last})",
        f"room = i64(n{last} + f{last}) - i64(u64({reach}) * d{last})",
        f"fit = udiv(u64(select(room > i64(0), room, i64(0))) + s{last} - u64(1), s{last})",
        f"high = maximum(low, minimum(fit, m{last}))",
    ]


def _place(kernel: Sizes, near: Sizes, short: str, edge: bool) -> list[str]:
    """One place: the elements of its window in order; `edge`: some may not be in the line."""
    last = len(kernel) - 1
    stride, dilation = (f"u64({n})" if n else f"{name}{last}"
                        for n, name in zip(near, "sd", strict=True))  # fmt: skip
    best, place = f"{short}(-1e400)", "place"
    if edge:
        lines = [*_first(last, "j"), f"place = i32(first_line + first{last})"]
    else:
        lines = [f"begin = j * {stride} - f{last}", "place = i32(first_line + i64(begin))"]
    for number, _ in enumerate(itertools.product(*map(range, kernel[:-1]))):
        for offset in range(kernel[-1]):
            name = f"{number}_{offset}"
            at = f"u64({offset}) * {dilation}"
            if edge:
                inside = f"(w{name} >= i64(0)) & (w{name} < i64(n{last}))"
                lines += [
                    f"w{name} = start{last} + i64({at})",
                    f"ok{name} = {inside} & in{number}",
                    f"at{name} = line{number} + select(ok{name}, w{name}, i64(0))",
                ]
            else:
                lines.append(f"ok{name} = in{number}")
                lines.append(f"at{name} = line{number} + i64(begin + {at})")
            lines += [
                f"v{name} = x[plane + u64(at{name})]",
                f"new{name} = ok{name} & ((v{name} > {best}) | (v{name} != v{name}))",
                f"best{name} = select(new{name}, v{name}, {best})",
                f"place{name} = select(new{name}, i32(at{name}), {place})",
            ]
            best, place = f"best{name}", f"place{name}"
    return [*lines, f"y[out + j] = {best}", f"z[out + j] = i64({place})"]
