"""Iterators whose container is changed while they are on their way, or whose functions raise.

Each of them is a short program: an iterator is made, moved once, something is changed, and it is
asked until its end, its errors noted; once in one graph and once with a break behind the change.
"""

import linecache

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

MAKERS = {
    "dict": "{1: 1, 2: 2, 3: 3}",
    "OrderedDict": "collections.OrderedDict({1: 1, 2: 2, 3: 3})",
    "defaultdict": "collections.defaultdict(int, {1: 1, 2: 2, 3: 3})",
    "Counter": "collections.Counter({1: 1, 2: 2, 3: 3})",
    "set": "{1, 2, 3}",
    "list": "[1, 2, 3]",
    "deque": "collections.deque([1, 2, 3])",
}
OF_DICTS = """
iter(c)
iter(c.keys())
iter(c.values())
iter(c.items())
reversed(c)
reversed(c.values())
reversed(c.items())
enumerate(c)
zip(c, c.values())
""".split("\n")[1:-1]
CHANGED_DICTS = """
pass
del c[1]; c[4] = 7
del c[3]; c[4] = 9
del c[3]; c[3] = 8
del c[1]; c[1] = 8
c[1] = 5
c[2] = 5; c[3] = 6
c[4] = 4
del c[2]
c.pop(3)
c.popitem()
c.clear()
c.update({1: 7})
c.update({5: 7})
c.setdefault(2, 1)
for n in range(10, 20): c[n] = n
    for n in range(10, 20): del c[n]
""".replace("\n    ", "\r").split("\n")[1:-1]
MOVED = ["c.move_to_end(1)", "c.move_to_end(3)", "c.move_to_end(3, last=False)"]
ITERATORS = {
    **dict.fromkeys(("dict", "OrderedDict", "defaultdict", "Counter"), OF_DICTS),
    "set": ["iter(c)", "enumerate(c)"],
    "list": ["iter(c)", "reversed(c)", "enumerate(c)", "zip(c, c)", "map(lambda a: a, c)"],
    "deque": ["iter(c)", "reversed(c)", "enumerate(c)"],
}
CHANGES = {
    **dict.fromkeys(("dict", "defaultdict", "Counter"), CHANGED_DICTS),
    "OrderedDict": [*CHANGED_DICTS, *MOVED],
    "set": ["pass", "c.discard(1); c.add(9)", "c.add(1)", "c.add(4)", "c.discard(3)", "c.clear()",
            "c.discard(3); c.add(3)", "c |= {7}", "c.discard(3); c.add(64)"],
    "list": ["pass", "c.append(4)", "c.pop()", "c.clear()", "c.insert(0, 9)", "c[2] = 8",
             "c.reverse()", "del c[0]", "c[:] = [7, 8, 9, 10, 11]"],
    "deque": ["pass", "c.append(4)", "c.pop()", "c[2] = 8", "c.rotate(1)", "c.clear()",
              "c.appendleft(1); c.popleft()", "c.reverse()"],
}  # fmt: skip
BROKEN = ("iter(c)", "iter(c.items())", "reversed(c.values())")
PROGRAM = """
import collections
def program(x):
    c = {made}
    found = []
    it = {iterator}
    found.append(next(it))
    {change}
    {then}
    for _ in range(4):
        try:
            found.append(next(it))
        except StopIteration:
            found.append("end")
        except RuntimeError as error:
            found.append(str(error))
    return found, c, x + 1
"""


def program_of(text, name):
    file = f"<program {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = {}
    exec(compile(text, file, "exec"), scope)
    return scope["program"]


@pytest.mark.parametrize(
    "kind, iterator", [(kind, each) for kind, known in ITERATORS.items() for each in known]
)
def test_changed_meanwhile(kind, iterator):
    for change in CHANGES[kind]:
        for then in ("pass", "print(end='')")[: 1 + (iterator in BROKEN)]:
            text = PROGRAM.format(made=MAKERS[kind], iterator=iterator, then=then,
                                  change=change.replace("\r", "\n    "))  # fmt: skip
            fn = program_of(text, f"{kind} {iterator} {change} {then}")
            run = torch.compile(fn, backend="interpreter")
            assert repr(run(torch.ones(2))) == repr(fn(torch.ones(2))), (change, then)


