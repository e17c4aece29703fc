"""How a sample names a tensor before any library makes it.

In: `t((3, 4), "f32", "transposed")`. Out: a TensorSpec: a flat numpy array with shape, strides and
offset, that `build` turns into a tensor of minitorch2 or of torch, sharing nothing between them.
The numbers are the same on every run.

    Sample((t((2, 3)), 1), {"keepdim": True})     # a call: op(tensor, 1, keepdim=True)
"""

import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy

from minitorch2 import dtypes
from minitorch2.layouts import contiguous_strides

LAYOUTS = ("contiguous", "transposed", "sliced", "expanded", "permuted", "offset")
SPECIALS = (0.0, -0.0, 1.0, -1.0, 2.0, -2.5, 0.5, 3.0, 1e-40, 1e30, -1e30)
NON_FINITE = (float("nan"), float("inf"), float("-inf"))


@dataclass(frozen=True, eq=False, slots=True)
class TensorSpec:
    """A tensor to be: `flat` seen with shape, strides and offset (in elements)."""

    flat: numpy.ndarray
    dtype: dtypes.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0
    grad: bool = True

    def __repr__(self) -> str:
        text = f"{self.dtype.short}{list(self.shape)}"
        usual = self.strides == contiguous_strides(self.shape) and not self.offset
        return text if usual else f"{text} strides{list(self.strides)}+{self.offset}"


@dataclass(frozen=True, eq=False, slots=True)
class Sample:
    """One call of an op: positional and keyword arguments, TensorSpecs among them.

    `fails`: torch refuses it, and so must we. `smooth`: finite differences make sense there.
    """

    args: tuple = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    fails: bool = False
    smooth: bool = True

    def __repr__(self) -> str:
        parts = [repr(a) for a in self.args] + [f"{k}={v!r}" for k, v in self.kwargs.items()]
        return f"({', '.join(parts)})"


def call(*args: Any, **kwargs: Any) -> Sample:
    """A sample of positional and keyword arguments."""
    return Sample(args, kwargs)


def refused(*args: Any, **kwargs: Any) -> Sample:
    """A sample that must raise."""
    return Sample(args, kwargs, fails=True, smooth=False)


def rough(*args: Any, **kwargs: Any) -> Sample:
    """A sample at a point without a derivative (ties, special values)."""
    return Sample(args, kwargs, smooth=False)


def _numbers(count: int, dtype: dtypes.dtype, low: float, high: float, seed: str) -> numpy.ndarray:
    random = numpy.random.RandomState(zlib.crc32(f"{seed}{count}{low}{high}".encode()))
    if dtype is dtypes.bool:
        return random.rand(count) < 0.5
    values = random.uniform(low, high, count)
    if dtype.is_complex:
        return (values + 1j * random.uniform(low, high, count)).astype(dtype.numpy)
    if dtype.is_floating_point:
        return values.astype(dtype.numpy)
    if not dtype.is_signed:
        values = numpy.abs(values)
    return numpy.floor(values).astype(dtype.numpy)


def t(
    shape: tuple[int, ...],
    dtype: str = "f64",
    layout: str = "contiguous",
    low: float = -3,
    high: float = 3,
    grad: bool = True,
    seed: str = "",
) -> TensorSpec:
    """A tensor of uniform numbers in [low, high) with one of LAYOUTS."""
    element = dtypes.from_short(dtype)
    if layout in ("transposed", "permuted") and len(shape) < 2:
        layout = "sliced"
    if layout in ("sliced", "expanded") and not shape:
        layout = "offset"
    offset = 0
    if layout == "transposed":
        swapped = shape[:-2] + (shape[-1], shape[-2])
        inner = contiguous_strides(swapped)
        strides = inner[:-2] + (inner[-1], inner[-2])
    elif layout == "permuted":  # the last dimension varies slowest
        inner = contiguous_strides(shape[-1:] + shape[:-1])
        strides = inner[1:] + inner[:1]
    elif layout == "sliced":
        strides, offset = contiguous_strides(shape[:-1] + (2 * shape[-1],)), 1
        strides = strides[:-1] + (2,)
    elif layout == "expanded":
        strides = (0, *contiguous_strides(shape)[1:])
    else:
        strides, offset = contiguous_strides(shape), 5 if layout == "offset" else 0
    extent = sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) if 0 not in shape else 0
    flat = _numbers(offset + extent + 1, element, low, high, seed + dtype + layout)
    return TensorSpec(flat, element, tuple(shape), strides, offset, grad)


def of(values: Any, dtype: str = "f64", grad: bool = True) -> TensorSpec:
    """A contiguous tensor of given values."""
    element = dtypes.from_short(dtype)
    array = numpy.asarray(values)
    with numpy.errstate(all="ignore"):
        flat = array.astype(element.numpy).reshape(-1)
    shape = array.shape
    padded = flat if flat.size else numpy.zeros(1, element.numpy)
    return TensorSpec(padded, element, shape, contiguous_strides(shape), 0, grad)


def specs_in(value: Any) -> list[TensorSpec]:
    """The TensorSpecs in a sample's arguments, in order."""
    if isinstance(value, TensorSpec):
        return [value]
    if isinstance(value, Sample):
        return specs_in((*value.args, *value.kwargs.values()))
    if isinstance(value, (tuple, list)):
        return [spec for item in value for spec in specs_in(item)]
    return []


def build(value: Any, library: Any, grad: bool = False) -> Any:
    """The same arguments with tensors (fresh ones) and dtypes of a library.

    With `grad`, floating-point and complex tensors whose spec allows it are leaves that require
    gradients.
    """
    if isinstance(value, TensorSpec):
        return _tensor(value, library, grad)
    if isinstance(value, dtypes.dtype):
        return getattr(library, value.name)
    if isinstance(value, tuple):
        return tuple(build(item, library, grad) for item in value)
    if isinstance(value, list):
        return [build(item, library, grad) for item in value]
    if isinstance(value, dict):
        return {key: build(item, library, grad) for key, item in value.items()}
    return value


def _tensor(spec: TensorSpec, library: Any, grad: bool) -> Any:
    flat = spec.flat.copy()
    if spec.dtype is dtypes.bfloat16 and library.__name__ == "torch":
        whole = library.from_numpy(flat.view(numpy.int16)).view(library.bfloat16)
    else:
        whole = library.from_numpy(flat)
    tensor = whole.as_strided(spec.shape, spec.strides, spec.offset).detach()
    if grad and spec.grad and spec.dtype.differentiable:
        tensor.requires_grad_()
    return tensor
