"""Where vecmath's coefficients come from: near-minimax fits in 60 digits.

In: functions and intervals. Out: for each table of kernels/vecmath the fitted coefficients, their
largest weighted error, and whether the table holds just these numbers. Needs mpmath.

    python -m tests.bench.fit_vecmath

The fit is weighted least squares at Chebyshev nodes, reweighted by the error so that it nears the
minimax polynomial.

Source: C. L. Lawson, "Contributions to the theory of linear least maximum approximation" (1961).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np

from minitorch2.kernels.vecmath import (
    error_function,
    exponential,
    hyperbolic,
    inverse_trigonometric,
    logarithm,
    power,
    trigonometric,
)

mp.mp.dps = 60
Function = Callable[[Any], Any]
ROUNDS = 6


@dataclass(frozen=True)
class Fit:
    """One table: the function to fit, its interval, how many coefficients, the error's weight."""

    name: str
    table: tuple[float, ...]
    function: Function
    low: Any
    high: Any
    weight: Function
    single: bool = False


def fit(job: Fit) -> tuple[list[float], Any]:
    """Coefficients (lowest power first), rounded to the type, and the largest weighted error."""
    n = len(job.table)
    low, high = mp.mpf(job.low), mp.mpf(job.high)
    center, half = (low + high) / 2, (high - low) / 2
    nodes = [mp.cos(mp.pi * (2 * i + 1) / (12 * n)) for i in range(6 * n)]
    rows = [chebyshev(t, n) for t in nodes]
    values = [job.function(center + half * t) for t in nodes]
    weights = [job.weight(center + half * t) for t in nodes]
    lawson = [mp.mpf(1)] * len(nodes)
    for _ in range(ROUNDS):
        factors = [w * mp.sqrt(own) for w, own in zip(weights, lawson, strict=True)]
        matrix = mp.matrix([[f * t for t in row] for f, row in zip(factors, rows, strict=True)])
        right = mp.matrix([f * v for f, v in zip(factors, values, strict=True)])
        solution = mp.lu_solve(matrix, right)
        errors = [
            abs(w * (mp.fsum(solution[k] * row[k] for k in range(n)) - v))
            for w, row, v in zip(weights, rows, values, strict=True)
        ]
        largest = max(errors)
        lawson = [
            own * (e / largest + mp.mpf("0.02")) for own, e in zip(lawson, errors, strict=True)
        ]
        total = mp.fsum(lawson)
        lawson = [own * len(nodes) / total for own in lawson]
    powers = monomials(solution, center, half)
    rounded = [float(np.float32(float(c))) if job.single else float(c) for c in powers]
    return rounded, largest


def chebyshev(t: Any, n: int) -> list[Any]:
    """The first n Chebyshev polynomials at t."""
    found = [mp.mpf(1), t]
    while len(found) < n:
        found.append(2 * t * found[-1] - found[-2])
    return found[:n]


def monomials(solution: Any, center: Any, half: Any) -> list[Any]:
    """Coefficients of x^k from those of Chebyshev polynomials of (x - center) / half."""
    n = len(solution)
    shift, scale = -center / half, 1 / half
    basis = [[mp.mpf(1)], [shift, scale]]
    for _ in range(2, n):
        new = [mp.mpf(0)] * (len(basis[-1]) + 1)
        for k, c in enumerate(basis[-1]):
            new[k] += 2 * shift * c
            new[k + 1] += 2 * scale * c
        for k, c in enumerate(basis[-2]):
            new[k] -= c
        basis.append(new)
    total = [mp.mpf(0)] * n
    for j in range(n):
        for k, c in enumerate(basis[j]):
            total[k] += solution[j] * c
    return total


def odd_tail(function: Function, limit: Any) -> Function:
    """(f(x) / x - 1) / x^2 as a function of z = x^2."""

    def tail(z: Any) -> Any:
        if z < mp.mpf(10) ** -18:
            return limit
        x = mp.sqrt(z)
        return (function(x) / x - 1) / z

    return tail


def quadratic(r: Any) -> Any:
    """(e^r - 1 - r) / r^2."""
    return mp.mpf(1) / 2 + r / 6 if abs(r) < mp.mpf(10) ** -9 else (mp.expm1(r) - r) / r**2


def cubic(f: Any) -> Any:
    """(log(1 + f) - f + f^2 / 2) / f^3."""
    small = abs(f) < mp.mpf(10) ** -9
    return mp.mpf(1) / 3 - f / 4 if small else (mp.log1p(f) - f + f * f / 2) / f**3


def log_ratio(z: Any) -> Any:
    """(log((1 + s) / (1 - s)) - 2 s) / s^3, z = s^2."""
    if z < mp.mpf(10) ** -18:
        return mp.mpf(2) / 3
    s = mp.sqrt(z)
    return (mp.log((1 + s) / (1 - s)) - 2 * s) / (s * z)


def log_ratio_tail(z: Any) -> Any:
    """(log_ratio(z) - 2/3) / z."""
    if z < mp.mpf(10) ** -15:
        return mp.mpf(2) / 5
    return (log_ratio(z) - mp.mpf(2) / 3) / z


def erf_ratio(z: Any) -> Any:
    """erf(x) / x - 1, z = x^2."""
    if z < mp.mpf(10) ** -18:
        return 2 / mp.sqrt(mp.pi) - 1
    return mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1


