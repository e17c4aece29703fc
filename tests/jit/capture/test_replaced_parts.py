"""Operators of tensors, modules, constants, builtins and parts of functions and classes that a
program replaces after the first call, and puts back: compiled calls follow each time."""

import builtins
import functools
import math
import sys
import types

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.nn import functional

PATCHED = "patched"
HERE = sys.modules[__name__]
KNOWN = 3
heard: list = []


def answering(*parameters):
    """A method that tells that it was called: capture must read through it, not call it once."""

    def method(*given):
        heard.append(len(given))
        return PATCHED

    return method


def adds_in_place(x):
    x += 1
    return x


def writes(x):
    x[0] = 5
    return x


def goes_through(x):
    return [item * 2 for item in x]


OPERATORS = {
    "__add__": lambda x: x + 1, "__radd__": lambda x: 1 + x, "__sub__": lambda x: x - 1,
    "__rsub__": lambda x: 1 - x, "__mul__": lambda x: x * x, "__truediv__": lambda x: x / 2,
    "__rtruediv__": lambda x: 2 / x, "__pow__": lambda x: x**2, "__matmul__": lambda x: x @ x,
    "__neg__": lambda x: -x, "__invert__": lambda x: ~(x > 1), "__lt__": lambda x: x < 1,
    "__gt__": lambda x: 1 < x, "__eq__": lambda x: x == 1, "__ne__": lambda x: x != 1,
    "__getitem__": lambda x: x[0], "__setitem__": writes, "__iadd__": adds_in_place,
    "sum": lambda x: x.sum(), "T": lambda x: x.T,
    "ndim": lambda x: x.ndim, "abs": lambda x: x.abs() + x.abs(),
}  # fmt: skip


def followed(fn, change, undo, again=None):
    """Calls before a change, after it and after it is undone, compared with Python's."""

    def calls(run):
        heard.clear()
        done = []
        for step in (None, change, undo):
            if step is not None:
                step()
            for _ in range(2):
                x = torch.tensor([1.0, 2.0])
                try:
                    done.append((text(run(x)), x.tolist()))
                except Exception as error:
                    done.append((type(error), str(error)))
        return done, list(heard)

    wanted = calls(fn)
    run = torch.compile(fn, backend="eager")
    assert calls(run) == wanted
    assert not run.cache.breaks, run.cache.breaks[0].text()
    first = wanted[0]
    assert first[0] == first[1] == first[4] == first[5] and first[2] == first[3] != first[0]


def text(value):
    if isinstance(value, torch.Tensor):
        return value.tolist(), value.dtype
    return [text(item) for item in value] if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_and_members_of_tensors(monkeypatch, name):
    new = answering()
    if isinstance(vars(torch.Tensor)[name], property):
        new = property(new)
    followed(OPERATORS[name], lambda: monkeypatch.setattr(torch.Tensor, name, new),
             monkeypatch.undo)  # fmt: skip


def test_a_length_and_an_iterator(monkeypatch):
    followed(lambda x: len(x) + 1,
             lambda: monkeypatch.setattr(torch.Tensor, "__len__", lambda self: 70),
             monkeypatch.undo)  # fmt: skip
    followed(goes_through,
             lambda: monkeypatch.setattr(torch.Tensor, "__iter__", lambda self: iter([1, 2])),
             monkeypatch.undo)  # fmt: skip


SPACE = types.SimpleNamespace(relu=answering(), norm=answering(), functional=None)
SPACE.functional = SPACE


class Calls(nn.Module):
    def forward(self, x):
        return torch.nn.functional.relu(x)


