"""torch._foreach_*: one operation on every tensor of a list.

In: lists of tensors, and numbers or lists of numbers. Out: a tuple of results; with a name that
ends in `_` the first list itself, its tensors written.

    >>> from minitorch2 import ones
    >>> _foreach_mul = FUNCTIONS["_foreach_mul"]
    >>> _foreach_mul([ones(1), ones(2)], [2, 3])
    (tensor([2.]), tensor([3., 3.]))

Optimizers written for them run; each tensor is one call of its operation.

Source: torch's foreach functions.
"""

from collections.abc import Callable, Sequence
from typing import Any

from minitorch2.errors import OperationError
from minitorch2.tensors import Tensor

UNARY = """abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p
log2 neg reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc""".split()
BINARY = "add sub mul div pow clamp_min clamp_max maximum minimum lerp".split()
TERNARY = ("addcmul", "addcdiv")


def _column(name: str, value: Any, count: int) -> Sequence[Any]:
    """One value for each tensor."""
    if isinstance(value, (list, tuple)):
        if len(value) != count:
            raise OperationError(
                name,
                f"Tensor lists must have the same number of tensors, got {count} and {len(value)}",
                "give one value for each tensor",
            )
        return value
    return [value] * count


def _check(name: str, tensors: Any) -> None:
    if not isinstance(tensors, (list, tuple)) or not tensors:
        raise OperationError(name, "Tensor list must have at least one tensor.")


def _mapped(name: str, method: str, writes: bool) -> Callable:
    """The function of a list for a method of each tensor."""
    method += "_" if writes else ""

    def function(self: Any, *others: Any, **options: Any) -> Any:
        _check(name, self)
        columns = [_column(name, each, len(self)) for each in others]
        rest = {key: _column(name, value, len(self)) for key, value in options.items()}
        found = []
        for index, tensor in enumerate(self):
            named = {key: column[index] for key, column in rest.items()}
            found.append(getattr(tensor, method)(*[c[index] for c in columns], **named))
        return self if writes else tuple(found)

    return function


def _products(name: str, method: str, writes: bool) -> Callable:
    """addcmul and addcdiv: the factor may be one number, or one for each tensor."""
    method += "_" if writes else ""

    def function(self: Any, tensor1: Any, tensor2: Any, value: Any = 1, scalars: Any = None) -> Any:
        _check(name, self)
        factors = value if scalars is None else scalars
        if isinstance(factors, Tensor):
            factors = factors.tolist()
        rows = zip(
            self,
            _column(name, tensor1, len(self)),
            _column(name, tensor2, len(self)),
            _column(name, factors, len(self)),
            strict=True,
        )
        found = tuple(getattr(t, method)(a, b, value=factor) for t, a, b, factor in rows)
        return self if writes else found

    return function


def _norm(self: Any, ord: Any = 2, dtype: Any = None) -> tuple:
    """The norm of each tensor."""
    _check("_foreach_norm", self)
    return tuple((t if dtype is None else t.to(dtype)).norm(ord) for t in self)


def _copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Overwrite each tensor with one of another list."""
    _check("_foreach_copy_", self)
    for target, source in zip(self, _column("_foreach_copy_", src, len(self)), strict=True):
        target.copy_(source)
    return self


def _zero_(self: Any) -> Any:
    """Set every tensor to zero."""
    _check("_foreach_zero_", self)
    for tensor in self:
        tensor.zero_()
    return self


def _functions() -> dict[str, Callable]:
    found: dict[str, Callable] = {
        "_foreach_norm": _norm,
        "_foreach_copy_": _copy_,
        "_foreach_zero_": _zero_,
    }
    for writes in (False, True):
        for names, make in (((*UNARY, *BINARY), _mapped), (TERNARY, _products)):
            for method in names:
                name = f"_foreach_{method}{'_' if writes else ''}"
                found[name] = make(name, method, writes)
    for name, function in found.items():
        function.__name__ = function.__qualname__ = name
        function.__module__ = "minitorch2"
    return found


FUNCTIONS = _functions()
