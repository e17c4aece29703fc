"""Pointwise rows of two operands: arithmetic, comparison, logic, selection.

In: tensors or numbers that broadcast. Out: one tensor. `expr` is each row's definition for one
element, in terms of its parameters; the kernels compile it, `eager` must agree with it.

Example: `lookup("add").expr` is 'self + other * alpha'.
Source: torch's documentation of each function; gradients by the usual calculus.
"""

import math

import numpy

from minitorch2.dispatch import call
from minitorch2.errors import DivisionByZero
from minitorch2.ops.table import POINTWISE, defop


def _add(a, b, alpha):
    return numpy.add(a, b if alpha == 1 else b * numpy.asarray(alpha, _dtype(a, b)))


def _sub(a, b, alpha):
    return numpy.subtract(a, b if alpha == 1 else b * numpy.asarray(alpha, _dtype(a, b)))


def _dtype(a, b):
    return a.dtype if isinstance(a, (numpy.ndarray, numpy.generic)) else b.dtype


defop(
    "add(Operand self, Operand other, *, Scalar alpha=1) -> Tensor",
    POINTWISE,
    eager=_add,
    expr="self + other * alpha",
    vjp=lambda s, g: (g, g if s.alpha == 1 else g * s.alpha),
    doc="Sum of two operands, the second times `alpha`.",
)
defop(
    "sub(Operand self, Operand other, *, Scalar alpha=1) -> Tensor",
    POINTWISE,
    eager=_sub,
    expr="self - other * alpha",
    vjp=lambda s, g: (g, -g if s.alpha == 1 else g * -s.alpha),
    doc="Difference of two operands, the second times `alpha`.",
)
defop(
    "mul(Operand self, Operand other) -> Tensor",
    POINTWISE,
    eager=numpy.multiply,
    expr="self * other",
    saves="self other",
    vjp=lambda s, g: (g * s.other if s.needs[0] else None, g * s.self if s.needs[1] else None),
    doc="Product of two operands, element by element.",
)


def _div_vjp(s, g):
    to_self = g / s.other if s.needs[0] else None
    to_other = -g * ((s.self / s.other) / s.other) if s.needs[1] else None
    return to_self, to_other


defop(
    "true_divide(Operand self, Operand other) -> Tensor",
    POINTWISE,
    eager=numpy.true_divide,
    expr="self / other",
    promote="float",
    saves="self other",
    vjp=_div_vjp,
    doc="Quotient of two operands; integers give the default floating dtype.",
)


def _check_zero(a, b, name):
    if _dtype(a, b).kind in "iub" and numpy.any(numpy.equal(b, 0)):
        raise DivisionByZero(f"{name}(integers)", "ZeroDivisionError: integer division by zero")


def _floor_divide(a, b):
    _check_zero(a, b, "floor_divide")
    return numpy.floor_divide(a, b)


def _trunc_divide(a, b):
    _check_zero(a, b, "div(rounding_mode='trunc')")
    if _dtype(a, b).kind == "f":
        return numpy.trunc(numpy.true_divide(a, b))
    quotient = numpy.floor_divide(a, b)
    inexact = numpy.not_equal(quotient * b, a)
    return quotient + (inexact & ((numpy.less(a, 0)) != numpy.less(b, 0))).astype(quotient.dtype)


def _remainder(a, b):
    _check_zero(a, b, "remainder")
    return numpy.remainder(a, b)


def _fmod(a, b):
    _check_zero(a, b, "fmod")
    return numpy.fmod(a, b)


defop(
    "floor_divide(Operand self, Operand other) -> Tensor",
    POINTWISE,
    eager=_floor_divide,
    expr="floor_divide(self, other)",
    effects="may_fail",
    doc="Quotient rounded towards minus infinity.",
)
defop(
    "trunc_divide(Operand self, Operand other) -> Tensor",
    POINTWISE,
    eager=_trunc_divide,
    expr="trunc_divide(self, other)",
    effects="may_fail",
    function=False,
    method=False,
    doc="Quotient rounded towards zero.",
)
defop(
    "remainder(Operand self, Operand other) -> Tensor",
    POINTWISE,
    eager=_remainder,
    expr="remainder(self, other)",
    effects="may_fail",
    saves="self other",
    vjp=lambda s, g: (g, -g * _quotient(s.self, s.other, "floor")),
    doc="Remainder with the sign of the divisor.",
)
defop(
    "fmod(Operand self, Operand other) -> Tensor",
    POINTWISE,
    eager=_fmod,
    expr="fmod(self, other)",
    effects="may_fail",
    saves="self other",
    vjp=lambda s, g: (g, -g * _quotient(s.self, s.other, "trunc")),
    doc="Remainder with the sign of the dividend.",
)


def _quotient(a, b, rounding):
    """The whole part of a quotient, as the vjp of a remainder needs it (no gradient flows)."""
    return (a / b).floor() if rounding == "floor" else (a / b).trunc()


def _pow(a, b):
    if _dtype(a, b).kind in "iu" and numpy.any(numpy.less(b, 0)):
        wrapped = numpy.where(
            numpy.equal(a, 1),
            1,
            numpy.where(numpy.equal(a, -1), 1 - 2 * (numpy.remainder(b, 2)), 0),
        )
        return numpy.where(numpy.less(b, 0), wrapped, numpy.power(a, numpy.maximum(b, 0)))
    return numpy.power(a, b)


