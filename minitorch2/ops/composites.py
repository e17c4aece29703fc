"""Composite rows: arithmetic, reductions and products in terms of other ops.

In: tensors. Out: tensors. A composite appears as one node in a captured graph and is replaced by
its definition when the graph is made functional; gradients and kernels come free.

Source: torch's documentation of each function.
"""

from minitorch2 import dtypes
from minitorch2.dispatch import call, state
from minitorch2.errors import DtypeError, OperationError, ShapeError
from minitorch2.layouts import element_count, normalize_dims
from minitorch2.ops.infer import describe_value, held
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
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
        f"{rounding_mode!r}",
        "use None, 'floor' or 'trunc'",
    )


composite(
    "div(Operand self, Operand other, *, str? rounding_mode=None) -> Tensor",
    _div,
    "Quotient, exact or rounded ('floor' towards minus infinity, 'trunc' towards zero).",
)


def _square(x):
    if x.dtype is dtypes.bool:
        return x.to(dtypes.int64)
    return x.pow(2) if x.dtype.letter == "u" else x * x  # the power refuses these


composite(
    "square(Tensor self) -> Tensor",
    _square,
    "self * self; bools become int64.",
)


def _clamp(self, min, max):
    """The value limited to the bounds. The gradient goes to self where it was kept, the bounds
    themselves included, else to the bound; nan gets none."""
    if min is None and max is None:
        raise OperationError(
            "clamp()", "at least one of min or max must not be None", "give min=, max= or both"
        )
    if isinstance(max, float) and isinstance(min, int):  # compared in what the result will be
        min = float(min)
    value = _detached(self)
    if min is not None:
        value = _op("maximum", value, _detached(min))
    if max is not None:
        value = _op("minimum", value, _detached(max))
    recorded = state.grad_enabled and any(
        each.requires_grad for each in (self, min, max) if isinstance(each, Tensor)
    )
    if not value.dtype.is_floating_point or state.direct and not recorded:
        return value
    kept = [_op("ge", self, min)] if min is not None else []
    kept += [_op("le", self, max)] if max is not None else []
    if isinstance(max, Tensor):
        above = _op("gt", self, max)
        if min is not None:
            above = _op("logical_or", above, _op("gt", min, max))
        value = _op("where", above, max, value)
    if isinstance(min, Tensor):
        below = _op("lt", self, min)
        if max is not None:
            below = _op("logical_and", below, _op("lt", min, max))
        value = _op("where", below, min, value)
    inside = _op("logical_and", *kept) if len(kept) == 2 else kept[0]
    return _op("where", inside, self, value)


def _detached(value):
    return value.detach() if isinstance(value, Tensor) else value


composite(
    "clamp(Tensor self, Operand? min=None, Operand? max=None) -> Tensor",
    _clamp,
    "Elements limited to [min, max].",
    exact="numbers",
)
composite(
    "clip(Tensor self, Operand? min=None, Operand? max=None) -> Tensor",
    _clamp,
    "Elements limited to [min, max].",
    exact="numbers",
)
composite(
    "clamp_min(Tensor self, Operand min) -> Tensor",
    lambda self, min: _clamp(self, min, None),
    "Elements not below min.",
    exact="numbers",
)
composite(
    "clamp_max(Tensor self, Operand max) -> Tensor",
    lambda self, max: _clamp(self, None, max),
    "Elements not above max.",
    exact="numbers",
)


def _masked_fill(self, mask, value):
    if isinstance(value, Tensor) and value.ndim:
        raise ShapeError(
            "masked_fill()",
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s).",
            "use torch.where for a value at each place",
        )
    if mask.dtype is not dtypes.bool:
        raise DtypeError(
            "masked_fill()",
            f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype}",
            "compare it: mask != 0",
        )
    return _op("where", mask, like(value, self), self).contiguous()


composite(
    "masked_fill(Tensor self, Tensor mask, Operand value) -> Tensor",
    _masked_fill,
    "`self` with `value` where the mask is true.",
)


