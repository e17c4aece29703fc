"""Rows that move elements: concatenate, flip, copy, sort.

In: tensors. Out: new tensors with the same elements in other places.

Source: torch's documentation of each function.
"""

import numpy

from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.errors import ArgumentValueError, OperationError, ShapeError
from minitorch2.layouts import broadcast_shapes, normalize_dim, normalize_dims
from minitorch2.ops.elementwise import converted_back
from minitorch2.ops.first_of_many import blocks_for, first_of_rows, in_order
from minitorch2.ops.infer import check_element, describe_value
from minitorch2.ops.packed_order import LEAST, sorted_rows
from minitorch2.ops.table import GATHER, Meta, defop, lookup
from minitorch2.ops.views import zeros_of


def _op(name, *args):
    return call(lookup(name), args)


def _asked_cat(tensors, dim):
    return f"cat([{', '.join(describe_value(t) for t in tensors)}], dim={dim})"


def _infer_cat(tensors, dim):
    if not tensors:
        raise ArgumentValueError(
            "cat([])", "expected a non-empty list of Tensors", "give at least one tensor"
        )
    for at, tensor in enumerate(tensors):
        check_element("cat", at, tensor)
    real = [t for t in tensors if not (t.ndim == 1 and t.shape[0] == 0)] or list(tensors[:1])
    at = normalize_dim(dim, real[0].ndim)
    first = tuple(real[0].shape)
    if not first:
        raise ShapeError(
            _asked_cat(tensors, dim),
            "zero-dimensional tensor (at position 0) cannot be concatenated",
            "use stack, or unsqueeze(0) first",
        )
    total: int = 0
    for tensor in real:
        shape = tuple(tensor.shape)
        if len(shape) != len(first):
            raise ShapeError(
                _asked_cat(tensors, dim),
                f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}",
                "unsqueeze one of them",
            )
        if any(
            size != other
            for d, (size, other) in enumerate(zip(shape, first, strict=True))
            if d != at
        ):
            raise ShapeError(
                _asked_cat(tensors, dim),
                "sizes of tensors must match except in the dimension "
                f"{at}: {list(first)} and {list(shape)}",
                "make the other sizes equal",
            )
        total = total + shape[at]
    result = dtypes.result_type(*tensors)
    return Meta(first[:at] + (total,) + first[at + 1 :], result)


def _cat(arrays, dim):
    real = [a for a in arrays if not (a.ndim == 1 and a.shape[0] == 0)] or list(arrays[:1])
    wanted = dtypes.from_numpy_dtype(arrays[0].dtype)
    for array in arrays[1:]:
        wanted = dtypes.promote_types(wanted, dtypes.from_numpy_dtype(array.dtype))
    return numpy.concatenate([a.astype(wanted.numpy, copy=False) for a in real], axis=dim)


def _cat_vjp(s, g):
    parts: list = []
    start = 0
    for spec in s.tensors:
        if len(spec.shape) == 1 and spec.shape[0] == 0 and g.ndim != 1:
            parts.append(None)
            continue
        end = start + spec.shape[s.dim]
        part = _op("slice", g, s.dim, start, end, 1)
        parts.append(converted_back(part, spec.dtype) if spec.dtype.differentiable else None)
        start = end
    return (parts,)


defop(
    "cat(Tensor[] tensors, int dim=0) -> Tensor",
    GATHER,
    eager=_cat,
    infer=_infer_cat,
    vjp=_cat_vjp,
    method=False,
    doc="Tensors put one after the other along `dim`.",
)


def _infer_flip(self, dims):
    normalize_dims(dims, self.ndim)
    return Meta(tuple(self.shape), self.dtype)


def _flip(a, dims):
    return numpy.flip(a, normalize_dims(dims, a.ndim) if dims else ()).copy()


defop(
    "flip(Tensor self, int[...] dims) -> Tensor",
    GATHER,
    eager=_flip,
    infer=_infer_flip,
    keeps=True,
    vjp=lambda s, g: _op("flip", g, s.dims),
    doc="Dimensions reversed, as a copy.",
)

defop(
    "clone(Tensor self) -> Tensor",
    GATHER,
    eager=lambda a: a.copy(order="K"),
    keeps=True,
    infer=lambda self: Meta(tuple(self.shape), self.dtype),
    vjp=lambda s, g: g,
    doc="A copy with its own memory.",
)

defop(
    "contiguous_copy(Tensor self) -> Tensor",
    GATHER,
    method=False,
    function=False,
    eager=lambda a: a.copy(order="C"),
    infer=lambda self: Meta(tuple(self.shape), self.dtype),
    vjp=lambda s, g: g,
    torch="torch.Tensor.contiguous",
    doc="A row-major copy.",
)


def _infer_sum_to_size(self, size):
    if broadcast_shapes(tuple(self.shape), tuple(size)) != tuple(self.shape):
        raise ShapeError(
            f"sum_to_size({describe_value(self)}, {list(size)})",
            f"size {list(size)} is not expandable to size {list(self.shape)}",
            "every size must be 1 or equal",
        )
    return Meta(tuple(size), self.dtype)


