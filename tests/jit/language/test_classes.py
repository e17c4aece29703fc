# size: one area of the language, one program after the other
"""Classes and their instances: made inside, changed inside, met outside."""
# ruff: noqa: B010, E501 -- odd on purpose

import abc
import collections
import contextlib
import dataclasses
import enum
import functools
import typing

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()


class Point:
    kind = "point"
    made = 0

    def __init__(self, p, q=0):
        self.p, self.q = p, q

    def moved(self, by):
        return type(self)(self.p + by, self.q + by)

    @classmethod
    def origin(cls):
        return cls(0)

    @staticmethod
    def unit():
        return Point(1, 1)

    @property
    def total(self):
        return self.p + self.q

    @total.setter
    def total(self, new):
        self.p = new - self.q

    @total.deleter
    def total(self):
        self.p = None

    def __eq__(self, other):
        return isinstance(other, Point) and self.p is other.p and self.q == other.q

    def __hash__(self):
        return hash(self.q)

    def __repr__(self):
        return f"{type(self).__name__}({self.q})"


class Child(Point):
    kind = "child"

    def __init__(self, p, q=0, r=5):
        super().__init__(p, q)
        self.r = r

    def moved(self, by):
        found = super().moved(by)
        found.r = self.r + 1
        return found

    @property  # type: ignore[misc]
    def total(self):
        return super().total + self.r

    @classmethod
    def origin(cls):
        found = super().origin()
        found.r = "origin"
        return found


@program
def instances(x, a):
    one = Point(x, a)
    two = one.moved(2)
    return (
        one,
        two,
        one.total,
        Point.origin(),
        Point.unit(),
        one.kind,
        Point.kind,
        type(two) is Point,
    )


@program
def inheritance(x, a):
    one = Child(x, a)
    two = one.moved(1)
    return (
        one, two, two.r, one.total, Child.origin().r, isinstance(one, Point), Child.__mro__[1],
        issubclass(Child, Point), Child.__name__, one.__class__, super(Child, one).kind,
        Point.moved(one, 3), hasattr(one, "nothing"), [c.__name__ for c in Child.__mro__],
        Child.__bases__, Child.__qualname__, one.__dict__ == {"p": x, "q": a, "r": 5},
    )  # fmt: skip


@program
def changed(x, a):
    one = Point(x)
    one.q += a
    one.new = [1]
    one.new.append(one.q)
    one.total = 10
    before = one.p
    del one.total
    del one.new
    setattr(one, "late", x * 2)
    one.__dict__["direct"] = 3
    found = vars(one)["direct"], sorted(vars(one)), "late" in one.__dict__, one.direct
    held = vars(one)
    held |= {"merged": x, "direct": 4}
    return one, before, found, one.merged, one.direct, held is vars(one)


@program
def equality(x):
    one, two = Point(x, 1), Point(x, 1)
    return (
        one == two, one != two, one is two, one == 5, hash(one) == hash(two), one in [two],
        [two].index(one), {one: 1}[two], len({one, two}), repr(one), f"{one} {one!r}", str([one]),
        (one, 1) == (two, 1), [one].count(two), {"k": one} == {"k": two},
        len({one, Point(x + 1, 1)}), Point(x + 1, 1) in {one: 1},
        {(one, 1), (two, 1)} == {(two, 1)},
    )  # fmt: skip