def like(value, tensor):
    """A number or tensor in the dtype of a tensor; OperationError for one that it cannot hold."""
    if isinstance(value, Tensor):
        return value.to(tensor.dtype)
    value = held(value, tensor.dtype)
    if tensor.dtype.differentiable:
        return float(value) if isinstance(value, (bool, int)) else value
    if tensor.dtype is dtypes.bool:
        return bool(value)
    return int(value)


composite(
    "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    lambda *args: _addcmul(*args),
    "self + value * tensor1 * tensor2.",
)


def scale(number, tensor):
    """A scale as torch has it: a whole number among whole numbers."""
    return number if tensor.dtype.differentiable else int(number)


def rounded_together(formula):
    """A formula of tensors and numbers in which 16-bit floats become float32: tensors are rounded
    to their common dtype before, and the result once."""

    def decomp(*args):
        common = dtypes.result_type(*(each for each in args if isinstance(each, Tensor)))
        if not common.is_floating_point or common.itemsize != 2:
            return formula(*args)
        wide = (
            each.to(common).to(dtypes.float32) if isinstance(each, Tensor) else each
            for each in args
        )
        return formula(*wide).to(common)

    return decomp


@rounded_together
def _addcmul(self, a, b, value):
    product = a * b
    value = scale(value, product)
    return self + (product if value == 1 else product * value)


@rounded_together
def _addcdiv(self, a, b, value):
    if not (a.dtype.differentiable or b.dtype.differentiable):
        raise DtypeError(
            f"addcdiv({describe_value(self)}, {describe_value(a)}, {describe_value(b)})",
            "Integer division with addcdiv is no longer supported",
            "use self + value * torch.trunc(tensor1 / tensor2), or convert to floats",
        )
    return self + (a / b if value == 1 else a / b * value)


composite(
    "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    _addcdiv,
    "self + value * tensor1 / tensor2.",
)

# ---- reductions ------------------------------------------------------------------------------


def _count(self, dims):
    return element_count([self.layout.shape[d] for d in dims])


def _mean(self, dim, keepdim, dtype):
    wanted = dtype or self.dtype
    if not wanted.differentiable:
        raise DtypeError(
            f"mean() of a tensor of dtype {self.dtype}",
            "could not infer output dtype: it must be floating point or complex",
            "convert first: x.float().mean()",
        )
    dims = normalize_dims(dim, self.ndim)
    return _op("sum", self, dim, keepdim, wanted) / _count(self, dims)


composite(
    "mean(Tensor self, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    _mean,
    "The mean over `dim`.",
)


def _real(x):
    return x.real if x.dtype.is_complex else x


def _square_size(x):
    """|x| ** 2, a real number."""
    return (x * x.conj()).real if x.dtype.is_complex else x * x


def bool_first(dim, unbiased):
    """(dim, unbiased) of `x.var(False)`: a bool in the first place is `unbiased`."""
    if type(dim) is tuple and len(dim) == 1 and type(dim[0]) is bool:
        return None, dim[0]
    return dim, unbiased


def _var(self, dim, unbiased, keepdim, correction):
    dim, unbiased = bool_first(dim, unbiased)
    dims = normalize_dims(dim, self.ndim)
    freedom = (1 if unbiased else 0) if correction is None else correction
    centred = self - self.mean(dims, keepdim=True)
    count = _count(self, dims) - freedom
    total = _op("sum", _square_size(centred), dim, keepdim, None)
    return total / (count if count > 0 else 0.0)


def _std(self, *how):
    """The root of the variance, which is computed in double precision: its squares fit there."""
    if self.dtype not in (dtypes.float32, dtypes.float16, dtypes.bfloat16):
        return _root(_var(self, *how), 2)
    wide = _op("convert", self, dtypes.float64)
    return _op("convert", _root(_var(wide, *how), 2), self.dtype)


