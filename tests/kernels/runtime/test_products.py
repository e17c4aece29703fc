"""Batches of products: every layout that is taken is right, and the others are refused."""

import numpy as np
import pytest

from minitorch2.backends import blas
from minitorch2.config import config
from minitorch2.kernels.runtime import pool, products
from minitorch2.kernels.runtime.products import multiply

pytestmark = [
    pytest.mark.numba,
    pytest.mark.skipif(
        not pool.supported() or blas.find("cblas_sgemm", ("scipy_{}64_", "{}64_")) is None,
        reason="no pool or no 64-bit cblas here",
    ),
]


def random(dtype: str, *shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


def heads(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Queries and keys as attention has them: views of [B, T, H, D]."""
    q, k = random(dtype, 4, 64, 8, 16), random(dtype, 4, 64, 8, 16)
    return q.swapaxes(1, 2), k.transpose(0, 2, 3, 1)


TAKEN = {
    "plain": lambda d: (random(d, 8, 16, 32), random(d, 8, 32, 24)),
    "transposed": lambda d: (random(d, 8, 32, 16).mT, random(d, 8, 24, 32).mT),
    "odd": lambda d: (random(d, 5, 3, 7), random(d, 5, 7, 11)),
    "rows with room": lambda d: (random(d, 8, 16, 40)[..., :32], random(d, 8, 32, 24)),
    "one matrix again and again": lambda d: (
        np.broadcast_to(random(d, 16, 32), (8, 16, 32)),
        random(d, 8, 32, 24),
    ),
    "heads": heads,
}
REFUSED = {
    "vectors": lambda d: (random(d, 8, 1, 32), random(d, 8, 32, 24)),
    "holes": lambda d: (random(d, 8, 16, 64)[..., ::2], random(d, 8, 32, 24)),
    "broadcast": lambda d: (random(d, 8, 16, 32), random(d, 1, 32, 24)),
    "mixed": lambda d: (random(d, 8, 16, 32), random("float16", 8, 32, 24)),
    "integers": lambda d: (np.ones((8, 3, 3), np.int64), np.ones((8, 3, 3), np.int64)),
}


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", TAKEN)
def test_it_gives_the_bits_of_numpy(case, dtype, threads, monkeypatch):
    monkeypatch.setattr(config, "threads", threads)
    a, b = TAKEN[case](dtype)
    with blas.one_thread():
        expected = np.matmul(a, b)
    out = np.full(expected.shape, np.nan, dtype)
    assert multiply(a, b, out)
    np.testing.assert_array_equal(out, expected)
    turned = np.full(expected.mT.shape, np.nan, dtype).mT
    assert not multiply(a, b, turned) and np.isnan(turned).all()


@pytest.mark.parametrize("case", REFUSED)
def test_other_layouts_are_refused(case):
    a, b = REFUSED[case]("float32")
    out = np.full((8, a.shape[-2], b.shape[-1]), 7, a.dtype)
    assert not multiply(a, b, out) and (out == 7).all()


SHAPES = [(300, 200, 250), (1000, 64, 70), (70, 64, 1000), (257, 513, 65), (2000, 40, 30)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_bits_do_not_depend_on_the_threads(shape, monkeypatch):
    m, k, n = shape
    for a, b in (
        (random("float32", m, k), random("float32", k, n)),
        (random("float64", k, m).T, random("float64", n, k).T),
    ):
        results = []
        for threads in (1, 2, 3):
            monkeypatch.setattr(config, "threads", threads)
            results.append(np.full((m, n), np.nan, a.dtype))
            assert multiply(a, b, results[-1])
            np.testing.assert_array_equal(results[-1], results[0])
        np.testing.assert_allclose(results[0], a.astype(np.float64) @ b, rtol=1e-3, atol=1e-3)


def test_products_come_here(monkeypatch):
    a, b = random("float32", 64, 48, 32), random("float32", 64, 32, 40)
    found, out = blas.product(a, b), np.empty((64, 48, 40), np.float32)
    assert blas.product(a, b, out) is out and (out == found).all()
    np.testing.assert_allclose(found, a @ b, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(blas.product(a, b[0]), a @ b[0], rtol=1e-4, atol=1e-5)
    assert blas.product(a, b[:1], out) is out  # broadcast: left to numpy


def test_every_shape_of_a_product():
    vector, matrix = random("float32", 3000), random("float32", 3000, 1500)
    batch = random("float32", 20, 50, 3000)
    pairs = [(vector, matrix), (matrix.T, vector), (batch, matrix), (vector, vector)]
    pairs += [(batch, vector), (matrix, matrix.T[:, :40]), (matrix.T[:90], matrix.T[:90].T)]
    for a, b in pairs:
        expected = a.astype(np.float64) @ b
        np.testing.assert_allclose(blas.product(a, b), expected, rtol=1e-3, atol=1e-2)
        out = np.empty(expected.shape, np.float32)
        if expected.shape:
            assert blas.product(a, b, out).shape == expected.shape
            np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-2)


OWN = [
    ((), 32, 16, 16), ((), 33, 17, 21), ((), 128, 784, 512), ((), 100, 1700, 75),
    ((3,), 40, 33, 48), ((2, 3), 64, 20, 64), ((), 47, 900, 31), ((5,), 32, 16, 63),
]  # fmt: skip


@pytest.fixture
def own(monkeypatch):
    """How many products our own kernel made; it takes every product that is not too narrow."""
    if products.own("f32") is None:
        pytest.skip("this CPU has no such kernel")
    monkeypatch.setattr(products, "LEAST_OWN", 0)
    products._pays.cache_clear()
    made = []

    def counted(*arguments, work=products._multiply_own):
        made.append(1)
        work(*arguments)

    monkeypatch.setattr(products, "_multiply_own", counted)
    yield made
    products._pays.cache_clear()


def turned(array: np.ndarray, how: str) -> np.ndarray:
    """The same matrices: by rows, by columns, or rows with room between them."""
    if how == "columns":
        return np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)
    wide = np.zeros((*array.shape[:-1], array.shape[-1] + 5 * (how == "room")), array.dtype)
    wide[..., : array.shape[-1]] = array
    return wide[..., : array.shape[-1]]


@pytest.mark.parametrize("dtype, tolerance", [("float32", 2e-3), ("float64", 1e-11)])
@pytest.mark.parametrize("first", ["rows", "columns", "room"])
@pytest.mark.parametrize("second", ["rows", "columns", "room"])
@pytest.mark.parametrize("batch, m, k, n", OWN, ids=str)
def test_our_own_kernel_for_every_layout(batch, m, k, n, first, second, dtype, tolerance, own):
    a, b = random(dtype, *batch, m, k), random(dtype, *batch, k, n)
    out = turned(np.full((*batch, m, n), np.nan, dtype), "room")
    assert multiply(turned(a, first), turned(b, second), out) and own
    np.testing.assert_allclose(out, a.astype("f8") @ b, rtol=0, atol=tolerance * k**0.5)


def test_our_own_bits_depend_on_neither_pieces_nor_threads(monkeypatch, own):
    a, b = random("float32", 300, 1000), random("float32", 1000, 330)
    found = []
    for threads, pieces in ((1, 1), (2, 5), (3, 32)):
        monkeypatch.setattr(config, "threads", threads)
        monkeypatch.setattr(products, "MOST_PIECES", pieces)
        products._own_pieces.cache_clear()
        found.append(np.empty((300, 330), np.float32))
        assert multiply(a, b, found[-1])
    products._own_pieces.cache_clear()
    assert len(own) == 3 and found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


def test_a_stretch_of_rows_has_the_bits_it_has_alone(own):
    """A batch that is flattened for one product gives what its parts give."""
    a, b = random("float32", 4, 64, 900), random("float32", 900, 96)
    whole, part = np.empty((256, 96), np.float32), np.empty((64, 96), np.float32)
    assert multiply(a.reshape(256, 900), b, whole)
    for at in range(4):
        assert multiply(a[at], b, part) and part.tobytes() == whole[64 * at :][:64].tobytes()


def test_infinities_and_nan_reach_their_row_and_column_only(own):
    a, b = random("float32", 64, 100), random("float32", 100, 40)
    a[3, 5], b[7, 38] = np.inf, np.nan
    out = np.empty((64, 40), np.float32)
    assert multiply(a, b, out)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(np.isfinite(out), np.isfinite(a @ b))
