"""Rows in order: each element and its place packed into one integer, which numpy sorts quickest.

In: rows [n, width] of numbers of at most 32 bits (or of 64 that lie close together). Out: the
elements in order and their places, equal ones in the order they had, nan after every number.

A key is the number's rank as a signed integer, shifted left, and below it the place:

    key = rank << bits | place

so sorting the keys is a stable sort. The work goes block by block: keys stay in the cache.

    >>> rows = numpy.tile(numpy.array([3.0, 1.0, 3.0], numpy.float32), (LEAST, 1))
    >>> values, places = sorted_rows(rows, False)
    >>> values[0].tolist(), places[0].tolist()
    ([1.0, 3.0, 3.0], [1, 0, 2])

Source: Herf 2001, "Radix Tricks" (floats as integers of the same order); Knuth, The Art of Computer
Programming, volume 3, 5.3.4 (networks of comparisons).
"""

from typing import Any

import numpy

BLOCK = 1 << 15  # elements at a time: their keys fill a quarter of a megabyte
LEAST = 1 << 13  # elements below which packing costs more than it saves
# Which pairs of places are compared, in turn, so that rows of so many elements are in order.
NETWORKS = {
    2: ((0, 1),),
    3: ((0, 1), (1, 2), (0, 1)),
    4: ((0, 1), (2, 3), (0, 2), (1, 3), (1, 2)),
}


def sorted_rows(rows: numpy.ndarray, descending: bool) -> Any:
    """The rows in order and the places of their elements (int64); None where packing does not pay.

    `rows` [n, width] lie side by side in memory, in a dtype of numpy's own.
    """
    width = rows.shape[1]
    if rows.size < LEAST or width < 2:
        return None
    bits = (width - 1).bit_length()
    base = _base(rows, bits)
    if base is None:
        return None
    values, order = numpy.empty_like(rows), numpy.empty(rows.shape, numpy.int64)
    count = max(1, BLOCK // width)
    places = numpy.arange(width)
    starts = (numpy.arange(min(count, len(rows))) * width)[:, None]
    for start in range(0, len(rows), count):
        part, found = rows[start : start + count], order[start : start + count]
        keys = _ranks(part, base, descending)
        keys <<= bits
        keys |= places
        numpy.bitwise_and(_in_order(keys), (1 << bits) - 1, out=found)
        keys = numpy.add(found, starts[: len(part)], out=keys)
        numpy.take(part.reshape(-1), keys, out=values[start : start + count], mode="clip")
    return values, order


def _base(rows: numpy.ndarray, bits: int) -> int | None:
    """What is taken off each integer of 64 bits, so that a place fits below; None: none does."""
    if rows.dtype.kind == "f":
        return 0 if rows.itemsize == 4 and bits <= 31 else None
    if rows.itemsize <= 4:
        return 0 if bits <= 31 else None
    least, most = int(rows.min()), int(rows.max())
    return least if most - least < 1 << (62 - bits) else None


def _ranks(part: numpy.ndarray, base: int, descending: bool) -> numpy.ndarray:
    """Integers (int64) in the order of the numbers; equal ones, and all nan, are equal."""
    if part.dtype.kind != "f":
        ranks = part.astype(numpy.int64) if not base else (part - part.dtype.type(base)).view("i8")
    else:
        bits = (part + numpy.float32(0)).view(numpy.int32)  # -0.0 is 0.0
        bits ^= (bits >> 31) & 0x7FFFFFFF
        missing = part != part
        if missing.any():
            bits[missing] = 0x7FFFFFFF
        ranks = bits.astype(numpy.int64)
    return numpy.invert(ranks, out=ranks) if descending else ranks


def _in_order(keys: numpy.ndarray) -> numpy.ndarray:
    """The keys of each row in order; they may be written over."""
    network = NETWORKS.get(keys.shape[1])
    if network is None:
        keys.sort(axis=-1)
        return keys
    columns = list(numpy.ascontiguousarray(keys.T))
    for low, high in network:
        less = numpy.minimum(columns[low], columns[high])
        columns[high] = numpy.maximum(columns[low], columns[high])
        columns[low] = less
    return numpy.stack(columns, axis=1, out=keys)