class Vector:
    def __init__(self, *parts):
        self.parts = list(parts)

    def __add__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented
        return Vector(*(p + q for p, q in zip(self.parts, other.parts, strict=True)))

    def __radd__(self, other):
        return Vector(*(other + p for p in self.parts))

    def __iadd__(self, other):
        self.parts = [p + other for p in self.parts]
        return self

    def __mul__(self, other):
        return Vector(*(p * other for p in self.parts))

    __rmul__ = __mul__

    def __neg__(self):
        return self * -1

    def __pos__(self):
        return self

    def __invert__(self):
        return Vector(*reversed(self.parts))

    def __abs__(self):
        return sum(p * p for p in self.parts)

    def __len__(self):
        return len(self.parts)

    def __getitem__(self, key):
        if isinstance(key, slice):
            return Vector(*self.parts[key])
        return self.parts[key]

    def __setitem__(self, key, value):
        self.parts[key] = value

    def __delitem__(self, key):
        del self.parts[key]

    def __contains__(self, item):
        return any(item is p or item == p for p in self.parts)

    def __iter__(self):
        yield from self.parts

    def __reversed__(self):
        return iter(self.parts[::-1])

    def __lt__(self, other):
        return len(self) < len(other)

    def __bool__(self):
        return bool(self.parts)

    def __call__(self, *args, **kwargs):
        return len(args), sorted(kwargs), self[0]

    def __matmul__(self, other):
        return sum(p * q for p, q in zip(self.parts, other.parts, strict=True))

    def __divmod__(self, other):
        return "divmod", other

    def __floordiv__(self, other):
        return "floordiv"

    def __rsub__(self, other):
        return "rsub", other

    def __pow__(self, other, modulo=None):
        return "pow", other, modulo

    def __round__(self, digits=None):
        return "round", digits

    def __int__(self):
        return 7

    def __float__(self):
        return 7.5

    def __index__(self):
        return 1

    def __str__(self):
        return "vector"

    def __format__(self, spec):
        return f"<{spec}>"

    def __getattr__(self, name):
        if name.startswith("z"):
            return name
        raise AttributeError(name)


@program
def operators(x, a, b):
    v = Vector(1, 2, 3)
    u = v + v
    s = v
    s += 5
    w = 2 * v
    v[0] = x
    del w[1]
    return (
        u.parts, s is v, w.parts, (-u).parts, (~u).parts, (+u) is u, abs(u), len(v), v[0] is x,
        v[1:].parts, 7 in Vector(7), list(v)[1:], list(reversed(u)), v < Vector(1), u > w,
        bool(Vector()),
        v(1, 2, k=3)[:2], u @ u, divmod(u, 2), u // 2, a - u, u**2, pow(u, 2, 3), round(u),
        round(u, 2), int(u), float(u), [1, 2, 3][u], str(u), f"{u:spec}", f"{u}", u.zoom,
        getattr(u, "other", "default"), hasattr(u, "zz"), (a + u).parts, sum([u, u]).parts,
        not u, [*u], max(u), sorted([w, u])[0] is w, range(u)[0], hex(u), dict.fromkeys(u),
    )  # fmt: skip


@program
def unsupported_operators(x):
    found = []
    v, p = Vector(1), Point(x)
    for attempt in (
        lambda: v + 1, lambda: v - 1, lambda: p + 1, lambda: p < p, lambda: len(p), lambda: p[0],
        lambda: p(), lambda: iter(p), lambda: v @ 1, lambda: p.nothing, lambda: -p, lambda: v << 1,
        lambda: Point(), lambda: Point(1, 2, 3), lambda: Point(z=1), lambda: v.other,
        lambda: setattr(p, "total", "a"), lambda: p.moved(), lambda: Point.moved(), lambda: 1 in p,
        lambda: int(p), lambda: float(p), lambda: abs(p), lambda: [1][p], lambda: {**p},
        lambda: max(p), lambda: next(p), lambda: p & p, lambda: sum([p]), lambda: round(p),
        lambda: delattr(p, "none"), lambda: Point.nothing, lambda: object().a, lambda: object()(),
    ):  # fmt: skip
        try:
            attempt()
            found.append(None)
        except Exception as error:
            found.append((type(error).__name__, str(error)))
    return x, found


class Celsius:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner):
        return self if instance is None else getattr(instance, self.name, 0) + 1

    def __set__(self, instance, value):
        if value is None:
            raise ValueError("no value")
        setattr(instance, self.name, value)

    def __delete__(self, instance):
        delattr(instance, self.name)


class Weather:
    heat = Celsius()
    __slots__ = ("_heat", "note")


class Lazily:
    def __init__(self, fn):
        self.fn = fn

    def __get__(self, instance, owner):
        return self.fn(instance)


class Heavy:
    def __init__(self, base):
        self.base = base
        self.calls = 0

    @functools.cached_property
    def double(self):
        self.calls += 1
        return self.base * 2

    @Lazily
    def triple(self):
        return self.base * 3


@program
def descriptors(x):
    day = Weather()
    day.heat = x
    day.note = "n"
    first = day.heat
    try:
        day.heat = None
    except ValueError as error:
        day.note = str(error)
    one = Heavy(x)
    found = one.double is one.double, one.calls, one.triple
    try:
        day.other = 1
    except AttributeError as error:
        found += (str(error),)
    return first, day, found, one, type(Weather.heat).__name__


