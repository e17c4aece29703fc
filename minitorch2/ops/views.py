"""View rows: another shape, order or part of the same memory.

In: a layout and what is asked. Out: the layout of the view; nothing is computed. `inverse` is the
out-of-place write through the view: (base, new value of the view, arguments) -> new base. It turns
writes in place into pure operations, in autograd and in the compiler.

Source: torch's "Tensor Views" page.
"""

from minitorch2.dispatch import call
from minitorch2.errors import ArgumentValueError, IndexOutOfRange, ShapeError, ViewError
from minitorch2.layouts import (
    Layout,
    check_inside,
    element_count,
    normalize_dim,
    normalize_dims,
    resolve_shape,
    view_strides,
)
from minitorch2.ops.table import VIEW, defop, lookup


def _op(name, *args):
    return call(lookup(name), args)


def _view(layout, shape):
    shape = resolve_shape(tuple(shape), element_count(layout.shape))
    strides = view_strides(layout, shape)
    if strides is None:
        raise ViewError(
            f"view(shape {list(layout.shape)}, strides {list(layout.strides)}, to {list(shape)})",
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces)",
        )
    return Layout(shape, strides, layout.offset)


defop(
    "view(Tensor(a) self, int[...] shape) -> Tensor(a)",
    VIEW,
    view=_view,
    function=False,
    inverse=lambda base, value, shape: _op("reshape", value, base.shape),
    vjp=lambda s, g: _op("reshape", g, s.self.shape),
    doc="The same elements with another shape; -1 stands for what is left.",
)


