"""torch.segment_reduce: sums, means, products and extrema of segments of a dimension.

In: values [..., length, ...] and the segments' lengths (or the places where they start, and the
end). Out: [..., segments, ...]. An empty segment gives `initial`, or what nothing adds up to.

    >>> from minitorch2 import tensor
    >>> segment_reduce(tensor([1.0, 2.0, 3.0]), "sum", lengths=tensor([1, 2]))
    tensor([1., 5.])

Source: torch.segment_reduce.
"""

import math
from typing import Any

from minitorch2.errors import OperationError
from minitorch2.layouts import normalize_dim
from minitorch2.ops.infer import describe_value
from minitorch2.ops.table import lookup

# Of each kind: scatter_reduce's name for it, and the value of a segment without elements.
KINDS = {
    "sum": ("sum", 0.0),
    "mean": ("sum", math.nan),
    "prod": ("prod", 1.0),
    "max": ("amax", -math.inf),
    "min": ("amin", math.inf),
    "amax": ("amax", -math.inf),
    "amin": ("amin", math.inf),
}


def _op(name: str, *args: Any, **kwargs: Any) -> Any:
    return lookup(name).public(*args, **kwargs)


def _lengths(data: Any, reduce: str, lengths: Any, offsets: Any, axis: int, unsafe: bool) -> Any:
    """The segments' lengths, checked unless `unsafe`."""
    wrong = ""
    if reduce not in KINDS:
        wrong = f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
    elif lengths is None and offsets is None:
        wrong = "segment_reduce(): Either lengths or offsets must be defined."
    if not wrong and lengths is None:
        lengths = offsets.diff()
    if not wrong and not unsafe:
        if bool((lengths < 0).any()):
            wrong = "lengths contains negative value!"
        elif offsets is None and not bool((lengths.sum(-1) == data.shape[axis]).all()):
            wrong = (
                "segment_reduce(): Expected all rows of lengths along axis to sum to "
                "data.size(lengths.dim()-1) when !unsafe."
            )
    if wrong:
        raise OperationError(f"segment_reduce({describe_value(data)}, {reduce!r})", wrong)
    return lengths


def segment_reduce(
    data: Any,
    reduce: str,
    *,
    lengths: Any = None,
    indices: Any = None,
    offsets: Any = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Any:
    """Each segment of `data` along `axis` reduced; `lengths` [..., segments] has data's batch."""
    if indices is not None:
        raise OperationError(
            "segment_reduce(indices=...)",
            "segment_reduce(): indices based reduction is not supported yet.",
            "give lengths or offsets",
        )
    axis = normalize_dim(axis, data.ndim)
    lengths = _lengths(data, reduce, lengths, offsets, axis, unsafe)
    name, nothing = KINDS[reduce]
    count, size = lengths.shape[-1], data.shape[axis]
    ends = lengths.cumsum(-1)
    places = _op("range_", 0, size, 1)
    segment = (places.unsqueeze(-1) >= ends.unsqueeze(-2)).sum(-1)  # [..., size], count beyond
    more = data.ndim - axis - 1
    index = segment.reshape((*segment.shape, *[1] * more)).expand(tuple(data.shape))
    start = (0.0 if reduce == "mean" else nothing) if initial is None else float(initial)
    shape = (*data.shape[:axis], count + 1, *data.shape[axis + 1 :])
    found = _op("full", shape, start, dtype=data.dtype)
    found = _op("scatter_reduce", found, axis, index, data, name).narrow(axis, 0, count)
    if reduce != "mean":
        return found
    sizes = lengths.reshape((*lengths.shape, *[1] * more)).to(data.dtype)
    empty = math.nan if initial is None else float(initial)
    return _op("where", sizes > 0, found / sizes.clamp(min=1), empty)
