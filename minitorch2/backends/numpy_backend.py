"""The CPU backend: a primitive's `eager` function on numpy arrays.

In: an op row and its arguments. Out: new tensors (or views, or the written tensor). Pointwise
operands are converted to the dtype the op computes in; results get the strides torch gives them.

Source: numpy is exactly rounded for + - * / sqrt, comparisons, copies; transcendental functions
come from `backends.primitives`.
"""

from typing import Any

import numpy

from minitorch2 import dispatch
from minitorch2.backends import (
    composite_programs,
    heap,  # noqa: F401 - large arrays are made again and again
)
from minitorch2.backends.quiet import restore, silence
from minitorch2.dtypes import FLOATING, INTEGER, dtype, float32, float64
from minitorch2.errors import DimensionError, Mt2Error, OperationError
from minitorch2.layouts import MOST_VIEWS, Layout, check_inside, row_major
from minitorch2.ops.infer import (
    LEAST,
    MOST,
    check_operand,
    describe,
    infer_pointwise,
    keeps_digits,
    own_layout,
    pointwise_dtypes,
    pointwise_layout,
    shown_dtype,
)
from minitorch2.ops.table import Op
from minitorch2.storages import Storage
from minitorch2.tensors import Tensor, wrap

_FLOAT32 = numpy.dtype("float32")
PLAIN_DTYPES = (float32, float64)


def run(op: Op, args: tuple) -> Any:
    """Run a primitive on CPU tensors."""
    if op.kind == "pointwise":
        return run_pointwise(op, args)
    if op.view is not None:
        return run_view(op, args)
    if op.kind == "inplace":
        token = silence()
        try:
            op.eager(args[0].array, *[unwrap(a) for a in args[1:]])  # type: ignore[misc]
        finally:
            restore(token)
        args[0].storage.version += 1
        return args[0]
    if op.whole:
        found = composite_programs.run(op, args, recorded=False)
        if found is not None:
            return found
    if op.infer is not None and op.kind != "creation":
        op.infer(*args)  # raises the errors that capture and the verifier raise too
    token = silence()
    try:
        result = op.eager(*[unwrap(argument) for argument in args])  # type: ignore[misc]
    except (ValueError, IndexError, TypeError) as error:
        raise _refusal(op, args, error) from error
    finally:
        restore(token)
    if type(result) is tuple:
        return tuple(wrap(finished(op, args, array, at)) for at, array in enumerate(result))
    return wrap(finished(op, args, result))


def _refusal(op: Op, args: tuple, error: Exception) -> Exception:
    """What numpy refuses, said of the operation."""
    if isinstance(error, Mt2Error):
        return error
    kind = DimensionError if isinstance(error, numpy.exceptions.AxisError) else OperationError
    fix = f"see help(torch.{op.name}) for the sizes and dtypes it takes"
    return kind(describe(op, args), f"{op.name} cannot take them: {error}", fix)


def run_view(op: Op, args: tuple) -> Tensor:
    """Another tensor on the same storage."""
    source = args[0]
    element = source.dtype if op.element is None else shown_dtype(op, source.dtype, args[1:])
    if source.layout.row_major and op.effects != "may_fail":
        return Tensor(source.storage, _view_of(source.layout, op, args[1:]), element)
    layout = op.view(source.layout, *args[1:])  # type: ignore[misc]
    if op.effects == "may_fail":  # as_strided: nothing but the storage limits it
        elements = source.storage.nbytes // source.dtype.itemsize
        check_inside(layout, elements, f"{op.name}({list(layout.shape)}, {list(layout.strides)})")
    return Tensor(source.storage, layout, element)


def _view_of(layout: Layout, op: Op, arguments: tuple) -> Layout:
    """The layout of a view of a shared layout, which remembers it."""
    key = op, arguments
    try:
        found = layout.views.get(key)
    except TypeError:  # an argument that cannot be hashed
        return op.view(layout, *arguments)  # type: ignore[misc]
    if found is None:
        found = op.view(layout, *arguments)  # type: ignore[misc]
        if not all(type(size) is int for size in found.shape):
            return found
        shared = row_major(found.shape)
        if shared.same_places(found):
            found = shared
        if len(layout.views) >= MOST_VIEWS:
            layout.views.clear()
        layout.views[key] = found
    return found


def finished(op: Op, args: tuple, array: Any, at: int = 0) -> numpy.ndarray:
    """The result `at` with the strides torch gives it: row-major, or as the row says."""
    layout = own_layout(op, args, array.shape, at)
    if layout is not None:
        return laid_out(array, layout)
    usual = array.flags.c_contiguous or op.effects == "data_dependent"  # nonzero: by columns
    return array if usual else array.copy(order="C")


