"""Batching rules of views.

In: a view of one sample. Out: the same view of all samples, which shares the hidden tensor's
memory, so that writes through it are writes into every sample. Most views only name a dimension,
which moves by one; the ones here name shapes or whole orders.

    expand(x [3, 1], (2, 3, 4))  ->  expand(hidden [B, 1, 3, 1], (B, 2, 3, 4))

Source: torch.func's design notes on batching rules.
"""

from typing import Any

from minitorch2.batching.batched import op
from minitorch2.batching.mode import BY_KIND, OWN, VmapMode
from minitorch2.batching.rules import moved, with_ndim
from minitorch2.dispatch import call
from minitorch2.layouts import element_count, normalize_dim, normalize_dims, resolve_shape
from minitorch2.ops.table import VIEW


def _view(mode: VmapMode, row: Any, args: tuple) -> Any:
    shape = resolve_shape(tuple(args[1]), element_count(args[0].layout.shape))
    return call(row, (args[0].value, (mode.size, *shape)))


def _permute(mode: VmapMode, row: Any, args: tuple) -> Any:
    row.view(args[0].layout, args[1])  # raises what one sample's would
    dims = normalize_dims(args[1], args[0].ndim) if args[1] else ()
    return call(row, (args[0].value, (0, *(dim + 1 for dim in dims))))


def _expand(mode: VmapMode, row: Any, args: tuple) -> Any:
    shape = row.view(args[0].layout, args[1]).shape
    return call(row, (with_ndim(args[0].value, len(shape)), (mode.size, *shape)))


def _unsqueeze(mode: VmapMode, row: Any, args: tuple) -> Any:
    return call(row, (args[0].value, normalize_dim(args[1], args[0].ndim + 1) + 1))


def _squeeze(mode: VmapMode, row: Any, args: tuple) -> Any:
    ndim = args[0].ndim
    dims = range(ndim) if args[1] is None else normalize_dims(args[1], ndim) if args[1] else ()
    return call(row, (args[0].value, tuple(dim + 1 for dim in dims)))


def _as_strided(mode: VmapMode, row: Any, args: tuple) -> Any:
    """The offset of a sample counts from its first element, as if it had memory of its own."""
    hidden, size, stride, offset = args[0].value, *args[1:]
    seen = hidden.layout
    start = seen.offset + (offset or 0)
    return call(row, (hidden, (mode.size, *size), (seen.strides[0], *stride), start))


def _transpose(mode: VmapMode, row: Any, args: tuple) -> Any:
    if args[0].ndim == 0:
        row.view(args[0].layout, *args[1:])
        return op("alias", args[0].value)
    return moved(mode, row, args)


def _select(mode: VmapMode, row: Any, args: tuple) -> Any:
    row.view(args[0].layout, *args[1:])  # a sample without dimensions has none to select from
    return call(row, (args[0].value, normalize_dim(args[1], args[0].ndim) + 1, args[2]))


BY_KIND[VIEW] = moved
OWN.update(
    view=_view,
    permute=_permute,
    expand=_expand,
    unsqueeze=_unsqueeze,
    squeeze=_squeeze,
    as_strided=_as_strided,
    transpose=_transpose,
    select=_select,
)
