"""Where the elements of a tensor lie in its storage: shape, strides and offset, all in elements.

In: a layout and what a view asks for. Out: the layout of the view, or None when no strides can
describe it. Sizes may be symbolic: anything that behaves as an int.

    >>> transposed = Layout((2, 3), (3, 1), 0).permuted((1, 0))
    >>> transposed.shape, transposed.strides
    ((3, 2), (1, 3))

Source: the view rules are numpy's and torch's; `view_strides` follows torch's documentation of
`Tensor.view` (a dimension may be merged when stride[i] == stride[i+1] * size[i+1]).
"""

from collections.abc import Sequence

from minitorch2.errors import DimensionError, ShapeError, ViewError


class layout:
    """How a tensor holds its elements: all of them (strided), or those that are not zero.

    The names of them (torch.strided, ...) stand in formats.py. `tensor.layout` is a Layout, which
    says more; it is equal to the one of these that it is, and to any other Layout of that kind.
    """

    __slots__ = ("name",)
    __module__ = "minitorch2"  # where pickle finds the names
    name: str

    def __init__(self, name: str):
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, layout) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> "str | tuple":
        return self.name


class Layout(layout):
    """Shape, strides and offset of a tensor, counted in elements. Immutable by convention.

    `row_major` says that it came from the function of that name: dense, from offset 0. Such a
    layout is shared, and remembers in `views` the layouts that views of it have.
    """

    __slots__ = ("shape", "strides", "offset", "row_major", "views")
    views: "dict[tuple, Layout]"
    name = "strided"

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0):
        self.shape, self.strides, self.offset = shape, strides, offset
        self.row_major = False

    def same_places(self, other: "Layout") -> bool:
        """Whether both put the same elements in the same places; `==` compares only the kinds."""
        return (
            self.shape == other.shape
            and self.strides == other.strides
            and self.offset == other.offset
        )

    def __reduce__(self) -> tuple:
        return type(self), (self.shape, self.strides, self.offset)

    def is_contiguous(self) -> bool:
        """Whether the elements lie one after the other in row-major order."""
        if self.row_major:
            return True
        if any(size == 0 for size in self.shape):
            return True
        expected: int = 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if size != 1:
                if stride != expected:
                    return False
                expected = expected * size
        return True

    def is_dense(self) -> bool:
        """Whether the elements fill a stretch of memory without gaps or overlaps, in any order."""
        if self.row_major:
            return True
        expected: int = 1
        for stride, size in sorted(
            (stride, size)
            for size, stride in zip(self.shape, self.strides, strict=True)
            if size != 1
        ):
            if stride != expected:
                return False
            expected = expected * size
        return True

    def overlaps_itself(self) -> bool:
        """Whether two indices may name the same element (expanded, or with tight strides)."""
        if any(size == 0 for size in self.shape):
            return False
        extent = 0
        pairs = zip(self.strides, self.shape, strict=True)
        for stride, size in sorted((stride, size) for stride, size in pairs if size > 1):
            if stride <= extent:
                return True
            extent += stride * (size - 1)
        return False

    def extent(self) -> int:
        """One past the largest element offset, counted from the storage's start."""
        if any(size == 0 for size in self.shape):
            return 0
        reach = sum((s - 1) * t for s, t in zip(self.shape, self.strides, strict=True))
        return self.offset + reach + 1

    def permuted(self, dims: Sequence[int]) -> "Layout":
        """The layout with its dimensions in another order."""
        shape, strides = self.shape, self.strides
        return Layout(tuple(shape[d] for d in dims), tuple(strides[d] for d in dims), self.offset)

    def expanded(self, shape: tuple[int, ...]) -> "Layout":
        """The layout repeated (stride 0) along new and size-1 dimensions; -1 keeps a size."""
        extra = len(shape) - len(self.shape)
        if extra < 0:
            raise ShapeError(
                f"expand(shape {list(self.shape)}, to {list(shape)})",
                f"the number of sizes provided ({len(shape)}) must be greater or equal to the "
                f"number of dimensions in the tensor ({len(self.shape)})",
                "give at least as many sizes as the tensor has dimensions",
            )
        sizes, strides = list(shape), [0] * len(shape)
        for index in range(len(shape)):
            old = self.shape[index - extra] if index >= extra else None
            if old is None:
                if shape[index] < 0:
                    raise ShapeError(
                        f"expand(shape {list(self.shape)}, to {list(shape)})",
                        f"The expanded size of the tensor ({shape[index]}) isn't allowed in a "
                        f"leading, non-existing dimension {index}",
                        "give its size",
                    )
            elif shape[index] == -1 or shape[index] == old:
                sizes[index], strides[index] = old, self.strides[index - extra]
            elif old != 1:
                raise ShapeError(
                    f"expand(shape {list(self.shape)}, to {list(shape)})",
                    f"The expanded size of the tensor ({shape[index]}) must match the existing "
                    f"size ({old}) at non-singleton dimension {index}",
                    "only dimensions of size 1 can be expanded",
                )
        return Layout(tuple(sizes), tuple(strides), self.offset)

    def selected(self, dim: int, index: int) -> "Layout":
        """The layout without dimension `dim`, at one (non-negative) index of it."""
        return Layout(
            self.shape[:dim] + self.shape[dim + 1 :],
            self.strides[:dim] + self.strides[dim + 1 :],
            self.offset + index * self.strides[dim],
        )

    def sliced(self, dim: int, start: int, length: int, step: int) -> "Layout":
        """The layout of `length` indices from `start` by `step` along `dim`."""
        return Layout(
            self.shape[:dim] + (length,) + self.shape[dim + 1 :],
            self.strides[:dim] + (self.strides[dim] * step,) + self.strides[dim + 1 :],
            self.offset + start * self.strides[dim],
        )

    def viewed(self, shape: tuple[int, ...]) -> "Layout | None":
        """The layout seen with another shape of as many elements, or None if it needs a copy."""
        strides = view_strides(self, shape)
        return None if strides is None else Layout(shape, strides, self.offset)


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides. A size of 0 counts as 1, as in torch.

    >>> contiguous_strides((2, 3, 4))
    (12, 4, 1)
    """
    strides, running = [], 1
    for size in reversed(shape):
        strides.append(running)
        running = running * (1 if size == 0 else size)
    return tuple(reversed(strides))


def contiguous(shape: tuple[int, ...]) -> Layout:
    """The row-major layout of a shape, from offset 0."""
    return Layout(shape, contiguous_strides(shape), 0)


_row_major: dict[tuple[int, ...], Layout] = {}
_MOST_SHAPES = 4096
MOST_VIEWS = 64  # remembered by one layout


def column_major(shape: tuple[int, ...]) -> Layout:
    """The layout of matrices that are stored column by column; of vectors as ever."""
    if len(shape) < 2:
        return contiguous(shape)
    *batch, m, n = shape
    turned = contiguous((*batch, n, m))
    return Layout(shape, (*turned.strides[:-2], turned.strides[-1], turned.strides[-2]), 0)


def row_major(shape: tuple[int, ...]) -> Layout:
    """As `contiguous`, for a shape of plain ints: made once, so that equal shapes share one."""
    layout = _row_major.get(shape)
    if layout is None:
        if len(_row_major) >= _MOST_SHAPES:
            _row_major.clear()
        layout = _row_major[shape] = contiguous(shape)
        layout.row_major, layout.views = True, {}
    return layout


def element_count(shape: Sequence[int]) -> int:
    """The number of elements of a shape (1 for no dimensions)."""
    count: int = 1
    for size in shape:
        count = count * size
    return count


def broadcast_shapes(*shapes: Sequence[int], asked: str = "") -> tuple[int, ...]:
    """The shape several shapes broadcast to; ShapeError when they do not.

    >>> broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    first = tuple(shapes[0])
    if all(tuple(shape) == first for shape in shapes[1:]):
        return first
    result: list[int] = [1] * max(len(shape) for shape in shapes)
    for shape in shapes:
        shift = len(result) - len(shape)
        for index in range(len(shape) - 1, -1, -1):  # the last mismatch is the one told
            at, size = index + shift, shape[index]
            if result[at] == 1:
                result[at] = size
            elif size != 1 and size != result[at]:
                raise ShapeError(
                    asked or f"broadcast {' with '.join(str(list(s)) for s in shapes)}",
                    f"The size of tensor a ({result[at]}) must match the size of tensor b ({size}) "
                    f"at non-singleton dimension {at}",
                    "sizes must be equal or 1, counted from the last dimension",
                )
    return tuple(result)


