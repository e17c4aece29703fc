"""Rows that pick and place elements by integer indices: gather, scatter, index, nonzero.

In: tensors and integer indices. Out: new tensors. Index checks name the bad index.

Source: torch's documentation of each function.
"""

import numpy

from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.dtypes import from_numpy_dtype
from minitorch2.errors import DtypeError, IndexOutOfRange, ShapeError
from minitorch2.layouts import broadcast_shapes, normalize_dim
from minitorch2.ops.conversions import converted
from minitorch2.ops.infer import describe_value, held
from minitorch2.ops.table import GATHER, Meta, defop, lookup
from minitorch2.ops.views import zeros_of


def _op(name, *args):
    return call(lookup(name), args)


def check_index(index, size, dim, name):
    """IndexOutOfRange when an element of an index array lies outside [0, size)."""
    bad = (index < 0) | (index >= size)
    if bad.any():
        value = int(index[bad].reshape(-1)[0])
        raise IndexOutOfRange(
            f"{name} along dimension {dim}",
            f"index {value} is out of bounds for dimension {dim} with size {size}",
            f"indices must be from 0 to {size - 1}",
        )


def _check_index_dtype(index, name):
    if index.dtype not in (dtypes.int64, dtypes.int32):
        raise (IndexOutOfRange if name == "indexing" else DtypeError)(
            f"{name} with an index of dtype {index.dtype}",
            "tensors used as indices must be long, int, byte or bool tensors"
            if name == "indexing"
            else f"{name}: Expected dtype int32/int64 for index",
            "use index.long()",
        )


def _gather(a, dim, index):
    if not index.size:
        return numpy.zeros(index.shape, a.dtype)
    if not (a.ndim and index.ndim):  # one element is a line of one
        return _gather(numpy.atleast_1d(a), 0, numpy.atleast_1d(index)).reshape(index.shape)
    check_index(index, a.shape[dim], dim, "gather()")
    trimmed = tuple(
        slice(None) if d == dim % a.ndim else slice(index.shape[d]) for d in range(a.ndim)
    )
    return numpy.take_along_axis(a[trimmed], index, dim)


def _infer_gather(self, dim, index):
    if 0 not in index.shape:
        _check_index_dtype(index, "gather()")
    at = normalize_dim(dim, self.ndim)
    if max(self.ndim, 1) != max(index.ndim, 1) and 0 not in index.shape:
        raise ShapeError(
            f"gather({describe_value(self)}, {dim}, {describe_value(index)})",
            "index tensor must have the same number of dimensions as input tensor",
            "unsqueeze the index",
        )
    for d in range(0 if 0 in index.shape else min(self.ndim, index.ndim)):
        if d != at and index.shape[d] > self.shape[d]:
            raise ShapeError(
                f"gather({describe_value(self)}, {dim}, {describe_value(index)})",
                f"size does not match at dimension {d}",
                "the index may not be larger than the input there",
            )
    return Meta(tuple(index.shape), self.dtype)


defop(
    "gather(Tensor self, int dim, Tensor index) -> Tensor",
    GATHER,
    eager=_gather,
    infer=_infer_gather,
    saves="index",
    effects="may_fail",
    vjp=lambda s, g: (_op("scatter_add", zeros_of(s.self, g), s.dim, s.index, g), None),
    doc="For each index, the element at that place along `dim`.",
    exact="always",
)


def _scatter_add(a, dim, index, src):
    result = a.copy()
    if not index.size:
        return result
    if not (a.ndim and index.ndim and src.ndim):
        lines = map(numpy.atleast_1d, (index, src))
        return _scatter_add(numpy.atleast_1d(a), 0, *lines).reshape(a.shape)
    check_index(index, a.shape[dim], dim, "scatter_add()")
    places = list(numpy.indices(index.shape, sparse=True))
    places[dim] = index
    values = src[tuple(slice(size) for size in index.shape)]
    numpy.add.at(result, tuple(places), values)
    return result


def infer_scatter(self, dim, index, src):
    """The result's type of a scatter; refuses indices and sources that do not fit."""
    _check_index_dtype(index, "scatter()")
    at = normalize_dim(dim, self.ndim)
    tensors = [self, index] + ([src] if hasattr(src, "dtype") else [])
    if len({max(each.ndim, 1) for each in tensors}) > 1 and 0 not in index.shape:
        raise ShapeError(
            f"scatter({', '.join(describe_value(each) for each in tensors)})",
            "Index tensor must have the same number of dimensions as self and src tensors",
            "unsqueeze or expand the index",
        )
    largest = src.shape or (1,) if len(tensors) == 3 else index.shape
    for d, size in enumerate(index.shape if self.ndim and 0 not in index.shape else ()):
        if (d != at and size > self.shape[d]) or size > largest[d]:
            raise ShapeError(
                f"scatter({', '.join(describe_value(each) for each in tensors)}, dim={dim})",
                f"Expected index to be no larger than self apart from dimension {at} and no "
                f"larger than src; it is at dimension {d}",
                "slice the index, or expand what it indexes",
            )
    if len(tensors) == 2:
        held(src, self.dtype)
    elif self.dtype is not src.dtype:
        raise DtypeError(
            "scatter()",
            f"expected self.dtype to be equal to src.dtype, got {self.dtype} and {src.dtype}",
        )
    return Meta(tuple(self.shape), self.dtype)


