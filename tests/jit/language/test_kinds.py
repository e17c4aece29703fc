"""What things are and which are equal: isinstance, abstract classes, class patterns, keys."""

import abc
import collections
import functools
import typing

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()
X = torch.tensor([1.0, 2.0])
Point = collections.namedtuple("Point", "a b")


def asked_again(steps, breaks=False):
    """A program made of (function, argument, list of changes): one change before each call."""

    def register(make):
        def made():
            fn, argument, changes = make()
            todo = iter([lambda: None, *changes])

            def given():
                next(todo)()
                return argument, X

            return fn, given, lambda: None

        made.__name__ = make.__name__
        program(made, calls=steps + 1, again=True, breaks=breaks)
        return made

    return register


@asked_again(3)
def an_abstract_class_takes_another_in():
    class Shape(abc.ABC):  # noqa: B024 -- it has a hook instead
        @classmethod
        def __subclasshook__(cls, other):
            return True if hasattr(other, "is_shape") else NotImplemented

    class Plain:
        pass

    class Marked:
        pass

    def asks(things, x):
        plain, marked = things
        return (
            isinstance(plain, Shape), isinstance(marked, (int, Shape)), issubclass(Plain, Shape),
            isinstance([], Shape), isinstance(3, Shape), isinstance(plain, int | Shape),
            issubclass(Marked, str | Shape), isinstance(plain, (str, int | Shape)), x + 1,
        )  # fmt: skip

    return asks, (Plain(), Marked()), [
        lambda: Shape.register(Plain), lambda: setattr(Marked, "is_shape", 1),
        lambda: Shape.register(list),
    ]  # fmt: skip


@asked_again(4)
def methods_that_make_a_kind():
    @typing.runtime_checkable
    class Goes(typing.Protocol):
        def go(self): ...

    class Thing:
        pass

    def asks(thing, x):
        cls = type(thing)
        return (
            isinstance(thing, Goes), isinstance(thing, collections.abc.Iterable),
            issubclass(cls, collections.abc.Sized), isinstance(thing, collections.abc.Mapping), x,
        )  # fmt: skip

    return asks, Thing(), [
        lambda: setattr(Thing, "go", lambda self: 1),
        lambda: setattr(Thing, "__iter__", lambda self: iter(())),
        lambda: setattr(Thing, "__len__", lambda self: 0),
        lambda: collections.abc.Mapping.register(Thing),
    ]  # fmt: skip


class Duck(type):
    asked: typing.ClassVar[list] = []

    def __instancecheck__(cls, thing):
        cls.asked.append("instance")
        return thing == 4 or getattr(thing, "quacks", False)

    def __subclasscheck__(cls, other):
        cls.asked.append("class")
        return other.__name__.startswith("Q")


class Bird(metaclass=Duck):
    pass


class Quacking:
    quacks = True


@program
def a_metaclass_that_is_asked():
    def asks(x):
        found = [isinstance(thing, Bird) for thing in (3, 4, Quacking(), Bird(), "text")]
        found += [isinstance(thing, (int, Bird)) for thing in (3, 4, Quacking())]
        found += [isinstance(thing, (Bird, int)) for thing in (3, 4, Quacking())]
        found += [issubclass(cls, Bird) for cls in (int, Quacking, Bird)]
        return found, issubclass(Quacking, (str, Bird)), x * 2

    Duck.asked.clear()
    return asks, (X,), lambda: list(Duck.asked)


@program
def class_patterns():
    class Read:
        __match_args__ = ("x", "y")
        log: typing.ClassVar[list] = []

        @property
        def x(self):
            self.log.append("x")
            return 1

        @property
        def y(self):
            self.log.append("y")
            raise AttributeError("y")

    def match(x):
        answers = []
        for thing in (Read(), 4, 5, Quacking(), Bird()):
            match thing:
                case Bird():
                    answers.append("bird")
                case Read(1, 2):
                    answers.append("both")
                case Read(x=1):
                    answers.append("x")
                case int(real=number):
                    answers.append(number)
        return answers, x

    return match, (X,), lambda: list(Read.log)


@asked_again(1)
def names_of_patterns_that_change():
    class Pair:
        __match_args__ = ("a", "b")

        def __init__(self):
            self.a, self.b = 1, 2

    def match(thing, x):
        match thing:
            case Pair(1, 2):
                return "in order", x
            case Pair(2, 1):
                return "the other way", x
        return "none", x

    return match, Pair(), [
        lambda: setattr(Pair, "__match_args__", ("b", "a")),
    ]  # fmt: skip


