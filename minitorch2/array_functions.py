"""Functions of the package that arrange tensors, and are no rows: grids, stacks, splits, sets.

In: tensors. Out: tensors, made of rows. Those that torch also has as methods are listed in
METHODS.

    >>> from minitorch2 import tensor
    >>> unique(tensor([3, 1, 3]))
    tensor([1, 3])

Source: torch's documentation of each function.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy

from minitorch2 import dtypes, linalg, return_types
from minitorch2.creation import randint, strided_only, tensor
from minitorch2.errors import ArgumentValueError, OperationError
from minitorch2.functions import (
    allclose,
    broadcast_to,
    equal,
    isclose,
    meshgrid,
    some_tensors,
    vstack,
)
from minitorch2.layouts import broadcast_shapes as _broadcast_shapes
from minitorch2.layouts import normalize_dim
from minitorch2.ops.infer import check_element
from minitorch2.ops.outputs import into, with_out
from minitorch2.ops.signature import as_variadic
from minitorch2.ops.table import lookup
from minitorch2.ranges import arange
from minitorch2.splits import dsplit, hsplit, tensor_split, vsplit
from minitorch2.tensors import Size, Tensor


def _row(name: str) -> Callable:
    return lookup(name).public


_cat, _stack, _where_row, _nonzero = _row("cat"), _row("stack"), _row("where"), _row("nonzero")
_unique, _consecutive = _row("unique_parts"), _row("unique_consecutive_parts")
_polygamma = _row("polygamma")
_median_all, _median_dim = _row("median_all"), _row("median_dim")


# ---- choices and sets ------------------------------------------------------------------------


def where(condition: Any, *rest: Any, **named: Any) -> Any:
    """`where(c, a, b)`: a where c holds, else b. `where(c)`: the indices where it holds."""
    if rest or named:
        return _where_row(condition, *rest, **named)
    return tuple(_nonzero(condition).unbind(1))


def nonzero(input: Any, *, as_tuple: bool = False, out: Any = None) -> Any:
    """The indices of the non-zero elements: one row for each, or one vector for each dimension."""
    if as_tuple and not input.ndim:  # as a vector of one
        input = input.unsqueeze(0)
    found = into("nonzero", out, _nonzero(input), True)
    return tuple(found.unbind(1)) if as_tuple else found


def _chosen(parts: tuple, inverse: bool, counts: bool) -> Any:
    found = (parts[0], *([parts[1]] if inverse else []), *([parts[2]] if counts else []))
    return found if len(found) > 1 else found[0]


def unique(
    input: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The distinct elements (or slices along `dim`) in order; also their places and counts."""
    return _chosen(_unique(input, dim), return_inverse, return_counts)


def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """One element of each run of equal ones; also the places and the runs' lengths."""
    return _chosen(_consecutive(input, dim), return_inverse, return_counts)


