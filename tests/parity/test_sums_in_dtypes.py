"""Sums and products asked for in another dtype: elements are converted before they are added."""

import pytest

torch = pytest.importorskip("torch")

from tests.parity.both import check  # noqa: E402

FUNCTIONS = ("sum", "prod", "cumsum", "cumprod", "nansum", "mean")
GIVEN = ("float16", "bfloat16", "float32", "float64")
WANTED = ("int16", "int32", "int64", "uint8", "float16", "bfloat16", "float32", "float64")
ROWS = [[1.6, 1.75, -1.5, -2.6, -1.7], [1.5, 1.5, 2.5, 1.25, 1.6]]


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_dtype(name, given):
    """As torch computes them, also of 16-bit floats in integers."""
    for wanted in WANTED:

        def program(t, wanted=wanted):
            x = t.tensor(ROWS).to(getattr(t, given))
            found = getattr(t, name)(x, 1, dtype=getattr(t, wanted))
            return str(found.dtype), found.double()

        check(program, 1e-2 if "16" in wanted else 2e-5)


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("name", ["sum", "cumsum", "prod", "cumprod"])
def test_out(name, given):
    """The dtype of what is written is the one that is asked for."""
    for wanted in WANTED:

        def program(t, wanted=wanted):
            x, out = t.tensor(ROWS).to(getattr(t, given)), t.empty(0, dtype=getattr(t, wanted))
            return getattr(t, name)(x, 1, out=out).double()

        check(program, 1e-2 if "16" in wanted else 2e-5)