def _shown_as(layout, dtype, itemsize):
    """The layout in elements of another size; the last dimension's are neighbours in memory."""
    wide = dtype.itemsize
    if wide == itemsize:
        return layout
    asked = f"view({dtype}) of a tensor of shape {list(layout.shape)}, {itemsize} bytes an element"
    if not layout.shape:
        raise ViewError(asked, "self.dim() cannot be 0 to view elements of different sizes")
    if layout.strides[-1] != 1:
        raise ViewError(
            asked,
            f"self.stride(-1) must be 1 to view elements of different sizes, but got "
            f"{layout.strides[-1]}",
        )
    *outer, last = layout.shape
    if wide < itemsize:
        by = itemsize // wide
        strides = (*(stride * by for stride in layout.strides[:-1]), 1)
        return Layout((*outer, last * by), strides, layout.offset * by)
    by = wide // itemsize
    for name, value in (
        ("self.size(-1)", last),
        ("self.storage_offset()", layout.offset),
        *((f"self.stride({at})", stride) for at, stride in enumerate(layout.strides[:-1])),
    ):
        if value % by:
            raise ViewError(
                asked,
                f"{name} must be divisible by {by} to view elements of different sizes, but got "
                f"{value}",
            )
    strides = (*(stride // by for stride in layout.strides[:-1]), 1)
    return Layout((*outer, last // by), strides, layout.offset // by)


defop(
    "view_dtype(Tensor(a) self, dtype dtype, int itemsize) -> Tensor(a)",
    VIEW,
    view=_shown_as,
    element=lambda base, dtype, itemsize: dtype,
    inverse=lambda base, value, dtype, itemsize: _op(
        "view_dtype", value, base.dtype, dtype.itemsize
    ),
    method=False,
    function=False,
    torch="torch.Tensor.view",
    doc="The same memory as elements of another dtype; `itemsize` is that of those it has.",
)


def _permuted(layout, dims):
    if len(dims) != len(layout.shape):
        raise ShapeError(
            f"permute({list(dims)}) of a tensor of shape {list(layout.shape)}",
            "number of dimensions in the tensor input does not match the length "
            "of the desired ordering of dimensions",
            f"name each of the {len(layout.shape)} dimensions once: "
            f"permute({', '.join(map(str, range(len(layout.shape))))}) in the order you want",
        )
    found = [normalize_dim(dim, len(layout.shape)) for dim in dims]
    if len(set(found)) != len(found):
        raise ShapeError(
            f"permute({list(dims)})", "duplicate dims are not allowed", "name each dimension once"
        )
    return layout.permuted(found)


def _inverse_order(dims):
    found = [dim % len(dims) for dim in dims]
    return tuple(found.index(index) for index in range(len(found)))


defop(
    "permute(Tensor(a) self, int[...] dims) -> Tensor(a)",
    VIEW,
    view=_permuted,
    inverse=lambda base, value, dims: _op("permute", value, _inverse_order(dims)),
    vjp=lambda s, g: _op("permute", g, _inverse_order(s.dims)),
    doc="The dimensions in another order.",
)


def _transposed(layout, dim0, dim1):
    ndim = len(layout.shape)
    first, second = normalize_dim(dim0, ndim), normalize_dim(dim1, ndim)
    if ndim == 0:
        return layout
    order = list(range(ndim))
    order[first], order[second] = order[second], order[first]
    return layout.permuted(order)


defop(
    "transpose(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    VIEW,
    view=_transposed,
    inverse=lambda base, value, dim0, dim1: _op("transpose", value, dim0, dim1),
    vjp=lambda s, g: _op("transpose", g, s.dim0, s.dim1),
    doc="Two dimensions exchanged.",
)


def _expand_inverse(base, value, size):
    if base.layout.shape == value.layout.shape:
        return value
    if any(size == 0 for size in value.layout.shape):  # nothing was written
        return base
    raise ViewError(
        "a write through an expanded tensor",
        "unsupported operation: more than one element of the written-to tensor refers to a "
        "single memory location",
        "clone() the tensor before the write",
    )


defop(
    "expand(Tensor(a) self, int[...] size) -> Tensor(a)",
    VIEW,
    view=lambda layout, size: layout.expanded(tuple(size)),
    inverse=_expand_inverse,
    vjp=lambda s, g: _op("sum_to_size", g, s.self.shape),
    doc="Dimensions of size 1 repeated without a copy.",
    function=False,
)


def _unsqueezed(layout, dim):
    at = normalize_dim(dim, len(layout.shape) + 1)
    stride = 1
    if at < len(layout.shape):
        stride = layout.shape[at] * layout.strides[at]
    return Layout(
        layout.shape[:at] + (1,) + layout.shape[at:],
        layout.strides[:at] + (stride,) + layout.strides[at:],
        layout.offset,
    )


defop(
    "unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
    VIEW,
    view=_unsqueezed,
    inverse=lambda base, value, dim: _op("reshape", value, base.shape),
    vjp=lambda s, g: _op("reshape", g, s.self.shape),
    doc="A new dimension of size 1 at `dim`.",
)


def _squeezed(layout, dim):
    ndim = len(layout.shape)
    dims = range(ndim) if dim is None else normalize_dims(dim, ndim) if dim else ()
    keep = [index for index in range(ndim) if index not in dims or layout.shape[index] != 1]
    return Layout(
        tuple(layout.shape[index] for index in keep),
        tuple(layout.strides[index] for index in keep),
        layout.offset,
    )


defop(
    "squeeze(Tensor(a) self, int[]? dim=None) -> Tensor(a)",
    VIEW,
    view=_squeezed,
    inverse=lambda base, value, dim: _op("reshape", value, base.shape),
    vjp=lambda s, g: _op("reshape", g, s.self.shape),
    doc="Dimensions of size 1 removed.",
)


def _selected(layout, dim, index):
    if not layout.shape:
        raise IndexOutOfRange(
            "select() of a 0-dim tensor",
            "select() cannot be applied to a 0-dim tensor",
            "use .item() to convert it to a number",
        )
    at = normalize_dim(dim, len(layout.shape))
    size = layout.shape[at]
    if not -size <= index < size:
        raise IndexOutOfRange(
            f"select(dim={dim}, index={index})",
            f"select(): index {index} out of range for tensor of size {list(layout.shape)} at "
            f"dimension {dim}",
            f"use an index from {-size} to {size - 1}",
        )
    return layout.selected(at, index + size if index < 0 else index)


defop(
    "select(Tensor(a) self, int dim, int index) -> Tensor(a)",
    VIEW,
    view=_selected,
    inverse=lambda base, value, dim, index: _op("select_scatter", base, value, dim, index),
    vjp=lambda s, g: _op("select_scatter", zeros_of(s.self, g), g, s.dim, s.index),
    doc="One index of a dimension, which disappears.",
)


def zeros_of(spec, like):
    """Zeros of an input's shape, in a gradient's dtype and device: what the gradient fills."""
    return _op("full", tuple(spec.shape), 0, like.dtype, like.device)


def slice_bounds(size, start, end, step):
    """(first index, number of indices) of a slice, as Python's slice.indices gives them."""
    if step <= 0:
        raise ArgumentValueError(
            f"a slice with step {step}",
            "step must be greater than zero" if step else "slice step cannot be zero",
            "use flip() to reverse a dimension",
        )
    start = 0 if start is None else start
    end = size if end is None else end
    start = max(start + size, 0) if start < 0 else min(start, size)
    end = max(end + size, 0) if end < 0 else min(end, size)
    return start, max((end - start + step - 1) // step, 0)


def _sliced(layout, dim, start, end, step):
    if not layout.shape:
        raise IndexOutOfRange(
            "a slice of a 0-dim tensor",
            "slice() cannot be applied to a 0-dim tensor",
            "use reshape(1) first",
        )
    at = normalize_dim(dim, len(layout.shape))
    first, count = slice_bounds(layout.shape[at], start, end, step)
    return layout.sliced(at, first, count, step)


defop(
    "slice(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)",
    VIEW,
    view=_sliced,
    method=False,
    function=False,
    inverse=lambda base, value, *where: _op("slice_scatter", base, value, *where),
    vjp=lambda s, g: _op("slice_scatter", zeros_of(s.self, g), g, s.dim, s.start, s.end, s.step),
    doc="Every `step`-th index of a dimension from `start` up to `end`.",
)


def _strided(layout, size, stride, storage_offset):
    offset = layout.offset if storage_offset is None else storage_offset
    found = Layout(tuple(size), tuple(stride), offset)
    if len(found.shape) != len(found.strides):
        raise ShapeError(
            f"as_strided({list(size)}, {list(stride)})",
            "mismatch in length of strides and shape",
            "give one stride a size",
        )
    if any(isinstance(step, int) and step < 0 for step in found.strides):
        check_inside(found, 0, f"as_strided({list(size)}, {list(stride)})")
    return found


def _strided_vjp(s, g):
    """Add the gradient up where the view lies in memory, and read it as the input lies there."""
    input = s.self.layout
    seen = _strided(input, s.size, s.stride, s.storage_offset)
    start = min(input.offset, seen.offset)
    reach = max(input.extent(), seen.extent(), start) - start
    memory = _op("full", (reach,), 0, g.dtype, g.device)
    memory = _op("as_strided_add", memory, g, s.size, s.stride, seen.offset - start)
    return _op("as_strided", memory, input.shape, input.strides, input.offset - start)


defop(
    "as_strided(Tensor(a) self, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a)",
    VIEW,
    effects="may_fail",
    view=_strided,
    vjp=_strided_vjp,
    inverse=lambda base, value, size, stride, offset: _op(
        "as_strided_scatter", base, value, size, stride, offset
    ),
    doc="The storage seen with any size, strides and offset (in elements).",
)
defop(
    "detach(Tensor(a) self) -> Tensor(a)",
    VIEW,
    view=lambda layout: layout,
    inverse=lambda base, value: value,
    doc="The same memory without history.",
)
defop(
    "alias(Tensor(a) self) -> Tensor(a)",
    VIEW,
    view=lambda layout: layout,
    method=False,
    inverse=lambda base, value: value,
    vjp=lambda s, g: g,
    function=False,
    doc="Another tensor on the same memory, with history.",
)
defop(
    "after(Tensor(a) self, Tensor other) -> Tensor(a)",
    VIEW,
    view=lambda layout, other: layout,
    method=False,
    inverse=lambda base, value, other: value,
    vjp=lambda s, g: (g, None),
    function=False,
    torch="torch.ops.prims",
    doc="The same memory; what is computed from it is computed once `other` is there.",
)


def _diagonal(layout, offset, dim1, dim2):
    ndim = len(layout.shape)
    first, second = normalize_dim(dim1, ndim), normalize_dim(dim2, ndim)
    if first == second:
        raise ShapeError(
            f"diagonal(dim1={dim1}, dim2={dim2})",
            f"diagonal dimensions cannot be identical {dim1}, {dim2}",
            "name two dimensions",
        )
    rows, columns = layout.shape[first], layout.shape[second]
    down, right = max(-offset, 0), max(offset, 0)
    count = max(min(rows - down, columns - right), 0)
    shift = down * layout.strides[first] + right * layout.strides[second] if count else 0
    keep = [index for index in range(ndim) if index not in (first, second)]
    return Layout(
        (*(layout.shape[index] for index in keep), count),
        (
            *(layout.strides[index] for index in keep),
            layout.strides[first] + layout.strides[second],
        ),
        layout.offset + shift,
    )


defop(
    "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
    VIEW,
    view=_diagonal,
    inverse=lambda base, value, offset, dim1, dim2: _op(
        "diagonal_scatter", base, value, offset, dim1, dim2
    ),
    vjp=lambda s, g: _op("diagonal_scatter", zeros_of(s.self, g), g, s.offset, s.dim1, s.dim2),
    doc="The elements whose indices in two dimensions differ by `offset`.",
)


def _unfolded(layout, dimension, size, step):
    ndim = len(layout.shape)
    size = size.__index__()  # known from here on: the gradient is a loop over a window's places
    asked = f"unfold(dimension={dimension}, size={size}, step={step})"
    at = normalize_dim(dimension, ndim)
    whole = layout.shape[at] if ndim else 1
    if size < 0:
        raise ShapeError(asked, f"size is {size} but must be >= 0", "give a size of at least 0")
    if size > whole:
        raise ShapeError(
            asked,
            f"maximum size for tensor at dimension {dimension} is {whole} but size is {size}",
            "take smaller windows",
        )
    if step <= 0:
        raise ShapeError(asked, f"step is {step} but must be > 0", "give a step of at least 1")
    if not ndim:
        return Layout((size,), (1,), layout.offset)
    count = (whole - size) // step + 1
    return Layout(
        (*layout.shape[:at], count, *layout.shape[at + 1 :], size),
        (
            *layout.strides[:at],
            layout.strides[at] * step,
            *layout.strides[at + 1 :],
            layout.strides[at],
        ),
        layout.offset,
    )


def _window_places(shape, dimension, size, step):
    """For each place in a window: the slice of the base that the windows meet there."""
    at = normalize_dim(dimension, len(shape))
    count = (shape[at] - size) // step + 1
    return [(at, k, k + (count - 1) * step + 1, step) for k in range(size)]


def _unfold_vjp(s, g):
    if not s.self.shape:
        return _op("reshape", g, ()) if s.size else g.sum()
    total = zeros_of(s.self, g)
    for k, where in enumerate(_window_places(s.self.shape, s.dimension, s.size, s.step)):
        part = _op("slice_scatter", zeros_of(s.self, g), _op("select", g, -1, k), *where)
        total = _op("add", total, part, 1)
    return total


def _unfold_inverse(base, value, dimension, size, step):
    if not base.shape:
        return _op("reshape", value, ()) if size else base
    for k, where in enumerate(_window_places(base.shape, dimension, size, step)):
        base = _op("slice_scatter", base, _op("select", value, -1, k), *where)
    return base


defop(
    "unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
    VIEW,
    view=_unfolded,
    function=False,
    inverse=_unfold_inverse,
    vjp=_unfold_vjp,
    doc="Windows of a dimension: one for each `step`, its elements along a new last dimension.",
)
