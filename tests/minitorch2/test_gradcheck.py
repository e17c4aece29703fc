"""gradcheck: what it finds, and in which words; tests/parity compares its verdicts with torch's."""

import pytest

import minitorch2 as torch
from minitorch2.autograd import Function, gradcheck, gradgradcheck

FAST = pytest.mark.parametrize("fast", [True, False])


def ones(*sizes, dtype=torch.float64):
    return torch.ones(*(sizes or (2, 2)), dtype=dtype, requires_grad=True)


def shifted(x):
    """The identity with a wrong gradient."""
    y = x.clone()
    y.register_hook(lambda grad: grad + 1e-2)
    return y


def with_none(x):
    y = x.clone()

    def hook(grad):
        if grad is None:
            raise RuntimeError("nothing arrived")

    y.register_hook(hook)
    return y


class Sparse(Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad.to_sparse()


class Jitter(Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * (1 + 1e-6 * torch.rand_like(grad))


@FAST
@pytest.mark.parametrize(
    "function, options, text",
    [
        (shifted, {}, "Jacobian mismatch for output 0 with respect to input 0"),
        (shifted, {"atol": 0.1}, "backward not multiplied by grad_output"),
        (lambda x: x.detach() * 2, {}, "expected to be zero"),
        (Sparse.apply, {}, "grad is incorrect layout"),
        (Jitter.apply, {}, "Backward is not reentrant"),
    ],
)
def test_what_is_found(function, options, text, fast):
    with pytest.raises(RuntimeError, match=text):
        gradcheck(function, ones(), fast_mode=fast, **options)
    assert not gradcheck(function, ones(), fast_mode=fast, raise_exception=False, **options)


def test_parts_of_complex_outputs_are_told_apart():
    with pytest.raises(RuntimeError, match="imaginary part of complex outputs only"):
        gradcheck(shifted, ones(dtype=torch.complex128))


@FAST
def test_backwards_see_missing_gradients(fast):
    with (
        pytest.warns(UserWarning, match="undefined gradient support"),
        pytest.raises(RuntimeError, match="handle undefined output grads"),
    ):
        gradcheck(with_none, ones(), fast_mode=fast)
    assert gradcheck(with_none, ones(), fast_mode=fast, check_undefined_grad=False)


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: gradcheck(torch.sin, torch.ones(2)), ValueError, "at least one input tensor"),
        (
            lambda: gradcheck(torch.sin, ones(1).expand(2, 2)),
            RuntimeError,
            "0th input has a dimension with stride 0",
        ),
        (
            lambda: gradcheck(lambda x: torch.cat([x, x]) if (x >= 1).all() else x, ones(1)),
            AssertionError,
            "same shape when inputs are perturbed",
        ),
        (
            lambda: gradcheck(torch.sin, ones(), check_backward_ad=False),
            AssertionError,
            "Expected at least one of",
        ),
    ],
)
def test_what_cannot_be_checked(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_errors_of_the_function_pass():
    def fails(x):
        raise RuntimeError("its own")

    with pytest.raises(RuntimeError, match="its own"):
        gradcheck(fails, ones(), raise_exception=False)


@FAST
def test_what_is_right(fast):
    assert gradcheck(lambda x: (), ones(), fast_mode=fast)
    assert gradcheck(Jitter.apply, ones(), nondet_tol=1e-5, fast_mode=fast)
    assert gradgradcheck(lambda x: x**3, ones(), fast_mode=fast)
    assert gradcheck(lambda z: (z, z.real), ones(dtype=torch.complex128), fast_mode=fast)
