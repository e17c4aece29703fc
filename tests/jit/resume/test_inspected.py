"""The frames of pieces can be looked at: in tracebacks, from a callee, under a debugger.

What is found there, names and values, is what Python's own frame holds. Python crashes when it
looks at a frame whose code names a cell that it never fetched, so a fault may end the process.
"""
# ruff: noqa: B023, E731, F821 -- odd spellings are what is tested

import contextlib
import sys
import traceback
from collections.abc import Callable, Iterator
from types import CellType, FrameType
from typing import Any

import pytest

from minitorch2.jit.capture.attempt import Attempt
from minitorch2.jit.capture.graph_break import GraphBreak
from tests.jit.capture.capturing import compiled
from tests.jit.resume.both import codes, ones, plain
from tests.jit.resume.test_every_step import length_of

Seen = list[tuple[str, int, dict[str, Any] | None]]
LOOKED: list[Seen] = []
HERE = ("outcome", "look", "seen")  # functions of this file that are no programs


def number(x):
    return x.sum().item()


def look(value: Any = None) -> Any:
    """Look at every frame that is running, at a break."""
    LOOKED.append(seen(traceback.walk_stack(sys._getframe(1))))
    return value


def in_a_line(x):
    y = x * 2
    n = number(y)
    look()
    return [y, n, n.missing, y]


def in_cells(x):
    count = 1

    def add(k):
        nonlocal count
        count += k
        return look(count)

    n = number(x)
    total = add(2) + add(int(n))
    y = x * total
    del n
    look()
    return y.missing + count


def in_free_variables(x):
    scale = number(x)
    later = None

    def inner(y):
        z = y * scale
        look()
        n = number(z) + scale
        if later is None:
            raise KeyError(n)
        return later

    later = None
    return inner(x + 1)


def in_loops(x):
    found = []
    for i in range(5):
        for j in (1, 2):
            x = x + j
            found.append(number(x))
            look()
            if i == 1 and j == 2:
                found[100] = i
    return found


def in_while(x):
    i = 0
    while number(x) > 0:
        x = x - 1
        i += 1
        get = lambda: look(i)
        if get() == 1:
            return {"i": i}[number(x)]
    return i


def in_handlers(x):
    log = []
    try:
        log.append(number(x))
        {}["missing"]
    except KeyError as error:
        look()
        log.append(str(error))
        try:
            log[50]
        except IndexError as second:
            y = x + len(log)
            look()
            log.append(number(y))
            raise ValueError(len(log)) from second
    finally:
        look()
        log.append("finally")


def in_reraise(x):
    try:
        n = number(x)
        try:
            look(n)
            raise ValueError(n)
        finally:
            x = x + 1
            look(number(x))
    except ValueError:
        look()
        raise


@contextlib.contextmanager
def managed(x):
    y = x * 2
    look()
    try:
        yield number(y)
    finally:
        look()


def in_with_blocks(x):
    with managed(x) as n, contextlib.suppress(IndexError):
        z = x + n
        look()
        with managed(z) as m:
            return [n, m][number(z) > 0 and "text"]


def in_comprehensions(x):
    base = number(x)
    first = [look(base + i) for i in range(3)]
    second = {k: [look(k + j + base) for j in range(2)] for k in range(2)}
    return [first[i + int(base)] for i in second if i >= 0]


def in_generators(x):
    def steps(y):
        for i in range(3):
            z = y * i + bonus
            look()
            yield number(z)
        raise KeyError(bonus)

    bonus = number(x)
    total = 0.0
    for n in steps(x):
        total += n
    return total


def in_callees(x):
    return first_callee(x * 2, 3) + 1


def first_callee(x, depth, *rest, scale=2, **more):
    n = number(x)
    if depth == 0:
        look()
        raise RuntimeError(n)
    y = x * scale
    look()
    return first_callee(y, depth - 1, n, *rest, scale=scale, more=n) + number(y)


class Parent:
    """A class whose method fails."""

    def value(self, x):
        n = number(x)
        look()
        return self.missing + n


class Child(Parent):
    """One that calls it by `super()`, with a cell for the class."""

    def value(self, x):
        y = x + number(x)
        look()
        return super().value(y)


def in_methods(x):
    made = Child()
    return made.value(x)


def in_class_body(x):
    n = number(x)

    class Made:
        size = look(n)
        fails = n.missing + size

    return Made


def in_unbound(x):
    y = x * number(x)
    later = y
    del later
    look()
    return y, later


def in_arguments(x):
    def key(v):
        look()
        return number(v).missing

    return sorted([x * number(x), x], key=key)


def in_matching(x):
    match [number(x), x]:
        case [n, *others] if look(n):
            return others[5]