_VAR = (
    "(Tensor self, int[]? dim=None, bool unbiased=True, bool keepdim=False, *, "
    "int? correction=None)"
)
composite(
    f"var{_VAR} -> Tensor", _var, "The variance over `dim` (count - correction below).", whole=True
)
composite(
    f"std{_VAR} -> Tensor",
    _std,
    "The standard deviation over `dim`; equal elements get a zero gradient.",
    whole=True,
)
composite(
    f"var_mean{_VAR} -> (Tensor, Tensor)",
    lambda self, dim, unbiased, keepdim, correction: (
        _var(self, dim, unbiased, keepdim, correction),
        self.mean(bool_first(dim, True)[0], keepdim),
    ),
    "Variance and mean over `dim`.",
    method=False,
)


def _logsumexp(self, dim, keepdim):
    dims = normalize_dims(dim, self.ndim)
    if dim == () and self.ndim and not keepdim and self.numel():
        raise ShapeError(
            f"logsumexp({describe_value(self)}, dim=())",
            "output with shape [] doesn't match the broadcast shape "
            f"{[1] * self.ndim}: no dimensions were named",
            "name the dimensions, or pass keepdim=True to reduce all of them",
        )
    if not self.dtype.differentiable:
        self = self.to(dtypes.get_default_dtype())
    if any(self.layout.shape[d] == 0 for d in dims):  # there is no largest element
        return _op("sum", self.exp(), dims, keepdim, None).log()
    top = _real(self.detach()).amax(dims, keepdim=True)
    top = _op("where", _op("isfinite", top), top, 0.0)
    total = (self - top).exp().sum(dims, keepdim=True).log() + top
    return total if keepdim else total.squeeze(dims)


composite(
    "logsumexp(Tensor self, int[] dim, bool keepdim=False) -> Tensor",
    _logsumexp,
    "log(sum(exp(self))) over `dim`, without overflow.",
    whole=True,
)


def _norm(self, p, dim, keepdim, dtype):
    if dtype is not None:
        if dtypes.promote_types(self.dtype, dtype) is not dtype:
            raise DtypeError(
                f"norm({describe_value(self)}, dtype={dtype})",
                f"the dtype of the input ({self.dtype}) should be convertible without narrowing "
                f"to the specified dtype ({dtype})",
                "convert the input first",
            )
        self = self.to(dtype)
    dims = normalize_dims(dim, self.ndim)
    if not self.dtype.differentiable:
        raise DtypeError(
            f"norm() of a tensor of dtype {self.dtype}",
            "Expected a floating point or complex tensor as input",
            "convert first: x.float().norm()",
        )
    if p == "nuc":
        lines = self if dim is None else self.movedim(dims, (-2, -1))
        values = _op("linalg_svd", lines, False)[1].sum(-1)
        for at in sorted(dims) if keepdim else ():
            values = values.unsqueeze(at)
        return values
    if self.dtype.itemsize == 2:  # one rounding, at the end
        return _norm(self.to(dtypes.float32), p, dims, keepdim, None).to(self.dtype)
    if p != 0 and _count(self, dims) == 1:  # whose square may overflow
        found = self.abs()
        return found if keepdim else found.squeeze(dims)
    if p in ("fro", None) or p == 2:
        return _root(_square_size(self).sum(dims, keepdim=keepdim), 2)
    if p == float("inf"):
        return self.abs().amax(dims, keepdim=keepdim)
    if p == float("-inf"):
        return self.abs().amin(dims, keepdim=keepdim)
    if p == 0:
        return _op("where", self != 0, 1.0, self.abs() * 0).sum(dims, keepdim=keepdim)
    if p == 1:
        return self.abs().sum(dims, keepdim=keepdim)
    if p > 1:
        return _root((self.abs() ** p).sum(dims, keepdim=keepdim), p)
    zero = self == 0  # where the power has no finite slope, and torch a zero gradient
    size = _op("where", zero, 1.0, self.abs()) ** p
    return _root(_op("where", zero, 0.0 if p > 0 else float("inf"), size).sum(dims, keepdim), p)


