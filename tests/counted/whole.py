"""Programs that nothing in Python forces to break: one graph a compilation."""

import collections
import contextlib
import dataclasses
import functools
import itertools
import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


def same(fn, *calls, **options):
    """Compiled and not, for each call's arguments; both start from the same random state."""
    compiled = torch.compile(fn, backend="aot_eager", **options)
    for make in calls:
        torch.manual_seed(1)
        want = fn(*make())
        torch.manual_seed(1)
        got = compiled(*make())
        assert repr(got) == repr(want), (got, want)


def pair():
    return torch.arange(6.0).view(2, 3), torch.ones(2, 3)


def case_arithmetic():
    same(lambda x, y: (x + y) * 2 - x / (y + 1) ** 2, pair, pair)


def case_unpacking_and_containers():
    def fn(x, y):
        first, *rest = [x, y, x * y]
        table = {"a": first, **{"b": rest[0]}}
        return [value + len(table) for value in table.values()], rest[-1:]

    same(fn, pair)


def case_comprehensions_and_generators():
    def fn(x, y):
        rows = [row * i for i, row in enumerate(x)]
        return sum(row.sum() for row in rows), [a + b for a, b in zip(rows, y, strict=True)]

    same(fn, pair)


def case_closures():
    def fn(x, y):
        count = 0

        def add(a, b):
            nonlocal count
            count += 1
            return a + b

        return functools.reduce(add, [x, y, x]) * count

    same(fn, pair)


def case_classes():
    @dataclasses.dataclass
    class Box:
        value: torch.Tensor
        scale: int = 2

        @property
        def scaled(self):
            return self.value * self.scale

    class Twice(Box):
        def __add__(self, other):
            return Twice(self.value + other.value, self.scale * 2)

    same(lambda x, y: (Twice(x) + Box(y)).scaled, pair)


def case_exceptions():
    def fn(x, y):
        try:
            if x.dim() == 2:
                raise ValueError("two")
        except ValueError as error:
            return x + len(str(error))
        finally:
            y = y + 1
        return y

    same(fn, pair)


def case_context_managers():
    @contextlib.contextmanager
    def scaled(by):
        yield by * 2

    def fn(x, y):
        with torch.no_grad(), scaled(3) as by:
            x = x * by
        return x + y

    same(fn, pair)


def case_match_and_walrus():
    def fn(x, y):
        match {"kind": "add", "n": 3}:
            case {"kind": "add", "n": n} if (m := n + 1) > 3:
                return x + y * m
        return x

    same(fn, pair)


def case_loops():
    def fn(x, y):
        for step in itertools.count(1):
            if step % 3 == 0:
                continue
            if step > 6:
                break
            x = x + y * step
        else:
            x = x * 0
        while x.dim() < 4:
            x = x[None]
        return x

    same(fn, pair)


def case_library():
    def fn(x, y):
        tally = collections.Counter("abca")
        pairs = sorted(tally.items(), key=lambda item: -item[1])
        return x * math.sqrt(pairs[0][1]) + y * collections.deque([1, 2], maxlen=1)[0]

    same(fn, pair)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up = nn.LayerNorm(width), nn.Linear(width, 2 * width)
        self.down, self.drop = nn.Linear(2 * width, width), nn.Dropout(0.1)
        self.register_buffer("calls", torch.zeros(()))
        self.count = 0

    def forward(self, x):
        self.count += 1
        self.calls += 1
        return x + self.drop(self.down(F.gelu(self.up(self.norm(x)))))


def case_modules():
    net = nn.Sequential(Block(8), Block(8))
    compiled = torch.compile(net, backend="aot_eager")
    for _ in range(3):
        compiled(torch.ones(4, 8)).sum().backward()
    assert net[0].count == 3 and net[1].calls.item() == 3


def case_training_step():
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    x, target = torch.ones(6, 4), torch.zeros(6, dtype=torch.int64)

    @torch.compile(backend="aot_eager")
    def loss_of(x, target):
        return F.cross_entropy(net(x), target)

    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = loss_of(x, target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses == sorted(losses, reverse=True)


def case_attention():
    def fn(q, k):
        mask = torch.ones(4, 4, dtype=torch.bool).tril()
        scores = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).masked_fill(~mask, -1e9)
        return F.softmax(scores, dim=-1) @ k

    same(fn, lambda: (torch.arange(32.0).view(2, 4, 4).sin(), torch.arange(32.0).view(2, 4, 4)))


def case_views_and_writes():
    def fn(x, y):
        view = x.t()[1:]
        view += 1
        x[0] = y[1]
        x[:, 1].mul_(3)
        return view, x.flatten()[::2]

    same(fn, pair)


def case_random_numbers():
    same(lambda x, y: (x + torch.rand(2, 3), F.dropout(y), torch.randperm(4)), pair, pair)


def case_shapes_that_change():
    calls = [lambda n=n: (torch.ones(n, 3), torch.ones(n, 3)) for n in (2, 3, 4, 5, 9)]
    same(lambda x, y: (x * y).sum(0) / x.shape[0], *calls)


def case_numbers_that_change():
    calls = [lambda n=n: (torch.ones(2), n, n / 2) for n in (2, 3, 4, 5, 9)]
    same(lambda x, n, s: (x * n + s) if s > 1.2 else x - s, *calls)


def case_modes_and_flags():
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
    compiled = torch.compile(net, backend="aot_eager")
    compiled(torch.ones(1, 2))
    net.eval()
    compiled(torch.ones(1, 2))
    with torch.no_grad():
        assert not compiled(torch.ones(1, 2)).requires_grad
