"""Samples of neural networks' rows, matrix products, clamps, fills, and creation.

In: a row's name. Out: calls as torch.nn.functional and torch's creation functions take them.
"""

from collections.abc import Callable
from typing import Any

from minitorch2 import dtypes
from minitorch2.ops.table import Op
from tests.samples.pointwise import ALL
from tests.samples.specs import NON_FINITE, SPECIALS, Sample, call, of, refused, rough, t

X = t((3, 4))
NAN = NON_FINITE[0]
VALUES = (*SPECIALS, *NON_FINITE)


def activation(*variants: dict) -> Callable[[Op], list[Sample]]:
    """Calls of an activation: dtypes, layouts, special values, and keyword variants."""

    def samples(op: Op) -> list[Sample]:
        found = [call(t((3, 4), d)) for d in ("f64", "f32", "bf16", "f16")]
        found += [call(t(())), call(t((0, 2))), call(t((3, 4), "f32", "transposed"))]
        found += [call(t((2, 3, 4), "f32", "permuted")), call(t((3, 4), "f64", "expanded"))]
        found += [call(X, **variant) for variant in variants]
        found += [rough(of([v for v in VALUES if v == v], d)) for d in ("f64", "f32")]
        return [*found, rough(of([NAN, 30.0, -30.0, 100.0, -100.0], "f64"))]

    return samples


def _softmax(op: Op) -> list[Sample]:
    found = [call(t((2, 3, 4)), dim) for dim in (0, 1, -1)] + [call(t((3, 4), "bf16"), 1)]
    found += [call(t((3, 4), "f32", "transposed"), 0), call(t(()), 0), call(t((0, 3)), 1)]
    found += [call(t((3, 4), "f32"), 1, dtype=dtypes.float64), call(t((2, 0)), 1)]
    found += [call(t((3, 4), "i64"), 1, dtype=dtypes.float32), call(of([1000.0, 0.0], "f32"), 0)]
    found += [rough(of([NON_FINITE[2], 0.0, 1.0]), 0), rough(of([NON_FINITE[2]] * 2), 0)]
    return [*found, rough(of([NON_FINITE[1], 0.0]), 0), refused(X, 2), refused(t((3,), "i64"), 0)]


def _softmax_backward(op: Op) -> list[Sample]:
    """Of any numbers, whether or not they can be a result."""
    found = [call(t((2, 3, 4)), t((2, 3, 4), seed="a"), dim) for dim in (0, 1, -1)]
    found += [call(t((3, 4), d), t((3, 4), d, seed="a"), 1) for d in ("f32", "bf16")]
    return [*found, call(t(()), t((), seed="a"), 0), call(t((0, 3)), t((0, 3), seed="a"), 1)]


def _clamp(op: Op) -> list[Sample]:
    bounds = [(-1, 1), (None, 1), (-1, None), (-0.5, 0.5), (1, -1)]
    found = [
        call(t((3, 4), d), low, high) for d in ("f64", "i64", "u8", "bf16") for low, high in bounds
    ]
    found += [call(X, min=t((4,), seed="a"), max=t((3, 1), seed="b")), call(X, t((4,), seed="a"))]
    found += [call(t((3,), "i64"), min=t((3,), "f32")), call(t(()), -1, 1), call(t((0,)), 0)]
    found += [rough(of([-1.0, 1.0, 0.0, NAN]), -1, 1), rough(of([1, 2, 3], "f64"), 2, 2)]
    found += [rough(of([1.0, 2.0, 3.0]), of([1.0, 2.0, 2.0]), of([3.0, 2.0, 2.0])), refused(X)]
    found += [rough(of([1.0, NAN]), NAN), call(t((3, 4), "f32", "transposed"), 0.0, 1.0)]
    return [*found, refused(X, t((5,)), t((5,))), call(t((3,), "bool"), 0, 1)]


def _clamp_one(op: Op) -> list[Sample]:
    found = [call(t((3, 4), d), 0.5 if d[0] in "fb" else 1) for d in ALL if d != "bool"]
    found += [
        call(X, t((4,), seed="a")),
        rough(of([0.0, 1.0, NAN]), 1.0),
        call(t((3,), "i64"), 0.5),
    ]
    return [*found, call(t(()), 1), refused(t((3,)), t((4,)))]


