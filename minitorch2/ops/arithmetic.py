"""Pointwise rows of two operands: arithmetic, comparison, logic, selection.

In: tensors or numbers that broadcast. Out: one tensor. `expr` is each row's definition for one
element, in terms of its parameters; the kernels compile it, `eager` must agree with it.

Example: `lookup("add").expr` is 'self + other * alpha'.
Source: torch's documentation of each function; gradients by the usual calculus.
"""

import cmath
import math

import numpy

from minitorch2.backends.row_kernels import RowKernel
from minitorch2.dispatch import call
from minitorch2.errors import DivisionByZero, DtypeError, OperationError
from minitorch2.ops.infer import describe
from minitorch2.ops.table import POINTWISE, defop, lookup
from minitorch2.ops.views import zeros_of


def _add(a, b, alpha):
    return numpy.add(a, b if alpha == 1 else b * numpy.asarray(alpha, _dtype(a, b)))


def _sub(a, b, alpha):
    return numpy.subtract(a, b if alpha == 1 else b * numpy.asarray(alpha, _dtype(a, b)))


def _dtype(a, b):
    return a.dtype if isinstance(a, (numpy.ndarray, numpy.generic)) else b.dtype


def _whole(a, b):
    """Whether integers (or bools) are computed with."""
    return _dtype(a, b).kind in "iub"


def _is(value, name):
    found = getattr(value, "dtype", None)
    return found.short == name if found is not None else name == "bool" and value is True


def _check_alpha(op, args):
    self, other, alpha = args
    if alpha == 1 and type(alpha) is int:
        return
    if type(alpha) is float and not any(
        type(x) is float or getattr(getattr(x, "dtype", None), "differentiable", False)
        for x in (self, other)
    ):
        raise DtypeError(
            describe(op, args),
            "For integral input tensors, argument alpha must not be a floating point number",
            "give an integer alpha, or convert an operand to a floating dtype",
        )


def _check_sub(op, args):
    for value in args[:2]:
        if type(value) is bool or _is(value, "bool"):
            raise DtypeError(
                describe(op, args),
                "Subtraction, the `-` operator, with a bool tensor is not supported",
                "use `^` or logical_xor for bools, `~` to invert a mask, or convert with .int()",
            )
    _check_alpha(op, args)


defop(
    "add(Operand self, Operand other, *, Scalar alpha=1) -> Tensor",
    POINTWISE,
    accepts="bifc",
    eager=_add,
    usual=numpy.add,
    expr="self + other * alpha",
    vjp=lambda s, g: (g, g if s.alpha == 1 else g * s.alpha),
    check=_check_alpha,
    doc="Sum of two operands, the second times `alpha`.",
)
defop(
    "sub(Operand self, Operand other, *, Scalar alpha=1) -> Tensor",
    POINTWISE,
    accepts="bifc",
    eager=_sub,
    usual=numpy.subtract,
    expr="self - other * alpha",
    vjp=lambda s, g: (g, -g if s.alpha == 1 else g * -s.alpha),
    check=_check_sub,
    doc="Difference of two operands, the second times `alpha`.",
)
defop(
    "mul(Operand self, Operand other) -> Tensor",
    POINTWISE,
    accepts="bifcu",
    eager=numpy.multiply,
    expr="self * other",
    wide="other",
    saves="self:other other:self",
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
    accepts="bifc",
    eager=numpy.true_divide,
    expr="self / other",
    promote="float",
    wide="other",
    saves="self:other other",
    vjp=_div_vjp,
    doc="Quotient of two operands; integers give the default floating dtype.",
)


def _check_zero(a, b, name):
    if not _whole(a, b) or not numpy.any(numpy.equal(b, 0)):
        return
    if all(numpy.broadcast_shapes(numpy.shape(a), numpy.shape(b))):  # nothing divides by nothing
        raise DivisionByZero(f"{name}(integers)", "ZeroDivisionError: integer division by zero")


