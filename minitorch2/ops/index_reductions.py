"""Rows that combine elements which integer indices send to one place: products, extrema, means.

In: a tensor, indices, and the elements to combine with it. Out: a new tensor.

Source: torch's documentation of scatter_reduce and index_reduce; extrema share a tie's gradient
evenly among the elements that reach them.
"""

import numpy

from minitorch2.dispatch import call
from minitorch2.errors import IndexOutOfRange, OperationError
from minitorch2.layouts import normalize_dim
from minitorch2.ops.composites import composite
from minitorch2.ops.gathers import check_index, infer_scatter, pad_to
from minitorch2.ops.infer import describe_value
from minitorch2.ops.table import LIBRARY, defop, lookup

FOLDS = {"prod": numpy.multiply, "amax": numpy.maximum, "amin": numpy.minimum}


def _op(name, *args):
    return call(lookup(name), args)


def _neutral(dtype, reduce):
    """What combines with any number to that number."""
    if reduce == "prod":
        return dtype.type(1)
    low = reduce == "amax"
    if dtype.kind in "iu":
        return numpy.iinfo(dtype).min if low else numpy.iinfo(dtype).max
    return (
        dtype.type(not low) if dtype.kind == "b" else dtype.type(-numpy.inf if low else numpy.inf)
    )


def _fold(a, dim, index, src, reduce, include_self):
    result = a.copy()
    if not index.size:
        return result
    check_index(index, a.shape[dim], dim, "scatter_reduce()")
    places = list(numpy.indices(index.shape, sparse=True))
    places[dim] = index
    if not include_self:
        result[tuple(places)] = _neutral(a.dtype, reduce)
    FOLDS[reduce].at(result, tuple(places), src[tuple(slice(size) for size in index.shape)])
    return result


def _untouched(s, grad):
    """The gradient of self: none where its elements do not count."""
    if s.include_self:
        return grad
    zeros = _op("full", tuple(s.index.shape), 0, grad.dtype, grad.device)
    return _op("scatter", grad, s.dim, s.index, zeros)


def _trimmed(s):
    src = s.src
    for dim, size in enumerate(s.index.shape):
        src = src if src.shape[dim] == size else _op("slice", src, dim, 0, size, 1)
    return src


def _fold_vjp(s, g):
    rule = _product_vjp if s.reduce == "prod" else _extremum_vjp
    to_self, to_src = rule(s, g, _trimmed(s))
    return _untouched(s, to_self), None, pad_to(to_src, s.src.shape)


def _extremum_vjp(s, g, src):
    mine = (s.self == s.result).to(g.dtype)
    theirs = (src == _op("gather", s.result, s.dim, s.index)).to(g.dtype)
    share = g / _op("scatter_add", mine, s.dim, s.index, theirs)
    return mine * share, theirs * _op("gather", share, s.dim, s.index)


def _product_vjp(s, g, src):
    """Exact also where one of the factors is zero."""
    one = _op("where", s.self == 0, 1.0, s.self)
    others = _op("scatter_fold", one, s.dim, s.index, src, "prod", s.include_self)
    zero = src == 0
    none = _op("full", tuple(s.self.shape), 0, g.dtype, g.device)
    zeros = _op("scatter_add", none, s.dim, s.index, zero.to(g.dtype))
    only = _op("logical_and", zero, _op("gather", zeros, s.dim, s.index) == 1)
    without = _op("where", only, 1.0, src)
    without = _op("scatter_fold", s.self, s.dim, s.index, without, "prod", s.include_self)
    at_zero = _op("gather", g * without, s.dim, s.index)
    usual = _op("gather", g * s.result, s.dim, s.index) / _op("where", zero, 1.0, src)
    return g * others / one, _op("where", only, at_zero, usual)


defop(
    "scatter_fold(Tensor self, int dim, Tensor index, Tensor src, str reduce,"
    " bool include_self=True) -> Tensor",
    LIBRARY,
    eager=_fold,
    infer=lambda self, dim, index, src, reduce, include_self: infer_scatter(self, dim, index, src),
    saves="self index src result",
    vjp=_fold_vjp,
    effects="may_fail",
    host="elements that meet at one place are combined one after the other",
    method=False,
    function=False,
    torch="torch.scatter_reduce",
    doc="`self` with the elements of src multiplied in, or the largest or smallest kept.",
)


def _scatter_reduce(self, dim, index, src, reduce, include_self):
    if reduce not in ("sum", "mean", *FOLDS):
        raise OperationError(
            f"scatter_reduce(reduce={reduce!r})",
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}",
            "name one of them",
        )
    normalize_dim(dim, self.ndim)
    if self.ndim < 2 and 0 in (self.ndim, index.ndim, src.ndim):  # one element is a line of one
        line, places, values = (each.reshape((-1,)) for each in (self, index, src))
        found = _scatter_reduce(line, 0, places, values, reduce, include_self)
        return found.reshape(self.layout.shape)
    if reduce in FOLDS:
        return _op("scatter_fold", self, dim, index, src, reduce, include_self)
    untouched = self
    one = _op("full", tuple(index.layout.shape), 1, self.dtype, self.device)
    zeros = _op("full", tuple(self.layout.shape), 0, self.dtype, self.device)
    counts = _op("scatter_add", zeros, dim, index, one)
    base = self if include_self else _op("where", counts != 0, zeros, self)
    total = _op("scatter_add", base, dim, index, src)
    if reduce == "sum":
        return total
    counts = counts + 1 if include_self else counts
    none = counts == 0
    counts = _op("where", none, 1, counts)
    divided = total / counts if self.dtype.differentiable else total // counts
    return divided if include_self else _op("where", none, untouched, divided)


composite(
    "scatter_reduce(Tensor self, int dim, Tensor index, Tensor src, str reduce, *,"
    " bool include_self=True) -> Tensor",
    _scatter_reduce,
    "The elements of src that go to one place along `dim`, reduced with those of self there.",
)


def _index_reduce(self, dim, index, source, reduce, include_self):
    if reduce not in ("mean", *FOLDS):
        raise OperationError(
            f"index_reduce(reduce={reduce!r})",
            f"reduce argument must be either prod, mean, amax or amin, got {reduce}",
            "name one of them",
        )
    at = normalize_dim(dim, self.ndim)
    count = index.numel()
    if index.ndim > 1 or (source.shape[at] if source.ndim else 1) != count:
        raise OperationError(
            f"index_reduce({describe_value(self)}, {dim}, {describe_value(index)}, "
            f"{describe_value(source)})",
            "Number of indices should be equal to source.size(dim)",
            "give one index for each entry of the source",
        )
    shape = tuple(source.layout.shape)
    lined = index.reshape((-1,) + (1,) * (max(len(shape), 1) - at - 1))
    places = _op("expand", lined, shape) if shape else index.reshape(())
    return _scatter_reduce(self, dim, places, source, reduce, include_self)


composite(
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *,"
    " bool include_self=True) -> Tensor",
    _index_reduce,
    "The entries of source that go to one index of a dimension, reduced with those of self.",
)


def _put(self, index, source, accumulate):
    if index.numel() != source.numel():
        raise IndexOutOfRange(
            f"put({describe_value(self)}, {describe_value(index)}, {describe_value(source)})",
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.numel()}, index.numel() = {index.numel()}",
            "give one element for each index",
        )
    flat = self.reshape((-1,))
    written = _op("index_put", flat, (index.reshape((-1,)),), source.reshape((-1,)), accumulate)
    return written.reshape(tuple(self.layout.shape))


composite(
    "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
    _put,
    "`self` with elements, by their flat indices, replaced or added to.",
    same="self source",
)
