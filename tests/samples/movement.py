"""Samples of rows that move elements: gather, scatter, index, concatenate, flip, sort.

In: a row's name. Out: calls with good indices, bad ones, empty ones, and repeated ones.
"""

from minitorch2.ops.table import Op
from tests.samples.specs import NON_FINITE, Sample, TensorSpec, call, of, refused, rough, t

X = t((3, 4))
NAN = NON_FINITE[0]


def ints(*values: object, dtype: str = "i64") -> TensorSpec:
    """An index tensor."""
    return of(list(values), dtype)


def _gather(op: Op) -> list[Sample]:
    index = ints([0, 1, 2, 0], [2, 2, 0, 1])
    found = [
        call(X, 0, index),
        call(X, 1, ints([3, 0, 0], [1, 1, 1])),
        call(X, -1, ints([3], [0], [1])),
    ]
    found += [call(t((3, 4), "i32"), 0, index), call(t((3, 4), "f32", "transposed"), 0, index)]
    found += [
        call(t(()), 0, of(0, "i64")),
        call(X, 1, t((3, 0), "i64")),
        call(t((3,)), 0, ints(2, 0, 2, 2)),
    ]
    found += [refused(X, 0, ints([3, 0])), refused(X, 0, ints([-1, 0])), refused(X, 0, ints(0, 1))]
    return [*found, refused(X, 2, index), refused(X, 0, ints([0.5, 0.2], dtype="f32"))]


def _scatter(op: Op) -> list[Sample]:
    index, source = ints([0, 1, 2, 0], [2, 2, 0, 1]), t((2, 4), seed="s")
    if op.name == "scatter":
        index = ints([0, 1, 2, 0], [2, 2, 0, 1])
    found = [call(X, 0, index, source), call(X, 0, index, t((3, 4), seed="l"))]
    found += [call(X, 1, ints([3, 0], [1, 2], [0, 1]), t((3, 3), seed="s"))]
    found += [call(t((3, 4), "i64"), 0, index, t((2, 4), "i64"))]
    found += [call(t((3, 4), "f32", "transposed"), 0, index, t((2, 4), "f32"))]
    found += [call(t((3,)), 0, ints(1), t((1,))), call(X, 0, t((0, 4), "i64"), source)]
    if op.name == "scatter_add":
        found.append(call(t((3,)), 0, ints(1, 1, 1, 0), t((4,))))
    else:
        found += [call(X, 0, index, 2.5), call(t((3, 4), "i64"), 1, ints([1], [2]), 7)]
    found += [call(t(()), 0, of(0, "i64"), t(()))]
    found += [refused(X, 0, ints([3, 0]), source), refused(X, 2, index, source)]
    return [*found, refused(X, 0, index, t((2, 4), "f32")), refused(X, 0, ints(0, 1), source)]


def _index_select(op: Op) -> list[Sample]:
    found = [call(X, 0, ints(2, 0, 2)), call(X, 1, ints(3)), call(X, -1, ints(0, 0, dtype="i32"))]
    found += [call(X, 0, of(1, "i64")), call(X, 0, t((0,), "i64")), call(t(()), 0, ints(0))]
    found += [
        call(t((2, 3, 4), "f32", "permuted"), 1, ints(1, 1)),
        call(t((3, 4), "bool"), 0, ints(1)),
    ]
    return [*found, refused(X, 0, ints(3)), refused(X, 0, ints(-1)), refused(X, 0, ints([0]))]


def _index_add(op: Op) -> list[Sample]:
    found = [
        call(X, 0, ints(2, 0, 2), t((3, 4), seed="s")),
        call(X, 1, ints(3), t((3, 1), seed="s")),
    ]
    found += [
        call(t((3, 4), "i64"), 0, ints(1, 1), t((2, 4), "i64")),
        call(t((3,)), 0, of(1, "i64"), t((1,))),
    ]
    found += [call(X, 0, t((0,), "i64"), t((0, 4)))]
    return [*found, refused(X, 0, ints(3), t((1, 4))), refused(X, 0, ints(0), t((2, 4)))]


INDEX_LISTS = (
    (ints(2, 0, 2),),
    (None, ints(3, -1)),
    (ints(0, 1), ints(1, 2)),
    (ints([0], [1]), ints(1, 2, 3)),
    (ints(-3, 2), None),
)


