"""Composite rows of vectors and matrices: diagonals, products with sums, distances, grids.

In: tensors. Out: tensors made by views, products and pointwise rows.

Source: torch's documentation of each function.
"""

import math

from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.errors import OperationError, ShapeError
from minitorch2.layouts import broadcast_shapes, normalize_dim, normalize_dims
from minitorch2.ops.composites import composite, scale
from minitorch2.ops.infer import describe_value
from minitorch2.ops.table import lookup


def _op(name, *args):
    return call(lookup(name), args)


# ---- diagonals -------------------------------------------------------------------------------


def _diag_embed(self, offset, dim1, dim2):
    ndim = self.ndim + 1
    first, second = normalize_dim(dim1, ndim), normalize_dim(dim2, ndim)
    if first == second:
        raise OperationError(
            f"diag_embed({describe_value(self)}, dim1={dim1}, dim2={dim2})",
            f"diagonal dimensions cannot be identical {dim1}, {dim2}",
            "name two dimensions",
        )
    size = self.layout.shape[-1] + abs(offset)
    row = _op("range_", 0, size, 1, None, self.device).unsqueeze(1)
    column = _op("range_", 0, size, 1, None, self.device)
    start = max(offset, 0)
    wide = self
    if offset:  # the vector, moved to the places where its matrix columns lie
        zeros = _op("full", (*self.layout.shape[:-1], abs(offset)), 0, self.dtype, self.device)
        wide = _op("cat", (zeros, self) if start else (self, zeros), -1)
    zero = False if self.dtype is dtypes.bool else 0
    matrix = _op("where", column - row == offset, wide.unsqueeze(-2), zero)
    if (first, second) == (ndim - 2, ndim - 1):
        return matrix.contiguous()
    return matrix.movedim((-2, -1), (first, second)).contiguous()


composite(
    "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    _diag_embed,
    "Matrices with the last dimension on their diagonal.",
)


def _diag(self, diagonal):
    if self.ndim == 1:
        return _diag_embed(self, diagonal, -2, -1)
    if self.ndim == 2:
        return _op("diagonal", self, diagonal, 0, 1).clone()
    raise OperationError(
        f"diag({describe_value(self)})",
        f"diag(): Supports 1D or 2D tensors. Got {self.ndim}D",
        "use diagonal() or diag_embed()",
    )


composite(
    "diag(Tensor self, int diagonal=0) -> Tensor",
    _diag,
    "A vector as a diagonal matrix, or a matrix's diagonal.",
    exact="always",
)
composite(
    "diagflat(Tensor self, int offset=0) -> Tensor",
    lambda self, offset: _diag_embed(self.reshape((-1,)), offset, -2, -1),
    "All elements as a diagonal matrix.",
)


def _trace(self):
    if self.ndim != 2:
        raise OperationError(
            f"trace({describe_value(self)})",
            f"trace: expected a matrix, but got tensor with dim {self.ndim}",
            "give two dimensions",
        )
    return _op("diagonal", self, 0, 0, 1).sum()


composite("trace(Tensor self) -> Tensor", _trace, "The sum of the diagonal.", precision="full")

# ---- products --------------------------------------------------------------------------------


def scaled(self, product, beta, alpha):
    """beta * self + alpha * product, laid out and shaped as the product is."""
    beta, alpha = scale(beta, product), scale(alpha, product)
    product = product if alpha == 1 else product * alpha
    self = _op("expand", self, tuple(product.layout.shape))
    if beta == 0:
        return product
    return product + (self if beta == 1 else self * beta)


def _addr(self, a, b, beta, alpha):
    whole = not any(x.dtype.differentiable for x in (self, a, b))
    if whole and float in (type(beta), type(alpha)):
        raise OperationError(
            f"addr({describe_value(self)}, beta={beta}, alpha={alpha})",
            "For integral input tensors, argument beta must not be a floating point number.",
            "give whole numbers, or convert",
        )
    return scaled(self, a.outer(b), beta, alpha)


