"""Attributes of functions: read, written, deleted, there or not, of functions made anywhere."""

import functools

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()


def ones():
    return torch.ones(2)


@program(again=True)
def written_by_a_decorator():
    def counted(function):
        @functools.wraps(function)
        def inner(*args):
            inner.calls += 1
            inner.seen.append(len(args))
            return function(*args)

        inner.calls, inner.seen = 0, []
        return inner

    double = counted(lambda x: x * 2)
    same = double

    def fn(x):
        x = double(x) + same.calls
        double.last = x
        if hasattr(same, "first"):
            del double.first
        else:
            same.first = (double.calls, same.last is x)
        return x, double.calls, hasattr(same, "first"), vars(double.__wrapped__)

    return fn, (ones(),), lambda: (double.calls, double.seen, double.__dict__)


@program(again=True)
def that_appear_later():
    def helper(x):
        return x

    calls = []

    def fn(x):
        calls.append(1)
        return x, hasattr(helper, "mark"), getattr(helper, "mark", None)

    def arguments():
        if len(calls) == 1:
            helper.mark = 5
        return (ones(),)

    return fn, arguments, lambda: len(calls)


@program
def that_are_not_there(x):
    def helper(x):
        return x

    found = []
    for attempt in (
        lambda: helper.none, lambda: functools.wraps.none, lambda: delattr(helper, "none"),
        lambda: delattr(functools.wraps, "none"),
    ):  # fmt: skip
        try:
            found.append(attempt())
        except AttributeError as error:
            found.append(str(error))
    return x, found


@program(again=True)
def that_hold_a_table():
    def row(n):
        if not hasattr(row, "cache"):
            row.cache = {}
        if n not in row.cache:
            row.cache[n] = torch.arange(n) * 1.0
        return row.cache[n]

    def fn(x):
        return x + row(2), row(2) is row(2), len(row.cache)

    return fn, (ones(),), lambda: row.cache


@program(again=True, calls=4)
def of_two_functions_with_one_code():
    def make():
        def function():
            return function.n

        function.n = 0
        return function

    first, second = make(), make()
    both, calls = [first, second], []

    def fn(x):
        one, other = both
        one.n += 1
        return x * other.n, one.n, other.n, one is other

    def arguments():
        if len(calls) == 2:
            both[1] = first
        calls.append(1)
        return (ones(),)

    return fn, arguments, lambda: (first.n, second.n)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
