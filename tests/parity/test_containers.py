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


@pytest.mark.parametrize("program", [dict_methods, sequences])
def test_methods(program):
    check(program)
