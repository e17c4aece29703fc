"""Functions: arguments, closures, decorators, generators, recursion, scopes."""
# ruff: noqa: B006, B007, B023, B905, C408, C416
# ruff: noqa: C417, E501, E731, F821, F841, B018, SIM102 -- odd on purpose

import functools

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()
COUNT = 0
NAMES: dict = {}


@program
def arguments(x, a, items, table):
    def every(p, /, q, *rest, r=7, s, **more):
        return p, q, rest, r, s, sorted(more)

    def defaults(p, q=[], *, r=x):
        q.append(p)
        return q, r

    return (
        every(1, 2, s=3), every(1, q=2, s=3, z=4), every(*items, s=1, **table), every(1, 2, 3,
        r=1, s=2),
        defaults(1), defaults(2), defaults(3, [0]), (lambda *p: p)(*items), (lambda p=a: p)(),
    )  # fmt: skip


@program
def wrong_arguments(x):
    def f(p, q, /, r, *, s):
        return p

    def g(p=1):
        return p

    found = []
    for attempt in (
        lambda: f(), lambda: f(1), lambda: f(1, 2), lambda: f(1, 2, 3), lambda: f(1, 2, 3, 4, s=1),
        lambda: f(1, 2, 3, s=1, t=2), lambda: f(p=1, q=2, r=3, s=4), lambda: f(1, 2, 3, r=3, s=4),
        lambda: g(1, 2), lambda: g(q=1), lambda: g(1, p=2), lambda: g(*5), lambda: g(**5),
        lambda: g(**{1: 2}), lambda: f(*[1, 2, 3], **{"s": 1, "u": 2}), lambda: (lambda: 1)(2),
        lambda: g(**{"p": 1}, **{"p": 2}), lambda: max(key=len), lambda: int(1, 2, 3),
        lambda: x.sum(nothing=1), lambda: torch.add(), lambda: torch.relu(x, x, x),
    ):  # fmt: skip
        try:
            found.append(attempt())
        except Exception as error:
            found.append((type(error).__name__, str(error).partition("\n")[0]))
    return x, found


@program
def closures(x, a):
    total = [0]
    count = 0

    def add(n):
        nonlocal count
        count += n
        total[0] += n
        return count

    def maker(n):
        def inner(m):
            return n + m + count

        return inner

    adders = [maker(i) for i in range(3)]
    late = [lambda: i for i in range(3)]
    early = [lambda i=i: i for i in range(3)]
    add(2)
    add(3)
    return x + count, total, [f(1) for f in adders], [f() for f in late], [f() for f in early]


@program
def functions_leave(x, a):
    n = a * 2

    def inner(p, q=n, *, r=3):
        """Doc."""
        return p + q + r + n

    inner.tag = "t"
    return (
        inner(x),
        inner.__name__,
        inner.__doc__,
        inner.tag,
        inner.__qualname__,
        inner.__defaults__,
    )


@program
def functions_that_leave_work():
    made = []

    def fn(x):
        n = 3

        def inner(p, q=2, *, r=1):
            return p * n + q + r

        made.append(inner)
        return inner

    return fn, (torch.ones(2),), lambda: [f(5) for f in made]


@program(again=True)
def shared_cells():
    def world():
        count = 0

        def up(x):
            nonlocal count
            count += 1
            return x + count

        def read():
            return count

        return up, read

    up, read = world()
    return up, (torch.ones(2),), lambda: None if read() > 5 else "few"


@program(again=True)
def nonlocal_outside():
    count = 0
    kept = None

    def fn(x):
        nonlocal count, kept
        count += 1
        kept = x * count
        return kept

    return fn, (torch.ones(2),), lambda: (count, kept)


@program(again=True)
def globals_written():
    globals().update(COUNT=0)

    def fn(x):
        global COUNT, FRESH
        COUNT += 1
        FRESH = [COUNT, x]
        NAMES["last"] = COUNT
        return x * COUNT

    return fn, (torch.ones(2),), lambda: (COUNT, FRESH, NAMES)


@program(again=True)
def globals_deleted():
    globals()["DOOMED"] = 1

    def fn(x):
        global DOOMED
        DOOMED = 2
        found = DOOMED
        del DOOMED
        try:
            return DOOMED
        except NameError as error:
            return x, str(error), found

    return fn, (torch.ones(2),), lambda: "DOOMED" in globals()


