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

from minitorch2.dtypes import int32, int64
from minitorch2.errors import OperationError, UnsupportedDtype
from minitorch2.layouts import normalize_dim
from minitorch2.ops.infer import describe_value, unsupported
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


def _check(data: Any, reduce: str, name: str, given: Any, axis: int) -> None:
    """An error for kinds, dtypes and dimensions that do not go together."""
    asked, wrong = f"segment_reduce({describe_value(data)}, {reduce!r})", ""
    if reduce not in KINDS:
        wrong = f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
    elif given is None:
        wrong = "segment_reduce(): Either lengths or offsets must be defined."
    elif given.ndim > data.ndim:
        wrong = f"Expected data.dim() >= {name}_value.dim() to be true, but got false."
    elif axis != given.ndim - 1:
        wrong = (
            f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}."
        )
    elif name == "offsets" and given.shape[-1] == 0:
        wrong = "Trying to create tensor with negative dimension -1: [-1]"
    if wrong:
        raise OperationError(asked, wrong)
    for kernel, element, fits in (
        ("_segment_reduce_cpu", data.dtype, data.dtype.is_floating_point),
        (f"_segment_reduce_{name}_cpu_kernel1", given.dtype, given.dtype in (int32, int64)),
    ):
        if not fits:
            raise UnsupportedDtype(asked, unsupported(kernel, element))


def _bounds(data: Any, name: str, given: Any, axis: int, unsafe: bool) -> tuple[Any, Any]:
    """Where the segments start and end, [..., segments] each, checked unless `unsafe`."""
    if name == "offsets":
        starts, ends = given[..., :-1], given[..., 1:]
    else:
        ends = given.cumsum(-1)
        starts = ends - given
    wrong = ""
    if (name == "offsets" or not unsafe) and bool((ends < starts).any()):
        wrong = "lengths contains negative value!"
        if name == "offsets":
            wrong = "Expected segment_length >= 0 to be true, but got false."
    elif name == "offsets":
        if not unsafe and bool(((starts < 0) | (ends > data.shape[axis])).any()):
            wrong = f"offsets must lie between 0 and {data.shape[axis]}, the size of the data"
    elif not unsafe and not bool((given.sum(-1) == data.shape[axis]).all()):
        wrong = (
            "segment_reduce(): Expected all rows of lengths along axis to sum to "
            "data.size(lengths.dim()-1) when !unsafe."
        )
    if wrong:
        raise OperationError(f"segment_reduce({describe_value(data)}, {name}=...)", wrong)
    return starts, ends


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
    by, given = ("lengths", lengths) if offsets is None else ("offsets", offsets)
    _check(data, reduce, by, given, axis)
    starts, ends = _bounds(data, by, given, axis, unsafe)
    name, nothing = KINDS[reduce]
    count, size = starts.shape[-1], data.shape[axis]
    places = _op("range_", 0, size, 1).unsqueeze(-1)
    segment = (places >= ends.unsqueeze(-2)).sum(-1)  # [..., size], count beyond
    if by == "offsets":  # what is before the first segment is in none
        segment = _op("where", places.squeeze(-1) < given.narrow(-1, 0, 1), count, segment)
    more = data.ndim - axis - 1
    index = segment.reshape((*segment.shape, *[1] * more)).expand(tuple(data.shape))
    start = (0.0 if reduce == "mean" else nothing) if initial is None else float(initial)
    shape = (*data.shape[:axis], count + 1, *data.shape[axis + 1 :])
    found = _op("full", shape, start, dtype=data.dtype)
    found = _op("scatter_reduce", found, axis, index, data, name).narrow(axis, 0, count)
    if reduce != "mean":
        return found.contiguous()
    sizes = (ends - starts).reshape((*starts.shape, *[1] * more)).to(data.dtype)
    empty = math.nan if initial is None else float(initial)
    return _op("where", sizes > 0, found / sizes.clamp(min=1), empty)