defop(
    "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    GATHER,
    eager=_scatter_add,
    infer=infer_scatter,
    saves="index",
    effects="may_fail",
    vjp=lambda s, g: (g, None, pad_to(_op("gather", g, s.dim, s.index), s.src.shape)),
    doc="`self` with each element of `src` added at its index along `dim`.",
    exact="always",
)


def pad_to(g, shape):
    """A tensor with zeros after it up to a shape."""
    if tuple(g.shape) == tuple(shape):
        return g
    if not (len(shape) and g.ndim):  # one element, or a line of one
        return pad_to(g.reshape(1), (*shape, 1)[:1]).reshape(shape)
    result = _op("full", tuple(shape), 0, g.dtype, g.device)
    return _write_corner(result, g, 0)


def _write_corner(base, value, dim):
    if dim == base.ndim:
        return value
    inner = _op("slice", base, dim, 0, value.shape[dim], 1)
    return _op(
        "slice_scatter", base, _write_corner(inner, value, dim + 1), dim, 0, value.shape[dim], 1
    )


def _scatter(a, dim, index, src):
    result = a.copy()
    if not isinstance(src, numpy.ndarray):
        src = converted(numpy.asarray(held(src, from_numpy_dtype(a.dtype))), a.dtype)
    if not index.size:
        return result
    if not (a.ndim and index.ndim):
        lines = map(numpy.atleast_1d, (index, src))
        return _scatter(numpy.atleast_1d(a), 0, *lines).reshape(a.shape)
    check_index(index, a.shape[dim], dim, "scatter()")
    places = list(numpy.indices(index.shape, sparse=True))
    places[dim] = index
    if src.ndim:
        src = src[tuple(slice(size) for size in index.shape)]
    result[tuple(places)] = src
    return result


def _scatter_vjp(s, g):
    zeros = _op("full", tuple(s.index.shape), 0, g.dtype, g.device)
    to_source = None
    if s.needs[2]:
        to_source = pad_to(_op("gather", g, s.dim, s.index), s.src.shape)
    return _op("scatter", g, s.dim, s.index, zeros), None, to_source


defop(
    "scatter(Tensor self, int dim, Tensor index, Operand src) -> Tensor",
    GATHER,
    eager=_scatter,
    infer=infer_scatter,
    saves="index",
    vjp=_scatter_vjp,
    effects="may_fail",
    doc="`self` with each element of `src` written at its index along `dim`.",
    exact="always",
)


def _index_select(a, dim, index):
    check_index(index, a.shape[dim] if a.ndim else 1, dim, "index_select()")
    return numpy.take(a, index.reshape(-1), axis=dim) if a.ndim else a.copy()


def _infer_index_select(self, dim, index):
    _check_index_dtype(index, "index_select()")
    at = normalize_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexOutOfRange(
            "index_select()", "Index is supposed to be a vector", "flatten the index"
        )
    count = index.shape[0] if index.ndim else 1
    shape = tuple(self.shape)
    return Meta(shape[:at] + (count,) + shape[at + 1 :] if shape else (), self.dtype)


defop(
    "index_select(Tensor self, int dim, Tensor index) -> Tensor",
    GATHER,
    eager=_index_select,
    infer=_infer_index_select,
    saves="index",
    effects="may_fail",
    vjp=lambda s, g: (
        (_op("index_add", zeros_of(s.self, g), s.dim, s.index, g) if s.self.ndim else g),
        None,
    ),
    doc="The entries of a dimension at the given indices.",
    exact="always",
)


def _index_add(a, dim, index, source):
    result = a.copy()
    if not result.size and a.ndim > 1:
        return result
    check_index(index, a.shape[dim] if a.ndim else 1, dim, "index_add()")
    if not a.ndim:
        return result + source.reshape(()) if index.size else result
    places = (slice(None),) * (dim % a.ndim) + (index.reshape(-1),)
    numpy.add.at(result, places, source)
    return result


def _infer_index_add(self, dim, index, source):
    _check_index_dtype(index, "index_add()")
    at = normalize_dim(dim, self.ndim)
    count = index.shape[0] if index.ndim else 1
    expected = (*self.shape[:at], count, *self.shape[at + 1 :]) if self.ndim else ()
    if tuple(source.shape) != expected:
        raise ShapeError(
            f"index_add({describe_value(self)}, {dim}, {describe_value(index)}, "
            f"{describe_value(source)})",
            f"Number of indices ({count}) should be equal to source.size(dim), and the other "
            "sizes to self's",
            f"give a source of shape {list(expected)}",
        )
    return Meta(tuple(self.shape), self.dtype)


