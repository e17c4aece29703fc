"""Breaks in functions that are called, in half-built calls and expressions, in generators."""
# ruff: noqa: C416, UP031 -- odd spellings are what is tested

import functools
import inspect
import sys

import pytest

import minitorch2 as torch
from tests.jit.capture.capturing import compiled
from tests.jit.resume.both import both, codes, is_captured, ones

COUNTER = 0


def below(x, scale=2, *, more=0):
    y = x * scale
    print("below", y.sum().item())
    return y + 1 + more


def between(x):
    a = x + 1
    b = below(a, more=3)
    return a + b


def two_deep(x):
    z = x * 3
    w = between(z)
    return z + w


def half_built(x):
    def add(a, b, *rest, c=0, d=0, **named):
        return a + b * c + d + len(rest) + sum(named.values())

    args, named = (x.sum().item(), 2), {"d": x.max().item(), "e": 1}
    first = add(x + 1, x.sum().item(), c=(x * 2).max().item(), d=3)
    return first, add(x, *args, 5, c=x.min().item(), **named), max(x.sum().item(), x[0].item())


def augmented(x):
    n = 1
    n += x.sum().item()
    table = {"k": 2, "list": [1]}
    table["k"] *= x.sum().item()
    table["list"] += [x.max().item()]
    holder = functools.partial(below)
    holder.count = 1
    holder.count -= x.sum().item()
    return n, table, holder.count


def texts(x):
    name = f"{x.sum()} and {x.mean().item():.2f} {'%s' % x[0].item()!r:>10} {x.max().item():{4}.1f}"
    return name, f"{x}", f"{x.sum()!r}", "%s|%d" % (x.sum(), x.sum()), str(x), repr(x)


def chained(x):
    return (
        0 < x.sum().item() <= 3 < x.numel() + x.max().item(),
        [x.sum().item(), *range(int(x.sum()))],
        {**{"a": x.max().item()}, "b": x.sum().item()},
        (lambda v: v + x.sum().item())(2),
        x[int(x.sum()) - 1 :].sum() if x.any() else None,
    )


def steps(x):
    for i in range(4):
        got = yield x + i
        if got:
            print("got", got)


def consumes(x):
    out = 0
    for y in steps(x):
        print(y.sum())
        out = out + y
    return out


def sends(x):
    running = steps(x)
    first = next(running)
    print(first.sum())
    second = running.send("text")
    running.close()
    return first + second, list(running)


def breaks_inside(x):
    def doubled(n):
        for i in range(n):
            if (x * i).sum() > 1:
                yield x * i
            else:
                yield i

    return list(doubled(3)), [y for y in doubled(2)], sum(doubled(3)), dict(enumerate(doubled(2)))


def delegates(x):
    def outer():
        found = yield from inner()
        yield found

    def inner():
        yield x.sum().item()
        print("inner")
        return x.max().item()

    return list(outer())


def recursive(x, n=4):
    if n == 0:
        return x
    if x.sum() > 1000:
        return x
    return recursive(x + n, n - 1) * 2


def closures(x):
    n = 0

    def bump(k):
        nonlocal n
        n = n + k
        print("bump", n)
        return n

    bump(1)
    if x.sum() > 0:
        bump(3)
    return x * n, n


def called_by_native_code(x):
    def key(v):
        return -v.sum().item()

    return (
        sorted([x, x * 2], key=key),
        list(map(key, [x])),
        functools.reduce(lambda a, b: a + key(b), [x, x], 0),
    )


def changes_globals(x):
    global COUNTER
    COUNTER += 1
    print(COUNTER, x.sum())
    COUNTER += 10
    before, COUNTER = COUNTER, 0
    return x * before


def looks_at_frames(x):
    a = x + 1
    names = sorted(locals())
    print(names, a.sum())
    code = sys._getframe().f_code.co_name
    return a, names, code, inspect.currentframe().f_lineno, sorted(vars())


class Module(torch.nn.Module):
    """Counts its calls, breaks in the middle."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        torch.nn.init.ones_(self.linear.weight)
        torch.nn.init.zeros_(self.linear.bias)
        self.count = 0

    def forward(self, x):
        self.count += 1
        y = self.linear(x)
        if y.sum() > 0:
            self.count += 10
            y = y * 2
        return self.linear(y)

    @property
    def total(self):
        print("total", self.count)
        return self.count


class Derived(Module):
    """Calls the class above."""

    def forward(self, x):
        y = super().forward(x)
        print(super().total)
        return super().forward(y) + x.sum().item()


def module(m, x):
    y = m(x)
    return m(y).sum(), m.count, m.total


PROGRAMS = [
    two_deep, half_built, augmented, texts, chained, consumes, sends, breaks_inside, delegates,
    recursive, closures, called_by_native_code, changes_globals, looks_at_frames,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_python(program):
    cache = both(program)
    assert cache.breaks and is_captured(cache)


@pytest.mark.parametrize("cls", [Module, Derived])
def test_modules(cls):
    cache = both(module, lambda: (cls(), torch.ones(3)))
    assert is_captured(cache) and cls.forward.__code__ in cache.children


@pytest.mark.parametrize("cls", [Module, Derived])
def test_a_module_itself(cls):
    made = cls()
    cache = compiled(made, fullgraph=False)
    other = cls()
    x = torch.ones(3)
    for _ in range(3):
        assert cache(x).tolist() == other(x).tolist() and made.count == other.count
    assert cache.breaks and is_captured(cache)


def hooked(module, args, output):
    print("hook", output.sum().item())
    return output + 1


def test_hooks_that_break():
    def make():
        made = Module()
        made.linear.register_forward_hook(hooked)
        return made, torch.ones(3)

    assert is_captured(both(module, make))


def test_a_function_that_breaks_is_compiled_by_itself():
    cache = compiled(two_deep, fullgraph=False)
    cache(*ones())
    graphs = [
        str(entry.program.graph) for entry in cache.all_entries() if entry.program.graph.nodes
    ]
    assert len(graphs) == 6  # both halves of each of the three functions
    assert codes(cache)[0] == "data-dependent"
    assert {b.span.line for b in cache.breaks} == {below.__code__.co_firstlineno + 2}


def test_methods_partials_and_callables_are_entered():
    class Callable:
        scale = 3

        def __call__(self, x):
            y = x * self.scale
            print(y.sum())
            return y + 1

        def method(self, x, k=1):
            return self(x) + k

    made = Callable()
    for function in (made, made.method, functools.partial(made.method, k=5)):
        assert is_captured(both(function))


def test_a_deep_recursion_that_breaks_at_every_level():
    def deep(x, n):
        if n == 0 or x.sum() < 0:
            return x
        return deep(x + 1, n - 1) + 1

    both(deep, lambda: (*ones(), 60), calls=1)


def test_a_bound_method_of_a_tensor_outlives_a_break():
    def keeps(x):
        method, item = x.add, x.sum().item
        print("break")
        return method(1), item(), method(item())

    assert is_captured(both(keeps))
