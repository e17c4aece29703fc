"""What the world decides anew in each call: time, random numbers, settings; and coroutines."""

import asyncio
import datetime
import logging
import os
import random
import time
import warnings

import numpy
import pytest

import minitorch2 as torch
from minitorch2.errors import GraphBreakError

X = torch.tensor([1.0, 2.0, 3.0])
SCALE = 5


def compiled(fn, **options):
    return torch.compile(fn, backend="interpreter", **options)


def codes(run):
    return {one.row.code for one in run.cache.breaks}


NUMBERS = {
    "random": lambda x: x * random.random(),
    "uniform": lambda x: x * random.uniform(0, 1),
    "randint": lambda x: x * random.randint(0, 10**6),
    "numpy rand": lambda x: x * float(numpy.random.rand()),
    "numpy normal": lambda x: x * numpy.random.normal(),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_random_numbers_are_drawn_in_each_call(name):
    """In the order of the program, from the generators of Python and numpy."""
    fn = NUMBERS[name]
    run = compiled(fn)

    def draws(fn):
        random.seed(3)
        numpy.random.seed(3)
        return [fn(X).tolist() for _ in range(4)]

    assert draws(run) == draws(fn)
    assert codes(run) == {"random-generator"}
    assert len(run.cache.recompiles) <= 1, "\n".join(map(str, run.cache.recompiles))


CLOCKS = {
    "time": lambda: time.time_ns(),
    "perf_counter": lambda: time.perf_counter_ns(),
    "datetime": lambda: datetime.datetime.now(),
    "utc": lambda: datetime.datetime.now(datetime.UTC),
    "today": lambda: datetime.datetime.today(),
}


@pytest.mark.parametrize("name", CLOCKS)
def test_clocks_go_on(name):
    read = CLOCKS[name]
    run = compiled(lambda x: (x + 1, read()))
    seen = []
    for _ in range(3):
        before, now, after = read(), run(X)[1], read()
        assert before <= now <= after
        seen.append(now)
        time.sleep(0.001)
    assert len(set(seen)) == 3 and codes(run) == {"input-output"}


def test_warnings_and_logs_are_not_lost(caplog):
    def fn(x):
        y = x * 2
        warnings.warn("careful", stacklevel=2)
        logging.getLogger("some").warning("rows %s", x.shape[0])
        return y + 1

    run = compiled(fn)
    for _ in range(3):
        with pytest.warns(UserWarning, match="careful"):
            assert run(X).tolist() == (X * 2 + 1).tolist()
    assert [one.getMessage() for one in caplog.records] == ["rows 3"] * 3
    assert codes(run) == {"input-output"}


def test_the_environment(monkeypatch):
    run = compiled(lambda x: x * int(os.environ.get("SOME_SCALE", "1")))
    for scale in ("2", "3"):
        monkeypatch.setenv("SOME_SCALE", scale)
        assert run(X).tolist() == (X * int(scale)).tolist()
    monkeypatch.delenv("SOME_SCALE")
    assert run(X).tolist() == X.tolist()


def test_globals_as_a_dict():
    def fn(x):
        globals()["NEW"] = globals().get("NEW", 0) + 1
        return x * globals()["SCALE"] + NEW, "SCALE" in globals()  # noqa: F821

    run = compiled(fn, fullgraph=True)
    try:
        for count in (1, 2, 3):
            assert run(X)[0].tolist() == (X * SCALE + count).tolist()
    finally:
        del globals()["NEW"]


def test_a_missing_global():
    def fn(x):
        try:
            return x + globals()["NOT_THERE"]
        except KeyError as error:
            return str(error)

    assert compiled(fn)(X) == fn(X)


def test_coroutines_run_as_python_and_say_so():
    async def double(x):
        return x * 2

    async def fn(x):
        await asyncio.sleep(0)
        return await double(x) + 1

    run = compiled(fn)
    for _ in range(2):
        assert asyncio.run(run(X)).tolist() == (X * 2 + 1).tolist()
    (told,) = run.cache.breaks
    assert "async function fn()" in told.text() and "always runs as Python" in told.text()
    with pytest.raises(GraphBreakError, match="async function fn"):
        compiled(fn, fullgraph=True)(X)


def test_generators_run_as_python_and_say_so():
    def fn(x):
        yield x
        yield x + 1

    run = compiled(fn)
    assert [one.tolist() for one in run(X)] == [X.tolist(), (X + 1).tolist()]
    assert "generator function fn()" in run.cache.breaks[0].text()


def test_tensors_of_sizes_and_numbers():
    def fn(x):
        return torch.Tensor([1, 2, 3]) * x, torch.Tensor(2, 3).shape, torch.Tensor().shape

    run = compiled(fn, fullgraph=True)
    got, wanted = run(X), fn(X)
    assert got[0].tolist() == wanted[0].tolist() and got[0].dtype == wanted[0].dtype
    assert got[1:] == wanted[1:]


def test_values_behind_a_break_have_the_words_of_the_program():
    def fn(x, items):
        return x * len(items.pop().strip()) + time.time_ns() % 1000 * x

    run = compiled(fn)
    told = ""
    for _ in range(4):
        run(X, ["a"])
        told = "\n".join(map(str, run.cache.recompiles))
    assert "time.time_ns()" in told and "stack" not in told
