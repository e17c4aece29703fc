"""Which elements of a kernel meet which places: the arithmetic that all convolutions share.

In: sizes, strides, paddings and dilations. Out: for each remainder of an input's positions modulo
the stride, the elements of the kernel that meet them and how far away the places are.

    >>> front, behind, (even, odd) = input_meets((6,), (3,), (2,), (1,), (1,))
    >>> even.taps, even.moves, odd.taps, odd.moves, front, behind
    ((1,), ((0,),), (0, 2), ((1,), (0,)), (0,), (1,))

Source: polyphase filters (Bellanger, 1976); Dumoulin & Visin 2016 for the arithmetic.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

Sizes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Remainder:
    """The positions of one remainder modulo the stride, and what meets them."""

    taps: Sizes  # elements of the kernel, counted row by row
    moves: tuple[Sizes, ...]  # the place that each meets, from the position's own, plus `front`
    counts: Sizes  # of such positions
    first: int  # the first one


def strides_of(sizes: Sizes) -> Sizes:
    """Elements between neighbours of each dimension of a dense array."""
    return tuple(math.prod(sizes[at + 1 :]) for at in range(len(sizes)))


def input_meets(
    sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes
) -> tuple[Sizes, Sizes, tuple[Remainder, ...]]:
    """(places wanted before the first one, behind a position's own, remainders that are met)."""
    settings = list(zip(kernel, stride, padding, dilation, strict=True))
    # For each dimension and remainder r: the kernel's elements that meet it, and their shifts.
    meets = [
        [[(k, (r + p - k * d) // s) for k in range(size) if (r + p - k * d) % s == 0]
         for r in range(s)]
        for size, s, p, d in settings
    ]  # fmt: skip
    shifts = [[shift for each in rows for _, shift in each] for rows in meets]
    front = tuple(max(0, -min(each)) for each in shifts)
    behind = tuple(max(0, max(each)) for each in shifts)
    found = []
    for remainder in itertools.product(*map(range, stride)):
        each = [rows[r] for rows, r in zip(meets, remainder, strict=True)]
        counts = tuple(-(-(n - r) // s) for n, r, s in zip(sizes, remainder, stride, strict=True))
        if min(counts) <= 0 or not all(each):
            continue
        pairs = list(itertools.product(*each))
        taps = tuple(_tap([k for k, _ in pair], kernel) for pair in pairs)
        moves = tuple(
            tuple(shift + f for (_, shift), f in zip(pair, front, strict=True)) for pair in pairs
        )
        first = sum(r * a for r, a in zip(remainder, strides_of(sizes), strict=True))
        found.append(Remainder(taps, moves, counts, first))
    return front, behind, tuple(found)


def _tap(indices: Sequence[int], kernel: Sizes) -> int:
    return sum(index * step for index, step in zip(indices, strides_of(kernel), strict=True))