def _floor_divide(a, b):
    """For floats from the exact remainder, so that rounding of a / b cannot miss a whole number."""
    _check_zero(a, b, "floor_divide")
    if _whole(a, b):
        return numpy.floor_divide(a, b)
    rest = numpy.fmod(a, b)
    quotient = (a - rest) / b
    down = numpy.not_equal(rest, 0) & (numpy.less(b, 0) != numpy.less(rest, 0))
    quotient = numpy.where(down, quotient - 1, quotient).astype(rest.dtype)
    floored = numpy.floor(quotient)
    floored = numpy.where(numpy.greater(quotient - floored, 0.5), floored + 1, floored)
    signed_zero = numpy.copysign(numpy.zeros_like(rest), numpy.true_divide(a, b))
    result = numpy.where(numpy.equal(quotient, 0), signed_zero, floored)
    return numpy.where(numpy.equal(b, 0), numpy.true_divide(a, b), result).astype(rest.dtype)


def _trunc_divide(a, b):
    _check_zero(a, b, "div(rounding_mode='trunc')")
    if not _whole(a, b):
        return numpy.trunc(numpy.true_divide(a, b))
    quotient = numpy.floor_divide(a, b)
    inexact = numpy.not_equal(quotient * b, a)
    return quotient + (inexact & ((numpy.less(a, 0)) != numpy.less(b, 0))).astype(quotient.dtype)


def _remainder(a, b):
    _check_zero(a, b, "remainder")
    if _whole(a, b):
        return numpy.remainder(a, b)
    rest = numpy.fmod(a, b)
    other_side = numpy.not_equal(rest, 0) & (numpy.less(b, 0) != numpy.less(rest, 0))
    return numpy.where(other_side, rest + b, rest).astype(rest.dtype)


def _fmod(a, b):
    _check_zero(a, b, "fmod")
    return numpy.fmod(a, b)


def _no_slope(s, g):
    """The gradient of a function that is constant between its jumps: zeros, whatever `g` is."""
    return zeros_of(g, g), zeros_of(g, g)


defop(
    "floor_divide(Operand self, Operand other) -> Tensor",
    POINTWISE,
    eager=_floor_divide,
    expr="floor_divide(self, other)",
    wide="other",
    accepts="if",
    effects="may_fail",
    vjp=_no_slope,
    doc="Quotient rounded towards minus infinity.",
)
defop(
    "trunc_divide(Operand self, Operand other) -> Tensor",
    POINTWISE,
    eager=_trunc_divide,
    expr="trunc_divide(self, other)",
    accepts="if",
    effects="may_fail",
    vjp=_no_slope,
    torch="torch.div",
    function=False,
    method=False,
    doc="Quotient rounded towards zero.",
)
defop(
    "remainder(Operand self, Operand other) -> Tensor",
    POINTWISE,
    eager=_remainder,
    expr="remainder(self, other)",
    accepts="if",
    effects="may_fail",
    saves="self:other other:other",
    vjp=lambda s, g: _remainder_vjp(s, g, "floor_divide"),
    doc="Remainder with the sign of the divisor.",
)
defop(
    "fmod(Operand self, Operand other) -> Tensor",
    POINTWISE,
    numbers="other",
    eager=_fmod,
    expr="fmod(self, other)",
    accepts="if",
    effects="may_fail",
    saves="self:other other:other",
    vjp=lambda s, g: _remainder_vjp(s, g, "trunc_divide"),
    doc="Remainder with the sign of the dividend.",
)


def _remainder_vjp(s, g, division):
    return g, -g * _divided(division, s.self, s.other) if s.needs[1] else None


def _divided(name, a, b):
    """The whole part of a quotient, as the vjp of a remainder needs it (no gradient flows)."""
    return call(lookup(name), (a, b))


def _check_pow(op, args):
    self, exponent = args
    whole = not self.dtype.differentiable if hasattr(self, "dtype") else False
    if whole and type(exponent) is int and exponent < 0:
        raise OperationError(
            describe(op, args),
            "Integers to negative integer powers are not allowed",
            "convert the base first: x.float() ** -1",
        )


