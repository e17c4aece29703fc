"""torch.testing: what assert_close looks at, and what make_tensor makes."""

import pytest

import minitorch2 as torch
from minitorch2.testing import assert_close, make_tensor


def test_layouts_are_compared_unless_told_otherwise() -> None:
    dense = torch.eye(2)
    with pytest.raises(AssertionError, match="'layout' do not match: torch.sparse_coo"):
        assert_close(dense.to_sparse(), dense)
    assert_close(dense.to_sparse(), dense, check_layout=False)
    assert_close(dense.to_sparse(), dense.to_sparse())
    with pytest.raises(AssertionError, match="not close"):
        assert_close(dense.to_sparse(), (2 * dense).to_sparse())


def test_what_cannot_be_compared_is_a_mistake_of_the_call() -> None:
    with pytest.raises(TypeError, match="No comparison pair"):
        assert_close("a", "a")
    with pytest.raises(AssertionError, match="None mismatch"):
        assert_close(torch.ones(1), None)


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.bfloat16, torch.complex64, torch.int8, torch.bool]
)
def test_made_tensors_lie_between_their_bounds(dtype: torch.dtype) -> None:
    made = make_tensor((40, 3), dtype=dtype)
    assert made.dtype is dtype and tuple(made.shape) == (40, 3)
    part = torch.view_as_real(made) if dtype.is_complex else made
    assert -9 <= float(part.double().min()) and float(part.double().max()) <= 9
    assert not make_tensor(4, 6, dtype=dtype, noncontiguous=True).is_contiguous()
    some = make_tensor(100, dtype=dtype, low=0, high=2, exclude_zero=True)
    assert bool((some != 0).all())


def test_bounds_that_leave_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="must be less than"):
        make_tensor(3, dtype=torch.int64, low=3, high=3)


def test_a_deviation_whose_square_is_beyond_the_dtype() -> None:
    found = torch.std(torch.tensor([1e30, 2e30]))
    assert float(found) == pytest.approx(0.5**0.5 * 1e30)
