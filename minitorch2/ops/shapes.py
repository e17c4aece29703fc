"""Composite rows of shapes: reshape, flatten, split, stack, repeat, defined by views and copies.

In: tensors. Out: views where strides allow it, else copies.

Source: torch's documentation of each function.
"""

from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.errors import DimensionError, IndexOutOfRange, OperationError, ShapeError
from minitorch2.layouts import element_count, normalize_dim, normalize_dims, resolve_shape
from minitorch2.ops.composites import composite
from minitorch2.ops.infer import check_element
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor


def _op(name, *args):
    return call(lookup(name), args)


# ---- shapes ----------------------------------------------------------------------------------


def _reshape(self, shape):
    shape = resolve_shape(tuple(shape), element_count(self.layout.shape))
    if self.layout.viewed(shape) is not None:
        return _op("view", self, shape)
    return _op("view", _contiguous(self), shape)


def _contiguous(self):
    return self if self.layout.is_contiguous() else _op("contiguous_copy", self)


composite(
    "reshape(Tensor(a) self, int[...] shape) -> Tensor(a)",
    _reshape,
    "Another shape: a view when strides allow it, else a copy.",
)
composite(
    "contiguous(Tensor(a) self) -> Tensor(a)",
    _contiguous,
    "The tensor itself when row-major, else a row-major copy.",
    function=False,
)


def _flatten(self, start_dim, end_dim):
    if self.ndim == 0:
        normalize_dims((start_dim,), 0)
        normalize_dims((end_dim,), 0)
        return self.reshape((1,))
    start, end = normalize_dim(start_dim, self.ndim), normalize_dim(end_dim, self.ndim)
    if start > end:
        raise ShapeError(
            f"flatten({start_dim}, {end_dim})",
            "flatten() has invalid args: start_dim cannot come after end_dim",
            "exchange them",
        )
    if start == end:
        return self
    shape = self.layout.shape
    middle = element_count(shape[start : end + 1])
    return _op("reshape", self, shape[:start] + (middle,) + shape[end + 1 :])


composite(
    "flatten(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
    _flatten,
    "Dimensions start_dim..end_dim as one.",
)


def _parts_of(sizes, dim, whole):
    """The sizes that take the place of one, the single -1 replaced."""
    asked = f"unflatten(dim={dim}, sizes={list(sizes)})"
    if not sizes:
        raise ShapeError(asked, "unflatten: sizes must be non-empty", "give one size at least")
    try:
        return resolve_shape(sizes, whole)
    except ShapeError:
        if sum(isinstance(size, int) and size < 0 for size in sizes) > 1:
            raise
        raise ShapeError(
            asked,
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
            f"({whole}) in the input tensor",
            "the product of the sizes must be the size they replace",
        ) from None


def _unflatten(self, dim, sizes):
    at = normalize_dim(dim, self.ndim)
    if not self.ndim:
        raise ShapeError(
            f"unflatten({list(sizes)}) of a 0-d tensor",
            "a 0-d tensor has no dimension to take apart",
            "use reshape",
        )
    shape = self.layout.shape
    sizes = _parts_of(sizes, dim, shape[at])
    return _op("view", self, shape[:at] + sizes + shape[at + 1 :])


composite(
    "unflatten(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)",
    _unflatten,
    "One dimension as several.",
)


def _t(self):
    if self.ndim > 2:
        raise ShapeError(
            f"t() of a tensor of shape {list(self.shape)}",
            f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D",
            "use transpose(dim0, dim1)",
        )
    return _op("transpose", self, 0, 1) if self.ndim == 2 else _op("alias", self)


composite("t(Tensor(a) self) -> Tensor(a)", _t, "A matrix transposed.")