def logged(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        wrapper.calls = getattr(wrapper, "calls", 0) + 1
        return fn(*args, **kwargs), fn.__name__

    return wrapper


def scaled(by):
    def decorate(fn):
        return lambda *args: fn(*args) * by

    return decorate


@program
def decorators(x):
    @logged
    @scaled(3)
    def inner(p):
        return p + 1

    first = inner(x)
    second = inner(x)
    return first, second, inner.calls, inner.__name__, inner.__wrapped__(x)


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@program
def recursion(x):
    def depth(n):
        return x if n == 0 else depth(n - 1) + 1

    def even(n):
        return True if n == 0 else odd(n - 1)

    def odd(n):
        return False if n == 0 else even(n - 1)

    return fibonacci(8), depth(20), even(10)


@program
def generators(x, items):
    def count(n):
        for i in range(n):
            got = yield i
            if got:
                yield got * 10
        return "done"

    def outer():
        result = yield from count(3)
        yield result
        yield from items

    def guarded(log):
        try:
            yield 1
            yield 2
        except ValueError as error:
            log.append(str(error))
            yield "handled"
        finally:
            log.append("closed")

    log = []
    g = count(5)
    sent = next(g), g.send(7), next(g), g.send(None)
    h = guarded(log)
    next(h)
    thrown = h.throw(ValueError("v"))
    h.close()
    rest = list(g)
    late = (i * 2 for i in items)
    items.append(9)
    k = guarded(log)
    first = [n for n in k]
    empty = next((i for i in ()), "none")
    pairs = list(zip(count(2), count(9)))
    e = iter(count(1))
    next(e)
    try:
        next(e)
    except StopIteration as stop:
        returned = stop.value
    return sent, thrown, log, rest, list(late), list(outer()), first, empty, pairs, returned, x


@program
def generators_of_tensors(x):
    def rows():
        for row in x:
            yield row * 2

    def windows(n):
        kept = []
        for row in rows():
            kept.append(row)
            if len(kept) == n:
                yield torch.stack(kept)
                kept = []

    a, *b = rows()
    return sum(rows()), torch.stack(list(rows())), list(windows(2)), a, b, dict(enumerate(rows()))


@program
def generator_failures(x):
    def bad():
        yield 1
        raise KeyError("inside")

    def stops():
        yield 1
        raise StopIteration

    found = []
    for make in (bad, stops):
        try:
            list(make())
        except Exception as error:
            found.append((type(error).__name__, str(error), type(error.__cause__).__name__))
    g = bad()
    found.append(list(zip([1], g))[0])
    return x, found


@program
def scopes(x, a):
    i = 10
    squares = [i * i for i in range(3)]
    nested = [[(i, j) for j in range(i)] for i in range(3)]
    table = {k: [v for v in range(k)] for k in range(3)}
    if (n := len(squares)) > 2:
        a = n
    del squares
    try:
        squares
    except UnboundLocalError as error:
        text = str(error)
    b = x
    del b
    return i, nested, table, a, n, text, x


@program
def conditional_expressions(x, a, b, items):
    found = []
    for n in range(6):
        if n % 2:
            continue
        elif n == 4:
            break
        found.append(n)
    else:
        found.append("else")
    while b:
        b -= 1
        if b == 1:
            break
    else:
        found.append("no break")
    for n in items:
        pass
    else:
        found.append("for else")
    return found, b, n, x if a else -x, (a and items) or None, a and not b


@program
def matching(x, a, items, table, text):
    def kind(value):
        match value:
            case None:
                return "none"
            case 1 | 2:
                return "small"
            case int(n) if n > 100:
                return "big", n
            case float() | int():
                return "number"
            case "hello":
                return "greeting"
            case str() as s:
                return "text", s
            case []:
                return "empty"
            case [only]:
                return "one", only
            case [first, *rest, last]:
                return "many", first, rest, last
            case {"k": inner, **others}:
                return "dict", inner, others
            case {}:
                return "other dict"
            case slice(start=s, stop=e):
                return "slice", s, e
            case _:
                return "else"

    values = [None, 1, 500, 3, 2.5, "hello", text, [], [5], items, (1, 2, 3), table, {"z": 1},
              slice(1, 2), {1}]  # fmt: skip
    return [kind(value) for value in values], x


@program
def walrus_and_stars(x, items):
    first, *middle, last = items
    (p, q), *others = [(1, 2), (3, 4), (5, 6)]
    *head, (m, n) = "ab", (1, 2)
    [r, s] = {"k": 1, "l": 2}
    if any((hit := i) > 2 for i in items):
        middle.append(hit)
    t = u = []
    t.append(1)
    v, w = w, v = 1, 2
    return (
        first,
        middle,
        last,
        p,
        q,
        others,
        head,
        m,
        n,
        r,
        s,
        u,
        (*middle, *"xy"),
        [*{1: 2}],
        x,
        v,
        w,
    )


@program
def wrong_unpacking(x, items):
    found = []

    def one(value):
        p, q = value
        return p, q

    def rest(value):
        p, q, *r = value
        return p, q, r

    for value in ([1], items, 5, "abc", {1: 2}, None, (1, 2), range(4), x, iter([1])):
        for take in (one, rest):
            try:
                found.append(take(value))
            except Exception as error:
                found.append((type(error).__name__, str(error).partition("\n")[0]))
    return found


@program
def function_attributes(x):
    def f(p: int, q: "str" = "d") -> float:
        return p

    f.cache = {}
    f.cache["k"] = x
    return (
        f.__annotations__, f.__kwdefaults__, f.__defaults__, f.__code__.co_varnames, f.cache,
        f.__module__ == __name__, f.__closure__, hasattr(f, "nothing"), f.__dict__,
        (lambda: 1).__name__, fibonacci.__name__, fibonacci.__module__ == __name__, f.__call__(3),
    )  # fmt: skip


@program
def star_forms(x):
    def f(*args, **kwargs):
        args += (1,)
        kwargs["z"] = x
        return args, kwargs

    table = {"q": 1}
    items = [1]
    made = f(*items, **table)
    return made, items, table, f(*items, *items), f(**{**table, "r": 2})


program.text(
    """def docstrings_and_asserts(x, a):
    'A docstring.'
    assert a == 1, "never"
    try:
        assert x.dim() == 3, f"dim {x.dim()}"
    except AssertionError as error:
        return x, str(error), error.args
""",
    globals(),
)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
