"""Lists and dicts of modules and of parameters have what Python's have, beside torch."""

import pytest

torch = pytest.importorskip("torch")

from collections import OrderedDict  # noqa: E402

from tests.parity.both import check  # noqa: E402


def kept(mapping):
    return [(name, list(value.shape)) for name, value in mapping.items()]


def dict_methods(t):
    one = t.nn.ParameterDict(OrderedDict(b=t.ones(2), a=t.zeros(1)))
    found = [
        kept(one),
        list(reversed(one)),
        kept(one.copy()),
        kept(one.fromkeys(["x", "y"], one.a)),
    ]
    found.append([list(one.setdefault("c", t.ones(3)).shape), list(one.setdefault("b").shape)])
    found += [one.popitem()[0], kept(one | {"z": t.ones(4)}), kept({"z": t.ones(4)} | one)]
    one |= t.nn.ParameterDict({"q": t.ones(5)})
    one.update({"n": t.ones(1), "m": t.ones(2)})  # a plain dict comes in the order of its names
    found += [kept(one), [name for name, _ in one.named_parameters()]]
    one.clear()
    return [*found, len(one), list(one.state_dict())]


def sequences(t):
    def named(*names):
        return t.nn.Sequential(*(getattr(t.nn, each)() for each in names))

    def order(row):
        return [(name, type(each).__name__) for name, each in row.named_children()]

    row = named("ReLU", "Tanh", "ELU")
    row.insert(-3, t.nn.GELU())
    row.insert(4, t.nn.SELU())
    found = [order(row), order(row + named("ReLU")), type(row.pop(1)).__name__, order(row)]
    row += named("Mish")
    return [*found, order(row), order(2 * named("ReLU", "Tanh"))]


def states(t):
    """Arguments of state_dict by their places; an embedding's settings are printed."""
    found = {}
    with pytest.warns(FutureWarning, match="Positional args are being deprecated"):
        t.nn.Linear(2, 3).state_dict(found, "at.", True)
    given = t.nn.Embedding(3, 2, max_norm=1.0, norm_type=3.0, scale_grad_by_freq=True, sparse=True)
    return [found["at.weight"].requires_grad, list(found), repr(given)]


def output_sizes(t):
    """A transposed convolution makes the size that it is asked for, with [N, C] or without."""
    made = t.nn.ConvTranspose2d(1, 1, 3, stride=2, padding=1)
    made.weight.data.fill_(0.5)
    made.bias.data.fill_(0.25)
    x = t.arange(9.0).reshape(1, 1, 3, 3)
    found = [made(x, output_size=size) for size in ((5, 6), [1, 1, 6, 6], t.Size((6, 5)))]
    return [*found, made(x[0], output_size=(6, 6)), made(x[0], output_size=(1, 5, 5))]


@pytest.mark.parametrize("program", [dict_methods, sequences, states, output_sizes])
def test_methods(program):
    check(program)