def _pow_vjp(s, g):
    base, exponent = s.self, s.exponent
    to_base = to_exponent = None
    if s.needs[0]:
        if isinstance(exponent, (int, float)):
            if exponent == 0:
                to_base = g * 0
            elif exponent == 1:
                to_base = g * 1
            elif exponent == 2:
                to_base = g * (base * 2)
            else:
                to_base = g * (base ** (exponent - 1) * exponent)
        else:
            to_base = g * where(exponent == 0, 0.0, base ** (exponent - 1) * exponent)
    if s.needs[1]:
        logarithm = s.result * _log(base)
        zero = (base == 0) & (exponent >= 0) if hasattr(base, "dtype") else None
        if zero is not None:
            logarithm = where(zero, 0.0, logarithm)
        elif base == 0:
            logarithm = where(exponent >= 0, 0.0, logarithm)
        to_exponent = g * logarithm
    return to_base, to_exponent


def _log(value):
    if hasattr(value, "dtype"):
        return value.log()
    return math.log(value) if value > 0 else (-math.inf if value == 0 else math.nan)


defop(
    "pow(Operand self, Operand exponent) -> Tensor",
    POINTWISE,
    eager=_pow,
    expr="pow(self, exponent)",
    saves="self exponent result",
    vjp=_pow_vjp,
    doc="`self` to the power `exponent`.",
)
defop(
    "atan2(Operand self, Operand other) -> Tensor",
    POINTWISE,
    eager=numpy.arctan2,
    expr="atan2(self, other)",
    promote="float",
    saves="self other",
    vjp=lambda s, g: (
        g * (s.other / (s.self * s.self + s.other * s.other)),
        g * (-s.self / (s.self * s.self + s.other * s.other)),
    ),
    doc="Angle of the point (other, self).",
)


def _extremum_vjp(s, g):
    """A tie shares the gradient half and half, as torch does."""
    share = where(s.self == s.other, 0.5, 1.0).to(g.dtype)
    mine = (s.self >= s.other) if s.mark == "max" else (s.self <= s.other)
    other = (s.self <= s.other) if s.mark == "max" else (s.self >= s.other)
    return g * where(mine, share, 0.0), g * where(other, share, 0.0)


def _maximum_vjp(s, g):
    s.__dict__["mark"] = "max"
    return _extremum_vjp(s, g)


def _minimum_vjp(s, g):
    s.__dict__["mark"] = "min"
    return _extremum_vjp(s, g)


defop(
    "maximum(Operand self, Operand other) -> Tensor",
    POINTWISE,
    eager=numpy.maximum,
    expr="maximum(self, other)",
    saves="self other",
    vjp=_maximum_vjp,
    doc="The larger of two elements; nan when either is nan.",
)
defop(
    "minimum(Operand self, Operand other) -> Tensor",
    POINTWISE,
    eager=numpy.minimum,
    expr="minimum(self, other)",
    saves="self other",
    vjp=_minimum_vjp,
    doc="The smaller of two elements; nan when either is nan.",
)

for _name, _function, _symbol in (
    ("eq", numpy.equal, "=="),
    ("ne", numpy.not_equal, "!="),
    ("lt", numpy.less, "<"),
    ("le", numpy.less_equal, "<="),
    ("gt", numpy.greater, ">"),
    ("ge", numpy.greater_equal, ">="),
):
    defop(
        f"{_name}(Operand self, Operand other) -> Tensor",
        POINTWISE,
        eager=_function,
        expr=f"self {_symbol} other",
        promote="bool",
        doc=f"Whether self {_symbol} other, element by element.",
    )

for _name, _function, _expr in (
    ("logical_and", numpy.logical_and, "(self != 0) & (other != 0)"),
    ("logical_or", numpy.logical_or, "(self != 0) | (other != 0)"),
    ("logical_xor", numpy.logical_xor, "(self != 0) ^ (other != 0)"),
):
    defop(
        f"{_name}(Operand self, Operand other) -> Tensor",
        POINTWISE,
        eager=_function,
        expr=_expr,
        promote="bool",
        doc=f"{_name.replace('_', ' ').capitalize()} of truth values.",
    )

for _name, _function, _symbol in (
    ("bitwise_and", numpy.bitwise_and, "&"),
    ("bitwise_or", numpy.bitwise_or, "|"),
    ("bitwise_xor", numpy.bitwise_xor, "^"),
    ("bitwise_left_shift", numpy.left_shift, "<<"),
    ("bitwise_right_shift", numpy.right_shift, ">>"),
):
    defop(
        f"{_name}(Operand self, Operand other) -> Tensor",
        POINTWISE,
        eager=_function,
        expr=f"self {_symbol} other",
        doc=f"self {_symbol} other on the bits of integers (or on bools).",
    )


def _where_vjp(s, g):
    return None, where(s.condition, g, 0.0), where(s.condition, 0.0, g)


WHERE = defop(
    "where(Tensor condition, Operand self, Operand other) -> Tensor",
    POINTWISE,
    eager=numpy.where,
    expr="select(condition, self, other)",
    saves="condition",
    vjp=_where_vjp,
    method=False,
    doc="`self` where the condition holds, else `other`.",
)


def where(condition, self, other):
    """`self` where the condition holds, else `other`."""
    return call(WHERE, (condition, self, other))


defop(
    "lerp(Operand self, Operand end, Operand weight) -> Tensor",
    POINTWISE,
    eager=lambda a, b, w: numpy.where(numpy.abs(w) < 0.5, a + w * (b - a), b - (b - a) * (1 - w)),
    expr="select(abs(weight) < 0.5, self + weight * (end - self), "
    "end - (end - self) * (1 - weight))",
    saves="self end weight",
    vjp=lambda s, g: (g * (1 - s.weight), g * s.weight, g * (s.end - s.self)),
    doc="Linear interpolation from `self` to `end`.",
)
