# size: one area of the language, one program after the other
"""Classes that the function itself makes: a new one in each call, and no recompilation."""
# ruff: noqa: B903, E501 -- odd on purpose

import abc
import collections
import dataclasses
import enum
import functools
import sys
import threading
import typing

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()
REGISTRY: list[str] = []


class Outer:
    kind = "outer"

    def __init__(self, scale=2):
        self.scale = scale

    def __call__(self, x):
        return x * self.scale


class Named:
    """A descriptor that wants to know its name."""

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, one, owner=None):
        return self if one is None else one.held[self.name]

    def __set__(self, one, value):
        one.held[self.name] = value


class Registered:
    known: dict[str, type] = {}

    def __init_subclass__(cls, tag=None, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.tag = tag
        REGISTRY.append(cls.__name__)


class Meta(type):
    def __new__(meta, name, bases, names, **kwargs):
        made = super().__new__(meta, name, bases, names)
        made.extra = sorted(kwargs.items())
        return made


@program
def is_used(x):
    class Scale:
        by = 2

        def __init__(self, x):
            self.x = x

        def run(self):
            return self.x * self.by

    return Scale(x).run()


@program
def instance_leaves(x):
    class Pair:
        def __init__(self, left, right):
            self.left, self.right = left, right

    one = Pair(x, x + 1)
    return one, type(one) is Pair, isinstance(one, Pair), isinstance(one, Outer)


@program
def class_leaves(x, a):
    class Holder:
        held = x
        number = a
        items = [1, a, x]
        table = {"a": [x]}

        def get(self):
            return self.held

    return Holder, Holder.held, Holder.items, Holder().get() is x


@program
def class_and_instances_are_one(x):
    class One:
        pass

    one, other = One(), One()
    return one, other, One, [One, {"cls": One}], one.__class__ is other.__class__


@program
def names_of_the_body(x, a, b):
    class Body:
        first = a
        second = first + b
        third = [first, second]
        for index in range(3):
            third.append(index * second)
        if second > 2:
            big = True
        else:
            small = True
        del index
        y = x * 2
        z = y + 1

    return Body.third, Body.big, hasattr(Body, "index"), hasattr(Body, "small"), Body.z, x


@program
def comprehensions_in_the_body(x, items):
    class Body:
        doubled = [i * 2 for i in items]
        table = dict.fromkeys(doubled, x)
        total = sum(i for i in doubled)

    return Body.doubled, Body.table, Body.total


@program
def methods_close_over(x, a):
    count = 0

    class Counter:
        def up(self, by=a):
            nonlocal count
            count += by
            return x + count

    one = Counter()
    return one.up(), one.up(by=5), count, one


@program
def supers(x):
    class Base:
        def __init__(self, n):
            self.n = n

        def run(self, x):
            return x * self.n

        @classmethod
        def make(cls):
            return cls(3)

    class Child(Base, Outer):
        def __init__(self, n):
            super().__init__(n + 1)
            self.own = n

        def run(self, x):
            return super().run(x) + self.own

        @classmethod
        def make(cls):
            return super().make()

    return Child.make().run(x), Child.mro()[1] is Base, Child.kind, Child, Base


@program
def descriptors(x):
    class Box:
        def __init__(self):
            self._x = x

        @property
        def x(self):
            return self._x + 1

        @x.setter
        def x(self, new):
            self._x = new

        @x.deleter
        def x(self):
            self._x = None

        @staticmethod
        def double(x):
            return x * 2

        @classmethod
        def name(cls):
            return cls.__name__

        @functools.cached_property
        def slow(self):
            return self._x * 5

        whole = property(lambda self: (self._x, 1))

    box = Box()
    first = box.x
    box.x = first * 2
    found = (
        box.x,
        box.slow,
        box.slow is box.slow,
        box.whole,
        Box.double(x),
        box.double(x),
        Box.name(),
        box.name(),
    )
    del box.x
    return found, box, Box


@program
def special_methods(x):
    class Money:
        def __init__(self, n):
            self.n = n

        def __add__(self, other):
            return Money(self.n + other.n)

        def __eq__(self, other):
            return isinstance(other, Money) and self.n == other.n

        def __hash__(self):
            return hash(self.n)

        def __lt__(self, other):
            return self.n < other.n

        def __repr__(self):
            return f"Money({self.n})"

        def __len__(self):
            return self.n

        def __getitem__(self, key):
            if key >= self.n:
                raise IndexError(key)
            return x + key

        def __call__(self, x):
            return x * self.n

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return True

        def __getattr__(self, name):
            return name.upper()

    three = Money(1) + Money(2)
    with Money(1) as one:
        raise ValueError
    return (three == Money(3), repr(three), len(three), list(three), three(x),
            max(one, three) is three,
            {three: 1}[Money(3)], three.missing, sorted([three, one])[0] is one)  # fmt: skip


@program
def exceptions_of_its_own(x):
    class Trouble(ValueError):
        def __init__(self, code):
            super().__init__(f"trouble {code}")
            self.code = code

    class Worse(Trouble):
        pass

    try:
        raise Worse(3)
    except Trouble as error:
        found = error.code, str(error), type(error) is Worse
    try:
        raise Trouble(1)
    except Worse:
        return "no"
    except ValueError as error:
        return found, x + error.code


@program(raises=True)
def an_exception_of_its_own_leaves(x):
    class Trouble(Exception):
        pass

    raise Trouble("out", x.shape[0])


@program
def containers_of_its_own(x):
    class Stack(list):
        def top(self):
            return self[-1]

    class Table(dict):
        def __missing__(self, key):
            return key * 2

    class Chain(tuple):
        def first(self):
            return self[0]

    stack = Stack([1, 2])
    stack.append(x)
    return stack.top(), Table(a=x)["b"], Chain((x, 1)).first(), stack


@program
def slots(x):
    class Small:
        __slots__ = ("x", "y")

        def __init__(self, x):
            self.x = x

    one = Small(x)
    try:
        one.z = 1
    except AttributeError as error:
        return one, str(error), hasattr(one, "y")


@program
def slots_in_a_list(x):
    class Small:
        __slots__ = ["x"]

    one = Small()
    one.x = x
    return one


@program
def data_classes(x, a):
    @dataclasses.dataclass
    class Point:
        x: object
        n: int = a
        items: list = dataclasses.field(default_factory=list)
        other: object = dataclasses.field(default=None, compare=False, repr=False)
        made: typing.ClassVar[int] = 3

        def moved(self, by):
            return dataclasses.replace(self, n=self.n + by)

        def __post_init__(self):
            self.after = self.n * 2

    one = Point(x)
    one.items.append(1)
    two = one.moved(2)
    return (
        one,
        two,
        two.items is one.items,
        Point(1, 2) == Point(1, 2),
        repr(Point(1, 2)),
        [f.name for f in dataclasses.fields(Point)],
        two.x is x,
    )


@program
def frozen_data_classes(x, y, flag):
    @dataclasses.dataclass(frozen=True, order=flag)  # type: ignore[literal-required]
    class Point:
        n: int
        x: object = y

    one, two = Point(1), Point(2)
    try:
        one.n = 3
    except dataclasses.FrozenInstanceError as error:
        return (
            one,
            one < two,
            hash(Point(1, 0)) == hash(Point(1, 0)),
            str(error),
            sorted([two, one])[0] is one,
        )


@program
def data_classes_with_tensors_and_lambdas(x, w):
    @dataclasses.dataclass
    class Config:
        scale: torch.Tensor = dataclasses.field(default_factory=lambda: w * 2)
        act: typing.Callable = torch.relu
        other: typing.Callable = lambda t: t + 1

    @dataclasses.dataclass
    class More(Config):
        bias: float = 0.5

    one = More()
    return one.act(x) * one.scale + one.bias, More.other(x), one


@program
def mutable_default(x):
    try:

        @dataclasses.dataclass
        class Wrong:
            items: list = []
    except ValueError as error:
        return str(error)[:20], x + 1


@program
def named_tuples(x, a):
    class Pair(typing.NamedTuple):
        left: object
        right: int = a

        def both(self):
            return self.left * self.right

    Old = collections.namedtuple("Old", "p q", defaults=[x])
    pair = Pair(x)
    return (
        pair.both(),
        pair,
        pair._replace(right=3),
        Old(1),
        Old(1).q is x,
        Pair._fields,
        Old._field_defaults,
    )


@program
def typed_dicts(x):
    class Options(typing.TypedDict, total=False):
        scale: int
        x: object

    made = Options(scale=2, x=x)
    return made["x"] * made["scale"], made, Options.__annotations__.keys()


@program
def enums(x):
    class Color(enum.Enum):
        RED = 1
        BLUE = "b"
        ALSO_RED = 1

        def times(self, x):
            return x * self.value

        @property
        def low(self):
            return self.name.lower()

    class Level(enum.IntEnum):
        LOW = enum.auto()
        HIGH = enum.auto()

    class Flags(enum.Flag):
        A = enum.auto()
        B = enum.auto()
        AB = A | B

    return (Color.RED.times(x), Color("b").low, Color.ALSO_RED is Color.RED, Color.RED,
            [c.name for c in Color], Level.HIGH > Level.LOW, Level.HIGH + 1,
            (Flags.A | Flags.B) is Flags.AB, len(Color), Color["BLUE"] is Color.BLUE)  # fmt: skip


@program
def abstract_classes(x):
    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self):
            pass

        @property
        @abc.abstractmethod
        def name(self):
            pass

    class Square(Shape):
        name = "square"

        def area(self):
            return x * x

    try:
        Shape()
    except TypeError as error:
        return Square().area(), str(error), isinstance(Square(), Shape), Square.name


