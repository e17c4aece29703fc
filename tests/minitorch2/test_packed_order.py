"""Sorting by packed keys gives what a stable sort gives, for all numbers, widths and layouts."""

import ml_dtypes
import numpy
import pytest

import minitorch2
from minitorch2.ops.packed_order import LEAST, NETWORKS, sorted_rows

WIDTHS = [2, 3, 4, 5, 7, 8, 17, 64, 600]
DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "float16", "float32",
    "float64", "bfloat16",
]  # fmt: skip
SPECIAL = [0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, -numpy.nan, 1e-45, -1e-45, 3e38, -3e38]


def table(dtype, rows, width, seed=0):
    """Numbers with many equal ones among them, and all that are special."""
    random = numpy.random.RandomState(seed)
    if dtype in ("float16", "float32", "float64", "bfloat16"):
        found = random.randint(-4, 5, (rows, width)) * 0.5
        mixed = random.choice(SPECIAL, (rows, width))
        found = numpy.where(random.rand(rows, width) < 0.3, mixed, found)
        with numpy.errstate(over="ignore"):
            return found.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    if dtype == "bool":
        return random.rand(rows, width) < 0.5
    limits = numpy.iinfo(dtype)
    found = random.randint(0, 9, (rows, width)).astype(dtype)
    ends = random.choice(numpy.array([limits.min, limits.max], dtype), (rows, width))
    wide = dtype != "int64" or seed
    return numpy.where(random.rand(rows, width) < 0.2, ends, found) if wide else found - 4


def expected(array, descending):
    """Values and places by Python's own sort, which is stable; nan after every number."""
    places = []
    for row in array.astype(numpy.float64) if array.dtype.kind in "fV" else array:
        key = [(value != value, 0 if value != value else value) for value in row.tolist()]
        if descending:
            key = [(not missing, -value) for missing, value in key]
        places.append(sorted(range(len(key)), key=key.__getitem__))
    return numpy.array(places)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", [0, 1])
def test_order(dtype, width, descending, seed):
    array = table(dtype, LEAST // width + 1, width, seed)
    tensor = minitorch2.from_numpy(array) if dtype != "bfloat16" else minitorch2.from_numpy(
        array.astype(numpy.float32)
    ).bfloat16()  # fmt: skip
    places = expected(array, descending)
    values, order = tensor.sort(-1, descending)
    assert (order.numpy() == places).all() and values.dtype is tensor.dtype
    wanted = numpy.take_along_axis(array.astype(numpy.float64), places, 1)
    seen = values.double().numpy()
    assert ((seen == wanted) | ((seen != seen) & (wanted != wanted))).all()
    assert (numpy.signbit(seen) == numpy.signbit(wanted))[seen == seen].all()
    across = tensor.t().sort(0, descending)
    assert (across[1].numpy().T == places).all() and across[0].shape == (width, len(array))
    if dtype[0] != "u" and dtype != "bool" and descending:
        assert (tensor.topk(2)[1].numpy() == places[:, :2]).all()


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (1, LEAST), (LEAST, 1), (3, 4, LEAST), (LEAST,)])
def test_shapes(shape):
    array = numpy.random.RandomState(0).rand(*shape).astype(numpy.float32)
    for dim in range(len(shape)):
        found = minitorch2.from_numpy(array).sort(dim)
        assert (found[1].numpy() == numpy.argsort(array, dim, kind="stable")).all()
        assert (found[0].numpy() == numpy.sort(array, dim)).all()


@pytest.mark.parametrize("width", NETWORKS)
def test_networks_sort_everything(width):
    """A network that sorts all rows of zeros and ones sorts all rows (Knuth's principle)."""
    rows = [[number >> bit & 1 for bit in range(width)] for number in range(1 << width)]
    array = numpy.array(rows * LEAST, numpy.float32)
    values, _ = sorted_rows(array, False)
    assert (values == numpy.sort(array, 1)).all()


def test_what_does_not_fit_is_left_alone():
    spread = numpy.array([[0, 2**62], [1, 5]] * LEAST, numpy.int64)
    assert sorted_rows(spread, False) is None
    assert sorted_rows(spread.astype(numpy.float64), False) is None
    assert sorted_rows(spread[:4], False) is None and sorted_rows(spread[:, :1], True) is None