CALLS = Calls()
PLACES = {
    "a submodule": (torch.nn, "functional", SPACE, lambda x: torch.nn.functional.relu(x)),
    "a submodule of torch": (torch, "nn", SPACE, lambda x: torch.nn.functional.relu(x)),
    "a namespace": (torch, "linalg", SPACE, lambda x: torch.linalg.norm(x)),
    "in a module's forward": (torch.nn, "functional", SPACE, lambda x: CALLS(x)),
    "a number": (torch, "pi", 3, lambda x: x * torch.pi),
    "a dtype": (torch, "float64", torch.float16, lambda x: x.to(torch.float64)),
    "none": (torch, "newaxis", 0, lambda x: x[torch.newaxis]),
    "a layout": (torch, "strided", 1, lambda x: (x, torch.strided)),
    "a text": (torch, "__version__", "0", lambda x: len(torch.__version__) * x),
    "a number of math": (math, "pi", 3, lambda x: x * math.pi),
    "a function of math": (math, "sqrt", lambda number: 10, lambda x: x * math.sqrt(4)),
    "a builtin": (builtins, "divmod", lambda a, b: (8, 8), lambda x: x * divmod(7, 2)[0]),
    "a builtin class": (builtins, "bytearray", lambda size: [1], lambda x: x * len(bytearray(4))),
    "a name of a module": (HERE, "KNOWN", 4, lambda x: x + KNOWN),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_names(monkeypatch, place):
    owner, name, new, fn = PLACES[place]
    followed(fn, lambda: monkeypatch.setattr(owner, name, new), monkeypatch.undo)


def test_a_new_builtin(monkeypatch):
    def fn(x):
        try:
            return x + NEWCOMER  # noqa: F821
        except NameError as error:
            return str(error)

    followed(fn, lambda: monkeypatch.setattr(builtins, "NEWCOMER", 5, raising=False),
             monkeypatch.undo)  # fmt: skip
    monkeypatch.setattr(builtins, "NEWCOMER", 5, raising=False)
    followed(fn, lambda: monkeypatch.setattr(builtins, "NEWCOMER", 6),
             lambda: monkeypatch.setattr(builtins, "NEWCOMER", 5))  # fmt: skip


def test_imported_modules(monkeypatch):
    other = types.ModuleType("other")
    other.KNOWN, other.relu = 50, answering()
    own = __name__

    def from_import(x):
        import tests.jit.capture.test_replaced_parts as found

        return x + found.KNOWN

    def of_ours(x):
        from minitorch2.nn.functional import relu

        return relu(x)

    assert own == "tests.jit.capture.test_replaced_parts"
    followed(from_import, lambda: monkeypatch.setattr(sys.modules["tests.jit.capture"],
             "test_replaced_parts", other), monkeypatch.undo)  # fmt: skip
    followed(of_ours, lambda: monkeypatch.setitem(sys.modules, "minitorch2.nn.functional", other),
             monkeypatch.undo)  # fmt: skip
    followed(lambda x: functional.relu(x), lambda: monkeypatch.setattr(HERE, "functional", other),
             monkeypatch.undo)  # fmt: skip


def parts_of_a_function():
    """Ways to change what a function is, with the function that is called."""

    def callee(x, a=1, b=2, *, c=3):
        return x + a * 10 + b * 100 + c

    def other(x, a=1, b=2, *, c=3):
        return x * a * b * c

    return callee, {
        "fewer defaults": ("__defaults__", (7, 8)[1:]), "other defaults": ("__defaults__", (7, 8)),
        "more defaults": ("__defaults__", (0, 7, 8)), "no defaults": ("__defaults__", None),
        "keyword defaults": ("__kwdefaults__", {"c": 9}), "no keywords": ("__kwdefaults__", None),
        "code": ("__code__", other.__code__),
    }  # fmt: skip


@pytest.mark.parametrize("given", [0, 1, 2])
@pytest.mark.parametrize("name", parts_of_a_function()[1])
def test_parts_of_functions(name, given):
    callee, parts = parts_of_a_function()
    part, new = parts[name]
    old = getattr(callee, part)

    def fn(x):
        try:
            return callee(x, *(4, 5)[:given])
        except TypeError as error:
            return str(error)

    changed = functools.partial(setattr, callee, part, new)
    undone = functools.partial(setattr, callee, part, old)
    try:
        followed(fn, changed, undone)
    except AssertionError:  # where what changed was given
        assert given and "defaults" in name and "keyword" not in name
        x = torch.tensor([1.0, 2.0])
        changed()
        assert torch.equal(torch.compile(fn, backend="eager")(x), fn(x))


def test_bases_of_a_class():
    class First:
        def value(self):
            return 1

    class Second:
        def value(self):
            return 2

    class Middle(First):
        pass

    class Leaf(Middle):
        pass

    leaf = Leaf()
    followed(lambda x: x + leaf.value(), lambda: setattr(Middle, "__bases__", (Second,)),
             lambda: setattr(Middle, "__bases__", (First,)))  # fmt: skip