@program
def modules_of_its_own(x):
    class Net(torch.nn.Module):
        def __init__(self, scale):
            super().__init__()
            self.act = torch.nn.ReLU()
            self.scale = scale
            self.register_buffer("seen", torch.zeros(3))

        def forward(self, x):
            self.seen += 1
            return self.act(x) * self.scale

    net = Net(3)
    return net(x), net(x + 1), net.seen, [name for name, _ in net.named_modules()]


@program
def gradients_of_its_own(w):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 3 + x * 0

    (Double.apply(w) * 2).sum().backward()
    return w.grad


@program
def generic_classes(x):
    T = typing.TypeVar("T")

    class Box(typing.Generic[T]):
        def __init__(self, x: T):
            self.x = x

    return Box(x), Box[int](x).x


@program
def protocols(x):
    @typing.runtime_checkable
    class Runs(typing.Protocol):
        def run(self): ...

    class Real:
        def run(self):
            return x + 1

    return isinstance(Real(), Runs), isinstance(3, Runs), Real().run()


@program
def refers_to_itself(x):
    class Node:
        def __init__(self, value, next=None):
            self.value, self.next = value, next

        def push(self, value):
            return Node(value, self)

        def __eq__(self, other):
            return isinstance(other, Node)

        __hash__ = None

    chain = Node(x).push(x + 1).push(2)
    return chain, chain == Node(1), Node


