"""Reduction rows: sums, products, extrema and truth over dimensions.

In: a tensor and `dim` (an int, several, or None for all). Out: the dimensions reduced, or kept with
size 1. `expr` names the combining operation the kernels use.

Source: torch's documentation of each function; extrema share a tie's gradient evenly (amax, amin).
"""

from typing import Any

import numpy

from minitorch2 import dtypes
from minitorch2.backends import primitives
from minitorch2.dispatch import call
from minitorch2.errors import IndexOutOfRange, UnsupportedDtype
from minitorch2.layouts import normalize_dim, normalize_dims
from minitorch2.ops.arithmetic import where
from minitorch2.ops.elementwise import converted_back
from minitorch2.ops.infer import infer_reduction, stride_order, sum_dtype
from minitorch2.ops.table import COMPOSITE, REDUCTION, Meta, defop, lookup

_add_up: Any = numpy.add.reduce
SCANNED = 4096  # elements from which on running sums are a kernel's


def _op(name, *args):
    return call(lookup(name), args)


def _axes(array, dim):
    return normalize_dims(dim, array.ndim)


def _restore(value, s):
    """A reduced tensor with its reduced dimensions back, as size 1."""
    if s.keepdim:
        return value
    for dim in sorted(normalize_dims(s.dim, s.self.ndim)):
        value = value.unsqueeze(dim)
    return value


def sums_in(result):
    """The type that sums and products of a type are computed in: float32 for 16-bit floats."""
    return numpy.float32 if result.itemsize == 2 and result.kind in "fV" else result


def _without_gaps(a, axes):
    """The array, where floats are added up along several axes: as a stretch of memory.

    numpy adds up stretches pairwise, as long as they are. So the bits of a sum depend on the order
    of the elements in memory and on nothing else.
    """
    if a.flags.forc or (a.ndim if axes is None else len(axes)) < 2 or a.dtype.kind in "iub":
        return a
    order = stride_order(a.shape, [list(a.strides)])[::-1]
    seen = a.transpose(order)
    if seen.flags.c_contiguous:
        return a
    return numpy.ascontiguousarray(seen).transpose(numpy.argsort(order))


def _sum(a, dim, keepdim, dtype):
    result = (
        dtype.numpy
        if dtype is not None
        else a.dtype
        if a.dtype.kind not in "iub"
        else numpy.dtype("int64")
    )
    work = sums_in(result)
    axes = None if dim is None or dim == () else _axes(a, dim)
    return numpy.asarray(_add_up(_without_gaps(a, axes), axes, work, None, keepdim), result)


def _sum_vjp(s, g):
    grown = _restore(g, s).expand(s.self.shape)
    return converted_back(grown, s.self.dtype)


defop(
    "sum(Tensor self, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    REDUCTION,
    eager=_sum,
    expr="sum",
    vjp=_sum_vjp,
    infer=lambda self, dim, keepdim, dtype: infer_reduction(
        self, dim, keepdim, sum_dtype(self, dtype)
    ),
    doc="Sum over `dim`; integers and bools add up in int64.",
    whole=True,
)


def _prod(a, dim, keepdim, dtype):
    result = (
        dtype.numpy
        if dtype is not None
        else a.dtype
        if a.dtype.kind not in "iub"
        else numpy.dtype("int64")
    )
    work = sums_in(result)
    axes = _axes(a, dim)
    found = numpy.prod(_without_gaps(a, axes), axis=axes, keepdims=keepdim, dtype=work)
    return found.astype(result)


def _as_computed(x, g):
    """An operand as the forward used it: without imaginary parts where its result has none."""
    return x.real if x.dtype.is_complex and not g.dtype.is_complex else x


