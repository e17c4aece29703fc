"""Named tuples whose classes say more than their fields: operators, __new__, subclasses."""

import collections
import typing

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()


class Vector(collections.namedtuple("Vector", "a b")):
    __slots__ = ()

    def __new__(cls, a, b=2):
        return super().__new__(cls, a, b)

    def __add__(self, other):
        return Vector(self.a + other.a, self.b + other.b)

    @property
    def total(self):
        return self.a + self.b


class Typed(typing.NamedTuple):
    p: int
    q: float = 0.5

    def __mul__(self, factor):
        return Typed(self.p * factor, self.q * factor)

    def __getitem__(self, place):
        return "item", tuple.__getitem__(self, place)

    def total(self):
        return self.p + self.q


class Longer(Typed):
    def __len__(self):
        return 7


class Plain(typing.NamedTuple):
    p: int

    def twice(self):
        return self.p * 2


@program
def operators_of_their_own(x):
    v, one = Vector(x) + Vector(1, 3), Vector._make([1, 2])
    a, b = one
    typed, longer = Typed(2) * 3, Longer(1)
    return (
        v, v.total, v[0] is v.a, v._replace(b=1), one + one, len(v), [*one], v._fields, a, b,
        one._asdict(), typed, typed.p, typed.total(), typed[1], list(typed), len(longer), longer.q,
        isinstance(v, tuple), type(v).__name__, Vector(b=1, a=2), hash(one) == hash((1, 2)),
        one < Vector(2, 0), repr(one), str(typed), f"{one}", one.count(1), one.index(2),
        (1, 2) == one, one[::-1], {one: 1}[Vector(1, 2)], Plain(3).twice(), Plain(3) + (1,),
    )  # fmt: skip


@program
def wrong_uses(x):
    found = []
    for attempt in (
        lambda: Vector(), lambda: Vector(1, 2, 3), lambda: Vector(1, c=2), lambda: Vector(1).none,
        lambda: Vector(1)._replace(none=1), lambda: Typed() * 2,
    ):  # fmt: skip
        try:
            found.append(attempt())
        except (TypeError, ValueError, AttributeError) as error:
            found.append((type(error).__name__, str(error)))
    return x, found


@program
def from_outside():
    vector, typed = Vector(torch.ones(2), 3), Typed(1, 2.0)

    def fn(x):
        x = x * vector.b + vector.a
        return x, vector + vector, vector, typed * 2, typed.total(), typed[0], vector.a is vector[0]

    return fn, (torch.ones(2),), lambda: None


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
