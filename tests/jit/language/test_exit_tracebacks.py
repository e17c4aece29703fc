"""The traceback that `__exit__` is given is there; what it holds is for Python to say."""

import contextlib
import traceback

import pytest

import minitorch2 as torch
from tests.jit.language.judging import Programs

program = Programs()


class Guard:
    """A manager that swallows KeyError and keeps what `ask` finds in the traceback."""

    def __init__(self, ask):
        self.ask, self.found = ask, None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.found = self.ask(kind, error, trace)
        return kind is None or issubclass(kind, (KeyError, RuntimeError))


def is_there(kind, error, trace):
    return trace is not None


@program
def there_is_one(x):
    with Guard(is_there) as guard:
        x = x * {}["missing"]
    with Guard(is_there) as calm:
        x = x * 2
    return x - 1 if guard.found else x + 1, calm.found


@program
def truth(x):
    with Guard(lambda *found: [bool(each) for each in found[1:]]) as guard:
        raise KeyError(1)
    return x, guard.found


@program
def in_a_callee(x):
    def failing(guard):
        with guard:
            return x * {}["missing"]
        return x

    guard = Guard(is_there)
    return failing(guard), guard.found


@program
def of_an_error_of_the_package(x):
    with Guard(is_there) as guard:
        x = x @ torch.ones(7, 3)
    return x, guard.found


@program
def through_an_exit_stack(x):
    found = []
    with contextlib.ExitStack() as stack:
        stack.push(lambda kind, error, trace: found.append(trace is None) or True)
        x = x * {}["missing"]
    return x, found


@program
def behind_a_generator_as_a_manager(x):
    @contextlib.contextmanager
    def swallowing():
        try:
            yield 3
        except KeyError as error:
            found.append(error.args)

    found = []
    with swallowing() as three:
        x = x * three
        x = x * {}["missing"]
    return x, found


@program
def given_to_the_error_again(x):
    with Guard(lambda kind, error, trace: error.with_traceback(trace) is error) as guard:
        raise KeyError(1)
    return x, guard.found


@program(breaks=True)
def its_frames(x):
    def ask(kind, error, trace):
        return [each.name for each in traceback.extract_tb(trace)]

    with Guard(ask) as guard:
        x = x * {}["missing"]
    return x, guard.found


@program(breaks=True)
def its_text(x):
    def ask(kind, error, trace):
        return traceback.format_exception(kind, error, trace)[-1]

    with Guard(ask) as guard:
        x = x * {}["missing"]
    return x, guard.found


@program
def beside_that_of_the_error(x):
    with Guard(lambda kind, error, trace: error.__traceback__ is trace) as guard:
        raise KeyError(1)
    return x, guard.found


@program
def kept(x):
    with Guard(lambda *found: found[2]) as guard:
        x = x * {}["missing"]
    return x, guard.found is not None, type(guard.found).__name__


@pytest.mark.parametrize("name", program.names)
def test_programs(name):
    program.judge(name)
