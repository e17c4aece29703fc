"""Functions of sparse tensors: sums with dense tensors, products, softmax.

In: sparse and dense tensors. Out: dense tensors where torch gives them, else sparse ones.

Example: `mm(adjacency, features)` is the dense product of a sparse matrix and a dense one.

Source: torch.sparse.
"""

from collections.abc import Callable
from typing import Any

import numpy

from minitorch2.creation import from_numpy, zeros
from minitorch2.errors import OperationError
from minitorch2.formats import sparse_csr
from minitorch2.layouts import normalize_dim
from minitorch2.ops.table import lookup
from minitorch2.sparse.tensor import FUNCTIONS, SparseTensor, refuse, with_values
from minitorch2.tensors import Tensor

_index_add, _matmul = lookup("index_add").public, lookup("matmul").public


def _dense_plus(dense: Any, sparse: SparseTensor, alpha: Any = 1) -> Any:
    """A dense tensor with the values of a sparse one added at their places."""
    if not isinstance(dense, Tensor):
        refuse("a number plus a sparse tensor", "the sum is not sparse")
    return dense + sparse.mul(alpha).to_dense()


def _add_(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    """add, of the first tensor itself; of a dense one only the places that the other holds."""
    if isinstance(self, SparseTensor):
        return self.add_(other, alpha=alpha)
    values = other._numbers if alpha == 1 else other._numbers * alpha
    return self.index_put_(tuple(other._places.unbind(0)), values, True)


def _times_sparse(dense: Any, sparse: SparseTensor) -> Any:
    """dense @ sparse."""
    return sparse.t().matmul(dense.t()).t()


def _add(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    if isinstance(self, SparseTensor):
        return self.add(other, alpha=alpha)
    return _dense_plus(self, other, alpha)


def _sub(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    return _add(self, other, alpha=-alpha)


def _mul(self: Any, other: Any) -> Any:
    return self.mul(other) if isinstance(self, SparseTensor) else other.mul(self)


def mm(mat1: Any, mat2: Any) -> Any:
    """The product of two matrices, of which either may be sparse."""
    if isinstance(mat1, SparseTensor):
        return mat1.matmul(mat2)
    return _times_sparse(mat1, mat2) if isinstance(mat2, SparseTensor) else _matmul(mat1, mat2)


spmm = mm


def addmm(mat: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * mat + alpha * (mat1 @ mat2) for a sparse mat1."""
    return mat * beta + mm(mat1, mat2) * alpha


def sampled_addmm(
    input: SparseTensor, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0
) -> Any:
    """beta * input + alpha * (mat1 @ mat2) at the places that a CSR matrix [m, n] holds.

    Only the products of those places are computed, each of a row of mat1 [m, k] and a column of
    mat2 [k, n]. OperationError for other layouts, sizes and dtypes.
    """
    asked = f"sampled_addmm({list(input.shape)}, {list(mat1.shape)}, {list(mat2.shape)})"
    if not isinstance(input, SparseTensor) or input.layout_kind is not sparse_csr:
        wrong = "Expected input to have sparse csr layout"
        raise OperationError(asked, wrong, "make it one: input.to_sparse_csr()")
    wrong = ""
    if mat1.dtype is not mat2.dtype or mat1.dtype is not input.dtype:
        wrong = f"Expected one dtype, but got {input.dtype}, {mat1.dtype} and {mat2.dtype}"
    elif mat1.ndim != 2 or mat2.ndim != 2 or mat1.shape[1] != mat2.shape[0]:
        sizes = "x".join(map(str, mat1.shape)), "x".join(map(str, mat2.shape))
        wrong = f"mat1 and mat2 shapes cannot be multiplied ({sizes[0]} and {sizes[1]})"
    elif tuple(input.shape) != (mat1.shape[0], mat2.shape[1]):
        wrong = f"input has the shape {list(input.shape)}, the product another"
    if wrong:
        raise OperationError(asked, wrong)
    rows, columns = input._places.unbind(0)
    products = (mat1[rows] * mat2.t()[columns]).sum(-1)
    return with_values(input, products * alpha + input._numbers * beta)


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """The sum of a sparse tensor's elements, or over some dimensions."""
    return input.sum(dim, dtype=dtype)


def softmax(input: SparseTensor, dim: int, *, dtype: Any = None) -> Any:
    """softmax along a dimension of the indices; what is not held counts as minus infinity."""
    return _normalized(input, dim, dtype, lambda x, total: x.exp() / total)


def log_softmax(input: SparseTensor, dim: int, *, dtype: Any = None) -> Any:
    """The logarithm of softmax."""
    return _normalized(input, dim, dtype, lambda x, total: x - total.log())


def _normalized(input: SparseTensor, dim: int, dtype: Any, finish: Callable) -> Any:
    found = input.coalesce()
    at = normalize_dim(dim, found.ndim)
    places = found._places.numpy()
    rest = [places[d] for d in range(len(places)) if d != at]
    groups = numpy.zeros(places.shape[1], numpy.int64)
    for row in rest:
        groups = groups * (int(row.max(initial=0)) + 1) + row
    kept, inverse = numpy.unique(groups, return_inverse=True)
    group = from_numpy(inverse.reshape(-1).astype(numpy.int64))
    numbers = found._numbers if dtype is None else found._numbers.to(dtype)
    top = numpy.full((len(kept), *numbers.shape[1:]), -numpy.inf, numbers.dtype.numpy)
    numpy.maximum.at(top, inverse.reshape(-1), numbers.detach().numpy())
    shifted = numbers - from_numpy(top)[group]
    into = zeros((len(kept), *numbers.shape[1:]), dtype=numbers.dtype)
    return with_values(found, finish(shifted, _index_add(into, 0, group, shifted.exp())[group]))


FUNCTIONS |= {
    "add": _add,
    "add_": _add_,
    "sub_": lambda self, other, *, alpha=1: _add_(self, other, alpha=-alpha),
    "__iadd__": _add_,
    "sub": _sub,
    "subtract": _sub,
    "mul": _mul,
    "multiply": _mul,
    "__add__": _add,
    "__sub__": _sub,
    "__mul__": _mul,
    "__matmul__": mm,
    "mm": mm,
    "matmul": mm,
    "mv": mm,
    "addmm": addmm,
    "is_tensor": lambda value: True,
}
