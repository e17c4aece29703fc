"""Nodes that move elements: gather, index, cat, flip, partial writes, scatter.

In: a node of kind GATHER. Out: a Nest that reads from where the element comes from, or a Scatter
that writes to where it goes. An index tensor's elements are checked; a bad one sets the kernel's
status and the host raises. Where only a part of the result comes from a source (cat,
slice_scatter), a `window` says whether the element lies inside it, and a select picks it:

    %2 = cat((%0, %1), dim=0)    window w, inside = a0 - 3 in 2
                                 result[a0] = select(inside, %1[w], %0[...])

Source: torch's documentation of each function.
"""

from collections.abc import Callable

from minitorch2.dtypes import bool as bool_dtype
from minitorch2.dtypes import int64
from minitorch2.jit.ir.graph import Node, Value
from minitorch2.kernels.index import Divide, Index, Modulo, constant, symbol
from minitorch2.kernels.loop_ir import (
    NOWHERE,
    Call,
    Check,
    Constant,
    IndexValue,
    Name,
    Window,
)
from minitorch2.kernels.lower.expressions import cast, number_of
from minitorch2.kernels.lower.nests import (
    Nest,
    NestExpression,
    NotLowered,
    Read,
    Scatter,
    Step,
    arguments,
    axis_names,
    broadcast_read,
    shape_of,
    tensor_type,
)
from minitorch2.layouts import normalize_dim
from minitorch2.ops.views import slice_bounds

MAX_PARTS = 8  # a cat of more tensors is a host step: every part is looked at for every element


def _result_axes(node: Node) -> tuple[tuple, tuple[Index, ...]]:
    sizes = shape_of(node.results[0])
    names = axis_names(len(sizes))
    return tuple(zip(names, sizes, strict=True)), tuple(symbol(name) for name in names)


def _read(value: Value, index: tuple[Index, ...]) -> Read:
    return Read(value, index, tensor_type(value).dtype)


def _replaced(index: tuple[Index, ...], at: int, new: Index) -> tuple[Index, ...]:
    return (*index[:at], new, *index[at + 1 :])


def _select(condition: NestExpression, yes: NestExpression, no: NestExpression) -> Call:
    return Call("select", (condition, yes, no), yes.dtype)  # type: ignore[arg-type]


def _check(
    node: Node, name: str, read: Read, size: Index, dim: int, asked: str, wraps: bool = False
) -> Check:
    """The checked element of an index tensor; `wraps` counts negative ones from the end."""
    value = cast(read, int64)
    if wraps:
        zero = Constant(0, int64)
        negative = Call("less", (value, zero), bool_dtype)  # type: ignore[arg-type]
        added = Call("add", (value, IndexValue(size, int64)), int64)  # type: ignore[arg-type]
        value = _select(negative, added, value)
    message = f"IndexOutOfRange: {asked} along dimension {dim} with size {size}"
    return Check(name, value, size, message, node.origin or NOWHERE)  # type: ignore[arg-type]


def gather(node: Node) -> Nest:
    """gather(self, dim, index)"""
    source, dim, indices = arguments(node)
    axes, index = _result_axes(node)
    sizes = shape_of(source)
    at = normalize_dim(dim, len(sizes)) if sizes else 0
    step = _check(node, "g", _read(indices, index), (*sizes, constant(1))[at], at, "gather()")
    place = _replaced(index, at, symbol("g")) if index else (symbol("g"),)
    value = _read(source, place if sizes else ())
    return Nest(node, node.results[0], axes, value, index, (step,))


def index_select(node: Node) -> Nest:
    """index_select(self, dim, index)"""
    source, dim, indices = arguments(node)
    axes, index = _result_axes(node)
    if not index and shape_of(indices) not in ((), (constant(1),)):
        raise NotLowered("several indices of a tensor without dimensions")
    at = normalize_dim(dim, len(index)) if index else 0
    place = (*index, constant(0))[at : at + 1] if shape_of(indices) else ()
    size = (*shape_of(source), constant(1))[at]
    step = _check(node, "g", _read(indices, place), size, at, "index_select()")
    value = _read(source, _replaced(index, at, symbol("g")) if index else ())
    return Nest(node, node.results[0], axes, value, index, (step,))