def _root(total, p):
    """A root has no finite slope at zero; torch gives a zero row a zero gradient."""
    zero = total == 0
    safe = _op("where", zero, 1.0, total)
    return _op("where", zero, 0.0, safe.sqrt() if p == 2 else safe ** (1.0 / p))


composite(
    "norm(Tensor self, any? p='fro', int[]? dim=None, bool keepdim=False, "
    "*, dtype? dtype=None) -> Tensor",
    _norm,
    "The p-norm over `dim`.",
    whole=True,
    exact="always",
)


# ---- products --------------------------------------------------------------------------------


def _ranks_told(name, first, second):
    """What is wrong with the numbers of dimensions of a product's operands."""
    if name == "mv":
        return f"vector + matrix @ vector expected, got 1, {first}, {second}"
    if name == "mm":
        return f"{'mat2' if first == 2 else 'self'} must be a matrix"
    if name == "bmm":
        return f"{'batch2' if first == 3 else 'batch1'} must be a 3D tensor"
    return f"1D tensors expected, but got {first}D and {second}D tensors"


def _of_rank(name, ranks):
    def product(self, other):
        """matmul of two tensors of these ranks; ShapeError for others."""
        if (self.ndim, other.ndim) != ranks:
            raise ShapeError(
                f"{name}(shapes {list(self.shape)} and {list(other.shape)})",
                _ranks_told(name, self.ndim, other.ndim),
                "use matmul, which takes any",
            )
        if ranks == (1, 1) and self.dtype is not other.dtype:
            raise DtypeError(
                f"{name}({self.dtype}, {other.dtype})",
                f"dot : expected both vectors to have same dtype, but found {self.dtype.title} and "
                f"{other.dtype.title}",
                "convert one of them",
            )
        if ranks == (1, 1) and self.shape != other.shape:
            first, second = self.shape[0], other.shape[0]
            raise ShapeError(
                f"{name}(shapes {list(self.shape)} and {list(other.shape)})",
                f"inconsistent tensor size, expected tensor [{first}] and src [{second}] to have "
                f"the same number of elements, but got {first} and {second} elements respectively",
                "make them equally long",
            )
        if name == "bmm" and self.shape[0] != other.shape[0]:
            raise ShapeError(
                f"bmm(shapes {list(self.shape)} and {list(other.shape)})",
                f"Expected size for first two dimensions of batch2 tensor to be: "
                f"{[self.shape[0], self.shape[2]]} but got: {list(other.shape[:2])}",
                "use matmul, which broadcasts batches",
            )
        return _op("matmul", self, other)

    return product


for _name, _ranks in (("mm", (2, 2)), ("bmm", (3, 3)), ("mv", (2, 1)), ("dot", (1, 1))):
    composite(
        f"{_name}(Tensor self, Tensor other) -> Tensor",
        _of_rank(_name, _ranks),
        f"matmul of tensors of exactly {_ranks[0]} and {_ranks[1]} dimensions.",
        precision="lower" if _name in ("mm", "bmm") else "",
        exact="always",
    )


def _outer(self, other):
    if self.ndim != 1 or other.ndim != 1:
        raise ShapeError(
            f"outer({describe_value(self)}, {describe_value(other)})",
            "outer: Expected 1-D arguments",
            "flatten them",
        )
    return self.unsqueeze(1) * other


composite(
    "outer(Tensor self, Tensor vec2) -> Tensor",
    _outer,
    "All products of two vectors' elements.",
)


def _addmm(self, a, b, beta, alpha):
    product = _op("mm", a, b)
    beta, alpha = scale(beta, product), scale(alpha, product)
    product = product if alpha == 1 else product * alpha
    self = _op("expand", self, tuple(product.layout.shape))
    return product if beta == 0 else product + (self if beta == 1 else self * beta)


composite(
    "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    _addmm,
    "beta * self + alpha * mat1 @ mat2.",
    same="self mat1 mat2",
    precision="lower",
)
