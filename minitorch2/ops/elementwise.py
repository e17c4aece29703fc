"""Pointwise rows of one operand: sign, rounding, exponentials, trigonometry, conversion.

In: a tensor. Out: a tensor of the same shape. Functions defined on real numbers turn integers into
the default floating dtype.

Source: torch's documentation of each function.
"""

import math

import numpy

from minitorch2.backends import primitives
from minitorch2.backends.row_kernels import RowKernel
from minitorch2.dispatch import call
from minitorch2.ops.arithmetic import WHERE, where
from minitorch2.ops.conversions import converted
from minitorch2.ops.table import POINTWISE, Meta, Op, defop
from minitorch2.ops.views import zeros_of


def _float(name, expr, vjp, saves, doc, eager=None, accepts="bifc"):
    defop(
        f"{name}(Operand self) -> Tensor",
        POINTWISE,
        promote="float",
        accepts=accepts,
        expr=expr,
        eager=eager or primitives.function(name),
        saves=saves,
        vjp=vjp,
        doc=doc,
    )


_float("exp", "exp(self)", lambda s, g: g * s.result, "result", "e to the power self.")
_float(
    "exp2",
    "exp2(self)",
    lambda s, g: g * (s.result * math.log(2)),
    "result",
    "2 to the power self.",
)
_float(
    "expm1",
    "expm1(self)",
    lambda s, g: g * (s.result + 1),
    "result",
    "exp(self) - 1, exact near zero.",
)
_float("log", "log(self)", lambda s, g: g / s.self, "self", "Natural logarithm.")
_float(
    "log2", "log2(self)", lambda s, g: g / (s.self * math.log(2)), "self", "Logarithm to base 2."
)
_float(
    "log10",
    "log10(self)",
    lambda s, g: g / (s.self * math.log(10)),
    "self",
    "Logarithm to base 10.",
)
_float(
    "log1p", "log1p(self)", lambda s, g: g / (s.self + 1), "self", "log(1 + self), exact near zero."
)
_float("sin", "sin(self)", lambda s, g: g * s.self.cos(), "self", "Sine of an angle in radians.")
_float(
    "cos", "cos(self)", lambda s, g: -(g * s.self.sin()), "self", "Cosine of an angle in radians."
)
_float("tan", "tan(self)", lambda s, g: g * (1 + s.result * s.result), "result", "Tangent.")
_float("asin", "asin(self)", lambda s, g: g * (1 - s.self * s.self).rsqrt(), "self", "Arcsine.")
_float(
    "acos", "acos(self)", lambda s, g: -(g * (1 - s.self * s.self).rsqrt()), "self", "Arccosine."
)
_float("atan", "atan(self)", lambda s, g: g / (1 + s.self * s.self), "self", "Arctangent.")
_float("sinh", "sinh(self)", lambda s, g: g * s.self.cosh(), "self", "Hyperbolic sine.")
_float("cosh", "cosh(self)", lambda s, g: g * s.self.sinh(), "self", "Hyperbolic cosine.")
_float(
    "tanh",
    "tanh(self)",
    lambda s, g: g * (1 - s.result * s.result),
    "result",
    "Hyperbolic tangent.",
)
_float(
    "sigmoid",
    "sigmoid(self)",
    lambda s, g: g * ((1 - s.result) * s.result),
    "result",
    "1 / (1 + exp(-self)).",
)
_float(
    "erf",
    "erf(self)",
    lambda s, g: g * ((s.self * -s.self).exp() * (2 / math.sqrt(math.pi))),
    "self",
    "The error function.",
    accepts="bif",
)
_float(
    "sqrt",
    "sqrt(self)",
    lambda s, g: g / (s.result * 2),
    "result",
    "Square root.",
    eager=numpy.sqrt,
)
_float(
    "rsqrt",
    "rsqrt(self)",
    lambda s, g: g * (s.result * s.result * s.result * -0.5),
    "result",
    "1 / sqrt(self).",
    eager=lambda a: numpy.divide(1, numpy.sqrt(a), dtype=a.dtype),
)
_float(
    "reciprocal",
    "1 / self",
    lambda s, g: -g * (s.result * s.result),
    "result",
    "1 / self.",
    eager=lambda a: numpy.divide(1, a, dtype=a.dtype),
)

defop(
    "neg(Operand self) -> Tensor",
    POINTWISE,
    eager=numpy.negative,
    expr="-self",
    accepts="ifc",
    vjp=lambda s, g: -g,
    doc="The negative.",
    exact="always",
    refuses={
        "b": "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
        "invert a mask, use the `~` or `logical_not()` operator instead."
    },
)
defop(
    "abs(Operand self) -> Tensor",
    POINTWISE,
    eager=numpy.abs,
    expr="abs(self)",
    promote="real",
    accepts="ifc",
    saves="self",
    conjugates=False,
    vjp=lambda s, g: g * s.self.sgn(),
    doc="The absolute value.",
    exact="always",
)


def _sign(a):
    if a.dtype.kind == "b":
        return a.copy("K")
    return numpy.greater(a, 0).astype(a.dtype) - numpy.less(a, 0).astype(a.dtype)


