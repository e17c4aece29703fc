"""What the library, generators and modes do through protocols: caches, dispatch, views."""
# ruff: noqa: B018, E501, F401 -- one line, one program

import collections
import contextlib
import copy
import functools
import itertools
import string
import struct
import types
import typing
import weakref

import pytest

import minitorch2 as torch
from tests.jit.language.judging import Programs

SEEN: list = []


class Named(typing.NamedTuple):
    a: int

    def __repr__(self):
        return f"T{self.a}"


class Shown(typing.NamedTuple):
    a: int

    def __str__(self):
        return f"S{self.a}"

    def __format__(self, spec):
        return f"F{spec}"


class Loud(list):
    def __repr__(self):
        return "L\u00e9!"


class Counted(int):
    def __str__(self):
        return "counted"


class Odd(int):
    def __int__(self):
        return 9

    def __float__(self):
        return 8.0


class Worded(str):
    def __str__(self):
        return "worded"


class Reflected(str):
    def __rmod__(self, other):
        return "of " + other


class Spoken:
    def __init__(self):
        self.parts = [1, Named(2)]

    def __str__(self):
        return "spoken"

    def __format__(self, spec):
        return "by " + spec


class Told(Exception):
    def __str__(self):
        return "told " + str(self.args)


class Options(typing.TypedDict, total=False):
    a: int


class Fixed:
    def __get__(self, instance, owner=None):
        return 42 if instance is None else instance


class Holder:
    fixed = Fixed()


@functools.cache
def doubled(n):
    return n * 2, "a"


@functools.lru_cache
def mask(n):
    return torch.ones(n, n).tril()


@functools.cache
def listed(n):
    return [n]


@functools.cache
def counted(n):
    SEEN.append(n)
    return n


@functools.singledispatch
def kind(value):
    return "object"


@kind.register
def _(value: int):
    return "int"


@kind.register(list)
def _(value):
    return "list"


@kind.register
def _(value: torch.Tensor):
    return value + 1


@torch.library.custom_op("protocols::scaled", mutates_args=())
def scaled(x: torch.Tensor, k: int) -> torch.Tensor:
    return x * k


@scaled.register_fake
def _(x, k):
    return torch.empty_like(x)


class Mine(torch.Tensor):
    def double(self):
        return self * 2


FILLED, KEYED, NUMBER, ONE, BY = "%s|%r", "%(k)s", "%d", "%s", "%d x %d"
LINES = r"""
str(Named(1)), repr(Named(2)), f"{Named(1)}", f"{Named(1)!r:>5}", str([Named(1)]),
    "%s" % (Named(3),), "{}".format(Named(3))
FILLED % (Loud([1]), Named(3)), FILLED % ([Named(1)], {"a": Loud()}),
    "{} {!r}".format(Loud([1]), Loud())
"{0.a} {0!r} {0!s:>4} {0[0]}".format(Named(7)), "{0.parts[1]} {0:x} {0}".format(Spoken())
"{x} {y}".format(x=Named(1), y=[Named(2)]), "{k}".format_map({"k": Named(4)}),
    KEYED % {"k": Named(4)}
"%d %s %5.1f %x" % (Counted(3), Counted(3), Counted(3), Counted(30)), "{:03d}".format(Counted(4))
ascii(Named(1)), ascii([Loud()]), ascii(Loud()), f"{Loud()!a}", ascii("\u00e9")
"{:>4}".format(Named(1))
f"{Named(1):>4}"
NUMBER % (Spoken(),)
ONE % x.shape
ONE % x[0].shape, BY % x.shape, ONE % (x.shape,), KEYED % {"k": x.shape}
ONE % Named(1), ONE % Spoken(), ONE % Worded("q"), "{:>5}|{:<4}".format(Worded("q"), "r")
"%d %.1f %x" % (Odd(1), Odd(1), Odd(30)), ONE % Reflected("q"), "%*d" % (5, 3), "%c%%" % 65
"abc" % Worded("q")
"abc" % [1], "abc" % ()
"abc" % (1,)
FILLED % (1,)
FILLED % Loud([1, 2])
KEYED % {"other": Named(4)}
"{0.missing}".format(Named(1))
"{} {}".format(Named(1))
str(Shown(1)), repr(Shown(2)), f"{Shown(1):q}", str([Shown(1)])
str(Told(1)), repr(Told(1)), f"{Told(2)}", f"{Told(2)!s:>12}"
Options(a=1), Options(), {"a": 1} == Options(a=1), type(Options()) is dict
types.SimpleNamespace(a=1) == types.SimpleNamespace(a=1),
    types.SimpleNamespace(a=1) != types.SimpleNamespace(a=2),
    types.SimpleNamespace(a=x) == types.SimpleNamespace(b=1), types.SimpleNamespace() == 3
copy.copy(types.SimpleNamespace(a=[1])), copy.deepcopy(types.SimpleNamespace(a=[1]))
Holder.fixed, Holder().fixed is None
doubled(3), doubled(3) is doubled(3), doubled.__wrapped__(2)
kind(1), kind([]), kind("s"), kind(True), kind(x)
struct.pack("<iH", 1, 2), struct.unpack("<iH", b"\x01\0\0\0\x02\0"),
    struct.Struct("<i").pack(3), list(struct.iter_unpack("<h", b"\1\0\2\0"))
string.Formatter().format("{a}", a=1), list(string.Formatter().parse("a{b}"))
weakref.ref(x)() is x
weakref.ref([])
(lambda d: [d.add(v + 1) for v in d])({1})
(lambda d: [d.append(v) for v in d])(collections.deque([1]))
(lambda d: (setattr(d, "meta", [1]), d.meta, getattr(d, "other", 2),
    d))(collections.OrderedDict(a=1))
"""
program = Programs()
program.lines(LINES, globals())