@dataclasses.dataclass
class Config:
    size: int = 2
    scale: float = 1.5
    tags: list = dataclasses.field(default_factory=list)
    total: int = dataclasses.field(init=False, default=0)

    def __post_init__(self):
        self.total = self.size * 2

    def grown(self, by):
        return dataclasses.replace(self, size=self.size + by)


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Key:
    a: int
    b: str = "b"


@dataclasses.dataclass(kw_only=True)
class Wide(Config):
    extra: typing.Any = None


@program
def data_classes(x):
    one = Config(3)
    one.tags.append(x)
    two = one.grown(4)
    key = Key(1)
    try:
        key.a = 5
        failed = None
    except dataclasses.FrozenInstanceError as error:
        failed = str(error)
    return (
        one, two, two.total, one == Config(3, 1.5, one.tags), repr(Key(2)), key < Key(2), failed,
        {key: 1}[Key(1)], hash(key) == hash(Key(1)), Wide(extra=x).extra, Wide(size=4).total,
        [f.name for f in dataclasses.fields(one)], dataclasses.is_dataclass(one), key != Key(1),
        sorted([Key(3), Key(1)])[0].a, dataclasses.asdict(key), dataclasses.astuple(key), Key.b,
    )  # fmt: skip


class Color(enum.Enum):
    RED = 1
    GREEN = "g"

    @property
    def bright(self):
        return self.name.lower()

    @classmethod
    def first(cls):
        return cls.RED


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5


class Mark(enum.Flag):
    A = enum.auto()
    B = enum.auto()


@program
def enums(x):
    one = Color.RED
    return (
        one is Color.RED, one == Color.GREEN, one.name, one.value, Color("g"), Color["RED"], one,
        one.bright, Color.first(), list(Color), len(Color), one in Color, Level.HIGH + 1, Mark.A,
        Level.LOW < Level.HIGH, x * Level.HIGH, Mark.A | Mark.B, Mark.A in (Mark.A | Mark.B),
        {Color.RED: 1}[one], isinstance(one, Color), repr(one), str(one), f"{Level.LOW}", Level(5),
        [c.name for c in Color], hash(one) == hash(Color.RED), Color.__members__["RED"],
        max(Level), [Level.HIGH, Level.LOW][Level.LOW], bool(Mark(0)),
    )  # fmt: skip


Pair = collections.namedtuple("Pair", "left right", defaults=(0,))


class Named(typing.NamedTuple):
    p: int
    q: typing.Any = 5

    def both(self):
        return self.p, self.q

    @property
    def flipped(self):
        return Named(self.q, self.p)


@program
def named_tuples(x):
    one, two = Pair(x), Named(1, x)
    left, right = one
    return (
        one, two, one.left, left is x, right, two.both(), two.flipped, one._replace(left=1), one,
        two._asdict(), Pair._fields, Pair._make([1, 2]), one[0] is x, len(two), Pair(1) == (1, 0),
        Pair(right=1, left=2), isinstance(one, tuple), [*two], Named.__name__, Pair(1) + (2,),
        Pair(1, 2) < Pair(1, 3), Pair(1).count(1), repr(Pair(1)), Pair(1)[1:],
        hash(Pair(1)) is not None,
        Named._field_defaults, two._replace(p=7).both(),
    )  # fmt: skip


class Registry(dict):
    def __missing__(self, key):
        self[key] = [key]
        return self[key]

    def __setitem__(self, key, value):
        super().__setitem__(str(key), value)

    def put(self, key, value):
        self[key] = value
        return self


class Stack(list):
    limit = 3

    def push(self, item):
        self.append(item)
        return len(self) <= self.limit

    def __getitem__(self, key):
        return super().__getitem__(key)


class Label(str):
    def loud(self):
        return self.upper() + "!"


class Count(int):
    def next(self):
        return Count(self + 1)


class Size2(tuple):
    def __new__(cls, p, q):
        return super().__new__(cls, (p, q))

    @property
    def area(self):
        return self[0] * self[1]


class Bag(set):
    def put(self, item):
        self.add(item)
        return self


