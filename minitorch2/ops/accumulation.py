"""Rows that run along a dimension: cumulative products and extrema, differences, integrals.

In: a tensor and a dimension. Out: what has come up to each index.

Source: torch's documentation of each function.
"""

import numpy

from minitorch2 import dtypes
from minitorch2.dispatch import call, state
from minitorch2.errors import DimensionError, OperationError
from minitorch2.layouts import normalize_dim
from minitorch2.ops.arithmetic import real_part
from minitorch2.ops.composites import composite
from minitorch2.ops.elementwise import converted_back
from minitorch2.ops.infer import describe_value, sum_dtype
from minitorch2.ops.reductions import sums_in
from minitorch2.ops.table import LIBRARY, Meta, defop, lookup

_HOST = "what comes up to an index is found one after the other"


def _op(name, *args):
    return call(lookup(name), args)


def _infer_same(self, dim, dtype=None):
    normalize_dim(dim, self.ndim)
    return Meta(tuple(self.shape), sum_dtype(self, dtype))


def _cumprod(a, dim, dtype):
    wide = numpy.dtype("int64") if a.dtype.kind in "iub" else a.dtype
    result = wide if dtype is None else dtype.numpy
    if a.ndim == 0:
        return a.astype(result)
    work = sums_in(numpy.dtype(result))
    if work == numpy.float32 and numpy.dtype(result).itemsize == 4:
        work = numpy.dtype("float64")  # what is too large or small for float32 may come back
    return numpy.cumprod(a, axis=dim, dtype=work).astype(result)


def _backwards(value, dim):
    """Sums from each index to the end."""
    return value.flip(dim).cumsum(dim).flip(dim)


def _cumprod_gradient(x, g, dim):
    """Every product without each factor: differentiable also where factors are zero."""
    x, g = x.movedim(dim, -1), g.movedim(dim, -1)
    size = x.layout.shape[-1]
    at = _op("range_", 0, size, 1, None, x.device)
    without = _op("where", at.unsqueeze(1) == at, 1.0, x.unsqueeze(-2)).cumprod(-1)
    reached = _op("where", at.unsqueeze(1) <= at, without, 0.0)  # [..., factor, product]
    return (g.unsqueeze(-2) * reached).sum(-1).movedim(-1, dim)


def _cumprod_vjp(s, g):
    """Up to the first zero the usual quotient; at it the products without it; then nothing."""
    x, dim = s.self, s.dim
    if x.ndim == 0:
        return converted_back(g, x.dtype)
    if x.dtype.is_complex and not g.dtype.is_complex:  # imaginary parts were left out
        x = x.real
    zero = x == 0
    deeper = state.grad_enabled or state.duals  # something may ask for the slope of this slope
    if deeper and x.storage.block is not None and bool(zero.any()):
        return converted_back(_cumprod_gradient(x, g, dim), s.self.dtype)
    count = zero.cumsum(dim)
    safe = _op("where", zero, 1.0, x)
    products = safe.cumprod(dim)
    usual = _backwards(g * _op("where", count == 0, products, 0.0), dim) / safe
    at_zero = _backwards(g * _op("where", count == 1, products, 0.0), dim)
    first = _op("logical_and", zero, count == 1)
    found = _op("where", count == 0, usual, _op("where", first, at_zero, 0.0))
    return converted_back(found, s.self.dtype)


defop(
    "cumprod(Tensor self, int dim, *, dtype? dtype=None) -> Tensor",
    LIBRARY,
    eager=_cumprod,
    infer=_infer_same,
    saves="self",
    vjp=_cumprod_vjp,
    host=_HOST,
    doc="Running products along `dim`.",
)


def _running(function):
    """Running extrema and where the last of them stands."""

    def eager(a, dim):
        if a.ndim == 0:
            return a.copy(), numpy.zeros((), numpy.int64)
        values = function.accumulate(a, axis=dim)
        moved = (a == values) | (a != a)
        shape = [1] * a.ndim
        shape[dim] = -1
        places = numpy.arange(a.shape[dim]).reshape(shape)
        return values, numpy.maximum.accumulate(numpy.where(moved, places, 0), axis=dim)

    return eager


def _running_vjp(s, g, _):
    if s.self.ndim == 0:
        return g
    zeros = _op("full", tuple(s.self.shape), 0, g.dtype, g.device)
    return _op("scatter_add", zeros, s.dim, s.result1, g)


for _name, _function, _word in (
    ("cummax", numpy.maximum, "largest"),
    ("cummin", numpy.minimum, "smallest"),
):
    defop(
        f"{_name}(Tensor self, int dim) -> (Tensor values, Tensor indices)",
        LIBRARY,
        eager=_running(_function),
        infer=lambda self, dim: (
            normalize_dim(dim, self.ndim),
            (Meta(tuple(self.shape), self.dtype), Meta(tuple(self.shape), dtypes.int64)),
        )[1],
        saves="result1",
        vjp=_running_vjp,
        host=_HOST,
        doc=f"The {_word} element so far along `dim`, and where it stands.",
        exact="always",
        accepts="bif",
    )


def _logcumsumexp(a, dim):
    if a.ndim == 0:
        return a.copy()
    if a.dtype.kind == "c":
        return _complex_logcumsumexp(a, dim)
    wide = a.astype(numpy.float64)
    return numpy.logaddexp.accumulate(wide, axis=dim).astype(a.dtype)


