"""nn.Module: parameters, buffers, children, containers, hooks, modes, state that forward keeps."""
# ruff: noqa: B030, E501 -- odd on purpose

import functools

import pytest

import minitorch2 as torch
import minitorch2.nn.functional as F
from minitorch2 import nn
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()


def made(cls, *args, **kwargs):
    """A module with the same weights each time."""
    torch.manual_seed(3)
    return cls(*args, **kwargs)


def state(module):
    """What a module holds, by name."""
    own = {k: v for k, v in module.__dict__.items() if not k.startswith("_")}
    return [(k, v.detach()) for k, v in module.state_dict().items()], own


X = torch.tensor([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]])


class Block(nn.Module):
    scale = 2

    def __init__(self, width=3, depth=2):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.named = nn.ModuleDict({"act": nn.ReLU(), "norm": nn.LayerNorm(width)})
        self.gains = nn.ParameterList([nn.Parameter(torch.ones(width)) for _ in range(depth)])
        self.register_buffer("calls", torch.zeros(1))
        self.register_buffer("mask", None)
        self.head = nn.Sequential(nn.Linear(width, 2), nn.Tanh())
        self.seen = 0
        self.log = []

    def forward(self, x, *, flip=False):
        for i, (layer, gain) in enumerate(zip(self.layers, self.gains, strict=True)):
            x = layer(x) * gain + i
            if "act" in self.named:
                x = self.named["act"](x)
        for name, child in self.named.items():
            if name == "norm":
                x = child(x)
        if self.mask is not None:
            x = x * self.mask
        self.calls += 1
        self.last = x
        self.log.append(tuple(x.shape))
        return self.head(-x if flip else x) * self.scale


@program
def containers():
    block = made(Block)

    def fn(x):
        y = block(x)
        return (
            y, len(block.layers), block.layers[0] is block.layers[-2],
            [type(m).__name__ for m in block.children()],
            list(block.named), block.head[0].weight.shape, len(list(block.parameters())),
            block.layers[:1][0] is block.layers[0],
            [n for n, _ in block.named_parameters()][:3], isinstance(block.named["act"], nn.ReLU),
            "x" in block.named,
            block(x, flip=True), block.training, [n for n, _ in block.named_children()],
            block.last.shape,
        )  # fmt: skip

    return fn, (X.clone(),), lambda: state(block)


@program
def compiled_module():
    block = made(Block)
    return block, (X.clone(),), lambda: state(block)


@program(again=True)
def counters_and_buffers():
    class Meter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mean", torch.zeros(3))
            self.steps = 0
            self.history = {}

        def forward(self, x):
            self.steps += 1
            self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
            self.history[self.steps] = x.shape[0]
            return x - self.mean

    meter = Meter()
    return meter, (X.clone(),), lambda: (state(meter), meter.history)


@program
def batch_norm_and_dropout():
    net = made(
        lambda: nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(0.5))
    )

    def fn(x):
        first = net(x)
        net.eval()
        second = net(x)
        net.train()
        return first, second, net[1].num_batches_tracked

    return fn, (X.clone(),), lambda: state(net[1])


@program
def hooks():
    log = []
    net = made(lambda: nn.Sequential(nn.Linear(3, 3), nn.ReLU()))
    net.register_forward_pre_hook(lambda module, args: log.append("pre") or (args[0] * 2,))
    net.register_forward_hook(lambda module, args, out: log.append(tuple(out.shape)))
    net[0].register_forward_hook(lambda module, args, out: out + 1)

    def fn(x):
        return net(x)

    return fn, (X.clone(),), lambda: log


@program
def hooks_with_keywords():
    class Takes(nn.Module):
        def forward(self, x, by=1):
            return x * by

    net = Takes()
    net.register_forward_pre_hook(lambda m, args, kwargs: (args, {"by": 5}), with_kwargs=True)
    net.register_forward_hook(lambda m, args, kwargs, out: out + kwargs["by"], with_kwargs=True)

    def fn(x):
        return net(x, by=2)

    return fn, (X.clone(),), lambda: None


@program
def hooks_made_inside():
    net = made(nn.Linear, 3, 3)

    def fn(x):
        kept = []
        handle = net.register_forward_hook(lambda module, args, out: kept.append(out))
        net(x)
        handle.remove()
        net(x)
        return kept, len(net._forward_hooks)

    return fn, (X.clone(),), lambda: len(net._forward_hooks)