def _advanced(
    node: Node, source: Value, indices: tuple, index: tuple[Index, ...]
) -> tuple[tuple[Index, ...], tuple[Step, ...]]:
    """Where in `source` the element of an advanced index lies, and the checks on the way."""
    ndim = len(shape_of(source))
    places = [at for at, each in enumerate(indices) if each is not None]
    block_ndim = max(len(shape_of(indices[at])) for at in places)
    adjacent = places[-1] - places[0] + 1 == len(places)
    front = places[0] if adjacent else 0
    block = index[front : front + block_ndim]
    rest = list(index[:front] + index[front + block_ndim :])
    found: list[Index] = []
    steps: list[Step] = []
    for at in range(ndim):
        if at not in places:
            found.append(rest.pop(0))
            continue
        size = shape_of(source)[at]
        read = broadcast_read(indices[at], block)
        steps.append(_check(node, f"g{at}", read, size, at, "indexing", wraps=True))
        found.append(symbol(f"g{at}"))
    return tuple(found), tuple(steps)


def index(node: Node) -> Nest:
    """index(self, indices)"""
    source, indices = arguments(node)
    axes, at = _result_axes(node)
    place, steps = _advanced(node, source, indices, at)
    return Nest(node, node.results[0], axes, _read(source, place), at, steps)


def cat(node: Node) -> Nest:
    """cat(tensors, dim)"""
    tensors, dim = arguments(node)
    parts = [t for t in tensors if constant(0) not in shape_of(t)] or list(tensors[:1])
    if len(parts) > MAX_PARTS:
        raise NotLowered(f"cat of {len(parts)} tensors would look at each for every element")
    axes, at = _result_axes(node)
    where, element = normalize_dim(dim, len(at)), tensor_type(node.results[0]).dtype
    origin = node.origin or NOWHERE
    start = shape_of(parts[0])[where]
    steps: list[Step] = []
    first = symbol("w0") if len(parts) > 1 else at[where]
    if len(parts) > 1:
        steps.append(Window("w0", "in0", at[where], start, origin))
    value = cast(_read(parts[0], _replaced(at, where, first)), element)
    for number, part in enumerate(parts[1:], 1):
        size = shape_of(part)[where]
        steps.append(Window(f"w{number}", f"in{number}", at[where] - start, size, origin))
        read = cast(_read(part, _replaced(at, where, symbol(f"w{number}"))), element)
        value = _select(Name(f"in{number}", bool_dtype), read, value)
        start = start + size
    return Nest(node, node.results[0], axes, value, at, tuple(steps))


def flip(node: Node) -> Nest:
    """flip(self, dims)"""
    source, dims = arguments(node)
    axes, at = _result_axes(node)
    for dim in {normalize_dim(d, len(at)) for d in dims} if at else ():
        at = _replaced(at, dim, axes[dim][1] - 1 - at[dim])
    output = tuple(symbol(name) for name, _ in axes)
    return Nest(node, node.results[0], axes, _read(source, at), output)


def clone(node: Node) -> Nest:
    """clone(self)"""
    axes, at = _result_axes(node)
    return Nest(node, node.results[0], axes, _read(arguments(node)[0], at), at)


def _static(*numbers: object) -> None:
    if any(number is not None and not isinstance(number, int) for number in numbers):
        raise NotLowered("the bounds of the slice are not known before the graph runs")


def slice_scatter(node: Node) -> Nest:
    """slice_scatter(self, src, dim, start, end, step)"""
    base, source, dim, start, end, step = arguments(node)
    axes, at = _result_axes(node)
    where = normalize_dim(dim, len(at))
    size = axes[where][1].as_int()
    _static(size if size is not None else "symbolic", start, end, step)
    first, count = slice_bounds(size, start, end, step)
    old = _read(base, at)
    if count == 0:
        return Nest(node, node.results[0], axes, old, at)
    origin = node.origin or NOWHERE
    window = Window("w", "inside", at[where] - first, constant(count * step), origin)
    place, condition = symbol("w"), Name("inside", bool_dtype)
    if step != 1:
        place = Index((((Divide(symbol("w"), constant(step)),), 1),))
        rest = Index((((Modulo(symbol("w"), constant(step)),), 1),))
        on = Call("equal", (IndexValue(rest, int64), Constant(0, int64)), bool_dtype)
        condition = Call("bit_and", (condition, on), bool_dtype)  # type: ignore[assignment]
    new = broadcast_read(source, _replaced(at, where, place))
    value = _select(condition, cast(new, old.dtype), old)
    return Nest(node, node.results[0], axes, value, at, (window,))


