"""Samples of rows that accumulate, describe, search and pick.

In: a row's name. Out: calls along each dimension, with ties, nans, empty tensors, bad arguments.
"""

from tests.samples.probability import scatter_reduce
from tests.samples.specs import NON_FINITE, Sample, call, of, refused, rough, t

X = t((3, 4))
NAN, INF, _ = NON_FINITE
MASK = t((3, 4), "bool")


def _running(op) -> list[Sample]:
    found = [call(X, 0), call(X, 1), call(X, -1), call(t(()), 0), call(t((0, 3)), 1)]
    found += [call(t((3, 4), "f32", "transposed"), 0), call(t((2, 3, 2), "f32"), 1)]
    found += [refused(X, 2)]
    if op.name != "logcumsumexp":
        found += [call(t((5,), "i64"), 0)]
    if op.name == "cumprod":
        found += [rough(of([2.0, 0.0, 3.0, 0.0, 4.0], grad=False), 0)]
        found += [rough(of([2.0, 0.0, 3.0], grad=False), 0), call(t((3,), "bool"), 0)]
    else:
        found += [rough(of([1.0, 3.0, NAN, 2.0, 5.0], grad=False), 0)]
    if op.name in ("cummax", "cummin"):
        found += [call(t((8,), "i64", low=0, high=3), 0)]
    return found


def _diff(op) -> list[Sample]:
    found = [call(X), call(X, 2), call(X, 1, 0), call(X, n=0), call(t((3,), "bool"))]
    found += [call(X, 1, -1, t((3, 1), seed="p")), call(X, append=t((3, 2), seed="p"))]
    return [*found, call(t((4,), "i64")), refused(t(())), refused(X, -1)]


def _trapezoid(op) -> list[Sample]:
    found = [call(X), call(X, t((4,), seed="x")), call(X, dx=0.5), call(X, dim=0)]
    return [*found, call(X, t((3, 4), seed="x")), call(X, t((3,), seed="x"), dim=0)]


def _std_mean(op) -> list[Sample]:
    return [call(X), call(X, 0), call(X, (0, 1), True), call(X, 1, False, True)]


def _kthvalue(op) -> list[Sample]:
    found = [call(X, 2), call(X, 1, 0), call(X, 4, 1, True), call(t(()), 1), refused(X, 5)]
    return [*found, refused(X, 0), call(t((3, 4), "f32", "transposed"), 2, 0)]


def _median(op) -> list[Sample]:
    if op.name == "median_all":
        found = [call(X), call(t((5,))), call(t(())), call(t((4,), "i64"))]
        return [*found, rough(of([1.0, NAN, 2.0], grad=False))]
    found = [call(X, 0), call(X, 1, True), call(t((5,)), 0), call(t(()), 0)]
    return [*found, rough(of([[1.0, NAN, 2.0], [3.0, 1.0, 2.0]], grad=False), 1), refused(X, 2)]


def _quantile(op) -> list[Sample]:
    q = of([0.0, 0.25, 0.6, 1.0], grad=False)
    found = [call(X, 0.3), call(X, q), call(X, q, 0), call(X, q, 1, True), call(X, 0.5, 0)]
    for how in ("lower", "higher", "midpoint", "nearest"):
        found.append(call(X, 0.4, 1, interpolation=how))
    found += [rough(of([[1.0, NAN], [2.0, 3.0]], grad=False), 0.5, 1)]
    return [*found, refused(t((3,), "i64"), 0.5), call(t((5,), "f32"), 0.1, keepdim=True)]


def _mode(op) -> list[Sample]:
    found = [rough(of([[2, 1, 2, 1], [3, 3, 1, 0]], "f64"), 1), call(t((8,), "i64", low=0, high=3))]
    return [*found, call(X, 0, True), call(t(()), 0)]


def _histc(op) -> list[Sample]:
    found = [call(X, 5), call(X, 4, -2, 2), call(t((3,), "f32"), 3), call(t((0,)), 3, 0, 1)]
    return [*found, refused(t((3,), "i64"), 3), refused(X, 0), refused(X, 3, 2, 1)]


def _bincount(op) -> list[Sample]:
    x = of([1, 3, 1, 0], "i64")
    return [call(x), call(x, minlength=6), call(x, t((4,), grad=False)), call(t((0,), "i64"))]


def _hash(op) -> list[Sample]:
    found = [call(t((2, 3, 4), d, grad=False)) for d in ("f32", "f64", "f16", "bf16")]
    found += [call(t((3, 4), d), dim) for d in ("i64", "u8", "bool") for dim in (0, (0, 1), -1)]
    found += [call(t((2, 3), "i32"), 1, keepdim=True), call(t((), "f32", grad=False))]
    found += [
        call(of([NAN, -0.0, -1.0], grad=False)),
        call(t((0, 2), "i64"), 1),
        refused(t((0, 2), "i64"), 0),
    ]
    return [*found, refused(t((0,), "i64")), refused(t((2,), "i64"), mode=1)]


def _over(op) -> list[Sample]:
    holes = of([[1.0, NAN, 2.0], [NAN, 3.0, 4.0]])
    found = [call(holes), call(holes, 0), call(X, 1)]
    if op.name == "count_nonzero":
        return [*found, call(t((3, 4), "i64"), 0), call(MASK, (0, 1))]
    return [*found, call(holes, 1, True), call(X, (0, 1)), call(t((3,), "f32"))]


def _aminmax(op) -> list[Sample]:
    return [call(X), call(X, dim=0), call(X, dim=1, keepdim=True), call(t((3,), "i64"))]


