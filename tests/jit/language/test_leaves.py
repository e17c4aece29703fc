"""Parameters, buffers, modules and other leaves made inside: no break, all of theirs in place."""
# ruff: noqa: E501 -- odd on purpose

import pytest

import minitorch2 as torch
from minitorch2 import nn
from tests.jit.language.judging import BACKENDS, Programs, judge

program = Programs()


class Scaled(nn.Module):
    """A layer of the program's, with leaves of every kind."""

    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.full((width,), 2.0))
        self.frozen = nn.Parameter(torch.ones(width), requires_grad=False)
        self.register_buffer("seen", torch.zeros(()))
        self.kept = nn.Buffer(torch.arange(width), persistent=False)
        self.inner = nn.Sequential(nn.Linear(width, width), nn.Tanh())

    def forward(self, x):
        self.seen += 1
        return self.inner(x * self.gain + self.frozen + self.kept)


@program
def a_parameter_and_its_gradient(x):
    p = nn.Parameter(torch.ones(3) * 2)
    (x * p).sum().backward()
    return p, p.grad, type(p), isinstance(p, nn.Parameter), p.is_leaf, p.requires_grad


@program
def a_parameter_without_data(x):
    p = nn.Parameter()
    return p.shape, p.requires_grad, x + 1


@program
def a_parameter_by_keyword(x):
    return nn.Parameter(data=torch.ones(2), requires_grad=False), x + 1


@program
def of_integers(x):
    try:
        nn.Parameter(torch.arange(3))
    except RuntimeError as error:
        return str(error)[:40], x + 1


@program
def of_no_tensor(x):
    try:
        nn.Parameter([1.0])
    except TypeError as error:
        return type(error).__name__, x + 1


@program
def a_gradient_that_goes_on(w):
    p = nn.Parameter(torch.ones(3))
    return (w * p).sum(), p


@program
def of_a_result_with_a_history(w):
    made = w * 2
    p = nn.Parameter(made)
    (made * p).sum().backward()
    return p, w.grad


@program
def data_seen_through_the_leaf(x):
    data = torch.zeros(3)
    p = nn.Parameter(data)
    data.add_(1)
    with torch.no_grad():
        p.mul_(3)
    return data, p, x + 1


@program(breaks=True)
def data_of_another_that_is_written(x):
    whole = torch.zeros(2, 3)
    p = nn.Parameter(whole[0])
    whole.add_(1)
    return p, x + 1


@program(breaks=True)
def over_the_memory_of_an_argument(x):
    p = nn.Parameter(x)
    return p


@program
def over_the_memory_of_an_argument_and_gone(x):
    p = nn.Parameter(x)
    return (p * p).sum().detach()


@program
def views_that_are_read(x):
    whole = torch.ones(2, 3)
    row = whole[0]
    p = nn.Parameter(whole)
    return (row * x).sum(), (p * x).sum()


@program
def factories_that_take_the_flag(x):
    made = [
        torch.ones(3, requires_grad=True),
        torch.zeros(3, requires_grad=True),
        torch.rand(3, requires_grad=True),
        torch.tensor([1.0, 2.0, 3.0], requires_grad=True),
        torch.full((3,), 2.0, requires_grad=True),
    ]
    sum((x * one).sum() for one in made).backward()
    return made


@program
def told_to_require_a_gradient(x):
    made = x * 2
    made.requires_grad_()
    other = (x + 1).requires_grad_(requires_grad=True)
    third = x - 1
    third.requires_grad = True
    (made * other * third).sum().backward()
    return made, other, third, made.grad_fn


@program
def told_twice(x):
    made = (x * 2).requires_grad_()
    return made.requires_grad_() is made, (made * 2).requires_grad_().is_leaf


@program
def told_no_gradient(x):
    layer = nn.Linear(3, 2).requires_grad_(False)
    result = layer(x)
    return result.requires_grad, layer


@program
def a_result_told_no_gradient(w):
    try:
        (w * 2).requires_grad_(False)
    except RuntimeError as error:
        return str(error)[:30]


@program
def leaves_under_no_grad(x):
    with torch.no_grad():
        p = nn.Parameter(torch.ones(3))
        q = p * 2
    return p, q.requires_grad, (p * x).requires_grad


@program
def a_leaf_of_columns(x):
    p = nn.Parameter(torch.ones(2, 3).t().contiguous().t())
    return p, p.stride(), (p * x).sum()


@program
def attributes_of_a_leaf(x):
    p = nn.Parameter(torch.ones(3))
    p.tag = "mine"
    return p, p.tag, x + 1


@program
def an_own_module(x):
    layer = Scaled(3)
    layer(x).sum().backward()
    return layer, [name for name, _ in layer.named_parameters()], list(layer.state_dict())


@program
def a_module_that_is_gone(x):
    return nn.Linear(3, 4)(x).detach()


@program
def modules_in_containers(x):
    layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])
    for layer in layers:
        x = layer(x).relu()
    return x, layers, nn.ModuleDict({"a": layers[0]}), nn.ParameterList([layers[1].weight])


@program
def one_parameter_in_two_places(x):
    first, second = nn.Linear(3, 3), nn.Linear(3, 3)
    second.weight = first.weight
    second(first(x)).sum().backward()
    return first, second, first.weight is second.weight


