"""Convolution rows: a convolution, and the two products that are its gradients.

In: input [N, C, *sizes], weight [out, C / groups, *kernel]. Out: [N, out, *places]. The three rows
are one trilinear form solved for each of its parts, so each one's gradients are the other two, and
second derivatives need nothing else. A transposed convolution is `convolution_to_input`.

The kernels' room does the work (kernels/runtime/convolutions.py, imported at the first use). What
it does not do, and everything with MT2_PRIMITIVES=numpy, is done here: the windows of a few samples
at a time are laid side by side (as many as stay in the cache) and multiplied with the BLAS:

    columns [C * kernel, places];  result = weight [out, C * kernel] @ columns

Source: Chellapilla et al. 2006 (convolution as matrix product); Dumoulin & Visin 2016 (arithmetic).
"""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy

from minitorch2.backends.blas import convolutions, product
from minitorch2.dispatch import call
from minitorch2.errors import DtypeError, OperationError, ShapeError
from minitorch2.ops.infer import describe_value
from minitorch2.ops.table import PRODUCT, Meta, defop, lookup

CHUNK_BYTES = 1 << 20  # of columns at a time: what a core's cache holds


def output_size(size, kernel, stride, padding, dilation):
    """How many places a kernel has along one dimension."""
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


def _op(name, *args):
    return call(lookup(name), args)


def _windows(padded, kernel, stride, dilation, places):
    """For each element of the kernel: its offsets and the view of what it meets."""
    for offsets in itertools.product(*map(range, kernel)):
        where = tuple(
            slice(offset * d, offset * d + (place - 1) * s + 1, s)
            for offset, place, s, d in zip(offsets, places, stride, dilation, strict=True)
        )
        yield offsets, padded[(..., *where)]


