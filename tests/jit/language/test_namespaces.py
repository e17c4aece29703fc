"""`locals()`, `vars()` and `globals()` inside compiled functions and class bodies; attributes of
Python modules that are written, and read again, in one call."""
# ruff: noqa: F841, RUF059, E711 -- odd on purpose

import enum
import math
import sys
import types
from unittest import mock

import pytest

import minitorch2 as torch
import minitorch2.nn.functional as F
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()


@program
def in_a_class_body(x):
    class Local:
        a = 1
        locals()["b"] = 2
        vars()["c"] = x
        d = dict(locals())["a"]
        e = vars()["b"]
        names = sorted(name for name in locals() if not name.startswith("__"))
        same = locals() is vars()

    return Local.b, Local.c, Local.d, Local.e, Local.names, Local.same


@program
def in_a_body_that_closes_over(x, a):
    outer = a

    class Local:
        inner = outer
        names = list(locals())

        def method(self):
            return sorted(locals()), __class__ is Local

    return Local.names, Local().method()


@program(breaks=True)
def in_the_body_of_an_enum(x):
    class Local(enum.Enum):
        a = 1
        size = len(locals()) > 1

    return Local.size.name, x + 1


@program
def cells(x, a):
    held, free = a, 2

    def inner():
        return held

    return dict(locals()), dict(vars()), inner()


@program
def free_variables(x, a):
    held = a

    def inner(first, *args, key=3, **kwargs):
        own = held

        def innermost():
            return own, first

        return {name: value for name, value in locals().items() if name != "innermost"}

    return inner(5), inner(x, 7, key=8, more=x)


@program
def variables_of_the_world():
    scale = 3

    def fn(x):
        if scale:
            return x * locals()["scale"], sorted(locals())

    def observe():
        nonlocal scale
        scale = 3

    return fn, (torch.ones(2),), observe


@program
def what_is_unbound(x, flag):
    if not flag:
        never = 1

    def inner():
        return never

    gone = 1
    del gone
    return sorted(locals())


@program
def what_changes(x, a):
    one = locals()
    first = dict(one)
    b = a
    a = 5
    between = one["a"], "b" in one
    two = locals()
    return first, between, one is two, one["a"], sorted(one), sorted(two)


@program
def written(x, a):
    found = locals()
    found["a"] = 9
    found["new"] = x
    again = locals()
    return a, again["a"], again.get("new")


@program
def in_comprehensions_and_generators(x, a):
    def steps():
        first = 1
        yield dict(locals())
        del first
        yield dict(locals())

    lists = [sorted(locals()) for _ in range(2)]
    return (
        lists,
        {n: len(locals()) for n in range(2)},
        list(steps()),
        sorted((lambda b=2: locals())()),
    )


shelf = types.ModuleType("shelf")
sys.modules["shelf"] = shelf
exec("def read(): return flag\ndef put(value): global flag; flag = value", vars(shelf))
this = sys.modules[__name__]
NUMBER = 1


def on_the_shelf(fn):
    """A program whose world is a module: what it holds before and after each call."""

    def made():
        for name in [name for name in vars(shelf) if name not in ("read", "put")]:
            if not name.startswith("__"):
                delattr(shelf, name)
        shelf.flag = 1

        def observe():
            return [(k, v) for k, v in vars(shelf).items() if k not in ("read", "put") and
                    not k.startswith("__")]  # fmt: skip

        return fn, (torch.ones(2),), observe

    made.__name__ = fn.__name__
    program(made, again=True)
    return fn


@on_the_shelf
def written_and_read(x):
    before = shelf.flag
    shelf.flag = 5
    kept = shelf
    kept.more = x * kept.flag
    return before, shelf.flag, shelf.more, x * shelf.flag


@on_the_shelf
def written_without_a_read(x):
    shelf.flag = x + 1
    return shelf.flag * 2


@on_the_shelf
def counted_up(x):
    shelf.flag += 1
    return x * shelf.flag


@on_the_shelf
def written_by_setattr(x):
    import shelf as again  # type: ignore[import-not-found]
    from shelf import flag as first

    shelf.flag = 5
    from shelf import flag

    return x * again.flag, flag, first


@on_the_shelf
def read_by_another_function(x):
    shelf.flag = 5
    first = shelf.read()
    shelf.put(7)
    return first, shelf.flag, x * shelf.read()


@on_the_shelf
def attributes_that_come_and_go(x):
    seen = [hasattr(shelf, "new")]
    for step in (lambda: shelf.new, lambda: delattr(shelf, "new")):
        try:
            step()
        except AttributeError as error:
            seen.append(str(error))
    shelf.new = x
    seen.append(hasattr(shelf, "new"))
    seen.append(shelf.new + 1)
    del shelf.new
    try:
        seen.append(shelf.new)
    except AttributeError as error:
        seen.append((str(error), error.name, error.obj is shelf))
    return seen, hasattr(shelf, "new"), getattr(shelf, "new", 3)


@on_the_shelf
def there_from_the_first_call_on(x):
    found = hasattr(shelf, "later"), "later" in vars(shelf)
    shelf.later = 1
    return found, x + 1


@on_the_shelf
def deleted_and_written_again(x):
    held = shelf.flag
    del shelf.flag
    gone = hasattr(shelf, "flag"), "flag" in vars(shelf)
    shelf.flag = held + 1
    return gone, x * shelf.flag


@on_the_shelf
def as_a_dict(x):
    names = vars(shelf)
    names["flag"] = 7
    first = shelf.flag, shelf.__dict__["flag"], names.get("missing", 3)
    shelf.flag = 9
    shelf.put(shelf.read() + 1)
    known = sorted(name for name in names if not name.startswith("__"))
    return first, names["flag"], shelf.read.__globals__["flag"], known, x


@program(again=True)
def as_an_attribute_and_as_a_name():
    def fn(x):
        global NUMBER
        this.NUMBER = 5
        first = NUMBER, this.NUMBER, globals()["NUMBER"]
        NUMBER = 6
        return first, NUMBER, this.NUMBER, x * globals()["NUMBER"]

    this.NUMBER = 1
    return fn, (torch.ones(2),), lambda: NUMBER


@program(again=True)
def of_the_library():
    def fn(x):
        math.of_ours += 1
        torch.of_ours += 1
        return x * math.of_ours, x * torch.of_ours

    math.of_ours = torch.of_ours = 1
    return fn, (torch.ones(2),), lambda: (math.of_ours, torch.of_ours)


@program
def functions_for_a_while(x):
    relu, root = F.relu, math.sqrt
    F.relu = lambda x, *args, **kwargs: x * 3
    math.sqrt = lambda x: 30
    try:
        return F.relu(x), torch.nn.ReLU()(x), x * math.sqrt(4)
    finally:
        F.relu, math.sqrt = relu, root


@program
def written_often(x):
    import shelf as again

    shelf.rank = 1
    again.rank = shelf.rank + 1
    sys.modules["shelf"].rank += 1
    found = again.rank
    del shelf.rank
    return x * found, hasattr(again, "rank")


@program
def patched_for_a_while(x):
    with mock.patch.object(F, "relu", lambda x, *args, **kwargs: x * 3):
        inside = F.relu(x), torch.nn.ReLU()(x)
    with mock.patch.object(shelf, "fresh", 4, create=True):
        fresh = shelf.fresh
    return inside, F.relu(x), fresh, hasattr(shelf, "fresh")


@program(breaks=True)
def written_before_a_break(x):
    shelf.flag = x * 3
    print(end="")  # noqa: T201
    first = shelf.flag
    shelf.flag = first + 1
    return first, shelf.flag


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
