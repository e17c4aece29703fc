"""contextvars.ContextVar inside: read through guards, set and reset in order."""

import contextvars
import threading

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()
X = torch.ones(2)
SHARED = [1, 2]
NAMED: contextvars.ContextVar = contextvars.ContextVar("named", default=1)
EMPTY: contextvars.ContextVar = contextvars.ContextVar("empty")
LISTED: contextvars.ContextVar = contextvars.ContextVar("listed", default=SHARED)


@program
def defaults(x):
    mine = NAMED.get(), NAMED.get(7), EMPTY.get(5), EMPTY.get(None), NAMED.name
    try:
        return EMPTY.get(), x
    except LookupError as error:
        return mine, x + NAMED.get(), error.args[0] is EMPTY


@program
def a_default_is_one_object(x):
    return LISTED.get() is SHARED, LISTED.get() is LISTED.get(), LISTED.get(), x + 1


@program
def set_and_reset(x):
    token = NAMED.set(NAMED.get() + 1)
    inside = x * NAMED.get()
    before = token.old_value, token.var is NAMED
    NAMED.reset(token)
    return inside, NAMED.get(), before


@program
def nested(x):
    outer = EMPTY.set(x)
    inner = EMPTY.set(x * 2)
    seen = [EMPTY.get()]
    EMPTY.reset(inner)
    seen.append(EMPTY.get())
    missing = outer.old_value is contextvars.Token.MISSING
    EMPTY.reset(outer)
    return seen, missing, EMPTY.get(3)


@program
def reset_in_a_finally(x):
    def using(number):
        token = NAMED.set(number)
        try:
            if number > 2:
                raise ValueError(number)
            return x + NAMED.get()
        finally:
            NAMED.reset(token)

    try:
        return using(2), using(3)
    except ValueError as error:
        return error.args, NAMED.get()


@program(calls=3)
def left_set():
    own = contextvars.ContextVar("own")
    own.set(torch.zeros(2))

    def fn(x):
        own.set(own.get() + x)
        return own.get() * 2

    return fn, (X,), own.get


@program(calls=6, again=True)
def set_between_calls():
    own = contextvars.ContextVar("own")
    calls = iter(range(6))

    def arguments():
        number = next(calls)
        if number in (2, 3):
            own.set(number)
        if number == 4:
            own.set(X * 3)
        return (X,)

    return lambda x: (own.get(None), own.get(9) * x), arguments, lambda: None


@program(breaks=True)
def a_token_over_a_break(x):
    token = NAMED.set(5)
    text = str(x.sum().item())
    inside = NAMED.get()
    NAMED.reset(token)
    return text, inside, NAMED.get()


@program(breaks=True)
def used_twice(x):
    token = NAMED.set(5)
    NAMED.reset(token)
    try:
        NAMED.reset(token)
    except RuntimeError as error:
        return type(error), x + 1


@program(breaks=True)
def in_a_copy_of_the_context(x):
    def inner():
        NAMED.set(50)
        return x * NAMED.get()

    copied = contextvars.copy_context()
    return copied.run(inner), NAMED.get(), copied[NAMED]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    contextvars.copy_context().run(program.judge, name, backend)


def test_each_context_has_its_own():
    fn = torch.compile(lambda x: x * NAMED.get(), backend="eager")
    other = contextvars.copy_context()
    other.run(NAMED.set, 9)
    found = []

    def run():
        NAMED.set(4)
        found.append(fn(X).tolist())

    thread = threading.Thread(target=run)
    for _ in range(2):
        assert fn(X).tolist() == [1.0, 1.0]
        assert other.run(fn, X).tolist() == [9.0, 9.0]
    thread.start()
    thread.join()
    assert found == [[4.0, 4.0]] and not fn.cache.breaks
