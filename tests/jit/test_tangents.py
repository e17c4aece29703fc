"""Compiled code and forward mode: tangents go through compiled functions as through any others."""

import pytest

import minitorch2 as torch
from minitorch2.autograd import forward_ad


class Off(torch.autograd.Function):
    """Its jvp is seven times the true one, so that nobody else's is taken for it."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * 7


FUNCTIONS = {
    "operations": lambda x: (x.sin() * x).cumsum(0),
    "function": lambda x: Off.apply(x).exp(),
    "writes": lambda x: x.clone().mul_(x).t(),
}


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_inside(name, backend):
    """A compiled function of dual tensors, first compiled without them."""
    eager, x, t = FUNCTIONS[name], torch.randn(3), torch.randn(3)
    compiled = torch.compile(eager, backend=backend)
    assert torch.equal(compiled(x), eager(x))
    wanted = torch.func.jvp(eager, (x,), (t,))[1]
    torch.testing.assert_close(torch.func.jvp(compiled, (x,), (t,))[1], wanted)
    with forward_ad.dual_level():
        found = forward_ad.unpack_dual(compiled(forward_ad.make_dual(x, t))).tangent
    torch.testing.assert_close(found, wanted)
    assert torch.equal(compiled(x), eager(x))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_outside(name, backend):
    """A compiled function that takes tangents itself."""

    def both(x, t):
        return torch.func.jvp(lambda y: FUNCTIONS[name](y), (x,), (t,))

    x, t = torch.randn(3), torch.randn(3)
    for mine, theirs in zip(torch.compile(both, backend=backend)(x, t), both(x, t), strict=True):
        torch.testing.assert_close(mine, theirs)
