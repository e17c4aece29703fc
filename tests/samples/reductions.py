"""Samples of reductions: dimensions, keepdim, layouts, empty and 0-d tensors for every row.

In: a row's name. Out: calls; rows whose arguments are their own have a function here.
"""

from minitorch2 import dtypes
from minitorch2.ops.table import Op
from tests.samples.specs import Sample, call, of, refused, rough, t

INF, NAN = float("inf"), float("nan")
NO_DTYPE = ("amax", "amin", "any", "all", "argmax", "argmin", "var", "std", "var_mean", "logsumexp")
ONE_DIM = ("argmax", "argmin", "max_dim", "min_dim", "cumsum")
FLOAT_ONLY = ("mean", "var", "std", "var_mean", "norm")


def over_dims(op: Op) -> list[Sample]:
    """`op(x, dim, keepdim)` for None, one and several dimensions."""
    dims = [(), (0,), (-1,), (0, 2)] if op.name == "logsumexp" else [None, 0, -1, (0, 2), (1,), ()]
    found = []
    for dim in dims:
        for keepdim in (False, True):
            refuse = op.name == "logsumexp" and dim == () and not keepdim
            found.append((refused if refuse else call)(t((2, 3, 4), "f64"), dim, keepdim=keepdim))
        if op.name != "logsumexp" or dim:
            found.append(call(t((2, 3, 4), "f32", "permuted"), dim))
    for dtype in ("f32", "i64", "i32", "u8", "bool", "bf16", "f16"):
        whole = (0,) if op.name == "logsumexp" else None
        found.append(call(t((3, 4), dtype), whole))
        found.append(call(t((3, 4), dtype), (1,), keepdim=True))
    first = (0,) if op.name == "logsumexp" else 0
    found += [call(t((), "f64"), first), call(t((), "f32"), first, keepdim=True)]
    found += [
        call(t((0, 3), "f64"), (0,)),
        call(t((0, 3), "f64"), (1,)),
        call(t((2, 0), "i64"), (1,)),
    ]
    for layout in ("transposed", "sliced", "expanded"):
        found.append(call(t((3, 4), "f64", layout), (0,)))
    found.append(rough(of([[1.0, NAN, 2.0], [INF, 3.0, -INF]], "f64"), (1,)))
    found.append(rough(of([[INF, 1.0], [-INF, 1.0]], "f32"), (0,)))
    found.append(rough(of([-0.0, -0.0], "f64"), (0,)))
    found.append(rough(of([[1.0, 1.0, 0.0], [2.0, 2.0, 2.0]], "f64"), (1,)))
    found += [refused(t((2, 3), "f32"), (2,)), refused(t((2, 3), "f32"), (0, 0))]
    return found


def _bools_over_dims(op: Op) -> list[Sample]:
    """As `any` and `all`, where those are the primitive: a bool, over dimensions that are named."""
    return [
        sample
        for sample in over_dims(op)
        if sample.args[1:] != ((),) and sample.args[0].dtype is not dtypes.uint8
    ]


def _typed(op: Op) -> list[Sample]:
    found = over_dims(op)
    found += [
        call(t((3,), "i64"), dtype=dtypes.float32),
        call(t((3,), "f32"), dtype=dtypes.float64),
        call(t((3,), "bf16"), dtype=dtypes.float32),
    ]
    if op.name != "mean":
        found.append(call(t((3,), "bool"), dtype=dtypes.int32))
        found.append(rough(of([2**31 - 1, 1], "i32")))
    return found


def _prod(op: Op) -> list[Sample]:
    found = [s for s in over_dims(op) if isinstance(s.args[1], int)]
    for zeros in ([1.0, 0.0, 3.0], [0.0, 0.0, 3.0], [1.0, 2.0, 3.0]):
        found.append(call(of(zeros, "f64")))
        found.append(call(of([zeros, [1.0, 2.0, 0.0]], "f64"), 1))
        found.append(call(of([zeros, [1.0, 2.0, 0.0]], "f64"), 0, keepdim=True))
    found += [call(t((3,), "i64"), dtype=dtypes.float64), rough(of([100, 100, 100], "i8"))]
    found += [call(t((0, 3), "f64"), 0), call(t((0,), "f64"))]
    return found


def _amax(op: Op) -> list[Sample]:
    found = [s for s in over_dims(op) if s.args[1] is not None]
    found += [call(t((2, 3), "f64")), call(t((2, 3), "f64"), dim=1, keepdim=True)]
    found += [rough(of([1.0, 3.0, 3.0], "f64")), rough(of([True, False], "bool"))]
    return found