def _numpy_pow(a, b):
    if _dtype(a, b).kind in "iu" and numpy.any(numpy.less(b, 0)):
        wrapped = numpy.where(
            numpy.equal(a, 1),
            1,
            numpy.where(numpy.equal(a, -1), 1 - 2 * (numpy.remainder(b, 2)), 0),
        )
        return numpy.where(numpy.less(b, 0), wrapped, numpy.power(a, numpy.maximum(b, 0)))
    return numpy.power(a, b)


_any_power = RowKernel("pow", _numpy_pow, 1 << 9)  # numpy's takes 100 ns and more for an element


def _pow(a, b):
    if type(b) is not numpy.ndarray and a.dtype.kind == "f":
        if b == 2:
            return numpy.square(a)
        if b == 3:
            found = numpy.square(a)
            return numpy.multiply(found, a, found if type(found) is numpy.ndarray else None)
    return _any_power(a, b)


def _pow_vjp(s, g):
    base, exponent = s.self, s.exponent
    to_base = to_exponent = None
    if s.needs[0]:
        if isinstance(exponent, (int, float, complex)):
            if exponent == 0:
                to_base = zeros_of(g, g)
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
        above = real_part(exponent) >= 0
        zero = (base == 0) & above if hasattr(base, "dtype") else None
        if zero is not None:
            logarithm = where(zero, 0.0, logarithm)
        elif base == 0:
            logarithm = where(above, 0.0, logarithm)
        to_exponent = g * logarithm
    return to_base, to_exponent


def _log(value):
    if hasattr(value, "dtype"):
        return value.log()
    if isinstance(value, complex):
        return cmath.log(value) if value else complex(-math.inf)
    return math.log(value) if value > 0 else (-math.inf if value == 0 else math.nan)


def real_part(value):
    """The real part of a complex tensor or number, else the value."""
    if hasattr(value, "dtype"):
        return value.real if value.dtype.is_complex else value
    return value.real if isinstance(value, complex) else value