def median(input: Any, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The middle element (the lower of two); along `dim` with its index."""
    if dim is None:
        return into("median", out, _median_all(input), True)
    found = return_types.of("median")(_median_dim(input, dim, keepdim))
    return into("median", out, found, True)


def polygamma(n: int, input: Any, *, out: Any = None) -> Any:
    """The n-th derivative of digamma."""
    return _polygamma(input, n, out=out)


# ---- stacks and splits -----------------------------------------------------------------------


def tile(input: Any, *dims: Any) -> Any:
    """The tensor repeated; missing counts at the front are 1."""
    counts = as_variadic(dims, "dims")
    return input.repeat((1,) * (input.ndim - len(counts)) + counts)


def dstack(tensors: Any, *, out: Any = None) -> Any:
    """Tensors one behind the other, along dimension 2."""
    return _cat(list(atleast_3d(some_tensors("dstack", tensors))), 2, out=out)


def column_stack(tensors: Any, *, out: Any = None) -> Any:
    """Tensors side by side; vectors are columns."""
    given = some_tensors("column_stack", tensors)
    return _cat([each.reshape(-1, 1) if each.ndim < 2 else each for each in given], 1, out=out)


def _at_least(grow: Callable) -> Callable:
    def function(*tensors: Any) -> Any:
        given = (
            tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
        )
        found = tuple(grow(each) for each in given)
        return found[0] if len(tensors) == 1 and found and isinstance(tensors[0], Tensor) else found

    return function


atleast_1d = _at_least(lambda x: x.reshape(1) if x.ndim == 0 else x)
atleast_2d = _at_least(lambda x: x.reshape(1, -1) if x.ndim < 2 else x)
atleast_3d = _at_least(
    lambda x: x.reshape(1, -1, 1) if x.ndim < 2 else x.unsqueeze(-1) if x.ndim == 2 else x
)


# ---- grids -----------------------------------------------------------------------------------


def cartesian_prod(*tensors: Any) -> Any:
    """All ways of taking one element of each vector, one row for each."""
    for each in tensors:
        if each.ndim != 1:
            raise OperationError(
                "cartesian_prod()", f"Expect a 1D vector, but got shape {list(each.shape)}"
            )
    if len(tensors) == 1:
        return tensors[0]
    return _stack([each.reshape(-1) for each in meshgrid(*tensors)], 1)


def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """All ways of taking r elements of a vector, in order."""
    asked = f"combinations({list(input.shape)}, r={r})"
    if input.ndim != 1:
        raise OperationError(asked, f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise OperationError(asked, f"Expect a non-negative number, but got {r}")
    if r == 0:
        return input.new_zeros((0,))
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    picks = list(choose(range(input.shape[0]), r))
    return input[tensor(picks, dtype=dtypes.int64).reshape(-1, r)]


def block_diag(*tensors: Any) -> Any:
    """Matrices along the diagonal of a larger one, zeros elsewhere."""
    for at, each in enumerate(tensors):
        check_element("block_diag", at, each)
        if each.ndim > 2:
            raise OperationError(
                "block_diag()",
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {at} has "
                f"{each.ndim} dimensions",
            )
    blocks = [atleast_2d(each) for each in tensors] or [tensor([[]])]
    total, rows, left = sum(each.shape[1] for each in blocks), [], 0
    for block in blocks:
        height, width = block.shape
        parts = [block.new_zeros((height, left)), block]
        rows.append(_cat([*parts, block.new_zeros((height, total - left - width))], 1))
        left += width
    return _cat(rows, 0)


def _triangle(
    row: int, col: int, offset: int, upper: bool, dtype: Any, device: Any, layout: Any
) -> Any:
    for name, count in (("row", row), ("col", col)):
        if count < 0:
            raise OperationError(
                f"indices of a triangle of {row} by {col}",
                f"{name} must be non-negative, got{count}",
            )
    strided_only("a triangle's indices", layout)
    inside = numpy.tri(row, col, offset - upper, bool) != upper
    places = numpy.stack(numpy.nonzero(inside))
    return tensor(places, dtype=dtype or dtypes.int64, device=device)


def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Any = None,
    device: Any = None,
    layout: Any = None,
) -> Any:
    """The indices of the lower triangle, row by row: [2, count]."""
    return _triangle(row, col, offset, False, dtype, device, layout)


def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Any = None,
    device: Any = None,
    layout: Any = None,
) -> Any:
    """The indices of the upper triangle, row by row: [2, count]."""
    return _triangle(row, col, offset, True, dtype, device, layout)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Powers of the elements, one row for each, the largest first unless `increasing`."""
    if x.ndim != 1:
        raise OperationError(
            f"vander() of shape {list(x.shape)}", "x must be a one-dimensional tensor."
        )
    count = x.shape[0] if N is None else N
    if count < 0:
        raise OperationError(f"vander(N={N})", "N must be non-negative.")
    powers = arange(count) if increasing else arange(count - 1, -1, -1)
    return x.unsqueeze(-1) ** powers


def fliplr(input: Any) -> Any:
    """Columns in reverse order."""
    if input.ndim < 2:
        raise OperationError(f"fliplr() of shape {list(input.shape)}", "Input must be >= 2-d.")
    return input.flip(1)


def flipud(input: Any) -> Any:
    """Rows in reverse order."""
    if input.ndim < 1:
        raise OperationError(f"flipud() of shape {list(input.shape)}", "Input must be >= 1-d.")
    return input.flip(0)


def rot90(input: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    """The plane of two dimensions turned k times by 90 degrees."""
    asked, wrong = f"rot90({list(input.shape)}, {k}, {dims})", ""
    if len(dims) != 2:
        wrong = f"expected total rotation dims == 2, but got dims = {len(dims)}"
    elif input.ndim < 2:
        wrong = f"expected total dims >= 2, but got total dims = {input.ndim}"
    elif normalize_dim(dims[0], input.ndim) == normalize_dim(dims[1], input.ndim):
        wrong = (
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    if wrong:
        raise OperationError(asked, wrong, "name two dimensions")
    first, second = dims
    k %= 4
    if k == 0:
        return input.clone()
    if k == 2:
        return input.flip((first, second))
    turned = input.transpose(first, second)
    return turned.flip((first,)) if k == 1 else turned.flip((second,))


# ---- matrices --------------------------------------------------------------------------------


def svd(input: Any, some: bool = True, compute_uv: bool = True) -> tuple:
    """U, S, V with U @ diag(S) @ V.mH = input; zeros for U and V without `compute_uv`."""
    if not compute_uv:
        m, n = input.shape[-2:]
        batch = tuple(input.shape[:-2])
        left, right = input.new_zeros((*batch, m, m)), input.new_zeros((*batch, n, n)).mT
        return return_types.of("svd")(left, linalg.svdvals(input), right)
    u, values, vh = linalg.svd(input, not some)
    return return_types.of("svd")(u, values, vh.mH)


def qr(input: Any, some: bool = True) -> Any:
    """Q and R."""
    return return_types.of("qr")(linalg.qr(input, "reduced" if some else "complete"))


def cholesky(input: Any, upper: bool = False) -> Any:
    """The triangular factor."""
    return linalg.cholesky(input, upper=upper)


def logdet(input: Any) -> Any:
    """The logarithm of the determinant; nan where that is negative."""
    sign, size = linalg.slogdet(input)
    return _where_row(sign < 0, float("nan"), size)


def chain_matmul(*matrices: Any) -> Any:
    """The product of several matrices."""
    return linalg.multi_dot(matrices)


def cross(input: Any, other: Any, dim: int | None = None, *, out: Any = None) -> Any:
    """The cross product; along the first dimension of size 3 when none is named."""
    if dim is None:
        dim = next((at for at, size in enumerate(input.shape) if size == 3), -1)
    return into("cross", out, linalg.cross(input, other, dim=dim))


# ---- queries ---------------------------------------------------------------------------------


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of these shapes are broadcast to."""
    given = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    if any(size < 0 for shape in given for size in shape):
        raise ArgumentValueError(
            f"broadcast_shapes{shapes}",
            "Attempting to broadcast a dimension with negative length!",
        )
    if not given:
        return Size(())
    return Size(_broadcast_shapes(*given))


def can_cast(from_: Any, to: Any) -> bool:
    """Whether a result of one dtype may be written into a tensor of another."""
    return dtypes.can_cast(from_, to)


def is_nonzero(input: Any) -> bool:
    """Whether the only element is not zero."""
    if input.numel() != 1:
        raise OperationError(
            f"is_nonzero() of a tensor of shape {list(input.shape)}",
            "Boolean value of Tensor with more than one value is ambiguous",
            "use any() or all()",
        )
    return bool(input)


def randint_like(
    input: Any,
    low: int,
    high: int | None = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Any:
    """Integers in [low, high) with the shape and dtype of a tensor."""
    return randint(
        *((0, low) if high is None else (low, high)),
        tuple(input.shape),
        dtype=dtype or input.dtype,
        device=device,
        requires_grad=requires_grad,
    )


def ravel(input: Any) -> Any:
    """All elements in a row, one beside the other: a view where they lie so."""
    return input.contiguous().view(-1)


def positive(input: Any) -> Any:
    """The tensor itself."""
    if input.dtype is dtypes.bool:
        raise OperationError("positive()", "The `+` operator, on a bool tensor is not supported.")
    return input


def new_tensor(self: Any, data: Any, dtype: Any = None, **options: Any) -> Any:
    """A tensor of data, in this tensor's dtype unless another is given."""
    return tensor(data, dtype=dtype or self.dtype, **options)


qr, cholesky, svd = (with_out(each, f"linalg.{each.__name__}") for each in (qr, cholesky, svd))

METHODS: dict[str, Callable] = {
    "ravel": ravel,
    "__pos__": positive,
    "positive": positive,
    "new_tensor": new_tensor,
    "unique": unique,
    "unique_consecutive": unique_consecutive,
    "median": median,
    "nonzero": nonzero,
    "tile": tile,
    "tensor_split": tensor_split,
    "hsplit": hsplit,
    "vsplit": vsplit,
    "dsplit": dsplit,
    "fliplr": fliplr,
    "flipud": flipud,
    "rot90": rot90,
    "svd": svd,
    "qr": qr,
    "cholesky": cholesky,
    "logdet": logdet,
    "cross": cross,
    "det": linalg.det,
    "slogdet": linalg.slogdet,
    "inverse": linalg.inv,
    "pinverse": linalg.pinv,
    "matrix_exp": linalg.matrix_exp,
    "allclose": allclose,
    "equal": equal,
    "isclose": isclose,
    "broadcast_to": broadcast_to,
}
det, slogdet, inverse, pinverse = linalg.det, linalg.slogdet, linalg.inv, linalg.pinv
matrix_exp, row_stack = linalg.matrix_exp, vstack

for _name, _function in METHODS.items():
    setattr(Tensor, _name, _function)
