"""Product rows: matrix products on the BLAS inside numpy.

In: tensors of at least one dimension. Out: their product, leading dimensions broadcast as batches.

Source: the shape rules are those of torch.matmul's documentation.
"""

import numpy

from minitorch2.backends.blas import product
from minitorch2.dispatch import call
from minitorch2.errors import DtypeError, ShapeError
from minitorch2.layouts import broadcast_shapes
from minitorch2.ops.infer import describe_value
from minitorch2.ops.table import PRODUCT, Meta, defop


def _asked(self, other):
    return f"matmul({describe_value(self)}, {describe_value(other)})"


def _infer_matmul(self, other):
    a, b = tuple(self.shape), tuple(other.shape)
    if self.dtype is not other.dtype:
        raise DtypeError(
            _asked(self, other),
            f"expected m1 and m2 to have the same dtype, but got: {self.dtype} != {other.dtype}",
        )
    if not a or not b:
        raise ShapeError(
            _asked(self, other),
            "both arguments to matmul need to be at least 1D",
            "use * for a number",
        )
    rows = a if len(a) > 1 else (1, *a)
    columns = b if len(b) > 1 else (*b, 1)
    if rows[-1] != columns[-2]:
        raise ShapeError(
            _asked(self, other),
            f"mat1 and mat2 shapes cannot be multiplied ({rows[-2]}x{rows[-1]} "
            f"and {columns[-2]}x{columns[-1]})",
            "the last size of the first must equal the last but one of the second; "
            "perhaps transpose one: x @ w.T",
        )
    shape = rows[:-2]
    if shape != columns[:-2]:
        shape = broadcast_shapes(shape, columns[:-2], asked=_asked(self, other))
    shape += () if len(a) == 1 else (rows[-2],)
    shape += () if len(b) == 1 else (columns[-1],)
    return Meta(shape, self.dtype)


def _matmul(a, b):
    if a.dtype.itemsize == 2 and a.dtype.kind in "fV":
        return product(a.astype(numpy.float32), b.astype(numpy.float32)).astype(a.dtype)
    return numpy.asarray(product(a, b))


def _matmul_vjp(s, g):
    return (
        _to_left(s, g) if s.needs[0] else None,
        _to_right(s, g) if s.needs[1] else None,
    )


def _to_left(s, g):
    left, b = s.inputs[0], s.other
    if left.ndim == 1 and b.ndim == 1:
        return g * b
    if left.ndim == 1:  # [k] @ [..., k, n]
        return (g.unsqueeze(-2) @ b.mT).squeeze(-2).sum_to_size(left.shape)
    if b.ndim == 1:  # [..., m, k] @ [k]
        return (g.unsqueeze(-1) @ b.unsqueeze(0)).sum_to_size(left.shape)
    return (g @ b.mT).sum_to_size(left.shape)


def _to_right(s, g):
    a, right = s.self, s.inputs[1]
    if a.ndim == 1 and right.ndim == 1:
        return g * a
    if a.ndim == 1:  # [k] @ [..., k, n]
        return (a.unsqueeze(-1) @ g.unsqueeze(-2)).sum_to_size(right.shape)
    if right.ndim == 1:  # [..., m, k] @ [k]
        return (a.mT @ g.unsqueeze(-1)).squeeze(-1).sum_to_size(right.shape)
    if right.ndim == 2 and a.ndim > 2:  # one large product instead of a batch
        a, g = a.flatten(0, -2), g.flatten(0, -2)
    if _by_columns(right.layout):
        return (g.mT @ a).mT.sum_to_size(right.shape)
    return (a.mT @ g).sum_to_size(right.shape)


def _by_columns(layout):
    """Whether a matrix is a transposed one: its gradient is computed laid out as it is."""
    if layout is None:
        return False
    row, column = layout.strides[-2:]
    return type(row) is int and row == 1 and column is not row


MATMUL = defop(
    "matmul(Tensor self, Tensor other) -> Tensor",
    PRODUCT,
    eager=_matmul,
    infer=_infer_matmul,
    saves="self:other other:self",
    vjp=_matmul_vjp,
    precision="lower",
    doc="Matrix product; leading dimensions are batches and broadcast.",
    exact="always",
)


def matmul(self, other):
    """Matrix product of two tensors."""
    return call(MATMUL, (self, other))
