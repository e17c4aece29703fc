"""What is made of a class that the function makes: aliases, unions, variables, members.

All of it is made of the one class that leaves: no other class of its name can be reached from it.
"""

import dataclasses
import enum
import functools
import gc
import inspect
import sys
import types
import typing

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs, forget, picture

# Expressions of a class A, an enum E and a flag F, both made inside.
EXPRESSIONS = """
A
A[int]
A | None
A[int] | str
typing.Optional[A]
typing.Union[A, int]
typing.List[A]
list[A]
dict[str, list[A]]
typing.Callable[[A], int]
typing.Tuple[A, ...]
typing.Type[A]
typing.ClassVar[A]
typing.Annotated[int, A]
typing.Annotated[A, 1]
typing.Literal[E.X]
typing.TypeVar("T", bound=A)
typing.TypeVar("T", A, int)
typing.Dict[str, typing.List[typing.Optional[A]]]
frozenset({A})
frozenset({(1, A)})
frozenset({E.X})
{A}
(A, E.X)
{A: 1, frozenset({A}): 2, E.X: 3}
slice(A, E.X)
functools.partial(isinstance, 1, A | None)
ValueError(typing.Optional[A])
E.X
E.Y
[E.X, E.Z]
E(2)
list(E)
E.__members__["Z"]
F.P
F.P | F.Q
F(0)
~F.P
F.P & F.Q
I.P | 8
I(0)
I.P | I.Q
annotated
annotated.__annotations__
default
inspect.signature(annotated)
Named
Named(1)
Data
Data(1)
dataclasses.fields(Data)
dataclasses.fields(Data)[0].type
Data.__dataclass_fields__["a"]
typing.get_type_hints(Data)
Sub
Sub.__orig_bases__
Sub.__mro__
""".split("\n")[1:-1]

PROGRAM = """
def program(x):
    class A(typing.Generic[T]):
        pass
    class E(enum.Enum):
        X = 1
        Y = 1
        Z = 2
    class F(enum.Flag):
        P = 1
        Q = 2
    class I(enum.IntFlag):
        P = 1
        Q = 2
    class Sub(A[int]):
        pass
    def annotated(a: typing.Optional[A], *, k: list[A] = None) -> "A | None":
        pass
    def default(a=frozenset({{A}}), *, k=list[A]):
        pass
    class Named(typing.NamedTuple):
        a: typing.Optional[A]
        b: list[A] = None
    @dataclasses.dataclass
    class Data:
        a: typing.Optional[A]
        b: "int" = None
    found = {expression}
    return (A, E, F, I, Sub, Named, Data), found, x + 1
"""
SCOPE = {"T": typing.TypeVar("T"), **{m.__name__: m for m in (typing, enum, functools, inspect,
                                                              dataclasses)}}  # fmt: skip
CLOSED = (types.ModuleType, types.CodeType, functools._lru_cache_wrapper)


def classes_within(thing):
    """The classes of functions that can be reached from a result."""
    found, waiting = [], [thing]
    seen = {id(vars(module)) for module in list(sys.modules.values())}
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, CLOSED):
            continue
        seen.add(id(part))
        if isinstance(part, type):
            if not part.__qualname__.startswith("program.<locals>"):
                continue
            found.append(part)
        if isinstance(part, types.FunctionType):
            part = (part.__annotations__, part.__defaults__, part.__kwdefaults__, part.__closure__)
        waiting += gc.get_referents(part)
    return found


@pytest.mark.parametrize("backend", ["interpreter", "eager"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_of_one_class(expression, backend):
    known = Programs()
    known.text(PROGRAM.format(expression=expression), dict(SCOPE), expression)
    fn = known.known[expression][0]
    run = torch.compile(fn, backend=backend)
    for _ in range(2):
        wanted, got = fn(torch.ones(2)), run(torch.ones(2))
        mine, theirs = classes_within(got), classes_within(wanted)
        assert sorted(c.__qualname__ for c in mine) == sorted(c.__qualname__ for c in theirs)
        assert len({c.__qualname__ for c in mine}) == len(mine)
        forget()
        assert picture(got, {}) == picture(wanted, {})
        if " at 0x" not in repr(wanted[1]):
            assert repr(got[1]) == repr(wanted[1])


program = Programs()


@program
def flags(x, a, b):
    class F(enum.Flag):
        P = a
        Q = 2

        def size(self):
            return self.value + b

    both = F.P | F.Q
    return both, both in (F.P, F(3)), both.size(), F(0), bool(F(0)), F.P in both, x + both.value


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
