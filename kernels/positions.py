"""Row-major positions: an index with several dimensions as one number, and back.

In: index expressions and a shape. Out: the position, or the index of a position, simplified with
what is known about the loop variables, so that a reshape costs nothing inside a kernel:

    >>> from minitorch2.kernels.index import symbol
    >>> ranges = {"i": constant(2), "j": constant(3)}
    >>> delinearize(symbol("i") * 3 + symbol("j"), (constant(2), constant(3)), ranges)
    (i, j)

Source: numpy.ravel_multi_index and numpy.unravel_index, on expressions.
"""

from collections.abc import Iterable

from minitorch2.kernels.index import Index, Ranges, constant, floor_divide, modulo


def linearize(indices: Iterable[Index], shape: Iterable[Index]) -> Index:
    """The row-major position of a multi-dimensional index.

    >>> from minitorch2.kernels.index import symbol
    >>> linearize([symbol("i"), symbol("j")], [constant(2), constant(3)])
    3*i + j
    """
    position = constant(0)
    for index, size in zip(indices, shape, strict=True):
        position = position * size + index
    return position


def delinearize(position: Index, shape: "tuple[Index, ...]", ranges: Ranges) -> tuple[Index, ...]:
    """The multi-dimensional index of a row-major position.

    >>> from minitorch2.kernels.index import symbol
    >>> delinearize(symbol("i"), (constant(2), constant(3)), {"i": constant(6)})
    ((i // 3), (i % 3))
    """
    if constant(0) in shape:  # there is no position: all zeros are as good as anything
        return (constant(0),) * len(shape)
    result: list[Index] = []
    for size in reversed(shape[1:]):
        result.append(modulo(position, size, ranges))
        position = floor_divide(position, size, ranges)
    if shape:
        result.append(position)
    return tuple(reversed(result))
