"""Classes with ways of their own: to read and set attributes, and what a metaclass answers."""
# ruff: noqa: RUF012 -- odd on purpose

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()


class Table(dict):
    """A dict whose entries are attributes too."""

    __getattr__ = dict.get
    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__


class Strict(dict):
    __getattribute__ = dict.__getitem__


class Numbers(list):
    __setattr__ = list.insert  # type: ignore[misc, assignment]
    __delattr__ = list.remove


class Plain(dict):
    __setattr__ = object.__setattr__


class Meta(type):
    asked: list = []

    def __iter__(cls):
        Meta.asked.append("iter")
        return iter([1, 2])

    def __len__(cls):
        return 2

    def __bool__(cls):
        return False

    def __contains__(cls, key):
        Meta.asked.append(key)
        return key == 1

    def __reversed__(cls):
        return iter("ba")

    def __getitem__(cls, key):
        return cls.__name__, key


class Counted(type):
    def __len__(cls):
        return cls.count


class Walked(type):
    def __iter__(cls):
        return iter((1, 3))


class Odd(metaclass=Meta):
    pass


class Empty(metaclass=Counted):
    count = 0


class Steps(metaclass=Walked):
    pass


@program
def entries_are_attributes(x, a):
    table = Table(first=a)
    table.second = x
    table.first += 1
    was = sorted(table), list(table), len(table), "second" in table, table.none, vars(table)
    del table.second
    return table, was, table.first, x * table.first


@program(again=True)
def entries_of_one_from_outside():
    table = Table(count=1, inner=Table(rate=0.5))

    def fn(x):
        table.last = x
        table.inner.rate = 2.0
        table.count = len(table)
        object.__setattr__(table, "own", 3)
        return x * table.count + table.inner.rate, dict(table), vars(table)

    return fn, (torch.ones(2),), lambda: (table, vars(table))


@program
def native_methods_in_their_places(x):
    strict, numbers, plain = Strict(one=1), Numbers(), Plain()
    plain.one = 1
    found = []
    for attempt in (
        lambda: strict.one,
        lambda: strict.two,
        lambda: setattr(numbers, "zero", 1),
        lambda: delattr(numbers, "zero"),
    ):
        try:
            found.append(attempt())
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            found.append((type(error).__name__, str(error)))
    return x, found, list(numbers), vars(plain), dict(plain)


@program
def answers_of_a_metaclass(x):
    Meta.asked.clear()
    found = [*Odd], list(Odd), len(Odd), bool(Odd), not Odd, 1 in Odd, 2 in Odd, Odd["k"], max(Odd)
    every = [v for v in Odd]  # noqa: C416
    more = list(reversed(Odd)), sum(Odd), dict(zip(Odd, Odd, strict=True)), every
    first, second = Odd
    chosen = "yes" if Odd else "no"  # type: ignore[truthy-function]
    return x * first + second, found, more, chosen, list(Meta.asked)


@program
def classes_that_are_empty(x):
    Empty.count = 0
    was = bool(Empty), len(Empty)
    Empty.count = 2
    return x, was, bool(Empty), 3 in Steps, 2 in Steps, bool(Steps)


@program
def what_is_missing(x):
    found = []
    for attempt in (
        lambda: iter(Empty), lambda: len(Steps), lambda: reversed(Empty), lambda: Empty[0],
        lambda: 1 in Empty, lambda: [*int],
    ):  # fmt: skip
        try:
            found.append(attempt())
        except TypeError as error:
            found.append(str(error))
    return x, found


@program
def asked_for_what_the_program_asks():
    """A `__getattribute__` that tells of each call: capture and guards ask nothing themselves."""
    heard = []

    class Telling:
        size = 9

        def __init__(self):
            self.own = 1

        def __getattribute__(self, name):
            heard.append(name)
            return object.__getattribute__(self, name)

        def both(self):
            return self.own + self.size

    telling = Telling()
    heard.clear()

    def fn(x):
        table = telling.__dict__
        return (
            x + telling.own + telling.both(), hasattr(telling, "none"), vars(telling)["own"],
            table.get("own"), sorted(table),
        )  # fmt: skip

    return fn, (torch.ones(2),), lambda: list(heard)


@program
def functions_put_into_a_class():
    """Bound to instances, of the class and of those that extend it."""

    class Base:
        size = 1

    class Leaf(Base):
        pass

    def method(self, x):
        return x * self.size

    def fn(x):
        leaf, base = Leaf(), Base()
        Base.method, Base.size, Leaf.own = method, 5, lambda self: self.size + 1
        return (
            leaf.method(x), base.method(x), Base.method(base, x), Leaf.method is method, leaf.own(),
            hasattr(base, "own"), base.size,
        )  # fmt: skip

    return fn, (torch.ones(2),), lambda: (Base.method is method, Base.size, hasattr(Leaf, "own"))


@program(breaks=True)
def descriptors_put_into_a_class():
    class Base:
        def __init__(self):
            self.value = 3

    def fn(x):
        base = Base()
        Base.twice = property(lambda self: self.value * 2)
        Base.alone = staticmethod(lambda: 4)
        Base.named = classmethod(lambda cls: cls.__name__)
        Base.__len__ = lambda self: 6
        found = base.twice, base.alone(), base.named(), len(base)
        del Base.__len__, Base.twice
        return found, hasattr(base, "twice"), hasattr(base, "__len__"), x + 1

    return fn, (torch.ones(2),), lambda: hasattr(Base, "alone")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
