"""Numpy arrays in other element types, with the numbers that torch's conversions give.

In: an array, or a number, and the numpy dtype that is wanted. Out: an array of which numpy's own
cast to that dtype gives torch's result; or the result itself.

    >>> eight_bits = converted(numpy.array([0.3, 500, numpy.inf]), dtypes.float8_e4m3fn.numpy)
    >>> converted(eight_bits, numpy.dtype("float64")).tolist()
    [0.3125, 448.0, 448.0]

Source: x86's conversion of floats to integers, which is torch's; for numbers of eight bits the OCP
specifications of 8-bit floats and microscaling formats, and what torch makes of numbers outside.
"""

import warnings
from typing import Any

import numpy

from minitorch2 import dtypes

_LARGEST = dtypes.finfo(dtypes.float8_e4m3fn).max  # which has no infinity
_LEAST = dtypes.finfo(dtypes.float8_e8m0fnu).tiny  # which has no zero
_EIGHT_BITS = frozenset(each.numpy.num for each in dtypes.EIGHT_BITS)


def converted(value: Any, wanted: numpy.dtype) -> numpy.ndarray:
    """A fresh array of the elements as numbers of another dtype; warns of lost imaginary parts."""
    return numpy.asarray(for_cast(value, wanted)).astype(wanted)


def for_cast(value: Any, wanted: numpy.dtype) -> Any:
    """What numpy's cast to `wanted` gives torch's numbers of: mostly the value itself.

    Imaginary parts that the dtype cannot have are left out, with torch's warning.
    """
    source = getattr(value, "dtype", wanted)
    if source.kind == "c" and wanted.kind not in "cb":
        warn_of_lost_parts()
        value = value.real
        source = value.dtype
    if wanted.num in _EIGHT_BITS:
        return _for_eight_bits(numpy.asarray(value), wanted)
    if source.num in _EIGHT_BITS:  # numpy's casts know float32
        value = value.astype(numpy.float32)
        source = value.dtype
    if source.kind == "f" and wanted.kind in "iu" and wanted.itemsize <= 4:
        # One that does not fit gives the smallest int32, of which narrower integers keep the low
        # bits.
        signed = wanted.kind == "i" or wanted.itemsize < 4
        return value.astype(numpy.int32 if signed else numpy.int64)
    return value


def _for_eight_bits(array: numpy.ndarray, wanted: numpy.dtype) -> numpy.ndarray:
    """Numbers by way of float32, those that the dtype lacks as the ones that stand for them."""
    if array.dtype == wanted:
        return array
    array = array.astype(numpy.float32, copy=False)
    if wanted == dtypes.float8_e4m3fn.numpy:
        return numpy.clip(array, -_LARGEST, _LARGEST)
    if wanted == dtypes.float8_e8m0fnu.numpy:  # powers of two: no sign, no zero
        return numpy.maximum(numpy.abs(array), numpy.float32(_LEAST))
    return array


def warn_of_lost_parts() -> None:
    """What torch says where imaginary parts are dropped."""
    warnings.warn(
        "Casting complex values to real discards the imaginary part", UserWarning, stacklevel=2
    )
