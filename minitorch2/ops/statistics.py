"""Rows of statistics: medians, quantiles, modes, histograms, counts, covariances.

In: a tensor and dimensions. Out: what describes its elements.

Source: torch's documentation of each function.
"""

import math
from typing import Any

import numpy

from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.errors import DtypeError, IndexOutOfRange, OperationError
from minitorch2.layouts import normalize_dim, normalize_dims
from minitorch2.ops.composites import bool_first, composite
from minitorch2.ops.infer import describe_value, infer_reduction, reduced_shape
from minitorch2.ops.movement import in_numpys_order
from minitorch2.ops.table import LIBRARY, Meta, defop, lookup


def _op(name, *args):
    return call(lookup(name), args)


_VAR = (
    "(Tensor self, int[]? dim=None, bool unbiased=True, bool keepdim=False, *, "
    "int? correction=None)"
)
composite(
    f"std_mean{_VAR} -> (Tensor, Tensor)",
    lambda self, dim, unbiased, keepdim, correction: (
        _op("std", self, dim, unbiased, keepdim, correction),
        self.mean(bool_first(dim, True)[0], keepdim),
    ),
    "Standard deviation and mean over `dim`.",
    method=False,
)


def _kthvalue(self, k, dim, keepdim):
    at = normalize_dim(dim, self.ndim)
    size = self.layout.shape[at] if self.ndim else 1
    if not 1 <= k <= size:
        raise OperationError(
            f"kthvalue({describe_value(self)}, {k}, dim={dim})",
            f"kthvalue(): selected number k out of range for dimension {dim}",
            f"count from 1 to {size}",
        )
    if self.ndim == 0:
        return self.clone(), _op("full", (), 0, dtypes.int64, self.device)
    return _at(self, dim, k - 1, keepdim)


def _at(self, dim, place, keepdim):
    """The element at a place of the sorted dimension, and its index."""
    ordered, order = _op("sort", self, dim, False, True)
    values = _op("slice", ordered, dim, place, place + 1, 1).clone()
    indices = _op("slice", order, dim, place, place + 1, 1).clone()
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


composite(
    "kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False)"
    " -> (Tensor values, Tensor indices)",
    _kthvalue,
    "The k-th smallest element of a dimension, and where it is.",
    exact="always",
)


