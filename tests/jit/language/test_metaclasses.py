"""Classes made inside whose making the program watches: metaclasses and the hooks of bases."""

import abc
import typing

import pytest

import minitorch2 as torch
from minitorch2 import nn
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()


class Meta(type):
    """Changes the names, sets attributes, has methods and properties of its own."""

    def __new__(meta, name, bases, names, **keywords):
        return super().__new__(meta, name, bases, {**names, "scale": 2})

    def __init__(cls, name, bases, names, **keywords):
        super().__init__(name, bases, names)
        cls.tag = name.lower(), sorted(keywords)

    def __call__(cls, *args):
        made = super().__call__(*args)
        made.by_call = True
        return made

    @property
    def doubled(cls):
        return cls.scale * 2

    def method(cls):
        return cls.__name__


class Prepared(type):
    @classmethod
    def __prepare__(meta, name, bases, **keywords):
        return {"given": 3}


class Setting(type):
    log: list = []

    def __setattr__(cls, name, value):
        cls.log.append((cls.__name__, name))
        super().__setattr__(name, value)


class Abstract(abc.ABCMeta):
    def __new__(meta, name, bases, names):
        made = super().__new__(meta, name, bases, names)
        made.seen = sorted(made.__abstractmethods__)
        return made


class Base:
    def __init_subclass__(cls, tag=None, **keywords):
        super().__init_subclass__(**keywords)
        cls.tag = tag
        cls.size = len(cls.__name__)


class Slotted:
    __slots__ = ("slot",)

    def __init_subclass__(cls):
        cls.told = True


class Listed(list):
    def __init_subclass__(cls):
        cls.told = True


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...

    def __init_subclass__(cls, **keywords):
        super().__init_subclass__()
        cls.told = sorted(keywords)


class Named:
    def __set_name__(self, owner, name):
        self.name, self.owner = name, owner.__name__

    def __get__(self, one, owner=None):
        return self.name, self.owner


class Indexed:
    def __class_getitem__(cls, item):
        return cls.__name__, item


@program
def everything_of_a_metaclass(x):
    class Local(metaclass=Meta, key=1):
        def read(self):
            return self.scale

    made = Local()
    return x * Local.scale, Local.tag, Local.doubled, Local.method(), made.read(), made.by_call


@program
def one_that_leaves(x):
    class Local(metaclass=Meta):
        def number(self):
            return self.scale

    return Local, Local(), type(Local) is Meta, x + 1


@program
def called_by_hand(x):
    made = Meta("Local", (), {"own": 1})
    return made.own, made.scale, made.tag, isinstance(made, Meta), x + 1


@program
def called_by_type(x):
    class Parent(metaclass=Meta):
        pass

    made = type("Local", (Parent,), {"own": x})
    return made.own, made.tag, type(made) is Meta


@program
def names_that_are_given(x):
    class Local(metaclass=Prepared):
        more = given + 1  # noqa: F821

    return Local.more, Local.given, x + 1


@program
def attributes_that_are_watched(x):
    Setting.log.clear()

    class Local(metaclass=Setting):
        pass

    Local.own = x
    Local.other = 1
    return Local.own, Local, list(Setting.log)


@program
def abstract_ones(x):
    class Local(metaclass=Abstract):
        @abc.abstractmethod
        def method(self): ...

    class Whole(Local):
        def method(self):
            return x + 1

    try:
        Local()
    except TypeError as error:
        return Local.seen, Whole.seen, Whole().method(), "abstract" in str(error)


@program
def a_function_as_metaclass(x):
    def make(name, bases, names):
        return sorted(key for key in names if not key.startswith("_")), name

    class Local(metaclass=make):
        first, second = 1, 2

    return Local, x + 1


@program
def made_inside_too(x):
    class Inner(type):
        def __call__(cls, *args):
            made = super().__call__(*args)
            made.extra = 1
            return made

        def __len__(cls):
            return 4

        def __getitem__(cls, index):
            return index

        def __iter__(cls):
            return iter([1, 2])

        def __contains__(cls, item):
            return item == 3

        def __getattr__(cls, name):
            return name

    class Local(metaclass=Inner):
        def __init__(self, value):
            self.value = value

    made = Local(x)
    return made.extra, made.value, len(Local), Local[5], list(Local), 3 in Local, Local.anything


@program
def a_base_that_hears(x):
    class Local(Base, tag="mine"):
        def method(self):
            return self.tag

    class Below(Local, tag=x):
        pass

    return Local.tag, Local.size, Local().method(), Below.tag, Below.size


@program
def a_class_that_was_heard_of_leaves(x):
    class Local(Base, tag=3):
        pass

    return Local, Local(), x + 1


@program
def bases_of_every_layout(x):
    class First(Slotted):
        __slots__ = ()

    class Second(Slotted):
        pass

    class Third(Listed):
        pass

    class Fourth(Shape, key=1):
        def area(self):
            return x

    try:
        First().other = 1
    except AttributeError:
        pass
    made = Third([1, 2])
    return First.told, Second.told, Second().__dict__, made, Fourth.told, Fourth().area(), First


@program
def keywords_that_nobody_takes(x):
    try:

        class Local(Base, other=1):
            pass
    except TypeError as error:
        return str(error), x + 1


@program
def a_base_made_inside(x):
    class Parent:
        made: list = []

        def __init_subclass__(cls, **keywords):
            cls.keywords = keywords
            Parent.made.append(cls)

    class Local(Parent, first=1, second=x):
        pass

    return Local.keywords, Parent.made == [Local]


@program
def a_module_that_hears(x):
    class Parent(nn.Module):
        def __init_subclass__(cls):
            cls.weight = 3

    class Local(Parent):
        def forward(self, x):
            return x * self.weight

    return Local()(x)


@program
def names_that_are_told(x):
    class Local:
        first = Named()
        second = Named()

    return Local().first, Local.second, x + 1


@program
def indices_of_classes(x):
    class Local:
        def __class_getitem__(cls, item):
            return item * 2

    variable = typing.TypeVar("variable")

    class General(typing.Generic[variable]):
        def __init__(self, value):
            self.value = value

    return Indexed[3], Local[x], Local[2], General[int](3).value


def registered():
    kinds: dict[str, type] = {}

    class Parent:
        def __init_subclass__(cls, **keywords):
            kinds[cls.__name__] = cls

    def fn(x):
        class Local(Parent):
            pass

        return x + 1, kinds["Local"] is Local

    return (
        fn,
        (torch.ones(2),),
        lambda: (list(kinds), [cls.__mro__[1] is Parent for cls in kinds.values()]),
    )


program.known["registered"] = registered, {}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
