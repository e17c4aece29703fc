"""Rows of complex numbers: their parts, conjugates and angles, and real numbers put together.

In: complex tensors, or the real tensors they are made of. Out: views of the parts (`view_as_real`,
and by it `real` and `imag`, share the memory and can be written), or new tensors. `conj` computes:
its result has memory of its own, where torch's is a lazy view.

    >>> import minitorch2 as torch
    >>> torch.view_as_real(torch.tensor([1 + 2j]))
    tensor([[1., 2.]])

Source: torch's "Complex Numbers" notes; Note [Complex gradients] in autograd/graph.py.
"""

import numpy

from minitorch2.dispatch import call
from minitorch2.errors import DtypeError, ShapeError, ViewError
from minitorch2.layouts import Layout, broadcast_shapes
from minitorch2.ops.arithmetic import where
from minitorch2.ops.composites import composite
from minitorch2.ops.infer import describe_value
from minitorch2.ops.table import POINTWISE, VIEW, defop, lookup
from minitorch2.ops.views import zeros_of


def _op(name, *args):
    return call(lookup(name), args)


# ---- views -----------------------------------------------------------------------------------


def _real_element(base):
    if not base.is_complex:
        raise DtypeError(
            f"view_as_real() of a tensor of dtype {base}",
            "view_as_real is only supported for complex tensors",
            "a real tensor has no parts to see",
        )
    return base.to_real()


def _complex_element(base):
    if base.short not in ("f32", "f64"):
        raise DtypeError(
            f"view_as_complex() of a tensor of dtype {base}",
            "view_as_complex is only supported for floating point tensors of 32 or 64 bits",
            "convert it first: x.float()",
        )
    return base.to_complex()


def _pairs(layout):
    """Each element as two, half as long: a last dimension of size 2."""
    strides = tuple(stride * 2 for stride in layout.strides)
    return Layout((*layout.shape, 2), (*strides, 1), layout.offset * 2)