defop(
    "index_add(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
    GATHER,
    eager=_index_add,
    infer=_infer_index_add,
    saves="index",
    effects="may_fail",
    same="self source",
    vjp=lambda s, g: (g, None, _op("index_select", g, s.dim, s.index)),
    doc="`self` with the entries of `source` added at indices of a dimension.",
    exact="always",
)


def _infer_index(self, indices):
    shape = tuple(self.shape)
    for at, index in enumerate(indices):
        if index is None:
            continue
        _check_index_dtype(index, "indexing")
        if at >= len(shape):
            raise IndexOutOfRange(
                "indexing",
                f"too many indices for tensor of dimension {len(shape)}",
                "index fewer dimensions",
            )
    found = [tuple(index.shape) for index in indices if index is not None]
    try:
        block = broadcast_shapes(*found, asked="indexing with tensors")
    except ShapeError as error:
        wrong = (
            "shape mismatch: indexing tensors could not be broadcast together with shapes "
            f"{', '.join(str(list(each)) for each in found)}"
        )
        raise IndexOutOfRange(error.asked, wrong, error.fix) from None
    places = [at for at, index in enumerate(indices) if index is not None]
    rest = [size for at, size in enumerate(shape) if at >= len(indices) or indices[at] is None]
    adjacent = places[-1] - places[0] + 1 == len(places)
    front = places[0] if adjacent else 0
    return Meta((*rest[:front], *block, *rest[front:]), self.dtype)


def _index_arrays(a, indices):
    indexed = {dim for dim, index in enumerate(indices) if index is not None}
    nothing = any(index is not None and index.size == 0 for index in indices)
    nothing = nothing or any(n == 0 for dim, n in enumerate(a.shape) if dim not in indexed)
    arrays = []
    for dim, index in enumerate(indices):
        if index is None:
            arrays.append(slice(None))
            continue
        size = a.shape[dim]
        index = numpy.where(index < 0, index + size, index)
        if nothing:  # no element is picked, so no index can be wrong
            index = numpy.zeros_like(index)
        else:
            check_index(index, size, dim, "indexing")
        arrays.append(index)
    return tuple(arrays)


defop(
    "index(Tensor self, Tensor[] indices) -> Tensor",
    GATHER,
    method=False,
    function=False,
    eager=lambda a, indices: a[_index_arrays(a, indices)].copy(),
    infer=_infer_index,
    saves="indices",
    effects="may_fail",
    vjp=lambda s, g: (
        _op("index_put", zeros_of(s.self, g), s.indices, g, True),
        [None] * len(s.indices),
    ),
    doc="Elements picked by integer arrays, one for each dimension or None.",
)


def _index_put(a, indices, values, accumulate):
    result = a.copy()
    places = _index_arrays(a, indices)
    if accumulate:
        numpy.add.at(result, places, values)
    else:
        result[places] = values
    return result


def _index_put_vjp(s, g):
    to_values = _op("sum_to_size", _op("index", g, s.indices), s.values.shape)
    to_self = g
    if not s.accumulate:
        zero = _op("full", (), 0, g.dtype, g.device)
        to_self = _op("index_put", g, s.indices, zero, False)
    return to_self, [None] * len(s.indices), to_values


def _fits(shape, target):
    """Whether a shape broadcasts to another as that is."""
    try:
        return broadcast_shapes(target, shape) == target
    except ShapeError:
        return False


def _infer_index_put(self, indices, values, accumulate):
    picked = _infer_index(self, indices)
    if values.dtype is not self.dtype:
        raise DtypeError(
            f"index_put({describe_value(self)}, values {describe_value(values)})",
            "Index put requires the source and destination dtypes match, got "
            f"{self.dtype} for the destination and {values.dtype} for the source",
            "convert the values first: values.to(x.dtype)",
        )
    if not _fits(tuple(values.shape), tuple(picked.shape)):
        raise ShapeError(
            f"index_put({describe_value(self)}, values {describe_value(values)})",
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to "
            f"indexing result of shape {list(picked.shape)}",
            "the values must broadcast to what the indices pick",
        )
    return Meta(tuple(self.shape), self.dtype)


defop(
    "index_put(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor",
    GATHER,
    eager=_index_put,
    infer=_infer_index_put,
    keeps=True,
    saves="indices",
    vjp=_index_put_vjp,
    effects="may_fail",
    doc="`self` with elements picked by arrays replaced or added to.",
)

defop(
    "nonzero(Tensor self) -> Tensor",
    GATHER,
    effects="data_dependent",
    eager=lambda a: numpy.stack(numpy.nonzero(numpy.atleast_1d(a)))[: a.ndim].T,
    doc="The indices of the non-zero elements, one row for each.",
    exact="always",
)
