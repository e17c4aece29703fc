"""Batching rules by kind: pointwise, reductions, and ops whose dimensions move by one.

In: a mode, an op row, its arguments. Out: the hidden result. What decides is the row's kind and the
names of its parameters: an int called `dim` is a dimension of one sample, and the hidden tensor has
the batch before it.

    sum(x [3, 4], dim=-1)  ->  sum(hidden [B, 3, 4], dim=2)
    add(x [3], y [4, 3])   ->  add(hidden [B, 1, 3], y [4, 3])

Source: torch.func's design notes on batching rules.
"""

from typing import Any

from minitorch2.batching.batched import Batched, op
from minitorch2.batching.mode import BY_KIND, OWN, VmapMode
from minitorch2.dispatch import call
from minitorch2.dtypes import bfloat16, float16, float32
from minitorch2.layouts import normalize_dim, normalize_dims
from minitorch2.ops.infer import keeps_digits, pointwise_dtypes, rounded_number
from minitorch2.ops.table import COMPOSITE, GATHER, LIBRARY, POINTWISE, REDUCTION
from minitorch2.tensors import Tensor

DIMENSIONS = ("dim", "dim0", "dim1", "dim2", "dims", "dimension")


def with_ndim(hidden: Tensor, ndim: int) -> Tensor:
    """The hidden tensor with sizes 1 after the batch, so that samples have `ndim` dimensions."""
    shape = hidden.layout.shape
    missing = ndim - (len(shape) - 1)
    for _ in range(missing):
        hidden = op("unsqueeze", hidden, 1)
    return hidden


def pointwise(mode: VmapMode, row: Any, args: tuple) -> Any:
    """Line up the samples' dimensions on the right; promote as for one sample.

    A sample without dimensions is a number to type promotion, its hidden vector is not: operands
    are converted first where one sample's have no dimensions. 16 bits are computed in float32,
    after what one sample would round to them is rounded.
    """
    tensors = [args[position] for position in row.tensor_positions]
    ndims = [t.ndim for t in tensors if isinstance(t, Tensor)]
    ndim = max(ndims)
    compute = result = rounded = None
    if 0 in ndims and row.promote not in ("convert", "rebase"):
        compute, result = pointwise_dtypes(row, args)
        if compute in (float16, bfloat16):
            compute, rounded = float32, compute
    found = []
    for parameter, argument in zip(row.signature.parameters, args, strict=True):
        operand = parameter.type == "Operand" and argument is not None
        short = None if operand and keeps_digits(row, parameter.name, argument) else rounded
        if isinstance(argument, Tensor):
            argument, is_batched = mode.hidden(argument)
            if operand and short is not None and argument.dtype is not short:
                argument = op("convert", argument, short)
            if is_batched:
                argument = with_ndim(argument, ndim)
            if compute is not None and parameter.type == "Operand":
                if argument.dtype is not compute:
                    argument = op("convert", argument, compute)
        elif operand and short is not None:
            argument = rounded_number(argument, short)
        found.append(argument)
    made = call(row, tuple(found))
    return made if result is None or made.dtype is result else op("convert", made, result)


def reduction(mode: VmapMode, row: Any, args: tuple) -> Any:
    """Reduce the samples' dimensions, never the batch."""
    hidden, dim = args[0].value, args[1]
    ndim = args[0].ndim
    if row.name == "cumsum":
        return moved(mode, row, args)
    if row.name in ("argmax", "argmin"):
        return _place_of_extreme(row, hidden, ndim, args)
    dims = normalize_dims(dim, ndim)
    if ndim == 0:
        return call(row, (op("unsqueeze", hidden, 1), (1,), False, *args[3:]))
    return call(row, (hidden, tuple(each + 1 for each in dims), *args[2:]))


def joined(mode: VmapMode, row: Any, args: tuple) -> Any:
    """A reduction; one over all dimensions of a sample without elements is refused, as unmapped."""
    self, dim, *rest = args
    if not dim and 0 in self.layout.shape:
        return call(row, (self.value, None, *rest))
    return reduction(mode, row, args)


def _place_of_extreme(row: Any, hidden: Tensor, ndim: int, args: tuple) -> Any:
    dim, keepdim = args[1], args[2]
    if dim is not None and ndim:
        return call(row, (hidden, normalize_dim(dim, ndim) + 1, keepdim))
    found = call(row, (op("reshape", hidden, (hidden.layout.shape[0], -1)), 1, False))
    return with_ndim(found, ndim) if keepdim else found


def moved(mode: VmapMode, row: Any, args: tuple) -> Any:
    """All tensors [B, ...], every dimension one further; where none is named, they broadcast."""
    tensors = _tensors(row, args)
    ndim = max(t.ndim for t in tensors)
    scalar, named = ndim == 0, _names_dimensions(row)
    lined_up = len(tensors) > 1 and not named
    found = []
    for parameter, argument in zip(row.signature.parameters, args, strict=True):
        if parameter.is_tensor:
            argument = _spread(mode, argument)
            if isinstance(argument, Tensor) and (lined_up or (scalar and named)):
                argument = with_ndim(argument, ndim if lined_up else 1)
        elif parameter.name in DIMENSIONS and argument is not None:
            argument = further(argument, ndim)
        found.append(argument)
    result = call(row, tuple(found))
    return _squeezed(result) if scalar and named else result


def further(dim: Any, ndim: int) -> Any:
    """A dimension (or several) of a sample as the hidden tensor counts it."""
    if isinstance(dim, tuple):
        return tuple(normalize_dim(each, ndim) + 1 for each in dim)
    return normalize_dim(dim, ndim) + 1


def _names_dimensions(row: Any) -> bool:
    return any(parameter.name in DIMENSIONS for parameter in row.signature.parameters)


def _squeezed(result: Any) -> Any:
    if type(result) is tuple:
        return tuple(_squeezed(each) for each in result)
    return op("squeeze", result, (1,)) if result.ndim == 2 else result


def _tensors(row: Any, args: tuple) -> list[Tensor]:
    found: list[Tensor] = []
    for position in row.tensor_positions:
        argument = args[position]
        items = argument if type(argument) in (tuple, list) else (argument,)
        found.extend(item for item in items if isinstance(item, Tensor))
    return found


def _spread(mode: VmapMode, argument: Any) -> Any:
    if type(argument) in (tuple, list):
        return tuple(mode.spread(item) for item in argument)
    return mode.spread(argument)


def loop(mode: VmapMode, row: Any, args: tuple) -> Any:
    """One call for each sample, the results stacked: for ops that no rule fits."""
    results = []
    for index in range(mode.size):
        results.append(call(row, tuple(sample(mode, argument, index) for argument in args)))
    return stacked(results)


def sample(mode: VmapMode, argument: Any, index: int) -> Any:
    """One sample of an argument."""
    if type(argument) in (tuple, list):
        return tuple(sample(mode, item, index) for item in argument)
    if type(argument) is Batched and argument.level == mode.level:
        return op("select", argument.value, 0, index)
    return argument


def stacked(results: list[Any]) -> Any:
    """The samples' results side by side."""
    if type(results[0]) is tuple:
        return tuple(stacked(list(column)) for column in zip(*results, strict=True))
    return op("stack", tuple(results), 0)


BY_KIND[POINTWISE] = pointwise
BY_KIND[REDUCTION] = reduction
BY_KIND[GATHER] = moved
BY_KIND[LIBRARY] = moved
BY_KIND[COMPOSITE] = moved  # those with derivatives of their own
for _name in ("as_strided_scatter", "as_strided_add", "isin", "histc"):
    OWN[_name] = loop
OWN["hash_tensor"] = joined
