"""Samples of the special functions of statistics, and of rows that rank or combine by index.

In: a row's name. Out: calls inside the functions' domains, at their edges, and refused ones.
"""

from minitorch2.ops.table import Op
from tests.samples.specs import NON_FINITE, Sample, call, of, refused, rough, t

# Where the function is smooth: (low, high); and the values where it turns or ends.
DOMAINS: dict[str, tuple[float, float]] = {
    "ndtri": (0.05, 0.95),
    "entr": (0.2, 4),
    "mvlgamma": (2.5, 6),
}
EDGES = (0.0, 1.0, -1.0, 0.5, 2.0, 25.0, -20.0, 45.0, 1e-10)


def _special(op: Op) -> list[Sample]:
    low, high = DOMAINS.get(op.name, (-3, 3))
    more = (2,) if op.name == "mvlgamma" else ()
    found = [call(t((3, 4), dtype, low=low, high=high), *more) for dtype in ("f64", "f32")]
    shapes: tuple[tuple, ...] = ((), (0,), (2, 3, 4))
    found += [call(t(shape, low=low, high=high), *more) for shape in shapes]
    found += [
        call(t((3, 4), "f64", layout, low, high), *more)
        for layout in ("transposed", "sliced", "offset")
    ]
    found += [rough(t((3, 4), dtype, low=1, high=4), *more) for dtype in ("i64", "u8")]
    if op.name != "mvlgamma":
        found.append(rough(of([*EDGES, *([] if op.name[0] == "i" else NON_FINITE)])))
    return found


def _two(low: float, high: float) -> list[Sample]:
    """Two operands, of which the first has no derivative in torch."""

    def pair(a: tuple, b: tuple, dtype: str = "f64") -> Sample:
        first = t(a, dtype, low=low, high=high, grad=False, seed="a")
        return call(first, t(b, dtype, low=0.3, high=6))

    return [
        pair((3, 4), (3, 4)),
        pair((3, 4), (3, 4), "f32"),
        pair((3, 1), (4,)),
        pair((), ()),
        pair((0,), (1,)),
    ]


def _gammas(op: Op) -> list[Sample]:
    ends = of([0.0, 1.0, 2.0, 0.0, 3.0, -1.0], grad=False)
    return [*_two(0.3, 9), rough(ends, of([1.0, 0.0, float("inf"), 0.0, 50.0, 1.0]))]


def _zeta(op: Op) -> list[Sample]:
    ends = of([1.0, 0.5, 2.0, 2.5, 3.0], grad=False)
    return [*_two(1.3, 6), rough(ends, of([2.0, 2.0, -1.0, -1.5, -2.5], grad=False))]


def _xlog1py(op: Op) -> list[Sample]:
    found = [call(t((3, 4), d, seed="x"), t((3, 4), d, low=-0.5, high=4)) for d in ("f64", "f32")]
    found += [call(t((3, 1)), t((4,), low=0, high=4)), call(t((3,)), 2.5), call(2, t((3,), low=0))]
    return [*found, rough(of([0.0, 0.0, 0.0, 2.0]), of([-1.0, float("nan"), 3.0, -1.0]))]


def _frexp(op: Op) -> list[Sample]:
    values = of([0.0, 1.0, -3.5, 1e30, 0.1])
    return [
        call(t((3, 4))),
        call(t((2,), "f32")),
        call(t(())),
        rough(values),
        refused(t((2,), "i64")),
    ]


# ---- ranks -----------------------------------------------------------------------------------

NAN = float("nan")
GAPS = of([[3.0, NAN, 1.0, 2.0], [NAN, NAN, NAN, NAN], [4.0, 1.0, 2.0, 3.0]])


def _nanquantile(op: Op) -> list[Sample]:
    found = [
        call(t((3, 4)), 0.3, dim, keepdim, interpolation=way)
        for dim in (None, 0, -1)
        for keepdim in (False, True)
        for way in ("linear", "lower", "higher", "midpoint", "nearest")
    ]
    found += [call(t((3, 4), "f32"), of([0.1, 0.5, 1.0], "f32", False), 1), call(t(()), 0.5, 0)]
    found += [rough(GAPS, 0.4, 1), rough(GAPS, 0.4, 0), rough(GAPS, 0.4)]
    return [*found, refused(t((3,)), 1.5), refused(t((3,), "i64"), 0.5)]


def _nanmedian_dim(op: Op) -> list[Sample]:
    found = [call(t((3, 5)), dim, keepdim) for dim in (0, 1, -1) for keepdim in (False, True)]
    return [*found, rough(GAPS, 1), call(t((3, 4), "i64"), 1), refused(t((3, 0)), 1)]


def _nanmedian_all(op: Op) -> list[Sample]:
    return [call(t((3, 5))), call(t((4,), "f32")), rough(GAPS), call(t((3,), "i64")), call(t((0,)))]


def _msort(op: Op) -> list[Sample]:
    return [call(t(shape)) for shape in ((3, 4), (5,), (0,), (2, 3, 2))] + [call(t((3,), "i64"))]


def _renorm(op: Op) -> list[Sample]:
    found = [call(t((3, 4)), p, dim, 1.5) for p in (1, 2, 3.5) for dim in (0, 1)]
    return [*found, call(t((2, 3, 4), "f32"), 2, -1, 2.0), refused(t((3,)), 2, 0, 1.0)]