def _products_of_others(x, dims):
    """For each element the product of those before it and of those after it along `dims`."""
    order = [dim for dim in range(x.ndim) if dim not in dims] + list(dims)
    shape = tuple(x.layout.shape[dim] for dim in order)
    lines = _op("reshape", _op("permute", x, tuple(order)), (*shape[: x.ndim - len(dims)], -1))
    ones = _op("full", (*lines.layout.shape[:-1], 1), 1, x.dtype, x.device)
    before, after = (
        _op("cat", (ones, line[..., :-1]), -1).cumprod(-1) for line in (lines, lines.flip(-1))
    )
    back = tuple(order.index(dim) for dim in range(x.ndim))
    return _op("permute", _op("reshape", before * after.flip(-1), shape), back)


def _prod_vjp(s, g):
    """The product of all by each, or, where some element is zero, of the others."""
    dims = normalize_dims(s.dim, s.self.ndim)
    x, factor = _as_computed(s.self, g), _restore(g, s)
    x = x.contiguous()  # one order of products, wherever the backward is computed
    zeros = x == 0
    known = x.storage.block is not None  # traced code has to be right either way
    if not x.ndim or 0 in x.layout.shape:
        found = factor.expand(x.layout.shape)
    elif known and not bool(zeros.any()):
        found = factor * (x.prod(dims, keepdim=True) / x)
    else:
        found = _products_of_others(x, dims)
        if s.dim is None or s.dim == ():  # torch looks no further than at the second zero
            found = where(_op("logical_and", zeros.sum() > 1, found != found), 0.0, found)
        if not known:
            safe = x.masked_fill(zeros, 1.0)
            found = where(zeros.any(), found, safe.prod(dims, keepdim=True) / safe)
        found = factor * found
    return converted_back(found, s.self.dtype)


defop(
    "prod(Tensor self, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    REDUCTION,
    eager=_prod,
    expr="prod",
    saves="self",
    vjp=_prod_vjp,
    precision="full",
    infer=lambda self, dim, keepdim, dtype: infer_reduction(
        self, dim, keepdim, sum_dtype(self, dtype)
    ),
    doc="Product over `dim`.",
    whole=True,
)


def _check_not_empty(self, dim, name):
    for at in normalize_dims(dim, self.ndim):
        if self.shape[at] == 0:
            raise IndexOutOfRange(
                f"{name}() over an empty dimension",
                "Expected reduction dim to be specified for input.numel() == 0. Specify the "
                "reduction dim with the 'dim' argument."
                if dim is None or dim == ()
                else f"Expected reduction dim {at} to have non-zero size.",
                "reduce over a dimension that has elements",
            )


def _infer_extremum(self, dim, keepdim):
    _check_not_empty(self, dim, "amax")
    return infer_reduction(self, dim, keepdim, self.dtype)


def _extremum_vjp(s, g):
    chosen = s.self == _restore(s.result, s)
    count = chosen.sum(normalize_dims(s.dim, s.self.ndim), keepdim=True)
    return _restore(g, s) * chosen / count


defop(
    "amax(Tensor self, int[] dim=(), bool keepdim=False) -> Tensor",
    REDUCTION,
    expr="max",
    eager=lambda a, dim, keepdim: numpy.max(a, axis=_axes(a, dim), keepdims=keepdim),
    infer=_infer_extremum,
    saves="self result",
    vjp=_extremum_vjp,
    doc="The largest element over `dim`; nan when there is one.",
    accepts="bif",
    whole=True,
    exact="always",
)
defop(
    "amin(Tensor self, int[] dim=(), bool keepdim=False) -> Tensor",
    REDUCTION,
    expr="min",
    eager=lambda a, dim, keepdim: numpy.min(a, axis=_axes(a, dim), keepdims=keepdim),
    infer=_infer_extremum,
    saves="self result",
    vjp=_extremum_vjp,
    doc="The smallest element over `dim`; nan when there is one.",
    accepts="bif",
    whole=True,
    exact="always",
)


