"""Functions with something beside their code: caches that count, partials of partials."""

import functools

import pytest

import minitorch2 as torch
from minitorch2 import nn
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()


class Own(functools.partial):
    """A subclass, whose instances are taken apart like others."""


def gather(*args, **kwargs):
    """What it was called with."""
    return args, kwargs


def cached(make):
    """A program over a cached function of its own, whose counts are looked at."""

    def program():
        function, fn = make()
        return fn, (torch.ones(2),), lambda: function.cache_info()

    return program


def plain():
    @functools.lru_cache
    def one(n):
        return n + 1

    return one, lambda x: x * one(2) + one(2) + one(3)


def one_by_another():
    @functools.lru_cache
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    return fibonacci, lambda x: x * fibonacci(6) + fibonacci(7)


def a_small_one():
    @functools.lru_cache(maxsize=1)
    def one(n, *, k=1):
        return n + k

    return one, lambda x: x * one(2) + one(3, k=2) + one(2)


def of_tensors():
    @functools.lru_cache
    def mask(n):
        return torch.ones(n)

    return mask, lambda x: x * mask(2) + mask(2)


def of_leaves():
    @functools.lru_cache
    def scale(n):
        return nn.Parameter(torch.ones(n))

    def fn(x):
        (x * scale(2)).sum().backward()
        return scale(2), scale(2).grad

    return scale, fn


def of_draws():
    @functools.lru_cache
    def noise(n):
        return torch.rand(n)

    return noise, lambda x: (x + noise(2), torch.rand(2))


def one_that_draws():
    @functools.lru_cache
    def width(n):
        torch.rand(2)
        return n + 1

    return width, lambda x: (x * width(2), torch.rand(2))


def one_that_writes():
    total = torch.zeros(2)

    @functools.lru_cache
    def counted(n):
        total.add_(1)
        return n + 1

    return counted, lambda x: (x * counted(2), total + 0)


for make in (plain, one_by_another):
    program.known[make.__name__] = cached(make), {}
for make in (a_small_one, of_tensors, of_leaves, of_draws, one_that_draws, one_that_writes):
    program.known[make.__name__] = cached(make), {"breaks": True}


@program
def a_partial_with_attributes(x):
    first = functools.partial(gather, 1, a=1)
    first.tag = 3
    second = functools.partial(first, 2, b=2)
    return second.func is first, second.args, second(5), first.tag, x + 1


@program
def a_partial_without(x):
    first = functools.partial(gather, 1, a=1)
    second = functools.partial(first, 2, a=2)
    return second.func is gather, second.args, second.keywords, second(5), x + 1


@program
def one_with_attributes_that_leaves(x):
    first = functools.partial(gather, 1)
    first.tag = x
    return first, first.tag, first()


@program(breaks=True)
def of_a_subclass(x):
    first = Own(gather, 1)
    second = functools.partial(first, 2)
    return second.func is gather, second.args, second(5), x + 1


@program
def the_only_item_of_a_set(x):
    key = (x, 1)
    return next(iter({key})) is key, [*{key}][0] is key, x + 1


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_answer_is_one_from_call_to_call(backend):
    """What the cache keeps is the same object in each call, with the gradients of all of them."""

    @functools.lru_cache
    def scale(n):
        return nn.Parameter(torch.ones(n))

    compiled = torch.compile(lambda x: (x * scale(2)).sum(), backend=backend)
    for _ in range(3):
        compiled(torch.ones(2)).backward()
    assert scale(2).grad.tolist() == [3.0, 3.0]
    assert scale.cache_info().misses == 1
