"""The world outside: printing, logging, warnings, clocks, random numbers; never lost or twice."""
# ruff: noqa: T201 -- printing is what is tested

import logging
import os
import random
import sys
import time
import warnings

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()


@program(breaks=True)
def prints(x, a, items):
    print("a", a, items, sep=", ")
    y = x + a
    for i in range(3):
        print(i, end=" ")
        y = y * 2
    print(f"{y.shape}")
    return y


@program(breaks=True)
def prints_tensors(x):
    y = x * 2
    print(y)
    return y + 1


@program(breaks=True)
def logs():
    seen = []

    class Kept(logging.Handler):
        def emit(self, record):
            seen.append(record.getMessage())

    log = logging.Logger("test")
    log.addHandler(Kept())

    def fn(x):
        log.info("shape %s", tuple(x.shape))
        log.warning("sum")
        return x + 1

    return fn, (torch.ones(2),), lambda: seen


@program(breaks=True)
def warns(x):
    warnings.warn("careful", stacklevel=2)
    return x * 2


@program(breaks=True)
def writes_to_stdout(x):
    sys.stdout.write("text")
    return x


@program(breaks=True)
def python_random(x):
    random.seed(5)
    found = (
        random.random(),
        random.randint(0, 9),
        random.choice([1, 2, 3]),
        random.sample(range(9), 2),
    )
    items = [1, 2, 3, 4]
    random.shuffle(items)
    return x * found[0], found, items


@program
def own_random(x):
    source = random.Random(3)
    return x * source.random(), source.randint(0, 9)


@program(breaks=True)
def clocks(x):
    start = time.perf_counter()
    y = x + 1
    return y, time.perf_counter() >= start, time.time() > 0


@program(breaks=True)
def environment(x):
    return x * len(os.environ.get("NOT_THERE", "ab")), os.getcwd() == os.getcwd()


@program(breaks=True)
def data_dependent(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y, x.max().item(), x[0].tolist(), bool(x[0, 0] > 0), float(x[0, 0]), int(x[1, 1])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
