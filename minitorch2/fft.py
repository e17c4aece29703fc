"""torch.fft: discrete Fourier transforms in one, two and more dimensions.

In: real or complex tensors, sizes to cut or to fill with zeros up to, dimensions, and `norm`:
'backward' (the default: the inverse divides by n), 'forward', or 'ortho' (both divide by the root).
Out: tensors. The work is done by the rows of ops/fourier.py.

    >>> import minitorch2 as torch
    >>> torch.fft.rfft(torch.tensor([1.0, 0.0, 0.0, 0.0]))
    tensor([1.+0.j, 1.+0.j, 1.+0.j])

Source: torch.fft.
"""

from collections.abc import Callable
from typing import Any

from minitorch2 import dtypes
from minitorch2.errors import DtypeError, OperationError
from minitorch2.layouts import normalize_dim
from minitorch2.ops.fourier import OPPOSITE
from minitorch2.ops.infer import describe_value
from minitorch2.ops.table import lookup
from minitorch2.ranges import arange

_c2c, _r2c, _c2r = (lookup(f"fft_{name}").public for name in ("c2c", "r2c", "c2r"))
_slice, _cat, _full = lookup("slice").public, lookup("cat").public, lookup("full").public
_roll = lookup("roll").public
Sizes = Any  # an int or several


def _norm(norm: str | None) -> str:
    if norm is not None and norm not in OPPOSITE:
        raise OperationError(
            f"a Fourier transform with norm={norm!r}",
            f'Invalid normalization mode: "{norm}"',
            "use 'backward', 'forward' or 'ortho'",
        )
    return norm or "backward"


def _floating(x: Any) -> Any:
    if x.dtype.category < dtypes.FLOATING:
        return x.to(dtypes.get_default_dtype())
    if x.dtype.itemsize == 2:
        raise DtypeError(
            f"a Fourier transform of {describe_value(x)}",
            f"Unsupported dtype {x.dtype}",
            "convert it first: x.float()",
        )
    return x


def _complex(x: Any) -> Any:
    x = _floating(x)
    return x if x.dtype.is_complex else x.to(x.dtype.to_complex())


def _real(x: Any, name: str) -> Any:
    if x.dtype.is_complex:
        raise OperationError(
            f"{name}({describe_value(x)})",
            f"{name} expects a real input tensor, but got {x.dtype}",
            "use the transform of complex numbers",
        )
    return _floating(x)


def _sized(x: Any, dim: int, size: int | None) -> Any:
    """A dimension cut, or filled with zeros at its end."""
    now = x.shape[dim]
    if size is None or size == -1 or size == now:
        _require_points(now)
        return x
    _require_points(size)
    if size < now:
        return _slice(x, dim, 0, size, 1)
    shape = list(x.shape)
    shape[dim] = size - now
    return _cat((x, _full(tuple(shape), 0, dtype=x.dtype, device=x.device)), dim)


def _require_points(size: int) -> None:
    if size < 1:
        raise OperationError(
            "a Fourier transform of no points",
            f"Invalid number of data points ({size}) specified",
            "give at least one",
        )


def _places(x: Any, s: Sizes, dim: Sizes) -> tuple[list[int], list[int | None]]:
    """The dimensions to transform, and the size of each (None: as it is)."""
    sizes = None if s is None else [s] if isinstance(s, int) else list(s)
    if dim is None:
        count = x.ndim if sizes is None else len(sizes)
        dims = list(range(x.ndim - count, x.ndim))
    else:
        dims = [dim] if isinstance(dim, int) else list(dim)
    if (dim is not None and sizes is not None and len(sizes) != len(dims)) or any(
        d < -x.ndim for d in dims
    ):
        raise OperationError(
            f"a Fourier transform of {describe_value(x)} with s={s}, dim={dim}",
            "When given, dim and shape arguments must have the same length",
            "give one size for each dimension",
        )
    dims = [normalize_dim(d, x.ndim) for d in dims]
    if len(set(dims)) != len(dims):
        raise OperationError(f"a Fourier transform over dim={dim}", "FFT dims must be unique")
    return dims, sizes or [None] * len(dims)


def _resized(x: Any, dims: list[int], sizes: list[int | None]) -> Any:
    for dim, size in zip(dims, sizes, strict=True):
        x = _sized(x, dim, size)
    return x