@program
def nested_classes(x):
    class Outside:
        class Inside:
            def run(self):
                return x + 1

        inside = Inside()

        def get(self):
            return self.Inside()

    return Outside().get().run(), Outside.inside.run(), Outside.Inside.__qualname__, Outside


@program
def decorators_of_the_program(x):
    def register(cls):
        cls.tag = cls.__name__.lower()
        cls.extra = lambda self: x * 2
        return cls

    def wrap(cls):
        class Wrapped(cls):
            def run(self):
                return super().run() + 1

        return Wrapped

    @wrap
    @register
    class Thing:
        def run(self):
            return x

    return Thing().run(), Thing.tag, Thing().extra(), Thing


@program
def total_order(x):
    @functools.total_ordering
    class Size:
        def __init__(self, n):
            self.n = n

        def __eq__(self, other):
            return self.n == other.n

        def __lt__(self, other):
            return self.n < other.n

    return (
        Size(1) >= Size(0),
        Size(1) > Size(2),
        max([Size(3), Size(1)], key=lambda s: s.n).n,
        x + 1,
    )


@program
def made_by_type(x):
    Made = type("Made", (Outer,), {"kind": "made", "get": lambda self: x + self.scale})
    return Made(3).get(), Made.kind, Made, Made.__name__, Made(2)(x)


