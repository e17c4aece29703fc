"""Sparse tensors taken apart and put together: indexing, joining, other orders, other dtypes.

In: sparse tensors whose parts are indices [dims, held] and values [held, ...]. Out: sparse tensors
of the elements that are left, in other places; dense ones where nothing but values is left.

    >>> import minitorch2 as torch
    >>> torch.cat([torch.eye(2).to_sparse()] * 2)._nnz()
    4

Source: torch.sparse's "Supported operations".
"""

from collections.abc import Callable
from typing import Any

from minitorch2 import dtypes
from minitorch2.creation import zeros
from minitorch2.layouts import normalize_dim
from minitorch2.ops.table import lookup
from minitorch2.sparse.functions import addmm, mm
from minitorch2.sparse.tensor import FUNCTIONS, SparseTensor, made_of, refuse, with_values
from minitorch2.tensors import Tensor

_cat, _stack, _where = (lookup(name).public for name in ("cat", "stack", "where"))


def select(input: SparseTensor, dim: int, index: int) -> Any:
    """One index of a dimension; dense where no dimension of indices is left."""
    at = normalize_dim(dim, input.ndim)
    size = input.shape[at]
    if not -size <= index < size:
        refuse(f"select({dim}, {index})", f"index {index} is out of bounds for size {size}")
    index %= size
    count = input.sparse_dim()
    sizes = [each for d, each in enumerate(input.shape) if d != at]
    if at >= count:
        return made_of(
            input._places, input._numbers.select(at - count + 1, index), sizes, input._coalesced
        )
    kept = input._places[at] == index
    places, numbers = input._places[:, kept], input._numbers[kept]
    if count == 1:
        return numbers.sum(0)
    rest = [d for d in range(count) if d != at]
    return made_of(places[rest], numbers, sizes, input._coalesced)


def index_select(input: SparseTensor, dim: int, index: Any) -> Any:
    """Some indices of a dimension, in the order given."""
    parts = [select(input, dim, int(each)) for each in index.tolist()]
    at = normalize_dim(dim, input.ndim)
    if parts and isinstance(parts[0], SparseTensor):
        return stack(parts, at)
    found = _stack(parts) if parts else input._numbers.new_zeros((0, *input.shape[1:]))
    return FUNCTIONS["to_sparse"](found)


def get_item(input: SparseTensor, index: Any) -> Any:
    """Integers, full slices and tensors of indices, one for each of the first dimensions."""
    found, dim = input, 0
    for part in index if isinstance(index, tuple) else (index,):
        if isinstance(part, slice) and part == slice(None):
            dim += 1
        elif isinstance(part, Tensor) and part.ndim == 1 and part.dtype is dtypes.int64:
            found, dim = index_select(found, dim, part), dim + 1
        elif hasattr(part, "__index__"):
            found = select(found, dim, part.__index__())
        else:
            refuse(f"a sparse tensor[{part!r}]", "only integers, full slices and indices select")
    return found


def unsqueeze(input: SparseTensor, dim: int) -> Any:
    """A dimension of size 1 put in."""
    at = normalize_dim(dim, input.ndim + 1)
    sizes = [*input.shape[:at], 1, *input.shape[at:]]
    count = input.sparse_dim()
    if at > count:
        numbers = input._numbers.unsqueeze(at - count + 1)
        return made_of(input._places, numbers, sizes, input._coalesced)
    row = input._places.new_zeros((1, input._places.shape[1]))
    places = _cat((input._places[:at], row, input._places[at:]), 0)
    return made_of(places, input._numbers, sizes, input._coalesced)


def cat(tensors: Any, dim: int = 0) -> Any:
    """Sparse tensors one after the other along a dimension."""
    if not all(isinstance(each, SparseTensor) for each in tensors):
        refuse("cat of sparse and dense tensors", "concatenating needs one layout")
    first = tensors[0]
    at, count = normalize_dim(dim, first.ndim), first.sparse_dim()
    if at >= count:
        refuse(f"cat(dim={dim}) of sparse tensors", "dense dimensions are not joined")
    places, start = [], 0
    for each in tensors:
        rows = list(each._places.unbind(0))
        rows[at] = rows[at] + start
        places.append(_stack(rows))
        start += each.shape[at]
    sizes = [start if d == at else size for d, size in enumerate(first.shape)]
    held = sum(each._coalesced for each in tensors) == len(tensors) and at == 0
    return made_of(_cat(places, 1), _cat([each._numbers for each in tensors], 0), sizes, held)


