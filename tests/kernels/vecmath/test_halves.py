"""16-bit floats: every bit pattern widens exactly, and narrowing rounds to nearest even."""

import ml_dtypes
import numpy as np
import pytest

from tests.kernels.vecmath.kernels import compiled

pytestmark = pytest.mark.numba
FORMATS = [("f16", np.float16), ("bf16", ml_dtypes.bfloat16)]


@pytest.mark.parametrize(("short", "dtype"), FORMATS)
def test_every_pattern_widens_and_comes_back(short, dtype):
    patterns = np.arange(1 << 16, dtype=np.uint16)
    wide = compiled(f"widen_{short}", patterns)
    assert np.array_equal(wide, patterns.view(dtype).astype(np.float32), equal_nan=True)
    back = compiled(f"narrow_{short}", wide)
    number = ~np.isnan(wide)
    assert (back[number] == patterns[number]).all()
    assert np.isnan(back[~number].view(dtype).astype(np.float32)).all()


@pytest.mark.parametrize(("short", "dtype"), FORMATS)
def test_narrowing_rounds_to_nearest_even(short, dtype):
    bits = np.arange(0, 1 << 32, 6_151, dtype=np.int64).astype(np.uint32)
    edges = np.array([65504, 65519.99, 65520, 2.0**-24, 2.0**-25, 6.1e-5, 3.4e38], np.float32)
    x = np.concatenate([bits.view(np.float32), edges])
    with np.errstate(all="ignore"):
        expected = x.astype(dtype).astype(np.float32)
    got = compiled(f"narrow_{short}", x).view(dtype).astype(np.float32)
    assert np.array_equal(got, expected, equal_nan=True)
