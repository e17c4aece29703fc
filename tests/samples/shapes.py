"""Samples of views and of copies with another shape.

In: a row's name. Out: calls on contiguous, transposed, sliced, expanded, empty and 0-d tensors.
"""

from minitorch2 import dtypes
from minitorch2.ops.table import Op
from tests.samples.specs import Sample, call, refused, t

X = t((2, 3, 4))
MANY = (
    X,
    t((2, 3, 4), "f32", "permuted"),
    t((3, 4), "f64", "transposed"),
    t((3, 4), "f64", "sliced"),
    t((3, 4), "f64", "expanded"),
    t((3, 4), "i64"),
    t((2, 2), "bool"),
    t((3,), "bf16"),
    t((), "f64"),
    t((0, 3), "f64"),
    t((1, 3, 1), "f64"),
)


def each(*rest: object) -> list[Sample]:
    """One call for each of MANY with the same further arguments."""
    return [call(x, *rest) for x in MANY]


def _other_dtype(op: Op) -> list[Sample]:
    """The same memory as elements as wide, narrower and wider."""
    found = [call(t((3, 4), "f32"), wanted, 4) for wanted in (dtypes.int32, dtypes.int16)]
    found += [call(t((3, 4), "f32"), wanted, 4) for wanted in (dtypes.float64, dtypes.uint8)]
    found += [call(t((2, 3), "f64", "transposed"), dtypes.int64, 8)]
    found += [call(t((), "i32"), dtypes.float32, 4), call(t((0, 2), "i32"), dtypes.float64, 4)]
    found += [call(t((2, 3), "u8"), dtypes.bool, 1)]
    found += [refused(t((3, 3), "f32"), dtypes.float64, 4), refused(t((), "f32"), dtypes.int8, 4)]
    return [*found, refused(t((2, 4), "f32", "transposed"), dtypes.int64, 4)]


def _of_size(op: Op) -> list[Sample]:
    """view and reshape."""
    found = [call(X, shape) for shape in ((6, 4), (24,), (-1, 2), (2, 3, 2, 2), (2, 1, 3, 4))]
    found += [call(X, 4, 6), call(X, -1), call(t((), "f64"), ()), call(t((), "f64"), (1, 1))]
    found += [call(t((1,), "f64"), ()), call(t((0, 3), "f64"), (3, 0)), call(t((0, 3)), (0,))]
    found += [call(t((2, 3, 4), "f64", "sliced"), (6, 4)), call(t((1, 3, 1), "i64"), (3,))]
    found += [call(t((4, 3), "f64", "transposed"), (2, 2, 3)), call(t((0, 3)), (-1, 3))]
    found += [call(t((2, 3, 4), "f64", "expanded"), (2, 12))]
    found += [refused(X, (5, 5)), refused(X, (-1, -1)), refused(X, (-1, 5)), refused(X, (-2, 12))]
    found += [refused(t((0, 3)), (-1, 0))]
    torn = t((3, 4), "f64", "transposed")
    found.append(refused(torn, (12,)) if op.name == "view" else call(torn, (12,)))
    torn = t((2, 3, 4), "f64", "expanded")
    found.append(refused(torn, (24,)) if op.name == "view" else call(torn, (-1,)))
    return found


def _permute(op: Op) -> list[Sample]:
    found = [call(X, order) for order in ((2, 0, 1), (0, 1, 2), (-1, 0, 1))] + [call(X, 1, 0, 2)]
    found += [call(t((), "f64"), ()), call(t((0, 3)), (1, 0))]
    return [*found, refused(X, (0, 1)), refused(X, (0, 0, 1)), refused(X, (0, 1, 3))]


def _transpose(op: Op) -> list[Sample]:
    found = [call(X, 0, 2), call(X, -1, -2), call(X, 1, 1), call(t((), "f64"), 0, -1)]
    return [*found, call(t((0, 3)), 0, 1), refused(X, 0, 3), refused(t((), "f64"), 0, 1)]