def _one_dim(op: Op) -> list[Sample]:
    found = []
    optional = op.name in ("argmax", "argmin")
    for dim in (0, 1, -1):
        found.append(call(t((2, 3, 4), "f64"), dim))
        if op.name != "logsumexp" or dim:
            found.append(call(t((2, 3, 4), "f32", "permuted"), dim))
        if op.name != "cumsum":
            found.append(call(t((2, 3, 4), "f64", "transposed"), dim, keepdim=True))
    for dtype in ("f32", "i64", "i32", "i8", "u8", "bf16", "f16", "bool"):
        found.append(call(t((3, 4), dtype), 1))
    found += [call(t((), "f64"), 0), call(t((), "i64"), -1), call(t((2, 0), "f64"), 0)]
    found += [rough(of([[1.0, NAN, 2.0], [5.0, 5.0, 1.0]], "f64"), 1)]
    found += [refused(t((2, 3), "f32"), 2)]
    if op.name != "cumsum":
        found.append(refused(t((2, 0), "f64"), 1))
        found.append(call(t((), "f64"), 0, keepdim=True))
    else:
        found += [call(t((2, 0), "f64"), 1), call(t((3,), "i64"), 0, dtype=dtypes.float32)]
        found += [rough(of([1.0, INF, -INF, 2.0], "f64"), 0), call(t((3,), "f64"), dim=0)]
    if optional:
        found += [call(t((2, 3), "f64")), call(t((2, 3), "f64", "transposed"), keepdim=True)]
        found += [call(t((), "f32")), rough(of([1.0, NAN, NAN], "f32")), refused(t((0,), "f32"))]
        found.append(rough(of([INF, INF, -INF], "f32")))
    return found


def _var(op: Op) -> list[Sample]:
    found = []
    x = t((3, 4), "f64")
    for kwargs in ({}, {"correction": 0}, {"correction": 1}, {"correction": 2}):
        for dim in (None, 0, (0, 1)):
            found.append(call(x, dim=dim, **kwargs))
            found.append(call(x, dim=dim, keepdim=True, **kwargs))
    found += [call(x, unbiased=False), call(x, 1, False), call(x, 1, True, True), call(x)]
    found += [call(t((3, 4), d), dim=1) for d in ("f32", "bf16", "f16")]
    found += [call(t((2, 3, 4), "f32", "permuted"), dim=(0, 2))]
    found += [rough(t((1,), "f64")), rough(of([2.0, NAN], "f64")), rough(t((3, 1), "f64"), dim=1)]
    found += [refused(t((3,), "i64")), rough(t((0,), "f64"))]
    return found


def _norm(op: Op) -> list[Sample]:
    found = []
    for p in ("fro", 2, 1, 3, 0.5, 0, INF, -INF):
        found.append(call(t((3, 4), "f64"), p))
        if p != "fro":
            found.append(call(t((3, 4), "f64"), p, 1))
            found.append(call(t((3, 4), "f32", "transposed"), p, 0, True))
    zero = of([[0.0, 0.0], [3.0, 4.0]], "f64")
    found += [call(t((2, 3), "f64"), dim=(0, 1)), call(t((), "f64")), rough(zero, 2, 1)]
    found += [
        rough(zero, 1, 1),
        rough(of([0.0, 0.0], "f64")),
        rough(zero, 3, 1),
        rough(zero, INF, 1),
    ]
    found += [call(t((3,), "f32"), 2, dtype=dtypes.float64), call(t((3,), "bf16"))]
    found += [call(t((0, 2), "f64"), 2, 0), refused(t((3,), "i64"))]
    return found


def _logsumexp(op: Op) -> list[Sample]:
    found = over_dims(op)
    found += [rough(of([[-INF, -INF], [1.0, -INF]], "f64"), (1,))]
    found += [call(of([1000.0, 1000.5], "f32"), (0,)), call(t((2, 3), "f64"), dim=1)]
    return found


OWN = {
    "sum": _typed,
    "mean": _typed,
    "prod": _prod,
    "amax": _amax,
    "amin": _amax,
    "var": _var,
    "std": _var,
    "var_mean": _var,
    "norm": _norm,
    "logsumexp": _logsumexp,
    "any": over_dims,
    "all": over_dims,
    "any_true": _bools_over_dims,
    "all_true": _bools_over_dims,
    **dict.fromkeys(ONE_DIM, _one_dim),
}
