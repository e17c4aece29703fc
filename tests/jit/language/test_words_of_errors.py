"""What Python says of a wrong operation, where the program catches it and reads it."""

import collections
import types

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()
SCOPE = {"torch": torch, "types": types, "collections": collections}

program.lines(
    """
    items["k"]
    tuple(items)["k"]
    items[1.5]
    range(3)["a"]
    x.shape["a"]
    x.shape[9]
    collections.namedtuple("P", "a b")(1, 2)[5]
    collections.deque([1])["a"]
    collections.deque([1])[4]
    [1].__getitem__("a")
    [1].insert("a", 2)
    [1].pop("a")
    [1] * "a"
    [1] * 1.5
    collections.deque([1]).rotate("a")
    enumerate([1], "a")
    range("a")
    range(1.5)
    len(1, 2)
    len()
    any(x.shape, 2)
    abs()
    callable(1, 2)
    hasattr(x)
    "a".join(3)
    "a".join([1])
    object(1)
    object(a=1)
    sum([1], "a")
    sum([b"a"], b"")
    sum([[1], [2]])
    types.SimpleNamespace().a
    list(x[0, 0])
    iter(x[0, 0])
    __class__
    not_defined
    torch.nn.functional.one_hot(x.abs().long()[0])
    torch.nn.functional.one_hot(-x.abs().long()[0])
    """.replace("\n    ", "\n"),
    SCOPE,
)
BREAK = [name for name in program.names if "one_hot" in name]  # the largest class is a number


@program
def what_errors_are_about(x):
    class Thing:
        __slots__ = ("slot",)

    class Open:
        def __getattr__(self, name):
            raise AttributeError("mine")

    def unbound():
        return later  # noqa: F821

    told = []
    thing = Thing()
    for wrong in (
        lambda: thing.missing, lambda: thing.slot, lambda: [].missing, lambda: Open().missing,
        lambda: no_such_name, unbound, lambda: getattr(thing, "missing"),  # noqa: B009, F821
    ):  # fmt: skip
        try:
            wrong()
        except (AttributeError, NameError) as error:
            told.append((type(error).__name__, str(error), error.name))
    try:
        return later
    except NameError as error:
        told.append((type(error).__name__, str(error), error.name))
    later = 1
    del later
    try:
        del later
    except NameError as error:
        told.append((type(error).__name__, str(error), error.name))
    return told, x


@program
def errors_of_graphs_inside_try(x):
    found = []
    for place in (1, 5):
        try:
            found.append(x.index_select(0, torch.tensor([place])))
        except IndexError as error:
            found.append(str(error))
    return found


def told(actions):
    """What each action gives, or says."""
    found = []
    for action in actions:
        try:
            found.append(type(action()).__name__)
        except (TypeError, ValueError, AttributeError) as error:
            found.append(str(error))
    return found


class Plain:
    pass


class New:
    def __new__(cls, *args):
        return super().__new__(cls)


class NewWithAll:
    def __new__(cls, *args):
        return super().__new__(cls, *args)


class Init:
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)


class Quiet:
    def __init__(self, *args):
        pass


@program
def arguments_that_object_refuses(x):
    return x, told([
        lambda: Plain(1), lambda: Plain(k=1), lambda: New(1), lambda: NewWithAll(1), NewWithAll,
        lambda: Init(1), lambda: Init(k=1), Init, lambda: Quiet(1), lambda: object(1),
        lambda: object.__new__(Plain, 1), lambda: object.__init__(Plain(), 1),
        lambda: object.__new__(Quiet, 1), lambda: object.__init__(New(), 1),
    ])  # fmt: skip


class Refusing:
    written = property(None, lambda self, value: None)
    read = property(lambda self: 1)


class RefusingToo(Refusing):
    pass


Refusing.late = property(None)  # type: ignore[attr-defined]


@program
def properties_that_refuse(x):
    thing = RefusingToo()
    return x, told([
        lambda: thing.written, lambda: thing.late, lambda: setattr(thing, "read", 1),
        lambda: setattr(thing, "late", 1), lambda: delattr(thing, "read"),
        lambda: delattr(thing, "written"), lambda: delattr(thing, "late"),
    ])  # fmt: skip


class Again:
    """An iterator that begins anew when it is asked for one."""

    def __init__(self, size):
        self.size = size

    def __iter__(self):
        self.place = 0
        return self

    def __next__(self):
        if self.place >= self.size:
            raise StopIteration
        self.place += 1
        return self.place


class Once:
    def __iter__(self):
        return iter([1, 2, 3])


@program
def starred_names_over_iterators_of_the_program(x):
    def too_few(value):
        first, second, *_, third, fourth = value
        return first, second, third, fourth

    first, *rest = Again(3)
    *most, last = Again(3)
    one, *middle, three = Once()
    return x, first, rest, most, last, one, middle, three, told([
        lambda: too_few(Again(1)), lambda: too_few(Once()), lambda: too_few(Again(9)),
    ])  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
def test_numbers_are_not_drawn_twice(backend):
    def draws(x, place):
        noise = torch.rand(3)
        try:
            return x.index_select(0, place), noise
        except IndexError:
            return noise

    place = torch.tensor([7])
    torch.manual_seed(0)
    wanted = draws(torch.ones(2, 2), place), torch.rand(2)
    torch.manual_seed(0)
    got = torch.compile(draws, backend=backend)(torch.ones(2, 2), place), torch.rand(2)
    assert all(torch.equal(mine, other) for mine, other in zip(got, wanted, strict=True))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    if name in BREAK:
        program.known[name] = program.known[name][0], {"breaks": True}
    program.judge(name, backend)