@program
def a_step_of_an_optimizer(x):
    layer = nn.Linear(3, 2)
    optimizer = torch.optim.AdamW(layer.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        layer(x).pow(2).sum().backward()
        optimizer.step()
    return layer, optimizer.state_dict()


@program
def a_state_loaded(x):
    first, second = nn.Linear(3, 2), nn.Linear(3, 2)
    second.load_state_dict(first.state_dict())
    return second(x), second


@program
def other_numbers_in_it(x):
    return (
        nn.Linear(3, 2).double(),
        nn.Linear(3, 2).half(),
        nn.BatchNorm1d(3).to(torch.float64),
        x + 1,
    )


@program
def other_data_in_it(x):
    p = nn.Parameter(torch.ones(3))
    p.data = x[0] * 2
    return p, (p * x).sum()


@program
def draws_in_order(x):
    first = torch.rand(2)
    layer = nn.Linear(2, 2)
    return first, layer, torch.rand(2), nn.init.normal_(torch.empty(2)), x + 1


@program
def kept_by_an_argument(table, x):
    table["layer"] = nn.Linear(3, 2)
    table["k"] = table["layer"].weight
    return table["layer"](x)


@program
def made_by_a_class_that_was_made(x):
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3))

        def forward(self, x):
            return x * self.weight

    own = Own()
    return own(x).sum(), own.weight


@program(breaks=True)
def two_over_one_memory(x):
    data = x * 2
    p, q = nn.Parameter(data), nn.Parameter(data)
    return p, q, p.data_ptr() == q.data_ptr()


@program(breaks=True)
def one_over_the_data_of_another(x):
    p = nn.Parameter(x * 2)
    q = nn.Parameter(p.data)
    return p, q, p.data_ptr() == q.data_ptr()


@program(breaks=True)
def two_of_which_one_is_written(w):
    data = torch.ones(3)
    row = data[:2]
    p, q = nn.Parameter(data), nn.Parameter(data)
    with torch.no_grad():
        p.add_(5)
    (w * q).sum().backward()
    return q, row * 1


@program(breaks=True)
def three_in_a_module(x):
    layer, data = nn.Module(), x * 2
    layer.a, layer.b, layer.c = (nn.Parameter(data) for _ in range(3))
    return layer, layer.a.data_ptr() == layer.b.data_ptr() == layer.c.data_ptr()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)


MODULES = {
    "Linear": lambda: nn.Linear(4, 3),
    "Bilinear": lambda: nn.Bilinear(3, 4, 2),
    "Embedding": lambda: nn.Embedding(5, 3, padding_idx=1),
    "EmbeddingBag": lambda: nn.EmbeddingBag(5, 3),
    "Conv1d": lambda: nn.Conv1d(2, 3, 3),
    "Conv2d": lambda: nn.Conv2d(2, 3, 3, bias=False),
    "ConvTranspose2d": lambda: nn.ConvTranspose2d(2, 3, 3),
    "BatchNorm2d": lambda: nn.BatchNorm2d(3),
    "LayerNorm": lambda: nn.LayerNorm(4),
    "GroupNorm": lambda: nn.GroupNorm(2, 4),
    "InstanceNorm2d": lambda: nn.InstanceNorm2d(3, affine=True),
    "RMSNorm": lambda: nn.RMSNorm(4),
    "LSTM": lambda: nn.LSTM(3, 4, 2, bidirectional=True),
    "GRUCell": lambda: nn.GRUCell(2, 2),
    "MultiheadAttention": lambda: nn.MultiheadAttention(8, 2),
    "TransformerDecoderLayer": lambda: nn.TransformerDecoderLayer(8, 2, 16),
    "PReLU": lambda: nn.PReLU(3),
    "ParameterDict": lambda: nn.ParameterDict({"a": torch.ones(2)}),
    "CrossEntropyLoss": lambda: nn.CrossEntropyLoss(weight=torch.ones(3)),
    "AdaptiveLogSoftmaxWithLoss": lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 10, [3]),
    "Embedding of numbers": lambda: nn.Embedding.from_pretrained(torch.ones(3, 2)),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules(name):
    make = MODULES[name]

    def program(x):
        return make(), x + 1

    judge(program)


def test_leaves_over_one_memory_stay_tied():
    """What is written into one after the call is seen in the other."""

    def two(x):
        data = x * 2
        return nn.Parameter(data), nn.Parameter(data)

    def by_data(x):
        p = nn.Parameter(x * 2)
        return p, nn.Parameter(p.data)

    def beside_a_view(x):
        data = x * 2
        row = data[0]
        p = nn.Parameter(data)
        return nn.Parameter(p.data), row

    def in_a_module(x):
        layer, data = nn.Module(), x * 2
        layer.a, layer.b = nn.Parameter(data), nn.Parameter(data)
        return layer.a, layer.b

    for fn in (two, by_data, beside_a_view, in_a_module):
        for backend in BACKENDS:
            first, second = torch.compile(fn, backend=backend)(torch.ones(2, 2))
            with torch.no_grad():
                first.add_(1)
            assert second.unique().tolist() == [3.0], fn.__name__


def test_gradients_come_from_outside():
    """What is computed after the call reaches a leaf made inside, in each call its own."""

    def made(x):
        p = nn.Parameter(torch.ones(3))
        return p, p * x

    x = torch.arange(3.0)
    compiled = torch.compile(made, fullgraph=True, backend="aot_eager")
    (first, out), (second, other) = compiled(x), compiled(x)
    assert first is not second
    (out * 2).sum().backward()
    assert first.grad.tolist() == [0.0, 2.0, 4.0]
    assert second.grad is None
    other.sum().backward()
    assert second.grad.tolist() == [0.0, 1.0, 2.0]
    assert first.grad.tolist() == [0.0, 2.0, 4.0]
