"""Batches of products: numpy's bits for every layout that is taken, and the others are refused."""

import numpy as np
import pytest

from minitorch2.backends import blas
from minitorch2.config import config
from minitorch2.kernels.runtime import pool
from minitorch2.kernels.runtime.products import spread

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
    "with itself": lambda d: (lambda x: (x, x.mT))(random(d, 8, 16, 32)),
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
    assert spread(a, b, out)
    np.testing.assert_array_equal(out, expected)
    turned = np.full(expected.mT.shape, np.nan, dtype).mT
    assert not spread(a, b, turned) and np.isnan(turned).all()


@pytest.mark.parametrize("case", REFUSED)
def test_other_layouts_are_refused(case):
    a, b = REFUSED[case]("float32")
    out = np.full((8, a.shape[-2], b.shape[-1]), 7, a.dtype)
    assert not spread(a, b, out) and (out == 7).all()


def test_large_batches_come_here(monkeypatch):
    monkeypatch.setattr(blas, "_spread", [spread])
    monkeypatch.setattr(blas, "_default_threads", 2)
    a, b = random("float32", 64, 48, 32), random("float32", 64, 32, 40)
    found, out = blas.product(a, b), np.empty((64, 48, 40), np.float32)
    assert blas.product(a, b, out) is out and (out == found).all()
    np.testing.assert_allclose(found, a @ b, rtol=1e-5)
    assert blas.product(a, np.float32(2) * b[:1], out) is out  # broadcast: left to numpy