def _index_of(function):
    def eager(a, dim, keepdim):
        if dim is None:
            found = function(a.reshape(-1))
            return numpy.asarray(found).reshape((1,) * a.ndim if keepdim else ())
        if a.ndim == 0:
            return numpy.zeros((), numpy.int64)
        return function(a, axis=dim, keepdims=keepdim).astype(numpy.int64)

    return eager


def _infer_index(self, dim, keepdim):
    if self.dtype is dtypes.bool:
        raise UnsupportedDtype(
            "argmax()", "\"argmax_cpu\" not implemented for 'Bool'", "convert: x.int()"
        )
    if dim is None:
        _check_not_empty(self, None, "argmax")
        return Meta((1,) * self.ndim if keepdim else (), dtypes.int64)
    _check_not_empty(self, dim, "argmax")
    return infer_reduction(self, normalize_dim(dim, self.ndim), keepdim, dtypes.int64)


defop(
    "argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
    REDUCTION,
    expr="argmax",
    eager=_index_of(numpy.argmax),
    infer=_infer_index,
    doc="The index of the first largest element (of the flat tensor without `dim`).",
    accepts="bif",
    exact="always",
)
defop(
    "argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
    REDUCTION,
    expr="argmin",
    eager=_index_of(numpy.argmin),
    infer=_infer_index,
    doc="The index of the first smallest element (of the flat tensor without `dim`).",
    accepts="bif",
    exact="always",
)


def _truth(name):
    """`any` or `all`: no dimensions given leaves each element by itself."""

    def decomp(self, dim, keepdim):
        if dim == ():
            found = (self if self.dtype is dtypes.bool else self != 0).contiguous()
        else:
            found = call(lookup(f"{name}_true"), (self, dim, keepdim))
        return found.to(dtypes.uint8) if self.dtype is dtypes.uint8 else found

    return decomp


for _name, _function in (("any", numpy.any), ("all", numpy.all)):
    defop(
        f"{_name}_true(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
        REDUCTION,
        method=False,
        function=False,
        torch=f"torch.{_name}",
        expr=_name,
        eager=lambda a, dim, keepdim, function=_function: function(
            a, axis=_axes(a, dim), keepdims=keepdim
        ),
        infer=lambda self, dim, keepdim: infer_reduction(self, dim, keepdim, dtypes.bool),
        doc=f"Whether {_name} elements over `dim` are true, as bools.",
    )
    defop(
        f"{_name}(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
        COMPOSITE,
        decomp=_truth(_name),
        doc=f"Whether {_name} elements over `dim` are true (uint8 for uint8, as torch has it).",
        exact="always",
    )


def _cumsum_vjp(s, g):
    g = g.flip(s.dim).cumsum(s.dim).flip(s.dim) if s.self.ndim else g
    return converted_back(g, s.self.dtype)


def _cumsum(a, dim, dtype):
    result = (
        dtype.numpy
        if dtype is not None
        else (a.dtype if a.dtype.kind not in "iub" else numpy.dtype("int64"))
    )
    a = a.astype(sums_in(result), copy=False)
    scans = primitives.scanner() if a.size >= SCANNED else None
    if a.ndim == 0:
        found = a.copy()
    elif scans is not None and scans.takes(a):
        found = scans.cumsum(a, dim)
    else:  # floats in double precision and from 0.0 on, as the scans do
        found = numpy.cumsum(a, axis=dim, dtype=numpy.float64 if a.dtype.char == "f" else a.dtype)
        found += found.dtype.type(0)
    return found.astype(result, copy=False)


defop(
    "cumsum(Tensor self, int dim, *, dtype? dtype=None) -> Tensor",
    REDUCTION,
    expr="cumsum",
    eager=_cumsum,
    infer=lambda self, dim, dtype: (
        normalize_dim(dim, self.ndim),
        Meta(tuple(self.shape), sum_dtype(self, dtype)),
    )[1],
    vjp=_cumsum_vjp,
    doc="Running sums along `dim`.",
)
