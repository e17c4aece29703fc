"""Samples of the pointwise rows of integers, and of the next number.

In: a row. Out: calls.
"""

from minitorch2.ops.table import Op
from tests.samples.specs import NON_FINITE, SPECIALS, Sample, call, of, refused, rough, t


def _whole(op: Op) -> list[Sample]:
    def pair(a: str, b: str, x: tuple = (3, 4), y: tuple = (3, 4)) -> Sample:
        return call(t(x, a, low=-40, high=40, seed="a"), t(y, b, low=-40, high=40, seed="b"))

    found = [pair(d, d) for d in ("i64", "i32", "i16", "i8", "u8")]
    found += [pair("i32", "i64"), pair("u8", "i8"), pair("i64", "i64", (2, 1, 4), (3, 1))]
    found += [pair("i64", "i64", (), (3,)), pair("i64", "i64", (0,), (1,))]
    found += [call(t((3, 4), "i64", "transposed"), t((3, 4), "i64", "transposed", seed="b"))]
    found += [call(of([0, 0, 12, -12], "i64"), of([0, 5, 18, 18], "i64"))]
    return [
        *found,
        refused(t((3,), "f32"), t((3,), "f32")),
        refused(t((3,), "bool"), t((3,), "bool")),
        refused(t((3,), "i64"), t((4,), "i64")),
    ]


def _nextafter(op: Op) -> list[Sample]:
    found = [rough(t((3, 4), d, seed="a"), t((3, 4), d, seed="b")) for d in ("f64", "f32", "bf16")]
    values = (*SPECIALS, *NON_FINITE)
    found += [
        rough(of([[v] for v in values], d, False), of(values, d, False)) for d in ("f64", "f32")
    ]
    found += [rough(t((2, 1, 4)), t((3, 1), seed="b")), rough(t((), "f64"), t((3,), "f64"))]
    return [*found, refused(t((3,), "i64"), t((3,), "i64")), refused(t((3,)), t((4,)))]


OWN = {"gcd": _whole, "lcm": _whole, "nextafter": _nextafter}
