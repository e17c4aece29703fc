"""Composite rows: definitions in terms of other ops, with gradients and kernels for free.

In: tensors. Out: tensors. A composite appears as one node in a captured graph and is replaced by
its definition when the graph is made functional.

Source: torch's documentation of each function.
"""

from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.errors import ArgumentValueError, ShapeError
from minitorch2.layouts import element_count, normalize_dim, normalize_dims, resolve_shape
from minitorch2.ops.table import COMPOSITE, defop, lookup
from minitorch2.tensors import Tensor


def _op(name, *args):
    return call(lookup(name), args)


def composite(signature, decomp, doc, **fields):
    """Add a composite row."""
    return defop(signature, COMPOSITE, decomp=decomp, doc=doc, **fields)


# ---- arithmetic ------------------------------------------------------------------------------


def _div(self, other, rounding_mode):
    if rounding_mode is None:
        return _op("true_divide", self, other)
    if rounding_mode == "floor":
        return _op("floor_divide", self, other)
    if rounding_mode == "trunc":
        return _op("trunc_divide", self, other)
    raise ArgumentValueError(
        f"div(rounding_mode={rounding_mode!r})",
        "no such rounding mode",
        "use None, 'floor' or 'trunc'",
    )


composite(
    "div(Operand self, Operand other, *, str? rounding_mode=None) -> Tensor",
    _div,
    "Quotient, exact or rounded ('floor' towards minus infinity, 'trunc' towards zero).",
)
composite("square(Tensor self) -> Tensor", lambda x: x * x, "self * self.")


def _clamp(self, min, max):
    if min is None and max is None:
        raise ArgumentValueError(
            "clamp()", "at least one of min or max must not be None", "give min=, max= or both"
        )
    if min is not None:
        self = _clamp_one(self, min, "maximum", "ge")
    if max is not None:
        self = _clamp_one(self, max, "minimum", "le")
    return self


def _clamp_one(self, bound, function, keeps):
    """One bound. The gradient passes where the element was kept, the bound itself included."""
    if isinstance(bound, Tensor):
        return _op(function, self, bound)
    result = _op(function, self.detach() if self.dtype.is_floating_point else self, bound)
    if not self.dtype.is_floating_point:
        return result
    inside = _op("logical_or", _op(keeps, self, bound), _op("isnan", self))
    return _op("where", inside, self, result)


composite(
    "clamp(Tensor self, Operand? min=None, Operand? max=None) -> Tensor",
    _clamp,
    "Elements limited to [min, max].",
)
composite(
    "clip(Tensor self, Operand? min=None, Operand? max=None) -> Tensor",
    _clamp,
    "Elements limited to [min, max].",
)
composite(
    "clamp_min(Tensor self, Operand min) -> Tensor",
    lambda self, min: _clamp(self, min, None),
    "Elements not below min.",
)
composite(
    "clamp_max(Tensor self, Operand max) -> Tensor",
    lambda self, max: _clamp(self, None, max),
    "Elements not above max.",
)
composite(
    "masked_fill(Tensor self, Tensor mask, Operand value) -> Tensor",
    lambda self, mask, value: _op("where", mask, _like(value, self), self),
    "`self` with `value` where the mask is true.",
)


def _like(value, tensor):
    if isinstance(value, Tensor):
        return value.to(tensor.dtype)
    if tensor.dtype.is_floating_point:
        return float(value) if isinstance(value, (bool, int)) else value
    return bool(value) if tensor.dtype is dtypes.bool else int(value)


composite(
    "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    lambda self, a, b, value: self + (a * b if value == 1 else a * b * value),
    "self + value * tensor1 * tensor2.",
)
composite(
    "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    lambda self, a, b, value: self + (a / b if value == 1 else a / b * value),
    "self + value * tensor1 / tensor2.",
)

# ---- reductions ------------------------------------------------------------------------------


def _count(self, dims):
    return element_count([self.layout.shape[d] for d in dims])


def _mean(self, dim, keepdim, dtype):
    wanted = dtype or self.dtype
    if not wanted.is_floating_point:
        raise ArgumentValueError(
            f"mean() of a tensor of dtype {self.dtype}",
            "could not infer output dtype: it must be floating point",
            "convert first: x.float().mean()",
        )
    dims = normalize_dims(dim, self.ndim)
    return _op("sum", self, dim, keepdim, wanted) / _count(self, dims)