@program
def views_of_an_instance(x):
    owner = types.SimpleNamespace(a=1)
    keys, values, items = owner.__dict__.keys(), owner.__dict__.values(), owner.__dict__.items()
    owner.b = 2
    found = [list(keys), list(values), list(items), len(keys), "b" in keys, keys & {"a"}]
    try:
        for _ in owner.__dict__:
            owner.c = 2
    except RuntimeError as error:
        found.append(str(error))
    return x, found, type(keys).__name__, str(keys), ("a", 1) in items


@program
def a_cache_that_keeps_tensors(x):
    return mask(3) is mask(3), mask(2), x + 1


@program(breaks=True)
def what_a_class_gives_in_a_format(x):
    return x, "{0.__class__.__name__} {0.__dict__}".format(Spoken())  # noqa: UP032


@program
def errors_of_the_package(x):
    found = []
    for attempt in (lambda: x.view(7), lambda: x @ x, lambda: torch.zeros(3)[5]):
        try:
            attempt()
        except (RuntimeError, IndexError) as error:
            found.append(str(error).partition("\n")[0])
    return x, found


@program
def missing_entries(x):
    layer = torch.nn.ReLU()
    try:
        layer.load_state_dict({"weight": x})
    except RuntimeError as error:
        return x, str(error).partition("\n")[0]


@program
def decorators_of_modes(x):
    @torch.no_grad()
    def without(q):
        return torch.is_grad_enabled()

    @torch.no_grad
    def bare(q):
        """Doc."""
        return torch.is_grad_enabled()

    inference = torch.inference_mode()(lambda q: torch.is_inference_mode_enabled())
    off = torch.set_grad_enabled(False)(lambda q: torch.is_grad_enabled())
    cast = torch.autocast("cpu", dtype=torch.bfloat16)(lambda q: (q @ q.T).dtype)
    return (
        without(x), without.__name__, bare(x), bare.__doc__, inference(x), off(x), cast(x),
        torch.is_grad_enabled(), torch.enable_grad()(without)(x),
    )  # fmt: skip


@program
def stack_of_modes(x):
    seen = []
    with contextlib.ExitStack() as stack:
        stack.callback(seen.append, "left")
        stack.enter_context(torch.no_grad())
        stack.enter_context(torch.autocast("cpu", dtype=torch.bfloat16))
        seen.append((torch.is_grad_enabled(), (x @ x.T).dtype))
    return seen, torch.is_grad_enabled(), (x @ x.T).dtype


@program
def thrown_through_yield_from(x):
    seen = []

    def inner():
        try:
            yield 1
        except KeyError:
            return "k"
        finally:
            seen.append("inner")

    def outer():
        seen.append((yield from inner()))
        try:
            yield from [5, 6]
        except ValueError:
            seen.append("v")
        yield 7

    it = outer()
    first, second, third = next(it), it.throw(KeyError), it.throw(ValueError("q"))
    try:
        it.throw(TypeError("z"))
    except TypeError as error:
        seen.append(str(error))
    return first, second, third, seen, list(it), x


@program
def closed_through_yield_from(x):
    seen = []

    def inner():
        try:
            yield 1
        finally:
            seen.append("inner")

    def outer():
        try:
            yield from inner()
        finally:
            seen.append("outer")

    it = outer()
    next(it)
    handed = it.gi_yieldfrom.__name__, it.gi_running, it.gi_code.co_name
    it.close()
    return seen, handed, it.gi_yieldfrom, x


@program
def kept_answers(x):
    SEEN.clear()
    return listed(1) is listed(1), counted(5) + counted(5), x


@program(breaks=True)
def own_operation(x):
    return scaled(x, 2), torch.ops.protocols.scaled(x, 3)


@program(breaks=True)
def own_class(x):
    return x.as_subclass(Mine).double()


@pytest.mark.parametrize("name", program.names)
def test_programs(name):
    program.judge(name)
