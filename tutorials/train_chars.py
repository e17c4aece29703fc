"""Train a small transformer to continue Python source code, byte by byte.

    python tutorials/train_chars.py                  # the training step is compiled
    python tutorials/train_chars.py --no-compile     # eager
    mt2 explain tutorials/train_chars.py --steps 2   # every stage of the compiler

In: the sources of Python's standard library on this machine, split by file into training and
held-out. Out: bits per character on the same held-out bytes for the transformer and for a model
that only counts (how often each byte follows the two before it), and some text of its own.

This is an ordinary torch script; only the import differs.
"""

import argparse
import math
import pathlib
import sysconfig
import time

import numpy as np

import minitorch2 as torch
import minitorch2.nn as nn
import minitorch2.nn.functional as F


class Attention(nn.Module):
    """Every position looks at itself and those before it, with several heads."""

    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, future):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        q, k, v = (t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(C // self.heads)  # [B, heads, T, T]
        scores = scores.masked_fill(future, float("-inf"))
        mixed = F.softmax(scores, dim=-1) @ v  # [B, heads, T, C / heads]
        return self.dropout(self.out(mixed.transpose(1, 2).reshape(B, T, C)))


class Block(nn.Module):
    """Attention, then a small network for each position; both add to what comes in."""

    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__()
        self.before_attention = nn.LayerNorm(width)
        self.attention = Attention(width, heads, dropout)
        self.before_network = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, future):
        x = x + self.attention(self.before_attention(x), future)
        hidden = F.gelu(self.up(self.before_network(x)), approximate="tanh")
        return x + self.dropout(self.down(hidden))


class CharModel(nn.Module):
    """Bytes in, scores of the next byte out: [B, T] -> [B, T, 256]."""

    def __init__(self, width: int = 128, heads: int = 4, layers: int = 2, length: int = 128,
                 dropout: float = 0.05):  # fmt: skip
        super().__init__()
        self.length = length
        self.bytes = nn.Embedding(256, width)
        self.positions = nn.Embedding(length, width)
        self.blocks = nn.ModuleList([Block(width, heads, dropout) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.scores = nn.Linear(width, 256)
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:  # small weights: at the start every byte is equally likely
                nn.init.normal_(parameter, std=0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, x):
        T = x.shape[1]
        future = torch.ones(T, T, dtype=torch.bool).tril().logical_not()
        h = self.bytes(x) + self.positions(torch.arange(T))
        for block in self.blocks:
            h = block(h, future)
        return self.scores(self.norm(h))


def load_text(limit: int):
    """(training bytes, held-out bytes) from the standard library; every tenth file is held out."""
    files = sorted(pathlib.Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    held_out = b"\n".join(path.read_bytes() for path in files[::10])
    kept = [path for index, path in enumerate(files) if index % 10]
    training = b"\n".join(path.read_bytes() for path in kept)
    return np.frombuffer(training[:limit], np.uint8), np.frombuffer(held_out[: 1 << 16], np.uint8)


def count_model_bits(training, held_out) -> float:
    """Bits per character of an interpolated order-2 count model.

    The estimates from two, one and no bytes of context are mixed; the weights are those that do
    best on the last tenth of the training bytes, which is not counted for that.
    """

    def estimates(text, target):
        a, b, c = (text[i : len(text) - 2 + i].astype(np.int64) for i in range(3))
        ones = np.bincount(c, minlength=256)
        twos = np.bincount(b * 256 + c, minlength=1 << 16)
        threes = np.bincount((a * 256 + b) * 256 + c, minlength=1 << 24)
        x, y, z = (target[i : len(target) - 2 + i].astype(np.int64) for i in range(3))
        zero = (ones[z] + 1) / (ones.sum() + 256)
        context = twos.reshape(256, 256).sum(1)
        one = twos[y * 256 + z] / np.maximum(context[y], 1)
        pairs = threes.reshape(1 << 16, 256).sum(1)
        two = threes[(x * 256 + y) * 256 + z] / np.maximum(pairs[x * 256 + y], 1)
        return zero, one, two

    def bits(parts, weights):
        return float(-np.log2(sum(w * p for w, p in zip(weights, parts, strict=True))).mean())

    cut = len(training) * 9 // 10
    trial = estimates(training[:cut], training[cut:])
    grid = [(z / 100, o / 100, 1 - z / 100 - o / 100)
            for z in (1, 2, 5, 10) for o in range(5, 60, 5)]  # fmt: skip
    best = min(grid, key=lambda weights: bits(trial, weights))
    return bits(estimates(training, held_out), best)


def make_step(model, optimizer):
    """One update on a batch: forward, backward, clipped gradients, AdamW."""

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.detach()

    return step


def batches(text, length: int, size: int, generator):
    """Random stretches of the text, and the same stretches one byte on."""
    while True:
        starts = torch.randint(len(text) - length - 1, (size, 1), generator=generator)
        places = starts + torch.arange(length + 1)  # [size, length + 1]
        chosen = text[places]
        yield chosen[:, :-1], chosen[:, 1:]


@torch.no_grad()
def model_bits(model, held_out) -> float:
    """Bits per character, each byte guessed from at least half a window of context."""
    model.eval()
    length, half = model.length, model.length // 2
    total, count = 0.0, 0
    text = torch.tensor(held_out, dtype=torch.int64)
    starts = list(range(0, len(held_out) - length - 1, half))
    for at in range(0, len(starts), 32):
        x = torch.stack([text[s : s + length] for s in starts[at : at + 32]])
        y = torch.stack([text[s + 1 : s + length + 1] for s in starts[at : at + 32]])
        losses = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="none")
        losses = losses.view(len(x), length)[:, half:]
        total, count = total + losses.sum().item(), count + losses.numel()
    model.train()
    return total / count / math.log(2)


@torch.no_grad()
def sample(model, prompt: str, count: int, temperature: float = 0.8) -> str:
    """The prompt and `count` bytes more, each drawn from what the model expects."""
    model.eval()
    text = torch.tensor(list(prompt.encode()), dtype=torch.int64)
    for _ in range(count):
        scores = model(text[-model.length :].unsqueeze(0))[0, -1] / temperature
        text = torch.cat([text, torch.multinomial(F.softmax(scores, dim=-1), 1)])
    model.train()
    return bytes(text.tolist()).decode(errors="replace")


def main():
    parser = argparse.ArgumentParser(description="Train a small transformer on Python sources.")
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--steps", type=int, default=5000, help="updates (default: 5000)")
    parser.add_argument("--minutes", type=float, default=8.0, help="stop training after so long")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sample", type=int, default=400, help="bytes to write at the end")
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    training, held_out = load_text(3_000_000)
    print(f"{len(training):,} bytes to train on, {len(held_out):,} held out", flush=True)
    counted = count_model_bits(training, held_out)
    print(f"counting: {counted:.3f} bits per character", flush=True)

    model = CharModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.05)
    warm_up = 100

    def rate(step):
        """Up to the full rate in `warm_up` steps, then down to a tenth along a cosine."""
        if step < warm_up:
            return (step + 1) / warm_up
        return 0.1 + 0.45 * (1 + math.cos(math.pi * min(progress(), 1.0)))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    step = make_step(model, optimizer)
    if options.compile:
        step = torch.compile(step)
    source = batches(torch.tensor(training, dtype=torch.int64), model.length, 16,
                     torch.Generator().manual_seed(options.seed))  # fmt: skip
    start, recent, done = time.perf_counter(), [], 0

    def progress():
        """How much of the steps or of the time is gone, whichever is more."""
        spent = (time.perf_counter() - start) / (60 * options.minutes)
        return max(done / options.steps, spent)

    while progress() < 1.0:
        x, y = next(source)
        recent.append(step(x, y).item())
        schedule.step()
        done += 1
        if done % 100 == 0 or done == options.steps:
            bits = sum(recent) / len(recent) / math.log(2)
            spent = time.perf_counter() - start
            print(f"step {done:5d}  {bits:.3f} bits  {spent:5.0f} s", flush=True)
            recent = []

    learned = model_bits(model, held_out)
    print(f"transformer: {learned:.3f} bits per character; counting: {counted:.3f}")
    if options.sample:
        print(sample(model, "def ", options.sample))


if __name__ == "__main__":
    main()