def _from_pairs(layout):
    shape, strides = layout.shape, layout.strides
    asked = f"view_as_complex() of shape {list(shape)} with strides {list(strides)}"
    if not shape or shape[-1] != 2:
        raise ShapeError(
            asked,
            "Tensor must have a last dimension of size 2",
            "stack the real and the imaginary parts along the last dimension",
        )
    if strides[-1] != 1:
        raise ViewError(
            asked, "Tensor must have a last dimension with stride 1", "call .contiguous() first"
        )
    if layout.offset % 2 or any(
        stride % 2 for size, stride in zip(shape[:-1], strides[:-1], strict=True) if size != 1
    ):
        raise ViewError(
            asked,
            "Tensor must have a stride divisible by 2 for all but last dimension, and an even "
            "storage_offset",
            "call .contiguous() first",
        )
    halves = tuple(stride // 2 for stride in strides[:-1])
    return Layout(shape[:-1], halves, layout.offset // 2)


def _as_complex(pairs):
    return _op("view_as_complex", pairs.contiguous())


defop(
    "view_as_real(Tensor(a) self) -> Tensor(a)",
    VIEW,
    view=_pairs,
    element=_real_element,
    method=False,
    inverse=lambda base, value: _as_complex(value),
    vjp=lambda s, g: _as_complex(g),
    doc="Complex numbers as pairs of real ones: a new last dimension of size 2.",
)
defop(
    "view_as_complex(Tensor(a) self) -> Tensor(a)",
    VIEW,
    view=_from_pairs,
    element=_complex_element,
    method=False,
    inverse=lambda base, value: _op("view_as_real", value),
    vjp=lambda s, g: _op("view_as_real", g),
    doc="Pairs of real numbers (a last dimension of size 2) as complex ones.",
)


def _part(which):
    return lambda self: _op("select", _op("view_as_real", self), -1, which)


_REAL, _IMAGINARY = _part(0), _part(1)


def _imag(self):
    if not self.dtype.is_complex:
        raise DtypeError(
            f"imag of {describe_value(self)}",
            "imag is not implemented for tensors with non-complex dtypes.",
            "a real tensor has no imaginary part",
        )
    return _IMAGINARY(self)


composite(
    "real(Tensor(a) self) -> Tensor(a)",
    lambda self: _REAL(self) if self.dtype.is_complex else self,
    "The real parts: a view; a real tensor itself.",
    method=False,
)
composite(
    "imag(Tensor(a) self) -> Tensor(a)",
    _imag,
    "The imaginary parts: a view.",
    method=False,
)

# ---- from real numbers -----------------------------------------------------------------------


def _check_parts(name, real, imag):
    asked = f"{name}({describe_value(real)}, {describe_value(imag)})"
    if real.dtype.short not in ("f32", "f64", "f16"):
        raise DtypeError(
            asked,
            f"Expected both inputs to be Half, Float or Double tensors but got {real.dtype} and "
            f"{imag.dtype}",
            "convert them first: x.float()",
        )
    if real.dtype is not imag.dtype:
        raise DtypeError(
            asked,
            f"Expected object of scalar type {real.dtype} but got scalar type {imag.dtype} for "
            "second argument",
            "convert one of them",
        )
    if real.dtype.itemsize == 2:
        raise DtypeError(
            asked, "minitorch2 has no complex numbers of 16-bit parts", "convert them: x.float()"
        )


def _joined(real, imag):
    if real.layout.shape != imag.layout.shape:
        shape = broadcast_shapes(tuple(real.layout.shape), tuple(imag.layout.shape))
        real, imag = _op("expand", real, shape), _op("expand", imag, shape)
    return _op("view_as_complex", _op("stack", (real, imag), -1))


def _complex(real, imag):
    _check_parts("complex", real, imag)
    return _joined(real, imag)


composite(
    "complex(Tensor real, Tensor imag) -> Tensor",
    _complex,
    "Complex numbers from their real and imaginary parts.",
    method=False,
)


def _polar(abs, angle):
    _check_parts("polar", abs, angle)
    return _joined(abs * angle.cos(), abs * angle.sin())


composite(
    "polar(Tensor abs, Tensor angle) -> Tensor",
    _polar,
    "Complex numbers from their absolute values and angles (in radians).",
    method=False,
)

# ---- conjugates and angles -------------------------------------------------------------------

defop(
    "conjugate(Operand self) -> Tensor",
    POINTWISE,
    eager=numpy.conjugate,
    expr="self",  # of real numbers: kernels leave complex ones to numpy
    accepts="c",
    conjugates=False,
    vjp=lambda s, g: _op("conjugate", g),
    method=False,
    function=False,
    torch="torch.conj_physical",
    doc="Complex numbers with their imaginary parts negated.",
)
for _name in ("conj", "conj_physical"):
    composite(
        f"{_name}(Tensor(a) self) -> Tensor(a)",
        lambda self: _op("conjugate", self) if self.dtype.is_complex else self,
        "The conjugate: imaginary parts negated; a real tensor itself.",
    )
for _name in ("resolve_conj", "resolve_neg"):
    composite(
        f"{_name}(Tensor(a) self) -> Tensor(a)",
        lambda self: self,
        "The tensor itself: no conjugate or negative is ever put off.",
    )
composite(
    "adjoint(Tensor(a) self) -> Tensor(a)",
    lambda self: _op("conj", _op("transpose", self, -2, -1) if self.ndim else self),
    "The conjugate of the matrices' transposes.",
)


def _isreal(self):
    if self.dtype.is_complex:
        return _IMAGINARY(self) == 0
    return _op("logical_or", _op("eq", self, self), True)


composite(
    "isreal(Tensor self) -> Tensor",
    _isreal,
    "Whether the imaginary part is zero.",
)


def _angle(a):
    if a.dtype.kind == "c":
        return numpy.angle(a)
    pi, zero = a.dtype.type(numpy.pi), a.dtype.type(0)
    return numpy.where(numpy.isnan(a), a, numpy.where(numpy.less(a, 0), pi, zero))


def _angle_vjp(s, g):
    """The angle of z grows along iz, by 1 / |z| for each step of length 1."""
    z = s.self
    if not z.dtype.is_complex:
        return zeros_of(g, g)
    size = z.abs()
    square = where(size == 0, 1.0, size * size)
    return where(size == 0, 0.0, (g / square) * (z * 1j))


defop(
    "phase(Operand self) -> Tensor",
    POINTWISE,
    eager=_angle,
    expr="select(self != self, self, select(self < 0, 3.141592653589793, minimum(abs(self), 0)))",
    promote="real float",
    accepts="bifc",
    saves="self",
    conjugates=False,
    vjp=_angle_vjp,
    method=False,
    function=False,
    torch="torch.angle",
    doc="The angle of the complex number in radians; 0 or pi for a real one.",
)
composite(
    "angle(Tensor self) -> Tensor",
    lambda self: _op("phase", self.contiguous() if self.dtype.is_complex else self),
    "The angle of the complex number in radians, row-major; 0 or pi for a real one.",
)
