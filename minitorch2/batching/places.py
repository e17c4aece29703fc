"""Batching rules of indexing, searching and writing in place.

In: indices of one sample. Out: indices of the hidden tensor: samples picked by their own indices
get one more index, the number of the sample.

    index(x [5, 3], (i [4],))  ->  index(hidden [B, 5, 3], (range [B, 1], hidden i [B, 4]))

Source: numpy's rules of advanced indexing, which say where the indices' dimensions go.
"""

from typing import Any

from minitorch2.batching.batched import op
from minitorch2.batching.mode import OWN, VmapMode
from minitorch2.batching.rules import loop, moved, with_ndim
from minitorch2.dispatch import call
from minitorch2.errors import InPlaceError
from minitorch2.layouts import broadcast_shapes, normalize_dim
from minitorch2.ops.linear_algebra import is_vector
from minitorch2.tensors import Tensor


def _sample_numbers(mode: VmapMode, ndim: int, device: Any) -> Tensor:
    """0, 1, ... B - 1 as [B, 1, ... 1] of 1 + ndim dimensions."""
    numbers = op("range_", 0, mode.size, 1, None, device)
    return op("reshape", numbers, (mode.size, *(1,) * ndim))


class _Places:
    """The indices of all samples, and where their dimensions stand in one sample's result."""

    def __init__(self, mode: VmapMode, x: Tensor, indices: tuple):
        given = [at for at, index in enumerate(indices) if index is not None]
        together = given == list(range(given[0], given[-1] + 1))
        self.front = given[0] if together else 0
        shapes = [tuple(indices[at].layout.shape) for at in given]
        self.ndim = len(broadcast_shapes(*shapes))
        self.index_shape = broadcast_shapes(*shapes)
        aligned: list[Any] = [None] * len(indices)
        for at in given:
            hidden, is_batched = mode.hidden(indices[at])
            aligned[at] = with_ndim(hidden, self.ndim) if is_batched else hidden
        self.indices = (_sample_numbers(mode, self.ndim, x.device), *aligned)
        # The sample's number comes first; it stands beside the others when they start there.
        self.moves = self.front if given[0] else 0

    def to_front(self, values: Tensor) -> Tensor:
        """[B, before, indices, after] as the hidden indexing orders it: indices first."""
        if not self.moves or not self.ndim:
            return values
        source = tuple(range(1 + self.moves, 1 + self.moves + self.ndim))
        return op("movedim", values, source, tuple(range(1, 1 + self.ndim)))

    def from_front(self, values: Tensor) -> Tensor:
        """The opposite of `to_front`."""
        if not self.moves or not self.ndim:
            return values
        target = tuple(range(1 + self.moves, 1 + self.moves + self.ndim))
        return op("movedim", values, tuple(range(1, 1 + self.ndim)), target)


def _index(mode: VmapMode, row: Any, args: tuple) -> Any:
    places = _Places(mode, args[0], args[1])
    return places.from_front(call(row, (mode.spread(args[0]), places.indices)))


def _index_put(mode: VmapMode, row: Any, args: tuple) -> Any:
    x, indices, values, accumulate = args
    places = _Places(mode, x, indices)
    rest = [
        size for at, size in enumerate(x.layout.shape) if at >= len(indices) or indices[at] is None
    ]
    shape = (*rest[: places.front], *places.index_shape, *rest[places.front :])
    written = with_ndim(mode.spread(values), len(shape))
    written = places.to_front(op("expand", written, (mode.size, *shape)))
    return call(row, (mode.spread(x), places.indices, written, accumulate))


def _index_select(mode: VmapMode, row: Any, args: tuple) -> Any:
    x, dim, index = args
    if not mode.is_batched(index) and x.ndim:
        return call(row, (x.value, normalize_dim(dim, x.ndim) + 1, index))
    if not x.ndim:
        return loop(mode, row, args)
    at = normalize_dim(dim, x.ndim)
    one = index if index.ndim else mode.inside(op, "unsqueeze", index, 0)
    return mode.hidden(mode.inside(op, "index", x, (*(None,) * at, one)))[0]