def normalize_dim(dim: int, ndim: int, asked: str = "") -> int:
    """`dim` counted from the front; DimensionError outside [-ndim, ndim)."""
    span = max(ndim, 1)
    if not -span <= dim < span:
        raise DimensionError(
            asked,
            f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], "
            f"but got {dim})",
            f"use a dimension from {-span} to {span - 1}",
        )
    return dim + span if dim < 0 else dim


def normalize_dims(dims: "int | Sequence[int] | None", ndim: int, asked: str = "") -> tuple:
    """Several dimensions counted from the front, each once; None or empty means all."""
    if dims is None or (not isinstance(dims, int) and len(dims) == 0):
        return tuple(range(ndim))
    listed = (dims,) if isinstance(dims, int) else tuple(dims)
    found = tuple(normalize_dim(dim, ndim, asked) for dim in listed)
    if len(set(found)) != len(found):
        twice = next(dim for at, dim in enumerate(found) if dim in found[:at])
        raise ShapeError(
            asked or f"dimensions {list(listed)}",
            f"dim {twice} appears multiple times in the list of dims",
            "name each dimension once",
        )
    return tuple(dim for dim in found if dim < ndim)


def resolve_shape(shape: Sequence[int], count: int) -> tuple[int, ...]:
    """A shape whose single -1, if any, is replaced so that it has `count` elements."""
    known: int = 1
    unknown = None
    for index, size in enumerate(shape):
        if isinstance(size, int) and size < 0:
            if size != -1 or unknown is not None:
                raise ShapeError(
                    f"view/reshape to {list(shape)}",
                    "only one dimension can be inferred",
                    "use -1 once",
                )
            unknown = index
        else:
            known = known * size
    if unknown is None:
        if known != count:
            raise ShapeError(
                f"view/reshape to {list(shape)}",
                f"shape '{list(shape)}' is invalid for input of size {count}",
                "the product of the sizes must stay the same",
            )
        return tuple(shape)
    if known == 0 or count % known != 0:
        raise ShapeError(
            f"view/reshape to {list(shape)}",
            f"shape '{list(shape)}' is invalid for input of size {count}",
            "choose sizes whose product divides the number of elements",
        )
    return tuple(shape[:unknown]) + (count // known,) + tuple(shape[unknown + 1 :])


def view_strides(layout: Layout, shape: Sequence[int]) -> tuple[int, ...] | None:
    """Strides that show `layout` with another shape (of as many elements), or None."""
    sizes = layout.shape
    if any(size == 0 for size in sizes):
        return layout.strides if tuple(shape) == sizes else contiguous_strides(shape)
    strides: list[int] = [1] * len(shape)
    at = len(shape) - 1
    step: int = layout.strides[-1] if sizes else 1
    chunk: int = 1  # elements of the old dimensions that are one run of memory, `step` apart
    running: int = 1  # elements of the new dimensions that show them
    for place in range(len(sizes) - 1, -1, -1):
        chunk = chunk * sizes[place]
        if place and (sizes[place - 1] == 1 or layout.strides[place - 1] == chunk * step):
            continue
        while at >= 0 and (running != chunk or shape[at] == 1):
            strides[at] = running * step
            running = running * shape[at]
            at -= 1
            if running > chunk:
                return None
        if running != chunk:
            return None
        if place:
            step, chunk, running = layout.strides[place - 1], 1, 1
    return tuple(strides) if at < 0 or not sizes else None


def check_inside(layout: Layout, elements: int, asked: str) -> None:
    """ViewError unless a layout stays inside a storage of so many elements."""
    if layout.offset < 0 or any(stride < 0 for stride in layout.strides):
        raise ViewError(
            asked,
            "Negative strides are not supported at the moment, got strides: "
            f"{list(layout.strides)}, offset {layout.offset}",
            "use flip() to reverse",
        )
    if layout.extent() > elements:
        raise ViewError(
            asked,
            f"sizes {list(layout.shape)}, strides {list(layout.strides)}, storage offset "
            f"{layout.offset} are out of bounds for storage of size {elements}: the view reaches "
            f"element {layout.extent() - 1}",
            "shrink the size, the strides or the offset",
        )
