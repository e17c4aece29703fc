"""torch.masked: reductions and normalizations of the elements that a mask names.

In: a tensor and `mask`, booleans that broadcast to its shape; True means that an element counts.
Out: what the function of the same name gives where the others are left out. Without a mask all
count. What is left of nothing is the operation's own start: 0 for a sum, 1 for a product, the
lowest number for a maximum, nan for a mean.

    >>> import minitorch2 as torch
    >>> x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> torch.masked.mean(x, 1, mask=x > 2)
    tensor([3., 5.])

Source: torch.masked's documentation; its MaskedTensor is not there.
"""

from collections.abc import Callable
from typing import Any

from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.errors import ArgumentValueError, OperationError
from minitorch2.layouts import normalize_dim
from minitorch2.linalg import vector_norm
from minitorch2.ops.table import lookup

Dims = int | tuple[int, ...] | None
__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp",
    "logsumexp", "mean", "median", "norm", "normalize", "prod", "softmax", "softmin", "std", "sum",
    "var",
]  # fmt: skip


def _op(name: str, *args: Any) -> Any:
    return call(lookup(name), args)


def _taken(input: Any, mask: Any, otherwise: float) -> Any:
    """The elements that count, and `otherwise` in the place of the others."""
    if mask is None:
        return input
    if mask.dtype is not dtypes.bool:
        mask = mask != 0
    return _op("where", mask.expand(input.shape), input, input.new_full((), otherwise))


def _widened(input: Any, dtype: Any) -> Any:
    """As sums are computed: integers and bools in int64 unless a dtype is named."""
    if dtype is None and not input.dtype.differentiable:
        dtype = dtypes.int64
    return input if dtype is None else input.to(dtype)


def _cast(input: Any, dtype: Any) -> Any:
    return input if dtype is None else input.to(dtype)


def _dims(input: Any, dim: Dims) -> tuple[int, ...]:
    """The dimensions that are meant: all where none is named."""
    if dim is None or dim == ():
        return tuple(range(input.ndim))
    return (dim,) if isinstance(dim, int) else tuple(dim)


def _one(input: Any, dim: Dims) -> int:
    """The dimension that is meant: the first of several."""
    return min((normalize_dim(each, input.ndim) for each in _dims(input, dim)), default=0)


def _lowest(element: Any) -> float:
    if element.differentiable:
        return float("-inf")
    return False if element is dtypes.bool else dtypes.iinfo(element).min


def _highest(element: Any) -> float:
    if element.is_floating_point:
        return float("inf")
    return True if element is dtypes.bool else dtypes.iinfo(element).max


def _count(input: Any, mask: Any, dims: tuple[int, ...], keepdim: bool) -> Any:
    """How many elements count in each place of the result."""
    if mask is None:
        mask = input.new_ones((), dtype=dtypes.bool)
    return (mask != 0).expand(input.shape).sum(dims, keepdim=keepdim)