_SCALES = "*, Scalar beta=1, Scalar alpha=1) -> Tensor"
composite(
    f"addmv(Tensor self, Tensor mat, Tensor vec, {_SCALES}",
    lambda self, a, b, beta, alpha: scaled(self, a.mv(b), beta, alpha),
    "beta * self + alpha * mat @ vec.",
    same="self mat vec",
)
composite(
    f"addr(Tensor self, Tensor vec1, Tensor vec2, {_SCALES}",
    _addr,
    "beta * self + alpha * outer(vec1, vec2).",
)
composite(
    f"addbmm(Tensor self, Tensor batch1, Tensor batch2, {_SCALES}",
    lambda self, a, b, beta, alpha: scaled(self, a.bmm(b).sum((0,), dtype=a.dtype), beta, alpha),
    "beta * self + alpha * the sum of the batches' products.",
    same="self batch1 batch2",
    precision="lower",
)
composite(
    "vdot(Tensor self, Tensor other) -> Tensor",
    lambda a, b: a.conj().dot(b),
    "The sum of the products of two vectors' elements, the first conjugated.",
)


def _inner(a, b):
    if not a.ndim or not b.ndim:
        return a * b
    if a.shape[-1] != b.shape[-1]:
        raise ShapeError(
            f"inner({describe_value(a)}, {describe_value(b)})",
            "inner() the last dimension must match on both input tensors",
            "transpose one of them",
        )
    return _tensordot(a, b, (-1,), (-1,))


composite(
    "inner(Tensor self, Tensor other) -> Tensor",
    _inner,
    "Sums of products over the last dimensions.",
)


def _pairs(dims, a, b):
    """The dimensions of each tensor that are summed over."""
    if isinstance(dims, int):
        if dims < 0 or dims > min(a.ndim, b.ndim):
            raise OperationError(
                f"tensordot({describe_value(a)}, {describe_value(b)}, dims={dims})",
                f"tensordot expects dims >= 0 and at most the number of dimensions, got {dims}",
                "name fewer dimensions",
            )
        return tuple(range(a.ndim - dims, a.ndim)), tuple(range(dims))
    first, second = dims
    first = (first,) if isinstance(first, int) else tuple(first)
    second = (second,) if isinstance(second, int) else tuple(second)
    return first, second


def _tensordot(a, b, first, second):
    first = normalize_dims(first, a.ndim) if first else ()
    second = normalize_dims(second, b.ndim) if second else ()
    left, right = tuple(a.layout.shape), tuple(b.layout.shape)
    for i, j in zip(first, second, strict=False):  # a single index counts for all of the other's
        if left[i] == 1 or right[j] == 1:
            a = a if right[j] == 1 else a.expand(*left[:i], right[j], *left[i + 1 :])
            b = b if left[i] == 1 else b.expand(*right[:j], left[i], *right[j + 1 :])
            left, right = tuple(a.layout.shape), tuple(b.layout.shape)
    if len(first) != len(second) or any(
        left[i] != right[j] for i, j in zip(first, second, strict=True)
    ):
        raise OperationError(
            f"tensordot({describe_value(a)}, {describe_value(b)}, ({first}, {second}))",
            "contracted dimensions need to match",
            "name dimensions of equal sizes in the same order",
        )
    rows = tuple(d for d in range(a.ndim) if d not in first)
    columns = tuple(d for d in range(b.ndim) if d not in second)
    count = math.prod(left[d] for d in first)
    a = a.permute((*rows, *first)).reshape((math.prod(left[d] for d in rows), count))
    b = b.permute((*second, *columns)).reshape((count, math.prod(right[d] for d in columns)))
    return (a @ b).reshape((*(left[d] for d in rows), *(right[d] for d in columns)))


composite(
    "tensordot(Tensor a, Tensor b, any dims=2) -> Tensor",
    lambda a, b, dims: _tensordot(a, b, *_pairs(dims, a, b)),
    "Sums of products over several dimensions of both.",
    method=False,
    precision="lower",
)


def _kron(a, b):
    ndim = max(a.ndim, b.ndim)
    a = a.reshape((1,) * (ndim - a.ndim) + tuple(a.layout.shape))
    b = b.reshape((1,) * (ndim - b.ndim) + tuple(b.layout.shape))
    x, y = tuple(a.layout.shape), tuple(b.layout.shape)
    wide = a.reshape(tuple(size for n in x for size in (n, 1)))
    narrow = b.reshape(tuple(size for n in y for size in (1, n)))
    return (wide * narrow).reshape(tuple(n * m for n, m in zip(x, y, strict=True)))


composite(
    "kron(Tensor self, Tensor other) -> Tensor", _kron, "The Kronecker product: blocks of `other`."
)