def _masked_fill(op: Op) -> list[Sample]:
    mask = t((3, 4), "bool")
    found = [call(t((3, 4), d), mask, 1) for d in ALL] + [call(X, mask, 2.5), call(X, mask, t(()))]
    found += [call(X, t((4,), "bool"), 0), call(t((4,)), mask, -1.0), rough(X, mask, float("-inf"))]
    found += [
        call(t((3, 4), "f32"), mask, of(2.0, "f64")),
        call(t((3, 4), "f32", "transposed"), mask, 0),
    ]
    return [*found, call(t((3, 4), "i64"), mask, 2.5), refused(X, t((3, 4), "i64"), 0)]


def _addc(op: Op) -> list[Sample]:
    a, b = t((3, 4), seed="a"), t((4,), low=0.5, seed="b")
    found = [
        call(X, a, b),
        call(X, a, b, value=0.5),
        call(t((4,)), a, b),
        call(t(()), t(()), t((), low=1)),
    ]
    found += [call(t((3,), "f32"), t((3,), "f32"), t((3,), "f32", low=1), value=2)]
    found.append(call(t((3,), "bf16"), t((3,), "bf16"), t((3,), "bf16", low=1)))
    if op.name == "addcmul":
        found.append(call(t((3,), "i64"), t((3,), "i64"), t((3,), "i64")))
    return [*found, refused(X, t((5,)), b)]


def _div(op: Op) -> list[Sample]:
    found = []
    for mode in (None, "floor", "trunc"):
        for d in ("f64", "f32", "i64", "u8", "bf16"):
            found.append(
                call(t((3, 4), d, low=-9, high=9), t((4,), d, low=1, high=4), rounding_mode=mode)
            )
        found.append(call(t((3,), "i64", low=-9, high=9), 2, rounding_mode=mode))
        found.append(call(t((3,), "i64", low=-9, high=9), 2.5, rounding_mode=mode))
        found.append(rough(of([[v] for v in VALUES]), of(VALUES), rounding_mode=mode))
        found.append(
            rough(of([-7, 7, -8, 8], "i64"), of([2, -2, -2, 3], "i64"), rounding_mode=mode)
        )
    found += [refused(of([1], "i64"), of([0], "i64"), rounding_mode="floor")]
    return [*found, call(of([1], "i64"), of([0], "i64")), refused(X, 2, rounding_mode="up")]


def _product(op: Op) -> list[Sample]:
    if op.name == "outer":
        return [call(t((3,)), t((2,))), call(t((0,)), t((2,))), refused(X, t((3,)))]
    cases: dict[str, list[Any]] = {
        "mm": [((3, 4), (4, 2)), ((0, 4), (4, 2)), ((3, 0), (0, 2))],
        "bmm": [((2, 3, 4), (2, 4, 5)), ((0, 3, 4), (0, 4, 5))],
        "mv": [((3, 4), (4,))],
        "dot": [((4,), (4,)), ((0,), (0,))],
        "matmul": [
            *[
                ((3, 4), (4, 2)),
                ((2, 3, 4), (2, 4, 5)),
                ((3, 4), (4,)),
                ((4,), (4,)),
                ((4,), (4, 2)),
            ],
            *[
                ((2, 3, 4), (4, 5)),
                ((3, 4), (2, 4, 5)),
                ((2, 1, 3, 4), (5, 4, 2)),
                ((4,), (2, 4, 5)),
            ],
            *[((2, 3, 4), (4,)), ((0, 4), (4, 2)), ((3, 0), (0, 2)), ((1, 1), (1, 1))],
        ],
    }
    shapes = cases[op.name]
    found = [
        call(t(a, d, seed="a"), t(b, d, seed="b")) for a, b in shapes for d in ("f64", "f32", "i64")
    ]
    a, b = shapes[0]
    found += [call(t(a, d, seed="a"), t(b, d, seed="b")) for d in ("bf16", "f16", "i32", "u8")]
    if len(a) > 1:
        found.append(call(t(a, "f64", "transposed"), t(b, "f64", "transposed")))
        found.append(call(t(a, "f64", "sliced"), t(b, "f64", "expanded")))
    found += [
        refused(t(a, "f32"), t(b, "f64")),
        refused(t(a), t((7,) * len(b))),
        refused(t(a), t(())),
    ]
    return found


