"""A Python float that changes from call to call takes part in promotion as a number does."""

import itertools

import pytest

import minitorch2 as torch

FORMS = (
    "t + n", "n - t", "t * n", "t / n", "(t - n) * 2 + t", "torch.add(t, n)",
    "torch.where(t > 0, t, n)", "torch.mul(t, n)", "t + n * 2", "t.clone().add_(n)",
)  # fmt: skip
SHAPES = ((), (1,), (2, 3))
DTYPES = ("float16", "bfloat16", "float32", "float64")


@pytest.mark.parametrize("form", FORMS)
def test_dtype_and_value_are_eagers(form):
    """For tensors of each dtype, with and without dimensions, in each of four calls."""
    space: dict = {"torch": torch}
    exec(f"def program(t, n):\n    return {form}\n", space)
    for shape, dtype in itertools.product(SHAPES, DTYPES):
        compiled = torch.compile(space["program"], backend="eager")
        for number in (0.5, 1.25, -2.3, 7.1):
            t = torch.full(shape, 1.5, dtype=getattr(torch, dtype))
            found, wanted = compiled(t, number), space["program"](t, number)
            assert found.dtype is wanted.dtype, (form, shape, dtype, found.dtype)
            torch.testing.assert_close(found, wanted, rtol=0, atol=0)


def test_beside_a_number_of_a_tensor():
    """The float that `item()` gives varies in a loop, and the tensors beside it are 0-d."""

    def program(x, r):
        return torch.stack([r[i] - x[i].item() for i in range(4)])

    x, r = torch.arange(4.0), torch.ones(4)
    for backend in ("eager", "numba"):
        found = torch.compile(program, backend=backend)(x, r)
        assert found.dtype is torch.float32 and torch.equal(found, program(x, r))
