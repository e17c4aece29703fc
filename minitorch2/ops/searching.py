"""Rows that search: in sorted boundaries, in sets, by masks; and picks by flat indices.

In: tensors. Out: places, truth values, or the elements found. Results whose size depends on the
data exist eagerly only.

Source: torch's documentation of each function.
"""

import numpy

from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.errors import IndexOutOfRange, OperationError, ShapeError
from minitorch2.layouts import broadcast_shapes, element_count, normalize_dim
from minitorch2.ops.composites import composite
from minitorch2.ops.infer import describe_value
from minitorch2.ops.movement import in_numpys_order
from minitorch2.ops.table import COMPOSITE, LIBRARY, Meta, defop, lookup

_UNKNOWN_SIZE = "the size of its result is not known before it runs"


def _op(name, *args):
    return call(lookup(name), args)


# ---- sorted boundaries -----------------------------------------------------------------------


def _searchsorted(sorted_sequence, self, out_int32, right, side, sorter):
    if sorter is not None:
        sorted_sequence = numpy.take_along_axis(sorted_sequence, sorter, -1)
    side = side or ("right" if right else "left")
    result = numpy.int32 if out_int32 else numpy.int64
    values = numpy.asarray(self)
    wide = numpy.result_type(sorted_sequence.dtype, values.dtype)
    values = in_numpys_order(values.astype(wide))
    sorted_sequence = in_numpys_order(sorted_sequence.astype(wide))
    if sorted_sequence.ndim == 1:
        return numpy.searchsorted(sorted_sequence, values, side).astype(result)
    if not values.size or not sorted_sequence.size:
        return numpy.zeros(values.shape, result)
    rows = sorted_sequence.reshape(-1, sorted_sequence.shape[-1])
    asked = values.reshape(len(rows), -1)
    found = [numpy.searchsorted(row, each, side) for row, each in zip(rows, asked, strict=True)]
    return numpy.asarray(found, result).reshape(values.shape)


def _infer_searchsorted(sorted_sequence, self, out_int32, right, side, sorter):
    shape = tuple(getattr(self, "shape", ()))
    sequence = tuple(sorted_sequence.shape)
    asked = f"searchsorted({describe_value(sorted_sequence)}, {describe_value(self)})"
    if side is not None and (side not in ("left", "right") or (side == "left" and right)):
        wrong = (
            f"torch.searchsorted(): side and right can't be set to opposites, got side of {side} "
            "while right was True"
            if side == "left"
            else f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}"
        )
        raise OperationError(asked, wrong, "give side='left' or 'right'")
    if sorter is not None and (tuple(sorter.shape) != sequence or sorter.dtype is not dtypes.int64):
        raise ShapeError(
            asked,
            "boundary and sorter must have the same size, and sorter be a tensor of int64",
            "give what argsort returns",
        )
    if len(sequence) != 1 and sequence[:-1] != shape[:-1]:
        raise ShapeError(
            asked,
            "boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            f"tensor and input value tensor must match, but we got {list(sequence)} and "
            f"{list(shape)}",
            "give boundaries of one dimension",
        )
    return Meta(shape, dtypes.int32 if out_int32 else dtypes.int64)


defop(
    "searchsorted(Tensor sorted_sequence, Operand self, *, bool out_int32=False, "
    "bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
    LIBRARY,
    eager=_searchsorted,
    infer=_infer_searchsorted,
    method=False,
    host="binary search is numpy's",
    doc="Where each value would be inserted into a sorted sequence (each row's own).",
    accepts="bif",
    exact="always",
)


def _bucketize(self, boundaries, out_int32, right):
    if boundaries.ndim != 1:
        raise OperationError(
            f"bucketize(boundaries {describe_value(boundaries)})",
            f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})",
            "use searchsorted for boundaries of each row",
        )
    return _op("searchsorted", boundaries, self, out_int32, right, None, None)


composite(
    "bucketize(Operand self, Tensor boundaries, *, bool out_int32=False, bool right=False)"
    " -> Tensor",
    _bucketize,
    "The number of the interval between boundaries that each value falls into.",
    method=False,
    exact="always",
)

# ---- sets ------------------------------------------------------------------------------------


def _isin(elements, test_elements, assume_unique, invert):
    return numpy.asarray(numpy.isin(elements, test_elements, invert=invert))


defop(
    "isin(Operand elements, Operand test_elements, *, bool assume_unique=False, "
    "bool invert=False) -> Tensor",
    LIBRARY,
    eager=_isin,
    infer=lambda elements, *rest: Meta(tuple(getattr(elements, "shape", ())), dtypes.bool),
    method=False,
    host="looking up sets is numpy's",
    doc="Whether each element is among `test_elements`.",
    accepts="bif",
    exact="always",
)


def _unique(a, dim):
    """The sorted distinct elements (or slices), where each element went, and how often."""
    keys = in_numpys_order(a)
    found = numpy.unique(keys, return_inverse=True, return_counts=True, axis=dim, equal_nan=False)
    shape = a.shape if dim is None else (a.shape[dim],)
    return (
        found[0].astype(a.dtype),
        found[1].reshape(shape).astype(numpy.int64),
        found[2].astype(numpy.int64),
    )


def _unique_consecutive(a, dim):
    whole = a.reshape(-1) if dim is None else numpy.moveaxis(a, dim, 0)
    if not len(whole):
        return a.copy(), numpy.zeros(0, numpy.int64), numpy.zeros(0, numpy.int64)
    width = whole[0].size
    new = (whole[1:] != whole[:-1]).reshape(len(whole) - 1, width).any(1)
    starts = numpy.concatenate([[True], new])
    inverse = numpy.cumsum(starts) - 1
    counts = numpy.diff(numpy.append(numpy.flatnonzero(starts), len(whole)))
    kept = whole[starts]
    kept = kept if dim is None else numpy.moveaxis(kept, 0, dim)
    shape = a.shape if dim is None else (a.shape[dim],)
    return kept, inverse.reshape(shape).astype(numpy.int64), counts.astype(numpy.int64)


