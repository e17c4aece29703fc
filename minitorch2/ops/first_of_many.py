"""Which elements of long rows are the first of their order, when few are wanted: topk of arrays.

In: a table of rows, a count. Out: where each row's first elements are, equal ones in their order.

A row is cut into blocks, of which each gives its largest element. The count-th largest of these
bounds the row's count-th largest element from below; with four times as many blocks as wanted
elements, about 1.15 times as many as wanted are not below the bound, and only those are sorted.

    >>> import numpy
    >>> first_of_rows(numpy.arange(1000).reshape(1, 1000) % 997, 2, True)
    array([[996, 995]])

Source: the bound by block maxima is used in parallel selection, as in Alabi et al. 2012, "Fast
k-Selection Algorithms for Graphics Processing Units".
"""

import numpy

BLOCKS = 64  # at least: shorter inner loops cost more than they save


def blocks_for(count: int) -> int:
    """The number of blocks of a row; rows of less than twice as many elements are too short."""
    return max(4 * count, BLOCKS)


def first_of_rows(keys: numpy.ndarray, count: int, descending: bool) -> numpy.ndarray:
    """Places [rows, count] into `keys.ravel()` for contiguous keys [rows, size]; nan is largest."""
    rows, size = keys.shape
    blocks = blocks_for(count)
    depth = size // blocks
    parts = keys[:, : blocks * depth].reshape(rows, depth, blocks)
    best = parts.max(1) if descending else numpy.fmin.reduce(parts, 1)
    best.sort(1)
    bound = best[:, -count, None] if descending else best[:, count - 1, None]
    mask = keys >= bound if descending else keys <= bound
    if keys.dtype.kind == "f" and (best[:, -1] != best[:, -1]).any():  # a nan
        mask |= keys != keys if descending else bound != bound
    found = numpy.flatnonzero(mask)
    order = in_order(keys.reshape(-1)[found], descending)
    if rows == 1:
        return found[order[:count]].reshape(1, count)
    row = found // size
    starts = numpy.searchsorted(row, numpy.arange(rows))
    order = order[numpy.argsort(row[order], kind="stable")]
    return found[order[starts[:, None] + numpy.arange(count)]]


def in_order(keys: numpy.ndarray, descending: bool, dim: int = -1) -> numpy.ndarray:
    """The places of sorted elements along a dimension, equal ones in their order."""
    if not descending:
        return numpy.argsort(keys, axis=dim, kind="stable")
    last = keys.shape[dim] - 1
    return numpy.flip(last - numpy.argsort(numpy.flip(keys, dim), axis=dim, kind="stable"), dim)