def _movedim(self, source, destination):
    if len(source) != len(destination):
        raise ShapeError(
            f"movedim({list(source)}, {list(destination)})",
            f"movedim: Invalid source or destination dims: source ({list(source)} dims) should "
            f"contain the same number of dims as destination ({list(destination)} dims)",
            "give each dimension one place",
        )
    for name, dims in (("source", source), ("destination", destination)):
        if len({normalize_dim(dim, self.ndim) for dim in dims}) != len(dims):
            raise ShapeError(
                f"movedim({list(source)}, {list(destination)})",
                f"movedim: repeated dim in `{name}` ({list(dims)})",
                "name each dimension once",
            )
    origins = normalize_dims(source, self.ndim) if source else ()
    targets = normalize_dims(destination, self.ndim) if destination else ()
    order = [d for d in range(self.ndim) if d not in origins]
    for target, dim in sorted(zip(targets, origins, strict=True)):
        order.insert(target, dim)
    return _op("permute", self, tuple(order))


composite(
    "movedim(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
    _movedim,
    "Dimensions moved to other places, the others in order.",
)
composite(
    "swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
    lambda self, a, b: _op("transpose", self, a, b),
    "Two dimensions exchanged.",
)
composite(
    "expand_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    lambda self, other: _op("expand", self, tuple(other.layout.shape)),
    "Expanded to the shape of `other`.",
    function=False,
)
composite(
    "view_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    lambda self, other: _op("view", self, tuple(other.layout.shape)),
    "Viewed with the shape of `other`.",
    function=False,
)
composite(
    "reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    lambda self, other: _op("reshape", self, tuple(other.layout.shape)),
    "Reshaped to the shape of `other`.",
    function=False,
)


def _narrow(self, dim, start, length):
    if isinstance(start, Tensor):
        if start.ndim or start.dtype.category != dtypes.INTEGER:
            raise OperationError("narrow()", "start must be an 0-dim integral Tensor.")
        start = int(start.item())
    if not self.ndim:
        raise ShapeError(
            "narrow() of a 0-d tensor",
            "narrow() cannot be applied to a 0-dim tensor.",
            "use reshape(1) first",
        )
    size = self.layout.shape[normalize_dim(dim, self.ndim)]
    if start < 0:
        start = start + size
    if not 0 <= start <= size:
        raise IndexOutOfRange(
            f"narrow(dim={dim}, start={start}, length={length})",
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})",
            "start inside the dimension",
        )
    if length < 0:
        raise ShapeError(
            f"narrow(dim={dim}, start={start}, length={length})",
            "narrow(): length must be non-negative.",
        )
    if start + length > size:
        raise ShapeError(
            f"narrow(dim={dim}, start={start}, length={length})",
            f"start ({start}) + length ({length}) exceeds dimension size ({size})",
            "stay inside the dimension",
        )
    return _op("slice", self, dim, start, start + length, 1)


composite(
    "narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)",
    _narrow,
    "`length` indices of a dimension from `start`.",
)


def _siblings(parts):
    """Views of one call: a write into one of them is refused, as its siblings' would be lost."""
    for part in parts:
        if isinstance(part, Tensor) and part._view is not None:
            part._view.kind = part._view.kind or "multiple"
    return tuple(parts)


def _parted(self, dim, name):
    """The size of the dimension that is taken apart."""
    at = normalize_dim(dim, self.ndim)
    if self.ndim == 0:
        asked, fix = f"{name}() of a 0-d tensor", "use unsqueeze(0) first"
        if name == "unbind":
            wrong = f"Dimension specified as {dim} but tensor has no dimensions"
            raise DimensionError(asked, wrong, fix)
        raise ShapeError(asked, f"{name} expects at least a 1-dimensional tensor", fix)
    return int(self.layout.shape[at])


def _unbind(self, dim):
    size = _parted(self, dim, "unbind")
    return _siblings([_op("select", self, dim, index) for index in range(int(size))])


