"""Batching rules of products: the batch becomes a leading dimension, more samples, or groups.

In: a product of one sample. Out: one product for all of them.

    matmul(x [k], w [k, n])            ->  matmul(hidden [B, k], w)
    convolution(x [N, C, ...], w)      ->  convolution of [B * N, C, ...]
    convolution(x, w [O, C, ...] each) ->  one of B groups: x [N, B * C, ...], w [B * O, C, ...]

Source: Jacobsen et al.'s grouped convolution for ensembles, as torch.func's ensembling tutorial
does it.
"""

from typing import Any

from minitorch2.batching.batched import op
from minitorch2.batching.mode import BY_KIND, OWN, VmapMode
from minitorch2.batching.rules import with_ndim
from minitorch2.dispatch import call
from minitorch2.ops.table import PRODUCT
from minitorch2.tensors import Tensor


def _matmul(mode: VmapMode, row: Any, args: tuple) -> Any:
    row.infer(*args)  # raises what one sample's would
    (a, a_batched), (b, b_batched) = mode.hidden(args[0]), mode.hidden(args[1])
    a_ndim, b_ndim = args[0].ndim, args[1].ndim
    if a_batched and not b_batched and a_ndim == 1 and b_ndim <= 2:
        return call(row, (a, b))
    if b_batched and not a_batched and b_ndim == 1 and a_ndim == 2:
        return call(row, (b, op("transpose", a, 0, 1)))
    if a_ndim == 1:
        a = op("unsqueeze", a, -2)
    if b_ndim == 1:
        b = op("unsqueeze", b, -1)
    ndim = max(a_ndim, b_ndim, 2)
    a = with_ndim(a, ndim) if a_batched else a
    b = with_ndim(b, ndim) if b_batched else b
    result = call(row, (a, b))
    if a_ndim == 1:
        result = op("squeeze", result, (-2,))
    if b_ndim == 1:
        result = op("squeeze", result, (-1,))
    return result


def _merged(hidden: Tensor, into: int) -> Tensor:
    """[B, n0, n1, ...] with the batch merged into the samples' dimension `into`."""
    shape = hidden.layout.shape
    moved = op("movedim", hidden, (0,), (into,)) if into else hidden
    sizes = [*shape[1:]]
    sizes[into] = sizes[into] * shape[0]
    return op("reshape", moved, tuple(sizes))


def _parted(tensor: Tensor, size: int, at: int) -> Tensor:
    """The opposite of `_merged`: dimension `at` holds B parts, which become the first dimension."""
    shape = tensor.layout.shape
    wide = op("reshape", tensor, (*shape[:at], size, shape[at] // size, *shape[at + 1 :]))
    return op("movedim", wide, (at,), (0,)) if at else wide


def _by_groups(mode: VmapMode, row: Any, args: tuple, merge: tuple[int, int], part: int) -> Any:
    """All samples' products in one, each a group of its own."""
    first, second = mode.spread(args[0]), mode.spread(args[1])
    settings = (*args[2:-1], args[-1] * mode.size)
    result = call(row, (_merged(first, merge[0]), _merged(second, merge[1]), *settings))
    return _parted(result, mode.size, part)


def _convolution(mode: VmapMode, row: Any, args: tuple) -> Any:
    """Input [N, C, ...] or its gradient [N, O, ...] first, weight second; both results [N, ...]."""
    row.infer(*args)
    first, second = mode.hidden(args[0]), mode.hidden(args[1])
    if not second[1]:
        result = call(row, (_merged(first[0], 0), *args[1:]))
        return _parted(result, mode.size, 0)
    if not first[1] and row.name == "convolution" and args[-1] == 1:
        result = call(row, (args[0], _merged(second[0], 0), *args[2:]))  # more channels out
        return _parted(result, mode.size, 1)
    return _by_groups(mode, row, args, (1, 0), 1)


def _to_weight(mode: VmapMode, row: Any, args: tuple) -> Any:
    """Gradient [N, O, ...] and input [N, C, ...] in; the weight [O, C / groups, ...] out."""
    row.infer(*args)
    return _by_groups(mode, row, args, (1, 1), 0)


BY_KIND[PRODUCT] = _matmul
OWN.update(
    matmul=_matmul,
    convolution=_convolution,
    convolution_to_input=_convolution,
    convolution_to_weight=_to_weight,
)
