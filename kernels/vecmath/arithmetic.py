"""Choices, rounding, division and bits: the exact helpers, with torch's rules.

In and out: scalars of one type. NaN wins in minimum and maximum; remainder has the sign of the
divisor; an integer divided by zero gives 0 (a kernel checks first and sets its status).

>>> remainder(-7, 3), truncate_divide(-7, 3), floor_divide(-7, 3)
(np.int64(2), np.int64(-2), np.int64(-3))
>>> maximum(1.0, float("nan")), fmax(1.0, float("nan"))
(np.float64(nan), np.float64(1.0))

Source: https://docs.pytorch.org/docs/stable/generated/torch.remainder.html
"""

from typing import Any

from minitorch2.kernels.vecmath import primitives as p
from minitorch2.kernels.vecmath.helpers import ANY, FLOATS, INTEGERS, NUMBERS, helper


@helper(accepts=ANY, fixed=("bool", "", ""))
def select(c: Any, a: Any, b: Any) -> Any:
    """`a` where `c` holds, else `b`, without a branch."""
    return p.select(c, a, b)


@helper(accepts=ANY)
def minimum(a: Any, b: Any) -> Any:
    """The smaller, of equal ones the first; NaN when either is NaN."""
    if p.type_of(a) == "bool":
        return a & b
    return p.select((b < a) | (b != b), b, a)


@helper(accepts=ANY)
def maximum(a: Any, b: Any) -> Any:
    """The larger, of equal ones the first; NaN when either is NaN."""
    if p.type_of(a) == "bool":
        return a | b
    return p.select((b > a) | (b != b), b, a)


@helper(accepts=NUMBERS)
def fmin(a: Any, b: Any) -> Any:
    """The smaller; a NaN gives way to a number."""
    return p.select((a < b) | (b != b), a, b)


@helper(accepts=NUMBERS)
def fmax(a: Any, b: Any) -> Any:
    """The larger; a NaN gives way to a number."""
    return p.select((a > b) | (b != b), a, b)


@helper(accepts=NUMBERS)
def negative(x: Any) -> Any:
    """-x; integers wrap."""
    return -x


@helper(accepts=NUMBERS)
def absolute(x: Any) -> Any:
    """x without its sign; the smallest integer stays itself."""
    kind = p.type_of(x)
    if kind in FLOATS:
        return p.fabs(x)
    return x if kind[0] == "u" else p.select(x < 0, -x, x)


@helper(accepts=NUMBERS)
def sign(x: Any) -> Any:
    """-1, 0 or 1; NaN gives 0 and -0.0 gives 0, as torch."""
    zero, one = p.constant(x, 0), p.constant(x, 1)
    below = zero if p.type_of(x)[0] == "u" else p.select(x < 0, -one, zero)
    return p.select(x > 0, one, below)


@helper()
def copysign(a: Any, b: Any) -> Any:
    """The size of `a` with the sign of `b`."""
    return p.copysign(a, b)


@helper()
def fma(a: Any, b: Any, c: Any) -> Any:
    """`a * b + c` rounded once."""
    return p.fma(a, b, c)


@helper()
def sqrt(x: Any) -> Any:
    """The square root, correctly rounded."""
    return p.sqrt(x)


@helper()
def rsqrt(x: Any) -> Any:
    """1 / sqrt(x)."""
    return 1.0 / p.sqrt(x)


@helper()
def reciprocal(x: Any) -> Any:
    """1 / x."""
    return 1.0 / x


@helper()
def floor(x: Any) -> Any:
    """The largest whole number not above x."""
    return p.floor(x)


@helper()
def ceil(x: Any) -> Any:
    """The smallest whole number not below x."""
    return p.ceil(x)


@helper()
def trunc(x: Any) -> Any:
    """x without its fraction."""
    return p.trunc(x)


@helper()
def round(x: Any) -> Any:
    """The nearest whole number, ties to even."""
    return p.rint(x)


@helper(returns="bool")
def isnan(x: Any) -> Any:
    """Whether x is NaN."""
    return x != x


@helper(returns="bool")
def isinf(x: Any) -> Any:
    """Whether x is an infinity."""
    return p.fabs(x) == float("inf")


@helper(returns="bool")
def isfinite(x: Any) -> Any:
    """Whether x is neither NaN nor an infinity."""
    return p.fabs(x) < float("inf")


@helper(accepts=("bool",))
def logical_not(x: Any) -> Any:
    """The other truth value."""
    return ~x


