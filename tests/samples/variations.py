"""Variations of a sample: the same call with other layouts, dtypes, sizes and arguments.

In: a row and one of its samples. Out: calls of which nobody knows beforehand whether they are
allowed: the judge demands only that both libraries give the same answer or both refuse.

    x[2,3] f64 contiguous, dim=1  ->  x transposed, x expanded, x as bfloat16, x[0,3], dim=-1, dim=7
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy

from minitorch2 import dtypes
from minitorch2.layouts import contiguous_strides
from minitorch2.ops.table import Op
from tests.samples.specs import Sample, TensorSpec, specs_in

Change = Callable[[TensorSpec, int], TensorSpec]
DTYPES = ("f32", "f16", "bf16", "i64", "i32", "u8", "bool")


def variations(op: Op, sample: Sample) -> Iterator[Sample]:
    """Other calls like a sample, each changed in one respect."""
    tensors = specs_in(sample)
    if any(spec.shape for spec in tensors):
        for layout in (_transposed, _sliced, _expanded, _offset):
            yield _changed(sample, layout)
    if tensors:
        yield from _dtypes(sample, tensors)
        yield from _sizes(sample, tensors)
    yield from _arguments(op, sample)


def _changed(sample: Sample, change: Change, only: int | None = None) -> Sample:
    """The sample with all its tensors changed, or the `only`-th of them."""
    seen = iter(range(1000))

    def visit(value: Any) -> Any:
        if isinstance(value, TensorSpec):
            index = next(seen)
            return change(value, index) if only in (None, index) else value
        if isinstance(value, (tuple, list)):
            return type(value)(visit(item) for item in value)
        return value

    args = tuple(visit(value) for value in sample.args)
    kwargs = {name: visit(value) for name, value in sample.kwargs.items()}
    return Sample(args, kwargs, smooth=sample.smooth)


def contents(spec: TensorSpec) -> numpy.ndarray:
    """The elements of a spec as an array of its shape."""
    size = spec.flat.itemsize
    strides = tuple(stride * size for stride in spec.strides)
    whole = numpy.lib.stride_tricks.as_strided(spec.flat[spec.offset :], spec.shape, strides)
    return whole.copy()


def _laid_out(spec: TensorSpec, array: numpy.ndarray, strides: tuple, offset: int) -> TensorSpec:
    """A spec of the array's elements with strides of its own."""
    steps = zip(array.shape, strides, strict=True)
    reach = offset + sum((n - 1) * s for n, s in steps) + 1 if array.size else offset + 1
    flat = numpy.zeros(reach, array.dtype)
    size = array.itemsize
    view = numpy.lib.stride_tricks.as_strided(
        flat[offset:], array.shape, tuple(stride * size for stride in strides)
    )
    view[...] = array
    return replace(spec, flat=flat, shape=array.shape, strides=strides, offset=offset)


def _transposed(spec: TensorSpec, index: int) -> TensorSpec:
    array = contents(spec)
    return _laid_out(spec, array, contiguous_strides(array.shape[::-1])[::-1], 0)


def _sliced(spec: TensorSpec, index: int) -> TensorSpec:
    array = contents(spec)
    return _laid_out(spec, array, tuple(2 * s for s in contiguous_strides(array.shape)), 1)


def _offset(spec: TensorSpec, index: int) -> TensorSpec:
    array = contents(spec)
    return _laid_out(spec, array, contiguous_strides(array.shape), 3)


def _expanded(spec: TensorSpec, index: int) -> TensorSpec:
    array = contents(spec)
    if not array.ndim or not array.shape[0]:
        return spec
    array[...] = array[:1]
    return _laid_out(spec, array, (0, *contiguous_strides(array.shape)[1:]), 0)


def _as_dtype(short: str) -> Change:
    def change(spec: TensorSpec, index: int) -> TensorSpec:
        target = dtypes.from_short(short)
        if not spec.dtype.is_floating_point:
            return spec
        flat = spec.flat
        if not target.is_floating_point:
            flat = numpy.floor(numpy.nan_to_num(flat.astype(numpy.float64), posinf=9, neginf=-9))
            flat = numpy.clip(numpy.abs(flat) if short == "u8" else flat, -99, 99)
        with numpy.errstate(all="ignore"):
            return replace(spec, flat=flat.astype(target.numpy), dtype=target)

    return change