def _median_dim(self, dim, keepdim):
    if self.ndim == 0:
        return self.clone(), _op("full", (), 0, dtypes.int64, self.device)
    size = self.layout.shape[normalize_dim(dim, self.ndim)]
    if size == 0:
        raise IndexOutOfRange(
            "median() over an empty dimension",
            f"Expected reduction dim {dim} to have non-zero size",
            "reduce over a dimension that has elements",
        )
    values, indices = _at(self, dim, (size - 1) // 2, keepdim)
    if not self.dtype.is_floating_point:
        return values, indices
    last, _ = _at(self, dim, size - 1, keepdim)  # nans are sorted to the end
    missing = last.isnan()
    first = _op("argmax", self, dim, keepdim)  # of several nans, the first
    return _op("where", missing, last, values), _op("where", missing, first, indices)


def _median(self):
    if self.numel() == 0:
        return self.sum() + math.nan
    return _median_dim(self.reshape((-1,)), 0, False)[0]


composite(
    "median_all(Tensor self) -> Tensor",
    _median,
    "The middle element (the lower of two).",
    torch="torch.median",
    method=False,
    function=False,
)
composite(
    "median_dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    _median_dim,
    "The middle element of a dimension (the lower of two), and where it is.",
    torch="torch.median",
    method=False,
    function=False,
)


def _mode(a, dim, keepdim):
    """The most frequent element (the smallest of several), and its last place."""
    if a.ndim == 0:
        return a.copy(), numpy.zeros((), numpy.int64)
    rows = numpy.moveaxis(in_numpys_order(a), dim, -1)
    flat = rows.reshape(-1, rows.shape[-1])
    values = numpy.empty(len(flat), rows.dtype)
    places = numpy.empty(len(flat), numpy.int64)
    for at, row in enumerate(flat):
        found, counts = numpy.unique(row, return_counts=True)
        values[at] = found[counts.argmax()]
        same = row == values[at] if values[at] == values[at] else row != row
        places[at] = numpy.flatnonzero(same)[-1]
    shape = rows.shape[:-1]
    values, places = values.astype(a.dtype).reshape(shape), places.reshape(shape)
    if keepdim:
        return numpy.expand_dims(values, dim), numpy.expand_dims(places, dim)
    return values, places


def _infer_pair(self, dim, keepdim):
    at = normalize_dim(dim, self.ndim)
    if self.ndim == 0:
        return Meta((), self.dtype), Meta((), dtypes.int64)
    if self.shape[at] == 0:
        raise IndexOutOfRange(
            "mode() over an empty dimension",
            f"Expected reduction dim {dim} to have non-zero size",
            "reduce over a dimension that has elements",
        )
    shape = reduced_shape(self.shape, (at,), keepdim)
    return Meta(shape, self.dtype), Meta(shape, dtypes.int64)


def _mode_vjp(s, g, _):
    if s.self.ndim == 0:
        return g
    zeros = _op("full", tuple(s.self.shape), 0, g.dtype, g.device)
    index = s.result1
    if not s.keepdim:
        index, g = index.unsqueeze(s.dim), g.unsqueeze(s.dim)
    return _op("scatter_add", zeros, s.dim, index, g)


defop(
    "mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    LIBRARY,
    eager=_mode,
    infer=_infer_pair,
    saves="result1",
    vjp=_mode_vjp,
    host="counting equal elements is numpy's",
    doc="The most frequent element of a dimension, and where it is last.",
    exact="always",
)


def _histc(a, bins, min, max):
    low, high = min, max
    if low == high and a.size:
        low, high = float(a.min()), float(a.max())
    if low == high:
        low, high = low - 1, high + 1
    return numpy.histogram(a.astype(numpy.float64), bins, (low, high))[0].astype(a.dtype)


def _infer_histc(self, bins, min, max):
    if not self.dtype.is_floating_point:
        raise DtypeError(
            f"histc({describe_value(self)})",
            f"histogram_histc is not implemented for {self.dtype}",
            "convert: x.float()",
        )
    if bins <= 0 or max < min:
        raise OperationError(
            f"histc({describe_value(self)}, bins={bins}, min={min}, max={max})",
            "bins must be > 0 and max must not be less than min",
        )
    return Meta((bins,), self.dtype)


defop(
    "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
    LIBRARY,
    eager=_histc,
    infer=_infer_histc,
    host="histograms are numpy's",
    doc="How many elements fall into each of `bins` intervals between min and max.",
    accepts="bif",
    exact="always",
)


def _bincount(a, weights, minlength):
    wrong = ""
    if minlength < 0:
        wrong = "minlength should be >= 0"
    elif a.ndim != 1 or a.dtype.kind not in "iu" or (a.size and a.min() < 0):
        wrong = "bincount only supports 1-d non-negative integral inputs."
    elif weights is not None and weights.shape != a.shape:
        wrong = "weights should be 1-d and have the same length as input"
    if wrong:
        raise OperationError("bincount()", wrong)
    kind: Any = numpy.dtype(numpy.int64)
    if weights is not None and a.size:
        kind = weights.dtype if weights.dtype == numpy.float32 else numpy.dtype(numpy.float64)
    given = None if weights is None else weights.real
    return numpy.bincount(a, given, minlength).astype(kind)


defop(
    "bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor",
    LIBRARY,
    effects="data_dependent",
    eager=_bincount,
    host="the size of its result is not known before it runs",
    doc="How often (or with what weight) each non-negative integer occurs.",
)


def _infer_hash(self, dim, keepdim, mode):
    if mode != 0:
        raise OperationError(f"hash_tensor(mode={mode})", f"Unknown hash_tensor mode: {mode}")
    if not dim and any(isinstance(size, int) and size == 0 for size in self.shape):
        raise OperationError(
            f"hash_tensor({describe_value(self)})",
            "Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "
            "dim with the 'dim' argument.",
        )
    for each in normalize_dims(dim, self.ndim) if dim else ():
        if self.ndim and isinstance(self.shape[each], int) and self.shape[each] == 0:
            raise IndexOutOfRange(
                f"hash_tensor({describe_value(self)}, dim={dim})",
                f"Expected reduction dim {each} to have non-zero size.",
            )
    return infer_reduction(self, dim or None, keepdim, dtypes.uint64)


def _hash(a, dim, keepdim, mode):
    axes = tuple(range(a.ndim)) if not dim else tuple(normalize_dims(dim, a.ndim))
    wide = a.astype(numpy.int64 if a.dtype.kind in "biu" else numpy.float64).view(numpy.uint64)
    return numpy.asarray(numpy.bitwise_xor.reduce(wide, axis=axes, keepdims=keepdim))


defop(
    "hash_tensor(Tensor self, int[]? dim=None, *, bool keepdim=False, int mode=0) -> Tensor",
    LIBRARY,
    eager=_hash,
    infer=_infer_hash,
    accepts="bif",
    host="kernels have no reduction by exclusive or",
    exact="always",
    doc="The bits of the elements, as float64 or int64, joined by exclusive or.",
)
composite(
    "count_nonzero(Tensor self, int[]? dim=None) -> Tensor",
    lambda self, dim: (self != 0).sum(dim),
    "How many elements are not zero.",
)


def _nansum(self, dim, keepdim, dtype):
    if self.dtype.is_floating_point:
        self = _op("where", self.isnan(), 0.0, self)
    return _op("sum", self, dim, keepdim, dtype)


def _nanmean(self, dim, keepdim, dtype):
    if dtype is not None and not dtype.is_floating_point:
        raise DtypeError(
            f"nanmean({describe_value(self)}, dtype={dtype})",
            "could not infer output dtype: it must be floating point",
            "give a floating dtype",
        )
    present = _op("logical_not", self.isnan()).sum(dim, keepdim=keepdim)
    return _nansum(self, dim, keepdim, dtype) / present


_OVER = "(Tensor self, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor"
composite(f"nansum{_OVER}", _nansum, "The sum of the elements that are numbers.", accepts="bifu")
composite(f"nanmean{_OVER}", _nanmean, "The mean of the elements that are numbers.", accepts="f")
composite(
    "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
    lambda self, dim, keepdim: (
        self.amin(() if dim is None else (dim,), keepdim),
        self.amax(() if dim is None else (dim,), keepdim),
    ),
    "The smallest and the largest element.",
    exact="always",
)


def _weights(self, fweights, aweights):
    """How much each observation counts: the product of counts and weights, or None."""
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        whole = given.dtype.category == dtypes.INTEGER
        kind = whole if name == "fweights" else given.dtype.is_floating_point
        fits = given.ndim < 2 and given.numel() == (self.shape[-1] if self.ndim else 1)
        if not fits or not kind:
            raise OperationError(
                f"cov({describe_value(self)}, {name} {describe_value(given)})",
                f"cov(): expected {name} to be a vector of "
                f"{'integers' if name == 'fweights' else 'floating point numbers'}, one for each "
                "observation",
                "give one for each column",
            )
    both = [given for given in (fweights, aweights) if given is not None]
    return both[0] if len(both) == 1 else both[0] * both[1] if both else None


def _cov(self, correction, fweights, aweights):
    if self.ndim > 2:
        raise OperationError(
            f"cov({describe_value(self)})",
            "expected input to have two or fewer dimensions",
            "give one row for each variable",
        )
    if self.dtype is dtypes.bool:
        raise DtypeError(
            f"cov({describe_value(self)})",
            "cov(): bool dtype is not supported for input",
            "convert: x.float()",
        )
    if not self.dtype.differentiable:
        self = self.to(dtypes.get_default_dtype())
    rows = self.reshape((1, -1)) if self.ndim < 2 else self
    weights = _weights(self, fweights, aweights)
    if weights is None:
        centred = rows - rows.mean((1,), keepdim=True)
        count = rows.layout.shape[1] - correction
        return (centred @ centred.mH / (count if count > 0 else 0.0)).squeeze()
    total = weights.sum()
    if weights.storage.block is not None and float(total) == 0:
        raise OperationError(
            "cov()", "cov(): weights sum to zero, can't be normalized", "let some observation count"
        )
    centred = rows - (rows * weights).sum((1,), keepdim=True) / total
    lost = correction if aweights is None else correction * (weights * aweights).sum() / total
    count = (total - lost).clamp(0, None)
    return (centred @ (centred * weights).mH / count).squeeze()


def _corrcoef(self):
    found = _cov(self, 1, None, None)
    if found.ndim == 0:
        return found / found
    diagonal = found.diagonal()
    scale = (diagonal.real if found.dtype.is_complex else diagonal).sqrt()
    found = found / scale.unsqueeze(1) / scale.unsqueeze(0)
    if found.dtype.is_complex:  # the parts, each on its own
        return _op("view_as_complex", _op("view_as_real", found).clamp(-1, 1))
    return found.clamp(-1, 1)


composite(
    "cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
    _cov,
    "Covariances of the rows.",
    precision="lower",
)
composite(
    "corrcoef(Tensor self) -> Tensor",
    _corrcoef,
    "Correlation coefficients of the rows.",
    precision="lower",
)
