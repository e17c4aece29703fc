"""The angle that a very large number comes to: x modulo pi / 2, from the bits of 2 / pi.

In: an f64 of 2^45 or more in size. Out: r, its rounding error and n with x = n pi/2 + r and
|r| <= pi / 4, n modulo 4. Exact integer arithmetic: x = M 2^E, and of the product M (2 / pi) 2^E
only the bits from 2 down matter, which M and 192 bits of 2 / pi determine. The nearest that an f64
comes to a multiple of pi / 2 is 2^-62, so that at least 75 bits of r are right.

>>> import numpy as np
>>> r, error, n = reduce_large(np.float64(1e30))
>>> np.sin(r), n & 3  # sin(1e30) is -sin(r)
(np.float64(-0.009331468931175825), np.int64(2))

Source: M. Payne and R. Hanek, "Radian reduction for trigonometric functions" (1983).
"""

from typing import Any

from minitorch2.kernels.vecmath import primitives as p

HALF_PI = (1.5707963267948966, 6.123233995736766e-17)  # as a sum of two floats
WORD, HALF = 64, 32
MASK = (1 << HALF) - 1
# 2^1207 * 2 / pi, highest word first: nine zeros before the point, for the smallest E.
TWO_OVER_PI = (
    0x00517CC1B727220A, 0x94FE13ABE8FA9A6E, 0xE06DB14ACC9E21C8, 0x20FF28B1D5EF5DE2,
    0xB0DB92371D2126E9, 0x700324977504E8C9, 0x0E7F0EF58E5894D3, 0x9F74411AFA975DA2,
    0x4274CE38135A2FBF, 0x209CC8EB1CC1A99C, 0xFA4E422FC5DEFC94, 0x1D8FFC4BFFEF02CC,
    0x07F79788C5AD0536, 0x8FB69B3F6793E584, 0xDBA7A31FB34F2FF5, 0x16BA93DD63F5F2F8,
    0xBD9E839CFBC52949, 0x7535FDAFD88FC6AE, 0x842B0198237E3DB5,
)  # fmt: skip
FIRST = 7  # the window for M 2^E begins at bit E + FIRST
WINDOW = 3  # words


def reduce_large(x: Any) -> tuple[Any, Any, Any]:
    """r, its rounding error and n with x = n pi/2 + r; NaN for infinities and NaN."""
    word = p.cast(p.bits(p.fabs(x)), "u64")
    mantissa = (word & ((1 << 52) - 1)) | (1 << 52)
    top, middle, low = _product(mantissa, _window((word >> 52) - (1075 - FIRST)))
    n = (top + (1 << 61)) >> 62
    high, rest = (top << 2) | (middle >> 62), (middle << 2) | (low >> 62)
    below = (high >> 63) != 0  # the fraction is 1/2 or more: count from the next multiple
    high = p.select(below, ~high + p.cast(rest == 0, "u64"), high)
    rest = p.select(below, ~rest + 1, rest)
    r, error = _fraction(high, rest)
    negative = below ^ (x < 0.0)
    n = p.cast(n, "i64")
    n = p.select(x < 0.0, -n, n)
    fits = p.fabs(x) < float("inf")
    r = p.select(fits, p.select(negative, -r, r), float("nan"))
    return r, p.select(negative, -error, error), n


def _window(start: Any) -> list[Any]:
    """WINDOW words of 2 / pi from a bit on; the word they begin in is found bit by bit."""
    words = [p.constant(start, word) for word in TWO_OVER_PI]
    for bit in (3, 2, 1, 0):
        step, keep = 1 << bit, WINDOW + (1 << bit)
        far = (start & (WORD << bit)) != 0
        words = [p.select(far, words[at + step], words[at]) for at in range(keep)]
    shift = start & (WORD - 1)
    return [
        (words[at] << shift) | ((words[at + 1] >> 1) >> ((WORD - 1) - shift))
        for at in range(WINDOW)
    ]


def _product(a: Any, words: list[Any]) -> list[Any]:
    """a * words modulo 2^192, highest word first, by halves of words."""
    halves = [part for word in reversed(words) for part in (word & MASK, word >> HALF)]
    columns: list[Any] = []
    for at, factor in enumerate((a & MASK, a >> HALF)):
        carry = None
        for place, half in enumerate(halves[: len(halves) - at], at):
            total = half * factor  # at most 2^64 - 2^33 + 1: room for two more halves
            total = total if carry is None else total + carry
            if at:
                total = total + columns[place]
                columns[place] = total & MASK
            else:
                columns.append(total & MASK)
            carry = total >> HALF
    return [columns[at] | (columns[at + 1] << HALF) for at in (4, 2, 0)]


def _fraction(high: Any, low: Any) -> tuple[Any, Any]:
    """(high 2^64 + low) / 2^128 times pi / 2, as a float and its rounding error."""
    a, b, c, d = (
        p.cast(p.cast(half, "i64"), "f64") * 2.0**-power
        for half, power in (
            (high >> HALF, 32), (high & MASK, 64), (low >> HALF, 96), (low & MASK, 128)
        )
    )  # fmt: skip
    first = a + b
    second = c + d
    last = d - (second - c)
    second = (b - (first - a)) + second
    turns = first + second
    rest = (second - (turns - first)) + last
    product = turns * HALF_PI[0]
    error = p.fma(turns, HALF_PI[0], -product) + (turns * HALF_PI[1] + rest * HALF_PI[0])
    r = product + error
    return r, (product - r) + error