def stack(tensors: Any, dim: int = 0) -> Any:
    """Sparse tensors along a new dimension."""
    return cat([unsqueeze(each, dim) for each in tensors], dim)


def permute(input: SparseTensor, *dims: Any) -> Any:
    """The dimensions in another order, those of indices among themselves."""
    given = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
    order, count = [normalize_dim(each, input.ndim) for each in given], input.sparse_dim()
    if sorted(order[:count]) != list(range(count)):
        refuse(f"permute{tuple(given)} of a sparse tensor", "indices and values keep apart")
    numbers = input._numbers.permute(0, *(each - count + 1 for each in order[count:]))
    sizes = [input.shape[each] for each in order]
    return made_of(
        input._places[order[:count]],
        numbers,
        sizes,
        order[:count] == sorted(order[:count]) and input._coalesced,
    )


def _cast(dtype: Any) -> Callable:
    return lambda input: with_values(input.coalesce(), input.coalesce()._numbers.to(dtype))


def zeros_like(input: SparseTensor, *, dtype: Any = None, **options: Any) -> Any:
    """A sparse tensor of the same size that holds nothing."""
    none = input._numbers.new_zeros((0, *input._numbers.shape[1:]), dtype=dtype)
    return made_of(input._places[:, :0], none, input.shape, True)


def norm(input: SparseTensor, p: Any = "fro", dim: Any = None, keepdim: bool = False) -> Any:
    """The norm of all elements."""
    if dim is not None:
        refuse("norm(dim=...) of a sparse tensor", "only the norm of all elements is defined")
    return input.coalesce()._numbers.norm() if p == "fro" else input.coalesce()._numbers.norm(p)


def sparse_mask(self: Any, mask: SparseTensor) -> Any:
    """The elements of a dense tensor at the places that a sparse one holds."""
    found = mask.coalesce()
    return with_values(found, self[tuple(found._places.unbind(0))])


def sspaddmm(mat: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """addmm of sparse mat and mat1, as a sparse tensor."""
    return FUNCTIONS["to_sparse"](addmm(mat.to_dense(), mat1, mat2, beta=beta, alpha=alpha))


def smm(input: Any, mat: Any) -> Any:
    """The product with a dense matrix, as a sparse tensor."""
    return FUNCTIONS["to_sparse"](mm(input, mat))


def empty(size: Any, dtype: Any = None) -> Any:
    """A sparse tensor that holds nothing."""
    places = zeros((len(size), 0), dtype=dtypes.int64)
    return made_of(places, zeros(0, dtype=dtype or dtypes.get_default_dtype()), size, True)


def _add_(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    """add_ of a dense or a sparse tensor and a sparse one."""
    if isinstance(self, SparseTensor):
        return self.add_(other, alpha=alpha)
    return self.add_(other.to_dense(), alpha=alpha)


FUNCTIONS |= {
    "select": select,
    "index_select": index_select,
    "__getitem__": get_item,
    "unsqueeze": unsqueeze,
    "cat": cat,
    "concat": cat,
    "stack": stack,
    "permute": permute,
    "zeros_like": zeros_like,
    "empty_like": zeros_like,
    "norm": norm,
    "sparse_mask": sparse_mask,
    "sspaddmm": sspaddmm,
    "smm": smm,
    "hspmm": smm,
    "add_": _add_,
    "__iadd__": _add_,
    "any": lambda input: (input.coalesce()._numbers != 0).any(),
    "isnan": lambda input: input._mapped(lambda numbers: numbers.isnan()),
    "isinf": lambda input: input._mapped(lambda numbers: numbers.isinf()),
    "bool": _cast(dtypes.bool),
    "int": _cast(dtypes.int32),
    "long": _cast(dtypes.int64),
    "half": _cast(dtypes.float16),
}
for _name in (
    "select",
    "index_select",
    "unsqueeze",
    "permute",
    "norm",
    "bool",
    "int",
    "long",
    "half",
):
    setattr(SparseTensor, _name, FUNCTIONS[_name])
SparseTensor.__getitem__ = get_item
