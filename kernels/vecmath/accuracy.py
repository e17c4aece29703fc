"""How wrong each function may be, in units in the last place: one table, which the tests enforce.

In: a helper's name. Out: its bounds for f32 and f64, over all floats unless `domain` says less;
an ulp is the distance between the neighbours of the exact result. sqrt and the four operations
are correctly rounded (0.5). Infinities, NaN, signed zeros and subnormals are as in C99, annex F.

>>> BOUNDS["exp"].f32, BOUNDS["erf"].f64
(1.1, 1.1)

Source: measured by tests/kernels/vecmath/test_accuracy.py against f64, long double and mpmath.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """Largest error in ulps for each type, for arguments of at most `domain` in size."""

    f32: float
    f64: float
    domain: float = float("inf")


BOUNDS: dict[str, Bound] = {
    "exp": Bound(1.1, 1.1),
    "exp2": Bound(1.1, 1.1),
    "expm1": Bound(1.6, 2.0),
    "sigmoid": Bound(2.0, 2.0),
    "log": Bound(0.9, 0.9),
    "log2": Bound(1.4, 1.4),
    "log10": Bound(1.5, 1.5),
    "log1p": Bound(0.9, 0.9),
    "tanh": Bound(1.6, 1.6),
    "sinh": Bound(2.5, 2.5),
    "cosh": Bound(1.5, 1.5),
    "erf": Bound(1.8, 1.1),
    "erfc": Bound(4.5, 4.5),
    "sin": Bound(1.6, 1.0),
    "cos": Bound(1.6, 1.1),
    "tan": Bound(3.6, 2.5),
    "asin": Bound(2.5, 2.5),
    "acos": Bound(1.3, 1.3),
    "atan": Bound(1.9, 1.9),
    "atan2": Bound(1.9, 1.9),
    "pow": Bound(0.51, 1.3),
    "sqrt": Bound(0.5, 0.5),
    "rsqrt": Bound(1.5, 1.5),
    "reciprocal": Bound(0.5, 0.5),
}
