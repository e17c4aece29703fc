"""What Python says of a wrong operation, where the program catches it and reads it."""

import collections
import types

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()
SCOPE = {"torch": torch, "types": types, "collections": collections}

program.lines(
    """
    items["k"]
    tuple(items)["k"]
    items[1.5]
    range(3)["a"]
    x.shape["a"]
    x.shape[9]
    collections.namedtuple("P", "a b")(1, 2)[5]
    collections.deque([1])["a"]
    collections.deque([1])[4]
    [1].__getitem__("a")
    [1].insert("a", 2)
    [1].pop("a")
    [1] * "a"
    [1] * 1.5
    collections.deque([1]).rotate("a")
    enumerate([1], "a")
    range("a")
    range(1.5)
    len(1, 2)
    len()
    any(x.shape, 2)
    abs()
    callable(1, 2)
    hasattr(x)
    "a".join(3)
    "a".join([1])
    object(1)
    object(a=1)
    sum([1], "a")
    sum([b"a"], b"")
    sum([[1], [2]])
    types.SimpleNamespace().a
    list(x[0, 0])
    iter(x[0, 0])
    __class__
    not_defined
    torch.nn.functional.one_hot(x.abs().long()[0])
    torch.nn.functional.one_hot(-x.abs().long()[0])
    """.replace("\n    ", "\n"),
    SCOPE,
)
BREAK = [name for name in program.names if "one_hot" in name]  # the largest class is a number


@program
def what_errors_are_about(x):
    class Thing:
        __slots__ = ("slot",)

    class Open:
        def __getattr__(self, name):
            raise AttributeError("mine")

    def unbound():
        return later  # noqa: F821

    told = []
    thing = Thing()
    for wrong in (
        lambda: thing.missing, lambda: thing.slot, lambda: [].missing, lambda: Open().missing,
        lambda: no_such_name, unbound, lambda: getattr(thing, "missing"),  # noqa: B009, F821
    ):  # fmt: skip
        try:
            wrong()
        except (AttributeError, NameError) as error:
            told.append((type(error).__name__, str(error), error.name))
    try:
        return later
    except NameError as error:
        told.append((type(error).__name__, str(error), error.name))
    later = 1
    del later
    try:
        del later
    except NameError as error:
        told.append((type(error).__name__, str(error), error.name))
    return told, x


@program
def errors_of_graphs_inside_try(x):
    found = []
    for place in (1, 5):
        try:
            found.append(x.index_select(0, torch.tensor([place])))
        except IndexError as error:
            found.append(str(error))
    return found


@pytest.mark.parametrize("backend", BACKENDS)
def test_numbers_are_not_drawn_twice(backend):
    def draws(x, place):
        noise = torch.rand(3)
        try:
            return x.index_select(0, place), noise
        except IndexError:
            return noise

    place = torch.tensor([7])
    torch.manual_seed(0)
    wanted = draws(torch.ones(2, 2), place), torch.rand(2)
    torch.manual_seed(0)
    got = torch.compile(draws, backend=backend)(torch.ones(2, 2), place), torch.rand(2)
    assert all(torch.equal(mine, other) for mine, other in zip(got, wanted, strict=True))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    if name in BREAK:
        program.known[name] = program.known[name][0], {"breaks": True}
    program.judge(name, backend)