def _guarded(a: Any, b: Any) -> Any:
    """Quotient towards zero that never traps: 0 for b = 0, wrapping for smallest / -1."""
    if p.type_of(a)[0] == "u":
        return p.select(b == 0, b, p.divide(a, p.select(b == 0, 1, b)))
    harmless = p.select((b == 0) | (b == -1), p.constant(b, 1), b)
    quotient = p.divide(a, harmless)
    return p.select(b == 0, b, p.select(b == -1, -a, quotient))


@helper(accepts=NUMBERS)
def fmod(a: Any, b: Any) -> Any:
    """The remainder with the sign of `a` (C's fmod), exact; 0 for an integer b = 0."""
    if p.type_of(a) in FLOATS:
        return _float_rest(a, b)
    return p.select(b == 0, b, a - _guarded(a, b) * b)


def _float_rest(a: Any, b: Any) -> Any:
    """C's fmod of floats: exact, because a quotient below 2^52 is right or one too large.

    a - q b is then a multiple of the last place of b and smaller than b: one fma gives it exactly.
    """
    x, y = p.cast(p.fabs(a), "f64"), p.cast(p.fabs(b), "f64")
    quotient = p.trunc(x / y)
    rest = p.fma(-quotient, y, x)
    rest = p.select(rest < 0.0, rest + y, rest)
    rest = p.copysign(p.cast(rest, p.type_of(a)), a)
    infinity = float("inf")
    rare = (x < infinity) & (((quotient >= 2.0**52) & (y > 0.0)) | (y == infinity))
    return rest if p.left_out(rare) else p.select(rare, p.fmod(a, b), rest)


@helper(accepts=NUMBERS)
def truncate_divide(a: Any, b: Any) -> Any:
    """a / b rounded towards zero."""
    return p.trunc(a / b) if p.type_of(a) in FLOATS else _guarded(a, b)


@helper(accepts=NUMBERS)
def remainder(a: Any, b: Any) -> Any:
    """a - b * floor(a / b): the sign of the divisor, as in Python and torch."""
    rest = fmod(a, b)
    return p.select((rest != 0) & ((b < 0) != (rest < 0)), rest + b, rest)


@helper(accepts=NUMBERS)
def floor_divide(a: Any, b: Any) -> Any:
    """a / b rounded down; floats by way of the exact remainder, as torch does."""
    if p.type_of(a) not in FLOATS:
        quotient = _guarded(a, b)
        rest = a - quotient * b
        down = (rest != 0) & ((b < 0) != (rest < 0)) & (b != 0)
        return p.select(down, quotient - 1, quotient)
    rest = _float_rest(a, b)
    quotient = (a - rest) / b
    quotient = p.select((rest != 0) & ((b < 0) != (rest < 0)), quotient - 1.0, quotient)
    whole = p.floor(quotient)
    whole = p.select(quotient - whole > 0.5, whole + 1.0, whole)
    whole = p.select(quotient == 0.0, p.copysign(p.constant(a, 0.0), a / b), whole)
    return p.select(b == 0.0, a / b, whole)


@helper(accepts=("u64", "u32"))
def udiv(a: Any, b: Any) -> Any:
    """Quotient of sizes and indices; `b` must not be 0."""
    return p.divide(a, b)


@helper(accepts=("u64", "u32"))
def umod(a: Any, b: Any) -> Any:
    """Remainder of sizes and indices; `b` must not be 0."""
    return a - p.divide(a, b) * b


@helper(accepts=INTEGERS)
def shift_right_logical(a: Any, n: Any) -> Any:
    """Shift right, filling with zeros, whatever the sign."""
    kind = p.type_of(a)
    unsigned = "u" + kind[1:]
    return p.cast(p.cast(a, unsigned) >> p.cast(n, unsigned), kind)


@helper(accepts=("f32",), returns="i32")
def bits_f32(x: Any) -> Any:
    """The bits of an f32."""
    return p.bits(x)


@helper(accepts=("f64",), returns="i64")
def bits_f64(x: Any) -> Any:
    """The bits of an f64."""
    return p.bits(x)


@helper(accepts=("i32",), returns="f32")
def f32_bits(x: Any) -> Any:
    """The f32 with these bits."""
    return p.from_bits(x)


@helper(accepts=("i64",), returns="f64")
def f64_bits(x: Any) -> Any:
    """The f64 with these bits."""
    return p.from_bits(x)


min = helper(accepts=ANY, name="min")(minimum)
max = helper(accepts=ANY, name="max")(maximum)
abs = helper(accepts=NUMBERS, name="abs")(absolute)
