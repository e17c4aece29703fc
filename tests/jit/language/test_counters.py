"""Numbers of `itertools.count` from outside: keys of registries and hooks, in one graph."""

import itertools

import pytest

import minitorch2 as torch
from minitorch2 import nn
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()


def world(make):
    """A program whose world, a counter among it, is made anew for each of the two runs."""

    def program():
        counter = itertools.count(5, 2)
        table = {1: "one", "k": 2}
        fn = make(counter, table)
        return fn, (torch.ones(2),), lambda: (table, repr(counter))

    return program


def register(counter, table):
    def fn(x):
        number = next(counter)
        table[number] = x * 2
        table[next(counter)] = "second"
        return number, x + 1

    return fn


def taken_back(counter, table):
    def fn(x):
        number = next(counter)
        table[number] = "there"
        found = number in table, number in {}, table.pop(number, None), table.pop(number, "gone")
        return found, x + 1

    return fn


def skipped(counter, table):
    def fn(x):
        for _ in range(3):
            next(counter)
        return x + 1

    return fn


def in_sets(counter, table):
    def fn(x):
        first, second = next(counter), next(counter)
        made = {first, second, first, "text"}
        return len(made), first in made, second is first, made, x + 1

    return fn


def among_plain_numbers(counter, table):
    def fn(x):
        made = {0: "zero", 100: "hundred"}
        made[next(counter)] = "new"
        return len(made), made, 100 in made, x + 1

    return fn


for make in (register, taken_back, skipped, in_sets, among_plain_numbers):
    program.known[make.__name__] = world(make), {}


def computed_with(counter, table):
    def fn(x):
        return next(counter) * x

    return fn


program.known["computed_with"] = world(computed_with), {"breaks": True}


@program
def a_hook_that_is_removed(x):
    layer, seen = nn.Linear(3, 3), []
    handle = layer.register_forward_hook(lambda module, args, out: seen.append(out) or out * 2)
    first = layer(x)
    handle.remove()
    handle.remove()
    return first, layer(x), seen, len(layer._forward_hooks)


@program
def a_hook_of_a_block(x):
    layer = nn.Linear(3, 3)
    with layer.register_forward_pre_hook(lambda module, args: (args[0] * 2,)):
        first = layer(x)
    return first, layer(x)


OUTSIDE = nn.Linear(3, 3)


@program
def a_hook_on_a_module_from_outside(x):
    handle = OUTSIDE.register_forward_hook(lambda module, args, out: out * 2)
    first = OUTSIDE(x)
    handle.remove()
    return first, OUTSIDE(x), len(OUTSIDE._forward_hooks)


@program
def hooks_in_order(x):
    layer = nn.Linear(3, 3)
    layer.register_forward_hook(lambda module, args, out: out + 1)
    layer.register_forward_hook(lambda module, args, out: out * 2, prepend=True)
    return layer(x)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)


def test_a_number_that_is_a_key_already():
    """The counter comes to a number that the dict holds: compiled anew, and right."""

    def made():
        counter = itertools.count()

        def fn(x):
            table = {2: "two"}
            table[next(counter)] = "new"
            return len(table), x + 1

        return fn

    eager, compiled = made(), torch.compile(made(), backend="eager")
    x = torch.ones(2)
    assert [eager(x)[0] for _ in range(5)] == [compiled(x)[0] for _ in range(5)] == [2, 2, 1, 2, 2]
