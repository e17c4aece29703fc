"""Rows of Fourier transforms, on numpy's: complex to complex, real to half a spectrum, and back.

In: tensors whose transformed dimensions have the wanted sizes already. Out: the transform. `norm`
says which direction divides by the number of points n: 'backward' (the inverse), 'forward', or
'ortho' (both, by its root). torch.fft's functions are made of these in minitorch2/fft.py.

The adjoint of a transform is the opposite one with the other direction's norm.

Source: torch.fft; numpy.fft (Duccio's pocketfft).
"""

import numpy

from minitorch2.dispatch import call
from minitorch2.errors import DtypeError
from minitorch2.layouts import Layout, contiguous_strides, normalize_dim, normalize_dims
from minitorch2.ops.infer import describe_value
from minitorch2.ops.table import LIBRARY, Meta, defop, lookup

OPPOSITE = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
_HOST = "Fourier transforms are numpy's"


def _op(name, *args):
    return call(lookup(name), args)


def _require(self, name, kind, fits):
    if not fits:
        raise DtypeError(
            f"{name}({describe_value(self)})",
            f"{name} expects a {kind} tensor of 32 or 64 bits a part, but got {self.dtype}",
            "convert it first",
        )


def _lays(layout, shape, dim, *others):
    """The transformed dimensions lie innermost; all keep the order that they had in memory."""
    return _innermost(layout, shape, normalize_dims(dim, len(shape)))


def _lays_c2c(layout, shape, dim, norm, forward, last):
    dims = normalize_dims(dim, len(shape))
    return _innermost(layout, shape, dims if last is None else (*dims, last % len(shape)), last)


def _innermost(layout, shape, dims, last=None):
    at = None if last is None else last % len(shape)
    places = range(len(shape))
    order = sorted(places, key=lambda d: (d in dims, d == at, -layout.strides[d], d))
    ordered = contiguous_strides([shape[d] for d in order])
    return Layout(tuple(shape), tuple(ordered[order.index(d)] for d in range(len(shape))), 0)


def _infer_c2c(self, dim, norm, forward, last):
    _require(self, "fft_c2c", "complex", self.dtype.is_complex)
    normalize_dims(dim, self.ndim)
    return Meta(tuple(self.shape), self.dtype)


def _c2c(a, dim, norm, forward, last):
    transform = numpy.fft.fftn if forward else numpy.fft.ifftn
    return transform(a, axes=tuple(dim), norm=norm)


defop(
    "fft_c2c(Tensor self, int[] dim, str norm, bool forward, int? last=None) -> Tensor",
    LIBRARY,
    eager=_c2c,
    infer=_infer_c2c,
    conjugates=False,
    vjp=lambda s, g: _op("fft_c2c", g, s.dim, OPPOSITE[s.norm], not s.forward, None),
    method=False,
    function=False,
    lays=_lays_c2c,
    host=_HOST,
    torch="torch.fft.fftn",
    doc="The Fourier transform of complex numbers over some dimensions, or its inverse; `last` "
    "tells which dimension lies innermost in the result.",
)


def _infer_r2c(self, dim, norm):
    _require(self, "fft_r2c", "real", self.dtype.is_floating_point and self.dtype.itemsize > 2)
    at = normalize_dim(dim, self.ndim)
    shape = tuple(self.shape)
    return Meta((*shape[:at], shape[at] // 2 + 1, *shape[at + 1 :]), self.dtype.to_complex())


def _padded(x, dim, size):
    """Zeros after the end of a dimension, up to a size."""
    at = normalize_dim(dim, x.ndim)
    shape = tuple(x.layout.shape)
    more = (*shape[:at], size - shape[at], *shape[at + 1 :])
    return _op("cat", (x, _op("full", more, 0, x.dtype, x.device)), at)


def _r2c_vjp(s, g):
    whole = _padded(g, s.dim, s.self.shape[s.dim])
    return _op("fft_c2c", whole, (s.dim,), OPPOSITE[s.norm], False, None).real


defop(
    "fft_r2c(Tensor self, int dim, str norm) -> Tensor",
    LIBRARY,
    eager=lambda a, dim, norm: numpy.fft.rfft(a, axis=dim, norm=norm),
    infer=_infer_r2c,
    conjugates=False,
    vjp=_r2c_vjp,
    method=False,
    function=False,
    lays=_lays,
    host=_HOST,
    torch="torch.fft.rfft",
    doc="The first half of the spectrum of real numbers along a dimension: n // 2 + 1 points.",
)


def _infer_c2r(self, dim, size, norm):
    _require(self, "fft_c2r", "complex", self.dtype.is_complex)
    at = normalize_dim(dim, self.ndim)
    shape = tuple(self.shape)
    return Meta((*shape[:at], size, *shape[at + 1 :]), self.dtype.to_real())


def _c2r_vjp(s, g):
    """Each inner point of the half spectrum stands for its conjugate twin too."""
    found = _op("fft_r2c", g, s.dim, OPPOSITE[s.norm])
    half = found.layout.shape[s.dim]
    inner = _op("slice", found, s.dim, 1, s.size - half + 1, 1)
    return _op("slice_scatter", found, inner * 2, s.dim, 1, s.size - half + 1, 1)


defop(
    "fft_c2r(Tensor self, int dim, int size, str norm) -> Tensor",
    LIBRARY,
    eager=lambda a, dim, size, norm: numpy.fft.irfft(a, size, axis=dim, norm=norm),
    infer=_infer_c2r,
    conjugates=False,
    vjp=_c2r_vjp,
    method=False,
    function=False,
    lays=_lays,
    host=_HOST,
    torch="torch.fft.irfft",
    doc="Real numbers, `size` of them, from the first half of their spectrum.",
)
