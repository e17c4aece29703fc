"""`locals()`, `vars()` and `globals()` inside compiled functions and class bodies."""
# ruff: noqa: F841, RUF059, E711 -- odd on purpose

import enum

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()


@program
def in_a_class_body(x):
    class Local:
        a = 1
        locals()["b"] = 2
        vars()["c"] = x
        d = dict(locals())["a"]
        e = vars()["b"]
        names = sorted(name for name in locals() if not name.startswith("__"))
        same = locals() is vars()

    return Local.b, Local.c, Local.d, Local.e, Local.names, Local.same


@program
def in_a_body_that_closes_over(x, a):
    outer = a

    class Local:
        inner = outer
        names = list(locals())

        def method(self):
            return sorted(locals()), __class__ is Local

    return Local.names, Local().method()


@program(breaks=True)
def in_the_body_of_an_enum(x):
    class Local(enum.Enum):
        a = 1
        size = len(locals()) > 1

    return Local.size.name, x + 1


@program
def cells(x, a):
    held, free = a, 2

    def inner():
        return held

    return dict(locals()), dict(vars()), inner()


@program
def free_variables(x, a):
    held = a

    def inner(first, *args, key=3, **kwargs):
        own = held

        def innermost():
            return own, first

        return {name: value for name, value in locals().items() if name != "innermost"}

    return inner(5), inner(x, 7, key=8, more=x)


@program
def variables_of_the_world():
    scale = 3

    def fn(x):
        if scale:
            return x * locals()["scale"], sorted(locals())

    def observe():
        nonlocal scale
        scale = 3

    return fn, (torch.ones(2),), observe


@program
def what_is_unbound(x, flag):
    if not flag:
        never = 1

    def inner():
        return never

    gone = 1
    del gone
    return sorted(locals())


@program
def what_changes(x, a):
    one = locals()
    first = dict(one)
    b = a
    a = 5
    between = one["a"], "b" in one
    two = locals()
    return first, between, one is two, one["a"], sorted(one), sorted(two)


@program
def written(x, a):
    found = locals()
    found["a"] = 9
    found["new"] = x
    again = locals()
    return a, again["a"], again.get("new")


@program
def in_comprehensions_and_generators(x, a):
    def steps():
        first = 1
        yield dict(locals())
        del first
        yield dict(locals())

    lists = [sorted(locals()) for _ in range(2)]
    return (
        lists,
        {n: len(locals()) for n in range(2)},
        list(steps()),
        sorted((lambda b=2: locals())()),
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