def _index(op: Op) -> list[Sample]:
    found = [call(X, indices) for indices in INDEX_LISTS]
    cube = t((2, 3, 4))
    found += [
        call(cube, (ints(0, 1), None, ints(1, 2))),
        call(cube, (None, ints(0, 1), ints(1, 2))),
    ]
    found += [call(cube, (None, ints([0, 1]), None)), call(cube, (t((0,), "i64"),))]
    found += [call(t((2, 3, 4), "f32", "permuted"), (ints(1, 0),)), call(cube, (of(1, "i64"),))]
    found += [
        call(t((3, 4), "i32"), (ints(1),)),
        call(X, (t((3,), "bool"),)),
        call(X, (t((3, 4), "bool"),)),
    ]
    found += [
        refused(X, (ints(3),)),
        refused(X, (ints(-4),)),
        refused(X, (ints(0, 1), ints(0, 1, 2))),
    ]
    return [*found, refused(X, (ints(0), ints(0), ints(0))), refused(X, (of([0.5]),))]


def _index_put(op: Op) -> list[Sample]:
    found = []
    for indices, shape in zip(INDEX_LISTS, ((3, 4), (3, 2), (2,), (2, 3), (2, 4)), strict=True):
        found.append(call(X, indices, t(shape, seed="v"), True))
    found += [call(X, (ints(0, 1), ints(1, 2)), t((2,), seed="v"))]
    found += [
        call(X, (None, ints(3, 1)), t((), seed="v")),
        call(X, (ints(2, 1),), t((4,), seed="v")),
    ]
    found += [call(X, (ints(2, 2),), t((2, 4), seed="v"), accumulate=True)]
    found += [call(t((3, 4), "i64"), (ints(2),), t((1,), "i64"))]
    found += [call(X, (t((3, 4), "bool"),), t((), seed="v")), call(X, (t((0,), "i64"),), t((0, 4)))]
    found += [refused(X, (ints(3),), t(())), refused(X, (ints(0, 1),), t((3, 4)))]
    return [*found, refused(X, (ints(0),), t((1,), "f32"))]


def _nonzero(op: Op) -> list[Sample]:
    found = [call(t((3, 4), d)) for d in ("bool", "i64", "f32")]
    return [
        *found,
        call(t(())),
        call(of(0.0)),
        call(t((0, 3))),
        call(t((3, 4), "i64", "transposed")),
    ]


def _cat(op: Op) -> list[Sample]:
    y = t((2, 4), seed="y")
    if op.name == "stack":
        pair = (X, t((3, 4), seed="y"))
        found = [call(pair), call(pair, 1), call(pair, -1), call([X], 2), call((t(()), t(())))]
        found += [call((t((3, 4), "f32", "transposed"),) * 2, 1), call((t((0,)), t((0,))))]
        found += [call((t((3,), "i64"), t((3,), "f32")))]
        return [*found, refused((X, y)), refused(pair, 3), refused(())]
    found = [call((X, y)), call([X, X], 1), call((X, X), -1), call((X,)), call((X, t((0,))))]
    found += [call((t((0,)), t((0,)))), call((X, t((0, 4)))), call((t((0,)), X), 1)]
    found += [call((t((2,), "i64"), t((2,), "f32"))), call((t((2,), "bool"), t((1,), "u8")))]
    found += [call((t((3, 4), "f32", "transposed"), t((3, 4), "f32", "transposed")))]
    found += [call((t((2, 3, 4), "f32", "permuted"), t((2, 3, 4), "f32", "permuted")), 1)]
    found += [refused((X, t((3,)))), refused((X, t((2, 3)))), refused((X, y), 2), refused(())]
    return [*found, refused((t(()), t(()))), call((t((0,), "i64"), t((2, 2), "f32")), 1)]


def _flip(op: Op) -> list[Sample]:
    found = [call(X, 0), call(X, (0, 1)), call(X, (-1,)), call(X, ()), call(t((2, 3, 4)), (0, 2))]
    found += [call(t(()), ()), call(t((0, 3)), (0,)), call(t((3, 4), "i64", "transposed"), 0)]
    return [*found, refused(X, (0, 0)), refused(X, 2)]