composite(
    "mean(Tensor self, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    _mean,
    "The mean over `dim`.",
)


def _var(self, dim, unbiased, keepdim, correction):
    dims = normalize_dims(dim, self.ndim)
    freedom = (1 if unbiased else 0) if correction is None else correction
    centred = self - self.mean(dims, keepdim=True)
    count = _count(self, dims) - freedom
    total = _op("sum", centred * centred, dim, keepdim, None)
    return total / (count if count > 0 else 0.0)


_VAR = "(Tensor self, int[]? dim=None, bool unbiased=True, bool keepdim=False, *, int? correction=None)"
composite(f"var{_VAR} -> Tensor", _var, "The variance over `dim` (count - correction below).")
composite(
    f"std{_VAR} -> Tensor", lambda *args: _var(*args).sqrt(), "The standard deviation over `dim`."
)
composite(
    f"var_mean{_VAR} -> (Tensor, Tensor)",
    lambda self, dim, unbiased, keepdim, correction: (
        _var(self, dim, unbiased, keepdim, correction),
        self.mean(dim, keepdim),
    ),
    "Variance and mean over `dim`.",
    method=False,
)


def _logsumexp(self, dim, keepdim):
    dims = normalize_dims(dim, self.ndim)
    top = self.detach().amax(dims, keepdim=True)
    top = _op("where", _op("isfinite", top), top, 0.0)
    total = (self - top).exp().sum(dims, keepdim=True).log() + top
    return total if keepdim else total.squeeze(dims)


composite(
    "logsumexp(Tensor self, int[] dim, bool keepdim=False) -> Tensor",
    _logsumexp,
    "log(sum(exp(self))) over `dim`, without overflow.",
)


def _norm(self, p, dim, keepdim, dtype):
    if dtype is not None:
        self = self.to(dtype)
    dims = normalize_dims(dim, self.ndim)
    if p in ("fro", None) or p == 2:
        # The square root has no finite slope at zero; torch gives a zero row a zero gradient.
        total = (self * self).sum(dims, keepdim=keepdim)
        zero = total == 0
        return _op("where", zero, 0.0, _op("where", zero, 1.0, total).sqrt())
    if p == float("inf"):
        return self.abs().amax(dims, keepdim=keepdim)
    if p == float("-inf"):
        return self.abs().amin(dims, keepdim=keepdim)
    if p == 0:
        return (self != 0).to(self.dtype).sum(dims, keepdim=keepdim)
    if p == 1:
        return self.abs().sum(dims, keepdim=keepdim)
    return (self.abs() ** p).sum(dims, keepdim=keepdim) ** (1.0 / p)


composite(
    "norm(Tensor self, any? p='fro', int[]? dim=None, bool keepdim=False, "
    "*, dtype? dtype=None) -> Tensor",
    _norm,
    "The p-norm over `dim`.",
)

# ---- shapes ----------------------------------------------------------------------------------


def _reshape(self, shape):
    shape = resolve_shape(tuple(shape), element_count(self.layout.shape))
    if self.layout.viewed(shape) is not None:
        return _op("view", self, shape)
    return _op("view", _contiguous(self), shape)


def _contiguous(self):
    return self if self.layout.is_contiguous() else _op("contiguous_copy", self)


composite(
    "reshape(Tensor(a) self, int[...] shape) -> Tensor(a)",
    _reshape,
    "Another shape: a view when strides allow it, else a copy.",
)
composite(
    "contiguous(Tensor(a) self) -> Tensor(a)",
    _contiguous,
    "The tensor itself when row-major, else a row-major copy.",
)


def _flatten(self, start_dim, end_dim):
    if self.ndim == 0:
        return self.reshape((1,))
    start, end = normalize_dim(start_dim, self.ndim), normalize_dim(end_dim, self.ndim)
    if start > end:
        raise ShapeError(
            f"flatten({start_dim}, {end_dim})",
            "flatten() has invalid args: start_dim cannot come after end_dim",
            "exchange them",
        )
    if start == end:
        return self
    shape = self.layout.shape
    middle = element_count(shape[start : end + 1])
    return _op("reshape", self, shape[:start] + (middle,) + shape[end + 1 :])


