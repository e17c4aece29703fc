"""Running sums: every shape and axis, lines in pieces, columns in bands, any number of threads."""

import numpy
import pytest

import minitorch2
from minitorch2.backends import primitives
from minitorch2.kernels import eager_scans
from minitorch2.kernels.eager_scans import COLUMNS, FEW_COLUMNS, PIECE, ROWS

pytestmark = pytest.mark.numba

TYPES = ("float32", "float64", "int64")
SHAPES = [
    ((1,), 0),
    ((7,), 0),
    ((8,), 0),
    ((2 * PIECE - 1,), 0),
    ((2 * PIECE,), 0),  # from here on in pieces
    ((3 * PIECE + 5,), 0),
    ((3, 2 * PIECE + 9), 1),
    ((16, 2 * PIECE + 1), -1),  # lines enough
    ((300, 41), 1),
    ((40, 1), 0),
    ((500, 3), 0),  # few columns: the axis moves
    ((5, 60, FEW_COLUMNS - 1), 1),
    ((5, 60, FEW_COLUMNS), 1),
    ((ROWS, 33), 0),
    ((4 * ROWS + 3, 17, 3), 0),
    ((6, COLUMNS + 1), 0),
    ((2, 9, 2 * COLUMNS + 5), -2),
]


def numbers(shape, dtype):
    """Of very different sizes, that sums round."""
    draw = numpy.random.default_rng(0)
    values = draw.standard_normal(shape) * 10.0 ** draw.integers(-3, 4, shape)
    return values.astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_sums_are_those_of_double_precision(shape, axis, dtype):
    array = numbers(shape, dtype)
    found = eager_scans.cumsum(array, axis)
    wide = numpy.int64 if dtype == "int64" else numpy.longdouble
    expected = numpy.cumsum(array.astype(wide), axis=axis)
    assert found.dtype == array.dtype and found.shape == array.shape
    assert found.flags.c_contiguous
    if dtype == "int64":
        assert (found == expected).all()
        return
    size = numpy.cumsum(numpy.abs(array).astype(wide), axis=axis)
    wrong = numpy.abs(found - expected)
    rounding = numpy.finfo(dtype).eps / 2
    allowed = rounding * numpy.abs(expected) + 2.0**-52 * 40 * size
    assert (wrong <= allowed).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_bits_are_the_same_for_any_number_of_threads(shape, axis, dtype, monkeypatch):
    array = numbers(shape, dtype)
    expected = eager_scans.cumsum(array, axis)
    for count in (1, 2, 5):
        monkeypatch.setattr(eager_scans, "thread_count", lambda count=count: count)
        assert eager_scans.cumsum(array, axis).tobytes() == expected.tobytes()


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("of", [
    lambda x: x, lambda x: x.transpose(0, 2), lambda x: x[:, ::2], lambda x: x.expand(40, 31, 29),
    lambda x: x.to(minitorch2.bfloat16), lambda x: x.to(minitorch2.float16),
    lambda x: (x * 3).to(minitorch2.int32), lambda x: x > 0,
])  # fmt: skip
def test_compiled_code_has_eagers_bits(of, dim):
    """Views, 16-bit floats, small integers and truths too; also what is made of the result."""
    x = minitorch2.from_numpy(numbers((40, 31, 29), "float32"))

    def sums(x):
        given = of(x)
        return given.cumsum(dim), given.cumsum(dim) + 1, given

    compiled = minitorch2.compile(sums)
    for found, expected in zip(compiled(x), sums(x), strict=True):
        assert found.dtype == expected.dtype and found.stride() == expected.stride()
        assert found.float().numpy().tobytes() == expected.float().numpy().tobytes()


@pytest.mark.parametrize("size", [30, 1 << 13])
def test_what_is_not_finite_stays_behind_it(size):
    """Nothing in front of an infinity or a nan changes; a zero with a sign has none in a sum."""
    x = numpy.zeros(size, numpy.float32)
    x[0], x[7], x[size // 2], x[-3] = -0.0, 1, numpy.inf, -numpy.inf
    found = minitorch2.from_numpy(x).cumsum(0).numpy()
    assert not numpy.signbit(found[:7]).any() and (found[7 : size // 2] == 1).all()
    assert (found[size // 2 : -3] == numpy.inf).all() and numpy.isnan(found[-3:]).all()


def test_small_arrays_are_as_exact(monkeypatch):
    """What numpy adds up: in double precision as well."""
    x = minitorch2.from_numpy(numbers((3, 900), "float32"))
    small = x.cumsum(1)
    assert small.numpy().tobytes() == eager_scans.cumsum(x.numpy(), 1).tobytes()
    monkeypatch.setattr(primitives, "scanner", lambda: None)
    large = minitorch2.from_numpy(numbers((3, 9000), "float32"))
    assert numpy.allclose(large.cumsum(1).numpy(), eager_scans.cumsum(large.numpy(), 1), rtol=2e-7)