def _sum_to_size(self, size):
    """Sums over broadcast dimensions, in terms of `sum` and `reshape`."""
    size = tuple(size)
    if tuple(self.shape) == size:
        return self
    _infer_sum_to_size(self, size)
    extra = self.ndim - len(size)
    dims = tuple(range(extra)) + tuple(
        d + extra for d, n in enumerate(size) if n == 1 and self.shape[d + extra] != 1
    )
    if dims:
        self = _op("sum", self, dims, False, None)
    return self if tuple(self.shape) == size else _op("reshape", self, size)


defop(
    "sum_to_size(Tensor self, int[...] size) -> Tensor",
    "composite",
    decomp=_sum_to_size,
    doc="Summed over the dimensions along which `size` was broadcast.",
    function=False,
)


def _infer_sort(self, dim, descending, stable):
    normalize_dim(dim, self.ndim)
    shape = tuple(self.shape)
    return Meta(shape, self.dtype), Meta(shape, dtypes.int64)


def _with_size(self, dim, size):
    """A shape with another size of one dimension; that of a number has none."""
    at = normalize_dim(dim, self.ndim)
    shape = tuple(self.shape)
    return (*shape[:at], size, *shape[at + 1 :]) if shape else shape


def _back_to_places(s, g, _):
    """Gradients of sorted elements, put back where `result1` says that they were."""
    return _op("scatter", zeros_of(s.self, g), s.dim, s.result1, g) if s.self.ndim else g


def in_numpys_order(a):
    """bfloat16 as float32, other arrays as they are: numpy puts nan last in its own dtypes only."""
    return a if a.dtype.kind in "biufc" else a.astype(numpy.float32)


def _sort_packed(a, keys, dim, descending):
    """The result of sorting by packed keys; None where that does not pay."""
    if keys.dtype.kind == "f" and keys.itemsize == 2:
        keys = keys.astype(numpy.float32)
    turned = numpy.moveaxis(keys, dim, -1)
    if turned.size < LEAST:
        return None
    rows = numpy.ascontiguousarray(turned).reshape(-1, turned.shape[-1])
    found = sorted_rows(rows, descending)
    if found is None:
        return None
    values, order = (numpy.moveaxis(each.reshape(turned.shape), -1, dim) for each in found)
    return (
        numpy.ascontiguousarray(values).astype(a.dtype, copy=False),
        numpy.ascontiguousarray(order),
    )


def _sort(a, dim, descending, stable):
    if a.ndim == 0:
        return a.copy(), numpy.zeros((), numpy.int64)
    keys = in_numpys_order(a)
    found = _sort_packed(a, keys, dim, descending)
    if found is not None:
        return found
    order = in_order(keys, descending, dim)
    taken = a[order] if a.ndim == 1 else numpy.take_along_axis(a, order, dim)
    return taken, numpy.ascontiguousarray(order, numpy.int64)


defop(
    "sort(Tensor self, int dim=-1, bool descending=False, *, bool stable=False)"
    " -> (Tensor values, Tensor indices)",
    GATHER,
    eager=_sort,
    saves="result1",
    infer=_infer_sort,
    keeps=True,
    vjp=_back_to_places,
    doc="The elements of a dimension in order, and where they were.",
    accepts="bifu",
    exact="always",
)


def _sort_first(a, dim, count, descending):
    """Few of many are parted from the others first; equal ones stay in their order."""
    size = a.shape[dim] if a.ndim else 1
    if not a.ndim or not count or not a.size or size < 2 * blocks_for(count):
        values, order = _sort(a, dim, descending, True)
        part = (slice(None),) * (dim % max(a.ndim, 1)) + (slice(count),) if a.ndim else ()
        return values[part].copy(), order[part].copy()
    turned = numpy.moveaxis(a, dim, -1) if dim % a.ndim != a.ndim - 1 else a
    rows = numpy.ascontiguousarray(turned).reshape(-1, size)
    keys = rows.astype(numpy.float32) if rows.itemsize < 4 and rows.dtype.kind not in "iu" else rows
    flat = first_of_rows(keys, count, descending)
    starts = numpy.arange(0, rows.size, size)[:, None]
    found = [
        each.reshape(*turned.shape[:-1], count) for each in (rows.reshape(-1)[flat], flat - starts)
    ]
    if turned is not a:
        found = [numpy.ascontiguousarray(numpy.moveaxis(each, -1, dim)) for each in found]
    return found[0], found[1].astype(numpy.int64, copy=False)


def _infer_sort_first(self, dim, count, descending):
    size = self.shape[normalize_dim(dim, self.ndim)] if self.ndim else 1
    if not 0 <= count <= size:
        raise OperationError(
            f"topk({count}, dim={dim}) of a tensor of shape {list(self.shape)}",
            "selected index k out of range",
            f"ask for at most {size} elements",
        )
    shape = _with_size(self, dim, count)
    return Meta(shape, self.dtype), Meta(shape, dtypes.int64)


defop(
    "sort_first(Tensor self, int dim, int count, bool descending)"
    " -> (Tensor values, Tensor indices)",
    GATHER,
    eager=_sort_first,
    saves="result1",
    infer=_infer_sort_first,
    vjp=_back_to_places,
    host="sorting is numpy's",
    method=False,
    function=False,
    torch="torch.topk",
    doc="The first `count` elements of a dimension's order, and where they were.",
    accepts="bif",
)
