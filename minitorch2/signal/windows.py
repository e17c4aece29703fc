"""Windows by which a piece of a signal is multiplied before it is transformed.

In: the number of samples m; `sym=False` leaves out the last sample of m + 1, for transforms. Out: a
tensor [m].

    >>> hann(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])

Source: torch.signal.windows; Harris 1978, "On the use of windows for harmonic analysis".
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy

from minitorch2.creation import tensor
from minitorch2.errors import ArgumentValueError
from minitorch2.spectra import window_dtype


def _finished(curve: numpy.ndarray, m: int, dtype: Any, device: Any, requires_grad: bool) -> Any:
    curve = numpy.ones(1) if m == 1 else curve
    wanted = window_dtype(m, dtype)
    return tensor(curve, dtype=wanted, device=device, requires_grad=requires_grad)


def _places(m: int, sym: bool) -> numpy.ndarray:
    """The samples' places from -1 to 1."""
    return numpy.arange(max(m, 0)) * (2 / max(m - 1 if sym else m, 1)) - 1


def _require(name: str, value: float, holds: bool) -> None:
    if not holds:
        raise ArgumentValueError(f"a window with {name}={value}", f"{name} is out of its range")


def general_cosine(
    M: int,
    *,
    a: Sequence[float],
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """A sum of cosines with the weights `a`, their signs alternating."""
    angle = (_places(M, sym) + 1) * math.pi
    curve = sum(w * (-1) ** k * numpy.cos(k * angle) for k, w in enumerate(a)) + 0 * angle
    return _finished(curve, M, dtype, device, requires_grad)


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, **options: Any) -> Any:
    """alpha minus (1 - alpha) times a cosine."""
    return general_cosine(M, a=(alpha, 1 - alpha), sym=sym, **options)


def hamming(M: int, *, sym: bool = True, **options: Any) -> Any:
    """0.54 minus 0.46 times a cosine."""
    return general_hamming(M, sym=sym, **options)


def hann(M: int, *, sym: bool = True, **options: Any) -> Any:
    """One half minus one half of a cosine."""
    return general_hamming(M, alpha=0.5, sym=sym, **options)


def blackman(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Blackman's sum of two cosines."""
    return general_cosine(M, a=(0.42, 0.5, 0.08), sym=sym, **options)


def nuttall(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Nuttall's sum of three cosines."""
    return general_cosine(M, a=(0.3635819, 0.4891775, 0.1365995, 0.0106411), sym=sym, **options)


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """A triangle."""
    return _finished(1 - abs(_places(M, sym)), M, dtype, device, requires_grad)


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Half a wave, from half a sample before the first to half a sample after the last."""
    place = (numpy.arange(max(M, 0)) + 0.5) * (math.pi / max(M if sym else M + 1, 1))
    return _finished(numpy.sin(place), M, dtype, device, requires_grad)


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """A bell whose standard deviation is `std` samples."""
    _require("std", std, std > 0)
    distance = numpy.arange(max(M, 0)) - ((M - 1 if sym else M) / 2)
    curve = numpy.exp(-((distance / std) ** 2) / 2)
    return _finished(curve, M, dtype, device, requires_grad)


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """A peak that falls by the factor e every `tau` samples, in the middle or at `center`."""
    _require("tau", tau, tau > 0)
    if sym and center is not None:
        raise ArgumentValueError(
            "exponential(center=..., sym=True)", "center must be None", "leave it out"
        )
    middle = ((M - 1 if sym else M) / 2) if center is None else center
    return _finished(
        numpy.exp(-abs(numpy.arange(max(M, 0)) - middle) / tau), M, dtype, device, requires_grad
    )


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """The Bessel function I0 over a half circle of height `beta`."""
    _require("beta", beta, beta >= 0)
    place = _places(M, sym)
    curve = numpy.i0(beta * numpy.sqrt(numpy.maximum(1 - place * place, 0))) / numpy.i0(beta)
    return _finished(curve, M, dtype, device, requires_grad)
