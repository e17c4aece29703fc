"""A smaller budget never plans more memory: models alone and whole steps, several architectures."""

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.artifacts import subscribe
from minitorch2.jit.autodiff.rematerialize import fullest
from minitorch2.nn import functional as F

BUDGETS = (1.0, 0.5, 0.25)
ROWS, WIDTH = 256, 32


def mlp():
    """Deep: one value of each layer is enough to compute the next again."""
    layers = [nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.GELU())
              for _ in range(16)]  # fmt: skip
    return nn.Sequential(*layers), torch.randn(ROWS, WIDTH)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(F.silu(self.up(self.norm(x))))


def residual():
    return nn.Sequential(*(Residual() for _ in range(8))), torch.randn(ROWS, WIDTH)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = Residual()

    def forward(self, x):
        q, k, v = (t.view(4, 64, 2, 16).transpose(1, 2) for t in self.qkv(x).split(WIDTH, -1))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.mlp(x + self.out(mixed.transpose(1, 2).reshape(4, 64, WIDTH)))


def transformer():
    return nn.Sequential(*(Attention() for _ in range(4))), torch.randn(4, 64, WIDTH)


def planned(events):
    """Bytes alive at the fullest point, and the results of the backward."""
    [found] = [event for event in events if event.stage == "autodiff.partition"]
    if hasattr(found.payload, "backward"):
        halves = found.payload
        return max(fullest(halves.forward), halves.bytes_saved() + fullest(halves.backward))
    return found.payload.peak_after


def model_alone(made, budget):
    torch.manual_seed(0)
    model, x = made()
    run = torch.compile(model, backend="interpreter", options={"activation_memory_budget": budget})
    events = []
    with subscribe(events.append):
        loss = run(x).square().mean()
        loss.backward()
    return planned(events), [loss.detach(), *(p.grad for p in model.parameters())]


def whole_step(made, budget):
    torch.manual_seed(0)
    model, x = made()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    options = {"activation_memory_budget": budget}
    run = torch.compile(step, backend="interpreter", fullgraph=True, options=options)
    events = []
    with subscribe(events.append):
        loss = run(x)
    return planned(events), [loss, *(p.detach() for p in model.parameters())]


@pytest.mark.parametrize("made", [mlp, residual, transformer])
@pytest.mark.parametrize("way", [model_alone, whole_step])
def test_a_smaller_budget_plans_no_more_and_computes_the_same(way, made):
    found = [way(made, budget) for budget in BUDGETS]
    peaks = [peak for peak, _ in found]
    assert peaks == sorted(peaks, reverse=True), peaks
    assert peaks[-1] < 0.75 * peaks[0], peaks
    for _, numbers in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(numbers, found[0][1], strict=True))


def test_the_reasons_name_values_of_the_graphs_that_run():
    events = []
    model, x = mlp()
    run = torch.compile(model, backend="interpreter", options={"activation_memory_budget": 0.25})
    with subscribe(events.append):
        run(x).sum().backward()
    [halves] = [e.payload for e in events if e.stage == "autodiff.partition"]
    types = {value: value.type for node in halves.backward.nodes for value in node.results}
    again = [reason for reason in halves.reasons if not reason.saved]
    assert again and all(types.get(each.value) == each.value.type for each in again)
