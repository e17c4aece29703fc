"""A call can be left before every instruction of a function, and goes on as if nothing had been."""
# ruff: noqa: B009, B905, C417, F821, UP031 -- odd spellings are what is tested

import contextlib
from typing import Any

import pytest

from minitorch2.jit.capture.attempt import Attempt
from minitorch2.jit.capture.graph_break import GraphBreak
from tests.jit.capture.capturing import compiled
from tests.jit.resume.both import is_captured, outcome


def arithmetic(a, b):
    c = a + b * 2 - (a if a > b else b) // 3
    c += a << 2
    c **= 2
    return -c, ~c, +c, not c, a < b <= c, a and b or c, c is None, a in (1, 2, 3)


def loops(a, b):
    total = []
    for i in range(a):
        if i == 2:
            continue
        for j in (10, 20, 30):
            if j == b * 10:
                break
            total.append(i * j)
        else:
            total.append("none")
    while a > 0:
        a -= 2
    return total, a


def comprehensions(a, b):
    i = 100
    squares = [i * i + a for i in range(b) if i % 2 == 0]
    table = {k: [k + j for j in range(k)] for k in range(a)}
    odd = {i % 3 for i in squares}
    return squares, table, odd, i, [*range(a), *squares], {**table, "b": b}


def closures(a, b):
    n = a

    def add(k, *more, scale=2, **named):
        nonlocal n
        n = n + k * scale + sum(more)
        return [n for _ in range(2)] + list(named)

    first = add(1)
    second = add(2, 3, b, scale=b)
    return first, second, add(*(1, 2), **{"scale": 3, "z": 1}), n


class Manager:
    """Writes down what happens to it, and swallows key errors."""

    def __init__(self):
        self.log = []

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, kind, error, trace):
        self.log.append(kind and kind.__name__)
        return kind is KeyError


def managers(a, b):
    manager = Manager()
    with manager as held:
        with Manager() as inner:
            a = a + 1
            inner.log.append(a)
        held.log.append(b)
        {}["missing"]
    with manager, Manager():
        b = b * 2
    return manager.log, inner.log, a, b


