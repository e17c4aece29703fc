"""Composite rows: arithmetic, reductions and products in terms of other ops.

In: tensors. Out: tensors. A composite appears as one node in a captured graph and is replaced by
its definition when the graph is made functional; gradients and kernels come free.

Source: torch's documentation of each function.
"""

from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.errors import ShapeError
from minitorch2.layouts import element_count, normalize_dims
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
    raise OperationError(
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
        raise OperationError(
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
        raise OperationError(
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