def _linear(op: Op) -> list[Sample]:
    w, b = t((5, 4), seed="w"), t((5,), seed="b")
    found = [
        call(X, w),
        call(X, w, b),
        call(t((4,)), w, b),
        call(t((2, 3, 4)), w, b),
        call(t((0, 4)), w, b),
    ]
    found += [call(t((3, 4), "bf16"), t((5, 4), "bf16"), t((5,), "bf16")), call(X, t((4,)))]
    found += [call(t((3, 4), "f64", "transposed"), t((5, 4), "f64", "transposed"), b)]
    return [*found, refused(X, t((5, 3))), refused(t((3, 4), "f32"), w)]


def _addmm(op: Op) -> list[Sample]:
    a, b = t((3, 2), seed="a"), t((2, 4), seed="b")
    found = [call(X, a, b), call(t((4,)), a, b, beta=0.5, alpha=2), call(X, a, b, beta=0)]
    return [*found, refused(X, b, a), call(t((3, 1)), a, b)]


def _layer_norm(op: Op) -> list[Sample]:
    x, w, b = t((2, 3, 4)), t((4,), seed="w"), t((4,), seed="b")
    extra = () if op.name == "rms_norm" else (b,)
    found = [
        call(x, (4,)),
        call(x, (3, 4)),
        call(x, (4,), w),
        call(x, (4,), w, *extra),
        call(x, [4], eps=0.1),
    ]
    found += [call(t((2, 4), d), (4,), t((4,), d)) for d in ("f32", "bf16")]
    return [
        *found,
        call(t((2, 3, 4), "f32", "permuted"), (4,)),
        refused(x, (3,)),
        call(t((0, 4)), (4,)),
    ]


def _channel_norms(op: Op) -> list[Sample]:
    """Norms of channels: channel_norm, batch_statistics_norm, group_norm."""
    moments = (t((4,), seed="m"), t((4,), low=0.5, seed="v"))
    given: tuple = moments if op.name == "channel_norm" else ()
    w, b = t((4,), seed="w"), t((4,), seed="b")
    if op.name == "group_norm":  # two numbers in a group are 1 and -1 whatever they were
        w, b = t((8,), seed="w"), t((8,), seed="b")
        found = [call(t(shape), 2, w, b, 1e-5) for shape in ((3, 8), (2, 8, 5), (2, 8, 3, 2))]
        found += [call(t((2, 8, 5), layout="permuted"), 4, None, b), refused(t((2, 3, 5)), 2)]
        return [*found, call(t((2, 8)), 1), call(t((2, 8, 3)), 4, w)]
    found = [call(t(shape), *given, w, b, 1e-5) for shape in ((5, 4), (3, 4, 5), (2, 4, 3, 2))]
    found += [call(t((3, 4, 5)), *given, None, None, 0.1), call(t((5, 4)), *given, w, None, 1e-5)]
    found += [call(t((3, 4, 5), layout="permuted"), *given, None, b, 1e-5)]
    return found


def _targets(op: Op) -> list[Sample]:
    """nll_loss and cross_entropy."""
    x, y = t((5, 3)), of([0, 2, 1, 1, 0], "i64")
    w, skip = t((3,), low=0.5, high=2, grad=False), of([0, -100, 1, 2, -100], "i64")
    found = [call(x, y, **kw) for kw in ({}, {"reduction": "sum"}, {"reduction": "none"})]
    found += [call(x, y, weight=w, reduction=r) for r in ("mean", "sum", "none")]
    found += [
        call(x, skip, weight=w),
        call(x, skip),
        call(x, y, ignore_index=1),
        call(x, skip, reduction="none"),
    ]
    found += [
        call(t((3,)), of(1, "i64")),
        call(t((2, 3, 4)), of([[0, 1, 2, 0], [2, 1, 0, 1]], "i64")),
    ]
    found += [call(t((5, 3), "f32"), y), call(t((5, 3), "bf16"), y), refused(x, of([0, 1], "i64"))]
    found += [refused(x, of([0, 3, 1, 1, 0], "i64")), refused(x, y, reduction="most")]
    if op.name == "cross_entropy":
        p = t((5, 3), low=0, high=1, seed="p")
        for kw in ({}, {"weight": w}, {"reduction": "none"}, {"reduction": "sum"}):
            found += [call(x, y, label_smoothing=0.1, **kw), call(x, p, **kw)]
        found += [call(x, p, label_smoothing=0.2), call(x, skip, label_smoothing=0.1, weight=w)]
        found.append(
            call(t((2, 3, 4)), of([[0, 1, 2, 0], [2, 1, 0, 1]], "i64"), label_smoothing=0.1)
        )
    return found


