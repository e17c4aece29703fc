"""Convolutions, poolings and recurrent layers take and refuse the sizes that torch takes."""

import itertools

import pytest

torch = pytest.importorskip("torch")

from tests.parity.both import check  # noqa: E402

SHAPES = [
    (), (4,), (3, 4), (2, 3, 4), (2, 3, 4, 5), (2, 4, 5, 5), (1, 4, 5, 5, 5), (1, 2, 3, 4, 5, 6),
    (0, 4, 5), (0, 4, 5, 5), (2, 0, 5), (2, 0, 5, 5), (1, 4, 0, 5), (1, 4, 0), (0, 4, 5, 5, 5),
]  # fmt: skip
WEIGHTS = [
    (4, 3, 3), (3, 4, 3), (4, 3, 3, 3), (4, 4, 3, 3), (3, 3, 2, 2), (4, 0, 3, 3), (0, 3, 3, 3),
    (4, 3, 0, 3), (5, 4, 2, 2), (4, 2, 3, 3, 3), (4, 4, 2, 2, 2),
]  # fmt: skip
SETTINGS = [
    {}, {"groups": 2}, {"groups": 3}, {"groups": 5}, {"groups": 0}, {"groups": -1}, {"groups": 1.0},
    {"stride": (1,)}, {"stride": (1, 2, 3)}, {"stride": 0}, {"stride": -1}, {"stride": 2.0},
    {"padding": -1}, {"padding": (1, 1, 1)}, {"padding": 3}, {"padding": "same"}, {"padding": "a"},
    {"dilation": 0}, {"dilation": (1, 1, 1)}, {"dilation": 2}, {"bias": 3}, {"bias": 6},
]  # fmt: skip
TRANSPOSED = [
    {"output_padding": 1}, {"output_padding": -1}, {"output_padding": (0, 0, 0)},
    {"output_padding": 1, "stride": 2}, {"output_padding": 2, "stride": 2}, {"padding": 4},
    {"output_padding": 1, "dilation": 2}, {"output_padding": "a"}, {"bias": 6, "groups": 2},
]  # fmt: skip
CONVOLUTIONS = [f"conv{kind}{dims}d" for kind in ("", "_transpose") for dims in (1, 2, 3)]


def torch_is_sure(name, shape, weight):
    """torch refuses some weights without elements, takes others, and forgets sizes of results."""
    if "transpose" in name:
        return not (0 in shape and 0 in weight)
    return 0 not in weight[1:]


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_shapes(name):
    for shape, weight in itertools.product(SHAPES, WEIGHTS):
        if torch_is_sure(name, shape, weight):
            check(lambda t, x=shape, w=weight: shape_of(t, name, x, w))


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_settings(name):
    dims = int(name[-2])
    settings = SETTINGS + (TRANSPOSED if "transpose" in name else [])
    for how, weight in itertools.product(settings, [(4, 4), (4, 3), (3, 4), (4, 2), (6, 2)]):
        for kernel in (2, 3):
            shape, whole = (1, 4) + (5,) * dims, weight + (kernel,) * dims
            check(lambda t, x=shape, w=whole, how=how: shape_of(t, name, x, w, **how))


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("dtype", ["bool", "int64", "float16", "float64", "complex64"])
def test_dtypes(name, dtype):
    dims = int(name[-2])
    x, w = (2, 4) + (5,) * dims, (4, 4) + (3,) * dims
    for one, two in ((dtype, dtype), ("float32", dtype), (dtype, "float32")):
        check(lambda t, one=one, two=two: shape_of(t, name, x, w, dtypes=(one, two)))


def shape_of(t, name, x, w, dtypes=("float32", "float32"), bias=None, **how):
    one, two = (
        t.ones(shape, dtype=getattr(t, dtype)) for shape, dtype in zip((x, w), dtypes, strict=True)
    )
    function = getattr(t.nn.functional, name)
    return list(function(one, two, None if bias is None else t.ones(bias), **how).shape)


POOLS = [f"{kind}_pool{dims}d" for kind in ("max", "avg") for dims in (1, 2, 3)]
ADAPTIVE = [f"adaptive_{each}" for each in POOLS]


@pytest.mark.parametrize("name", POOLS + ADAPTIVE)
def test_pooled_shapes(name):
    dims = int(name[-2])
    for shape in SHAPES:
        if len(shape) > dims or name[:3] != "avg":  # torch looks for a dimension first
            check(lambda t, x=shape: value_of(t, name, x, 2))