def _expand(op: Op) -> list[Sample]:
    one = t((3, 1))
    found = [call(one, (3, 4)), call(one, -1, 4), call(one, (2, 3, 4)), call(one, (2, -1, -1))]
    found += [call(t((), "f64"), (2, 3)), call(t((), "f64"), ()), call(one, (3, 0))]
    found += [call(t((3, 1), "f32", "sliced"), (2, 3, 5)), call(t((0, 1)), (0, 3))]
    return [*found, refused(one, (4, 4)), refused(one, (3,)), refused(one, (-1, 3, 1))]


def _unsqueeze(op: Op) -> list[Sample]:
    found = [s for dim in (0, -1) for s in each(dim)] + [call(X, 2), call(X, -3)]
    return [*found, refused(X, 4), refused(X, -5)]


def _squeeze(op: Op) -> list[Sample]:
    one = t((1, 3, 1))
    found = [*each(), call(one, 0), call(one, 1), call(one, -1), call(one, (0, 2))]
    return [*found, call(one, (0, 1)), call(t((), "f64"), 0), refused(one, 3), refused(one, (0, 0))]


def _select(op: Op) -> list[Sample]:
    found = [
        call(X, 0, 1),
        call(X, 1, -1),
        call(X, -1, 0),
        call(MANY[1], 1, 2),
        call(t((3,)), 0, 1),
    ]
    return [*found, refused(X, 0, 2), refused(X, 0, -3), refused(X, 3, 0), refused(t(()), 0, 0)]


def _slice(op: Op) -> list[Sample]:
    found = [
        call(X, 0, 1, None, 1),
        call(X, 1, 0, 3, 2),
        call(X, 2, -3, -1, 1),
        call(X, 2, 3, 1, 1),
    ]
    found += [call(X, -1, -99, 99, 3), call(X, 1, None, None, 1), call(MANY[2], 0, 1, 3, 1)]
    return [*found, call(MANY[9], 1, 1, 2, 1), call(MANY[9], 0, 1, 2, 1), refused(X, 0, 0, 2, 0)]


def _as_strided(op: Op) -> list[Sample]:
    flat = t((12,))
    found = [call(flat, (3, 4), (4, 1)), call(flat, (2, 2), (1, 3), 2), call(flat, (3, 3), (1, 1))]
    found += [call(flat, (), (), 5), call(flat, (2, 3), (0, 1)), call(t((3, 4)), (4, 3), (1, 4))]
    return [
        *found,
        refused(flat, (3, 5), (4, 1)),
        refused(flat, (2,), (1, 1)),
        refused(flat, (2,), (-1,)),
    ]


def _diagonal(op: Op) -> list[Sample]:
    square = t((3, 4))
    found = [
        call(square),
        call(square, 1),
        call(square, -1),
        call(square, 0, 1, 0),
        call(X, 0, 1, 2),
    ]
    found += [call(X, 1, -2, -1), call(square, 9), call(t((3, 4), "f32", "transposed"), -1)]
    return [*found, refused(square, 0, 0, 0), refused(t((3,))), refused(square, 0, 0, 2)]


def _flatten(op: Op) -> list[Sample]:
    found = [*each(), call(X, 1), call(X, 0, 1), call(X, -2, -1), call(X, 1, 1), call(MANY[1], 1)]
    return [*found, refused(X, 2, 1), refused(X, 3)]


def _movedim(op: Op) -> list[Sample]:
    found = [call(X, 0, 2), call(X, (0, 1), (2, 0)), call(X, -1, 0), call(MANY[1], 1, -1)]
    return [*found, refused(X, (0, 1), (0,)), refused(X, 0, 3), refused(X, (0, 0), (1, 2))]


def _like(op: Op) -> list[Sample]:
    """expand_as, view_as, reshape_as."""
    if op.name == "expand_as":
        return [call(t((3, 1)), t((2, 3, 4))), call(t(()), t((2,))), refused(t((3,)), t((4,)))]
    return [call(X, t((6, 4))), call(t(()), t((1,))), refused(X, t((5,)))]


def _narrow(op: Op) -> list[Sample]:
    found = [
        call(X, 0, 1, 1),
        call(X, -1, 1, 2),
        call(X, 1, -2, 2),
        call(X, 1, 3, 0),
        call(X, 2, 0, 4),
    ]
    return [*found, refused(X, 1, 2, 2), refused(X, 1, 0, -1), refused(X, 1, 4, 0)]


