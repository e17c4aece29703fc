"""What draws random numbers and is computed again draws the same: all kinds, all budgets."""

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.nn import functional as F

ROWS, WIDTH = 16, 32
BUDGETS = (1.0, 0.25, 0.0)
BACKENDS = ["interpreter", pytest.param("numba", marks=pytest.mark.numba)]


class Draws(nn.Module):
    """Two dropouts of the same values, whole features, slopes, noise, an order, a generator's."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, generator):
        one, other = (F.dropout(torch.tanh(self.first(x)), 0.3) for _ in range(2))
        hidden = one * other + F.dropout(self.second(one), 0.5)
        features = hidden.view(4, 4, WIDTH, 1)
        hidden = F.alpha_dropout(hidden, 0.2) + F.feature_alpha_dropout(features, 0.3).view_as(x)
        hidden = F.dropout2d(hidden.view(2, 8, 8, 4), 0.4).reshape(ROWS, WIDTH)
        hidden = F.rrelu(self.second(hidden), training=True)
        hidden = hidden + torch.rand_like(hidden) * hidden + 0.1 * torch.randn(ROWS, WIDTH)
        hidden = hidden * torch.bernoulli(torch.full((ROWS, WIDTH), 0.5))
        if generator is not None:
            hidden = hidden + torch.rand(ROWS, WIDTH, generator=generator) * hidden
            hidden = hidden * torch.empty(ROWS, WIDTH).bernoulli_(0.7, generator=generator)
        hidden = hidden[torch.randperm(ROWS)]
        return torch.softmax(hidden @ hidden.mT, -1) @ hidden


def trained(way, backend, budget, own):
    """Losses and parameters of two steps, and the numbers that the generators give afterwards."""
    torch.manual_seed(7)
    net, x = Draws(), torch.randn(ROWS, WIDTH)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    generator = torch.Generator().manual_seed(3) if own else None
    how = {"backend": backend, "options": {"activation_memory_budget": budget}}
    run = torch.compile(net, **how) if way == "model" else net

    def step(x):
        optimizer.zero_grad()
        loss = run(x, generator).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    step = torch.compile(step, **how) if way == "step" else step
    losses = [step(x), step(x)]
    after = [torch.rand(2), *([torch.rand(2, generator=generator)] if own else [])]
    return [*losses, *(each.detach() for each in net.parameters()), *after]


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("way", ["model", "step"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_drawn_again_is_the_same(backend, way, own):
    eager = trained("eager", backend, 1.0, own)
    whole, *smaller = [trained(way, backend, budget, own) for budget in BUDGETS]
    for one, other in zip(whole, eager, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
    for found in smaller:
        assert all(torch.equal(one, other) for one, other in zip(found, whole, strict=True))
