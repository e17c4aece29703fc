"""Orthogonal polynomials: Chebyshev's four kinds (shifted too), Hermite's two, Laguerre, Legendre.

In: arguments and degrees, tensors that broadcast; degrees are cut to whole numbers. Out: the
polynomials' values, 0 for negative degrees. Rows compute in double precision, all degrees of a
call in one run of the recurrence, and stay whole in compiled code. They have no gradient, as in
torch.

    >>> from minitorch2 import special, tensor
    >>> special.chebyshev_polynomial_t(tensor([0.5]), 3)  # 4 x ** 3 - 3 x
    tensor([-1.])

Source: torch.special; Abramowitz & Stegun 1964, 22.7 (recurrences), 22.3.15 and 22.3.16.
"""

import numpy

from minitorch2.ops.probability_functions import floating_pair, infer_pair
from minitorch2.ops.special_functions import in_double
from minitorch2.ops.table import LIBRARY, defop

# Of each family: the polynomial of degree 1, and (a, b) of p[k+1] = a(x, k) p[k] - b(k) p[k-1].
CHEBYSHEV = {
    "chebyshev_polynomial_t": lambda x: x,
    "chebyshev_polynomial_u": lambda x: 2 * x,
    "chebyshev_polynomial_v": lambda x: 2 * x - 1,
    "chebyshev_polynomial_w": lambda x: 2 * x + 1,
}
FAMILIES = {name: (first, lambda x, k: 2 * x, lambda k: 1) for name, first in CHEBYSHEV.items()} | {
    "hermite_polynomial_h": (lambda x: 2 * x, lambda x, k: 2 * x, lambda k: 2 * k),
    "hermite_polynomial_he": (lambda x: x, lambda x, k: x, lambda k: k),
    "laguerre_polynomial_l": (
        lambda x: 1 - x,
        lambda x, k: (2 * k + 1 - x) / (k + 1),
        lambda k: k / (k + 1),
    ),
    "legendre_polynomial_p": (
        lambda x: x,
        lambda x, k: (2 * k + 1) / (k + 1) * x,
        lambda k: k / (k + 1),
    ),
}
# Far degrees of Chebyshev's polynomials inside [-1, 1], where they are ratios of sines.
WAVES = {
    "chebyshev_polynomial_t": lambda n, t: numpy.cos(n * t),
    "chebyshev_polynomial_u": lambda n, t: numpy.sin((n + 1) * t) / numpy.sin(t),
    "chebyshev_polynomial_v": lambda n, t: numpy.cos((n + 0.5) * t) / numpy.cos(t / 2),
    "chebyshev_polynomial_w": lambda n, t: numpy.sin((n + 0.5) * t) / numpy.sin(t / 2),
}
# At the ends of that interval: what is there at 1, and at -1 but for the sign of an odd degree.
ENDS = {
    "chebyshev_polynomial_t": lambda n, positive: numpy.ones_like(n),
    "chebyshev_polynomial_u": lambda n, positive: n + 1,
    "chebyshev_polynomial_v": lambda n, positive: numpy.where(positive, 1, 2 * n + 1),
    "chebyshev_polynomial_w": lambda n, positive: numpy.where(positive, 2 * n + 1, 1),
}
MOST_STEPS = 64  # of a recurrence, before a Chebyshev polynomial inside is computed as a wave


def _values(name, x, n):
    """The polynomials of degrees n at x (float64 arrays of one shape)."""
    first, a, b = FAMILIES[name]
    degrees = numpy.trunc(numpy.where(numpy.abs(n) < 2.0**63, n, -1))  # as integers; others: none
    far = (name in WAVES) & (degrees > MOST_STEPS)
    inside, ends = (numpy.abs(x) < 1) & far, (numpy.abs(x) == 1) & far
    found = numpy.zeros_like(x)
    before, this = numpy.ones_like(x), first(x)
    wanted = numpy.where(inside | ends, 0, degrees)
    for k in range(int(wanted.max(initial=0)) + 1):
        found = numpy.where(degrees == k, before, found)
        if not k % MOST_STEPS and numpy.isnan(before[wanted > k]).all():
            found = numpy.where(wanted > k, numpy.nan, found)  # and so are all further ones
            break
        before, this = this, a(x, k + 1) * this - b(k + 1) * before
    if inside.any():
        angle = numpy.arccos(numpy.where(inside, x, 0.5))
        found = numpy.where(inside, WAVES[name](degrees, angle), found)
    if ends.any():
        sign = numpy.where((x < 0) & (degrees % 2 == 1), -1, 1)
        found = numpy.where(ends, sign * ENDS[name](degrees, x > 0), found)
    return found


def _eager(name, shifted):
    def double(x, n):
        x, n = numpy.broadcast_arrays(x, n.astype(numpy.float64))
        return _values(name, 2 * x - 1 if shifted else x, n)

    function = in_double(double)

    def eager(x, n):
        return function(numpy.asarray(x, floating_pair(x, n)), n)

    return eager


def _row(name, title, shifted=False):
    full = "shifted_" * shifted + name
    defop(
        f"{full}(Tensor self, Tensor n) -> Tensor",
        LIBRARY,
        eager=_eager(name, shifted),
        infer=infer_pair,
        keeps=True,
        accepts="bif",
        host="a recurrence as long as the largest degree",
        method=False,
        function=False,
        torch=f"torch.special.{full}",
        doc=f"{title} polynomials of degree n{' at 2 self - 1' if shifted else ''}.",
    )


for _kind, _title in zip("tuvw", ("first", "second", "third", "fourth"), strict=True):
    for _shifted in (False, True):
        _row(f"chebyshev_polynomial_{_kind}", f"Chebyshev's {_title} kind of", _shifted)
_row("hermite_polynomial_h", "Hermite's (physicists')")
_row("hermite_polynomial_he", "Hermite's (probabilists')")
_row("laguerre_polynomial_l", "Laguerre's")
_row("legendre_polynomial_p", "Legendre's")
