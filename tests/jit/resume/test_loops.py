"""Breaks inside loops: the same places again and again, in one flat loop of the driver."""
# ruff: noqa: C417 -- odd spellings are what is tested

import itertools
import sys

import pytest

import minitorch2 as torch
from tests.jit.capture.capturing import compiled
from tests.jit.resume.both import both, is_captured, ones


def range_loop(x):
    for i in range(5):
        x = x + i
        if x.max() > 3:
            return x, i
    return x, "end"


def list_grows_meanwhile(x):
    items = [1, 2]
    for item in items:
        if (x * item).sum() < 9:
            items.append(item + 2)
        x = x + item
    return x, items


def nested(x):
    out = []
    for i in range(3):
        for j, k in zip("ab", (x, x * 2), strict=True):
            if k.sum().item() > i:
                out.append((i, j))
                continue
            break
        else:
            x = x + 1
    return out, x


def enumerate_zip_map(x):
    out = []
    for i, (a, b) in enumerate(zip([x, x + 1], map(lambda t: t * 2, (x, x * 3)), strict=False), 1):
        if (a + b).sum() > i:
            out.append(a * b + i)
    return out


def itertools_loops(x):
    out = []
    for i in itertools.count(2, 3):
        if (x * i).sum() > 20:
            break
        out.append(i)
    for a, b in itertools.product((1, 2), "xy"):
        print(a, b, x.sum().item())
    for c in itertools.chain([x], (x + 1,)):
        out.append(c.sum().item())
    return out


def dict_and_set_loops(x):
    table = {"a": x, "b": x * 2}
    total = 0
    for key, value in table.items():
        if value.sum() > 3:
            total = total + value
            table[key] = value * 10
    return total, table, {round(v.sum().item()) for v in table.values()}


def comprehensions(x):
    a = [int((x * i).sum()) for i in range(4) if (x * i).max() > 0]
    b = {i: (x + i).max().item() for i in a}
    c = {(x * i).sum().item() for i in range(3)}
    d = [[(x * i * j).sum().item() for j in range(2)] for i in range(2)]
    return a, b, sorted(c), d, sum(t.item() for t in x), any(t > 5 for t in x), max(x), sorted(x)


def iterator_of_the_caller(x, steps):
    for step in steps:
        if (x * step).sum() > 5:
            return x * step, next(steps)
    return x


def tensor_rows(x):
    out = []
    for row in x:
        if row > 0:
            out.append(row.item())
    return out


def no_break_at_the_end(x):
    for i in range(3):
        if i == 1:
            print(x.sum())
        x = x * 2
    for i in range(50):
        x = x + i
    return x


PROGRAMS = [
    range_loop, list_grows_meanwhile, nested, enumerate_zip_map, itertools_loops,
    dict_and_set_loops, comprehensions, tensor_rows, no_break_at_the_end,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_python(program):
    cache = both(program)
    assert cache.breaks and is_captured(cache)


def test_an_iterator_of_the_caller_is_moved_as_python_moves_it():
    both(iterator_of_the_caller, lambda: (*ones(), iter([1, 2, 3, 4, 5])))
    both(iterator_of_the_caller, lambda: (*ones(), (i for i in (1, 2, 3))))


def long_loop(x, n):
    depths = []
    for i in range(n):
        x = x + i
        if x.sum() < 0:
            x = x * 2
        depths.append(x.sum().item())
    return depths


def test_a_long_loop_deepens_no_stack_and_makes_few_graphs():
    cache = compiled(long_loop, fullgraph=False)
    limit = sys.getrecursionlimit()
    x = torch.zeros(3)
    try:
        sys.setrecursionlimit(300)
        found = cache(x, 400)
    finally:
        sys.setrecursionlimit(limit)
    assert found == long_loop(x, 400)
    count = sum(1 for _ in cache.all_entries())
    assert cache(x, 900) == long_loop(x, 900)
    assert sum(1 for _ in cache.all_entries()) <= count + 2 <= 24
    assert is_captured(cache)