def _complex_logcumsumexp(a, dim):
    """One step after the other, each from the larger exponential."""
    found = numpy.moveaxis(a.astype(numpy.complex128), dim, 0)
    for k in range(1, len(found)):
        before, here = found[k - 1], found[k]
        larger = before.real >= here.real
        high, low = numpy.where(larger, before, here), numpy.where(larger, here, before)
        found[k] = high + numpy.log1p(numpy.exp(low - high))
    return numpy.ascontiguousarray(numpy.moveaxis(found, 0, dim)).astype(a.dtype)


def _logcumsumexp_vjp(s, g):
    if s.self.ndim == 0 or not s.self.numel():
        return g
    top = real_part(s.result.detach()).amax((s.dim,), keepdim=True)
    return _backwards(g * (top - s.result).exp(), s.dim) * (s.self - top).exp()


defop(
    "logcumsumexp(Tensor self, int dim) -> Tensor",
    LIBRARY,
    eager=_logcumsumexp,
    infer=lambda self, dim: (normalize_dim(dim, self.ndim), Meta(tuple(self.shape), self.dtype))[1],
    saves="self result",
    vjp=_logcumsumexp_vjp,
    host=_HOST,
    doc="The logarithm of the running sums of exp(self) along `dim`.",
    accepts="fc",
    exact="always",
)


def _diff(self, n, dim, prepend, append):
    if self.ndim == 0:
        raise OperationError(
            "diff() of a 0-d tensor", "diff expects input to be at least one-dimensional"
        )
    dim = normalize_dim(dim, self.ndim)
    if n < 0:
        raise OperationError(
            f"diff({describe_value(self)}, n={n})", "order must be non-negative", "give n=1"
        )
    if n == 0:
        return self.clone()
    parts = [part for part in (prepend, self, append) if part is not None]
    if len(parts) > 1:
        self = _op("cat", tuple(parts), dim)
    for _ in range(n):
        if self.layout.shape[dim] == 0:
            break
        later, earlier = _op("slice", self, dim, 1, None, 1), _op("slice", self, dim, 0, -1, 1)
        unequal = self.dtype is dtypes.bool
        self = _op("logical_xor", later, earlier) if unequal else later - earlier
    return self


composite(
    "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
    _diff,
    "Differences of neighbours along `dim`, taken n times.",
)


def _trapezoid(y, x, dx, dim):
    at = normalize_dim(dim, y.ndim)
    if not y.ndim:
        raise DimensionError(
            "trapezoid() of a 0-d tensor",
            f"Dimension specified as {dim} but tensor has no dimensions",
            "give values along a dimension",
        )
    if y.layout.shape[at] == 0:
        rest = y.layout.shape[:at] + y.layout.shape[at + 1 :]
        return _op("full", rest, 0, y.dtype, y.device)
    if x is not None and x.ndim > y.ndim:
        raise OperationError(
            f"trapezoid({describe_value(y)}, x={describe_value(x)})",
            "the points have more dimensions than the values",
            "give one point for each value",
        )
    size = y.layout.shape[at]
    if x is not None and x.ndim and x.layout.shape[at if x.ndim == y.ndim else -1] != size:
        raise OperationError(
            f"trapezoid({describe_value(y)}, x={describe_value(x)})",
            "trapezoid: There must be one `x` value for each sample point",
            "give one point for each value",
        )
    if y.dtype is dtypes.bool:
        raise OperationError(
            "trapezoid() of bools",
            "trapezoid: received a bool input for `y`, but bool is not supported",
            "convert: y.float()",
        )
    later, earlier = _op("slice", y, dim, 1, None, 1), _op("slice", y, dim, 0, -1, 1)
    if x is None:
        return ((later + earlier) * (dx / 2)).sum(dim)
    if x.ndim == 1:
        x = x.reshape((-1,) + (1,) * (y.ndim - at - 1))
        widths = _diff(x, 1, 0, None, None)
    else:
        widths = _diff(x, 1, dim, None, None)
    return ((later + earlier) * widths / 2).sum(dim)


def _cumulative_trapezoid(y, x, dx, dim):
    if dtypes.bool in (y.dtype, y.dtype if x is None else x.dtype):
        raise OperationError(
            "cumulative_trapezoid() of bools",
            "cumulative_trapezoid: received a bool input, but bool is not supported",
            "convert: y.float()",
        )
    at = normalize_dim(dim, y.ndim)
    later, earlier = _op("slice", y, dim, 1, None, 1), _op("slice", y, dim, 0, -1, 1)
    if x is None:
        return ((later + earlier) * (dx / 2)).cumsum(dim)
    if x.ndim == 1:
        x = x.reshape((-1,) + (1,) * (y.ndim - at - 1))
        widths = _diff(x, 1, 0, None, None)
    else:
        widths = _diff(x, 1, dim, None, None)
    return ((later + earlier) * widths / 2).cumsum(dim)


composite(
    "cumulative_trapezoid(Tensor y, Tensor? x=None, *, Scalar dx=1, int dim=-1) -> Tensor",
    _cumulative_trapezoid,
    "The integral up to each point along `dim`, by the trapezoidal rule.",
    method=False,
)
composite(
    "trapezoid(Tensor y, Tensor? x=None, *, Scalar dx=1, int dim=-1) -> Tensor",
    _trapezoid,
    "The integral along `dim` by the trapezoidal rule.",
    method=False,
)