def _dtypes(sample: Sample, tensors: list[TensorSpec]) -> Iterator[Sample]:
    for short in DTYPES:
        yield _changed(sample, _as_dtype(short))
    if len(tensors) > 1:
        for at in range(min(len(tensors), 3)):
            for short in ("f32", "bf16", "i64"):
                yield _changed(sample, _as_dtype(short), at)


def _resized(old: int | None, new: int) -> Change:
    """Dimensions of a size get another; with None, the tensor loses its first dimension."""

    def change(spec: TensorSpec, index: int) -> TensorSpec:
        array = contents(spec)
        if old is None:
            array = array[0] if array.ndim and array.shape[0] else array
        else:
            for dim, size in enumerate(array.shape):
                if size == old:
                    array = numpy.take(array, range(min(new, size)), dim)
        return _laid_out(spec, numpy.ascontiguousarray(array).reshape(array.shape),
                         contiguous_strides(array.shape), 0)  # fmt: skip

    return change


def _scalar(spec: TensorSpec, index: int) -> TensorSpec:
    array = contents(spec)
    first = array.reshape(-1)[:1] if array.size else numpy.zeros(1, array.dtype)
    return _laid_out(spec, first.reshape(()), (), 0)


def _sizes(sample: Sample, tensors: list[TensorSpec]) -> Iterator[Sample]:
    sizes = sorted({size for spec in tensors for size in spec.shape if size > 1})
    for size in sizes[:3]:
        yield _changed(sample, _resized(size, 0))
        yield _changed(sample, _resized(size, 1))
        if len(tensors) > 1:
            yield _changed(sample, _resized(size, 1), 0)
            yield _changed(sample, _resized(size, 1), 1)
    yield _changed(sample, _scalar)
    yield _changed(sample, _resized(None, 0), 0)


def _arguments(op: Op, sample: Sample) -> Iterator[Sample]:
    """Each argument that is no tensor: other values of its type; each tensor: no tensor."""
    given = dict(zip(op.signature.names, sample.args, strict=False)) | sample.kwargs
    tensors = specs_in(sample)
    ndim = len(tensors[0].shape) if tensors else 0
    for at, parameter in enumerate(op.signature.parameters):
        if at == 0 and op.method and not op.function:
            continue  # a method has its tensor
        value = given.get(parameter.name, parameter.default)
        for other in _others(parameter, value, ndim):
            yield _with(op, sample, parameter, other)


def _others(parameter: Any, value: Any, ndim: int) -> list[Any]:
    named_dim = "dim" in parameter.name or parameter.name == "axis"
    if parameter.type == "bool" and parameter.name != "sorted":  # unsorted is any order
        return [not value] if isinstance(value, bool) else []
    if parameter.type == "int" and named_dim and isinstance(value, int):
        return [value - ndim if value >= 0 else value + ndim, ndim, -ndim - 1]
    if parameter.type == "int[]" and named_dim and isinstance(value, tuple) and value:
        return [tuple(dim - ndim for dim in value if dim >= 0), (*value, ndim), value + value[:1]]
    if parameter.type == "dtype" and not parameter.optional:
        return [dtypes.float64, dtypes.bfloat16, dtypes.int32]
    if parameter.type == "dtype":
        return [dtypes.float64, dtypes.float32, dtypes.bfloat16, dtypes.int32]
    if parameter.type in ("Scalar", "float") and isinstance(value, (int, float)):
        return [0, 0.5, -1, 2] if not isinstance(value, bool) else []
    if parameter.type == "Tensor":
        return [None, "text"]
    if parameter.type == "Operand":
        return [2, 0.5, True, "text"]
    return []


def _with(op: Op, sample: Sample, parameter: Any, value: Any) -> Sample:
    names = op.signature.names
    at = names.index(parameter.name)
    kwargs = dict(sample.kwargs)
    if at < len(sample.args):
        args = (*sample.args[:at], value, *sample.args[at + 1 :])
        return Sample(args, kwargs, smooth=False)
    kwargs[parameter.name] = value
    return Sample(sample.args, kwargs, smooth=False)