@program
def attributes_written():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 3)
            self.weight = nn.Parameter(torch.ones(3))
            self.cache = None
            self.config = {"k": 1}

        def forward(self, x):
            self.cache = self.inner(x)
            self.config["k"] = x.shape
            self.inner.note = "seen"
            self.extra = [self.cache]
            setattr(self, "dynamic", 5)  # noqa: B010
            del self.extra
            return self.cache * self.weight, hasattr(self, "extra"), getattr(self, "nope", 3)

    net = made(Net)
    return net, (X.clone(),), lambda: (net.cache, net.config, net.inner.note, net.dynamic)


@program
def shared_parts():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(3, 3)
            self.second = nn.Linear(3, 3)
            self.second.weight = self.first.weight
            self.again = self.first

        def forward(self, x):
            same = self.first.weight is self.second.weight
            return self.second(self.first(x)) + self.again(x), same, self.again is self.first

    return made(Tied), (X.clone(),), lambda: None


@program(again=True)
def methods_and_properties():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 3)

        @property
        def width(self):
            return self.inner.out_features

        @staticmethod
        def act(x):
            return F.relu(x)

        @classmethod
        def kind(cls):
            return cls.__name__

        @functools.cached_property
        def scale(self):
            return 3

        def encode(self, x):
            return self.act(self.inner(x)) * self.scale

        def __len__(self):
            return 7

        def forward(self, x):
            return (
                self.encode(x),
                self.width,
                self.kind(),
                len(self),
                self.extra_repr(),
                self.__class__.__name__,
            )

    return made(Net), (X.clone(),), lambda: None


@program
def modules_made_inside():
    def fn(x):
        act = nn.ReLU()
        norm = nn.LayerNorm(3, elementwise_affine=False)
        return norm(act(x)), nn.Flatten()(x), nn.Identity()(x) is x

    return fn, (X.clone(),), lambda: None


@program
def recurrent_and_attention():
    torch.manual_seed(0)
    attend = nn.MultiheadAttention(4, 2, batch_first=True)
    gru = nn.GRU(4, 3, batch_first=True)
    x = torch.arange(24.0).reshape(2, 3, 4) / 10

    def fn(x):
        y, weights = attend(x, x, x)
        z, last = gru(x)
        return y, weights, z, last

    return fn, (x,), lambda: None


@program
def many_in_a_list():
    blocks = [made(nn.Linear, 3, 3) for _ in range(3)]
    table = {"a": blocks[0], "b": nn.ReLU()}

    def fn(x):
        for block in blocks:
            x = block(x)
        for name in sorted(table):
            x = table[name](x)
        return x, [b.weight.sum() for b in blocks]

    return fn, (X.clone(),), lambda: None


@program(again=True)
def training_step():
    net = made(nn.Linear, 3, 2)
    best = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def fn(x):
        best.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        best.step()
        return loss.detach()

    return fn, (X.clone(),), lambda: (state(net), [p.grad for p in net.parameters()])


@program
def hooks_of_backward_in_a_step():
    net = made(nn.Linear, 3, 3)
    net.register_full_backward_pre_hook(lambda module, grads: tuple(grad * 2 for grad in grads))

    def fn(x):
        net.zero_grad()
        loss = (net(x) * x).sum()
        loss.backward()
        return loss.detach()

    return fn, (X.clone(),), lambda: [p.grad for p in net.parameters()]


@program
def functional_forms():
    net = made(nn.Linear, 3, 3)

    def fn(x):
        parts = dict(net.named_parameters())
        return (
            F.linear(x, parts["weight"], parts["bias"]),
            sorted(parts),
            net.state_dict().keys() == parts.keys(),
        )

    return fn, (X.clone(),), lambda: None


@pytest.mark.parametrize("backend", BACKENDS)
def test_hooks_of_a_backward_from_outside(backend):
    net = made(nn.Linear, 3, 3)
    net.register_full_backward_pre_hook(lambda module, grads: tuple(grad * 2 for grad in grads))

    def fn(x):
        return (net(x) * x).sum()

    found = []
    for function in (fn, torch.compile(fn, backend=backend, fullgraph=True)):
        net.zero_grad()
        leaf = X.clone().requires_grad_()
        function(leaf).backward()
        found.append([each.grad.tolist() for each in (leaf, *net.parameters())])
    assert found[0] == found[1]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
