"""Rows that rank elements: quantiles, with nans or without them, and the median of the numbers.

In: a tensor, shares between 0 and 1, a dimension. Out: the elements below which such shares of the
others lie, interpolated as asked.

Source: torch's documentation of each function.
"""

import math

from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.errors import DtypeError, IndexOutOfRange, OperationError
from minitorch2.layouts import normalize_dim
from minitorch2.ops.composites import composite
from minitorch2.ops.infer import describe_value
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor

WAYS = ("linear", "lower", "higher", "midpoint", "nearest")


def _op(name, *args):
    return call(lookup(name), args)


def _check(self, q, interpolation):
    if self.dtype not in (dtypes.float32, dtypes.float64):
        raise DtypeError(
            f"quantile({describe_value(self)})",
            "quantile() input tensor must be either float or double dtype",
            "convert: x.float()",
        )
    if isinstance(q, Tensor) and (q.ndim > 1 or q.dtype is not self.dtype):
        raise OperationError(
            f"quantile({describe_value(self)}, {describe_value(q)})",
            "quantile() q must be a scalar or 1D tensor of the same dtype as the input tensor",
            "convert it",
        )
    if not isinstance(q, Tensor) and not 0 <= q <= 1:
        raise OperationError(
            f"quantile(q={q})", "quantile() q must be in the range [0, 1]", "give a share"
        )
    if not self.numel():
        raise OperationError(
            f"quantile({describe_value(self)})", "quantile() input tensor must be non-empty"
        )
    if interpolation not in WAYS:
        raise OperationError(
            f"quantile(interpolation={interpolation!r})",
            f"interpolation must be one of {', '.join(WAYS)}",
        )


def _ranked(ordered, places, interpolation):
    """The elements at (fractional) places of the last dimension."""
    if interpolation == "nearest":
        return _op("gather", ordered, -1, places.round().to(dtypes.int64))
    below, above = places.floor(), places.ceil()
    shares = {"linear": places - below, "lower": 0.0, "higher": 1.0, "midpoint": 0.5}
    low = _op("gather", ordered, -1, below.to(dtypes.int64))
    high = _op("gather", ordered, -1, above.to(dtypes.int64))
    return _op("lerp", low, high, shares[interpolation])


def _quantile(skip):
    def decomp(self, q, dim, keepdim, interpolation):
        """The quantiles of `self`, [*q, *kept sizes]; `q` is a number or a 1-d tensor."""
        _check(self, q, interpolation)
        shape = self.layout.shape
        ranks = q if isinstance(q, Tensor) else _op("full", (), float(q), self.dtype, self.device)
        at = 0 if dim is None else normalize_dim(dim, self.ndim)
        flat = dim is None or not self.ndim
        whole = self.reshape((-1,)) if flat else self.movedim((at,), (-1,))
        ordered = _op("sort", whole, -1, False, True)[0]  # nans come last
        present = _op("logical_not", ordered.isnan()).sum((-1,), keepdim=True)
        size = ordered.layout.shape[-1]
        last = (present - 1).clamp(0, None) if skip else present * 0 + (size - 1)
        places = ranks.reshape((-1,)) * last.to(self.dtype)
        found = _ranked(ordered, places, interpolation)
        if not skip:
            found = _op("where", present < size, math.nan, found)
        found = found.movedim((-1,), (0,))
        if keepdim:
            rest = (1,) * self.ndim if flat else shape[:at] + (1,) + shape[at + 1 :]
            found = found.reshape((ranks.numel(), *rest))
        return found if ranks.ndim else found.squeeze(0)

    return decomp


for _name, _skip, _doc in (
    ("quantile", False, "The number below which the share q of the elements lies."),
    ("nanquantile", True, "quantile of the elements that are numbers."),
):
    composite(
        f"{_name}(Tensor self, Operand q, int? dim=None, bool keepdim=False, *,"
        " str interpolation='linear') -> Tensor",
        _quantile(_skip),
        _doc,
        precision="full",
        exact="always",
    )


def _nanmedian_dim(self, dim, keepdim):
    if not self.dtype.is_floating_point or not self.ndim:
        return _op("median_dim", self, dim, keepdim)
    at = normalize_dim(dim, self.ndim)
    if not self.layout.shape[at]:
        raise IndexOutOfRange(
            "nanmedian() over an empty dimension",
            f"Expected reduction dim {dim} to have non-zero size",
            "reduce over a dimension that has elements",
        )
    ordered, order = _op("sort", self, at, False, True)
    present = _op("logical_not", self.isnan()).sum((at,), keepdim=True)
    place = ((present - 1).clamp(0, None) / 2).floor().to(dtypes.int64)
    values, indices = _op("gather", ordered, at, place), _op("gather", order, at, place)
    return (values, indices) if keepdim else (values.squeeze(at), indices.squeeze(at))


composite(
    "nanmedian_dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    _nanmedian_dim,
    "The middle number of a dimension (the lower of two), nans left out, and where it is.",
    torch="torch.nanmedian",
    method=False,
    function=False,
)
composite(
    "nanmedian_all(Tensor self) -> Tensor",
    lambda self: (
        _nanmedian_dim(self.reshape((-1,)), 0, False)[0] if self.numel() else self.sum() + math.nan
    ),
    "The middle number (the lower of two), nans left out.",
    torch="torch.nanmedian",
    method=False,
    function=False,
)
composite(
    "msort(Tensor self) -> Tensor",
    lambda self: _op("sort", self, 0, False, False)[0],
    "The elements of the first dimension in order.",
    exact="always",
)


def _renorm(self, p, dim, maxnorm):
    if self.ndim < 2 or p <= 0 or maxnorm < 0:
        raise OperationError(
            f"renorm({describe_value(self)}, p={p}, dim={dim}, maxnorm={maxnorm})",
            "renorm: input needs at least 2 dimensions, p must be positive and maxnorm not "
            "negative",
            "give rows to scale",
        )
    at = normalize_dim(dim, self.ndim)
    others = tuple(d for d in range(self.ndim) if d != at)
    size = _op("norm", self, float(p), others, True, None)
    factor = _op("where", size > maxnorm, maxnorm / (size + 1e-7), 1.0)
    return (self * factor).contiguous()


composite(
    "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
    _renorm,
    "The entries of a dimension scaled down to a p-norm of at most maxnorm.",
    accepts="fc",
    exact="always",
)