defop(
    "pow(Operand self, Operand exponent) -> Tensor",
    POINTWISE,
    eager=_pow,
    expr="pow(self, exponent)",
    accepts="ifc",
    check=_check_pow,
    saves="self exponent result",
    vjp=_pow_vjp,
    doc="`self` to the power `exponent`.",
)
defop(
    "atan2(Operand self, Operand other) -> Tensor",
    POINTWISE,
    numbers="",
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


def _shared(s, g, lost, lost_other):
    """A tie shares the gradient half and half; nan gives it to both, as torch does."""
    g = where(s.self == s.other, g * 0.5, g)
    return where(lost, 0.0, g), where(lost_other, 0.0, g)


def _maximum_vjp(s, g):
    return _shared(s, g, s.self < s.other, s.self > s.other)


def _minimum_vjp(s, g):
    return _shared(s, g, s.self > s.other, s.self < s.other)


# Of equal elements (zeros of either sign) numpy's vector code gives the second, torch the first.
for _name, _function, _slope, _word in (
    ("maximum", lambda a, b: numpy.maximum(b, a), _maximum_vjp, "larger"),
    ("minimum", lambda a, b: numpy.minimum(b, a), _minimum_vjp, "smaller"),
):
    defop(
        f"{_name}(Operand self, Operand other) -> Tensor",
        POINTWISE,
        numbers="",
        eager=RowKernel(_name, _function, 1 << 12),
        expr=f"{_name}(self, other)",
        saves="self other",
        vjp=_slope,
        refuses={"c": f"{_name} not implemented for complex tensors."},
        doc=f"The {_word} of two elements, of equal ones the first; nan when either is nan.",
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
        numbers="other",
        eager=_function,
        expr=f"self {_symbol} other",
        promote="bool",
        accepts="bifceu" if _name in ("eq", "ne") else "bif",
        doc=f"Whether self {_symbol} other, element by element.",
    )

for _name, _logic, _expr in (
    ("logical_and", numpy.logical_and, "(self != 0) & (other != 0)"),
    ("logical_or", numpy.logical_or, "(self != 0) | (other != 0)"),
    ("logical_xor", numpy.logical_xor, "(self != 0) ^ (other != 0)"),
):
    defop(
        f"{_name}(Operand self, Operand other) -> Tensor",
        POINTWISE,
        numbers="",
        eager=_logic,
        expr=_expr,
        promote="bool",
        accepts="bifc",
        doc=f"{_name.replace('_', ' ').capitalize()} of truth values.",
    )

for _name, _bits, _symbol in (
    ("bitwise_and", numpy.bitwise_and, "&"),
    ("bitwise_or", numpy.bitwise_or, "|"),
    ("bitwise_xor", numpy.bitwise_xor, "^"),
    ("bitwise_left_shift", numpy.left_shift, "<<"),
    ("bitwise_right_shift", numpy.right_shift, ">>"),
):
    defop(
        f"{_name}(Operand self, Operand other) -> Tensor",
        POINTWISE,
        eager=_bits,
        expr=f"self {_symbol} other",
        accepts="i" if "shift" in _name else "biu",
        doc=f"self {_symbol} other on the bits of integers (or on bools).",
    )


def _where_vjp(s, g):
    return None, where(s.condition, g, 0.0), where(s.condition, 0.0, g)


def _check_where(op, args):
    if args[0].dtype.short not in ("bool", "u8"):
        raise DtypeError(
            describe(op, args),
            f"where expected condition to be a boolean tensor, but got {args[0].dtype}",
            "compare it: x != 0",
        )


WHERE = defop(
    "where(Tensor condition, Operand self, Operand other) -> Tensor",
    POINTWISE,
    accepts="bifceu",
    eager=RowKernel("where", numpy.where),
    check=_check_where,
    expr="select(condition, self, other)",
    saves="condition",
    vjp=_where_vjp,
    method=False,
    doc="`self` where the condition holds, else `other`.",
    exact="always",
)


def where(condition, self, other):
    """`self` where the condition holds, else `other`."""
    return call(WHERE, (condition, self, other))


def _lerp(a, b, weight):
    """Both formulas only where the weights are an array; else the weight chooses one."""
    if numpy.ndim(weight):
        near, far = a + weight * (b - a), b - (b - a) * (1 - weight)
        return numpy.where(numpy.abs(weight) < 0.5, near, far)
    step = numpy.asarray(b - a)
    near = abs(weight) < 0.5
    step = numpy.multiply(step, weight if near else 1 - weight, out=_own(step))
    return numpy.add(a, step, out=_own(step)) if near else numpy.subtract(b, step, out=_own(step))


def _own(array):
    """An array just made, to be written again; None for a number."""
    return array if array.ndim else None


def _check_lerp(op, args):
    """Unlike the rest of arithmetic, torch promotes nothing here."""
    given = [*args[:2], *([args[2]] if getattr(args[2], "shape", ()) else [])]
    # A pass may have folded an operand to a number, which has no dtype of its own.
    found = {value.dtype for value in given if not isinstance(value, int | float | complex)}
    if len(found) > 1:
        raise DtypeError(
            describe(op, args),
            f"expected dtype {args[0].dtype} for `end` and `weight`, but got "
            f"{', '.join(sorted(str(each) for each in found))}",
            "convert them to one dtype",
        )


defop(
    "lerp(Operand self, Operand end, Operand weight) -> Tensor",
    POINTWISE,
    numbers="weight",
    wide="weight:number",
    accepts="fc",
    check=_check_lerp,
    eager=RowKernel("lerp", _lerp),
    expr="select(abs(weight) < 0.5, self + weight * (end - self), "
    "end - (end - self) * (1 - weight))",
    saves="self end weight",
    vjp=lambda s, g: (g * (1 - s.weight), g * s.weight, g * (s.end - s.self)),
    doc="Linear interpolation from `self` to `end`.",
    exact="always",
)