def _pair_loss(op: Op) -> list[Sample]:
    low, high = (0.05, 0.95) if op.name == "binary_cross_entropy" else (-3, 3)
    x, y = t((3, 4), low=low, high=high, seed="x"), t((3, 4), low=0.05, high=0.95, seed="y")
    found = [call(x, y, reduction=r) for r in ("mean", "sum", "none")] + [call(x, y)]
    found += [call(t((), low=low, high=high), t((), low=0.1, high=0.9))]
    found += [call(t((3, 4), "f32", "transposed", low, high), t((3, 4), "f32", low=0, high=1))]
    if op.name == "smooth_l1_loss":
        found += [call(x, y, beta=0.5), call(x, y, beta=0.0), rough(of([1.0, 2.0]), of([1.0, 1.0]))]
    if op.name.startswith("binary"):
        w = t((4,), low=0.5, high=2, grad=False)
        found += [call(x, y, weight=w), refused(x, t((2, 2), low=0, high=1))]
        found += [rough(of([0.0, 1.0, 0.5]), of([0.0, 0.0, 1.0]))]
    if op.name.endswith("logits"):
        found += [
            call(x, y, pos_weight=t((4,), low=0.5, high=2, grad=False)),
            rough(of([50.0, -50.0, 0.0]), of([0.0, 1.0, 1.0])),
        ]
    return [*found, refused(x, y, reduction="most")]


def _embedding(op: Op) -> list[Sample]:
    w = t((5, 3))
    found = [call(of([[0, 4], [1, 1]], "i64"), w), call(of(2, "i64"), w), call(t((0,), "i64"), w)]
    found += [
        rough(of([1, 0, 1], "i64"), w, padding_idx=1),
        rough(of([4, 0], "i64"), w, padding_idx=-1),
    ]
    return [
        *found,
        refused(of([5], "i64"), w),
        refused(of([-1], "i64"), w),
        call(of([1], "i32"), w),
    ]


def _one_hot(op: Op) -> list[Sample]:
    found = [
        call(of([0, 2, 1], "i64")),
        call(of([[0], [1]], "i64"), 4),
        call(of(1, "i64"), num_classes=3),
    ]
    return [*found, refused(of([3], "i64"), 2), refused(of([-1], "i64"), 2)]


def _normalize(op: Op) -> list[Sample]:
    found = [
        call(X),
        call(X, 1.0),
        call(X, 3.0, 0),
        call(X, dim=-1, eps=1e-3),
        call(t((2, 3, 4), "f32")),
    ]
    return [*found, rough(of([[0.0, 0.0], [1.0, 2.0]])), refused(t((3,)))]


def _full(op: Op) -> list[Sample]:
    found = [call((2, 3), v) for v in (1, 2.5, True, float("nan"))] + [call((), 1), call((0,), 1.0)]
    found += [call((2,), v, dtype=d) for d in dtypes.ALL for v in (1, 0)]
    return [*found, call((2,), 3, dtype=dtypes.bool), call((2,), 1.7, dtype=dtypes.int64)]


def _range(op: Op) -> list[Sample]:
    found = [
        call(0, 5, 1),
        call(2, 9, 3),
        call(5, 0, -2),
        call(0, 1, 0.25),
        call(0.5, 3, 1),
        call(3, 3, 1),
    ]
    found += [call(0, 5, 1, dtype=d) for d in (dtypes.float32, dtypes.int32, dtypes.bfloat16)]
    return [*found, call(1, 0, -0.3), call(0, 1, 0.1, dtype=dtypes.float64)]


