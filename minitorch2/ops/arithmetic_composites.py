"""Composite rows of arithmetic that is seldom needed: hypot, copysign, heaviside, fmax ...

In: tensors that broadcast. Out: one tensor.

Source: torch's documentation of each function.
"""

import math

from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.errors import DtypeError
from minitorch2.ops.composites import composite, rounded_together
from minitorch2.ops.infer import describe_value
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor


def _op(name, *args):
    return call(lookup(name), args)


def _float(x):
    return x if x.dtype.differentiable else x.to(dtypes.get_default_dtype())


def _signbit(x):
    if x.dtype.letter == "u":  # none has a sign, and none an order
        return x != x
    if not x.dtype.is_floating_point:
        return x < 0
    # 1 / -0.0 is -inf
    return _op("where", x == 0, 1 / x < 0, x < 0)


def _copysign(self, other):
    self = _float(self)
    if isinstance(other, Tensor):
        self = self.to(dtypes.result_type(self, other))
    negative = other.signbit() if isinstance(other, Tensor) else math.copysign(1, other) < 0
    size = _op("where", _signbit(self), -self, self)
    if isinstance(negative, bool):
        return -size if negative else size
    return _op("where", negative, -size, size)


def _together(self, other):
    """Two operands in the dtype both are promoted to."""
    wide = dtypes.result_type(self, other)
    return (x.to(wide) if isinstance(x, Tensor) else x for x in (self, other))


def _hypot(self, other):
    self, other = _together(self, other)
    square = self * self + other * other
    safe = _op("where", square == 0, 1.0, square)
    return _op("where", square == 0, 0.0, safe.sqrt())


def _numbers_first(holds):
    """fmax and fmin: a nan loses against a number, and equal elements are the first's."""

    def pick(self, other):
        first = _op("logical_or", _op(holds, self, other), _op("isnan", other))
        return _op("where", first, self, other)

    return pick


def _heaviside(self, values):
    if self.dtype is not values.dtype:
        raise DtypeError(
            f"heaviside({describe_value(self)}, {describe_value(values)})",
            "heaviside is not yet implemented for tensors with different dtypes.",
            "convert one of them",
        )
    return _op("where", self == 0, values, (self > 0).to(self.dtype))


composite(
    "signbit(Tensor self) -> Tensor",
    _signbit,
    "Whether the sign is minus (of -0.0 too).",
    accepts="bifu",
    exact="always",
)
composite(
    "copysign(Tensor self, Operand other) -> Tensor",
    _copysign,
    "The absolute value of self with the sign of other.",
    accepts="bifu",
)
composite(
    "hypot(Tensor self, Tensor other) -> Tensor",
    rounded_together(_hypot),
    "sqrt(self ** 2 + other ** 2).",
    accepts="bif",
)
composite(
    "frac(Tensor self) -> Tensor",
    lambda x: x - x.trunc(),
    "The part after the point.",
    exact="always",
)
composite(
    "fmax(Tensor self, Tensor other) -> Tensor",
    _numbers_first("ge"),
    "The larger element; nan only where both are.",
)
composite(
    "fmin(Tensor self, Tensor other) -> Tensor",
    _numbers_first("le"),
    "The smaller element; nan only where both are.",
)
composite(
    "heaviside(Tensor self, Tensor values) -> Tensor",
    _heaviside,
    "0 below zero, 1 above, and `values` at zero.",
)
composite(
    "float_power(Operand self, Operand exponent) -> Tensor",
    lambda a, b: _op("pow", _double(a), _double(b)),
    "The power in double precision.",
)


def _double(x):
    if not isinstance(x, Tensor):
        return x if isinstance(x, complex) else float(x)
    return x.to(dtypes.complex128 if x.dtype.is_complex else dtypes.float64)


composite(
    "isposinf(Tensor self) -> Tensor",
    lambda x: x == math.inf,
    "Whether it is plus infinity.",
    accepts="bifu",
    exact="always",
)
composite(
    "isneginf(Tensor self) -> Tensor",
    lambda x: x == -math.inf,
    "Whether it is minus infinity.",
    accepts="bifu",
    exact="always",
)
composite(
    "rsub(Tensor self, Operand other, *, Scalar alpha=1) -> Tensor",
    lambda a, b, alpha: _op("sub", b, a, alpha),
    "other - alpha * self.",
    method=False,
)
composite(
    "ldexp(Tensor self, Tensor other) -> Tensor",
    lambda a, b: _float(a) * (b if b.dtype.is_floating_point else b.to(_float(a).dtype)).exp2(),
    "self * 2 ** other.",
)
