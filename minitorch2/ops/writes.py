"""Writes through views as pure functions: slice_scatter, select_scatter and their like.

In: a base and the value a view of it is to get. Out: a new base. They are the inverses of views
that turn writes in place into pure operations.

Source: torch's documentation of each function.
"""

import numpy

from minitorch2.dispatch import call
from minitorch2.errors import ShapeError
from minitorch2.layouts import Layout, check_inside, contiguous
from minitorch2.ops.infer import describe_value
from minitorch2.ops.table import GATHER, Meta, defop, lookup
from minitorch2.ops.views import slice_bounds


def _op(name, *args):
    return call(lookup(name), args)


def _infer_write(view):
    """The base's type; the written value must have the shape of what the view shows."""

    def infer(self, src, *where):
        rule = lookup(view).view
        assert rule is not None, view
        seen = rule(contiguous(tuple(self.shape)), *where).shape
        if tuple(src.shape) != tuple(seen):
            raise ShapeError(
                f"{view}_scatter({describe_value(self)}, {describe_value(src)})",
                f"expected src to have a size equal to the {view} of self, {list(seen)}, "
                f"but got {list(src.shape)}",
                "expand or reshape src",
            )
        return Meta(tuple(self.shape), self.dtype)

    return infer


def _infer_add(self, *rest):
    return Meta(tuple(self.shape), self.dtype)


def _write_at(place):
    """An out-of-place write into the part of a copy that `place(copy, ...)` names."""

    def eager(a, src, *where):
        result = a.copy()
        part = place(result, *where)
        part[...] = src
        return result

    return eager


def _slice_place(a, dim, start, end, step):
    first, count = slice_bounds(a.shape[dim], start, end, step)
    last = first + (count - 1) * step + 1 if count else first
    return a[(slice(None),) * (dim % a.ndim) + (slice(first, last, step),)]


def _select_place(a, dim, index):
    return a[(slice(None),) * (dim % a.ndim) + (index, ...)]


def _zero_like(t):
    return _op("full", tuple(t.shape), 0, t.dtype, t.device)


def _alone(g):
    """A gradient whose memory starts with its first element: as_strided counts in the memory."""
    fits = g.layout.is_contiguous() and not g.layout.offset
    return g if fits else _op("contiguous_copy", g)


def _scatter_view_vjp(view, scatter):
    def vjp(s, g):
        names = [name for name in s.node.op.signature.names if name not in ("self", "src")]
        where = [getattr(s, name) for name in names]
        g = _alone(g) if view == "as_strided" else g
        seen = _op(view, g, *where)
        to_self = _op(scatter, g, _zero_like(seen), *where) if s.needs[0] else None
        to_src = seen if seen.dtype is s.src.dtype else seen.to(s.src.dtype)
        return to_self, to_src if s.needs[1] else None

    return vjp


defop(
    "slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, "
    "int step=1) -> Tensor",
    GATHER,
    keeps=True,
    infer=_infer_write("slice"),
    eager=_write_at(_slice_place),
    vjp=_scatter_view_vjp("slice", "slice_scatter"),
    doc="`self` with a slice of a dimension replaced by `src`.",
    exact="always",
)
defop(
    "select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor",
    GATHER,
    keeps=True,
    infer=_infer_write("select"),
    eager=_write_at(_select_place),
    vjp=_scatter_view_vjp("select", "select_scatter"),
    doc="`self` with one index of a dimension replaced by `src`.",
)


def _diagonal_place(a, offset, dim1, dim2):
    found = numpy.diagonal(a, offset, dim1, dim2)
    found.setflags(write=True)
    return found


defop(
    "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    GATHER,
    keeps=True,
    infer=_infer_write("diagonal"),
    eager=_write_at(_diagonal_place),
    vjp=_scatter_view_vjp("diagonal", "diagonal_scatter"),
    doc="`self` with a diagonal replaced by `src`.",
)


def _strided_place(a, size, stride, offset):
    place = Layout(tuple(size), tuple(stride), offset or 0)
    check_inside(place, a.size, f"as_strided_scatter({list(size)}, {list(stride)}, {offset})")
    flat = a.reshape(-1)[offset or 0 :]
    steps = tuple(step * a.itemsize for step in stride)
    return numpy.lib.stride_tricks.as_strided(flat, size, steps)


defop(
    "as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, "
    "int? storage_offset=None) -> Tensor",
    GATHER,
    keeps=True,
    infer=_infer_write("as_strided"),
    eager=_write_at(_strided_place),
    vjp=_scatter_view_vjp("as_strided", "as_strided_scatter"),
    doc="`self` with the elements at given strides replaced by `src`.",
)


def _strided_add(a, src, size, stride, storage_offset):
    result = a.copy()
    places = numpy.asarray(storage_offset)
    for dim, (count, step) in enumerate(zip(size, stride, strict=True)):
        shape = [1] * len(size)
        shape[dim] = count
        places = places + (numpy.arange(count) * step).reshape(shape)
    numpy.add.at(result, numpy.broadcast_to(places, size), src)
    return result


defop(
    "as_strided_add(Tensor self, Tensor src, int[] size, int[] stride, int storage_offset=0)"
    " -> Tensor",
    GATHER,
    infer=_infer_add,
    eager=_strided_add,
    method=False,
    function=False,
    vjp=lambda s, g: (g, _op("as_strided", _alone(g), s.size, s.stride, s.storage_offset)),
    doc="A vector with `src` added at strided places, overlaps included.",
)