program = Programs()
# Iterators `make(seen)` of what may raise: each is asked until its end, through its errors.
RAISING = """
map(lambda a: 6 // a, [1, 0, 2])
filter(lambda a: 6 // a > 3, [1, 0, 2, 1])
zip([1, 2, 3], map(lambda a: 6 // a, [1, 0, 2]))
enumerate(map(lambda a: 6 // a, [1, 0, 2]))
zip([1, 2, 3], [1, 2], strict=True)
zip([1, 2], [1, 2, 3], strict=True)
zip([1], [1], [], strict=True)
itertools.starmap(lambda a, b: a // b, [(1, 1), (1, 0), (4, 2)])
itertools.accumulate([2, 0, 3], lambda a, b: 6 // b + a)
itertools.accumulate([2, 0, 3], lambda a, b: 6 // b + a, initial=1)
itertools.accumulate([2, 1, 3])
itertools.takewhile(lambda a: 6 // a > 2, [1, 0, 2, 3, 1])
itertools.dropwhile(lambda a: 6 // a > 2, [1, 0, 2, 3, 1])
itertools.filterfalse(lambda a: 6 // a > 3, [1, 0, 2, 1])
itertools.chain([1], map(lambda a: 6 // a, [1, 0, 2]), [3])
itertools.chain([1], 5, [3])
itertools.chain.from_iterable([[1], 5, [3]])
itertools.islice(map(lambda a: 6 // a, [1, 0, 2, 3]), 3)
itertools.compress(map(lambda a: 6 // a, [1, 0, 2, 3]), [1, 1, 0, 1])
itertools.pairwise(map(lambda a: 6 // a, [1, 0, 2, 3, 1]))
itertools.zip_longest([1, 2], map(lambda a: 6 // a, [1, 0, 2, 3]), fillvalue=9)
itertools.groupby([1, 1, 0, 2], lambda a: 6 // a)
itertools.cycle(map(lambda a: 6 // a, [1, 0, 2]))
itertools.product([1, 2], repeat=2)
""".split("\n")[1:-1]
ASKED = """
def program(x):
    found = []
    it = {iterator}
    for _ in range(7):
        try:
            item = next(it)
            found.append(item[0] if "groupby" in {iterator!r} else item)
        except StopIteration:
            found.append("end")
        except (ZeroDivisionError, TypeError, ValueError) as error:
            found.append((type(error), str(error)))
    return found, x + 1
"""
SCOPE: dict = {}
exec("import itertools, functools, operator", SCOPE)
for _iterator in RAISING:
    program.text(ASKED.format(iterator=_iterator), SCOPE, _iterator)


@program
def views_of_a_subclass(x, a):
    import collections

    held = collections.Counter({"a": a, "b": 2})
    keys, steps = held.keys(), iter(held.values())
    next(steps)
    held["c"] = 3
    return held, keys, list(held.items())


@program
def dicts_of_instances(x):
    class Local:
        def __init__(self):
            self.a, self.b = 1, x

    local = Local()
    del local.a
    local.c = 3
    local.a = 4
    return local, list(local.__dict__), list(reversed(local.__dict__)), vars(local).items()


@program
def dicts_of_instances_from_outside():
    class Local:
        pass

    local = Local()

    def restore():
        found = list(vars(local).items())
        vars(local).clear()
        vars(local).update(a=1, b=2, c=3)
        return found

    def fn(x):
        del local.a
        local.d = x
        local.a = 4
        local.b = 5
        before = list(vars(local))
        del local.d
        local.d = 6
        return before, list(vars(local).items())

    restore()
    return fn, (torch.ones(2),), restore


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