def _cumulative_trapezoid(op: Op) -> list[Sample]:
    found = [call(t((3, 4)), dim=dim, dx=0.5) for dim in (0, 1, -1)]
    return [*found, call(t((3, 4)), t((4,), seed="p")), call(t((5,)), t((5,), seed="p"))]


# ---- combinations by index ---------------------------------------------------------------------


def _index(shape: tuple, high: int) -> object:
    return t(shape, "i64", low=0, high=high)


def _scatter_fold(op: Op) -> list[Sample]:
    return [
        call(t((4, 3), d), 0, _index((3, 3), 4), t((3, 3), d, seed="s"), reduce, include_self=keep)
        for reduce in ("prod", "amax", "amin")
        for keep in (True, False)
        for d in ("f64", "i64")
    ] + [rough(of([2.0, 0.0, 3.0]), 0, of([0, 1, 1], "i64"), of([0.0, 0.0, 2.0]), "prod")]


def scatter_reduce(op: Op) -> list[Sample]:
    """The three foldings, beside the sums and means of tests/samples/movement.py."""
    found = [sample for sample in _scatter_fold(op) if sample.args[0].dtype.is_floating_point]
    found += [call(t(()), 0, of(0, "i64"), t((), seed="s"), "amax")]
    return [*found, refused(t((3,)), 0, _index((2,), 3), t((2,), seed="s"), "median")]


def _index_reduce(op: Op) -> list[Sample]:
    found = [
        call(t((4, 3)), dim, _index((2,), 3), t(shape, seed="s"), reduce, include_self=keep)
        for dim, shape in ((0, (2, 3)), (1, (4, 2)))
        for reduce in ("prod", "amax", "amin", "mean")
        for keep in (True, False)
    ]
    return [*found, refused(t((4, 3)), 0, _index((2,), 3), t((3, 3)), "prod")]


def _put(op: Op) -> list[Sample]:
    index = of([0, 5, 5, 11], "i64")
    found = [
        call(t((3, 4)), of([0, 5, 7], "i64"), t((3,), seed="s")),
        call(t((3, 4)), index, t((2, 2), seed="s"), True),
        call(t((3, 4), "i64"), index, t((4,), "i64", seed="s"), True),
    ]
    return [*found, refused(t((3, 4)), index, t((3,), seed="s"))]


def _bessel(op: Op) -> list[Sample]:
    """float32 where torch's own double precision holds about as many digits."""
    dtypes = ("f32",) if op.name.startswith(("bessel", "airy")) else ("f64", "f32")
    low = -9 if op.name.startswith(("bessel_j", "airy", "spher")) else 0.1
    found = [call(t((3, 4), d, low=low, high=30, grad=False)) for d in dtypes]
    found += [call(t(shape, "f32", low=0.1, high=3, grad=False)) for shape in ((), (0,), (2, 3, 4))]
    found += [
        call(t((3, 4), "f32", layout, low, 9, grad=False))
        for layout in ("transposed", "sliced", "offset")
    ]
    found += [call(t((3, 4), dtype, low=1, high=4)) for dtype in ("i64", "u8")]
    return [*found, rough(of([0.0, 1e-10, 0.5, 45.0, NAN], "f32", False))]


def _polynomial(op: Op) -> list[Sample]:
    degrees = of([-1, 0, 1, 2, 3, 4, 7, 30], "i64")
    found = [call(t((3, 1), d, low=-2, high=2, grad=False), degrees) for d in ("f64", "f32")]
    degree = of([2.0, 3.5, 0.0], grad=False)
    found += [call(t((4, 3), "f64", "transposed", -1, 1, grad=False), degree)]
    found += [call(t((), grad=False), of(3, "i64")), call(t((0,), grad=False), of([3], "i64"))]
    return [*found, call(of([-1.0, 1.0, 0.0], grad=False), of([70, 70, 70], "i64"))]


BESSEL = (
    *("bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "airy_ai", "spherical_bessel_j0"),
    *("modified_bessel_k0", "modified_bessel_k1"),
    *("scaled_modified_bessel_k0", "scaled_modified_bessel_k1"),
)
POLYNOMIALS = (
    *(f"{shift}chebyshev_polynomial_{kind}" for kind in "tuvw" for shift in ("", "shifted_")),
    *("hermite_polynomial_h", "hermite_polynomial_he"),
    *("laguerre_polynomial_l", "legendre_polynomial_p"),
)
SPECIAL = ("erfcx", "ndtri", "ndtr", "log_ndtr", "entr", "mvlgamma", "i0", "i0e", "i1", "i1e")
OWN = {
    **dict.fromkeys(SPECIAL, _special),
    **dict.fromkeys(BESSEL, _bessel),
    **dict.fromkeys(POLYNOMIALS, _polynomial),
    "igamma": _gammas,
    "igammac": _gammas,
    "zeta": _zeta,
    "xlog1py": _xlog1py,
    "frexp": _frexp,
    "nanquantile": _nanquantile,
    "nanmedian_dim": _nanmedian_dim,
    "nanmedian_all": _nanmedian_all,
    "msort": _msort,
    "renorm": _renorm,
    "cumulative_trapezoid": _cumulative_trapezoid,
    "scatter_fold": _scatter_fold,
    "index_reduce": _index_reduce,
    "put": _put,
}