@program
def kinds_of_containers(x):
    table = Registry(a=1)
    table.put(5, x)["z"] = 2
    missing = table["new"]
    stack = Stack([1])
    fine = [stack.push(n) for n in range(3)]
    stack.label = "s"
    bag = Bag([1]).put(2)
    return (
        table, missing, len(table), sorted(table), "5" in table, stack, fine, stack[-1], stack[0],
        stack + [1], [*stack], bag, 2 in bag, isinstance(table, dict), type(stack[:1]), Size2(2, 3),
        Size2(2, 3).area, Label("a").loud(), Label("a") + "b", Count(4).next(), Count(4) * 2,
        dict(table) == table, list(table.items())[0], table.get("a"), stack == [1, 0, 1, 2], x,
        bool(Stack()), Label("q") == "q", {Label("q"): 1}["q"], table.pop("a"), len(table),
        isinstance(Count(1), int), x + Count(2), f"{Label('f')}", type(Count(3).next()).__name__,
    )  # fmt: skip


class Base(abc.ABC):
    @abc.abstractmethod
    def work(self, x): ...

    def run(self, x):
        return self.work(x) + 1


class Doubles(Base):
    def work(self, x):
        return x * 2


@program
def abstract(x):
    try:
        Base()
        found = None
    except TypeError as error:
        found = str(error)
    return Doubles().run(x), found, isinstance(Doubles(), Base)


class Meta(type):
    def __call__(cls, *args):
        found = super().__call__(*args)
        found.stamped = True
        return found

    def __len__(cls):
        return 42


class Stamped(metaclass=Meta):
    def __init__(self, value):
        self.value = value


@program
def metaclasses(x):
    return Stamped(x), len(Stamped), Stamped(1).stamped


class Mixed:
    def __new__(cls, value):
        found = super().__new__(cls)
        found.early = value
        return found

    def __init__(self, value):
        self.late = self.early

    def __init_subclass__(cls, **kwargs):
        cls.tagged = True

    def __class_getitem__(cls, item):
        return cls.__name__, item


class Left(Mixed):
    def who(self):
        return ["left", *super().who()] if hasattr(super(), "who") else ["left"]


class Right(Mixed):
    def who(self):
        return ["right"]


class Both(Left, Right):
    pass


@program
def construction(x):
    one = Both(x)
    return one, one.who(), Both.tagged, Mixed[int], Left(1).who(), [c.__name__ for c in Both.mro()]


class Counted:
    total = 0
    seen: typing.ClassVar[list] = []

    def __init__(self):
        Counted.total += 1
        type(self).seen.append(Counted.total)


def _reset():
    Counted.total = 0
    Counted.seen = []


@program(again=True)
def class_level_state():
    _reset()

    def fn(x):
        Counted()
        Counted()
        return x + Counted.total, len(Counted.seen)

    return fn, (torch.ones(2),), lambda: (Counted.total, Counted.seen)


@program
def instances_outside():
    one, two = Point(torch.ones(2), 1), Child(torch.ones(2), 2)
    one.friend = two
    two.friend = one

    def fn(x):
        one.p = one.p + x
        one.friend.r = one.friend.q * 2
        two.friend.extra = [x, one]
        two.total = 3 if False else None
        del one.q
        return one.friend is two, two.friend is one, one.p

    def broken(x):
        try:
            return fn(x)
        except (AttributeError, TypeError) as error:
            return type(error).__name__, str(error)

    return broken, (torch.ones(2),), lambda: (one, two)


class Managed:
    def __init__(self, log, swallow=False):
        self.log, self.swallow = log, swallow

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, kind, value, trace):
        self.log.append(kind.__name__ if kind else "out")
        return self.swallow


@contextlib.contextmanager
def managed(log):
    log.append("start")
    try:
        yield len(log)
    except KeyError:
        log.append("caught")
    finally:
        log.append("end")


@program
def context_managers(x):
    log = []
    with Managed(log) as one, managed(log) as size:
        y = x * size
    with Managed(log, swallow=True):
        raise ValueError("gone")
    with managed(log):
        raise KeyError("caught by it")
    with contextlib.suppress(IndexError):
        [][0]
    with contextlib.nullcontext(7) as seven, contextlib.ExitStack() as stack:
        stack.enter_context(Managed(log))
        stack.callback(log.append, "called")
        log.append(seven)
    for _ in range(2):
        with Managed(log):
            if len(log) > 3:
                break
    return y, log, one.swallow


@program
def same_objects(x, items):
    one = Point(x, items)
    pair = [one, one]
    table = {"a": one, "b": pair}
    return one.p is x, one.q is items, pair, table, (one, items)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