def sum(
    input: Any, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The sum of the elements that count."""
    return _taken(_widened(input, dtype), mask, 0).sum(_dims(input, dim), keepdim=keepdim)


def prod(
    input: Any, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The product of the elements that count."""
    found = _taken(_widened(input, dtype), mask, 1)
    return _op("prod", found, _dims(input, dim), keepdim, None)


def cumsum(input: Any, dim: Dims, *, dtype: Any = None, mask: Any = None) -> Any:
    """Running sums; what does not count adds nothing."""
    input = _cast(input, dtype)
    return _taken(input, mask, 0).cumsum(_one(input, dim)).to(input.dtype)


def cumprod(input: Any, dim: Dims, *, dtype: Any = None, mask: Any = None) -> Any:
    """Running products; what does not count multiplies by one."""
    input = _cast(input, dtype)
    return _taken(input, mask, 1).cumprod(_one(input, dim)).to(input.dtype)


def amax(
    input: Any, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The largest element that counts."""
    input = _cast(input, dtype)
    return _taken(input, mask, _lowest(input.dtype)).amax(_dims(input, dim), keepdim)


def amin(
    input: Any, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The smallest element that counts."""
    input = _cast(input, dtype)
    return _taken(input, mask, _highest(input.dtype)).amin(_dims(input, dim), keepdim)


def argmax(
    input: Any, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Any = None,
) -> Any:  # fmt: skip
    """Where the largest element that counts is, as a number of the input's dtype."""
    input = _cast(input, dtype)
    return _taken(input, mask, _lowest(input.dtype)).argmax(dim, bool(keepdim)).to(input.dtype)


def argmin(
    input: Any, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Any = None,
) -> Any:  # fmt: skip
    """Where the smallest element that counts is, as a number of the input's dtype."""
    input = _cast(input, dtype)
    return _taken(input, mask, _highest(input.dtype)).argmin(dim, bool(keepdim)).to(input.dtype)


def mean(
    input: Any, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The mean of the elements that count."""
    input = _cast(input, dtype)
    dims = _dims(input, dim)
    if mask is None:
        return input.mean(dims, keepdim)
    total = sum(input, dims, keepdim=keepdim, dtype=dtype, mask=mask)
    return total / _count(input, mask, dims, keepdim)


def median(
    input: Any, dim: Dims = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The lower of the middle elements that count, nans left out; nan where none does.

    What is no floating point number is compared as float32. A result of another dtype cannot say
    that nothing counts: ArgumentValueError.
    """
    wanted = input.dtype if dtype is None else dtype
    wide = input if input.dtype.is_floating_point else input.to(dtypes.float32)
    taken = _taken(wide, mask, float("nan"))
    found = taken.nanmedian(_one(input, dim), keepdim)[0]
    if input.dtype.is_floating_point:
        return found
    if found.isnan().any():
        raise ArgumentValueError(
            f"masked.median of a tensor of dtype {input.dtype}",
            "masked median expects no fully masked out rows if dtype is not floating point",
            "convert it: x.float(), whose median of nothing is nan",
        )
    return found.to(wanted)


def _moment(input: Any, dims: tuple[int, ...], correction: float, keepdim: bool, mask: Any) -> Any:
    """The variance of the elements that count."""
    wide = input if input.dtype.differentiable else input.to(dtypes.get_default_dtype())
    centre = sum(wide, dims, keepdim=True, mask=mask) / _count(wide, mask, dims, True)
    apart = wide - centre
    square = (apart * apart.conj()).real if apart.dtype.is_complex else apart * apart
    total = sum(square, dims, keepdim=keepdim, mask=mask)
    count = _count(wide, mask, dims, keepdim)
    if correction:
        count = (count - correction).clamp(min=0)
    return (total / count.to(total.dtype)).to(wide.dtype)


def _correction(unbiased: bool | None, correction: float | None) -> float:
    if unbiased is not None and correction is not None:
        raise OperationError(
            "masked.var(unbiased=, correction=)",
            "Only one of unbiased and correction may be given",
            "leave one out",
        )
    if correction is not None:
        return correction
    return 1 if unbiased is None or unbiased else 0


def var(
    input: Any, dim: Dims = None, unbiased: bool | None = None, *,
    correction: float | None = None, keepdim: bool = False, dtype: Any = None, mask: Any = None,
) -> Any:  # fmt: skip
    """The variance of the elements that count, whose number is lessened by `correction`."""
    input = _cast(input, dtype)
    dims = _dims(input, dim)
    return _moment(input, dims, _correction(unbiased, correction), bool(keepdim), mask)


def std(
    input: Any, dim: Dims = None, unbiased: bool | None = None, *,
    correction: float | None = None, keepdim: bool = False, dtype: Any = None, mask: Any = None,
) -> Any:  # fmt: skip
    """The root of `var`."""
    found = var(
        input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask
    )
    return found.sqrt()


def norm(
    input: Any, ord: float | None = 2.0, dim: Dims = None, *, keepdim: bool = False,
    dtype: Any = None, mask: Any = None,
) -> Any:  # fmt: skip
    """The norm of the vector of the elements that count."""
    input = _cast(input, dtype)
    order = 2.0 if ord is None else float(ord)
    taken = _taken(input, mask, 0 if order >= 0 else float("inf"))
    return vector_norm(taken, order, _dims(input, dim), bool(keepdim))


def _over(name: str, doc: str, turned: bool = False) -> Callable:
    def function(input: Any, dim: Dims, *, dtype: Any = None, mask: Any = None) -> Any:
        taken = _taken(_cast(input, dtype), mask, float("inf") if turned else float("-inf"))
        return _op(name, -taken if turned else taken, _one(input, dim), None)

    function.__name__ = function.__qualname__ = "softmin" if turned else name
    function.__doc__ = doc
    return function


softmax = _over("softmax", "softmax of the elements that count; 0 in the other places.")
log_softmax = _over("log_softmax", "The logarithm of softmax; -inf in the other places.")
softmin = _over("softmax", "softmax of -input.", turned=True)


def normalize(
    input: Any, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Any = None
) -> Any:
    """The elements that count, divided by their norm or `eps`; 0 in the other places."""
    input = _cast(input, dtype)
    size = norm(input, ord, dim, keepdim=True, mask=mask)
    return _taken(input, mask, 0) / size.clamp(min=eps)


def logsumexp(
    input: Any, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """log(sum(exp(.))) of the elements that count."""
    input = _cast(input, dtype)
    taken = _taken(input, mask, _lowest(input.dtype))
    return taken.logsumexp(_dims(input, dim), keepdim).to(input.dtype)


def logaddexp(
    input: Any, other: Any, *, dtype: Any = None, input_mask: Any = None, other_mask: Any = None
) -> Any:
    """log(exp(input) + exp(other)), where what does not count adds nothing."""
    first = _taken(_cast(input, dtype), input_mask, float("-inf"))
    return first.logaddexp(_taken(_cast(other, dtype), other_mask, float("-inf")))
