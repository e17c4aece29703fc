"""What a call hands out unread, taken away before the next one, and put back."""

import sys
import types

import pytest

import minitorch2 as torch
from tests.jit.language.judging import judge

HERE = sys.modules[__name__]
MODULE = types.ModuleType("program_module")


class Thing:
    """What is handed out."""


class Holder:
    pass


class Slotted:
    __slots__ = ("held",)


class Asked:
    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


def of_attributes(owner):
    return (
        lambda: owner.held, lambda: setattr(owner, "held", Thing()), lambda: delattr(owner, "held"),
    )  # fmt: skip


def of_items(table, key):
    return lambda: table[key], lambda: table.__setitem__(key, Thing()), lambda: table.pop(key)


def of_a_list():
    items: list = []
    return lambda: items[0], lambda: items.append(Thing()), items.clear


def of_a_global():
    def put():
        HERE.GLOBAL = Thing()

    return lambda: GLOBAL, put, lambda: delattr(HERE, "GLOBAL")  # noqa: F821


def of_a_class_by_an_instance():
    class Local:
        pass

    instance = Local()
    _, put, away = of_attributes(Local)
    return lambda: instance.held, put, away


PLACES = {
    "an attribute": lambda: of_attributes(Holder()), "a slot": lambda: of_attributes(Slotted()),
    "an instance that asks": lambda: of_attributes(Asked()),
    "a class": lambda: of_attributes(type("Made", (), {})),
    "a class, by an instance": of_a_class_by_an_instance,
    "a module of nn": lambda: of_attributes(torch.nn.ReLU()),
    "a function": lambda: of_attributes(lambda: 0), "a module": lambda: of_attributes(MODULE),
    "a tensor": lambda: of_attributes(torch.ones(2)), "an item": lambda: of_items({}, "k"),
    "an item under a number": lambda: of_items({1: 2}, 3), "a list": of_a_list,
    "a global": of_a_global,
}  # fmt: skip
HANDED_OUT = {
    "alone": lambda get, x: get(), "beside a tensor": lambda get, x: (x + 1, get()),
    "in a list": lambda get, x: [get(), get()], "asked whether": lambda get, x: get() is not None,
}  # fmt: skip


def program(place, use):
    def made():
        get, put, away = PLACES[place]()
        calls = iter(range(7))

        def arguments():
            number = next(calls)
            if number in (0, 5):
                put()
            if number == 3:
                away()
            return (torch.ones(2),)

        def fn(x):
            try:
                return HANDED_OUT[use](get, x)
            except (LookupError, AttributeError, NameError) as error:
                return type(error)

        return fn, arguments, lambda: None

    return made


@pytest.mark.parametrize("use", HANDED_OUT)
@pytest.mark.parametrize("place", PLACES)
def test_taken_away(place, use):
    judge(program(place, use), calls=7, again=True, backend="eager")
