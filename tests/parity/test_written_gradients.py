"""Gradients of what is overwritten, beside torch's: zeros for the old value, never None."""

import pytest

torch = pytest.importorskip("torch")

from tests.parity.both import check  # noqa: E402

WRITES = {
    "copy_": lambda t, y, s: y.copy_(s),
    "computed": lambda t, y, s: y.copy_(s * 3),
    "its clone": lambda t, y, s: y.copy_(y.clone()),
    "constant": lambda t, y, s: y.copy_(t.zeros(3)),
    "mul_": lambda t, y, s: y.mul_(s),
    "exp_": lambda t, y, s: y.exp_(),
    "fill_": lambda t, y, s: y.fill_(s[0]),
    "zero_": lambda t, y, s: y.zero_(),
    "all": lambda t, y, s: y.__setitem__(slice(None), s),
    "one": lambda t, y, s: y.__setitem__(0, s[0]),
    "number": lambda t, y, s: y.__setitem__(slice(None), 5.0),
    "masked_fill_": lambda t, y, s: y.masked_fill_(t.tensor([True] * 3), s[1]),
    "addcmul_": lambda t, y, s: y.addcmul_(s, s),
    "chain": lambda t, y, s: y.mul_(2).copy_(s).mul_(3),
    "index_copy_": lambda t, y, s: y.index_copy_(0, t.tensor([0, 1, 2]), s),
    "index_put_": lambda t, y, s: y.index_put_((t.tensor([0, 1, 2]),), s),
}


@pytest.mark.parametrize("name", WRITES)
def test_old_values(name):
    """The gradients of what was there and of what was written."""

    def program(t):
        z, s = t.ones(3, requires_grad=True), t.ones(3, requires_grad=True)
        y = z * 2
        WRITES[name](t, y, s)
        return t.autograd.grad(y.sum(), (z, s), allow_unused=True)

    check(program)


@pytest.mark.parametrize("factors", [[1, 2, 3], [1, 0, 3], [0, 0, 3], [0, 2, 0, 4], [0, 0, 0]])
def test_running_products(factors):
    """cumprod, twice differentiated, also at zeros."""

    def program(t):
        x = t.tensor([float(each) for each in factors], requires_grad=True)
        weights = t.arange(1.0, len(factors) + 1)
        (first,) = t.autograd.grad((x.cumprod(0) * weights).sum(), x, create_graph=True)
        (second,) = t.autograd.grad((first * (weights + 1)).sum(), x)
        return first.detach(), second

    check(program)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("name", ["cholesky_inverse", "cholesky_solve"])
def test_factors(name, upper):
    """First and second derivatives in a triangular factor."""

    def program(t):
        lower = t.tensor([[2.0, 0.0, 0.0], [0.5, 1.5, 0.0], [-0.3, 0.7, 1.0]]).double()
        x = (lower.t().contiguous() if upper else lower).requires_grad_()
        given = (x,) if name == "cholesky_inverse" else (t.ones(3, 2).double(), x)
        found = getattr(t, name)(*given, upper=upper)
        (first,) = t.autograd.grad(found.sin().sum(), x, create_graph=True)
        return first.detach(), t.autograd.grad((first**2).sum(), x)

    check(program, 1e-8)
