"""Functions that make regular tensors: ranges, evenly spaced numbers, identity matrices.

In: numbers (or 0-d tensors). Out: tensors; integers give int64, other numbers the default dtype.

    >>> arange(1, 7, 2)
    tensor([1, 3, 5])

Source: torch's "Creation Ops".
"""

import math
from typing import Any

import numpy

from minitorch2 import dtypes
from minitorch2.creation import check_place, finished, strided_only, tensor
from minitorch2.dispatch import call
from minitorch2.errors import ArgumentTypeError, DtypeError, OperationError, ShapeError
from minitorch2.ops.infer import describe_value
from minitorch2.ops.outputs import into
from minitorch2.ops.signature import an_int
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor, fake_tensor


def _op(name: str, *args: Any) -> Any:
    return call(lookup(name), args)


def number(value: Any, asked: str, name: str) -> Any:
    """A number, also out of a tensor of no dimensions."""
    if not isinstance(value, Tensor):
        return value
    if value.ndim:
        raise ShapeError(
            asked,
            f"{asked} only supports 0-dimensional start and end tensors, but got {name} with "
            f"{value.ndim} dimension(s).",
            "index the element",
        )
    return value.item()


def _wanted(asked: str, dtype: Any, out: Any) -> Any:
    """The dtype asked for: that of `out` where none is named."""
    dtype = dtypes.as_dtype(dtype)
    if out is None:
        return dtype
    if dtype is not None and dtype is not out.dtype:
        raise DtypeError(
            f"{asked}(dtype={dtype}, out={describe_value(out)})",
            f"dtype {dtype} does not match dtype of out parameter ({out.dtype})",
            "leave dtype out",
        )
    return out.dtype


def _check_range(asked: str, start: Any, end: Any, step: Any) -> None:
    call_ = f"{asked}({start}, {end}, {step})"
    for value in (start, end, step):
        if isinstance(value, float) and not math.isfinite(value):
            raise OperationError(
                call_, f"unsupported range: {start} -> {end}", "give finite numbers"
            )
    if step == 0:
        raise OperationError(call_, "step must be nonzero", "use a positive or a negative step")
    if (end - start) * (1 if step > 0 else -1) < 0:
        raise OperationError(
            call_, "upper bound and lower bound inconsistent with step sign", "turn the step"
        )


def arange(
    *bounds: Any,
    start: Any = None,
    end: Any = None,
    step: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """start, start + step, ... up to but without end; `arange(n)` starts at 0."""
    given = bounds if len(bounds) != 1 or end is not None else (0, *bounds)
    given = (0 if start is None else start, *given) if start is not None or not given else given
    named = [value for value in (end, step) if value is not None]
    given = (*given, *named)
    if not 2 <= len(given) <= 3:
        raise ArgumentTypeError(
            f"arange() of {len(given)} numbers",
            'arange() received an invalid combination of arguments: missing "end"',
            "call arange(end), arange(start, end) or arange(start, end, step)",
        )
    first, last, by = (number(value, "arange", "start") for value in (*given, 1)[:3])
    _check_range("arange", first, last, by)
    strided_only("arange", layout)
    wanted = _wanted("arange", dtype, out)
    made = finished(_op("range_", first, last, by, wanted, device), requires_grad)
    return into("arange", out, made)


def range(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """start, start + step, ... up to end, which is included (torch has deprecated it)."""
    if end is None:
        start, end = 0, start
    start, end, step = (number(value, "range", "start") for value in (start, end, step))
    _check_range("range", start, end, step)
    wanted = _wanted("range", dtype, out) or dtypes.get_default_dtype()
    count = math.floor((end - start) / step) + 1
    work = numpy.int64 if wanted.category <= dtypes.INTEGER else numpy.float64
    values = (numpy.asarray(start, work) + numpy.arange(count) * numpy.asarray(step, work)).astype(
        wanted.numpy
    )
    strided_only("range", layout)
    return into(
        "range", out, tensor(values, dtype=wanted, device=device, requires_grad=requires_grad)
    )


def _spaced(asked: str, start: Any, end: Any, steps: Any, wanted: Any) -> numpy.ndarray:
    """Evenly spaced numbers as torch's kernels round them: from both ends to the middle."""
    steps = number(steps, asked, "steps")
    if steps < 0:
        raise OperationError(
            f"{asked}(steps={steps})", "number of steps must be non-negative", "give 0 or more"
        )
    work: Any = wanted.numpy.type if wanted.is_complex else numpy.float32
    work = numpy.float64 if wanted is dtypes.float64 else work
    if steps < 2:
        return numpy.full(steps, start, work)
    gap = work((work(end) - work(start)) / work(steps - 1))
    index = numpy.arange(steps)
    lower = work(start) + gap * index.astype(work)
    upper = work(end) - gap * (steps - 1 - index).astype(work)
    return numpy.where(index < steps // 2, lower, upper)


def _spaced_dtype(asked: str, start: Any, end: Any, dtype: Any, out: Any) -> Any:
    wanted = _wanted(asked, dtype, out)
    parts = any(isinstance(value, complex) for value in (start, end))
    if wanted is None:
        wanted = dtypes.get_default_dtype()
        return wanted.to_complex() if parts else wanted
    if parts and not wanted.is_complex:
        raise DtypeError(
            f"{asked}({start}, {end}, dtype={wanted})",
            f"{asked}(): inferred dtype complex can't be safely cast to passed dtype {wanted}",
            "give a complex dtype",
        )
    return wanted


def linspace(
    start: Any,
    end: Any,
    steps: Any,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """`steps` numbers from start to end, both included, evenly spaced."""
    start, end = number(start, "linspace", "start"), number(end, "linspace", "end")
    wanted = _spaced_dtype("linspace", start, end, dtype, out)
    strided_only("linspace", layout)
    values = _spaced("linspace", start, end, steps, wanted).astype(wanted.numpy)
    if check_place(device):
        return finished(fake_tensor(values.shape, wanted), requires_grad)
    return into("linspace", out, tensor(values, dtype=wanted, requires_grad=requires_grad))


def logspace(
    start: Any,
    end: Any,
    steps: Any,
    base: float = 10.0,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """base ** start ... base ** end: evenly spaced exponents."""
    start, end = number(start, "logspace", "start"), number(end, "logspace", "end")
    wanted = _spaced_dtype("logspace", start, end, dtype, out)
    strided_only("logspace", layout)
    exponents = _spaced("logspace", start, end, steps, wanted)
    wide = exponents.astype(numpy.complex128 if exponents.dtype.kind == "c" else numpy.float64)
    values = (numpy.asarray(base, wide.dtype) ** wide).astype(wanted.numpy)
    if check_place(device):
        return finished(fake_tensor(values.shape, wanted), requires_grad)
    return into("logspace", out, tensor(values, dtype=wanted, requires_grad=requires_grad))


def eye(
    n: int,
    m: int | None = None,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Ones on the diagonal, zeros elsewhere."""
    for name, count in (("n", n), ("m", m)):
        if count is not None and an_int(count, name) < 0:
            raise OperationError(
                f"eye({n}, {m})", f"{name} must be greater or equal to 0, got {count}"
            )
    strided_only("eye", layout)
    wanted = _wanted("eye", dtype, out) or dtypes.get_default_dtype()
    row = _op("range_", 0, n, 1, None, device).unsqueeze(1)
    column = _op("range_", 0, n if m is None else m, 1, None, device)
    return into("eye", out, finished((row == column).to(wanted), requires_grad))