for _name, _function, _doc in (
    ("unique", _unique, "The distinct elements in order, their places, and their counts."),
    ("unique_consecutive", _unique_consecutive, "Runs of equal elements, places and lengths."),
):
    defop(
        f"{_name}_parts(Tensor self, int? dim=None)"
        " -> (Tensor values, Tensor inverse, Tensor counts)",
        LIBRARY,
        effects="data_dependent",
        eager=_function,
        method=False,
        function=False,
        torch=f"torch.{_name}",
        host=_UNKNOWN_SIZE,
        doc=_doc,
    )

# ---- masks -----------------------------------------------------------------------------------


def _masked_select(self, mask):
    if mask.dtype is not dtypes.bool:
        raise OperationError(
            f"masked_select(mask {describe_value(mask)})",
            f"masked_select: expected BoolTensor for mask, but got {mask.dtype}",
            "compare it: mask != 0",
        )
    shape = broadcast_shapes(tuple(self.shape), tuple(mask.shape))
    places = _op("nonzero", _op("expand", mask, shape).reshape((-1,))).reshape((-1,))
    return _op("index_select", _op("expand", self, shape).reshape((-1,)), 0, places)


defop(
    "masked_select(Tensor self, Tensor mask) -> Tensor",
    COMPOSITE,
    decomp=_masked_select,
    effects="data_dependent",
    doc="The elements where the mask is true, in a row.",
    exact="always",
)
defop(
    "argwhere(Tensor self) -> Tensor",
    COMPOSITE,
    decomp=lambda self: _op("nonzero", self),
    effects="data_dependent",
    doc="The indices of the non-zero elements, one row for each.",
)


def _masked_scatter(self, mask, source):
    if mask.dtype is not dtypes.bool:
        raise OperationError(
            f"masked_scatter(mask {describe_value(mask)})",
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {mask.dtype}",
            "compare it: mask != 0",
        )
    if source.dtype is not self.dtype:
        raise OperationError(
            f"masked_scatter({describe_value(self)}, source {describe_value(source)})",
            "masked_scatter: expected self and source to have same dtypes",
            "convert the source",
        )
    shape = broadcast_shapes(tuple(self.shape), tuple(mask.shape))
    mask, self = _op("expand", mask, shape), _op("expand", self, shape)
    order = mask.reshape((-1,)).cumsum(0) - 1
    size = element_count(source.layout.shape)
    if mask.storage.block is not None and int(mask.sum().item()) > size:
        raise OperationError(
            f"masked_scatter({describe_value(self)}, source {describe_value(source)})",
            "Number of elements of source < number of ones in mask",
            "give at least as many elements as the mask has trues",
        )
    if size == 0:
        return self.clone()
    places = order.clamp(0, size - 1)
    picked = _op("index_select", source.reshape((-1,)), 0, places).reshape(shape)
    return _op("where", mask, picked, self).contiguous()


composite(
    "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
    _masked_scatter,
    "`self` with the elements of source, in order, where the mask is true.",
)

# ---- picks -----------------------------------------------------------------------------------


def _take(self, index):
    flat, places = self.reshape((-1,)), index.reshape((-1,))
    size = element_count(self.layout.shape)
    places = _op("where", places < 0, places + size, places)
    return _op("index_select", flat, 0, places).reshape(tuple(index.layout.shape))


composite("take(Tensor self, Tensor index) -> Tensor", _take, "Elements by their flat indices.")


def _take_along_dim(self, indices, dim):
    if dim is None:
        return _op("gather", self.reshape((-1,)), 0, indices.reshape((-1,)))
    if not self.ndim:
        raise IndexOutOfRange(
            "take_along_dim() of a 0-d tensor",
            f"Dimension specified as {dim} but tensor has no dimensions",
            "use take()",
        )
    mine, theirs = tuple(self.layout.shape), tuple(indices.layout.shape)
    if len(mine) != len(theirs):
        raise OperationError(
            f"take_along_dim({describe_value(self)}, {describe_value(indices)})",
            "input and indices should have the same number of dimensions",
            "unsqueeze the indices",
        )
    at = normalize_dim(dim, self.ndim)
    both = list(
        broadcast_shapes(mine[:at] + (1,) + mine[at + 1 :], theirs[:at] + (1,) + theirs[at + 1 :])
    )
    both[at] = mine[at]
    self = _op("expand", self, tuple(both))
    both[at] = theirs[at]
    places = _op("where", indices < 0, indices + mine[at], indices)
    return _op("gather", self, at, _op("expand", places, tuple(both)))


composite(
    "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
    _take_along_dim,
    "gather with broadcast indices.",
)


def _index_copy(self, dim, index, source):
    at = normalize_dim(dim, self.ndim)
    count = index.numel()
    if (source.shape[at] if source.ndim else 1) != count:
        raise IndexOutOfRange(
            f"index_copy({describe_value(self)}, {dim}, {describe_value(index)}, "
            f"{describe_value(source)})",
            f"Number of indices ({count}) should be equal to source.size(dim)",
            "give one index for each entry of the source",
        )
    if self.ndim == 0:
        one = self.reshape((1,))
        return _index_copy(one, 0, index.reshape((-1,)), source.reshape((-1,))).reshape(())
    places = (None,) * at + (index.reshape((-1,)),)
    if source.ndim == 0:
        source = source.reshape((1,) * self.ndim)
    return _op("index_put", self, places, source, False)


composite(
    "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
    _index_copy,
    "`self` with the entries of source at the indices of a dimension.",
)
