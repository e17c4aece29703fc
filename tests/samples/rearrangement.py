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


OWN = {"roll": _roll, "repeat_interleave": _repeat_interleave, "multinomial": _multinomial}