def decay(t: Any) -> Any:
    """-log(erfc(t)) / t - 1."""
    if t < mp.mpf(10) ** -12:
        return 2 / mp.sqrt(mp.pi) - 1
    return -mp.log(mp.erfc(t)) / t - 1


def decay_weight(t: Any) -> Any:
    """How much an error of decay(t) counts in erf(t), for t > 0, relative to it."""
    return mp.mpf(1) if t < mp.mpf(10) ** -9 else t * mp.erfc(t) / mp.erf(t)


def below_weight(r: Any) -> Any:
    """How much an error of the quadratic counts in e^r - 1, relative to it."""
    return r * r / abs(mp.expm1(r)) if abs(r) > mp.mpf(10) ** -9 else abs(r)


def cosine_tail(z: Any) -> Any:
    """(cos(x) - 1 + x^2 / 2) / x^4, z = x^2."""
    small = z < mp.mpf(10) ** -12
    return mp.mpf(1) / 24 if small else (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2


def folded(c: Any) -> tuple[Function, Function, Function]:
    """u(t) = (t - c) / (t + c), its inverse, and e^(t^2) erfc(t) as a function of u."""

    def inverse(u: Any) -> Any:
        return c * (1 + u) / (1 - u)

    def scaled(u: Any) -> Any:
        return mp.exp(inverse(u) ** 2) * mp.erfc(inverse(u))

    return lambda t: (t - c) / (t + c), inverse, scaled


def tables() -> list[Fit]:
    """Every fitted table of vecmath."""
    third, half_ln2 = mp.mpf(1) / 3, mp.log(2) / 2 + mp.mpf("0.003")
    root = mp.sqrt(2)
    ratio = ((root - 1) / (root + 1)) ** 2 * mp.mpf("1.001")
    turn = (mp.pi / 4 * mp.mpf("1.01")) ** 2
    found = []
    for single in (True, False):
        exp = exponential.F32 if single else exponential.F64
        two = "32" if single else "64"

        def add(name: str, module: Any, function: Function, low: Any, high: Any,
                weight: Function, two: str = two, single: bool = single) -> None:  # fmt: skip
            table = getattr(module, name + two)
            found.append(Fit(name + two, table, function, low, high, weight, single))

        def exp_error(r: Any) -> Any:
            return r * r / mp.exp(r)

        found.append(Fit(f"exp quadratic {two}", exp.quadratic, quadratic, -half_ln2, half_ln2,
                         exp_error, single))  # fmt: skip
        tanh = odd_tail(mp.tanh, -third)
        add("NEAR", hyperbolic, tanh, 0, mp.mpf("0.1226"), lambda z: z)
        add("NEAR", error_function, erf_ratio, 0, mp.mpf("0.92") ** 2 if single else 1,
            lambda z: mp.mpf(1))  # fmt: skip
        add("SIN", trigonometric, odd_tail(mp.sin, -third / 2), 0, turn, lambda z: z)
        add("COS", trigonometric, cosine_tail, 0, turn, lambda z: z * z)
        eighth = (root - 1) ** 2 * mp.mpf("1.002")
        add("ATAN", inverse_trigonometric, odd_tail(mp.atan, -third), 0, eighth, lambda z: z)
        asin = odd_tail(mp.asin, third / 2)
        add("ASIN", inverse_trigonometric, asin, 0, mp.mpf("0.251"), lambda z: z)
        center, table = getattr(error_function, "COMPLEMENT" + two)
        fold, inverse, erfcx = folded(mp.mpf(center))

        def scaled(u: Any, inverse: Function = inverse, erfcx: Function = erfcx) -> Any:
            return (1 + 2 * inverse(u)) * erfcx(u)

        end = mp.mpf("10.3" if single else "27.5")
        found.append(Fit(f"COMPLEMENT{two}", table, scaled, fold(mp.mpf("0.46")), fold(end),
                         lambda u, of=scaled: 1 / of(u), single))  # type: ignore[misc]  # fmt: skip
    fold, inverse, far = folded(mp.mpf(3))
    found.append(Fit("CUBIC32", logarithm.CUBIC32, cubic, 1 / root - 1, root - 1,
                     lambda f: f * f, True))  # fmt: skip
    found.append(Fit("ODD64", logarithm.ODD64, log_ratio, 0, ratio, lambda z: z))
    found.append(Fit("ODD", power.ODD, log_ratio_tail, 0, ratio, lambda z: z * z))
    found.append(Fit("DECAY32", error_function.DECAY32, decay, 0, 4, decay_weight, True))
    found.append(Fit("BELOW32", exponential.BELOW32, quadratic, mp.mpf("-0.5585"),
                     mp.mpf("0.1427"), below_weight, True))  # fmt: skip
    found.append(Fit("FAR64", error_function.FAR64, far, fold(1), fold(6),
                     lambda u: mp.exp(-(inverse(u) ** 2))))  # fmt: skip
    return found


if __name__ == "__main__":
    for job in tables():
        coefficients, error = fit(job)
        state = "in place" if coefficients == list(job.table) else f"DIFFERS: {job.table}"
        print(f"{job.name}: error 2^{float(mp.log(error, 2)):.1f}, {state}")
        print("   ", ", ".join(map(repr, coefficients)))