composite(
    "flatten(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
    _flatten,
    "Dimensions start_dim..end_dim as one.",
)


def _unflatten(self, dim, sizes):
    at = normalize_dim(dim, self.ndim)
    shape = self.layout.shape
    sizes = resolve_shape(sizes, shape[at])
    return _op("view", self, shape[:at] + sizes + shape[at + 1 :])


composite(
    "unflatten(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)",
    _unflatten,
    "One dimension as several.",
)


def _t(self):
    if self.ndim > 2:
        raise ShapeError(
            f"t() of a tensor of shape {list(self.shape)}",
            f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D",
            "use transpose(dim0, dim1)",
        )
    return _op("transpose", self, 0, 1) if self.ndim == 2 else _op("alias", self)


composite("t(Tensor(a) self) -> Tensor(a)", _t, "A matrix transposed.")


def _movedim(self, source, destination):
    order = [d for d in range(self.ndim) if d not in [s % self.ndim for s in source]]
    pairs = sorted(zip((d % self.ndim for d in destination), source, strict=True))
    for target, dim in pairs:
        order.insert(target, dim % self.ndim)
    return _op("permute", self, tuple(order))


composite(
    "movedim(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
    _movedim,
    "Dimensions moved to other places, the others in order.",
)
composite(
    "swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
    lambda self, a, b: _op("transpose", self, a, b),
    "Two dimensions exchanged.",
)
composite(
    "expand_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    lambda self, other: _op("expand", self, tuple(other.layout.shape)),
    "Expanded to the shape of `other`.",
    function=False,
)
composite(
    "view_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    lambda self, other: _op("view", self, tuple(other.layout.shape)),
    "Viewed with the shape of `other`.",
    function=False,
)
composite(
    "reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    lambda self, other: _op("reshape", self, tuple(other.layout.shape)),
    "Reshaped to the shape of `other`.",
    function=False,
)


def _narrow(self, dim, start, length):
    size = self.layout.shape[normalize_dim(dim, self.ndim)]
    if start < 0:
        start = start + size
    if not 0 <= start <= size or start + length > size or length < 0:
        raise ShapeError(
            f"narrow(dim={dim}, start={start}, length={length})",
            f"start ({start}) + length ({length}) exceeds dimension size ({size})",
            "stay inside the dimension",
        )
    return _op("slice", self, dim, start, start + length, 1)


composite(
    "narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)",
    _narrow,
    "`length` indices of a dimension from `start`.",
)


def _siblings(parts):
    """Views of one call: a write into one of them is refused, as its siblings' would be lost."""
    for part in parts:
        if isinstance(part, Tensor) and part._view is not None:
            part._view.sibling = True
    return tuple(parts)


def _unbind(self, dim):
    size = self.layout.shape[normalize_dim(dim, self.ndim)]
    return _siblings([_op("select", self, dim, index) for index in range(int(size))])


def _split(self, split_size_or_sections, dim):
    size = int(self.layout.shape[normalize_dim(dim, self.ndim)])
    sections = split_size_or_sections
    if isinstance(sections, int):
        step = max(sections, 1)
        sections = [min(step, size - at) for at in range(0, size, step)] or [0]
    if sum(sections) != size:
        raise ShapeError(
            f"split({list(sections)}, dim={dim})",
            f"split_with_sizes expects split_sizes to sum exactly to {size}",
            "give sizes that add up to the dimension's",
        )
    parts, start = [], 0
    for count in sections:
        parts.append(_op("slice", self, dim, start, start + count, 1))
        start += count
    return _siblings(parts)


