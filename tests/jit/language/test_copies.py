"""`copy` and `deepcopy` of instances, by what their classes say of it, and of modules."""

import copy

import pytest

import minitorch2 as torch
from minitorch2 import nn
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()
LAYER = nn.Linear(3, 3)


class WithState:
    def __init__(self):
        self.items = [1]
        self.again = self.items
        self.me = self

    def __getstate__(self):
        return {**self.__dict__, "more": 1}


class Told:
    __slots__ = ("slot", "empty", "__dict__")

    def __init__(self):
        self.slot = [1]
        self.other = 2

    def __setstate__(self, state):
        self.got = state


class Slotted:
    __slots__ = ("slot", "__dict__")

    def __init__(self, slot):
        self.slot = slot
        self.other = [slot]


class Reduced:
    def __init__(self, value):
        self.value = value

    def __reduce__(self):
        return Reduced, ([self.value],), {"state": self.value}


class Deep:
    def __init__(self, number):
        self.number = number
        self.held = [number]

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        made = memo[id(self)] = Deep(self.number + 1)
        made.held = copy.deepcopy(self.held, memo)
        return made


class Listed(list):
    def __reduce_ex__(self, protocol):
        return Listed, (), None, iter(self)


class Paired(dict):
    def __reduce__(self):
        return Paired, (), None, None, iter(self.items())


@program
def by_getstate(x):
    made = WithState()
    return copy.deepcopy(made), copy.copy(made), x + 1


@program
def by_setstate(x):
    made = Told()
    return copy.deepcopy(made), copy.copy(made), x + 1


@program
def slots_beside_a_dict(x):
    made = Slotted([1])
    return made.__dict__, vars(made), copy.deepcopy(made), copy.copy(made), x + 1


@program
def by_reduce(x):
    made = Reduced([3])
    return copy.deepcopy(made), copy.copy(made), x + 1


@program
def by_deepcopy(x):
    made = Deep(3)
    return copy.deepcopy([made, made]), x + 1


@program
def by_reduce_ex(x):
    return copy.deepcopy(Listed([1, [2]])), copy.copy(Listed([1, [2]])), x + 1


@program
def by_pairs(x):
    return copy.deepcopy(Paired(a=[1])), copy.copy(Paired(a=[1])), x + 1


@program
def with_a_memo(x, items):
    memo = {}
    return copy.deepcopy(items, memo), copy.deepcopy(items, memo), len(memo) > 0, x + 1


@program
def of_a_module_made_inside(x):
    first = nn.Linear(3, 3)
    second = copy.deepcopy(first)
    second(x).sum().backward()
    return first, second


@program
def of_a_module_from_outside(x):
    return copy.deepcopy(LAYER)(x), copy.copy(LAYER).weight is LAYER.weight


@program
def of_layers_in_a_row(x):
    return copy.deepcopy(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))), x + 1


@program
def by_a_module_that_copies(x):
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2), x + 1


@program
def of_a_leaf_with_a_gradient(w):
    (w * w).sum().backward()
    copied = copy.deepcopy(w)
    return copied, copied.grad is w.grad, copied.is_leaf


@program
def of_a_parameter(x):
    made = nn.Parameter(torch.ones(3))
    copied = copy.deepcopy({"a": made, "b": made})
    return copied, copied["a"] is copied["b"], (x * copied["a"]).sum()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
