"""Sparse tensors from indices and values, or from the elements of dense tensors that are not zero.

In: places [dimensions, n] and values [n, *dense sizes]; rows of a matrix in CSR; or a dense tensor.
Out: a SparseTensor.

    >>> sparse_coo_tensor([[1], [0]], [5.0]).to_dense()
    tensor([[0.],
            [5.]])

Source: torch.sparse.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy

from minitorch2 import dtypes as _dtypes
from minitorch2.creation import as_tensor, from_numpy, zeros
from minitorch2.dtypes import dtype as dtype_of
from minitorch2.dtypes import int64
from minitorch2.errors import OperationError
from minitorch2.formats import sparse_csr
from minitorch2.sparse.tensor import FUNCTIONS, SparseTensor, made_of
from minitorch2.tensors import Size, Tensor


def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Any = None,
    *,
    dtype: dtype_of | None = None,
    device: Any = None,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Any:
    """A sparse tensor from places [dimensions, n] and values [n, *dense sizes].

    Without `size` it is just large enough. Raises OperationError for places outside.
    """
    if indices is None or not hasattr(indices, "__len__") or values is None:
        size = indices if size is None else size
        size = (size,) if isinstance(size, int) else tuple(size)
        indices, values = zeros(len(size), 0, dtype=int64), zeros(0)
    places = as_tensor(indices).long()
    numbers = as_tensor(values, dtype=dtype)
    places = places.reshape(1, -1) if places.ndim == 1 else places
    held = places.numpy()
    asked = f"sparse_coo_tensor(indices {list(places.shape)}, values {list(numbers.shape)})"
    if numbers.ndim < 1 or places.ndim != 2 or places.shape[1] != numbers.shape[0]:
        raise OperationError(
            asked, "number of indices and of values do not match", "give one column for each value"
        )
    if held.size and held.min() < 0:
        raise OperationError(asked, f"found negative index {held.min()}", "count from zero")
    count = len(held)
    if size is None:
        if held.size == 0:
            raise OperationError(asked, "a size cannot be inferred from no index", "give size=")
        size = (*(int(row.max()) + 1 for row in held), *numbers.shape[1:])
    size = Size(size)
    for dim, row in enumerate(held):
        if row.size and row.max() >= size[dim]:
            raise OperationError(
                asked,
                f"size is inconsistent with indices: for dim {dim}, size is {size[dim]} but found "
                f"index {row.max()}",
                "give a larger size",
            )
    if tuple(size[count:]) != tuple(numbers.shape[1:]):
        raise OperationError(asked, f"values have sizes {list(numbers.shape[1:])}, size {size}")
    if requires_grad:
        numbers = numbers.detach().clone().requires_grad_()
    return made_of(places, numbers, size, bool(is_coalesced) or not held.size)


def sparse_csr_tensor(
    crow_indices: Any,
    col_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: dtype_of | None = None,
    device: Any = None,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Any:
    """A sparse matrix from where each row begins, the columns, and the values."""
    starts = as_tensor(crow_indices).long().numpy()
    rows = numpy.repeat(numpy.arange(len(starts) - 1), numpy.diff(starts))
    places = numpy.stack([rows, as_tensor(col_indices).long().numpy()])
    size = size or (len(starts) - 1, int(places[1].max(initial=-1)) + 1)
    options: dict[str, Any] = {"dtype": dtype, "requires_grad": requires_grad}
    found = sparse_coo_tensor(from_numpy(places), values, size, **options, is_coalesced=True)
    return made_of(found._places, found._numbers, found.shape, True, sparse_csr)


def to_sparse(self: Tensor, sparse_dim: int | None = None, **options: Any) -> Any:
    """The elements that are not zero; `sparse_dim` dimensions are indices, the others dense."""
    count = self.ndim if sparse_dim is None else sparse_dim
    if not 0 <= count <= self.ndim:
        raise OperationError(
            f"to_sparse({count})",
            f"dense_to_sparse: sparse_dim argument must be in [0,{self.ndim}] range, but {count} "
            "is given",
        )
    held = self.detach().numpy()
    present = held.reshape(*held.shape[:count], -1).any(-1) if count < self.ndim else held != 0
    places = numpy.stack(numpy.nonzero(present)) if count else numpy.zeros((0, 1), numpy.int64)
    where = from_numpy(places.astype(numpy.int64))
    return made_of(where, self[tuple(where.unbind(0))], self.shape, True)


def to_sparse_csr(self: Tensor, dense_dim: Any = None) -> Any:
    """The elements of a matrix that are not zero, in CSR."""
    return to_sparse(self).to_sparse_csr()


def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: Any = None) -> Any:
    """The tensor itself, which is dense."""
    return self if dtype is None else self.to(dtype)


def _typed(name: str, wanted: str) -> Callable:
    def function(indices: Any, values: Any, size: Any = None) -> Any:
        return sparse_coo_tensor(indices, values.to(getattr(_dtypes, wanted)), size)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"A sparse {wanted} tensor: sparse_coo_tensor's old name."
    return function


FloatTensor, DoubleTensor = _typed("FloatTensor", "float32"), _typed("DoubleTensor", "float64")
HalfTensor, LongTensor = _typed("HalfTensor", "float16"), _typed("LongTensor", "int64")
IntTensor, BoolTensor = _typed("IntTensor", "int32"), _typed("BoolTensor", "bool")


def install() -> None:
    """Give Tensor its conversions; called once, when the package is imported."""
    # A class of ours takes no part in overrides unless it says so after it was made.
    methods, sparse = cast(Any, Tensor), cast(Any, SparseTensor)
    sparse.__torch_function__ = classmethod(sparse._answer)
    methods.to_sparse, methods.to_sparse_csr, methods.to_dense = to_sparse, to_sparse_csr, to_dense
    methods.to_sparse_coo = to_sparse


FUNCTIONS["to_sparse"] = to_sparse
