"""Functions and methods that choose among rows, or prepare a row's arguments, where torch has
several signatures under one name: round, index_add, index_put, nanmedian, histogram.

In: what torch's function of that name takes. Out: what it returns.

    >>> from minitorch2 import tensor
    >>> tensor([1.234]).round(decimals=1)
    tensor([1.2000])

Source: torch's documentation of each function.
"""

from collections.abc import Callable
from typing import Any

import numpy

from minitorch2 import dtypes, return_types
from minitorch2.errors import ArgumentTypeError, ArgumentValueError, IndexOutOfRange, OperationError
from minitorch2.ops.outputs import into
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor, is_fake, wrap


def _op(name: str, *args: Any, **kwargs: Any) -> Any:
    return lookup(name).public(*args, **kwargs)


def round(input: Any, *, decimals: int = 0, out: Any = None) -> Any:
    """Rounded to the nearest whole number, halves to even; or to so many decimals."""
    if decimals == 0:
        return _op("round", input, out=out)
    scale = 10.0 ** abs(decimals)
    if decimals > 0:
        found = _op("round", input * scale) / scale
    else:
        found = _op("round", input / scale) * scale
    return into("round", out, found, True)


def round_(self: Tensor, *, decimals: int = 0) -> Tensor:
    """round, written into the tensor."""
    return _op("round_", self) if decimals == 0 else self.copy_(round(self, decimals=decimals))


def index_add(
    input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1, out: Any = None
) -> Any:
    """The tensor with alpha * source added at indices of a dimension."""
    source = source if alpha == 1 else source * alpha
    return _op("index_add", input, dim, index, source, out=out)


