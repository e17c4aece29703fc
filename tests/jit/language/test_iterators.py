"""Iterators and generators that are alive at a graph break, and what a round of a loop costs."""
# ruff: noqa: B007, B905, C417, E741, F841, SIM, PERF -- odd on purpose

import contextlib
import inspect

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, GIVEN, Programs

program = Programs()
LOOPS: list[str] = []


def looping(fn):
    """A program whose only breaks are those of its bodies."""
    LOOPS.append(fn.__name__)
    return program(fn, breaks=True, again=True)


def number(x):
    return x.sum().item()


@looping
def l_list(x, items):
    t = 0
    for i in items:
        t = t + x * i + number(x)
    return t


@looping
def l_enum(x, items):
    t = 0
    for i, n in enumerate(items, 2):
        t = t + x * i + n + number(x)
    return t


@looping
def l_zip(x, items, names):
    t = []
    for i, n in zip(items, names):
        t.append((x * i + number(x), n))
    return t


@looping
def l_dict(x, table):
    t = []
    for k, v in table.items():
        t.append((k, v, number(x)))
    for k in table:
        t.append((k, number(x)))
    for v in table.values():
        t.append((v, number(x)))
    return t


@looping
def l_range(x):
    t = 0
    for i in range(4):
        t += i * number(x)
    return t, x


@looping
def l_map(x, items):
    t = 0
    for i in map(lambda q: q * x, items):
        t = t + i * number(x)
    for i in filter(lambda q: q > 1, items):
        t = t + i * number(x)
    return t


@looping
def l_grow(x, items):
    t = 0
    for i in items:
        t = t + i * number(x)
        if len(items) < 6:
            items.append(i)
    return t


@looping
def l_tensors(x):
    t = 0
    for row in x:
        t = t + row * number(row)
    return t


@looping
def l_gen(x, items):
    def g():
        for i in items:
            yield x * i

    t = 0
    for v in g():
        t = t + v + number(v)
    return t


@looping
def l_alive(x, items):
    it = iter(items)
    a = next(it)
    t = number(x)
    b = next(it)
    return a, b, t, next(it), next(it, None), x


@looping
def l_while(x, items):
    it = iter(items)
    t = 0
    while True:
        try:
            n = next(it)
        except StopIteration:
            break
        t = t + n * number(x)
    return t


@looping
def l_pairs(x, items):
    it = iter([1, 2, 3, 4])
    t = []
    for a, b in zip(it, it):
        t.append((a, b, number(x)))
    return t


@looping
def l_else(x, items):
    for i in items:
        if number(x) > 100:
            break
    else:
        return x + 1
    return x


@looping
def l_dictgrow(x, table):
    try:
        for k in table:
            number(x)
            table[k + "q"] = 1
    except RuntimeError as e:
        return str(e), x


@looping
def l_nested(x, items):
    t = 0
    for i in items:
        for j in range(2):
            t = t + i * j * number(x)
    return t


@program(breaks=True, again=True)
def gen_alive(x):
    log = []

    def g(n):
        try:
            for i in range(n):
                got = yield x * i
                log.append(got)
        finally:
            log.append("end")
        return "done"

    it = g(3)
    a = next(it)
    b = number(x)
    c = it.send(5)
    r = list(it)
    return a, b, c, r, log


@program(breaks=True, again=True)
def gen_unstarted(x, a):
    n = a

    def g(k, m=2):
        nonlocal n
        n += 1
        yield k * n
        yield m

    it = g(x)
    b = number(x)
    return list(it), n, b


@program(breaks=True, again=True)
def gen_yf(x):
    def inner():
        r = yield 1
        yield r
        return 7

    def outer():
        v = yield from inner()
        yield v

    it = outer()
    a = next(it)
    b = number(x)
    return a, b, it.send(3), next(it), list(it), x


@program(breaks=True, again=True)
def gen_done(x):
    def g():
        yield 1

    it = g()
    l = list(it)
    b = number(x)
    return l, list(it), x


@program
def gen_returned():
    def fn(x):
        def g():
            for i in range(3):
                yield x * i

        return g()

    got = []

    def fn2(x):
        return fn(x)

    return fn2, (lambda: (torch.ones(2),)), lambda: None


@program(breaks=True, again=True)
def cm_alive(x):
    log = []

    @contextlib.contextmanager
    def cm(n):
        log.append(("in", n))
        try:
            yield x * n
        except ValueError as e:
            log.append(str(e))
        finally:
            log.append(("out", n))

    with cm(2) as v:
        b = number(v)
        log.append(b)
    with cm(3):
        number(x)
        raise ValueError("q")
    return v, log


@program(breaks=True, again=True)
def gen_expr_alive(x, items):
    g = (x * i for i in items)
    b = number(x)
    return sum(g), b


def closing(log, x):
    try:
        yield 1
        yield 2
    finally:
        log.append("closed")
        x.add_(10)


def without_gradients():
    with torch.no_grad():
        yield 1
        yield 2


@program(breaks=True, again=True)
def left_in_try(x, items):
    for i in closing(items, x):
        break
    items.append("after")
    return x * i


@program(breaks=True, again=True)
def dropped_in_try(x, items):
    g = closing(items, x)
    next(g)
    del g
    items.append("after")
    return x * 2, number(x)


@program(breaks=True, again=True)
def left_in_with(w):
    for i in without_gradients():
        break
    y = w * i
    return y, y.requires_grad, torch.is_grad_enabled()


@program(breaks=True, again=True)
def left_in_with_and_breaks(w):
    for i in without_gradients():
        break
    y = w * i + number(w)
    return y, y.requires_grad, torch.is_grad_enabled()


def emptying(keys):
    """A dict that loses its keys while it is gone through."""

    def fn(x, d):
        for a in d:
            del d[a]
        return x

    return fn, (lambda: (torch.ones(2), dict.fromkeys(keys, 1))), lambda: None


@program(breaks=True, again=True, raises=True)
def loses_one_of_two():
    return emptying("ab")


@program(breaks=True, again=True, raises=True)
def loses_one_of_three():
    return emptying("abc")


@program(breaks=True, again=True, raises=True)
def grows_meanwhile(x, table):
    for k in table:
        table[k + "x"] = x
    return x


@program(breaks=True, again=True, raises=True)
def grows_by_items(x, table):
    for k, v in table.items():
        table[k + "x"] = v
    return x


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)


ASKED = ("l_gen", "l_map", "l_grow", "l_dictgrow")  # these call the program, or see it write


@pytest.mark.parametrize("name", [name for name in LOOPS if name not in ASKED])
def test_one_break_a_round(name):
    fn, _ = program.known[name]
    compiled = torch.compile(fn, backend="interpreter")
    given = [GIVEN[each]() for each in inspect.signature(fn).parameters]
    compiled(*given)
    assert {stopped.row.code for stopped in compiled.cache.breaks} == {"data-dependent"}