def _split(self, split_size_or_sections, dim):
    size = _parted(self, dim, "split")
    sections = split_size_or_sections
    if isinstance(sections, int):
        if sections < 0 or (sections == 0 and size != 0):
            raise ShapeError(
                f"split({sections}, dim={dim})",
                f"split expects split_size be non-negative, but got split_size={sections}"
                if sections
                else "split_size can only be 0 if dimension size is 0, but got dimension size of "
                f"{size}",
                "give a size of at least 1",
            )
        step = max(sections, 1)
        sections = [min(step, size - at) for at in range(0, size, step)] or [0]
    if sum(sections) != size or min(sections, default=0) < 0:
        raise ShapeError(
            f"split({list(sections)}, dim={dim})",
            f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size "
            f"at dimension {dim}), but got split_sizes={list(sections)}"
            if min(sections, default=0) >= 0
            else "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={list(sections)}",
            "give sizes that add up to the dimension's",
        )
    parts, start = [], 0
    for count in sections:
        parts.append(_op("slice", self, dim, start, start + count, 1))
        start += count
    return _siblings(parts)


def _chunk(self, chunks, dim):
    size = _parted(self, dim, "chunk")
    if chunks < 1:
        raise ShapeError(
            f"chunk({chunks}, dim={dim})",
            f"chunk expects `chunks` to be greater than 0, got: {chunks}",
            "ask for at least one part",
        )
    if size == 0:
        return _split(self, [0] * chunks, dim)
    return _split(self, -(-size // chunks), dim)


composite(
    "unbind(Tensor(a) self, int dim=0) -> Tensor[](a)",
    _unbind,
    "A tuple of the parts at each index of a dimension.",
)
composite(
    "split(Tensor(a) self, any split_size_or_sections, int dim=0) -> Tensor[](a)",
    _split,
    "Parts of a given size, or of given sizes, along a dimension.",
)
composite(
    "chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor[](a)",
    _chunk,
    "At most `chunks` parts of equal size along a dimension.",
)


def _stack(tensors, dim):
    if not tensors:
        raise ShapeError(
            "stack([])", "stack expects a non-empty TensorList", "give at least one tensor"
        )
    for at, tensor in enumerate(tensors):
        check_element("stack", at, tensor)
    first = tensors[0].shape
    for tensor in tensors:
        if tensor.shape != first:
            raise ShapeError(
                "stack()",
                "stack expects each tensor to be equal size, but got "
                f"{list(first)} and {list(tensor.shape)}",
                "make the shapes equal",
            )
    at = normalize_dim(dim, len(first) + 1)
    return _op("cat", tuple(_op("unsqueeze", tensor, at) for tensor in tensors), at)


composite(
    "stack(Tensor[] tensors, int dim=0) -> Tensor",
    _stack,
    "Tensors of one shape along a new dimension.",
    method=False,
)


def _repeat(self, repeats):
    if len(repeats) < self.ndim or min(repeats, default=0) < 0:
        raise ShapeError(
            f"repeat({list(repeats)}) of a tensor of shape {list(self.shape)}",
            "Number of dimensions of repeat dims can not be smaller than number of dimensions "
            "of tensor"
            if len(repeats) < self.ndim
            else f"Trying to create tensor with negative dimension {min(repeats)}",
            "give one repeat for each dimension",
        )
    sizes = (1,) * (len(repeats) - self.ndim) + tuple(self.layout.shape)
    self = _op("view", self.contiguous(), sizes)
    grown = _op(
        "expand",
        _op("view", self, tuple(x for n in sizes for x in (1, n))),
        tuple(x for r, n in zip(repeats, sizes, strict=True) for x in (r, n)),
    )
    size = tuple(r * n for r, n in zip(repeats, sizes, strict=True))
    return _op("view", _op("contiguous_copy", grown), size)


composite(
    "repeat(Tensor self, int[...] repeats) -> Tensor",
    _repeat,
    "The tensor tiled `repeats` times in each dimension, as a copy.",
    function=False,
)