@pytest.mark.parametrize("case", ["T(1, a=1)", "T(1, 2)", "Listed(1)"])
def test_patterns_that_do_not_fit(case):
    class T:
        __match_args__ = ("a",)
        a = 1

    class Listed:
        __match_args__: typing.ClassVar = ["a"]
        a = 1

    scope = {"T": T, "Listed": Listed}
    text = f"def fn(v, x):\n  match v:\n    case {case}: return x\n  return 0"
    exec(text, scope)
    told = []
    for fn in (scope["fn"], torch.compile(scope["fn"], backend="eager")):
        with pytest.raises(TypeError) as caught:
            fn(Listed() if "Listed" in case else T(), X)
        told.append(str(caught.value))
    assert told[0] == told[1]


@program
def keys_keep_their_kind(x, table):
    table[x.shape] = 1
    table[Point(1, 2)] = 2
    table[Point(3, x.shape)] = 3
    found = {x.shape: "size", Point(7, 8): "point", (9, 9): "tuple"}
    return (
        table[(2, 3)], table.get((1, 2)), table[(3, (2, 3))], [type(key).__name__ for key in found],
        (2, 3) in {x.shape}, torch.Size([5, 6]) in {(5, 6)}, {Point(1, 2), (3, 4)},
        dict.fromkeys([Point(1, 2)], x), collections.Counter([x.shape, (2, 3)]),
        table.pop((1, 2)), found,
    )  # fmt: skip


class Bound:
    def one(self):
        pass

    def other(self):
        pass

    @classmethod
    def of_class(cls):
        pass

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other):
        return True


class Hashed(Bound):
    __hash__ = object.__hash__  # type: ignore[assignment]


@program
def methods_are_equal_when_they_bind_the_same():
    first, second = Bound(), Hashed()

    def compares(first, second, x):
        held = {second.one: 1, Bound.of_class: 2}
        return (
            first.one == first.one, first.one is first.one, first.one == first.other,
            first.one != first.one, first.one == Bound().one, Bound.of_class == Bound.of_class,
            Bound.of_class == Hashed.of_class, held[second.one], held[Bound.of_class],
            second.other in held, second.one in {second.one}, first.one in [first.one],
            [first.other, first.one].index(first.one), x,
        )  # fmt: skip

    return compares, (first, second, X), lambda: None


class Slots:
    __slots__ = ("held",)
    shared = 3


class Open(Slots):
    pass


@program
def objects_with_and_without_a_dict(x):
    closed, free = Slots(), Open()
    closed.held = free.held = x
    free.other = 1
    answers = [hasattr(closed, "__dict__"), hasattr(free, "__dict__"), vars(free)]
    for thing in (closed, free):
        try:
            thing.shared = 4
            answers.append(thing.shared)
        except AttributeError as error:
            answers.append(str(error))
    return answers, getattr(closed, "__dict__", "none")


@program
def names_asked_for():
    """Only the program asks an object for names."""

    class Told:
        def __init__(self):
            self.names = []

        def __getattr__(self, name):
            self.names.append(name)
            return name

    told = Told()

    def asks(told, x):
        return told.one, hasattr(told, "two"), getattr(told, "three", 4), x

    return asks, (told, X), lambda: told.names


@program
def partials_of_partials(x):
    inner = functools.partial(max, 1, key=None)
    outer = functools.partial(inner, 2, default=3)
    last = functools.partial(functools.partial(outer), key=abs)
    return [(each.args, each.keywords, each.func is max) for each in (inner, outer, last)], x


program.lines(
    """
    functools.partial()
    functools.partial(3)
    functools.partial(functools.partial(pow, 2), 3)()
    functools.partial(functools.partial(x.add, 2), alpha=3)()
    """.replace("\n    ", "\n"),
    {"functools": functools},
)


@program(calls=4, again=True)
def whole_numbers_beyond_64_bits():
    numbers = iter([2, 3, 2**62, 10**20])
    return (lambda x, n: (x, n + 1, n % 7)), lambda: (X, next(numbers)), lambda: None


def test_numbers_too_large_for_a_tensor():
    def scaled(x, n):
        return x * n

    compiled = torch.compile(scaled, backend="eager")
    for n in (2, 3, 4, 2**40):
        assert torch.equal(compiled(X, n), scaled(X, n))
    for fn in (scaled, compiled):
        with pytest.raises(torch.errors.NumberTooLarge) as caught:
            fn(X, 10**20)
        entry = [step for step in caught.traceback if step.name == "scaled"]
        assert entry, "the program's own line is in the traceback"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