def _chunk(self, chunks, dim):
    size = int(self.layout.shape[normalize_dim(dim, self.ndim)])
    return _split(self, max(-(-size // chunks), 1), dim)


composite(
    "unbind(Tensor(a) self, int dim=0) -> Tensor[](a)",
    _unbind,
    "A tuple of the parts at each index of a dimension.",
)
composite(
    "split(Tensor(a) self, any split_size_or_sections, int dim=0) -> Tensor[](a)",
    _split,
    "Parts of a given size, or of given sizes, along a dimension.",
)
composite(
    "chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor[](a)",
    _chunk,
    "At most `chunks` parts of equal size along a dimension.",
)


def _stack(tensors, dim):
    first = tensors[0].shape if tensors else ()
    for tensor in tensors:
        if tensor.shape != first:
            raise ShapeError(
                "stack()",
                "stack expects each tensor to be equal size, but got "
                f"{list(first)} and {list(tensor.shape)}",
                "make the shapes equal",
            )
    at = normalize_dim(dim, len(first) + 1)
    return _op("cat", tuple(_op("unsqueeze", tensor, at) for tensor in tensors), at)


composite(
    "stack(Tensor[] tensors, int dim=0) -> Tensor",
    _stack,
    "Tensors of one shape along a new dimension.",
    method=False,
)


def _repeat(self, repeats):
    sizes = (1,) * (len(repeats) - self.ndim) + tuple(self.layout.shape)
    self = _op("view", self.contiguous(), sizes)
    grown = _op(
        "expand",
        _op("view", self, tuple(x for n in sizes for x in (1, n))),
        tuple(x for r, n in zip(repeats, sizes, strict=True) for x in (r, n)),
    )
    return _op("reshape", grown, tuple(r * n for r, n in zip(repeats, sizes, strict=True)))


composite(
    "repeat(Tensor self, int[...] repeats) -> Tensor",
    _repeat,
    "The tensor tiled `repeats` times in each dimension, as a copy.",
    function=False,
)

# ---- triangles and search --------------------------------------------------------------------


def _triangle(self, diagonal, keep_lower):
    rows, columns = self.layout.shape[-2:]
    row = _op("range_", 0, rows, 1, None, self.device).unsqueeze(1)
    column = _op("range_", 0, columns, 1, None, self.device)
    keep = column - row <= diagonal if keep_lower else column - row >= diagonal
    zero = False if self.dtype is dtypes.bool else 0
    return _op("where", keep, self, zero)


composite(
    "tril(Tensor self, int diagonal=0) -> Tensor",
    lambda self, diagonal: _triangle(self, diagonal, True),
    "The lower triangle; zeros above the diagonal.",
)
composite(
    "triu(Tensor self, int diagonal=0) -> Tensor",
    lambda self, diagonal: _triangle(self, diagonal, False),
    "The upper triangle; zeros below the diagonal.",
)


def _pick(name):
    """`max(dim)` and `min(dim)`: the value at the first extremum, which gets all the gradient."""

    def values_and_indices(self, dim, keepdim):
        index = _op(name, self, dim, True)
        if self.ndim == 0:
            return _op("alias", self), index
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
    values, indices = _op("sort", self, dim, largest, True)
    return (
        _op("slice", values, dim, 0, k, 1).contiguous(),
        _op("slice", indices, dim, 0, k, 1).contiguous(),
    )


composite(
    "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True)"
    " -> (Tensor values, Tensor indices)",
    _topk,
    "The k largest (or smallest) elements of a dimension and where they are.",
)
composite(
    "argsort(Tensor self, int dim=-1, bool descending=False, *, bool stable=False) -> Tensor",
    lambda self, dim, descending, stable: _op("sort", self, dim, descending, stable)[1],
    "The indices that sort a dimension.",
)

# ---- products --------------------------------------------------------------------------------


def _of_rank(name, ranks):
    def product(self, other):
        if (self.ndim, other.ndim) != ranks:
            raise ShapeError(
                f"{name}(shapes {list(self.shape)} and {list(other.shape)})",
                f"{name} expects {ranks[0]}D and {ranks[1]}D tensors",
                "use matmul, which takes any",
            )
        return _op("matmul", self, other)

    return product


for _name, _ranks in (("mm", (2, 2)), ("bmm", (3, 3)), ("mv", (2, 1)), ("dot", (1, 1))):
    composite(
        f"{_name}(Tensor self, Tensor other) -> Tensor",
        _of_rank(_name, _ranks),
        f"matmul of tensors of exactly {_ranks[0]} and {_ranks[1]} dimensions.",
    )
composite(
    "outer(Tensor self, Tensor vec2) -> Tensor",
    lambda self, other: self.unsqueeze(1) * other,
    "All products of two vectors' elements.",
)
composite(
    "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    lambda self, a, b, beta, alpha: (
        (self if beta == 1 else self * beta) + (a @ b if alpha == 1 else (a @ b) * alpha)
    ),
    "beta * self + alpha * mat1 @ mat2.",
)