def unwrap(value: Any) -> Any:
    """A tensor's array; tuples of tensors as tuples of arrays; the rest unchanged."""
    if isinstance(value, Tensor):
        return value.array
    if type(value) is tuple and any(isinstance(item, Tensor) for item in value):
        return tuple(unwrap(item) for item in value)
    return value


def run_pointwise(op: Op, args: tuple) -> Tensor:
    """Convert the operands, compute, and lay the result out as torch does."""
    if 0 < op.plain < 3:
        done = run_plain(op, args)
        if done is not None:
            return done
    for position in op.tensor_positions:
        if not isinstance(args[position], Tensor):
            check_operand(op, args, position)
    compute, result_dtype = pointwise_dtypes(op, args)
    work = working_type(op, compute)
    values, tensors = [], []
    token = silence()
    try:
        for parameter, argument in zip(op.signature.parameters, args, strict=True):
            operand = argument
            if isinstance(operand, Tensor):
                tensors.append(operand)
                argument = operand.array
            if parameter.type == "Operand" and argument is not None:
                argument = _operand(op, parameter.name, operand, argument, compute, work)
            values.append(argument)
        result = op.eager(*values)  # type: ignore[misc]
        if type(result) is not numpy.ndarray:
            result = numpy.asarray(result)
        if result.dtype != result_dtype.numpy:
            result = result.astype(result_dtype.numpy)
    except (ValueError, TypeError):
        infer_pointwise(op, args)  # the same words as capture's
        raise
    finally:
        restore(token)
    if result.ndim > 1 and not all(t.array.flags.c_contiguous for t in tensors):
        result = laid_out(result, pointwise_layout(result.shape, [t.layout for t in tensors]))
    elif result.base is not None or any(result is t._array for t in tensors):
        result = result.copy()
    return wrap(result)


def _operand(
    op: Op, name: str, operand: Any, value: Any, compute: dtype, work: numpy.dtype
) -> numpy.ndarray:
    """An operand, or its elements, in the type that is computed with; rounded first where the row
    computes in fewer bits than that."""
    rounds = not keeps_digits(op, name, operand)
    if isinstance(operand, Tensor):
        if rounds and value.dtype != compute.numpy:
            value = value.astype(compute.numpy)
        return value.astype(work, copy=False)
    value = number_as(value, compute, work)
    return value.astype(compute.numpy).astype(work) if rounds and work != compute.numpy else value


def run_plain(op: Op, args: tuple) -> Tensor | None:
    """The usual case without the bookkeeping: float32 or float64, one shape, row-major."""
    first = args[0]
    if not isinstance(first, Tensor) or first.dtype not in PLAIN_DTYPES:
        return None
    array, layout = first.array, first.layout
    if not array.flags.c_contiguous:
        return None
    if op.plain == 1:
        values: tuple = (array,)
    else:
        second = args[1]
        if isinstance(second, Tensor):
            if second.dtype is not first.dtype or second.layout.shape != layout.shape:
                return None
            second = second.array
            if not second.flags.c_contiguous:
                return None
        elif type(second) is int and LEAST <= second <= MOST:
            second = float(second)
        elif type(second) is not float:
            return None
        values = (array, second, *args[2:])
    if op.check is not None:
        op.check(op, args)
    token = silence()
    try:
        result = op.eager(*values)  # type: ignore[misc]
    finally:
        restore(token)
    if type(result) is not numpy.ndarray or result.base is not None or result is array:
        return wrap(numpy.array(result))
    if layout.offset or result.dtype is not array.dtype:
        return wrap(result)
    return Tensor(Storage(first.storage.device, result.nbytes, result), layout, first.dtype, result)


def working_type(op: Op, compute: Any) -> Any:
    """The numpy dtype a pointwise op computes in: float32 for floats of 16 bits and of 8."""
    if (
        compute.itemsize <= 2
        and compute.category == FLOATING
        and op.promote not in ("convert", "stored")
    ):
        return _FLOAT32
    return compute.numpy


def number_as(value: Any, compute: Any, work: Any) -> Any:
    """A Python number as a numpy scalar of the working type (wrapping as torch's cast does)."""
    if compute.category == INTEGER and isinstance(value, (int, numpy.integer)):
        bits = 8 * compute.itemsize
        value = int(value) & ((1 << bits) - 1)
        if compute.is_signed and value >> (bits - 1):
            value -= 1 << bits
    token = silence()
    try:
        return work.type(value)
    finally:
        restore(token)


def laid_out(array: numpy.ndarray, layout: Layout) -> numpy.ndarray:
    """The array with the strides of a dense layout, copied only when they differ."""
    size = array.itemsize
    strides = tuple(stride * size for stride in layout.strides)
    if array.strides == strides and array.base is None:
        return array
    block = numpy.empty(array.size, array.dtype)
    result = numpy.ndarray(array.shape, array.dtype, block, 0, strides)
    result[...] = array
    return result


dispatch.backends["cpu"] = run
