"""Eager and compiled code agree bit for bit on elementwise functions."""

import numpy as np
import pytest

import minitorch2 as torch
from minitorch2.backends.primitives import COMPILED

VALUES = np.concatenate(
    [np.random.RandomState(0).randn(1000), [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e-40, 0.5]]
)


@pytest.mark.numba
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", COMPILED)
def test_same_bits_eager_and_compiled(name, dtype):
    x = torch.tensor(VALUES.astype(dtype))
    function = getattr(torch, name)
    eager, compiled = function(x), torch.compile(lambda x: function(x))(x)
    np.testing.assert_array_equal(eager.numpy(), compiled.numpy())


@pytest.mark.numba
def test_layouts_and_16_bit_floats():
    x = torch.tensor(np.random.RandomState(1).randn(4, 6).astype("float32"))
    np.testing.assert_array_equal(x.t().exp().numpy(), x.exp().numpy().T)
    np.testing.assert_array_equal(x[:, ::2].tanh().numpy(), x.tanh().numpy()[:, ::2])
    half = x.to(torch.bfloat16)
    want = half.float().exp().to(torch.bfloat16)
    assert (half.exp() == want).all().item()
    assert torch.zeros(0).exp().shape == (0,)


@pytest.mark.numba
def test_large_angles():
    x = np.array([1e30, -1e20, np.inf, 3.0])
    with np.errstate(invalid="ignore"):
        want = np.sin(x)
    np.testing.assert_allclose(torch.tensor(x).sin().numpy(), want, rtol=1e-12)
