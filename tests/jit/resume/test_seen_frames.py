"""Frames and tracebacks that a program looks at after a break in a function it calls: its own."""

import inspect
import logging
import sys
import traceback
import warnings

import pytest

import minitorch2 as torch

X = torch.ones(2)


@torch.compiler.disable
def apart(*values):
    return values


@torch.compiler.disable
def steps(trace):
    """The functions and lines of a traceback."""
    found = []
    while trace is not None:
        found.append((trace.tb_frame.f_code.co_name, trace.tb_lineno))
        trace = trace.tb_next
    return found


def fails(x):
    apart(x)
    raise ValueError("it fails")


def fails_below(x):
    y = apart(x)[0] + 1
    return fails(y)


def fails_in_an_operation(x):
    apart(x)
    return torch.ones(3) + x


def caller_of(x):
    apart(x)
    frame = sys._getframe(1)
    return frame.f_code.co_name, frame.f_lineno


def callers_of(x):
    frame, found = sys._getframe(), []
    while frame is not None and len(found) < 3:
        found.append((frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back
    return found


def below(x):
    apart(x)
    return callers_of(x)[:2]


def stacked(x):
    apart(x)
    return [(one.function, one.lineno) for one in inspect.stack()[:2]]


def listed(x):
    apart(x)
    return [(one.name, one.lineno) for one in traceback.extract_stack()[-2:]]


def warns(x):
    warnings.warn("by its caller", stacklevel=2)
    return x + 1


def warns_further(x):
    apart(x)
    return warns(x)


def logs(x):
    apart(x)
    logging.getLogger(__name__).warning("here")
    return x


class Owner:
    def asks(self, x):
        apart(x)
        return self.frame_of_caller()

    def frame_of_caller(self):
        frame = sys._getframe(2)
        return frame.f_code.co_name, frame.f_lineno


OWNER = Owner()


def by_a_local_function(x):
    def inner():
        return sys._getframe(2).f_code.co_name

    apart(x)
    return inner()


def caught(callee):
    def fn(x):
        try:
            return callee(x)
        except (ValueError, RuntimeError) as error:
            own = [step for step in steps(error.__traceback__) if step[0] in NAMES]
            return own, len(steps(error.__traceback__))

    return fn


def told(callee):
    def fn(x):
        try:
            return callee(x)
        except ValueError:
            return traceback.format_exc()

    return fn


def linked(callee):
    def fn(x):
        try:
            try:
                callee(x)
            except ValueError as error:
                raise KeyError("then") from error
        except KeyError as error:
            return steps(error.__traceback__), steps(error.__cause__.__traceback__)

    return fn


def finally_run(callee):
    seen = []

    def fn(x):
        try:
            try:
                callee(x)
            finally:
                seen.append(steps(sys.exc_info()[2]))
        except ValueError:
            return seen.pop()

    return fn


def plain(callee):
    def fn(x):
        y = x + 1
        return callee(y), y.sum()

    return fn


NAMES = {"fn", "fails", "fails_below", "fails_in_an_operation"}
PROGRAMS = [
    caught(fails), caught(fails_below), caught(fails_in_an_operation), told(fails),
    told(fails_below), linked(fails), linked(fails_below), finally_run(fails_below),
    plain(caller_of), plain(below), plain(stacked), plain(listed), plain(warns),
    plain(warns_further), plain(logs), plain(OWNER.asks), plain(by_a_local_function),
]  # fmt: skip


def run(fn, caplog):
    """What a call gives, with the lines of its warnings and of what it logs."""
    caplog.clear()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = fn(X)
    warned = [(str(one.message), one.filename, one.lineno) for one in heard]
    return str(found), warned, [(one.pathname, one.lineno) for one in caplog.records]


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_the_same_frames(number, caplog):
    fn = PROGRAMS[number]
    wanted = run(fn, caplog)
    compiled = torch.compile(fn, backend="eager")
    for _ in range(3):
        assert run(compiled, caplog) == wanted
    assert compiled.cache.breaks


def test_an_exception_that_leaves_shows_no_runtime_between_frames_of_the_program():
    fn = torch.compile(plain(fails_below), backend="eager")
    for _ in range(2):
        with pytest.raises(ValueError) as raised:
            fn(X)
        names = [name for name, _ in steps(raised.tb)]
        assert names[-3:] == ["fn", "fails_below", "fails"]


def test_a_function_that_looks_at_nobody_is_compiled_by_itself():
    def callee(x):
        apart(x)
        return x * 2

    fn = torch.compile(plain(callee), backend="eager")
    fn(X)
    assert any("callee() is compiled by itself" in one.then for one in fn.cache.breaks)
