"""functools.partial and partialmethod: their parts are their own, and can be changed."""

import copy
import functools

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()


def told(x, *args, **kwargs):
    return x + sum(args) + sum(kwargs.values()), args, kwargs


class Owner:
    def scaled(self, x, factor, shift=2):
        return x * factor + shift

    @classmethod
    def of_class(cls, x, amount):
        return x + amount, cls

    @staticmethod
    def of_nobody(x, amount):
        return x - amount

    twice = functools.partialmethod(scaled, factor=2)
    shifted = functools.partialmethod(scaled, shift=5)
    again = functools.partialmethod(functools.partial(scaled, shift=9), factor=3)
    ten = functools.partialmethod(of_class, amount=10)
    three = functools.partialmethod(of_nobody, amount=3)
    short = functools.partialmethod(lambda self, x, k: x * k, k=7)


@program
def keywords_are_a_dict(x):
    made = functools.partial(told, k=1)
    made.keywords["k"] = 5
    made.keywords["z"] = 7
    table = made.keywords
    table.update(later=2)
    del made.keywords["z"]
    return made(x), table, made.keywords is table, made


@program
def keywords_leave_with_it(x):
    made = functools.partial(told, k=1)
    holder = made.keywords, made
    return holder, holder[1].keywords is holder[0], made


@program
def written_between_two_calls(x):
    made = functools.partial(told, 1, k=1)
    first = made(x)
    made.keywords["k"] += 1
    return first, made(x), made(x, 2, k=0)


@program
def one_of_another(x):
    inner = functools.partial(told, 1, k=3)
    outer = functools.partial(inner, 2, k=4, j=1)
    inner.keywords["k"] = 100  # the outer one has a dict of its own
    return outer(x), outer.args, outer.func is told, outer.keywords, inner(x)


@program
def one_of_another_with_attributes(x):
    inner = functools.partial(told, 1)
    inner.tag = 4
    outer = functools.partial(inner, 2)
    del inner.tag
    later = functools.partial(inner, 3)
    return outer(x), outer.func is inner, later.func is inner, hasattr(inner, "tag"), outer.args


@program
def copied(x):
    made = functools.partial(told, 1, k=[2])
    other, deep = copy.copy(made), copy.deepcopy(made)
    return (
        other is made, other.keywords is made.keywords, deep.keywords == made.keywords,
        deep.keywords["k"] is made.keywords["k"], deep.func is told, other.args, x + 1,
    )  # fmt: skip


@program
def keys_that_are_no_texts(x):
    made = functools.partial(told)
    made.keywords[1] = 2
    try:
        return made(x)
    except TypeError as error:
        return error


@program
def compared(x):
    one, other = functools.partial(told, 1), functools.partial(told, 1)
    return x, one == other, one == one, one in [other], len({one, other}), one.func is other.func


@program
def methods(x):
    owner = Owner()
    return (
        owner.twice(x), owner.shifted(x, 3), Owner.twice(owner, x), owner.again(x), owner.short(x),
        owner.ten(x), Owner.ten(x), owner.three(x), Owner.three(x), owner.twice.keywords,
    )  # fmt: skip


@program
def methods_of_a_class_made_inside(x):
    class Local:
        base = 1

        def scaled(self, x, k):
            return x * k + self.base

        thrice = functools.partialmethod(scaled, k=3)

    return Local().thrice(x), Local.thrice(Local(), x)


@program
def asked_for_by_get(x):
    owner = Owner()
    raw = Owner.__dict__
    bound = raw["scaled"].__get__(owner, Owner)
    return (
        bound(x, 2), raw["scaled"].__get__(None, Owner) is Owner.scaled,
        raw["of_class"].__get__(owner)(x, 1), raw["of_class"].__get__(None, Owner)(x, 1),
        raw["of_nobody"].__get__(owner)(x, 1), raw["twice"].__get__(owner)(x),
    )  # fmt: skip


@program
def get_of_nothing(x):
    try:
        return told.__get__(None), x
    except TypeError as error:
        return error


@program(again=True, calls=6)
def one_from_outside():
    made = functools.partial(told, k=1)
    calls = iter(range(6))

    def arguments():
        number = next(calls)
        if number == 2:
            made.keywords["k"] = 9
        if number == 3:
            made.keywords["new"] = 1
        if number == 5:
            made.keywords.clear()
        return (torch.ones(2),)

    return lambda x: (made(x), "k" in made.keywords), arguments, lambda: dict(made.keywords)


@program(calls=4)
def one_from_outside_is_written():
    made = functools.partial(told, k=torch.ones(2))

    def fn(x):
        made.keywords["k"] = made.keywords["k"] + x
        return made(x)[0]

    return fn, (torch.ones(2),), lambda: dict(made.keywords)


def given_attributes(taken_away):
    """A partial that is given an attribute between calls, and loses it again."""

    def made():
        inner = functools.partial(told, 1)
        calls = iter(range(8))

        def arguments():
            number = next(calls)
            if number in (2, 4):
                inner.tag = number
            if number == 6 and taken_away:
                del inner.tag
            return (torch.ones(2),)

        def fn(x):
            outer = functools.partial(inner, 2)
            return outer(x), outer.func is inner, hasattr(inner, "tag"), getattr(inner, "tag", 0)

        return fn, arguments, lambda: functools.partial(inner).func is inner

    return made


program.known["given attributes"] = given_attributes(False), {"again": True, "calls": 8}
program.known["given and taken"] = given_attributes(True), {"again": True, "calls": 8}


@program(calls=4)
def attributes_are_written():
    made = functools.partial(told, 1)

    def fn(x):
        made.count = getattr(made, "count", torch.zeros(())) + 1
        return made(x)[0] * made.count

    made.count = torch.zeros(())
    return fn, (torch.ones(2),), lambda: made.count


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