class _Plan:
    """One convolution's sizes, and the loop over its samples by chunks."""

    def __init__(self, input_shape, kernel, stride, padding, dilation, groups, dtype):
        self.samples, self.channels, *self.sizes = input_shape
        self.kernel, self.stride, self.padding, self.dilation = kernel, stride, padding, dilation
        settings = zip(self.sizes, kernel, stride, padding, dilation, strict=True)
        self.places = tuple(output_size(*each) for each in settings)
        self.groups = groups
        self.wide = tuple(n + 2 * p for n, p in zip(self.sizes, padding, strict=True))
        self.inside: tuple[Any, ...] = tuple(
            slice(p, p + n) for n, p in zip(self.sizes, padding, strict=True)
        )
        self.rows = self.channels // groups * _count(kernel)
        self.count = _count(self.places)
        self.plain = set(kernel) | set(stride) == {1} and not any(padding)
        each = self.channels * _count(kernel) * self.count * dtype.itemsize
        self.step = max(CHUNK_BYTES // max(each, 1), 1)
        self.dtype = dtype

    def chunks(self) -> Iterator[slice]:
        """The samples, a few at a time."""
        for start in range(0, self.samples, self.step):
            yield slice(start, min(start + self.step, self.samples))

    def columns(self, input, chunk):
        """[samples, groups, C / groups * kernel, places] of the windows of a chunk."""
        part = input[chunk]
        count = part.shape[0]
        if self.plain:
            return numpy.ascontiguousarray(part).reshape(count, self.groups, self.rows, self.count)
        if any(self.padding):
            wide = numpy.zeros((count, self.channels, *self.wide), self.dtype)
            wide[(..., *self.inside)] = part
            part = wide
        found = numpy.empty((count, self.channels, *self.kernel, *self.places), self.dtype)
        for offsets, view in _windows(part, self.kernel, self.stride, self.dilation, self.places):
            found[(slice(None), slice(None), *offsets)] = view
        return found.reshape(count, self.groups, self.rows, self.count)

    def input_of(self, columns):
        """The transpose of `columns`: each window's elements added where they came from."""
        count = columns.shape[0]
        if self.plain:
            return columns.reshape(count, self.channels, *self.sizes)
        columns = columns.reshape(count, self.channels, *self.kernel, *self.places)
        wide = numpy.zeros((count, self.channels, *self.wide), self.dtype)
        for offsets, view in _windows(wide, self.kernel, self.stride, self.dilation, self.places):
            view += columns[(slice(None), slice(None), *offsets)]
        return wide[(..., *self.inside)]


def _count(sizes):
    total = 1
    for size in sizes:
        total *= size
    return total


def _working(array):
    """16-bit floats are multiplied in float32, as torch does."""
    return array.astype(numpy.float32) if array.dtype.itemsize == 2 else array


def _quickest(name, by_numpy):
    """A row's eager rule: the kernels' function of that name, or else ours."""

    def rule(first, second, *how):
        wanted, first, second = first.dtype, _working(first), _working(second)
        room = convolutions()
        found = getattr(room, name)(first, second, *how) if room is not None else None
        if found is None:
            found = by_numpy(first, second, *how)
        return found.astype(wanted, copy=False)

    return rule


def _convolution(input, weight, stride, padding, dilation, groups):
    kernel, out = weight.shape[2:], weight.shape[0]
    plan = _Plan(input.shape, kernel, stride, padding, dilation, groups, input.dtype)
    matrix = weight.reshape(groups, out // groups, plan.rows)
    result = numpy.empty((plan.samples, groups, out // groups, plan.count), input.dtype)
    for chunk in plan.chunks():
        product(matrix, plan.columns(input, chunk), result[chunk])
    return result.reshape(plan.samples, out, *plan.places)


def _to_input(grad, weight, size, stride, padding, dilation, groups):
    kernel, out = weight.shape[2:], weight.shape[0]
    shape = (grad.shape[0], weight.shape[1] * groups, *size)
    plan = _Plan(shape, kernel, stride, padding, dilation, groups, grad.dtype)
    matrix = weight.reshape(groups, out // groups, plan.rows).swapaxes(1, 2)
    result = numpy.empty(shape, grad.dtype)
    for chunk in plan.chunks():
        part = grad[chunk]
        part = part.reshape(part.shape[0], groups, out // groups, plan.count)
        columns = numpy.empty((part.shape[0], groups, plan.rows, plan.count), grad.dtype)
        result[chunk] = plan.input_of(product(matrix, part, columns))
    return result


def _to_weight(grad, input, size, stride, padding, dilation, groups):
    out = grad.shape[1]
    plan = _Plan(input.shape, size, stride, padding, dilation, groups, input.dtype)
    total = numpy.zeros((groups, out // groups, plan.rows), input.dtype)
    for chunk in plan.chunks():
        part = grad[chunk]
        part = part.reshape(part.shape[0], groups, out // groups, plan.count)
        columns = plan.columns(input, chunk).swapaxes(2, 3)
        each = numpy.empty((part.shape[0], groups, out // groups, plan.rows), input.dtype)
        total += product(part, columns, each).sum(0)
    shape = (out, input.shape[1] // groups, *size)
    return total.reshape(shape)


def _asked(name, first, second, stride, padding, dilation, groups):
    return (
        f"{name}({describe_value(first)}, {describe_value(second)}, stride={list(stride)}, "
        f"padding={list(padding)}, dilation={list(dilation)}, groups={groups})"
    )


def _infer_convolution(input, weight, stride, padding, dilation, groups):
    asked = _asked("convolution", input, weight, stride, padding, dilation, groups)
    _check(asked, input, weight, (stride, padding, dilation), groups)
    if input.shape[1] != weight.shape[1] * groups:
        raise ShapeError(
            asked,
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected input"
            f"{list(input.shape)} to have {weight.shape[1] * groups} channels, but got "
            f"{input.shape[1]} channels instead",
            "the input is [N, C, *sizes], the weight [out, C / groups, *kernel]",
        )
    settings = zip(input.shape[2:], weight.shape[2:], stride, padding, dilation, strict=True)
    places = tuple(output_size(*each) for each in settings)
    if any(isinstance(place, int) and place <= 0 for place in places):
        raise ShapeError(
            asked,
            "Kernel size can't be greater than actual input size",
            "use a smaller kernel or more padding",
        )
    return Meta((input.shape[0], weight.shape[0], *places), input.dtype)


def _check(asked, input, weight, settings, groups):
    if input.dtype is not weight.dtype:
        raise DtypeError(
            asked,
            f"Input type and weight type should be the same, got {input.dtype} and {weight.dtype}",
            "convert one of them",
        )
    if input.ndim != weight.ndim or input.ndim < 3:
        raise ShapeError(
            asked,
            f"expected {weight.ndim}D input, got {list(input.shape)}",
            "the input is [N, C, *sizes], the weight [out, C / groups, *kernel]",
        )
    if any(len(each) != weight.ndim - 2 for each in settings):
        raise ShapeError(
            asked,
            f"expected stride, padding and dilation of {weight.ndim - 2} numbers each",
            "give one number for each dimension of the kernel",
        )
    if groups <= 0:
        raise OperationError(asked, "non-positive groups is not supported", "give 1 group or more")
    if weight.shape[0] % groups:
        raise ShapeError(
            asked,
            "expected weight to be at least 1 at dimension 0 and divisible by groups="
            f"{groups}, got {weight.shape[0]}",
            "choose groups as a divisor of the channels",
        )


def _infer_to_input(grad, weight, size, stride, padding, dilation, groups):
    asked = _asked("convolution_to_input", grad, weight, stride, padding, dilation, groups)
    _check(asked, grad, weight, (stride, padding, dilation), groups)
    if grad.shape[1] != weight.shape[0]:
        raise ShapeError(
            asked,
            f"expected {weight.shape[0]} channels, but got {grad.shape[1]} channels instead",
            "a transposed convolution's weight is [C, out / groups, *kernel]",
        )
    return Meta((grad.shape[0], weight.shape[1] * groups, *size), grad.dtype)


def _convolution_vjp(s, g):
    how = (s.stride, s.padding, s.dilation, s.groups)
    to_input = to_weight = None
    if s.needs[0]:
        to_input = _op("convolution_to_input", g, s.weight, tuple(s.input.shape[2:]), *how)
    if s.needs[1]:
        to_weight = _op("convolution_to_weight", g, s.input, tuple(s.weight.shape[2:]), *how)
    return to_input, to_weight


def _to_input_vjp(s, g):
    how = (s.stride, s.padding, s.dilation, s.groups)
    to_grad = _op("convolution", g, s.weight, *how) if s.needs[0] else None
    kernel = tuple(s.weight.shape[2:])
    to_weight = _op("convolution_to_weight", s.grad, g, kernel, *how) if s.needs[1] else None
    return to_grad, to_weight


def _to_weight_vjp(s, g):
    how = (s.stride, s.padding, s.dilation, s.groups)
    to_grad = _op("convolution", s.input, g, *how) if s.needs[0] else None
    sizes = tuple(s.input.shape[2:])
    to_input = _op("convolution_to_input", s.grad, g, sizes, *how) if s.needs[1] else None
    return to_grad, to_input


_HOW = "int[] stride, int[] padding, int[] dilation, int groups"
defop(
    f"convolution(Tensor input, Tensor weight, {_HOW}) -> Tensor",
    PRODUCT,
    eager=_quickest("convolution", _convolution),
    infer=_infer_convolution,
    saves="input:weight weight:input",
    vjp=_convolution_vjp,
    host="a convolution is a library's matrix products",
    accepts="ifc",
    method=False,
    function=False,
    torch="torch.convolution",
    precision="lower",
    doc="Each place of the input seen through the kernel: sums of products with the weight.",
)
defop(
    f"convolution_to_input(Tensor grad, Tensor weight, int[] size, {_HOW}) -> Tensor",
    PRODUCT,
    eager=_quickest("to_input", _to_input),
    infer=_infer_to_input,
    saves="grad:weight weight:grad",
    vjp=_to_input_vjp,
    host="a convolution is a library's matrix products",
    accepts="ifc",
    method=False,
    function=False,
    torch="torch.nn.grad.conv2d_input",
    precision="lower",
    doc="A convolution's gradient for its input, of the given sizes; a transposed convolution.",
)
defop(
    f"convolution_to_weight(Tensor grad, Tensor input, int[] size, {_HOW}) -> Tensor",
    PRODUCT,
    eager=_quickest("to_weight", _to_weight),
    infer=lambda grad, input, size, stride, padding, dilation, groups: Meta(
        (grad.shape[1], input.shape[1] // groups, *size), grad.dtype
    ),
    saves="grad:input input:grad",
    vjp=_to_weight_vjp,
    host="a convolution is a library's matrix products",
    accepts="ifc",
    method=False,
    function=False,
    torch="torch.nn.grad.conv2d_weight",
    doc="A convolution's gradient for its weight, whose kernel has the given sizes.",
)
