"""Numbers beside 16-bit floats: rounded by way of float32, in silence, mapped or not."""

import warnings

import pytest

import minitorch2 as torch

LARGE = {
    "sub": lambda x: x - 1e9,
    "add": lambda x: x + 1e6,
    "less": lambda x: x < 1e6,
    "where": lambda x: torch.where(x > 0, x, -1e9),
    "clamp": lambda x: torch.clamp(x, max=1e9),
    "maximum": lambda x: torch.maximum(x, torch.tensor(1e9)),
    "xlogy": lambda x: torch.special.xlogy(x, 1e9),
}
BETWEEN = 1 + 2.0**-11 + 2.0**-40  # to float16 at once it is 1 + 2**-10, by way of float32 it is 1


@pytest.mark.parametrize("name", LARGE)
def test_a_number_too_large_is_infinite_in_silence(name):
    x = torch.ones(3, dtype=torch.float16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = LARGE[name](x)
        mapped = torch.vmap(LARGE[name])(x[None])[0]
    assert found.tolist() == mapped.tolist()


@pytest.mark.parametrize("function", [lambda x: x * 0 + BETWEEN, lambda x: x == BETWEEN])
def test_one_rounding_everywhere(function):
    x = torch.tensor([1.0, 1 + 2.0**-10, 2.0], dtype=torch.float16)
    found = function(x).tolist()
    assert found[0] == 1
    assert torch.vmap(function)(x).tolist() == found
    assert torch.compile(function)(x).tolist() == found