def _split(op: Op) -> list[Sample]:
    found = [
        call(X, 2, 1),
        call(X, 1),
        call(X, 3, -1),
        call(X, 9),
        call(t((0, 3)), 2),
        call(t((3,)), 2),
    ]
    if op.name == "split":
        found += [call(X, (1, 3), 2), call(X, [1, 2, 0], dim=1), refused(X, (1, 1), 1)]
        found += [refused(X, -1), refused(X, 0), refused(X, (-1, 3), 0)]
    else:
        found += [call(X, 2, 2), call(t((7,)), 3), call(t((2,)), 5), refused(X, 0), refused(X, -1)]
    return [*found, refused(X, 1, 3), refused(t(()), 1)]


def _unbind(op: Op) -> list[Sample]:
    found = [call(X), call(X, 1), call(X, -1), call(t((0, 3))), call(MANY[1], 2)]
    return [*found, refused(X, 3), refused(t(()))]


def _repeat(op: Op) -> list[Sample]:
    found = [call(X, (1, 2, 1)), call(X, 2, 1, 1, 3), call(t((3,)), (2, 2)), call(t(()), (2,))]
    found += [call(t(()), ()), call(X, (0, 1, 1)), call(MANY[1], 2, 1, 2), call(t((3,), "bool"), 2)]
    return [*found, refused(X, (2,)), refused(t((3,)), (-1,))]


def _triangle(op: Op) -> list[Sample]:
    found = each()[:7] + [call(t((3, 4)), k) for k in (1, -1, 5, -5)] + [call(X, diagonal=1)]
    return [*found, call(t((0, 3))), call(t((3, 3), "f32", "transposed")), refused(t((3,)))]


def _sum_to_size(op: Op) -> list[Sample]:
    found = [call(X, size) for size in ((3, 4), (4,), (2, 1, 4), (1,), (2, 3, 4))] + [call(X, 3, 1)]
    return [
        *found,
        call(X, ()),
        call(t((), "f64"), ()),
        refused(X, (2, 3)),
        refused(X, (1, 2, 3, 4)),
    ]


def _unflatten(op: Op) -> list[Sample]:
    found = [call(X, 2, (2, 2)), call(X, -1, (-1, 4)), call(MANY[1], 0, (1, 2)), call(X, 1, (3,))]
    return [*found, refused(X, 2, (3, 2)), refused(X, 3, (1, 1))]


def _t(op: Op) -> list[Sample]:
    return [call(t((2, 3))), call(t((3,))), call(t(())), call(MANY[2]), call(MANY[3]), refused(X)]


def _unfold(op: Op) -> list[Sample]:
    x = t((3, 6))
    found = [call(x, 1, 2, 2), call(x, 1, 3, 1), call(x, 0, 2, 1), call(x, -1, 6, 1)]
    found += [call(t((3, 6), "f32", "transposed"), 1, 2, 3), call(x, 1, 0, 2)]
    return [*found, refused(x, 1, 7, 1), refused(x, 1, 2, 0), refused(x, 2, 1, 1)]


OWN = {
    "unfold": _unfold,
    "view": _of_size,
    "view_dtype": _other_dtype,
    "reshape": _of_size,
    "permute": _permute,
    "transpose": _transpose,
    "swapaxes": _transpose,
    "expand": _expand,
    "unsqueeze": _unsqueeze,
    "squeeze": _squeeze,
    "select": _select,
    "slice": _slice,
    "as_strided": _as_strided,
    "diagonal": _diagonal,
    "flatten": _flatten,
    "unflatten": _unflatten,
    "movedim": _movedim,
    **dict.fromkeys(("expand_as", "view_as", "reshape_as"), _like),
    "narrow": _narrow,
    **dict.fromkeys(("split", "chunk"), _split),
    "unbind": _unbind,
    "repeat": _repeat,
    **dict.fromkeys(("tril", "triu"), _triangle),
    "sum_to_size": _sum_to_size,
    "t": _t,
    **dict.fromkeys(
        ("detach", "alias", "clone", "contiguous", "contiguous_copy"), lambda op: each()
    ),
}
