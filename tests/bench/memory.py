"""The memory of one training step at several budgets for its activations.

    python tests/bench/memory.py [--model gpt|mlp] [--budgets 1.0 0.5 0.25] [--steps 5] [--layers 4]

In: nothing. Out: for each way of compiling (the model alone, the whole step) and each budget, the
bytes that the chooser keeps for the backward, the most memory that the compiled code had in use in
one step beyond what it held before, the milliseconds of a step, and whether all losses are, bit for
bit, those at the first budget.
"""

import argparse
import math
import statistics
import time

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.artifacts import Event, subscribe
from minitorch2.kernels.runtime.buffers import pool
from minitorch2.nn import functional as F

DIM, HEADS, VOCABULARY, LENGTH, BATCH = 128, 4, 256, 128, 8


class Block(nn.Module):
    """Attention and a feed-forward layer, each added to its input."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv, self.out = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)
        self.up, self.down = nn.Linear(DIM, 4 * DIM), nn.Linear(4 * DIM, DIM)

    def forward(self, x):
        batch, length, dim = x.shape
        heads = (batch, length, HEADS, dim // HEADS)
        q, k, v = (t.view(heads).transpose(1, 2) for t in self.qkv(self.norm1(x)).split(dim, 2))
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(dim // HEADS)
        future = torch.ones(length, length, dtype=torch.bool).tril().logical_not()
        weights = F.softmax(scores.masked_fill(future, float("-inf")), -1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, dim))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class GPT(nn.Module):
    """Tokens to logits."""

    def __init__(self, layers):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(VOCABULARY, DIM), nn.Embedding(LENGTH, DIM)
        self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(DIM), nn.Linear(DIM, VOCABULARY, bias=False)

    def forward(self, x):
        hidden = self.tokens(x) + self.positions(torch.arange(x.shape[1]))
        return self.head(self.norm(self.blocks(hidden))).reshape(-1, VOCABULARY)


class MLP(nn.Module):
    """Four linear layers for each of the GPT's, on rows as long as its tokens are."""

    def __init__(self, layers):
        super().__init__()
        self.layers = nn.Sequential(*(
            nn.Sequential(nn.LayerNorm(DIM), nn.Linear(DIM, DIM), nn.GELU())
            for _ in range(4 * layers)
        ))  # fmt: skip
        self.head = nn.Linear(DIM, VOCABULARY)

    def forward(self, x):
        return self.head(self.layers(x))


def made(name: str, layers: int) -> tuple[nn.Module, torch.Tensor]:
    """A model and an input."""
    if name == "mlp":
        return MLP(layers), torch.randn(BATCH * LENGTH, DIM)
    return GPT(layers), torch.randint(VOCABULARY, (BATCH, LENGTH))


def measured(
    way: str, budget: float, steps: int, layers: int, name: str = "gpt"
) -> tuple[list[float], str]:
    """The losses of some steps, and the row of the table."""
    torch.manual_seed(0)
    model, x = made(name, layers)
    y = torch.randint(VOCABULARY, (BATCH * LENGTH,))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    options = {"activation_memory_budget": budget}
    run = torch.compile(model, options=options) if way == "model" else model

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(run(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    if way == "step":
        step = torch.compile(step, options=options)
    events: list[Event] = []
    with subscribe(events.append):
        losses = [step(x, y).item(), step(x, y).item()]
    saved = sum(e.facts["bytes"] for e in events if e.stage == "autodiff.partition")
    pool().forget_peak()
    held = pool().counters()["allocated"]
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        losses.append(step(x, y).item())
        times.append(time.perf_counter() - start)
    peak = pool().counters()["peak"] - held
    kept = f"{saved / 1e6:8.1f}" if saved else "     all"
    ms = statistics.median(times) * 1e3
    return losses, f"{way:6} {budget:6.2f} {kept} MB {peak / 1e6:8.1f} MB {ms:8.1f} ms"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--budgets", type=float, nargs="+", default=[1.0, 0.5, 0.25])
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--model", choices=("gpt", "mlp"), default="gpt")
    given = parser.parse_args()
    print("way    budget     kept        peak       step    losses")
    for way in ("model", "step"):
        first = None
        for budget in given.budgets:
            losses, row = measured(way, budget, given.steps, given.layers, given.model)
            first = first or losses
            print(row, "the same" if losses == first else f"differ: {losses} {first}", flush=True)


if __name__ == "__main__":
    main()
