"""Classes that are given a name, or lose it, between two calls: what was inherited is hidden."""

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()
X = torch.tensor([1.0, 2.0])


class Descriptor:
    def __get__(self, instance, owner=None):
        return 40

    def __set__(self, instance, value):
        raise AttributeError("read only")


GIVEN = {
    "method": lambda self, x: x + 50,
    "value": 7,
    "own": Descriptor(),
    "late": 3,
    "__len__": lambda self: 5,
    "__getattr__": lambda self, name: f"no {name}",
    "__call__": lambda self, x: x * 9,
    "__bool__": lambda self: False,
    "__add__": lambda self, other: other - 1,
    "__contains__": lambda self, item: item == 3,
    "__eq__": lambda self, other: "equal",
    "__setattr__": lambda self, name, value: None,
}
PLACES = ("Leaf", "Middle", "Base")


def base():
    class Base:
        value = 1

        def __init__(self):
            self.own = 2

        def method(self, x):
            return x + self.value

        def __call__(self, x):
            return self.method(x) * 2

        def __add__(self, other):
            return other + 1

    return Base


def uses(thing, x):
    thing.written = x.shape[0]
    return (
        thing.method(x), thing.value, thing.own, getattr(thing, "late", None), thing(x), thing + x,
        hasattr(type(thing), "__len__") and len(thing), bool(thing), thing == 3,
        hasattr(type(thing), "__contains__") and 3 in thing, getattr(thing, "written", "no"),
    )  # fmt: skip


def later(name, place, module=False):
    """A class along the line comes to hold a name, and loses it again."""

    def made():
        Base = base()
        if module:
            Base.__init__ = torch.nn.Module.__init__
            Base.own = 2
            Base = type("Base", (Base, torch.nn.Module), {})
        Middle = type("Middle", (Base,), {})
        Leaf = type("Leaf", (Middle,), {})
        owner = {"Base": Base, "Middle": Middle, "Leaf": Leaf}[place]
        thing = Leaf()
        call = iter(range(4))
        before = owner.__dict__.get(name)

        def given():
            number = next(call)
            if number == 1:
                setattr(owner, name, GIVEN[name])
            if number == 3 and before is None:
                delattr(owner, name)
            elif number == 3:
                setattr(owner, name, before)
            return thing, X

        return uses, given, lambda: None

    made.__name__ = f"{name} in {place}{' of a module' if module else ''}"
    program(made, calls=4, again=True)


for wanted in GIVEN:
    for where in PLACES:
        later(wanted, where)
for wanted in ("method", "value", "late", "__call__"):
    later(wanted, "Leaf", module=True)


class Slotted:
    __slots__ = ("filled", "names")

    def __init__(self):
        self.names = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self.names.append(name)
        return f"no {name}"

    @property
    def failing(self):
        self.names.append("property")
        raise AttributeError("none of it")


class Bare:
    __slots__ = ("filled",)


@program(calls=4, again=True)
def slots_that_are_filled_later():
    told, bare = Slotted(), Bare()
    steps = iter(range(4))

    def given():
        step = next(steps)
        if step == 1:
            told.filled = 1
        if step == 2:
            bare.filled = 2
        if step == 3:
            del told.filled
        return told, bare, X

    def reads(told, bare, x):
        try:
            del Bare().filled
        except AttributeError as error:
            words = str(error), error.name
        answers = [told.filled, told.failing, getattr(bare, "filled", "empty"), words, x]
        return *answers, hasattr(bare, "filled"), hasattr(Slotted(), "failing")

    return reads, given, lambda: told.names


@program
def modules_whose_properties_fail(x):
    class Net(torch.nn.Module):
        @property
        def part(self):
            return self.missing

    net = Net()
    try:
        return net.part
    except AttributeError as error:
        return str(error), hasattr(net, "part"), x


@program(calls=4, again=True)
def the_dict_of_a_class():
    class Held:
        value = 1

    steps = iter(range(4))

    def given():
        step = next(steps)
        if step == 1:
            Held.value = 2
        if step == 2:
            Held.other = 3
        return (X,)

    def reads(x):
        found = vars(Held)
        return x + found["value"], "other" in found, found.get("other"), len(Held.__dict__)

    return reads, given, lambda: None


@program(calls=4, again=True)
def a_class_that_the_program_gives_a_name():
    class Counter:
        pass

    class Sub(Counter):
        pass

    def counts(x):
        if not hasattr(Sub, "count"):
            Sub.count = 0
        Sub.count += 1
        return x + Sub().count, Sub.__dict__.get("count")

    return counts, (X,), lambda: getattr(Sub, "count", None)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