def _scatter_views(op: Op) -> list[Sample]:
    if op.name == "slice_scatter":
        found = [call(X, t((1, 4), seed="s"), 0, 1, 2), call(X, t((3, 2), seed="s"), 1, 0, 4, 2)]
        found += [call(X, t((3, 4), seed="s")), call(X, t((3, 2), seed="s"), dim=-1, start=-2)]
        return [
            *found,
            refused(X, t((2, 4)), 0, 1, 2),
            call(t((3, 4), "f32", "transposed"), t((1, 4), "f32"), 0, 0, 1),
        ]
    if op.name == "select_scatter":
        found = [call(X, t((4,), seed="s"), 0, 1), call(X, t((3,), seed="s"), 1, -1)]
        return [
            *found,
            call(t((3,)), t(()), 0, 1),
            refused(X, t((3,)), 0, 1),
            refused(X, t((4,)), 0, 3),
        ]
    if op.name == "diagonal_scatter":
        found = [
            call(X, t((3,), seed="s")),
            call(X, t((3,), seed="s"), 1),
            call(X, t((2,), seed="s"), -1),
        ]
        return [*found, call(t((2, 3, 4)), t((2, 3), seed="s"), 0, 1, 2), refused(X, t((2,)))]
    if op.name == "as_strided_add":
        found = [call(t((6,)), t((2, 2), seed="s"), (2, 2), (1, 1), 1)]
        return [*found, call(t((6,)), t((2, 3), seed="s"), (2, 3), (0, 1), 0)]
    found = [
        call(t((6,)), t((2, 2), seed="s"), (2, 2), (1, 2), 1),
        call(X, t((4,), seed="s"), (4,), (1,)),
    ]
    return [*found, refused(t((6,)), t((3,)), (2, 2), (1, 2))]


def _sort(op: Op) -> list[Sample]:
    found = []
    if op.name == "topk":
        found = [call(X, 2), call(X, 1, 0), call(X, 4, -1), call(X, 2, 1, False), call(X, 0)]
        found += [
            call(t((3, 4), "i64", low=-99, high=99), 2),
            call(t((5,), "f32"), k=3, largest=False),
        ]
        return [*found, call(t(()), 1), refused(X, 5), refused(X, 1, 2), refused(X, -1)]
    if op.name == "sort_first":
        wide = t((2, 40))
        found = [call(wide, dim, 2, last) for dim in (1, 0) for last in (False, True)]
        found += [call(t((40, 3), "f32", "transposed"), 0, 3, last) for last in (False, True)]
        found += [call(t(()), 0, 1, True), call(X, 1, 0, True), call(X, -1, 4, False)]
        outside = [refused(x, 0, k, True) for x, k in ((wide, 3), (X, -1), (t(()), 2), (X, 4))]
        return [*found, *outside, refused(wide, 1, 41, False), refused(wide, 2, 1, False)]
    for dim in (-1, 0):
        for descending in (False, True):
            found.append(call(X, dim, descending))
            found.append(call(t((3, 4), "f32", "transposed"), dim, descending))
    found += [call(t((9,), "i64"), stable=True), call(t((9,), "i64"), descending=True, stable=True)]
    found += [
        rough(of([2.0, NAN, -1.0, 3.0, -0.0, 0.0])),
        call(t(())),
        call(t((0,))),
        call(t((2, 0))),
    ]
    found += [rough(of([2.0, NAN, -1.0, 3.0]), 0, True), call(t((4,), "bool"), stable=True)]
    return [*found, call(t((5,), "bf16"), stable=True), refused(X, 2)]


OWN = {
    "gather": _gather,
    **dict.fromkeys(("scatter", "scatter_add"), _scatter),
    "index_select": _index_select,
    "index_add": _index_add,
    "index": _index,
    "index_put": _index_put,
    "nonzero": _nonzero,
    **dict.fromkeys(("cat", "stack"), _cat),
    "flip": _flip,
    **dict.fromkeys(
        (
            "slice_scatter",
            "select_scatter",
            "diagonal_scatter",
            "as_strided_scatter",
            "as_strided_add",
        ),
        _scatter_views,
    ),
    **dict.fromkeys(("sort", "sort_first", "argsort", "topk"), _sort),
}