def index_add_(self: Tensor, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Tensor:
    """index_add, written into the tensor."""
    source = source if alpha == 1 else source * alpha
    return _op("index_add_", self, dim, index, source)


def _places(input: Any, indices: Any) -> tuple:
    """Index tensors, masks among them turned into the indices where they are true."""
    found: list[Any] = []
    for index in indices:
        mask = index is not None and index.dtype in (dtypes.bool, dtypes.uint8)
        if mask and not is_fake(index):
            seen = tuple(input.shape[len(found) : len(found) + index.ndim])
            if seen != tuple(index.shape) or not index.ndim:
                raise IndexOutOfRange(
                    f"index_put() with a mask of shape {list(index.shape)}",
                    f"The shape of the mask {list(index.shape)} at index {len(found)} does not "
                    f"match the shape of the indexed tensor {list(input.shape)}",
                    "give a mask of the dimensions it picks from",
                )
            found.extend(_op("nonzero", index).unbind(1))
        else:
            found.append(index)
    return tuple(found)


def _filling(input: Any, indices: Any, values: Any) -> Any:
    """The values; a single one that a mask distributes is converted, as in masked_fill."""
    masks = [index for index in indices if index is not None and index.dtype is dtypes.bool]
    one = isinstance(values, Tensor) and not values.ndim and len(masks) == len(indices) == 1
    return values.to(input.dtype) if one and values.dtype is not input.dtype else values


def index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """The tensor with the elements that indices or masks pick replaced, or added to."""
    values = _filling(input, indices, values)
    return _op("index_put", input, _places(input, indices), values, accumulate)


def index_put_(self: Tensor, indices: Any, values: Any, accumulate: bool = False) -> Tensor:
    """index_put, written into the tensor."""
    values = _filling(self, indices, values)
    return _op("index_put_", self, _places(self, indices), values, accumulate)


def nanmedian(input: Any, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The middle number, nans left out; along `dim`, (values, indices)."""
    if dim is None:
        return into("nanmedian", out, _op("nanmedian_all", input), True)
    found = return_types.of("nanmedian")(_op("nanmedian_dim", input, dim, keepdim))
    return into("nanmedian", out, found, True)


def _edges(input: Any, bins: Any, range: Any) -> Any:
    if isinstance(bins, Tensor):
        return bins.detach().numpy()
    values = input.detach().numpy()
    low, high = range or ((values.min(), values.max()) if values.size else (0.0, 0.0))
    if low == high:
        low, high = low - 0.5, high + 0.5
    return numpy.linspace(low, high, bins + 1, dtype=values.dtype)


def _check_bins(input: Any, bins: Any, range: Any, weight: Any) -> None:
    wrong = ""
    if isinstance(bins, int) and bins <= 0:
        wrong = f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0"
    elif range is not None and range[0] > range[1]:
        wrong = (
            f"torch.histogramdd: min should not exceed max, but got min {range[0]} max {range[1]} "
            "for dimension 0"
        )
    elif weight is not None and tuple(weight.shape) != tuple(input.shape):
        wrong = (
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the "
            f"input tensor: {list(weight.shape)} and {list(input.shape)}"
        )
    if wrong:
        raise OperationError("histogram()", wrong)


def histogram(
    input: Any,
    bins: Any,
    *,
    range: Any = None,
    weight: Any = None,
    density: bool = False,
    out: Any = None,
) -> Any:
    """(counts or densities, the bins' edges) of all elements."""
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise OperationError(
            f"histogram() of a tensor of dtype {input.dtype}",
            f"not implemented for {input.dtype}",
            "convert: x.float()",
        )
    _check_bins(input, bins, range, weight)
    edges = _edges(input, bins, range)
    weights = None if weight is None else weight.detach().numpy().reshape(-1)
    values = input.detach().numpy().reshape(-1)
    if (numpy.diff(edges) < 0).any():  # nothing lies between bounds that go down
        counts = numpy.zeros(len(edges) - 1)
    else:
        counts = numpy.histogram(values, edges, weights=weights, density=density)[0]
    found = return_types.of("histogram")(wrap(counts.astype(values.dtype)), wrap(edges.copy()))
    return into("histogram", out, found)


def histogramdd(
    input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    """(counts or densities, the edges for each column) of rows of coordinates."""
    points = input.detach().numpy().reshape(-1, input.shape[-1])
    count = points.shape[1]
    bins = (bins,) * count if isinstance(bins, int) else tuple(bins)
    pairs = list(zip(range[::2], range[1::2], strict=True)) if range else [None] * count
    columns = [wrap(points[:, at].copy()) for at in numpy.arange(count)]
    edges = [_edges(c, b, r) for c, b, r in zip(columns, bins, pairs, strict=True)]
    weights = None if weight is None else weight.detach().numpy().reshape(-1)
    counts = numpy.histogramdd(points, edges, weights=weights, density=density)[0]
    found = wrap(counts.astype(points.dtype)), tuple(wrap(edge.copy()) for edge in edges)
    return return_types.of("histogramdd")(found)


def unravel_index(indices: Any, shape: Any) -> tuple:
    """The index in each dimension of a tensor of `shape` for flat indices."""
    if indices.dtype.category != dtypes.INTEGER:
        raise ArgumentTypeError(
            f"unravel_index({indices.dtype})",
            f"expected 'indices' to be integer dtype, but got {indices.dtype}",
            "convert: indices.long()",
        )
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(size < 0 for size in sizes):
        raise ArgumentValueError(
            f"unravel_index(shape={sizes})",
            f"'shape' cannot have negative values, but got {sizes}",
        )
    found: list[Any] = []
    for size in reversed(sizes):
        size = size or 1  # nothing lies in an empty dimension
        found.append(indices % size)
        indices = _op("floor_divide", indices, size)
    return tuple(reversed(found))


def nonzero_static(input: Any, *, size: int, fill_value: int = -1) -> Any:
    """The indices of the first `size` non-zero elements; rows of fill_value where there are less.

    Computed from running counts, so that the result's size is known beforehand.
    """
    flat = (input != 0).reshape(-1)
    order = flat.cumsum(0) * flat
    count = flat.numel()
    wanted = _op("range_", 1, size + 1, 1, dtype=dtypes.int64)
    hits = order.unsqueeze(0) == wanted.unsqueeze(1)
    place = (hits * _op("range_", 0, count, 1, dtype=dtypes.int64)).sum(1)
    columns = unravel_index(place, tuple(input.shape)) if input.ndim else ()
    if not columns:
        return _op("full", (size, 0), 0, dtype=dtypes.int64)
    rows = _op("stack", columns, 1)
    return _op("where", hits.any(1).unsqueeze(1), rows, fill_value)


def _reduced(input: Any, dim: int, index: Any, source: Any, reduce: str) -> Any:
    """What scatter(reduce=...) gives: a sum, or a product with what is there."""
    if reduce not in ("add", "multiply"):
        raise OperationError(
            f"scatter(reduce={reduce!r})",
            "reduce argument must be either add or multiply.",
            "use scatter_reduce for others",
        )
    if not isinstance(source, Tensor):
        source = _op("full", tuple(index.shape), source, dtype=input.dtype)
    if reduce == "add":
        return _op("scatter_add", input, dim, index, source)
    return _op("scatter_reduce", input, dim, index, source, "prod")


def scatter(
    input: Any,
    dim: int,
    index: Any,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
    out: Any = None,
) -> Any:
    """The tensor with elements of `src` (or one value) written, added or multiplied at indices."""
    source = value if src is None else src
    if reduce is None:
        return _op("scatter", input, dim, index, source, out=out)
    return into("scatter", out, _reduced(input, dim, index, source, reduce), True)


def scatter_(
    self: Tensor,
    dim: int,
    index: Any,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
) -> Tensor:
    """scatter, written into the tensor."""
    source = value if src is None else src
    if reduce is None:
        return _op("scatter_", self, dim, index, source)
    return self.copy_(_reduced(self, dim, index, source, reduce))


def repeat_interleave(
    input: Any, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Any:
    """Each index of a dimension several times in a row; of counts alone, the indices 0, 1, ..."""
    if repeats is None:
        input, repeats = _op("range_", 0, input.numel(), 1), input
    return _op("repeat_interleave", input, repeats, dim, output_size=output_size)


def fill(input: Any, value: Any) -> Any:
    """A copy of the tensor with every element set to one value."""
    return input.clone().fill_(value)


def unsafe_split(tensor: Any, split_size: int, dim: int = 0) -> tuple:
    """split."""
    return tensor.split(split_size, dim)


def unsafe_chunk(input: Any, chunks: int, dim: int = 0) -> tuple:
    """chunk."""
    return input.chunk(chunks, dim)


FUNCTIONS: dict[str, Callable] = {
    "fill": fill,
    "unsafe_split": unsafe_split,
    "unsafe_chunk": unsafe_chunk,
    "scatter": scatter,
    "repeat_interleave": repeat_interleave,
    "round": round,
    "index_add": index_add,
    "index_put": index_put,
    "index_put_": index_put_,
    "nanmedian": nanmedian,
    "histogram": histogram,
    "histogramdd": histogramdd,
    "unravel_index": unravel_index,
    "nonzero_static": nonzero_static,
}
METHODS: dict[str, Callable] = {
    "unsafe_split": unsafe_split,
    "unsafe_chunk": unsafe_chunk,
    "scatter": lambda self, *args, **kwargs: scatter(self, *args, **kwargs),
    "scatter_": scatter_,
    "round": lambda self, *, decimals=0: round(self, decimals=decimals),
    "round_": round_,
    "index_add": lambda self, *args, **kwargs: index_add(self, *args, **kwargs),
    "index_add_": index_add_,
    "index_put": lambda self, *args, **kwargs: index_put(self, *args, **kwargs),
    "index_put_": index_put_,
    "nanmedian": lambda self, *args, **kwargs: nanmedian(self, *args, **kwargs),
    "histogram": lambda self, *args, **kwargs: histogram(self, *args, **kwargs),
    "nonzero_static": lambda self, **kwargs: nonzero_static(self, **kwargs),
}
