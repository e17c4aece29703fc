"""Convolutions and products with the tiles of other CPUs: narrower vectors, fewer registers."""

import numpy as np
import pytest

from minitorch2.kernels.runtime import channel_convolutions, convolution_code, products
from minitorch2.kernels.runtime.convolution_code import Shape, shape_for
from minitorch2.ops import convolution as row

pytestmark = pytest.mark.numba
if convolution_code.shape() is None or products.own("f32") is None:
    pytest.skip("this CPU has no such kernels", allow_module_level=True)

SHAPES = {
    "avx2": shape_for("+avx2,+fma", "x86_64"),
    "neon": shape_for("", "aarch64"),
}


@pytest.fixture(params=SHAPES)
def tiles(request, monkeypatch):
    """The shape of a tile for another CPU; vectors of this one make it up."""
    made = SHAPES[request.param]
    cached = channel_convolutions._launch, products.own, products._pays, products._own_pieces
    for module in (channel_convolutions, products):
        monkeypatch.setattr(module, "shape", lambda: made)
    monkeypatch.setattr(products, "LEAST_OWN", 0)
    for function in cached:
        function.cache_clear()
    yield made
    for function in cached:
        function.cache_clear()


def test_shapes_are_those_of_the_features():
    assert isinstance(SHAPES["avx2"], Shape) and SHAPES["avx2"].lanes("f32") == 8
    assert isinstance(SHAPES["neon"], Shape) and SHAPES["neon"].lanes("f64") == 2
    assert shape_for("+sse2", "x86_64") is None


@pytest.mark.parametrize("how", [
    ((1, 1), (1, 1), (1, 1), 1), ((2, 1), (0, 2), (1, 2), 2), ((3, 2), (1, 0), (1, 1), 1),
], ids=str)  # fmt: skip
def test_convolutions(how, tiles):
    chance, groups = np.random.RandomState(0), how[3]
    image = chance.randn(2, 3 * groups, 13, 11).astype("f4")
    weight = chance.randn(19 * groups, 3, 3, 2).astype("f4")
    wanted = row._convolution(image, weight, *how)
    grad = chance.randn(*wanted.shape).astype("f4")
    close = {"rtol": 1e-4, "atol": 1e-3}
    found = channel_convolutions.convolution(image, weight, *how)
    np.testing.assert_allclose(found, wanted, **close)
    found = channel_convolutions.to_input(grad, weight, (13, 11), *how)
    np.testing.assert_allclose(found, row._to_input(grad, weight, (13, 11), *how), **close)
    found = channel_convolutions.to_weight(grad, image, (3, 2), *how)
    np.testing.assert_allclose(found, row._to_weight(grad, image, (3, 2), *how), **close)


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("second", [False, True])
def test_products(first, second, tiles):
    a, b = np.random.RandomState(0).randn(2, 47, 47).astype("f4")
    out = np.full((47, 47), np.nan, "f4")
    assert products.multiply(a.T if first else a, b.T if second else b, out)
    wanted = (a.T if first else a).astype("f8") @ (b.T if second else b)
    np.testing.assert_allclose(out, wanted, atol=1e-4)
