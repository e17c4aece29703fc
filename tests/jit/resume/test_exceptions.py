"""Exceptions that an operation run by Python raises, and breaks inside try, except and finally."""
# ruff: noqa: B012, B018, UP031 -- odd spellings are what is tested

import gc
import weakref

import pytest

import minitorch2 as torch
from tests.jit.capture.capturing import compiled
from tests.jit.resume.both import both, is_captured, lines, ones, outcome


class Mine(Exception):
    """An exception of the program."""

    def __init__(self, text, number=0):
        super().__init__(text)
        self.number = number


def caught_here(x):
    y = x * 2
    try:
        print("before")
        if y.sum().item() > 0:
            int("boom")
        z = y + 1
    except ValueError as error:
        print("caught", error, type(error).__name__)
        z = y - 1
    else:
        z = y * 5
    return z


def leaves(x):
    y = x * 2
    if y.sum() > 0:
        raise Mine("bad %s" % y.sum().item(), 3)
    return y


def raised_from(x):
    try:
        {}[x.sum().item()]
    except KeyError as error:
        raise Mine("from", x.numel()) from error


def raised_while_handling(x):
    try:
        [][int(x.sum())]
    except IndexError:
        return {}[x.max().item()]


def bare_raise(x):
    log = []
    try:
        try:
            log.append(x.sum().item())
            raise Mine("a", 7)
        except Mine as error:
            log.append(error.number)
            log.append(x.sum().item())
            raise
        finally:
            print("finally", log)
    except Exception as error:
        return log, str(error), error.args, error.number


def nested_handlers(x):
    log = []
    try:
        raise Mine("outer")
    except Mine as outer:
        try:
            log.append(x.sum().item())
            raise KeyError(outer.args[0])
        except KeyError as inner:
            log.append(x.max().item())
            log.append((inner.args, type(inner.__context__).__name__))
            try:
                raise
            except KeyError:
                print(x.min())
        log.append(str(outer))
    return log, x + 1


def finally_runs(x):
    try:
        if x.sum() > 0:
            return x + 1
    finally:
        print("bye", x.sum().item())
    return x


def finally_overrides(x):
    for i in range(3):
        try:
            if (x * i).sum() > 2:
                return i
            continue
        finally:
            print("round", i, x.sum())
            if i == 2:
                break
    return "broke"


def finally_after_error(x):
    steps = []
    try:
        steps.append(x.item())
    finally:
        steps.append("finally")
        print(steps)


def assertion(x):
    y = x + 1
    assert y.sum() < 0, f"sum is {y.sum().item()}"
    return y


def in_a_loop(x):
    found = []
    for key in ("a", "b", "c"):
        try:
            found.append({"b": 1}[key] + x.sum().item())
        except KeyError as error:
            found.append((str(error), x.max().item()))
    return found


def stops_iteration(x):
    steps = iter([1, 2])
    total = []
    try:
        while True:
            total.append(next(steps) * x.sum().item())
    except StopIteration:
        return total


def helper_raises(x):
    y = x * 2
    print("in helper")
    raise Mine("helper", y.sum().item())


def raised_below(x):
    try:
        helper_raises(x + 1)
    except Mine as error:
        return error.number, str(error)


def raised_below_uncaught(x):
    y = x + 1
    return helper_raises(y)


def notes_and_groups(x):
    try:
        x.sum().item().nothing
    except AttributeError as error:
        error.add_note("a note")
        return error.__notes__, error.name


PROGRAMS = [
    caught_here, leaves, raised_from, raised_while_handling, bare_raise, nested_handlers,
    finally_runs, finally_overrides, finally_after_error, assertion, in_a_loop, stops_iteration,
    raised_below, raised_below_uncaught, notes_and_groups,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_python(program):
    cache = both(program)
    assert cache.breaks and is_captured(cache)


def fails_inside_a_graph(x, y):
    try:
        print("start")
        z = x * 2
        return z // y
    finally:
        print("end", x.sum())


def test_an_operation_that_fails_inside_a_piece_raises_as_python():
    zero = torch.tensor([1, 0, 2])
    both(fails_inside_a_graph, lambda: (torch.tensor([1, 2, 3]), zero))


def index_fails(x, i):
    print("first")
    y = x + 1
    z = y[i] * 2
    print("second")
    return z


def test_an_operation_that_fails_after_a_break_raises_on_its_line_once():
    def make():
        return torch.ones(3), torch.tensor([5])

    expected = outcome(index_fails, make)
    function = torch.compile(index_fails, backend="interpreter")
    assert outcome(function, make) == expected
    assert outcome(function, make) == expected


def test_the_traceback_starts_in_the_functions_own_frame():
    def looks(x):
        try:
            x.sum().item() / 0
        except ZeroDivisionError as error:
            return error

    expected, found = looks(*ones()), compiled(looks, fullgraph=False)(*ones())
    assert lines(found) == lines(expected)
    names = [expected.__traceback__.tb_frame.f_code.co_name]
    assert [found.__traceback__.tb_frame.f_code.co_name] == names
    assert found.__traceback__.tb_lineno == expected.__traceback__.tb_lineno


def test_nothing_is_kept_alive_by_a_caught_exception():
    function = compiled(caught_here, fullgraph=False)
    function(*ones()), function(*ones())
    gc.collect()
    gc.disable()  # what is freed at once is freed by counting references
    try:
        x = torch.ones(3)
        alive = weakref.ref(x)
        function(x)
        del x
        assert alive() is None
    finally:
        gc.enable()