def select_scatter(node: Node) -> Nest:
    """select_scatter(self, src, dim, index)"""
    base, source, dim, number = arguments(node)
    axes, at = _result_axes(node)
    where = normalize_dim(dim, len(at))
    size = axes[where][1].as_int()
    _static(number)
    if size is not None and not -size <= number < size:
        raise NotLowered("the index is out of bounds")
    place = axes[where][1] + number if number < 0 else constant(number)
    here = Call("equal", (IndexValue(at[where], int64), IndexValue(place, int64)), bool_dtype)
    old = _read(base, at)
    new = broadcast_read(source, (*at[:where], *at[where + 1 :]))
    return Nest(node, node.results[0], axes, _select(here, cast(new, old.dtype), old), at)


def _scatter(node: Node, accumulate: bool) -> Scatter:
    base, dim, indices, source = arguments(node)
    sizes = shape_of(indices)
    if (
        not sizes
        or len(sizes) != len(shape_of(base))
        or isinstance(source, Value)
        and len(sizes) != len(shape_of(source))
    ):
        raise NotLowered("a scatter of tensors without dimensions")
    names = axis_names(len(sizes))
    at = tuple(symbol(name) for name in names)
    where = normalize_dim(dim, len(sizes))
    size = shape_of(base)[where]
    asked = "scatter_add()" if accumulate else "scatter()"
    step = _check(node, "g", _read(indices, at), size, where, asked)
    axes = tuple(zip(names, sizes, strict=True))
    target = _replaced(at, where, symbol("g"))
    element = tensor_type(base).dtype
    if isinstance(source, int | float):
        value: NestExpression = Constant(number_of(source, element), element)
    else:
        value = cast(_read(source, at), element)
    return Scatter(node, node.results[0], base, axes, value, target, (step,),
                   accumulate)  # fmt: skip


def scatter(node: Node) -> Scatter:
    """scatter(self, dim, index, src)"""
    return _scatter(node, accumulate=False)


def scatter_add(node: Node) -> Scatter:
    """scatter_add(self, dim, index, src)"""
    return _scatter(node, accumulate=True)


def index_add(node: Node) -> Scatter:
    """index_add(self, dim, index, source)"""
    base, dim, indices, source = arguments(node)
    sizes = shape_of(source)
    if not sizes or len(sizes) != len(shape_of(base)):
        raise NotLowered("an index_add of a tensor without dimensions")
    names = axis_names(len(sizes))
    at = tuple(symbol(name) for name in names)
    where = normalize_dim(dim, len(sizes))
    place = (at[where],) if shape_of(indices) else ()
    size = shape_of(base)[where]
    step = _check(node, "g", _read(indices, place), size, where, "index_add()")
    axes = tuple(zip(names, sizes, strict=True))
    target = _replaced(at, where, symbol("g"))
    value = cast(_read(source, at), tensor_type(base).dtype)
    return Scatter(node, node.results[0], base, axes, value, target, (step,), True)


def index_put(node: Node) -> Scatter:
    """index_put(self, indices, values, accumulate)"""
    base, indices, values, accumulate = arguments(node)
    sizes = _picked_shape(shape_of(base), indices)
    names = axis_names(len(sizes))
    at = tuple(symbol(name) for name in names)
    target, steps = _advanced(node, base, indices, at)
    value = cast(broadcast_read(values, at), tensor_type(base).dtype)
    axes = tuple(zip(names, sizes, strict=True))
    return Scatter(node, node.results[0], base, axes, value, target, steps, bool(accumulate))


def _picked_shape(sizes: tuple[Index, ...], indices: tuple) -> tuple[Index, ...]:
    """The shape that an advanced index picks."""
    one = constant(1)
    found = [shape_of(each) for each in indices if each is not None]
    block = [one] * max(map(len, found))
    for shape in found:
        for at, size in enumerate(shape, len(block) - len(shape)):
            block[at] = size if block[at] == one else block[at]
    places = [at for at, each in enumerate(indices) if each is not None]
    rest = [size for at, size in enumerate(sizes) if at not in places]
    adjacent = places[-1] - places[0] + 1 == len(places)
    front = places[0] if adjacent else 0
    return (*rest[:front], *block, *rest[front:])


GATHER_RULES: dict[str, Callable[[Node], Nest | Scatter]] = {
    "gather": gather,
    "index_select": index_select,
    "index": index,
    "cat": cat,
    "flip": flip,
    "clone": clone,
    "contiguous_copy": clone,
    "slice_scatter": slice_scatter,
    "select_scatter": select_scatter,
    "scatter": scatter,
    "scatter_add": scatter_add,
    "index_add": index_add,
    "index_put": index_put,
}
