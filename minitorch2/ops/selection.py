"""Composite rows that select elements: triangles, extrema with their places, the largest few.

In: tensors. Out: tensors, or pairs of values and indices.

Source: torch's documentation of each function.
"""

from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.errors import DtypeError, ShapeError
from minitorch2.ops.composites import composite
from minitorch2.ops.table import lookup


def _op(name, *args):
    return call(lookup(name), args)


# ---- triangles and search --------------------------------------------------------------------


def _triangle(self, diagonal, keep_lower):
    if self.ndim < 2:
        raise ShapeError(
            f"tril/triu of a tensor of shape {list(self.shape)}",
            "input tensor must have at least 2 dimensions",
            "unsqueeze it first",
        )
    rows, columns = self.layout.shape[-2:]
    row = _op("range_", 0, rows, 1, None, self.device).unsqueeze(1)
    column = _op("range_", 0, columns, 1, None, self.device)
    keep = column - row <= diagonal if keep_lower else column - row >= diagonal
    zero = False if self.dtype is dtypes.bool else 0
    return _op("where", keep, self, zero).contiguous()


composite(
    "tril(Tensor self, int diagonal=0) -> Tensor",
    lambda self, diagonal: _triangle(self, diagonal, True),
    "The lower triangle; zeros above the diagonal.",
    exact="always",
)
composite(
    "triu(Tensor self, int diagonal=0) -> Tensor",
    lambda self, diagonal: _triangle(self, diagonal, False),
    "The upper triangle; zeros below the diagonal.",
    exact="always",
)


def _pick(name):
    """`max(dim)` and `min(dim)`: the value at the first extremum, which gets all the gradient."""

    def values_and_indices(self, dim, keepdim):
        comparable = self.to(dtypes.uint8) if self.dtype is dtypes.bool else self
        index = _op(name, comparable, dim, True)
        if self.ndim == 0:
            return _op("clone", self), index
        values = _op("gather", self, dim, index)
        if keepdim:
            return values, index
        return values.squeeze(dim), index.squeeze(dim)

    return values_and_indices


composite(
    "max_dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    _pick("argmax"),
    "The largest elements of a dimension and where they are.",
    method=False,
    function=False,
    torch="torch.max",
)
composite(
    "min_dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    _pick("argmin"),
    "The smallest elements of a dimension and where they are.",
    method=False,
    function=False,
    torch="torch.min",
)


def _topk(self, k, dim, largest, sorted):
    if self.dtype is dtypes.bool:
        raise DtypeError(
            f"topk({k}) of bools", "topk does not support bool dtypes on CPU", "convert: x.int()"
        )
    return _op("sort_first", self, dim, k, largest)


composite(
    "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True)"
    " -> (Tensor values, Tensor indices)",
    _topk,
    "The k largest (or smallest) elements of a dimension and where they are.",
    exact="always",
)
composite(
    "argsort(Tensor self, int dim=-1, bool descending=False, *, bool stable=False) -> Tensor",
    lambda self, dim, descending, stable: _op("sort", self, dim, descending, stable)[1],
    "The indices that sort a dimension.",
    exact="always",
)