def _sgn(a):
    if a.dtype.kind != "c":
        return _sign(a)
    size = numpy.abs(a)
    return numpy.where(numpy.equal(size, 0), a.dtype.type(0), a / size)


def _sgn_vjp(s, g):
    """For z / |z|: what is left of the gradient beside the direction of z, divided by |z|."""
    if not s.self.dtype.is_complex:
        return zeros_of(g, g)
    size = s.self.abs()
    safe = where(size == 0, 1.0, size)
    along = (g * s.result.conj()).real
    return where(size == 0, 0.0, (g - s.result * along) / safe)


defop(
    "sign(Operand self) -> Tensor",
    POINTWISE,
    eager=_sign,
    expr="sign(self)",
    vjp=lambda s, g: zeros_of(g, g),
    doc="-1, 0 or 1.",
    exact="always",
    refuses={
        "c": "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use "
        "torch.sgn instead."
    },
)
defop(
    "sgn(Operand self) -> Tensor",
    POINTWISE,
    eager=_sgn,
    expr="sign(self)",
    accepts="bifc",
    saves="self result",
    conjugates=False,
    vjp=_sgn_vjp,
    doc="-1, 0 or 1; of a complex number the number of absolute value 1 in its direction, or 0.",
    exact="always",
)


def _identity_for_integers(function):
    return lambda a: a.copy("K") if a.dtype.kind in "iub" else function(a)


for _name, _function in (
    ("floor", numpy.floor),
    ("ceil", numpy.ceil),
    ("trunc", numpy.trunc),
    ("round", numpy.rint),
):
    defop(
        f"{_name}(Operand self) -> Tensor",
        POINTWISE,
        eager=_identity_for_integers(_function),
        expr=f"{_name}(self)",
        accepts="ifu",
        exact="always",
        vjp=lambda s, g: zeros_of(g, g),
        doc=f"Rounding: {_name} (halves to even).",
    )

defop(
    "logical_not(Operand self) -> Tensor",
    POINTWISE,
    eager=numpy.logical_not,
    expr="self == 0",
    promote="bool",
    accepts="bifc",
    doc="Whether the element is zero or False.",
)
defop(
    "bitwise_not(Operand self) -> Tensor",
    POINTWISE,
    eager=numpy.invert,
    expr="~self",
    accepts="bi",
    doc="The bits inverted (bools negated).",
    exact="always",
)
defop(
    "isnan(Operand self) -> Tensor",
    POINTWISE,
    eager=lambda a: numpy.not_equal(a, a),
    expr="self != self",
    promote="bool",
    accepts="bifceu",
    doc="Whether the element is not a number.",
)
defop(
    "isinf(Operand self) -> Tensor",
    POINTWISE,
    eager=lambda a: numpy.isinf(a),
    expr="isinf(self)",
    promote="bool",
    accepts="bifcu",
    doc="Whether the element is infinite.",
)
defop(
    "isfinite(Operand self) -> Tensor",
    POINTWISE,
    eager=lambda a: numpy.isfinite(a),
    expr="isfinite(self)",
    promote="bool",
    accepts="bifcu",
    doc="Whether the element is neither infinite nor nan.",
)


def _numpy_relu(a):
    return numpy.maximum(a.dtype.type(0), a)  # of equal zeros numpy gives the second


_relu = RowKernel("relu", _numpy_relu, 1 << 12)  # numpy's maximum of a number is no vector code


def _relu_vjp(s, g):
    return call(WHERE, (s.result <= 0, 0.0, g))


RELU = defop(
    "relu(Operand self) -> Tensor",
    POINTWISE,
    eager=_relu,
    expr="maximum(self, 0)",
    accepts="if",
    saves="result",
    vjp=_relu_vjp,
    doc="max(self, 0); nan stays nan.",
)


def converted_back(g, wanted):
    """The gradient of what was converted: a real number is the real part of what it becomes."""
    g = g.real if g.dtype.is_complex and not wanted.is_complex else g
    return g if g.dtype is wanted else call(CONVERT, (g, wanted))


def _infer_convert(self, dtype):
    return Meta(tuple(self.shape), dtype)


CONVERT: Op = defop(
    "convert(Tensor self, dtype dtype) -> Tensor",
    POINTWISE,
    eager=lambda a, dtype: converted(a, dtype.numpy),
    expr="convert(self)",
    promote="convert",
    infer=_infer_convert,
    conjugates=False,
    vjp=lambda s, g: converted_back(g, s.self.dtype),
    method=False,
    function=False,
    doc="The elements in another dtype.",
)

# What a write under no_grad leaves in a functional graph: other data, same history.
defop(
    "rebase(Tensor self, Tensor data) -> Tensor",
    POINTWISE,
    eager=lambda a, data: data.copy(),
    infer=lambda self, data: Meta(tuple(data.shape), data.dtype),
    expr="data",
    promote="rebase",
    vjp=lambda s, g: (g, None),
    method=False,
    function=False,
    doc="The elements of `data` with the history of `self`.",
)
