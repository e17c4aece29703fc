"""Samples of the rows that roll, repeat and draw.

In: a row's name. Out: calls as torch takes them.
"""

from minitorch2.ops.table import Op
from tests.samples.specs import Sample, call, of, refused, t

X = t((3, 4))


def _roll(op: Op) -> list[Sample]:
    found = [call(X, shift, dims=dim) for shift in (0, 1, -2, 9) for dim in (0, 1, -1)]
    found += [call(X, (1, -1), dims=(0, 1)), call(X, 2), call(t(()), 0), call(t((0, 3)), 1, dims=0)]
    found += [call(t((3, 4), d), 1, dims=1) for d in ("i64", "bool", "bf16")]
    return [*found, refused(X, (1, 2)), refused(X, (1, 2), dims=(0,)), refused(X, 1, dims=2)]


def _repeat_interleave(op: Op) -> list[Sample]:
    found = [call(X, count, dim=dim) for count in (0, 1, 3) for dim in (0, 1, None)]
    found += [call(X, of([2, 0, 1], "i64"), dim=0), call(t((3, 4), "i64"), 2, dim=-1)]
    return [*found, refused(X, -1, dim=0), refused(X, of([1, 2], "i64"), dim=0)]


def _multinomial(op: Op) -> list[Sample]:
    weights = t((5,), low=0.5, high=2, grad=False)
    found = [call(weights, count, replacement) for count in (1, 5) for replacement in (True, False)]
    return [*found, call(t((2, 5), low=0.5, high=2, grad=False), 3), refused(weights, 6)]


def _index_fill(op: Op) -> list[Sample]:
    index = of([2, 0, 2], "i64")
    found = [call(t((3, 4), d), 0, index, 2) for d in ("f64", "f32", "i64", "bf16")]
    found += [call(X, 1, index, -0.5), call(X, -1, of([], "i64"), 1.0), call(X, 0, index, t(()))]
    return [*found, refused(X, 2, index, 1.0), refused(X, 0, of([3], "i64"), 1.0)]


def _baddbmm(op: Op) -> list[Sample]:
    x, a, b = t((2, 3, 4)), t((2, 3, 5), seed="a"), t((2, 5, 4), seed="b")
    found = [call(x, a, b), call(x, a, b, beta=0.5, alpha=2), call(t((4,)), a, b)]
    return [*found, call(x, a, b, beta=0), refused(x, b, a), refused(t((2, 4)), a, b)]


OWN = {
    "roll": _roll,
    "repeat_interleave": _repeat_interleave,
    "multinomial": _multinomial,
    "index_fill": _index_fill,
    "baddbmm": _baddbmm,
}
