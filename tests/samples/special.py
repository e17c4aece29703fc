"""Samples of special functions and of arithmetic that is seldom needed.

In: a row's name. Out: calls inside the function's domain, at its edges, in several dtypes and
layouts.
"""

from tests.samples.specs import NON_FINITE, Sample, call, of, refused, rough, t

NAN, INF, MINUS_INF = NON_FINITE
# (low, high) of the arguments, where the function is not defined everywhere.
DOMAINS = {
    "erfinv": (-0.99, 0.99),
    "lgamma": (0.1, 6.0),
    "digamma": (0.1, 6.0),
    "polygamma": (0.2, 6.0),
    "acosh": (1.1, 5.0),
    "atanh": (-0.9, 0.9),
    "logit": (0.05, 0.95),
}
EDGES = {
    "erfc": (0.0, 5.0, -5.0, 27.0, INF, MINUS_INF, NAN),
    "erfinv": (0.0, 0.999999, -0.999999, 1.0, -1.0, 1.5, NAN),
    "lgamma": (1.0, 2.0, -0.5, -2.5, 30.0, 1e10, 0.0, -1.0, INF, NAN),
    "digamma": (1.0, -0.5, -2.5, 30.0, 1e10, 0.0, -0.0, -1.0, NAN),
    "sinc": (0.0, 1e-6, 0.5, 1.0, -2.0, 1e-3),
    "nan_to_num": (0.0, NAN, INF, MINUS_INF, -0.0),
    "asinh": (0.0, -0.0, 1e-9, -3.0, 1e12, -1e12, INF, MINUS_INF, NAN),
    "acosh": (1.5, 1e12, INF, NAN, 0.5),
    "atanh": (0.0, 1.0, -1.0, 0.5, 2.0, NAN),
    "logit": (0.5, 0.0, 1.0, NAN, 2.0),
    "signbit": (0.0, -0.0, 1.0, -1.0, INF, MINUS_INF),
    "frac": (0.5, -0.5, 3.0, 1e30),
    "isposinf": (0.0, INF, MINUS_INF, NAN),
    "isneginf": (0.0, INF, MINUS_INF, NAN),
}
NO_INTEGERS = ("frac",)
# Where torch's gradients at the edges are those of poles, or imprecise.
NO_SLOPE = ("lgamma", "digamma", "acosh", "logit", "sinc")


def _one(op) -> list[Sample]:
    """Functions of one tensor."""
    low, high = DOMAINS.get(op.name, (-3, 3))
    rest = (2,) if op.name == "polygamma" else ()
    found = [call(t((3, 4), d, low=low, high=high), *rest) for d in ("f64", "f32")]
    layouts = ("transposed", "sliced", "expanded")
    found += [call(t((3, 4), "f64", layout, low=low, high=high), *rest) for layout in layouts]
    found += [call(t((), low=low, high=high), *rest), call(t((0, 2)), *rest)]
    if op.name not in NO_INTEGERS:
        found.append(call(t((3,), "i64", low=max(low, 1), high=4), *rest))
    if op.name in EDGES:
        slope = op.name not in NO_SLOPE
        found += [rough(of(EDGES[op.name], d, slope), *rest) for d in ("f64", "f32")]
    if op.name == "sinc":
        found.append(rough(of([0.0, 0.5])))
    if op.name == "polygamma":
        found += [call(t((3,), low=0.2), n) for n in (0, 1, 3)] + [rough(of([-0.5, -1.5]), 1)]
    if op.name == "logit":
        found += [call(t((3, 4), low=0.2, high=0.8), 0.1), call(of([0.05, 0.5, 1.2]), eps=0.1)]
    if op.name == "nan_to_num":
        found.append(rough(of(EDGES[op.name]), 1.0, posinf=2.0, neginf=-3.0))
    return found


def _two(op) -> list[Sample]:
    """Functions of two tensors."""
    found = [call(t((3, 4)), t((3, 4), seed="b")), call(t((3, 4), "f32"), t((4,), "f32", seed="b"))]
    found += [call(t((3, 1)), t((4,), seed="b")), call(t(()), t((2,), seed="b"))]
    found += [call(t((3, 4), "f64", "transposed"), t((3, 4), "f64", "transposed", seed="b"))]
    found += [refused(t((3,)), t((4,)))]
    if op.name in ("fmax", "fmin"):
        found += [rough(of([1.0, NAN, 2.0, NAN]), of([2.0, 1.0, NAN, NAN]))]
        found += [call(t((3,), "i64"), t((3,), "i64", seed="b"))]
    if op.name == "hypot":
        found += [rough(of([0.0, 3.0], grad=False), of([0.0, 4.0], grad=False))]
    if op.name == "copysign":
        found += [call(t((4,)), -1.0), call(t((4,)), 2), call(t((4,), "i64"), t((4,), "i64"))]
        found += [rough(of([0.5, -0.5, 2.0]), of([-0.0, 0.0, INF]))]
    if op.name == "heaviside":
        found += [rough(of([-1.0, 0.0, 2.0]), of([0.5])), refused(t((3,)), t((3,), "f32"))]
        found += [call(t((3,), "i64"), t((3,), "i64", seed="b"))]
    if op.name.startswith("logaddexp"):
        far = of([1000.0, -1000.0, MINUS_INF, INF], grad=False)
        found.append(rough(far, of([1000.0, 0.0, MINUS_INF, INF], grad=False)))
    if op.name == "ldexp":
        found += [call(t((3,)), t((3,), "i64", low=0))]
    return found


def _xlogy(op) -> list[Sample]:
    positive = t((3, 4), low=0.1, seed="b")
    edge = of([0.0, 0.0, 0.0, 1.0, 2.0], grad=False)
    found = [call(t((3, 4)), positive), call(t((4,)), t((3, 1), low=0.5)), call(t((3,)), 2.0)]
    found += [call(t((3,), "f32"), t((3,), "f32", low=0.1, seed="b"))]
    return [*found, rough(edge, of([0.0, NAN, INF, 0.0, -1.0], grad=False))]


def _float_power(op) -> list[Sample]:
    base = t((3, 4), low=0.1)
    found = [call(base, t((4,), seed="b")), call(base, 2), call(2.0, t((3,)))]
    return [*found, call(t((3,), "i64", low=1), 2), call(t((3,), "f32", low=0.1), 0.5)]


def _rsub(op) -> list[Sample]:
    found = [call(t((3, 4)), t((4,), seed="b")), call(t((3,)), 1.0), call(t((3,), "i64"), 2)]
    return [*found, call(t((3,)), t((3,), seed="b"), alpha=2)]


ONE = (
    "erfc", "erfinv", "lgamma", "digamma", "polygamma", "sinc", "nan_to_num", "asinh", "acosh",
    "atanh", "logit", "deg2rad", "rad2deg", "signbit", "frac", "isposinf", "isneginf",
)  # fmt: skip
TWO = ("logaddexp", "logaddexp2", "hypot", "copysign", "fmax", "fmin", "heaviside", "ldexp")
OWN = {
    **dict.fromkeys(ONE, _one),
    **dict.fromkeys(TWO, _two),
    "xlogy": _xlogy,
    "float_power": _float_power,
    "rsub": _rsub,
}
