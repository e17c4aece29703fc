"""out= of functions: the result of an operation written into tensors that are there already.

In: a row, its arguments and the tensor (or tensors) to write. Out: the same tensors, resized to
the result's shape where they had another. `torch.add(a, b, out=c)` is `c.copy_(a + b)` with the
rules below; no row knows of it.

Source: torch's "out=" notes: no gradients flow, the result's dtype must be castable to that of the
tensor written, and memory that is read may not be partly written.
"""

import functools
import warnings
from collections.abc import Callable
from typing import Any

from minitorch2 import dtypes
from minitorch2.autograd.modes import no_grad
from minitorch2.dispatch import call, state
from minitorch2.errors import ArgumentTypeError, AutogradError, DeviceError, DtypeError
from minitorch2.layouts import Layout
from minitorch2.ops.infer import describe, describe_value
from minitorch2.ops.inplace import check_overlap
from minitorch2.ops.memory_methods import resize_
from minitorch2.ops.table import VIEW, Op, lookup
from minitorch2.tensors import Tensor


def takes_out(op: Op) -> bool:
    """Whether the row's function has out=: it makes new tensors and is no method only."""
    returned = "".join(op.signature.returns)
    public = op.function or op.torch.startswith("torch.special.") or op.name == "polygamma"
    return public and op.kind != VIEW and not op.inplace_of and "(a" not in returned


def write_out(op: Op, args: tuple, out: Any) -> Any:
    """Run `op` and write its results into `out`, which is returned."""
    targets = _targets(describe(op, args), out, len(op.signature.returns))
    read = [value for value in _flat(args) if isinstance(value, Tensor)]
    if op.vjp is not None or op.decomp is not None:
        _refuse_gradients(op.name, (*read, *targets))
    for target in targets:
        for tensor in read:
            check_overlap(target, tensor)
    names = op.signature.names
    exact = op.exact == "always" or op.exact == "numbers" and len(read) == 1
    open_dtype = "dtype" in names and args[names.index("dtype")] is None
    if open_dtype and len(targets) == 1 and not exact:
        at = names.index("dtype")  # computed in the dtype of what is written
        args = (*args[:at], targets[0].dtype, *args[at + 1 :])
    found = call(op, args)
    for target, result in zip(
        targets, found if isinstance(found, tuple) else (found,), strict=True
    ):
        _write(op.name, target, result, exact)
    return out


def into(name: str, out: Any, found: Any, exact: bool = False) -> Any:
    """`out`, with what the function of this name found written into it; that itself without out.

    `exact`: whether `out` has to be of the very dtype.
    """
    if out is None:
        return found
    results = tuple(found) if isinstance(found, (tuple, list)) else (found,)
    targets = _targets(f"{name}()", out, len(results))
    _refuse_gradients(name, (*results, *targets))
    for target, result in zip(targets, results, strict=True):
        _write(name, target, result, exact)
    if isinstance(found, Tensor):
        return out
    named = hasattr(found, "_fields")
    return type(found)(*targets) if named else type(found)(targets)


def with_out(function: Callable, name: str = "") -> Callable:
    """The function with out= besides, of the result's very dtype."""
    asked = name or function.__name__

    @functools.wraps(function)
    def taking_out(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        return into(asked, out, function(*args, **kwargs), True)

    return taking_out


def _targets(asked: str, out: Any, count: int) -> tuple:
    """What is to be written, a tensor for each result."""
    targets = tuple(out) if isinstance(out, (tuple, list)) else (out,)
    if len(targets) != count or not all(isinstance(target, Tensor) for target in targets):
        raise ArgumentTypeError(
            f"{asked} with out={describe_value(out)}",
            f"out= must be {'a Tensor' if count == 1 else f'a tuple of {count} Tensors'}",
            "make it first: torch.empty(0)",
        )
    return targets


def _refuse_gradients(name: str, tensors: tuple) -> None:
    if state.grad_enabled and any(tensor.requires_grad for tensor in tensors):
        raise AutogradError(
            f"{name}() with out=",
            f"{name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad",
            "leave out= away, or work under torch.no_grad()",
        )


def _flat(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [found for item in value for found in _flat(item)]
    return [value]


def _write(name: str, target: Tensor, result: Tensor, exact: bool) -> None:
    asked = f"{name}() with out={describe_value(target)}"
    if exact and target.dtype is not result.dtype:
        raise DtypeError(
            asked,
            f"Expected out tensor to have dtype {result.dtype}, but got {target.dtype} instead",
            "give out= the result's dtype",
        )
    if not dtypes.can_cast(result.dtype, target.dtype):
        raise DtypeError(
            asked,
            f"result type {result.dtype} can't be cast to the desired output type {target.dtype}",
            "give out= the result's dtype, or convert the result",
        )
    if target.device != result.device:
        raise DeviceError(
            asked,
            f"the result is on {result.device}, out= on {target.device}",
            "make out= on the same device",
        )
    if target.shape != result.shape:
        _resize(name, target, result)
    with no_grad():
        call(lookup("copy_"), (target, result, False))


def _resize(name: str, target: Tensor, result: Tensor) -> None:
    """Give the tensor written the result's shape; only an empty one may expect it."""
    if target.numel():
        warnings.warn(
            f"An output with one or more elements was resized since it had shape "
            f"{list(target.shape)}, which does not match the required output shape "
            f"{list(result.shape)}; pass {name} an empty tensor: torch.empty(0)",
            UserWarning,
            stacklevel=5,
        )
    resize_(target, tuple(result.shape))
    if result.layout.is_dense():  # laid out as the result is
        layout = Layout(result.layout.shape, result.layout.strides, target.layout.offset)
        target.layout, target._array, target.key = layout, None, None
