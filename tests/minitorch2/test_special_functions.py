"""Bessel's functions and Airy's against their defining equations, polynomials against sums."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

import minitorch2 as torch
from minitorch2 import special
from minitorch2.dispatch import call
from minitorch2.ops.table import all_ops

PLACES = (1e-12, 0.3, 2.0, 5.509, 7.004, 12.3, 24.9, 25.1, 60.0)


def j(order: int, x: float) -> float:
    """The power series, in 120 digits."""
    with localcontext() as context:
        context.prec = 120
        half = Decimal(x) / 2
        term = total = half**order / math.factorial(order)
        for k in range(1, 400):
            term = -term * half * half / (k * (k + order))
            total += term
        return float(total)


def f64(values: object) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("order", [0, 1])
def test_the_first_kind_is_its_power_series(order: int) -> None:
    found = getattr(special, f"bessel_j{order}")(f64(PLACES)).tolist()
    for x, value in zip(PLACES, found, strict=True):
        assert value == pytest.approx(j(order, x), rel=1e-13, abs=1e-15)


def test_both_kinds_have_the_wronskian_of_bessels_equation() -> None:
    x = f64(PLACES)
    found = special.bessel_j1(x) * special.bessel_y0(x) - special.bessel_j0(x) * special.bessel_y1(
        x
    )
    torch.testing.assert_close(found * x, torch.full_like(x, 2 / math.pi), rtol=1e-12, atol=0)


def test_the_modified_kinds_have_theirs() -> None:
    x = f64((1e-6, 0.3, 0.999, 1.0, 4.0, 30.0, 600.0))
    k0, k1 = special.scaled_modified_bessel_k0(x), special.scaled_modified_bessel_k1(x)
    found = (special.i0e(x) * k1 + special.i1e(x) * k0) * x
    torch.testing.assert_close(found, torch.ones_like(x), rtol=1e-13, atol=0)
    near = x[:-1]
    torch.testing.assert_close(special.modified_bessel_k0(near), (k0[:-1] * (-near).exp()))
    assert special.modified_bessel_k1(f64([0.0, -1.0, math.inf])).tolist()[::2] == [math.inf, 0.0]


@pytest.mark.parametrize("centre", [-30.0, -12.0, -11.9, -3.3, 0.0, 1.9, 2.1, 8.0])
def test_airys_function_bends_as_its_equation_says(centre: float) -> None:
    h = 1e-3
    around = f64([centre - 2 * h, centre - h, centre, centre + h, centre + 2 * h])
    a, b, c, d, e = special.airy_ai(around).tolist()
    bend = (-a + 16 * b - 30 * c + 16 * d - e) / (12 * h * h)
    assert bend == pytest.approx(centre * c, rel=1e-5, abs=1e-6)


def test_airys_function_at_zero_and_one() -> None:
    found = special.airy_ai(f64([0.0, 1.0, -1.0])).tolist()
    assert found == pytest.approx([0.355028053887817, 0.135292416312881, 0.535560883292352])


@pytest.mark.parametrize("degree", [7, 40, 65, 90])
def test_far_degrees_are_the_waves_that_chebyshev_defined(degree: int) -> None:
    angle = f64([0.1, 1.0, 2.5])
    x = angle.cos()
    torch.testing.assert_close(special.chebyshev_polynomial_t(x, degree), (degree * angle).cos())
    ratio = ((degree + 1) * angle).sin() / angle.sin()
    torch.testing.assert_close(special.chebyshev_polynomial_u(x, degree), ratio)
    shifted = special.shifted_chebyshev_polynomial_t((x + 1) / 2, degree)
    torch.testing.assert_close(shifted, (degree * angle).cos())


def test_numbers_may_stand_for_either_operand() -> None:
    degrees = torch.tensor([0, 1, 2, -3])
    assert special.legendre_polynomial_p(0.5, degrees).tolist() == [1.0, 0.5, -0.125, 0.0]
    assert special.zeta(2, f64([1.0])).item() == pytest.approx(math.pi**2 / 6)


@pytest.mark.parametrize("order", range(2, 9))
def test_polygamma_far_below_zero_takes_no_longer(order: int) -> None:
    """It obeys its recurrence between poles that are far away, where steps would never end."""
    x = f64([-0.25, -7.5, -1e3 - 0.125, -(2.0**31) - 0.25])
    step = (-1) ** order * math.factorial(order) / x ** (order + 1)
    torch.testing.assert_close(torch.polygamma(order, x + 1), torch.polygamma(order, x) + step)
    poles = f64([-0.0, -3.0, -1e17, -math.inf])
    sign = (-1) ** (order + 1)
    assert (torch.polygamma(order, poles) * sign).tolist() == [math.inf] * 4


def polygamma(order: int, x: float) -> float:
    """The sum of its definition in whole fractions, what is beyond 60 by Euler and Maclaurin."""
    power, start = order + 1, Fraction(x)
    begin = start + max(0, math.ceil(60 - x))
    total = Fraction(0)
    while start < begin:
        total += 1 / start**power
        start += 1
    total += begin ** (1 - power) / (power - 1) + begin**-power / 2
    rise = power
    bernoulli = [(1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510)]
    for k, (above, below) in enumerate(bernoulli, 1):
        total += (
            Fraction(above, below) / math.factorial(2 * k) * rise * begin ** (1 - power - 2 * k)
        )
        rise *= (power + 2 * k - 1) * (power + 2 * k)
    return float((-1) ** power * math.factorial(order) * total)


@pytest.mark.parametrize("order", [2, 3, 4, 7, 10, 12, 16])
@pytest.mark.parametrize("place", [-0.5, -1.5, -3.5, -5.5, -10.5, -20.5])
def test_polygamma_between_its_poles_is_its_sum(order: int, place: float) -> None:
    """Also halfway, where what the poles to the left and to the right add up to is nothing."""
    places = [place + beside for beside in (0, 2.0**-40, -(2.0**-20), 0.01, -0.1, 0.2, 0.375)]
    for x, value in zip(places, torch.polygamma(order, f64(places)).tolist(), strict=True):
        small = abs(polygamma(order, x) - polygamma(order, math.nextafter(x, 0)))
        assert value == pytest.approx(polygamma(order, x), rel=1e-12, abs=8 * small)


def test_out_is_written() -> None:
    out = torch.empty(0, dtype=torch.float64)
    assert special.bessel_j0(f64([0.0, 0.0]), out=out) is out
    assert out.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type"):
        special.erfcx(f64([0.0]), out=torch.empty(1, dtype=torch.int64))


def test_results_without_a_derivative_require_none() -> None:
    x = f64([0.5]).requires_grad_()
    assert not special.airy_ai(x).requires_grad
    assert not special.hermite_polynomial_h(x, 2).requires_grad


PAIRS = [
    op
    for op in all_ops()
    if op.torch.startswith("torch.special") and [p.type for p in op.signature.parameters]
    == ["Tensor", "Tensor"]
]  # fmt: skip


@pytest.mark.parametrize("op", PAIRS, ids=lambda op: op.name)
def test_a_number_in_a_tensor_does_not_widen_the_result(op):
    """Eager gives the dtype that `infer` says: compiled kernels read the memory as that."""
    wide, narrow = torch.float64, torch.float32
    for one, other in ((narrow, wide), (wide, narrow), (torch.int64, wide), (narrow, narrow)):
        for shapes in (((3,), ()), ((), (3,)), ((), ()), ((3,), (3,))):
            x, n = torch.ones(shapes[0], dtype=one), torch.ones(shapes[1], dtype=other)
            assert call(op, (x, n)).array.dtype == torch.result_type(x, n).numpy


def sinc_derivative(x: float, order: int) -> float:
    """The series of sin(pi x) / (pi x), derived term by term, in 60 digits."""
    pi = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
    with localcontext() as context:
        context.prec = 60
        total = Decimal(0)
        for k in range(40):
            power = 2 * k
            if power < order:
                continue
            factor = math.perm(power, order) * (-1) ** k * pi**power / math.factorial(power + 1)
            total += factor * (Decimal(x) ** (power - order) if power > order else 1)
        return float(total)


@pytest.mark.parametrize("dtype, close", [(torch.float32, 2e-5), (torch.float64, 1e-11)])
@pytest.mark.parametrize(
    "place", [0.0, 1e-6, 9e-5, 1.1e-4, 1e-3, 9.9e-3, 0.0101, 0.099, 0.101, 0.7]
)
def test_the_slopes_of_sinc_are_right_on_both_sides_of_its_series(
    place: float, dtype: torch.dtype, close: float
) -> None:
    x = torch.tensor(place, dtype=dtype, requires_grad=True)
    y = torch.sinc(x)
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    (bend,) = torch.autograd.grad(slope, x)
    at = x.item()  # as the dtype rounds it
    assert y.item() == pytest.approx(sinc_derivative(at, 0), rel=close / 10)
    assert slope.item() == pytest.approx(sinc_derivative(at, 1), rel=close)
    assert bend.item() == pytest.approx(sinc_derivative(at, 2), rel=40 * close)


@pytest.mark.parametrize("degree", [1e30, float("inf"), 2.0**63, -4.0, float("nan")])
def test_polynomials_of_degrees_that_no_integer_holds_are_zero(degree):
    found = torch.special.laguerre_polynomial_l(torch.tensor([0.5, 2.0]), torch.tensor(degree))
    assert found.tolist() == [0.0, 0.0]


def test_a_recurrence_that_is_nan_goes_no_further():
    """Otherwise it would take hours."""
    x = torch.tensor([9.0, float("nan")], dtype=torch.float64)
    found = torch.special.hermite_polynomial_h(x, torch.tensor(1e12, dtype=torch.float64))
    assert found.isnan().all()


@pytest.mark.parametrize(
    "kind, first", [("t", (1, 0)), ("u", (2, 0)), ("v", (2, -1)), ("w", (2, 1))]
)
@pytest.mark.parametrize("degree", [70, 71])
def test_chebyshev_at_the_ends(kind, first, degree):
    """Far degrees, which take no steps there, are what the recurrence gives in whole numbers."""
    compute = getattr(torch.special, f"chebyshev_polynomial_{kind}")
    x = torch.tensor([1.0, -1.0], dtype=torch.float64)
    wanted = []
    for end in (1, -1):
        before, this = 1, first[0] * end + first[1]
        for _ in range(degree - 1):
            before, this = this, 2 * end * this - before
        wanted.append(float(this))
    assert compute(x, torch.tensor(float(degree), dtype=torch.float64)).tolist() == wanted