def _index_add(mode: VmapMode, row: Any, args: tuple) -> Any:
    x, dim, index, source = args
    if mode.is_batched(index) or not x.ndim:
        return loop(mode, row, args)
    at = normalize_dim(dim, x.ndim) + 1
    return call(row, (mode.spread(x), at, index, mode.spread(source)))


def _searchsorted(mode: VmapMode, row: Any, args: tuple) -> Any:
    """Rows of a sequence take values of the same leading sizes; a single one takes any."""
    sequence, values = args[:2]
    if not mode.is_batched(sequence) and sequence.ndim == 1:
        return call(row, (sequence, mode.hidden(values)[0], *args[2:]))
    if sequence.ndim > 1:
        return moved(mode, row, args)
    if not isinstance(values, Tensor):
        return loop(mode, row, args)
    shape = values.layout.shape
    flat = op("reshape", mode.spread(values), (mode.size, -1))
    found = call(row, (mode.spread(sequence), flat, *args[2:]))
    return op("reshape", found, (mode.size, *shape))


def _max_pool(mode: VmapMode, row: Any, args: tuple) -> Any:
    """[N, C, *sizes] samples become more of them; [C, *sizes] samples have their batch already."""
    row.infer(*args)
    hidden, kernel = args[0].value, args[1]
    if args[0].ndim == len(kernel) + 1:
        return call(row, (hidden, *args[1:]))
    both = op("flatten", hidden, 0, 1)
    sizes = tuple(hidden.layout.shape[:2])
    return tuple(op("unflatten", part, 0, sizes) for part in call(row, (both, *args[1:])))


def _cat(mode: VmapMode, row: Any, args: tuple) -> Any:
    """Vectors without elements count for nothing beside tensors of other dimensions."""
    real = [t for t in args[0] if t.ndim != 1 or t.shape[0]]
    return moved(mode, row, (tuple(real or args[0]), args[1]))


def _solve(mode: VmapMode, row: Any, args: tuple) -> Any:
    """Whether the right side is a vector is one sample's matter; then matrices all the way."""
    left, right = args
    vector = is_vector(left, right)
    if vector:
        right = mode.inside(op, "unsqueeze", right, -1)
    ndim = max(left.ndim, right.ndim)
    values = [mode.hidden(each) for each in (left, right)]
    aligned = [with_ndim(each, ndim) if is_batched else each for each, is_batched in values]
    found = call(row, tuple(aligned))
    return op("squeeze", found, (-1,)) if vector else found


def _pinv_above(mode: VmapMode, row: Any, args: tuple) -> Any:
    """Bounds lie beside the singular values, of which a matrix has one dimension."""
    x, bound, hermitian = args
    bounds = with_ndim(mode.spread(bound), x.ndim - 1)
    return call(row, (mode.spread(x), bounds, hermitian))


def _rebase(mode: VmapMode, row: Any, args: tuple) -> Any:
    return call(row, (mode.spread(args[0]), mode.spread(args[1])))


def _copy(mode: VmapMode, row: Any, args: tuple) -> Any:
    """Write every sample's value into its place; the tensor itself is the result."""
    target, source, rest = args[0], args[1], args[2:]
    if not mode.is_batched(target):
        raise InPlaceError(
            f"vmap: a write in place into a tensor of shape {list(target.shape)}",
            "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a "
            "Tensor `other` in extra_args that has more elements than `self`: each sample would "
            "write its own values into one tensor",
            "make the target inside, from a batched tensor (torch.zeros_like(x), x.new_zeros), "
            "or use the out-of-place form",
        )
    hidden, is_batched = mode.hidden(source)
    if is_batched:
        hidden = with_ndim(hidden, target.ndim)
    call(row, (target.value, hidden, *rest))
    return None


OWN.update(
    index=_index,
    index_put=_index_put,
    index_select=_index_select,
    index_add=_index_add,
    searchsorted=_searchsorted,
    max_pool=_max_pool,
    cat=_cat,
    linalg_solve=_solve,
    linalg_pinv_above=_pinv_above,
    rebase=_rebase,
    copy_=_copy,
)