PROGRAMS = [
    in_a_line, in_cells, in_free_variables, in_loops, in_while, in_handlers, in_reraise,
    in_with_blocks, in_comprehensions, in_generators, in_callees, in_methods, in_class_body,
    in_unbound, in_arguments, in_matching,
]  # fmt: skip


def seen(frames: Iterator[tuple[FrameType, int]]) -> Seen:
    """Name, line and variables of the frames of this file; the others are looked at as well.

    No variables of a frame that went on after it raised, to a handler that raised again.
    """
    found: Seen = []
    for frame, line in frames:
        variables = dict(frame.f_locals)
        name = frame.f_code.co_name
        if (
            frame.f_code.co_filename == __file__
            and name not in HERE
            and not name.startswith("test_")
        ):
            assert not any(isinstance(value, CellType) for value in variables.values())
            held = {name: value for name, value in variables.items() if is_data(value)}
            found.append((name, line, plain(held) if line == frame.f_lineno else None))
    return found


def is_data(value: Any) -> bool:
    """Whether a value compares by what it holds, and can be read without moving it on."""
    return isinstance(value, (int, float, str, list, dict)) or hasattr(value, "tolist")


def outcome(function: Callable) -> tuple[str, list[Seen], Seen]:
    """What one call raises, what was seen while it ran, and what its traceback holds."""
    LOOKED.clear()
    try:
        function(*ones())
    except Exception as error:
        trace = seen(traceback.walk_tb(error.__traceback__))
        return f"{type(error).__name__}: {error}", list(LOOKED), trace
    raise AssertionError("nothing was raised")


def hold(found: tuple, expected: tuple) -> None:
    """The frames are the same; what they hold is what Python's hold, less what is not needed."""
    assert found[0] == expected[0]
    for mine, theirs in zip([*found[1], found[2]], [*expected[1], expected[2]], strict=True):
        assert [one[:2] for one in mine] == [one[:2] for one in theirs]
        for (_, _, some), (_, _, every) in zip(mine, theirs, strict=True):
            if some is not None and every is not None:
                assert some == {name: every[name] for name in some}


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_frames_hold_what_pythons_hold(function):
    expected = outcome(function)
    assert expected[1] and expected[2]
    cache = compiled(function, fullgraph=False)
    for _ in range(3):
        hold(outcome(cache), expected)
    assert codes(cache)


def leaving(monkeypatch: pytest.MonkeyPatch, step: int, always: bool) -> None:
    """Break before instruction `step`: of the first piece, or of each."""
    original = Attempt.__init__

    def stopping(self, fn, args, kwargs, unit, chosen, place, at=None, reason=None, resume=True):
        if at is None and (always or place is None):
            at, reason = step, GraphBreak("unknown-call", "a break for a test")
        original(self, fn, args, kwargs, unit, chosen, place, at, reason, resume)

    monkeypatch.setattr(Attempt, "__init__", stopping)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_left_before_every_instruction(function, monkeypatch):
    expected = outcome(function)
    for step in range(1, length_of(function, ones) + 1):
        with monkeypatch.context() as patch:
            leaving(patch, step, always=False)
            cache = compiled(function, fullgraph=False)
            for _ in range(2):
                hold(outcome(cache), expected)


@pytest.mark.parametrize("width", [1, 2, 3, 7])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_left_again_and_again(function, width, monkeypatch):
    expected = outcome(function)
    leaving(monkeypatch, width, always=True)
    cache = compiled(function, fullgraph=False)
    for _ in range(2):
        hold(outcome(cache), expected)


@contextlib.contextmanager
def debugger() -> Iterator[set[tuple[str, int]]]:
    """Looks at every running frame before every instruction of this file, as a debugger may; before
    3.13 Python itself then writes back what it has read."""
    met = set()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != __file__:
            return None
        frame.f_trace_opcodes = True
        met.add((frame.f_code.co_name, frame.f_lasti))
        for one, _ in traceback.walk_stack(frame):
            dict(one.f_locals)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield met
    finally:
        sys.settrace(before)


# Pieces of 4 instructions: no program breaks among those that make its cells, where a debugger that
# stops at each would hide them from Python (it recognizes a cell by the MAKE_CELL before it).
@pytest.mark.parametrize("width", [None, 4])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_under_a_debugger(function, width, monkeypatch):
    expected = outcome(function)
    if width is not None:
        leaving(monkeypatch, width, always=True)
    cache = compiled(function, fullgraph=False)
    for _ in range(2):
        with debugger() as met:
            found = outcome(cache)
        hold(found, expected)
        assert any(name == function.__name__ for name, _ in met)