def fftn(input: Any, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Any:
    """The transform over several dimensions (all of them, or the last ones `s` names)."""
    dims, sizes = _places(input, s, dim)
    x = _resized(_complex(input), dims, sizes)
    return _c2c(x, tuple(dims), _norm(norm), True) if dims else x.clone()


def ifftn(input: Any, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Any:
    """The inverse of fftn."""
    dims, sizes = _places(input, s, dim)
    x = _resized(_complex(input), dims, sizes)
    return _c2c(x, tuple(dims), _norm(norm), False) if dims else x.clone()


def rfftn(input: Any, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Any:
    """fftn of real numbers: of the last dimension only the first half, n // 2 + 1 points."""
    dims, sizes = _places(input, s, dim)
    _require_dims(dims, "rfftn")
    x = _r2c(_resized(_real(input, "rfftn"), dims, sizes), dims[-1], _norm(norm))
    return _c2c(x, tuple(dims[:-1]), _norm(norm), True, dims[-1]) if dims[1:] else x


def irfftn(input: Any, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Any:
    """The inverse of rfftn: real numbers; the last size is 2 * (m - 1) unless given."""
    dims, sizes = _places(input, s, dim)
    _require_dims(dims, "irfftn")
    x, last = _complex(input), sizes[-1]
    size = 2 * (x.shape[dims[-1]] - 1) if last is None or last == -1 else last
    _require_points(size)
    x = _resized(x, dims, [*sizes[:-1], size // 2 + 1])
    if dims[1:]:
        x = _c2c(x, tuple(dims[:-1]), _norm(norm), False)
    return _c2r(x, dims[-1], size, _norm(norm))


def hfftn(input: Any, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Any:
    """The real transform of a half spectrum whose other half is its conjugate."""
    return irfftn(_complex(input).conj(), s, dim, OPPOSITE[_norm(norm)])


def ihfftn(input: Any, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Any:
    """The inverse of hfftn: half a spectrum from real numbers."""
    dims, sizes = _places(input, s, dim)
    _require_dims(dims, "ihfftn")
    real = _resized(_real(input, "ihfftn"), dims, sizes)
    x = _r2c(real, dims[-1], OPPOSITE[_norm(norm)]).conj()
    return _c2c(x, tuple(dims[:-1]), _norm(norm), False) if dims[1:] else x


def _require_dims(dims: list[int], name: str) -> None:
    if not dims:
        raise OperationError(
            f"{name}() over no dimension", f"{name} must transform at least one axis"
        )


def _of_one(several: Callable, name: str, doc: str) -> Callable:
    def transform(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
        normalize_dim(dim, input.ndim)
        return several(input, None if n is None else (n,), (dim,), norm)

    return _named(transform, name, doc)


def _of_two(several: Callable, name: str, doc: str) -> Callable:
    def transform(
        input: Any, s: Sizes = None, dim: Sizes = (-2, -1), norm: str | None = None
    ) -> Any:
        return several(input, s, dim, norm)

    return _named(transform, name, doc)


def _named(function: Callable, name: str, doc: str) -> Callable:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


fft = _of_one(fftn, "fft", "The Fourier transform along a dimension, of `n` points.")
ifft = _of_one(ifftn, "ifft", "The inverse of fft.")
rfft = _of_one(rfftn, "rfft", "The first half of the transform of real numbers.")
irfft = _of_one(irfftn, "irfft", "`n` real numbers from the first half of their transform.")
hfft = _of_one(hfftn, "hfft", "The real transform of half a signal that mirrors itself.")
ihfft = _of_one(ihfftn, "ihfft", "The inverse of hfft.")
fft2 = _of_two(fftn, "fft2", "fftn over the last two dimensions.")
ifft2 = _of_two(ifftn, "ifft2", "ifftn over the last two dimensions.")
rfft2 = _of_two(rfftn, "rfft2", "rfftn over the last two dimensions.")
irfft2 = _of_two(irfftn, "irfft2", "irfftn over the last two dimensions.")
hfft2 = _of_two(hfftn, "hfft2", "hfftn over the last two dimensions.")
ihfft2 = _of_two(ihfftn, "ihfft2", "ihfftn over the last two dimensions.")


def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, **more: Any) -> Any:
    """The frequency of each point of fft, in cycles per unit of `d`, the distance of samples."""
    wanted = dtype or dtypes.get_default_dtype()
    places = arange(n, device=device)
    found = (places - (places >= (n + 1) // 2).long() * n).to(wanted) / (n * d)
    return found.requires_grad_() if more.get("requires_grad") else found


def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, **more: Any) -> Any:
    """The frequency of each point of rfft, in cycles per unit of `d`."""
    found = arange(n // 2 + 1, dtype=dtype or dtypes.get_default_dtype(), device=device) / (n * d)
    return found.requires_grad_() if more.get("requires_grad") else found


def _shifted(input: Any, dim: Sizes, shift: Callable[[int], int]) -> Any:
    dims = list(range(input.ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    return _roll(input, tuple(shift(input.shape[d]) for d in dims), tuple(dims))


def fftshift(input: Any, dim: Sizes = None) -> Any:
    """The zero frequency moved to the middle."""
    return _shifted(input, dim, lambda size: size // 2)


def ifftshift(input: Any, dim: Sizes = None) -> Any:
    """The inverse of fftshift."""
    return _shifted(input, dim, lambda size: (size + 1) // 2)