@program
def in_a_helper(x):
    def make(n):
        class Local:
            def run(self):
                return x * n

        return Local

    two, three = make(2), make(3)
    return two().run(), three().run(), two is three, isinstance(two(), three), two, three()


@program
def in_a_loop(x, items):
    made = []
    for n in items:

        class Local:
            number = n

        made.append(Local)
    return [cls.number for cls in made], len(set(made)), made[0]().number


@program
def attributes_set_later(x):
    class Late:
        pass

    Late.x = x
    Late.get = lambda self: self.x * 2
    one = Late()
    found = one.get()
    Late.x = x + 1
    return found, one.x, Late


@program
def tensor_methods(x):
    class Wrapped:
        def __init__(self, t):
            self.t = t

        def __torch__(self):
            return self.t

        def __matmul__(self, other):
            return self.t @ other.t

        def __getitem__(self, key):
            return Wrapped(self.t[key])

    return (Wrapped(x) @ Wrapped(x.T)), Wrapped(x)[0].t


@program
def annotations_and_text(x):
    class Documented:
        """What it is."""

        n: int
        m: "str" = "m"

        def method(self, k: int = 1) -> int:
            """What it does."""
            return k

    return (
        Documented.__doc__,
        Documented.method.__doc__,
        Documented.__annotations__,
        Documented.m,
        Documented.__qualname__,
        Documented.__module__,
        x + 1,
    )


@program
def wrong_bases(x):
    try:

        class Bad(Outer, Outer):
            pass
    except TypeError as error:
        return str(error), x + 1


@program
def raised_in_the_body(x):
    try:

        class Bad:
            one = 1
            other = one.missing
    except AttributeError as error:
        return str(error), x + 1


@program
def set_name(x):
    class Held:
        x = Named()

        def __init__(self):
            self.held = {}

    one = Held()
    one.x = x * 2
    return one.x, Held.x.name, Held, one


@program(again=True)
def subclass_hooks(x):
    class Local(Registered, tag=3):
        pass

    return Local.tag, REGISTRY[-1], Local().tag, x + 1


@program
def metaclasses(x):
    class Local(metaclass=Meta, a=1):
        pass

    return Local.extra, x + 1


@program(breaks=True, again=True)
def of_a_native_class_with_attributes(x):
    class Mine(threading.local):
        kind = 1

    own = Mine()
    own.x = x
    own.y = own.x + 1
    del own.x
    return own.y, hasattr(own, "x"), own.kind


@program
def calls_by_keyword_and_star(x):
    bases = (Outer,)
    options = {"scale": 3}

    class Local(*bases):
        pass

    return Local(**options)(x), Local


@program
def numbers_of_the_call(x, a):
    class Local:
        size = x.shape[0] + a
        text = f"{size} rows"

    return Local.size, Local.text, Local


def leaving_through_the_world():
    kept = []

    def fn(x):
        class Local:
            def __init__(self, x):
                self.x = x

        kept.append(Local(x))
        kept.append(Local)
        return x + 1

    return fn, lambda: (torch.ones(2),), lambda: (kept, type(kept[0]) is kept[1])


program(leaving_through_the_world)


def a_class_for_each_call():
    kept = []

    def fn(x):
        class Local:
            pass

        kept.append(Local)
        return x + 1

    return fn, lambda: (torch.ones(2),), lambda: (len(kept), len(set(kept)))


program(a_class_for_each_call)


if sys.version_info >= (3, 12):
    program.text(
        """
def type_parameters(x):
    class Box[T]:
        def __init__(self, x: T):
            self.x = x

        def get[S](self, other: S) -> T:
            return self.x * other

    return Box(x).get(3), Box[int](x), Box.__type_params__[0].__name__, Box.__name__
""",
        globals(),
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)


def test_nothing_keeps_the_class_of_the_capture():
    import gc

    def fn(x):
        class Local(Outer):
            def run(self):
                return self(x)

        return Local().run()

    compiled = torch.compile(fn, backend="interpreter")
    compiled(torch.ones(2))
    gc.collect()
    assert Outer.__subclasses__() == []