def value_of(t, name, shape, *args, **how):
    values = t.arange(2.0 * 7**5)[: max(1, torch.Size(shape).numel())]
    found = getattr(t.nn.functional, name)(values[: torch.Size(shape).numel()].view(shape), *args,
                                           **how)  # fmt: skip
    return found


@pytest.mark.parametrize("name", POOLS)
def test_windows(name):
    dims = int(name[-2])
    paddings = [{"padding": p} for p in (-1, 0, 1, 2, (1,) * dims, (1,) * (dims + 1))]
    others = [{"stride": s} for s in (0, -1, 2, (), (1,) * (dims + 1))] + [{"ceil_mode": True}]
    dilations = [{"dilation": d} for d in (0, -1, 3, (1,) * (dims + 1))] if "max" in name else []
    kernels = (3, 0, -1, 7, (2,) * dims, (2,) * (dims + 1), 2.0, (2,))
    for how, kernel in itertools.product(paddings + others + dilations, kernels):
        check(lambda t, k=kernel, how=how: value_of(t, name, (1, 2) + (6,) * dims, k, **how))


@pytest.mark.parametrize("name", ADAPTIVE)
def test_wanted_sizes(name):
    dims = int(name[-2])
    for size in (0, -1, 1, 4, 7, (2,) * dims, (1,) * (dims + 1), 2.0, (0,) + (2,) * (dims - 1)):
        check(lambda t, size=size: value_of(t, name, (1, 2) + (6,) * dims, size))


@pytest.mark.parametrize("name", [each for each in POOLS if each not in ("max_pool1d",)])
@pytest.mark.parametrize("dtype", ["bool", "int64", "uint8", "complex64"])
def test_pooled_dtypes(name, dtype):
    dims = int(name[-2])
    x = (1, 2) + (6,) * dims
    check(lambda t: getattr(t.nn.functional, name)(t.ones(x, dtype=getattr(t, dtype)), 2))


def states(t, rows):
    h, narrow = t.zeros(rows, 5, 4), t.zeros(rows, 5, 3)
    return {
        "none": None, "one": (h,), "two": (h, h), "three": (h, h, h), "list": [h, h], "empty": (),
        "list of three": [h, h, h], "wide": (h, narrow), "samples": (h, t.zeros(rows, 4, 4)),
        "flat": (h[0], h[0]), "with none": (h, None), "tensor": h, "number": 3,
    }  # fmt: skip


KINDS = ["LSTM", "GRU", "RNN"]


@pytest.mark.parametrize("both_ways", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_states(kind, both_ways):
    rows = 4 if both_ways else 2

    def run(t, how, x):
        layer = getattr(t.nn, kind)(3, 4, 2, bidirectional=both_ways)
        return [list(layer(t.ones(x), states(t, rows)[how])[0].shape)]

    for how, x in itertools.product(states(torch, rows), [(7, 5, 3), (7, 3)]):
        if (kind, how) != ("LSTM", "tensor"):  # which torch takes for a pair
            check(lambda t, how=how, x=x: run(t, how, x))


@pytest.mark.parametrize("kind", KINDS)
def test_packed_states(kind):
    """Left out is where torch speaks of something else first."""

    def run(t, how):
        packed = t.nn.utils.rnn.pack_padded_sequence(t.ones(7, 5, 3), [7, 5, 4, 2, 1])
        found = getattr(t.nn, kind)(3, 4, 2)(packed, states(t, 2)[how])[0]
        return list(found.data.shape)

    for how in states(torch, 2):
        if kind != "LSTM" or how not in ("tensor", "flat", "with none", "number"):
            check(lambda t, how=how: run(t, how))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["int64", "float64", "bool"])
def test_layers_and_inputs_of_two_dtypes(kind, dtype):
    check(lambda t: getattr(t.nn, kind)(3, 4)(t.ones(2, 1, 3, dtype=getattr(t, dtype))))
    check(lambda t: list(getattr(t.nn, kind)(3, 4)(t.ones(2)).shape))
    check(lambda t: list(getattr(t.nn, kind)(3, 4)(t.ones(1, 1, 1, 3)).shape))


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_states_of_a_cell(count):
    def run(t, given):
        return [list(h.shape) for h in t.nn.LSTMCell(3, 4)(t.ones(5, 3), given)]

    check(lambda t: run(t, (t.zeros(5, 4),) * count))
    check(lambda t: run(t, t.zeros(5, 4)))
