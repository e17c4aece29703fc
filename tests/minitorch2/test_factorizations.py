"""Factorizations against their products, of all shapes; gradients where torch has them."""

import pytest

import minitorch2 as torch
from minitorch2.autograd import gradcheck, gradgradcheck


def matrix(*shape: int) -> torch.Tensor:
    torch.manual_seed(sum(shape))
    return torch.randn(*shape, dtype=torch.float64)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2), (2, 3, 4)])
def test_gradients_of_wide_and_tall_factors(shape: tuple[int, ...]) -> None:
    a = matrix(*shape).requires_grad_()
    assert gradcheck(lambda x: torch.linalg.lu(x)[1:], (a,))
    assert gradcheck(torch.linalg.qr, (a,))
    assert gradgradcheck(lambda x: torch.linalg.lu(x)[2], (a,))


def test_complete_factors_of_wide_matrices_have_gradients_and_those_of_tall_ones_none() -> None:
    a = matrix(2, 4).requires_grad_()
    assert gradcheck(lambda x: torch.linalg.qr(x, "complete"), (a,))
    q, _ = torch.linalg.qr(matrix(4, 2).requires_grad_(), "complete")
    with pytest.raises(RuntimeError, match="not differentiable when mode='complete'"):
        q.sum().backward()


@pytest.mark.parametrize("shape", [(4, 3), (3, 3), (2, 5, 2)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_reflections_multiply_to_the_orthogonal_factor(shape: tuple, dtype: torch.dtype) -> None:
    a = matrix(*shape).to(dtype)
    a = a + 1j * matrix(*shape) if dtype.is_complex else a
    packed, tau = torch.geqrf(a)
    q, r = torch.linalg.householder_product(packed, tau), packed.triu()[..., : shape[-1], :]
    torch.testing.assert_close(q @ r, a)
    other = matrix(*shape).to(dtype)
    torch.testing.assert_close(
        torch.ormqr(packed, tau, other)[..., :1], full_q(packed, tau) @ other[..., :1]
    )
    back = torch.ormqr(packed, tau, torch.ormqr(packed, tau, other), transpose=True)
    torch.testing.assert_close(back, other)
    right = torch.ormqr(packed, tau, other.mH, left=False)
    torch.testing.assert_close(right, other.mH @ full_q(packed, tau))


def full_q(packed: torch.Tensor, tau: torch.Tensor) -> torch.Tensor:
    m = packed.shape[-2]
    return torch.ormqr(
        packed, tau, torch.eye(m, dtype=packed.dtype).expand(*packed.shape[:-2], m, m)
    )


def test_gradients_of_reflections() -> None:
    packed, tau = torch.geqrf(matrix(4, 3))
    packed, tau = packed.requires_grad_(), tau.requires_grad_()
    assert gradcheck(torch.linalg.householder_product, (packed, tau))


@pytest.mark.parametrize("size", [1, 2, 5, 8])
@pytest.mark.parametrize("hermitian", [False, True])
def test_indefinite_matrices_are_solved_from_their_factors(size: int, hermitian: bool) -> None:
    a = matrix(3, size, size) + 1j * matrix(3, size, size)
    a = a + (a.mH if hermitian else a.mT)
    a[0].diagonal().zero_()  # needs blocks of two
    b = matrix(3, size, 2).to(a.dtype)
    if size == 1:
        a = a + 1
    packed, pivots = torch.linalg.ldl_factor(a, hermitian=hermitian)
    found = torch.linalg.ldl_solve(packed, pivots, b, hermitian=hermitian)
    torch.testing.assert_close(a @ found, b)
    assert int(torch.linalg.ldl_factor_ex(torch.zeros(2, 2)).info) == 1


@pytest.mark.parametrize("driver", ["gelsy", "gelsd", "gelss"])
def test_least_squares_of_low_rank_have_the_least_norm(driver: str) -> None:
    a = matrix(5, 2) @ matrix(2, 4)
    b = matrix(5, 3)
    found = torch.linalg.lstsq(a, b, rcond=1e-10, driver=driver)
    torch.testing.assert_close(found.solution, torch.linalg.pinv(a, rtol=1e-10) @ b)
    assert int(found.rank) == 2 and not found.residuals.numel()


def test_a_compiled_factorization_lies_in_memory_as_eagers() -> None:
    a = matrix(3, 3)
    compiled = torch.compile(lambda x: (*torch.linalg.qr(x), torch.linalg.inv(x)))
    for found, eager in zip(compiled(a), (*torch.linalg.qr(a), torch.linalg.inv(a)), strict=True):
        assert found.stride() == eager.stride() == (1, 3)
        torch.testing.assert_close(found, eager)


def test_what_failed_is_told_as_torch_tells_it() -> None:
    good, bad = torch.eye(2), torch.ones(2, 2)
    with pytest.raises(
        torch.linalg.LinAlgError, match=r"\(Batch element 1\): The diagonal element 2"
    ):
        torch.linalg.inv(torch.stack([good, bad]))
    with pytest.raises(torch.linalg.LinAlgError, match="leading minor of order 1"):
        torch.linalg.cholesky(-good)
    with pytest.raises(RuntimeError, match="non-finite values"):
        torch.linalg.svd(good * float("nan"))
    assert float(torch.linalg.cond(torch.zeros(2, 2), 1)) == float("inf")


def test_out_tuples_are_written() -> None:
    targets = [torch.empty(0, dtype=torch.float64) for _ in range(3)]
    found = getattr(torch.linalg, "svd")(matrix(3, 2), out=tuple(targets))  # noqa: B009
    assert all(a is b for a, b in zip(found, targets, strict=True))
    torch.testing.assert_close(targets[1], torch.linalg.svdvals(matrix(3, 2)))