def _random(op: Op) -> list[Sample]:
    return {
        "uniform": [call(1, 2, (3, 4), dtypes.float32), call(1, 2, (), dtypes.float64)],
        "random_words": [call(1, 2, (3, 4)), call(1, 2, (0,))],
        "rand": [call((3, 4)), call(2, 3, dtype=dtypes.float64), call(())],
        "randn": [call((3, 4)), call(2, 3, dtype=dtypes.float64), call((0,))],
        "random_integers": [call(0, 9, (3, 4)), call(-2, 3, (5,), dtype=dtypes.int32)],
        "bernoulli": [
            call(t((3, 4), low=0, high=1, grad=False)),
            call(t((), "f32", low=0, high=1, grad=False)),
        ],
        "randperm": [call(5), call(0), call(4, dtype=dtypes.int32)],
        "dropout": [call(X), call(X, 0.3, False), call(X, 0.0), call(X, 1.0), call(t(()), p=0.2)],
    }[op.name]


def _copy(op: Op) -> list[Sample]:
    found = [
        call(t((3, 4), a, grad=False), t((3, 4), b))
        for a in ("f64", "f32", "i64", "bool", "bf16")
        for b in ("f64", "f32", "i64", "bool")
    ]
    found += [call(t((3, 4), "f64", "transposed", grad=False), t((4,)))]
    return [*found, call(t((3, 4), grad=False), t(())), refused(t((3, 4), grad=False), t((5,)))]


def _square(op: Op) -> list[Sample]:
    return [call(t((3, 4), d)) for d in ALL if d != "bool"] + [call(t(())), call(t((0,)))]


def _attention(op: Op) -> list[Sample]:
    q, k, v = t((2, 3, 4)), t((2, 5, 4)), t((2, 5, 6))
    mask = t((3, 5), "bool", grad=False)
    return [
        call(q, k, v, None, 0.5, False),
        call(q, k, v, None, 0.5, True),
        call(q, k, v, mask, 1.0, False),
        call(q, k, v, t((2, 3, 5)), 0.3, False),
        call(t((2, 4, 3), layout="transposed"), t((3, 3)), t((3, 2)), None, 0.5, True),
        call(t((0, 4)), t((5, 4)), t((5, 2)), None, 0.5, False),
        *[call(t((3, 4), d), t((3, 4), d), t((3, 4), d), None, 0.5, True)
          for d in ("f32", "bf16", "f16")],
        refused(q, t((2, 5, 3)), v, None, 0.5, False),
    ]  # fmt: skip


OWN: dict[str, Callable[[Op], list[Sample]]] = {
    "attention": _attention,
    "gelu": activation({"approximate": "tanh"}, {"approximate": "none"}),
    "silu": activation(),
    "leaky_relu": activation({"negative_slope": 0.2}),
    "elu": activation({"alpha": 0.5}),
    "softplus": activation({"beta": 2.0}, {"threshold": 1.0}),
    "logsigmoid": activation(),
    "hardtanh": activation({"min_val": -0.5, "max_val": 2.0}),
    "relu6": activation(),
    **dict.fromkeys(("softmax", "log_softmax"), _softmax),
    **dict.fromkeys(("softmax_backward", "log_softmax_backward"), _softmax_backward),
    **dict.fromkeys(("clamp", "clip"), _clamp),
    **dict.fromkeys(("clamp_min", "clamp_max"), _clamp_one),
    "masked_fill": _masked_fill,
    **dict.fromkeys(("addcmul", "addcdiv"), _addc),
    "div": _div,
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "matmul", "outer"), _product),
    "addmm": _addmm,
    "linear": _linear,
    **dict.fromkeys(("layer_norm", "rms_norm"), _layer_norm),
    **dict.fromkeys(("channel_norm", "batch_statistics_norm", "group_norm"), _channel_norms),
    **dict.fromkeys(("nll_loss", "cross_entropy"), _targets),
    **dict.fromkeys(
        (
            "mse_loss",
            "l1_loss",
            "smooth_l1_loss",
            "binary_cross_entropy",
            "binary_cross_entropy_with_logits",
        ),
        _pair_loss,
    ),
    "embedding": _embedding,
    "one_hot": _one_hot,
    "normalize": _normalize,
    "full": _full,
    "range_": _range,
    **dict.fromkeys(
        (
            "uniform",
            "random_words",
            "rand",
            "randn",
            "random_integers",
            "bernoulli",
            "randperm",
            "dropout",
        ),
        _random,
    ),
    "copy_": _copy,
    "square": _square,
    "after": lambda op: [call(t((2, 3)), t((2,), grad=False))],
    "gradients": lambda op: [call((t((3,)),), (t((3,), grad=False),), (t((2,)),))],
}