def _cross(self, other, dim):
    if self.ndim != other.ndim:
        raise OperationError(
            f"cross({describe_value(self)}, {describe_value(other)})",
            "linalg.cross: inputs must have the same number of dimensions.",
            "unsqueeze one of them",
        )
    normalize_dim(dim, self.ndim)
    if not self.ndim or self.shape[dim] != 3 or other.shape[dim] != 3:
        raise OperationError(
            f"cross({describe_value(self)}, {describe_value(other)}, dim={dim})",
            f"linalg.cross: inputs dimension {dim} must have length 3.",
            "name the dimension of length 3",
        )
    shape = broadcast_shapes(tuple(self.shape), tuple(other.shape))
    self, other = _op("expand", self, shape), _op("expand", other, shape)

    def turned(x, by):
        return _op("roll", x, (by,), (dim,))

    return turned(self, -1) * turned(other, -2) - turned(self, -2) * turned(other, -1)


composite(
    "linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
    _cross,
    "The cross product of vectors of three elements.",
    method=False,
    function=False,
    same="self other",
    torch="torch.linalg.cross",
)
composite(
    "linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
    lambda x, y, dim: (x.conj() * y).sum(dim),
    "Sums of products along a dimension.",
    method=False,
    function=False,
    precision="lower",
    accepts="fc",
    same="x y",
    torch="torch.linalg.vecdot",
)


def _matrix_power(self, n):
    if self.ndim < 2 or self.shape[-1] != self.shape[-2]:
        raise ShapeError(
            f"matrix_power({describe_value(self)}, {n})",
            "linalg.matrix_power: A must be batches of square matrices",
            "give square matrices",
        )
    if n < 0:
        return _matrix_power(_op("linalg_inv", self), -n)
    if n == 1:
        return self.clone()
    if n == 0:
        size = _op("range_", 0, self.layout.shape[-1], 1, None, self.device)
        eye = (size.unsqueeze(1) == size).to(self.dtype)
        return _op("expand", eye, tuple(self.layout.shape)).clone()
    result = None
    while n:
        if n & 1:
            result = self if result is None else result @ self
        n >>= 1
        self = self @ self if n else self
    return result


composite(
    "matrix_power(Tensor self, int n) -> Tensor", _matrix_power, "self @ ... @ self, n times."
)

# ---- distances -------------------------------------------------------------------------------


def _cdist(x1, x2, p, compute_mode):
    if x1.ndim < 2 or x2.ndim < 2 or p < 0:
        raise OperationError(
            f"cdist({describe_value(x1)}, {describe_value(x2)}, p={p})",
            "cdist only supports at least 2D tensors and non-negative p values",
            "give rows of points",
        )
    if x1.shape[-1] != x2.shape[-1]:
        raise OperationError(
            f"cdist({describe_value(x1)}, {describe_value(x2)})",
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: "
            f"{x2.shape[-1]}",
            "give points of one space",
        )
    gaps = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    if not x1.layout.shape[-1]:
        return gaps.sum(-1)
    return _op("norm", gaps, p, (-1,), False, None)


composite(
    "cdist(Tensor x1, Tensor x2, float p=2.0, str? compute_mode=None) -> Tensor",
    _cdist,
    "The p-norm distances between all pairs of rows.",
    method=False,
    precision="full",
    accepts="f",
    same="x1 x2",
)
composite(
    "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
    lambda a, b, p: _op("norm", a - b, p, None, False, None),
    "The p-norm of the difference.",
)


def _cosine_similarity(x1, x2, dim, eps):
    if eps < 0:
        raise OperationError(
            f"cosine_similarity(eps={eps})", f"eps must be non-negative, got: {eps}", "give 1e-8"
        )
    shape = broadcast_shapes(tuple(x1.shape), tuple(x2.shape))
    both = dtypes.promote_types(x1.dtype, x2.dtype)
    if not both.is_floating_point:
        raise OperationError(
            f"cosine_similarity({describe_value(x1)}, {describe_value(x2)})",
            f"expected common dtype to be floating point, yet common dtype is {both}",
            "convert one of them",
        )
    x1, x2 = _op("expand", x1.to(both), shape), _op("expand", x2.to(both), shape)

    def unit(x):
        size = _op("norm", x, 2, (dim,), True, None)
        with_floor = (
            size + (_op("maximum", size, eps) - size).detach()
        )  # as torch's gradient has it
        return x / with_floor

    return (unit(x1) * unit(x2)).sum(dim)


composite(
    "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
    _cosine_similarity,
    "The cosine of the angle between vectors along a dimension.",
    method=False,
    torch="torch.nn.functional.cosine_similarity",
    accepts="bif",
)
