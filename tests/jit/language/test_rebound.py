"""Methods of descriptors and metaclasses that are bound to something else between two calls."""

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()


class Descriptor:
    def __get__(self, one, owner=None):
        return 1

    def __set__(self, one, value):
        one.held = value

    def __delete__(self, one):
        one.held = None


class Meta(type):
    def method(cls):
        return 1

    @property
    def size(cls):
        return 1

    @classmethod
    def of_class(mcs):
        return 1

    @staticmethod
    def static():
        return 1

    plain = 1

    def __len__(cls):
        return 1

    def __getattr__(cls, name):
        return 1

    def __call__(cls, *args):
        return super().__call__(*args)


class Owner(metaclass=Meta):
    attribute = Descriptor()

    def __init__(self, held=0):
        self.held = held


def setting(one, x):
    one.attribute = 5
    return one.held


def deleting(one, x):
    del one.attribute
    return one.held


# (whose method, its name, what it becomes, what is done with an owner)
CASES = [
    (Descriptor, "__get__", lambda self, one, owner=None: 2, lambda one, x: one.attribute),
    (Descriptor, "__get__", lambda self, one, owner=None: 2, lambda one, x: Owner.attribute),
    (Descriptor, "__set__", lambda self, one, value: object.__setattr__(one, "held", 9), setting),
    (Descriptor, "__delete__", lambda self, one: object.__setattr__(one, "held", 9), deleting),
    (Meta, "method", lambda cls: 2, lambda one, x: Owner.method()),
    (Meta, "method", lambda cls: 2, lambda one, x: type(one).method()),
    (Meta, "size", property(lambda cls: 2), lambda one, x: Owner.size),
    (Meta, "of_class", classmethod(lambda mcs: 2), lambda one, x: Owner.of_class()),
    (Meta, "static", staticmethod(lambda: 2), lambda one, x: Owner.static()),
    (Meta, "plain", 2, lambda one, x: Owner.plain),
    (Meta, "__len__", lambda cls: 2, lambda one, x: len(Owner)),
    (Meta, "__getattr__", lambda cls, name: 2, lambda one, x: Owner.missing),
    (Meta, "__call__", lambda cls, *args: 2, lambda one, x: getattr(Owner(3), "held", 2)),
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", range(len(CASES)))
def test_bound_to_something_else(case, backend, monkeypatch):
    owner, name, changed, use = CASES[case]
    run = torch.compile(lambda one, x: x + (use(one, x) or 0), backend=backend)
    x = torch.ones(2)
    for step in ("first", "changed", "first"):
        with monkeypatch.context() as patch:
            if step == "changed":
                patch.setattr(owner, name, changed)
            for _ in range(2):
                assert torch.equal(run(Owner(), x), x + (use(Owner(), x) or 0)), step


@program
def unhashable(x, a):
    class Equal:
        def __eq__(self, other):
            return True

    class Held(list):
        pass

    class Refused:
        __hash__ = None

    seen = []
    for one in (Equal(), Held(), Refused(), [], {}, (1, Equal()), slice(a)):
        for use in (
            hash,
            lambda one: {one: 1},
            lambda one: {one},
            {}.get,
            {1}.add,
        ):
            try:
                seen.append(use(one) is not None)
            except TypeError as error:
                seen.append(str(error))
    return seen, x + a


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