def exceptions(a, b):
    log = []
    for k in (0, 1, 2, 3):
        try:
            try:
                log.append(("try", k))
                if k == 1:
                    raise KeyError("one")
                if k == 2:
                    raise ValueError("two")
                log.append(10 // k)
            except KeyError as error:
                log.append(str(error))
                raise ValueError("from key") from error
            else:
                log.append("else")
            finally:
                log.append("finally")
        except (ValueError, ZeroDivisionError) as error:
            log.append((type(error).__name__, str(error), type(error.__context__).__name__))
        except Exception:
            log.append("other")
            raise
    return log, a, b


def returns_in_finally(a, b):
    try:
        try:
            return a + b
        finally:
            a = a + 100
            b = [a]
    finally:
        b.append(a)


def raises_at_the_end(a, b):
    table = {}
    try:
        table["x"] = a
        table["x"] += b
        table[[]] = 1
    finally:
        table["done"] = True
    return table


def text(a, b):
    name = "n"
    words = f"{a} {b!r:>4} {name.upper():*^5} {a + b}"
    return words, "%d-%s" % (a, b), name[0], words[1:3], words[::-1]


def unpacking(a, b):
    (c, d), *rest, last = (a, b), 3, 4, 5
    values = [0] * 4
    values[1:3] = c, d
    values[0], values[-1] = last, rest
    del values[1]
    c, d = d, c
    first, second, third = [c, d, last]
    return c, d, rest, last, values, first + second + third


def matching(a, b):
    found = []
    for subject in (a, [a, b], {"k": b, "x": 1}, (1, 2, 3), "s", None):
        match subject:
            case int(n) if n > 100:
                found.append("large")
            case int():
                found.append("int")
            case [x, y]:
                found.append((x, y))
            case {"k": v, **others}:
                found.append((v, others))
            case [x, *ys]:
                found.append((x, ys))
            case "s" | "t":
                found.append("text")
            case _:
                found.append("else")
    return found


def generators(a, b):
    def count(n):
        try:
            for i in range(n):
                got = yield i * 2
                if got:
                    yield got
        finally:
            log.append("closed")

    log = []
    total = sum(x for x in count(a))
    steps = count(3)
    next(steps)
    log.append(steps.send("sent"))
    steps.close()
    pairs = [(i, x) for i, x in enumerate(zip(count(2), "ab"), start=b)]
    return total, log, pairs, list(map(lambda v: v + 1, count(b)))


def deletions(a, b):
    c = a
    del c
    try:
        return c
    except UnboundLocalError as error:
        c = str(error)
    table = {"a": 1, "b": 2}
    del table["a"]
    assert table, "empty"
    return c, table, (lambda k=a: k + b)()


class Base:
    """The class above."""

    def value(self, k):
        return k + 1


class Derived(Base):
    """A class with `super()`, a property and operators."""

    def __init__(self, n):
        self.n = n

    def value(self, k):
        before = super().value(k)
        k = before * self.n
        return k + self.double

    @property
    def double(self):
        return self.n * 2

    def __add__(self, other):
        return Derived(self.n + other)


def objects(a, b):
    made = Derived(a)
    made.n += 1
    made.extra = [b]
    more = made + b
    return (
        made.value(b),
        more.n,
        getattr(made, "extra"),
        hasattr(made, "none"),
        isinstance(made, Base),
    )


def in_method(a, b):
    return Derived.value(Derived(a), b)


FUNCTIONS = [
    arithmetic, loops, comprehensions, closures, managers, exceptions, returns_in_finally,
    raises_at_the_end, text, unpacking, matching, generators, deletions, objects, Derived(3).value,
]  # fmt: skip
ARGUMENTS = {"value": lambda: (4,)}


def length_of(function: Any, make: Any) -> int:
    """How many instructions capture runs through in one call."""
    attempt = Attempt(function, make(), {}, "test:length#0", lambda name: frozenset(), None)
    with contextlib.suppress(GraphBreak):
        attempt.run()
    return attempt.machine.state.step


def left_at(function: Any, make: Any, monkeypatch: pytest.MonkeyPatch, step: int) -> tuple:
    """The outcomes of two calls that break before instruction `step` of their first piece."""
    original = Attempt.__init__

    def stopping(self, fn, args, kwargs, unit, chosen, place, at=None, reason=None, resume=True):
        if at is None and place is None:
            at, reason = step, GraphBreak("unknown-call", "a break for a test")
        original(self, fn, args, kwargs, unit, chosen, place, at, reason, resume)

    with monkeypatch.context() as patch:
        patch.setattr(Attempt, "__init__", stopping)
        cache = compiled(function, fullgraph=False)
        found = outcome(cache, make)
        return found, outcome(cache, make), cache


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_left_before_every_instruction(function, monkeypatch):
    make = ARGUMENTS.get(function.__name__, lambda: (4, 3))
    expected = outcome(function, make)
    for step in range(1, length_of(function, make) + 1):
        found, again, cache = left_at(function, make, monkeypatch, step)
        assert cache.breaks and is_captured(cache), f"not left before instruction {step}"
        assert found == expected, f"left before instruction {step}"
        assert again == expected, f"left before instruction {step}, the second time"


@pytest.mark.parametrize("width", [1, 2, 3, 7])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_left_again_and_again(function, width, monkeypatch):
    make = ARGUMENTS.get(function.__name__, lambda: (4, 3))
    expected = outcome(function, make)
    original = Attempt.__init__

    def stopping(self, fn, args, kwargs, unit, chosen, place, at=None, reason=None, resume=True):
        if at is None:
            at, reason = width, GraphBreak("unknown-call", "a break for a test")
        original(self, fn, args, kwargs, unit, chosen, place, at, reason, resume)

    monkeypatch.setattr(Attempt, "__init__", stopping)
    cache = compiled(function, fullgraph=False)
    assert outcome(cache, make) == expected
    assert outcome(cache, make) == expected