def _cov(op) -> list[Sample]:
    found = [call(X), call(t((5,))), call(t((2, 6), "f32"))]
    if op.name == "corrcoef":
        return found
    counts, weights = of([1, 0, 3, 2], "i64"), t((4,), low=0.5, high=2, seed="w", grad=False)
    found += [call(X, correction=0), call(X, fweights=counts), call(X, aweights=weights)]
    return [*found, call(X, fweights=counts, aweights=weights), refused(X, fweights=weights)]


EDGES = of([1.0, 2.0, 3.5, 5.0], grad=False)


def _bucketize(op) -> list[Sample]:
    values = t((3, 4), low=0, high=6, grad=False)
    if op.name == "bucketize":
        found = [call(values, EDGES), call(values, EDGES, right=True), call(2.0, EDGES)]
        found += [call(of([1, 2, 9], "i64"), of([1, 2, 5], "i64"), out_int32=True)]
        return [*found, refused(values, t((2, 2)))]
    rows = of([[1.0, 2.0, 3.0], [0.0, 4.0, 5.0]], grad=False)
    found = [call(EDGES, values), call(EDGES, values, right=True), call(EDGES, 2.0)]
    found += [call(rows, of([[2.0, 9.0], [4.0, -1.0]], grad=False), side="right")]
    return [*found, refused(rows, values), call(EDGES, t((3,), "f32", grad=False))]


def _isin(op) -> list[Sample]:
    x = of([[1, 2, 3], [4, 5, 2]], "i64")
    found = [call(x, of([2, 4], "i64")), call(x, of([2, 4], "i64"), invert=True), call(x, 2)]
    return [*found, call(2, x), call(of([1.0, 2.0]), of([2.0]))]


def _unique(op) -> list[Sample]:
    x = of([3, 1, 3, 2, 2, 2], "i64")
    return [call(x), call(of([[1.0, 1.0], [1.0, 1.0], [0.0, 2.0]], grad=False), 0), call(x, dim=0)]


def _masked_select(op) -> list[Sample]:
    found = [call(X, MASK), call(X, t((4,), "bool")), call(t((4,)), MASK)]
    return [*found, call(t((3, 4), "i64"), MASK), refused(X, t((3, 4), "i64"))]


def _argwhere(op) -> list[Sample]:
    return [call(MASK), call(t((3,), "i64")), call(t((2, 0)))]


def _masked_scatter(op) -> list[Sample]:
    source = t((3, 5), seed="s")
    found = [call(X, MASK, source), call(t((3, 4), "i64"), MASK, t((12,), "i64"))]
    return [*found, refused(X, MASK, t((15,), "f32")), refused(X, t((3, 4), "i64"), source)]


def _take(op) -> list[Sample]:
    found = [call(X, of([[0, 5], [11, -1]], "i64")), call(X, of(3, "i64"))]
    return [*found, refused(X, of([12], "i64"))]


def _take_along(op) -> list[Sample]:
    found = [call(X, of([[0], [3], [1]], "i64"), 1), call(X, of([[0, 2, 1, 1]], "i64"), 0)]
    return [*found, call(X, of([0, 7], "i64")), refused(X, of([0], "i64"), 0)]


def _index_copy(op) -> list[Sample]:
    found = [call(X, 0, of([2, 0], "i64"), t((2, 4), seed="s"))]
    found += [
        call(X, 1, of([3], "i64"), t((3, 1), seed="s")),
        call(X, -1, of([1, 0], "i64"), t((3, 2))),
    ]
    return [*found, refused(X, 0, of([3], "i64"), t((1, 4)))]


def _scatter_reduce(op) -> list[Sample]:
    index, source = of([[0, 1, 2, 0], [0, 2, 0, 1]], "i64"), t((2, 4), seed="s")
    found = []
    for how in ("sum", "mean"):
        found += [
            call(X, 0, index, source, how),
            call(X, 0, index, source, how, include_self=False),
        ]
    return found + scatter_reduce(op)


def _pool(op) -> list[Sample]:
    image = t((2, 2, 5, 6))
    found = [call(image, (2, 2), (2, 2), (0, 0), (1, 1), False)]
    found += [call(image, (3, 2), (2, 1), (1, 1), (1, 2), True)]
    found += [call(image, (2, 2), (3, 3), (0, 0), (1, 1), True)]
    found += [
        rough(of([[[[1.0, NAN], [1.0, 1.0]]]], grad=False), (2, 2), (1, 1), (1, 1), (1, 1), False)
    ]
    found += [call(t((2, 5, 6), "f32"), (2, 2), (2, 2), (0, 0), (1, 1), False)]
    found += [refused(image, (2, 2), (2, 2), (2, 2), (1, 1), False)]
    return [*found, refused(t((1, 1, 2, 2)), (3, 3), (1, 1), (0, 0), (1, 1), False)]


OWN = {
    **dict.fromkeys(("cumprod", "cummax", "cummin", "logcumsumexp"), _running),
    "diff": _diff,
    "trapezoid": _trapezoid,
    "std_mean": _std_mean,
    "kthvalue": _kthvalue,
    **dict.fromkeys(("median_all", "median_dim"), _median),
    "quantile": _quantile,
    "mode": _mode,
    "histc": _histc,
    "bincount": _bincount,
    "hash_tensor": _hash,
    **dict.fromkeys(("nansum", "nanmean", "count_nonzero"), _over),
    "aminmax": _aminmax,
    **dict.fromkeys(("cov", "corrcoef"), _cov),
    **dict.fromkeys(("bucketize", "searchsorted"), _bucketize),
    "isin": _isin,
    **dict.fromkeys(("unique_parts", "unique_consecutive_parts"), _unique),
    "masked_select": _masked_select,
    "argwhere": _argwhere,
    "masked_scatter": _masked_scatter,
    "take": _take,
    "take_along_dim": _take_along,
    "index_copy": _index_copy,
    "scatter_reduce": _scatter_reduce,
    "max_pool": _pool,
}
